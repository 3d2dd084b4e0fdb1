/** The end of a script's live output, ready to be painted. Pure. */
import type { Execution } from '../shared/message.ts';
import { cleanTerminalText } from './clean-text.ts';

export interface Tail {
	chunks: { stream: 'stdout' | 'stderr'; text: string }[];
	/** Characters that are not painted. */
	hidden: number;
}

/** The last `maxLength` characters or so; a terminal that paints megabytes stops the page. */
export function tailOf(output: Execution['output'], maxLength = 20_000): Tail {
	const chunks: Tail['chunks'] = [];
	let length = 0;
	let index = output.length - 1;
	for (; index >= 0 && length < maxLength; index--) {
		const chunk = output[index];
		if (!chunk) break;
		const text = chunk.text.length > maxLength - length ? chunk.text.slice(length - maxLength) : chunk.text;
		length += text.length;
		chunks.unshift({ stream: chunk.stream, text: cleanTerminalText(text) });
	}
	const total = output.reduce((sum, { text }) => sum + text.length, 0);
	return { chunks, hidden: total - length };
}
