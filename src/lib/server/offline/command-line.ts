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
const FLAG = /^--?[A-Za-z][\w-]*$/;
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
	const end = Math.min(text.length, 2_000);
	for (let at = 0; at < end; at = TOKEN.lastIndex) {
		TOKEN.lastIndex = at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0);
		const [, bracket, comment, dots, stop, argument] = TOKEN.exec(text) ?? [];
		const groups = open.at(-1) ?? [];
		if (bracket === '[' && open.length < 5) open.push([]);
		else if (bracket === ']' && open.length > 1) closeGroup(open, line);
		else if (dots !== undefined) {
			const part = groups.at(-1)?.arguments.at(-1)?.at(-1);
			if (typeof part === 'object') part.isRepeated = true;
		} else if (argument !== undefined) {
			const read = readArgument(argument);
			groups.push({ flag: flagOf(read), isOptional: false, arguments: [read] });
		} else if (stop === '|' && open.length > 1) {
			// Of `[-n | --limit NUMBER]` the long way is taken, else the first.
			const isShort = /^-[A-Za-z]$/.test(groups[0]?.flag ?? '');
			if (isShort) groups.length = 0;
			else TOKEN.lastIndex = text.indexOf(']', at);
		} else {
			line.comment = comment ?? '';
			break;
		}
		if (TOKEN.lastIndex <= at) break;
	}
	while (open.length > 1) closeGroup(open, line);
	return { ...line, groups: joinFlags(line.groups) };
}

function closeGroup(open: Group[][], line: CommandLine): void {
	const inner = open.pop() ?? [];
	const own = inner.filter((group) => !group.isOptional).flatMap((group) => group.arguments);
	const words = own.map((argument) => argument.map((part) => (typeof part === 'string' ? part : part.name)).join(''));
	if (words.length === 1 && OPTIONS_MARK.test(words[0] ?? '')) line.takesOptions = true;
	else if (own.length > 0) open.at(-1)?.push({ flag: flagOf(own[0]), isOptional: true, arguments: own });
	open.at(-1)?.push(...inner.filter((group) => group.isOptional));
}

export function slotsOf(groups: readonly Group[]): Slot[] {
	return groups.flatMap((group) => group.arguments.flat().filter((part) => typeof part !== 'string'));
}

function flagOf(argument: Argument | undefined): string | null {
	const [part] = argument ?? [];
	const flag = typeof part === 'string' ? part.replace(/=$/, '') : '';
	return FLAG.test(flag) && (argument?.length === 1 || part !== flag) ? flag : null;
}

