/** Puts the plain values of front matter in quotes, so that an unquoted `: ` or `[x] — …` reads as it was meant (A5); pure. */

/** Neither a key, an item nor a remark: further in, it can only be the rest of the value above. */
const CONTINUES = /^ +(?![\s#]|- |[\w.-]+:(?:\s|$))/;

/**
 * `key: Use when: it rains # remark`, with the lines further in that go on with it, becomes
 * `key: "Use when: it rains" # remark`, at the top and in maps and lists; what YAML takes as it is stays. As many lines
 * come back, those that went into another of them empty. Each line is looked at once as an entry and once as the inside
 * of one.
 */
export function quotePlainValues(lines: readonly string[]): string[] {
	const mended = [...lines];
	const aliases = aliasesOf(lines);
	for (let at = 0; at < lines.length; at += 1) {
		const entry = entryOf(lines[at] ?? '');
		if (!entry) continue;
		const { head, column, value } = entry;
		// A block or a text in quotes goes on for as long as lines are further in, whatever they look like.
		const inside = /^[|>"'[{]/.test(value) ? linesFurtherIn(lines, at + 1, column) : [];
		let last = at + inside.length;
		if (isPlain(value, inside)) {
			const parts = [splitRemark(value)];
			for (let next = at + 1; goesOn(lines[next] ?? '', column); next += 1) parts.push(splitRemark(lines[next] ?? ''));
			const text = parts.map((part) => part.text).join(' ');
			if (aliases.has(text.split(/\s/, 1)[0] ?? '')) continue;
			if (isFault(text) || parts.slice(0, -1).some(({ remark }) => remark)) {
				mended.fill('', at, at + parts.length);
				mended[at] = `${head}${JSON.stringify(text)}${parts.map(({ remark }) => remark).join('')}`;
			}
			last = Math.max(last, at + parts.length - 1);
		}
		at = last;
	}
	return mended;
}

/** `*name` and `&name` of each alias whose anchor is there: a text that begins so is what YAML takes it for. */
export function aliasesOf(lines: readonly string[]): ReadonlySet<string> {
	const text = lines.join('\n');
	const namesOf = (sign: RegExp) => [...text.matchAll(sign)].map(([, name = '']) => name);
	const anchors = new Set(namesOf(/(?<![^\s,[{])&([^\s,[\]{}]+)/g));
	const used = namesOf(/(?<![^\s,[{])\*([^\s,[\]{}]+)/g).filter((name) => anchors.has(name));
	return new Set(used.flatMap((name) => [`*${name}`, `&${name}`]));
}

/** Whether YAML would take the text for something else: what it takes as it is may be written in more ways than we know. */
function isFault(text: string): boolean {
	return /:(?:\s|$)/.test(text) || /^[-?:,[\]{}#&*!|>'"%@`]/.test(text);
}

/** `key: value`, `- value` or `- key: value`, and the column that what belongs to the value is further in than. */
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
		// `"Quick" fix: all` only begins like a quotation, `[file] [line]` like a list.
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

/** Where the list or map that `text` begins with is over; -1 when it never is. */
function endOfFlow(text: string): number {
	let depth = 0;
	let quote = '';
	/** What came before, blanks apart: a quotation only begins where a value may. */
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

/** What YAML takes for a remark: from the first `#` behind a blank. */
function splitRemark(value: string): { text: string; remark: string } {
	const at = value.search(/[ \t]#/);
	const text = at < 0 ? value : value.slice(0, at);
	return { text: text.trim(), remark: at < 0 ? '' : value.slice(at).trimEnd() };
}
