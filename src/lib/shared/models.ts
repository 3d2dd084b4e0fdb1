/** REST contracts of models, keys and accounts (F9, F11). Times are ISO 8601. */
import { z } from 'zod';
import { MAX_API_KEY, MAX_MODEL_ID, PRINTABLE, REASONING_EFFORTS, WEB_TOOLS } from './names.ts';

/** The model server’s id, such as `openrouter/auto`. */
/** Models that answer one question side by side. */
export const MOST_COMPARED = 3;

export const modelId = z
	.string()
	.trim()
	.min(1)
	.max(MAX_MODEL_ID)
	.regex(PRINTABLE, 'must be letters, digits and signs without spaces');

export const reasoningEffort = z.enum(REASONING_EFFORTS);

/** Server tools that the model may use, if its server has them. */
export const webTools = z
	.array(z.enum(WEB_TOOLS))
	.max(WEB_TOOLS.length)
	.transform((chosen) => WEB_TOOLS.filter((tool) => chosen.includes(tool)));

/** A preset as a model: `preset:` and its id. */
const PRESET = 'preset:';
export const modelOfPreset = (id: string): string => `${PRESET}${id}`;
/** null for other models. */
export function presetOfModel(model: string | null | undefined): string | null {
	return model?.startsWith(PRESET) ? model.slice(PRESET.length) : null;
}

export const presetId = z
	.string()
	.max(40)
	.regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'must be a–z, 0–9 and -');

export const MAX_INSTRUCTIONS = 8000;
/** What the user tells the model in every chat, or in one. */
export const customInstructions = z
	.string()
	.trim()
	.max(MAX_INSTRUCTIONS, `must be at most ${MAX_INSTRUCTIONS.toLocaleString('en')} characters`);

/** OpenRouter takes three models in all. */
export const MAX_FALLBACKS = 2;
const providers = z.array(z.string().regex(/^[a-z0-9][a-z0-9._/-]{0,99}$/, 'must be names like deepinfra')).max(20);

/** How OpenRouter finds who answers; other servers don’t get it. What is left out is OpenRouter’s default. */
export const modelRouting = z.strictObject({
	/** Models that answer, in this order, if the chosen one can’t. */
	fallbacks: z.array(modelId).max(MAX_FALLBACKS).optional(),
	/** The cheapest or the fastest provider first. */
	sort: z.enum(['price', 'throughput']).nullable().optional(),
	/** Only providers that keep no data. */
	zdr: z.boolean().optional(),
	/** Names of providers. */
	only: providers.optional(),
	ignore: providers.optional()
});
export type ModelRouting = z.infer<typeof modelRouting>;

/** Medians of the last answers. */
const modelSpeed = z.object({
	answers: z.number(),
	/** Until the first word, thought or call. */
	firstTokenMs: z.number(),
	tokensPerSecond: z.number().nullable()
});
export type ModelSpeed = z.infer<typeof modelSpeed>;

/** A model of the server; null for unknown facts. */
export const modelInfo = z.object({
	id: z.string(),
	/** Display name, or the id. */
	name: z.string(),
	/** Empty if unknown. */
	description: z.string(),
	contextTokens: z.number().nullable(),
	/** USD per million tokens; `cached` for input that the server has cached, if it does. */
	price: z.object({ input: z.number(), output: z.number(), cached: z.number().optional() }).nullable(),
	takesTools: z.boolean().nullable(),
	/** What it takes and gives besides text, like `image`, `file` and `audio`. */
	takes: z.array(z.string()).nullable(),
	gives: z.array(z.string()).nullable(),
	/** Supports reasoning effort. */
	reasons: z.boolean().nullable(),
	createdAt: z.string().nullable(),
	/** How fast it answered in this app; left out if it hasn’t. */
	here: modelSpeed.optional()
});
export type ModelInfo = z.infer<typeof modelInfo>;

/** `GET /api/models`, in the server’s order. */
export const modelList = z.object({
	data: z.array(modelInfo),
	/** The model server; null for Demo mode. */
	baseUrl: z.string().nullable(),
	/** Why there are none, or they may be outdated; null if all is well. */
	problem: z.string().nullable()
});
export type ModelList = z.infer<typeof modelList>;

