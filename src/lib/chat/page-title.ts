/** What a tab says of itself, most urgent first. Pure. */

export interface TabState {
	/** A call of the open conversation waits for somebody. */
	isWaiting: boolean;
	/** Its answer is being written. */
	isRunning: boolean;
	/** Conversations with an answer that nobody has seen. */
	unreadCount: number;
}

/** `(!) `, `(2) `, `… `, or nothing: stands before the title. */
function titleMark({ isWaiting, isRunning, unreadCount }: TabState): string {
	if (isWaiting) return '(!) ';
	if (unreadCount > 0) return `(${unreadCount}) `;
	return isRunning ? '… ' : '';
}

/** `(2) Plans · openrouter-skills`; an empty name is left out. */
export function pageTitle(name: string, state: TabState): string {
	return `${titleMark(state)}${name === '' ? '' : `${name} · `}openrouter-skills`;
}
