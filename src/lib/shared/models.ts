/** Models, and the account that pays for them (FEATURES F9, F11; MODEL-WIRE "Figures"). */
import { z } from 'zod';

// What names of models, keys and efforts may look like: for the page too, which has no use for whole schemas.

/** How long a model thinks before it answers: `reasoning.effort` of the Responses API, from least to most. */
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** Letters, digits and signs without spaces: what a header can carry, and a model be called. */
const PRINTABLE = /^[!-~]+$/;
export const MAX_MODEL_ID = 256;
const MAX_API_KEY = 512;

/** Id of the built-in responder, wherever an answer says what gave it. */
export const BUILT_IN_MODEL = 'offline';

export function isReasoningEffort(value: unknown): value is ReasoningEffort {
	return REASONING_EFFORTS.some((effort) => effort === value);
}

/** `text` trimmed, if a model could be called so; else null. */
export function asModelId(text: string): string | null {
	const id = text.trim();
	return PRINTABLE.test(id) && id.length <= MAX_MODEL_ID ? id : null;
}

/** `text` trimmed, if it could be a key; else null. */
export function asApiKey(text: string): string | null {
	const key = text.trim();
	return PRINTABLE.test(key) && key.length <= MAX_API_KEY ? key : null;
}

/** As its server names it, e.g. `openrouter/auto`. */
export const modelId = z
	.string()
	.trim()
	.min(1)
	.max(MAX_MODEL_ID)
	.regex(PRINTABLE, 'must be letters, digits and signs without spaces');

export const reasoningEffort = z.enum(REASONING_EFFORTS);

/** A model that the server offers; null wherever it does not say. */
export interface ModelInfo {
	id: string;
	/** For people; its id where it has no other. */
	name: string;
	/** In a sentence or two; empty where nothing is said. */
	description: string;
	contextTokens: number | null;
	/** USD for a million tokens. */
	price: { input: number; output: number } | null;
	takesTools: boolean | null;
	takesImages: boolean | null;
	/** Can be told how long to think. */
	reasons: boolean | null;
	/** ISO 8601. */
	createdAt: string | null;
}

/** `GET /api/models`: in the order of the server. */
export interface ModelList {
	data: ModelInfo[];
	/** Whose models they are; null for the built-in responder. */
	baseUrl: string | null;
	/** Why there are none, or why they may be old ones; null when all is well. */
	problem: string | null;
}

/** `http` or `https`, without user, password, query or fragment; what comes before `/responses`. */
export const modelBaseUrl = z
	// What is no address is not looked at any further: the rest takes one for granted.
	.url({ protocol: /^https?$/, abort: true })
	.max(512)
	.refine((text) => {
		const { username, password, search, hash } = new URL(text);
		return username === '' && password === '' && search === '' && hash === '';
	}, 'must hold no user, password, query or fragment')
	.transform((text) => text.replace(/\/+$/, ''));

/** OpenRouter's address, and what is built like it: `https://…/api/v1`. There is `/key`, `/credits`, and a sign-in. */
export function isOpenRouter(baseUrl: string): boolean {
	return /\/api\/v1\/?$/.test(new URL(baseUrl).pathname);
}

/** Printable characters: what a header can carry. */
export const modelApiKey = z
	.string()
	.trim()
	.min(1)
	.max(MAX_API_KEY)
	.regex(PRINTABLE, 'must be letters, digits and signs without spaces');

/** `POST /api/models/check`: does this key work there? What is left out is what the server has. */
export const keyCheck = z.strictObject({ apiKey: modelApiKey.optional(), baseUrl: modelBaseUrl.optional() });

/** What a key is good for. Every figure in USD, null where the server does not say or there is no limit. */
export interface KeyStatus {
	isValid: boolean;
	/** A sentence: what is wrong and what to do, or that it works. */
	message: string;
	/** As its owner has named it. */
	label: string | null;
	limit: number | null;
	remaining: number | null;
	used: number | null;
	/** Of the whole account; null where the key may not ask. */
	credits: { total: number; used: number } | null;
	/** How many models it may use; null where that is not known. */
	models: number | null;
}

/** `GET /api/models/local`: a server for models that was found on this machine (F11). */
export interface LocalServer {
	/** E.g. `Ollama`. */
	name: string;
	baseUrl: string;
	/** Ids of its models. */
	models: string[];
}

/** Where the browser goes to sign in (OAuth PKCE). */
export interface SignInStart {
	url: string;
}

/** `POST /api/account/sign-in`: the address of the page that it comes back to, on this server. */
export const signInStart = z.strictObject({ returnTo: z.url({ protocol: /^https?$/ }).max(2048) });

/** `POST /api/account/sign-in/complete`: what came back in that address. */
export const signInComplete = z.strictObject({
	code: z.string().min(1).max(2048),
	state: z.string().min(1).max(256)
});
