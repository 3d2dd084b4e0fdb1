/** What is being named at the caret: a command, a skill or a file. Pure (FEATURES F7). */

export type Trigger = 'command' | 'skill' | 'file';

export interface Token {
	trigger: Trigger;
	/** What has been written of the name, up to the caret. */
	query: string;
	/** Of the whole token with its sign: `[from, to)`. */
	from: number;
	to: number;
	/** Perhaps no name at all: a bare sign after other words, as in “5 $”. Enter must not choose then. */
	isTentative: boolean;
}

const SIGNS: Record<string, Trigger> = { '/': 'command', $: 'skill', '@': 'file' };
/** `/usr/bin` and `/2` are no commands; `$5`, `$(x)` and `${x}` no skills. */
const NAMES: Record<Trigger, RegExp> = {
	command: /^(?!\d)[\p{L}\p{N}_-]*$/u,
	skill: /^(?!\d)[\p{L}\p{N}_-]*$/u,
	file: /^[^\s@]*$/
};
const MAX_QUERY = 64;

/**
 * Null where nothing is named. A command begins its line; a skill or a file begins a word, so neither `a@b.c` nor `US$` names
 * anything.
 */
export function tokenAt(text: string, caret: number): Token | null {
	const lineStart = text.lastIndexOf('\n', caret - 1) + 1;
	const line = text.slice(lineStart, caret);
	const match = /(?:^|[\s(])([/$@])([^\s$@(]*)$/.exec(line.slice(-MAX_QUERY - 2));
	const [, sign = '', query = ''] = match ?? [];
	const trigger = SIGNS[sign];
	if (!trigger || !NAMES[trigger].test(query)) return null;
	const from = caret - query.length - 1;
	const before = text.slice(lineStart, from);
	if (trigger === 'command' && before.trim() !== '') return null;
	const isTentative = query === '' && before.trim() !== '';
	return { trigger, query, from, to: caret + restOf(trigger, text.slice(caret, caret + MAX_QUERY)), isTentative };
}

/** How far the name goes on after the caret. */
function restOf(trigger: Trigger, after: string): number {
	return (trigger === 'file' ? /^[^\s@]*/ : /^[\p{L}\p{N}_-]*/u).exec(after)?.[0].length ?? 0;
}
