/** Reads one documented command line: literal words, placeholders, values that are shown as examples, optional groups. */
import { isDomain, isFileName, makeSlot, type Slot, type SlotOptions } from './slots.ts';

/** Literal text, or a placeholder within an argument. */
export type Part = string | Slot;
/** One argument is its parts joined. */
export type Argument = Part[];

/** Arguments that stand or fall together: one, or a flag and its value. */
export interface Group {
	/** `--days` in `--days NUMBER`, `--days=NUMBER` and `--days`; null for a positional argument. */
	flag: string | null;
	isOptional: boolean;
	arguments: Argument[];
}

export interface CommandLine {
	groups: Group[];
	/** What a trailing comment says. */
	comment: string;
	/** Does it say "and any options" (`[OPTIONS]`)? */
	takesOptions: boolean;
}

const OPTIONS_MARK = /^-*(options?|flags?|args|arguments|opts)$/i;
const FIXED_CAPITALS = new Set('GET POST PUT PATCH DELETE HEAD UTF-8 ASCII UTF8 OK'.split(' '));
const SPECIAL = /("(?:[^"\\]|\\.)*"|'[^']*'|<[^<>\s][^<>]{0,60}>(?:\.{3})?|\$?\{[\w .|-]{1,40}\}|\$[A-Z_]{2,30}\b)/;
/** A bracket, a comment, dots, the end of the command, or an argument. */
const TOKEN = new RegExp(
	`([[\\]])|((?:#\\s|#$|//\\s|\\(|→|=>|[–—]\\s).*)|(\\.{3}|…)(?=[\\s\\]]|$)|([|;]|&&|\\d?>)|((?:${SPECIAL.source}|[^\\s\\]])+)`,
	'y'
);

/** `text` is the line after the script's name. Never throws: what makes no sense is taken literally. */
export function readCommandLine(text: string): CommandLine {
	const line: CommandLine = { groups: [], comment: '', takesOptions: false };
	/** Groups that are open, the outermost first. */
	const open: Group[][] = [line.groups];
	for (let at = 0; at < Math.min(text.length, 2_000); at = TOKEN.lastIndex) {
		TOKEN.lastIndex = at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0);
		const [, bracket, comment, dots, stop, argument] = TOKEN.exec(text) ?? [];
		const groups = open.at(-1) ?? [];
		if (bracket === '[') open.push([]);
		else if (bracket === ']' && open.length > 1) closeGroup(open, line);
		else if (dots !== undefined) {
			const part = groups.at(-1)?.arguments.at(-1)?.at(-1);
			if (typeof part === 'object') part.isRepeated = true;
		} else if (argument !== undefined) {
			const read = readArgument(argument);
			groups.push({ flag: flagOf(read), isOptional: false, arguments: [read] });
		} else if (stop === '|' && open.length > 1) {
			// Of `[-n | --limit NUMBER]` the long way is taken, else the first.
			if (/^-[A-Za-z]$/.test(groups[0]?.flag ?? '')) groups.length = 0;
			else TOKEN.lastIndex = Math.max(at + 1, text.indexOf(']', at));
		} else {
			line.comment = comment ?? '';
			break;
		}
	}
	while (open.length > 1) closeGroup(open, line);
	return { ...line, groups: joinFlags(line.groups) };
}

function closeGroup(open: Group[][], line: CommandLine): void {
	const inner = open.pop() ?? [];
	const own = inner.filter((group) => !group.isOptional).flatMap((group) => group.arguments);
	const [only] = own.length === 1 ? (own[0] ?? []) : [];
	if (OPTIONS_MARK.test(typeof only === 'object' ? only.name : (only ?? ''))) line.takesOptions = true;
	else if (own.length > 0) open.at(-1)?.push({ flag: flagOf(own[0]), isOptional: true, arguments: own });
	open.at(-1)?.push(...inner.filter((group) => group.isOptional));
}

export function slotsOf(groups: readonly Group[]): Slot[] {
	return groups.flatMap((group) => group.arguments.flat().filter((part) => typeof part !== 'string'));
}

function flagOf([part]: Argument = []): string | null {
	return typeof part === 'string' ? (/^(--?[A-Za-z][\w-]*)=?$/.exec(part)?.[1] ?? null) : null;
}

function readArgument(argument: string): Argument {
	const parts = argument.split(SPECIAL).flatMap((piece, index) => {
		if (piece === '') return [];
		if (index % 2 === 0) return readLiteral(piece);
		if (/^["']/.test(piece)) return readQuoted(piece.slice(1, -1).replace(/\\(["\\])/g, '$1'));
		return [namedSlot(piece, { isRepeated: piece.endsWith('...') })];
	});
	const flag = flagOf(parts);
	return flag === null ? parts : parts.map((part) => withFlag(part, flag, true));
}