/** The URL before `/responses`, without user, password, query or fragment. */
export const modelBaseUrl = z
	// Aborts, because the next checks need a valid URL.
	.url({ protocol: /^https?$/, abort: true })
	.max(512)
	.refine((text) => {
		const { username, password, search, hash } = new URL(text);
		return username === '' && password === '' && search === '' && hash === '';
	}, 'must hold no user, password, query or fragment')
	.transform((text) => text.replace(/\/+$/, ''));

/** Characters allowed in a header. */
export const modelApiKey = z
	.string()
	.trim()
	.min(1)
	.max(MAX_API_KEY)
	.regex(PRINTABLE, 'must be letters, digits and signs without spaces');

/** `POST /api/models/check`. Defaults: the current settings. */
export const keyCheck = z.strictObject({ apiKey: modelApiKey.optional(), baseUrl: modelBaseUrl.optional() });

/** Status of a key. Amounts in USD; null if unknown or unlimited. */
export const keyStatus = z.object({
	isValid: z.boolean(),
	/** A sentence: that it works, or what is wrong and what to do. */
	message: z.string(),
	label: z.string().nullable(),
	limit: z.number().nullable(),
	remaining: z.number().nullable(),
	used: z.number().nullable(),
	/** The whole account; null if the key isn’t allowed to ask. */
	credits: z.object({ total: z.number(), used: z.number() }).nullable(),
	/** Number of usable models; null if unknown. */
	models: z.number().nullable()
});
export type KeyStatus = z.infer<typeof keyStatus>;

/** `GET /api/models/local`: a model server found on this computer (F11). */
export const localServer = z.object({
	/** E.g. `Ollama`. */
	name: z.string(),
	baseUrl: z.string(),
	models: z.array(z.string())
});
export type LocalServer = z.infer<typeof localServer>;

/** `POST /api/account/sign-in`: the page to return to, on this server. */
export const signInStart = z.strictObject({ returnTo: z.url({ protocol: /^https?$/ }).max(2048) });

/** The sign-in page (OAuth PKCE). */
export const signInStarted = z.object({ url: z.string() });
export type SignInStart = z.infer<typeof signInStarted>;

/** `POST /api/account/sign-in/complete`: the returned parameters. */
export const signInComplete = z.strictObject({
	code: z.string().min(1).max(2048),
	state: z.string().min(1).max(256)
});

export const localServerList = z.object({ data: z.array(localServer) });

export const MAX_PRESETS = 30;
export const MAX_PRESET_SKILLS = 20;

/** What a chat can be started with. null: what the settings say. */
export const preset = z.strictObject({
	name: z.string().trim().min(1).max(40),
	icon: z
		.string()
		.refine((text) => /^\p{RGI_Emoji}$/v.test(text), 'must be one emoji')
		.nullable(),
	model: modelId.refine((id) => presetOfModel(id) === null, 'must not be a preset').nullable(),
	effort: reasoningEffort.nullable(),
	instructions: customInstructions,
	/** Names of skills to pin. */
	skills: z.array(z.string().min(1).max(256)).max(MAX_PRESET_SKILLS),
	web: webTools.nullable().default(null),
	/** Joined with the settings’. It can ask for providers that keep no data, but not do without. */
	routing: modelRouting
		.extend({ zdr: z.literal(true).optional() })
		.nullable()
		.default(null),
	/** `ask`: every script needs approval. A preset can only be stricter than the server. */
	approval: z.literal('ask').nullable()
});
export type Preset = z.infer<typeof preset>;
export type Presets = Record<string, Preset>;

export function findPreset(presets: Presets, id: string): Preset | null {
	return (Object.hasOwn(presets, id) && presets[id]) || null;
}

/** A preset shared as a file. */
export const PRESET_FORMAT = 'openrouter-skills/preset';
export const presetFile = z.strictObject({ format: z.literal(PRESET_FORMAT), version: z.literal(1), preset });
