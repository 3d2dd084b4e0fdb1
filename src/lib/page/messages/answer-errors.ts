/** What can be done about an answer that failed, by the code of its error (UI brief §7). Pure. */

export type ErrorAction = 'continue' | 'retry' | 'settings' | 'credits' | 'switch' | 'newChat';

const USUAL: readonly ErrorAction[] = ['continue', 'retry'];

/** The first is what helps most. */
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

/** Where credits are bought; null where the answer is not by that account. */
export function creditsPage(message: string): string | null {
	return /(?<![\w.-])openrouter\.ai(?![\w-]|\.\w)/.test(message) ? 'https://openrouter.ai/settings/credits' : null;
}

export interface ErrorWords {
	/** What happened, and what to do. */
	message: string;
	/** What the model's server said of it; null where it said nothing. */
	detail: string | null;
}

/** Takes the server's own words out of our sentence: they are for those who ask for details. */
export function splitDetail(message: string): ErrorWords {
	const found = /^(.+?) It said: "(.*)"\.(?: (.*))?$/s.exec(message);
	if (!found) return { message, detail: null };
	const [, before = '', detail = '', after = ''] = found;
	return { message: [before, after].filter((words) => words !== '').join(' '), detail };
}
