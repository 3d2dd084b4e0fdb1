/** What can be changed while the server runs (FEATURES E1, E11, B8). */
import { z } from 'zod';
import { modelApiKey, modelBaseUrl, modelId, type ReasoningEffort, reasoningEffort } from './models.ts';

/** The catalog whose install endpoint is accepted (E1). */
export const skillsProvider = z.enum(['skillsmp', 'skillssh', 'github']);

/** `PUT /api/settings`; what is left out stays as it is. */
export const settingsPatch = z
	.strictObject({
		/** The master switch: false, and nothing of a skill is executed. */
		skillsEnabled: z.boolean().optional(),
		skillsProvider: skillsProvider.optional(),
		/** Goes in and never comes out; null removes it. */
		skillsmpApiKey: z.string().trim().min(8).max(512).nullable().optional(),
		/** Most skills that the OmniRoute scorer picks, and the fewest points for one. */
		autoMaxSkills: z.number().int().min(0).max(50).optional(),
		autoMinScore: z.number().int().min(0).max(1000).optional(),
		/** Where models are asked; null for what the operator has set. Another one removes the key: that is for its host alone. */
		modelBaseUrl: modelBaseUrl.nullable().optional(),
		/** Goes in and never comes out; null removes it. */
		modelApiKey: modelApiKey.nullable().optional(),
		/** What answers when a conversation has chosen nothing else; null for what the operator has set. */
		model: modelId.nullable().optional(),
		/** null leaves it to the model. */
		effort: reasoningEffort.nullable().optional(),
		/** Of one answer: model calls, USD (null for any), milliseconds; null for what the operator has set. */
		maxSteps: z.number().int().min(1).max(100).nullable().optional(),
		maxCostUsd: z.number().positive().max(1000).nullable().optional(),
		maxDurationMs: z.number().int().min(1000).max(86_400_000).nullable().optional()
	})
	.refine((patch) => Object.values(patch).some((value) => value !== undefined), 'must name something to change');
export type SettingsPatch = z.infer<typeof settingsPatch>;

export interface Settings {
	/** In effect: SKILLS_ENABLED=false cannot be overruled here. */
	skillsEnabled: boolean;
	/** False where SKILLS_ENABLED=false keeps it off. */
	canEnableSkills: boolean;
	skillsProvider: z.infer<typeof skillsProvider>;
	hasSkillsmpApiKey: boolean;
	autoMaxSkills: number;
	autoMinScore: number;
	/** What answers now. */
	model: ModelSettings;
	/** In effect, for one answer; `maxCostUsd` null for any. */
	limits: { maxSteps: number; maxCostUsd: number | null; maxDurationMs: number };
}

export interface ModelSettings {
	/** Asked for when a conversation has chosen nothing else. */
	id: string;
	effort: ReasoningEffort | null;
	baseUrl: string;
	/** What the operator has set, so that one can go back to it. */
	defaultBaseUrl: string;
	/** True while the built-in responder answers, because there is no key. */
	isOffline: boolean;
	/** Where the key is from; null without one. */
	keyFrom: 'settings' | 'environment' | null;
	/** One can sign in to this server instead of pasting a key. */
	canSignIn: boolean;
}

// Keys with which other programs use this server, as the REST API has them (FEATURES F12, E18).

/**
 * What a key may do: look; switch skills; run skills and ask the agent; allow its own runs what somebody would be asked
 * about.
 */
export const API_SCOPES = ['read', 'write', 'execute', 'approve'] as const;

export type ApiScope = (typeof API_SCOPES)[number];

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
export interface ApiKey {
	/** What executions, workspaces and skills are kept under: `key_…`. */
	id: string;
	name: string;
	/** Its first characters, to tell keys apart. */
	prefix: string;
	scopes: ApiScope[];
	/** ISO 8601. */
	createdAt: string;
	/** To the minute; null for a key that was never used. */
	lastUsedAt: string | null;
	revokedAt: string | null;
}

/** The answer to its making: the only time that the key itself is sent. */
export interface NewApiKey extends ApiKey {
	key: string;
}

export interface ApiKeyList {
	data: ApiKey[];
}
