/** Keys with which other programs use this server, as the REST API has them (FEATURES F12, E18). */
import { z } from 'zod';

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
