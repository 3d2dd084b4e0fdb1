/** What names of models, keys and efforts may look like: for the page too, which has no use for whole schemas. */

/** How long a model thinks before it answers: `reasoning.effort` of the Responses API, from least to most. */
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** Letters, digits and signs without spaces: what a header can carry, and a model be called. */
export const PRINTABLE = /^[!-~]+$/;
export const MAX_MODEL_ID = 256;
export const MAX_API_KEY = 512;

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