function readArgument(argument: string): Argument {
	const pieces = argument.split(SPECIAL);
	const parts = pieces.flatMap((piece, index) => {
		if (piece === '') return [];
		if (index % 2 === 0) return readLiteral(piece, index === 0);
		if (/^["']/.test(piece))
			return readQuoted(piece.slice(1, -1).replace(/\\(.)/g, piece.startsWith('"') ? '$1' : '$&'));
		return [namedSlot(piece.replaceAll(/[<>${}]|\.{3}$/g, ''), { isRepeated: piece.endsWith('...') })];
	});
	const flag = flagOf(parts);
	return flag === null ? parts : parts.map((part) => withFlag(part, flag));
}

/** A flag that stands before a placeholder, or before what looks like no flag itself, takes it as its value. */
function joinFlags(groups: readonly Group[]): Group[] {
	const joined: Group[] = [];
	for (const group of groups) {
		const last = joined.at(-1);
		const isBare = last?.flag != null && last.arguments.length === 1 && last.arguments[0]?.length === 1;
		if (last && isBare && !last.isOptional && !group.isOptional && group.flag === null)
			last.arguments.push(...group.arguments);
		else joined.push({ ...group, arguments: [...group.arguments] });
	}
	return joined.map(({ flag, isOptional, arguments: list }) => {
		const bound = list.map((argument) => argument.map((part) => (flag === null ? part : withFlag(part, flag))));
		return {
			flag,
			isOptional,
			arguments: bound.map((argument) => argument.map((part) => withNeed(part, !isOptional)))
		};
	});
}

function withFlag(part: Part, flag: string): Part {
	return typeof part === 'string' || part.flag !== null
		? part
		: makeSlot(part.name, { ...part, kind: undefined, flag });
}

function withNeed(part: Part, isRequired: boolean): Part {
	return typeof part === 'string' ? part : { ...part, isRequired };
}

/** A placeholder by its written name: `city`, `a|b`. */
function namedSlot(name: string, options: SlotOptions = {}): Slot {
	const choices = name.includes('|') ? name.split('|').map((choice) => choice.trim()) : [];
	return makeSlot(name, { ...options, choices: choices.filter((choice) => choice !== '') });
}

/** An unquoted piece of an argument: `--channel=CHANNEL_ID`, `WxH`, `a|b`, `800`, `data.csv`, `send`. */
function readLiteral(literal: string, isWhole: boolean): Part[] {
	const [, flag, value] = (isWhole ? /^(--?[A-Za-z][\w-]*=)(.+)$/.exec(literal) : null) ?? [];
	if (flag !== undefined && value !== undefined) return [flag, ...readLiteral(value, false)];
	if (/^-(?!\d)/.test(literal)) {
		const ways = literal.split('|');
		return [ways.find((way) => way.startsWith('--')) ?? ways[0] ?? literal];
	}
	const word = literal.replace(/(?:\.{3}|…)$/, '');
	const [, width, height] = /^([A-Z]{1,12})x([A-Z]{1,12})$/.exec(word) ?? [];
	if (width !== undefined && height !== undefined) return [makeSlot(width), 'x', makeSlot(height)];
	if (isPlaceholder(word)) {
		// `USD` may be a code that is shown, or the name of what is to be given.
		const isCode = word.length === 3 && makeSlot(word).kind === 'name';
		return [makeSlot(word, { isRepeated: word !== literal, example: isCode ? word : null })];
	}
	if (/^[\w.-]+(\|[\w.-]+)+$/.test(word)) return [namedSlot(word)];
	return [exampleSlot(word) ?? literal];
}

/** A literal that only shows what could stand there; null when it is meant as it stands. */
function exampleSlot(word: string): Slot | null {
	if (/^https?:\/\//i.test(word) || isDomain(word)) return makeSlot('URL', { example: word });
	if (/^[+-]?\d+([.,]\d+)?$/.test(word)) return makeSlot('NUMBER', { example: word });
	if (/^path\/to\//.test(word) || (/\.[A-Za-z]\w*$/.test(word) && isFileName(word))) {
		const slot = makeSlot('VALUE', { example: word });
		return { ...slot, name: slot.kind.toUpperCase() };
	}
	return /\d/.test(word) && /^[\w#.:/@+-]+$/.test(word) ? makeSlot('VALUE', { example: word }) : null;
}

/** A quoted argument: prose shows a text; placeholders in it, also within JSON, are filled in place. */
function readQuoted(content: string): Part[] {
	if (isPlaceholder(content)) return [makeSlot(content)];
	if (/^<[^<>]{1,60}>$|^\$?\{[\w .-]{1,40}\}$|^\$[A-Z_]{2,30}$/.test(content))
		return [namedSlot(content.replaceAll(/[<>${}]/g, ''))];
	if (/^[{[]["\s]/.test(content.trim())) return readJsonText(content);
	if (/\{[\w .-]{1,40}\}/.test(content)) {
		const pieces = content.split(/(\{[\w .-]{1,40}\})/).filter((piece) => piece !== '');
		return pieces.map((piece) => (/^\{.+\}$/.test(piece) ? makeSlot(piece.slice(1, -1)) : piece));
	}
	if (isFileName(content) || /^https?:\/\/|^\d+$/.test(content)) return [exampleSlot(content) ?? content];
	return /[\p{L}\p{N}]/u.test(content) ? [makeSlot('TEXT', { example: content })] : [content];
}

/** `{"text": "TEXT", "n": N}`: only values are placeholders. */
function readJsonText(content: string): Part[] {
	const pieces = content.split(/("(?:<[^<>"]{1,60}>|[A-Z][A-Z0-9_]{1,40})"|:\s*[A-Z][A-Z0-9_]{0,40}\b)/);
	return pieces.flatMap((piece, index): Part[] => {
		if (index % 2 === 0) return piece === '' ? [] : [piece];
		if (piece.startsWith('"')) return ['"', makeSlot(piece.replace(/["<>]/g, '')), '"'];
		return [':', makeSlot(piece.replace(/^:\s*/, ''))];
	});
}

/** Capitals alone, such as `FILE` or `CHANNEL_ID`; one letter alone is one too. */
function isPlaceholder(word: string): boolean {
	if (word.length > 60 || FIXED_CAPITALS.has(word) || !/^[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)*$/.test(word)) return false;
	return word.length === 1 || /[A-Z][^A-Z]*[A-Z]/.test(word);
}
