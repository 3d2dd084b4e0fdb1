/** Quotes plain values in front matter, so that an unquoted `: ` or `[x] — …` parses as intended (A5); pure. */

/** Neither key, item nor comment: if indented further, it continues the value above. */
const CONTINUES = /^ +(?![\s#]|- |[\w.-]+:(?:\s|$))/;

/**
 * Turns `key: it rains: stay # comment`, with its indented continuation lines, into `key: "it rains: stay" # comment`.
 * Valid YAML stays as it is. Joined lines become empty, so that line numbers stay the same. Linear time.
 */
export function quotePlainValues(lines: readonly string[]): string[] {
	const mended = [...lines];
	const aliases = aliasesOf(lines);
	for (let at = 0; at < lines.length; at += 1) {
		const entry = entryOf(lines[at] ?? '');
		if (!entry) continue;
		const { head, column, value } = entry;
		// Blocks and quoted text continue while lines are indented further, whatever they look like.
		const inside = /^[|>"'[{]/.test(value) ? linesFurtherIn(lines, at + 1, column) : [];
		let last = at + inside.length;
		if (isPlain(value, inside)) {
			const parts = [splitComment(value)];
			for (let next = at + 1; goesOn(lines[next] ?? '', column); next += 1) parts.push(splitComment(lines[next] ?? ''));
			const text = parts.map((part) => part.text).join(' ');
			if (aliases.has(text.split(/\s/, 1)[0] ?? '')) continue;
			if (isFault(text) || parts.slice(0, -1).some(({ comment }) => comment)) {
				mended.fill('', at, at + parts.length);
				mended[at] = `${head}${JSON.stringify(text)}${parts.map(({ comment }) => comment).join('')}`;
			}
			last = Math.max(last, at + parts.length - 1);
		}
		at = last;
	}
	return mended;
}

/** `*name` and `&name` of each alias with an anchor: text that starts with these is a real alias. */
export function aliasesOf(lines: readonly string[]): ReadonlySet<string> {
	const text = lines.join('\n');
	const namesOf = (sign: RegExp) => [...text.matchAll(sign)].map(([, name = '']) => name);
	const anchors = new Set(namesOf(/(?<![^\s,[{])&([^\s,[\]{}]+)/g));
	const used = namesOf(/(?<![^\s,[{])\*([^\s,[\]{}]+)/g).filter((name) => anchors.has(name));
	return new Set(used.flatMap((name) => [`*${name}`, `&${name}`]));
}

/** True if YAML would misread the text. Anything else stays as written. */
function isFault(text: string): boolean {
	return /:(?:\s|$)/.test(text) || /^[-?:,[\]{}#&*!|>'"%@`]/.test(text);
}

/** Parses `key: value`, `- value` or `- key: value`; the value's other lines are indented further than `column`. */
function entryOf(line: string): { head: string; column: number; value: string } | null {
	let start = indentOf(line);
	let column = -1;
	while (line.startsWith('- ', start)) {
		column = start;
		start += 1 + indentOf(line.slice(start + 1));
	}
	const key = /^[A-Za-z_][\w.-]*:[ \t]+/.exec(line.slice(start))?.[0] ?? '';
	if (key) column = start;
	const head = line.slice(0, start) + key;
	const value = line.slice(head.length);
	return column < 0 || !value || value.startsWith('#') ? null : { head, column, value };
}

function linesFurtherIn(lines: readonly string[], from: number, column: number): readonly string[] {
	let end = from;
	for (let line = lines[end]; line !== undefined && (!line.trim() || indentOf(line) > column); line = lines[end])
		end += 1;
	return lines.slice(from, end);
}

function goesOn(line: string, column: number): boolean {
	return CONTINUES.test(line) && indentOf(line) > column;
}

function indentOf(line: string): number {
	return line.search(/[^ ]|$/);
}

function isPlain(value: string, inside: readonly string[]): boolean {
	switch (value.charAt(0)) {
		case '|':
		case '>':
			return false;
		// `"Quick" fix: all` only starts like a quoted string, `[file] [line]` like a list.
		case '"':
			return /^"(?:[^"\\]|\\.)*"\s*[^\s#]/.test(value);
		case "'":
			return /^'(?:[^']|'')*'\s*[^\s#']/.test(value);
		case '[':
		case '{': {
			const whole = [value, ...inside].join('\n');
			const end = endOfFlow(whole);
			return end < 0 || !/^\s*(?:#|$)/.test(whole.slice(end));
		}
		default:
			return true;
	}
}

/** Index after the list or map at the start of `text`; -1 if it never closes. */
function endOfFlow(text: string): number {
	let depth = 0;
	let quote = '';
	/** The last non-blank character: a quoted string only starts where a value may. */
	let before = '';
	for (let at = 0; at < text.length; at += 1) {
		const character = text.charAt(at);
		if (quote) {
			if (quote === '"' ? character === '\\' : text.startsWith("''", at)) at += 1;
			else if (character === quote) quote = '';
		} else if (/["']/.test(character) && /[[{,:]/.test(before)) {
			quote = character;
		} else if (/[[{]/.test(character)) {
			depth += 1;
		} else if (/[\]}]/.test(character) && (depth -= 1) === 0) {
			return at + 1;
		}
		if (character.trim()) before = character;
	}
	return -1;
}

/** Splits off a YAML comment: from the first `#` after a space. */
function splitComment(value: string): { text: string; comment: string } {
	const at = value.search(/[ \t]#/);
	const text = at < 0 ? value : value.slice(0, at);
	return { text: text.trim(), comment: at < 0 ? '' : value.slice(at).trimEnd() };
}
