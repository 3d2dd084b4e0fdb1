/** What to do about a failed reply, by error code (UI brief §7). Pure. */

export type ErrorAction = 'continue' | 'retry' | 'settings' | 'credits' | 'switch' | 'newChat';

const USUAL: readonly ErrorAction[] = ['continue', 'retry'];

/** Most helpful first. */
const ACTIONS: Record<string, readonly ErrorAction[]> = {
	unauthorized: ['settings', 'retry'],
	insufficient_credits: ['credits', 'switch', 'retry'],
	moderation: ['switch', 'retry'],
	model_not_found: ['switch', 'settings', 'retry'],
	context_length_exceeded: ['newChat', 'switch'],
	rate_limited: ['continue', 'retry', 'switch'],
	provider_error: ['continue', 'retry', 'switch'],
	timeout: ['continue', 'retry', 'switch'],
	unreachable: ['continue', 'retry', 'settings'],
	stream_truncated: ['continue', 'retry'],
	empty_response: ['retry', 'switch']
};

export function actionsFor(code: string): readonly ErrorAction[] {
	return Object.hasOwn(ACTIONS, code) ? (ACTIONS[code] ?? USUAL) : USUAL;
}

/** Where to buy credits; null if the reply didn't come from OpenRouter. */
export function creditsPage(message: string): string | null {
	return /(?<![\w.-])openrouter\.ai(?![\w-]|\.\w)/.test(message) ? 'https://openrouter.ai/settings/credits' : null;
}

export interface ErrorWords {
	/** What happened, and what to do. */
	message: string;
	/** The model server's own words, or null. */
	detail: string | null;
}

/** Splits the model server's own words off our message; they are shown under Details. */
export function splitDetail(message: string): ErrorWords {
	const found = /^(.+?) It said: "(.*)"\.(?: (.*))?$/s.exec(message);
	if (!found) return { message, detail: null };
	const [, before = '', detail = '', after = ''] = found;
	return { message: [before, after].filter((words) => words !== '').join(' '), detail };
}
