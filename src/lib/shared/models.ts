/** Models, and the account that pays for them (FEATURES F9, F11; MODEL-WIRE "Figures"). */
import { z } from 'zod';
import { MAX_API_KEY, MAX_MODEL_ID, PRINTABLE, REASONING_EFFORTS } from './names.ts';

/** As its server names it, e.g. `openrouter/auto`. */
export const modelId = z
	.string()
	.trim()
	.min(1)
	.max(MAX_MODEL_ID)
	.regex(PRINTABLE, 'must be letters, digits and signs without spaces');

export const reasoningEffort = z.enum(REASONING_EFFORTS);

/** A model that the server offers; null wherever it does not say. */
export const modelInfo = z.object({
	id: z.string(),
	/** For people; its id where it has no other. */
	name: z.string(),
	/** In a sentence or two; empty where nothing is said. */
	description: z.string(),
	contextTokens: z.number().nullable(),
	/** USD for a million tokens. */
	price: z
		.object({
			input: z.number(),
			output: z.number()
		})
		.nullable(),
	takesTools: z.boolean().nullable(),
	takesImages: z.boolean().nullable(),
	/** Can be told how long to think. */
	reasons: z.boolean().nullable(),
	/** ISO 8601. */
	createdAt: z.string().nullable()
});
export type ModelInfo = z.infer<typeof modelInfo>;

/** `GET /api/models`: in the order of the server. */
export const modelList = z.object({
	data: z.array(modelInfo),
	/** Whose models they are; null for Demo mode. */
	baseUrl: z.string().nullable(),
	/** Why there are none, or why they may be old ones; null when all is well. */
	problem: z.string().nullable()
});
export type ModelList = z.infer<typeof modelList>;

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
export const keyStatus = z.object({
	isValid: z.boolean(),
	/** A sentence: what is wrong and what to do, or that it works. */
	message: z.string(),
	/** As its owner has named it. */
	label: z.string().nullable(),
	limit: z.number().nullable(),
	remaining: z.number().nullable(),
	used: z.number().nullable(),
	/** Of the whole account; null where the key may not ask. */
	credits: z
		.object({
			total: z.number(),
			used: z.number()
		})
		.nullable(),
	/** How many models it may use; null where that is not known. */
	models: z.number().nullable()
});
export type KeyStatus = z.infer<typeof keyStatus>;

/** `GET /api/models/local`: a server for models that was found on this machine (F11). */
export const localServer = z.object({
	/** E.g. `Ollama`. */
	name: z.string(),
	baseUrl: z.string(),
	/** Ids of its models. */
	models: z.array(z.string())
});
export type LocalServer = z.infer<typeof localServer>;

/** `POST /api/account/sign-in`: the address of the page that it comes back to, on this server. */
export const signInStart = z.strictObject({ returnTo: z.url({ protocol: /^https?$/ }).max(2048) });

/** Where the browser goes to sign in (OAuth PKCE). */
export const signInStarted = z.object({
	url: z.string()
});
export type SignInStart = z.infer<typeof signInStarted>;

/** `POST /api/account/sign-in/complete`: what came back in that address. */
export const signInComplete = z.strictObject({
	code: z.string().min(1).max(2048),
	state: z.string().min(1).max(256)
});

export const localServerList = z.object({ data: z.array(localServer) });
