/** REST contracts of settings and API keys (E1, E11, B8, E18, F12). Times are ISO 8601. */
import { z } from 'zod';
import {
	customInstructions,
	modelApiKey,
	modelBaseUrl,
	modelId,
	modelRouting,
	preset,
	presetId,
	reasoningEffort,
	webTools
} from './models.ts';
import { API_SCOPES, WEB_TOOLS } from './names.ts';

/** The active catalog, whose install endpoint is enabled (E1). */
export const skillsProvider = z.enum(['skillsmp', 'skillssh', 'github']);

/** `PUT /api/settings`. null resets to the default. */
export const settingsPatch = z
	.strictObject({
		skillsEnabled: z.boolean().nullable().optional(),
		skillsProvider: skillsProvider.nullable().optional(),
		/** Write-only. */
		skillsmpApiKey: z.string().trim().min(8).max(512).nullable().optional(),
		/** The agent may search the catalogs and ask for a skill. */
		catalogRequests: z.boolean().nullable().optional(),
		/** OmniRoute scorer: maximum skills and minimum score. */
		autoMaxSkills: z.number().int().min(0).max(50).nullable().optional(),
		autoMinScore: z.number().int().min(0).max(1000).nullable().optional(),
		/** A change removes the key, which is for one host only. */
		modelBaseUrl: modelBaseUrl.nullable().optional(),
		/** Write-only. */
		modelApiKey: modelApiKey.nullable().optional(),
		model: modelId.nullable().optional(),
		/** null leaves it to the model. */
		effort: reasoningEffort.nullable().optional(),
		routing: modelRouting.nullable().optional(),
		/** For all chats. */
		instructions: customInstructions.nullable().optional(),
		/** By id. Others stay; null removes one. */
		presets: z.record(presetId, preset.nullable()).optional(),
		/** The model names a chat after its first answer. */
		autoTitles: z.boolean().nullable().optional(),
		/** For chats that haven’t chosen. */
		web: webTools.nullable().optional(),
		/** Per reply: model calls, USD, milliseconds. */
		maxSteps: z.number().int().min(1).max(100).nullable().optional(),
		maxCostUsd: z.number().positive().max(1000).nullable().optional(),
		maxDurationMs: z.number().int().min(1000).max(86_400_000).nullable().optional(),
		/** Per script, in milliseconds. */
		scriptTimeoutMs: z.number().int().min(100).max(300_000).nullable().optional()
	})
	.refine((patch) => Object.values(patch).some((value) => value !== undefined), 'must have something to change');
export type SettingsPatch = z.infer<typeof settingsPatch>;

export const modelSettings = z.object({
	id: z.string(),
	effort: reasoningEffort.nullable(),
	routing: modelRouting,
	baseUrl: z.string(),
	/** The operator’s, for a reset. */
	defaultBaseUrl: z.string(),
	/** Demo mode, because there is no key. */
	isOffline: z.boolean(),
	keyFrom: z.enum(['settings', 'environment']).nullable(),
	/** Whether this server supports sign-in instead of a key. */
	canSignIn: z.boolean()
});
export type ModelSettings = z.infer<typeof modelSettings>;

export const settings = z.object({
	/** The effective value. */
	skillsEnabled: z.boolean(),
	/** False if SKILLS_ENABLED=false. */
	canEnableSkills: z.boolean(),
	skillsProvider: skillsProvider,
	hasSkillsmpApiKey: z.boolean(),
	catalogRequests: z.boolean(),
	autoMaxSkills: z.number(),
	autoMinScore: z.number(),
	/** The user’s, for all chats; empty for none. */
	instructions: z.string(),
	autoTitles: z.boolean(),
	/** What the model may do on the web, for chats that haven’t chosen. */
	web: z.array(z.enum(WEB_TOOLS)),
	/** By id. */
	presets: z.record(z.string(), preset),
	model: modelSettings,
	/** Per reply; `maxCostUsd` null for no limit. */
	limits: z.object({
		maxSteps: z.number(),
		maxCostUsd: z.number().nullable(),
		maxDurationMs: z.number(),
		/** Per script. */
		scriptTimeoutMs: z.number()
	}),
	/** The operator’s, for a reset. */
	defaults: z.object({
		skillsProvider: skillsProvider,
		catalogRequests: z.boolean(),
		autoMaxSkills: z.number(),
		autoMinScore: z.number(),
		model: z.string(),
		autoTitles: z.boolean(),
		maxSteps: z.number(),
		maxCostUsd: z.number().nullable(),
		maxDurationMs: z.number(),
		scriptTimeoutMs: z.number()
	})
});
export type Settings = z.infer<typeof settings>;

const scopes = z
	.array(z.enum(API_SCOPES))
	.min(1, 'must name a scope')
	.max(API_SCOPES.length)
	.refine((given) => new Set(given).size === given.length, 'must name each scope once');

/** `POST /api/keys`. */
export const apiKeyCreate = z.strictObject({
	name: z.string().trim().min(1).max(100),
	/** `approve` must be given explicitly. */
	scopes: scopes.default(API_SCOPES.filter((scope) => scope !== 'approve'))
});

/** `PATCH /api/keys/:id`. */
export const apiKeyPatch = z.strictObject({ name: z.string().trim().min(1).max(100) });

/** An API key without its value, which is never shown again. */
export const apiKey = z.object({
	/** `key_…`: owner of executions, workspaces and skills. */
	id: z.string(),
	name: z.string(),
	/** First characters, for display. */
	prefix: z.string(),
	scopes: z.array(z.enum(API_SCOPES)),
	createdAt: z.string(),
	/** To the minute; null if never used. */
	lastUsedAt: z.string().nullable(),
	revokedAt: z.string().nullable()
});
export type ApiKey = z.infer<typeof apiKey>;

/** The only response that contains the key itself. */
export const newApiKey = apiKey.extend({ key: z.string() });
export type NewApiKey = z.infer<typeof newApiKey>;

/** A program that connected over MCP, by the name it gives itself. */
export const connectedProgram = z.object({ name: z.string(), connectedAt: z.string() });
export type ConnectedProgram = z.infer<typeof connectedProgram>;

export const apiKeyList = z.object({
	data: z.array(apiKey),
	/** The last one since this server started, also without a key. */
	latestProgram: connectedProgram.nullable()
});
export type ApiKeyList = z.infer<typeof apiKeyList>;
