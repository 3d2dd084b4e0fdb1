/** What can be changed while the server runs (FEATURES E1, E11, B8). */
import { z } from 'zod';
import { modelApiKey, modelBaseUrl, modelId, reasoningEffort } from './models.ts';
import { API_SCOPES } from './names.ts';

/** The catalog whose install endpoint is accepted (E1). */
export const skillsProvider = z.enum(['skillsmp', 'skillssh', 'github']);

/** `PUT /api/settings`; what is left out stays as it is, and null goes back to the default. */
export const settingsPatch = z
	.strictObject({
		/** The master switch: false, and nothing of a skill is executed. */
		skillsEnabled: z.boolean().nullable().optional(),
		skillsProvider: skillsProvider.nullable().optional(),
		/** Goes in and never comes out; null removes it. */
		skillsmpApiKey: z.string().trim().min(8).max(512).nullable().optional(),
		/** Most skills that the OmniRoute scorer picks, and the fewest points for one. */
		autoMaxSkills: z.number().int().min(0).max(50).nullable().optional(),
		autoMinScore: z.number().int().min(0).max(1000).nullable().optional(),
		/** Where models are asked. Another one removes the key: that is for its host alone. */
		modelBaseUrl: modelBaseUrl.nullable().optional(),
		/** Goes in and never comes out; null removes it. */
		modelApiKey: modelApiKey.nullable().optional(),
		/** Default model for new chats. */
		model: modelId.nullable().optional(),
		/** null leaves it to the model. */
		effort: reasoningEffort.nullable().optional(),
		/** Per reply: model calls, USD, milliseconds. */
		maxSteps: z.number().int().min(1).max(100).nullable().optional(),
		maxCostUsd: z.number().positive().max(1000).nullable().optional(),
		maxDurationMs: z.number().int().min(1000).max(86_400_000).nullable().optional()
	})
	.refine((patch) => Object.values(patch).some((value) => value !== undefined), 'must have something to change');
export type SettingsPatch = z.infer<typeof settingsPatch>;

export const modelSettings = z.object({
	/** Asked for when a conversation has chosen nothing else. */
	id: z.string(),
	effort: reasoningEffort.nullable(),
	baseUrl: z.string(),
	/** What the operator has set, so that one can go back to it. */
	defaultBaseUrl: z.string(),
	/** True while Demo mode answers, because there is no key. */
	isOffline: z.boolean(),
	/** Where the key is from; null without one. */
	keyFrom: z.enum(['settings', 'environment']).nullable(),
	/** One can sign in to this server instead of pasting a key. */
	canSignIn: z.boolean()
});
export type ModelSettings = z.infer<typeof modelSettings>;

export const settings = z.object({
	/** In effect: SKILLS_ENABLED=false cannot be overruled here. */
	skillsEnabled: z.boolean(),
	/** False where SKILLS_ENABLED=false keeps it off. */
	canEnableSkills: z.boolean(),
	skillsProvider: skillsProvider,
	hasSkillsmpApiKey: z.boolean(),
	autoMaxSkills: z.number(),
	autoMinScore: z.number(),
	/** What answers now. */
	model: modelSettings,
	/** In effect, for one answer; `maxCostUsd` null for any. */
	limits: z.object({
		maxSteps: z.number(),
		maxCostUsd: z.number().nullable(),
		maxDurationMs: z.number()
	}),
	/** What the operator has set, so that one can go back to it; `maxCostUsd` null for no limit. */
	defaults: z.object({
		skillsProvider: skillsProvider,
		autoMaxSkills: z.number(),
		autoMinScore: z.number(),
		model: z.string(),
		maxSteps: z.number(),
		maxCostUsd: z.number().nullable(),
		maxDurationMs: z.number()
	})
});
export type Settings = z.infer<typeof settings>;

// Keys with which other programs use this server, as the REST API has them (FEATURES F12, E18).

const scopes = z
	.array(z.enum(API_SCOPES))
	.min(1, 'must name a scope')
	.max(API_SCOPES.length)
	.refine((given) => new Set(given).size === given.length, 'must name each scope once');

/** `POST /api/keys`. */
export const apiKeyCreate = z.strictObject({
	name: z.string().trim().min(1).max(100),
	/** Nobody allows themselves anything unless it was said when the key was made. */
	scopes: scopes.default(API_SCOPES.filter((scope) => scope !== 'approve'))
});

/** `PATCH /api/keys/:id`. */
export const apiKeyPatch = z.strictObject({ name: z.string().trim().min(1).max(100) });

/** Everything of a key but itself, which nobody can be told again. */
export const apiKey = z.object({
	/** What executions, workspaces and skills are kept under: `key_…`. */
	id: z.string(),
	name: z.string(),
	/** Its first characters, to tell keys apart. */
	prefix: z.string(),
	scopes: z.array(z.enum(API_SCOPES)),
	/** ISO 8601. */
	createdAt: z.string(),
	/** To the minute; null for a key that was never used. */
	lastUsedAt: z.string().nullable(),
	revokedAt: z.string().nullable()
});
export type ApiKey = z.infer<typeof apiKey>;

/** The answer to its making: the only time that the key itself is sent. */
export const newApiKey = apiKey.extend({
	key: z.string()
});
export type NewApiKey = z.infer<typeof newApiKey>;

export const apiKeyList = z.object({
	data: z.array(apiKey)
});
export type ApiKeyList = z.infer<typeof apiKeyList>;