/** A flag that stands before a placeholder, or before what looks like no flag itself, takes it as its value. */
function joinFlags(groups: readonly Group[]): Group[] {
	const joined: Group[] = [];
	for (const { flag, isOptional, arguments: list } of groups) {
		const last = joined.at(-1);
		const isBare = last?.flag != null && last.arguments.length === 1 && last.arguments[0]?.length === 1;
		if (last && isBare && !last.isOptional && !isOptional && flag === null) last.arguments.push(...list);
		else joined.push({ flag, isOptional, arguments: [...list] });
	}
	return joined.map(({ flag, isOptional, arguments: list }) => ({
		flag,
		isOptional,
		arguments: list.map((argument) => argument.map((part) => withFlag(part, flag, !isOptional)))
	}));
}

function withFlag(part: Part, flag: string | null, isRequired: boolean): Part {
	if (typeof part === 'string') return part;
	const slot = makeSlot(part.name, { ...part, kind: undefined, flag: part.flag ?? flag, isRequired });
	return { ...slot, hints: part.hints };
}

/** A placeholder by its written name: `<city>`, `{city}`, `a|b`. */
function namedSlot(written: string, options: SlotOptions = {}): Slot {
	const name = written.replaceAll(/[<>${}]|\.{3}$/g, '');
	return makeSlot(name, { ...options, choices: name.includes('|') ? name.split(/\s*\|\s*/) : [] });
}

/** An unquoted piece of an argument: `--channel=CHANNEL_ID`, `WxH`, `a|b`, `800`, `data.csv`, `send`. */
function readLiteral(literal: string): Part[] {
	const [, flag, value] = /^(--?[A-Za-z][\w-]*=)(.+)$/.exec(literal) ?? [];
	if (flag !== undefined && value !== undefined) return [flag, ...readLiteral(value)];
	if (/^-(?!\d)/.test(literal)) {
		const ways = literal.split('|');
		return [ways.find((way) => way.startsWith('--')) ?? ways[0] ?? literal];
	}
	const word = literal.replace(/(?:\.{3}|…)$/, '');
	const [, width, height] = /^([A-Z]{1,12})x([A-Z]{1,12})$/.exec(word) ?? [];
	if (width !== undefined && height !== undefined) return [makeSlot(width), 'x', makeSlot(height)];
	if (isPlaceholder(word)) return [makeSlot(word, { isRepeated: word !== literal })];
	return [/^[\w.-]+(\|[\w.-]+)+$/.test(word) ? namedSlot(word) : (exampleSlot(word) ?? literal)];
}

/** A literal that only shows what could stand there; null when it is meant as it stands. */
function exampleSlot(word: string): Slot | null {
	if (/\s/.test(word)) return null;
	if (/^https?:\/\//i.test(word) || isDomain(word)) return makeSlot('URL', { example: word });
	if (/^[+-]?\d+([.,]\d+)?$/.test(word)) return makeSlot('NUMBER', { example: word });
	const slot = makeSlot('VALUE', { example: word });
	if (/\.[A-Za-z]\w*$/.test(word) && isFileName(word)) return { ...slot, name: slot.kind.toUpperCase() };
	return /\d/.test(word) && /^[\w#.:/@+-]+$/.test(word) ? slot : null;
}

/** A quoted argument: prose shows a text; placeholders in it, also within JSON, are filled in place. */
function readQuoted(content: string): Part[] {
	if (isPlaceholder(content)) return [makeSlot(content)];
	if (/^[{[]["\s]/.test(content.trim())) return readJsonText(content);
	const pieces = content.split(/(<[^<>]{1,60}>|\$?\{[\w .-]{1,40}\}|\$[A-Z_]{2,30}\b)/);
	if (pieces.length > 1) return pieces.flatMap((piece, index) => (index % 2 === 1 ? namedSlot(piece) : piece || []));
	if (isFileName(content) || /^https?:\/\/|^\d+$/.test(content)) return [exampleSlot(content) ?? content];
	return /[\p{L}\p{N}]/u.test(content) ? [makeSlot('TEXT', { example: content })] : [content];
}

/** `{"text": "TEXT", "n": N}`: only values are placeholders. */
function readJsonText(content: string): Part[] {
	const pieces = content.split(/((?<=")(?:<[^<>"]{1,60}>|[A-Z][A-Z0-9_]{1,40})(?=")|(?<=:\s*)[A-Z][A-Z0-9_]{0,40}\b)/);
	const keyBefore = (index: number) => /"([\w-]+)":\s*"?$/.exec(pieces[index - 1] ?? '')?.[1] ?? '';
	return pieces.flatMap((piece, index) =>
		index % 2 === 1 ? namedSlot(piece, { about: keyBefore(index) }) : piece || []
	);
}

/** Capitals alone, such as `FILE` or `CHANNEL_ID`; one letter alone is one too. */
function isPlaceholder(word: string): boolean {
	return (
		/^(?:[A-Z]|[A-Z][A-Z0-9_-]{0,57}[A-Z0-9]|HH:MM)$/.test(word) &&
		/^.$|[A-Z][^A-Z]*[A-Z]/.test(word) &&
		!FIXED_CAPITALS.has(word)
	);
}
