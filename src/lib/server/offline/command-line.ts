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

/** `text` is the line after the script's name. Never throws: what makes no sense is taken literally. */
export function readCommandLine(text: string): CommandLine {
	const reader = new LineReader(text.slice(0, 2_000));
	const groups = reader.readGroups(null, 0);
	return { groups: joinFlags(groups), comment: reader.comment, takesOptions: reader.takesOptions };
}

export function slotsOf(groups: readonly Group[]): Slot[] {
	return groups.flatMap((group) => group.arguments.flat().filter((part): part is Slot => typeof part !== 'string'));
}

function flagOf(argument: Argument | undefined): string | null {
	const [part] = argument ?? [];
	const flag = typeof part === 'string' ? part.replace(/=$/, '') : '';
	return FLAG.test(flag) && (argument?.length === 1 || part !== flag) ? flag : null;
}

class LineReader {
	comment = '';
	takesOptions = false;
	readonly #text: string;
	#at = 0;

	constructor(text: string) {
		this.#text = text;
	}

	/** Until the closing bracket, or the end of the command. */
	readGroups(close: string | null, depth: number): Group[] {
		const groups: Group[] = [];
		while (this.#at < this.#text.length) {
			const rest = this.#text.slice(this.#at, this.#at + 200);
			const character = rest.charAt(0);
			if (/\s/.test(character)) this.#at += 1;
			else if (character === close) {
				this.#at += 1;
				return groups;
			} else if (character === '[' && depth < 4) {
				this.#at += 1;
				groups.push(...this.#asOptional(this.readGroups(']', depth + 1)));
			} else if (/^(?:#\s|#$|\/\/\s|\(|→|=>|[–—]\s)/.test(rest)) {
				this.comment = this.#text.slice(this.#at);
				this.#at = this.#text.length;
			} else if (/^(?:[|;]|&&|\d?>)/.test(rest)) {
				const isShort =
					close !== null && groups.length === 1 && /^-[A-Za-z]$/.test(flagOf(groups[0]?.arguments[0]) ?? '');
				if (isShort) groups.length = 0;
				this.#skipAlternative(close, rest, groups.length === 0);
			} else if (/^(?:\.{3}|…)(?=[\s\]]|$)/.test(rest)) {
				this.#at += character === '.' ? 3 : 1;
				const part = groups.at(-1)?.arguments.at(-1)?.at(-1);
				if (part !== undefined && typeof part !== 'string') part.isRepeated = true;
			} else {
				const argument = this.#readArgument(close);
				groups.push({ flag: flagOf(argument), isOptional: false, arguments: [argument] });
			}
		}
		return groups;
	}

	#asOptional(inner: Group[]): Group[] {
		const words = inner.flatMap((group) => group.arguments.map((argument) => argument.map(nameOf).join('')));
		if (words.length === 1 && OPTIONS_MARK.test(words[0] ?? '')) {
			this.takesOptions = true;
			return [];
		}
		const own = inner.filter((group) => !group.isOptional).flatMap((group) => group.arguments);
		const groups = own.length > 0 ? [{ flag: flagOf(own[0]), isOptional: true, arguments: own }] : [];
		return [...groups, ...inner.filter((group) => group.isOptional)];
	}

	/** Of `[-n | --limit NUMBER]` the long way is taken, else the first. At the top a pipe or a second command ends it. */
	#skipAlternative(close: string | null, rest: string, isFirst: boolean): void {
		const end = close !== null && rest.startsWith('|') ? this.#text.indexOf(close, this.#at) : -1;
		this.#at = end >= 0 && isFirst ? this.#at + 1 : end >= 0 ? end : this.#text.length;
	}

	#readArgument(close: string | null): Argument {
		const parts: Part[] = [];
		let literal = '';
		const endLiteral = () => {
			if (literal !== '') parts.push(...readLiteral(literal, parts.length === 0));
			literal = '';
		};
		while (this.#at < this.#text.length) {
			const rest = this.#text.slice(this.#at, this.#at + 2_000);
			const character = rest.charAt(0);
			if (/\s/.test(character) || character === close) break;
			const quoted = /^"((?:[^"\\]|\\.)*)"|^'([^']*)'/.exec(rest);
			const named =
				/^<([^<>\s][^<>]{0,60})>(?:\.{3})?/.exec(rest) ??
				/^\$?\{([\w .|-]{1,40})\}/.exec(rest) ??
				/^\$([A-Z_]{2,30})\b/.exec(rest);
			if (quoted) {
				endLiteral();
				parts.push(...readQuoted(quoted[1]?.replace(/\\(.)/g, '$1') ?? quoted[2] ?? ''));
				this.#at += quoted[0].length;
			} else if (named?.[1] !== undefined) {
				endLiteral();
				parts.push(namedSlot(named[1], { isRepeated: named[0].endsWith('...') }));
				this.#at += named[0].length;
			} else {
				literal += character;
				this.#at += 1;
			}
		}
		endLiteral();
		const flag = flagOf(parts);
		return flag === null ? parts : parts.map((part) => (typeof part === 'string' ? part : withFlag(part, flag)));
	}
}

function nameOf(part: Part): string {
	return typeof part === 'string' ? part : part.name;
}

/** A flag that stands before a placeholder, or before what looks like no flag itself, takes it as its value. */
function joinFlags(groups: readonly Group[]): Group[] {
	const joined: Group[] = [];
	for (const group of groups) {
		const last = joined.at(-1);
		const isBare = last?.arguments.length === 1 && last.arguments[0]?.length === 1 && !last.isOptional;
		if (
			last &&
			isBare &&
			!group.isOptional &&
			flagOf(last.arguments[0]) !== null &&
			flagOf(group.arguments[0]) === null
		)
			last.arguments.push(...group.arguments);
		else joined.push({ ...group, arguments: [...group.arguments] });
	}
	return joined.map((group) => {
		const bound = group.arguments.map((argument, index) => {
			const flag = flagOf(group.arguments[index - 1]);
			return argument.map((part) => {
				if (typeof part === 'string') return part;
				const slot = flag !== null && part.flag === null ? withFlag(part, flag) : part;
				return { ...slot, isRequired: !group.isOptional };
			});
		});
		return { ...group, arguments: bound };
	});
}

function withFlag({ name, choices, isRequired, isRepeated, example }: Slot, flag: string): Slot {
	return makeSlot(name, { choices, isRequired, isRepeated, example, flag });
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
	if (literal.startsWith('-') && !/^-?\d/.test(literal)) {
		const ways = literal.split('|');
		return [ways.find((way) => way.startsWith('--')) ?? ways[0] ?? literal];
	}
	const word = literal.replace(/(?:\.{3}|…)$/, '');
	const product = /^([A-Z]{1,12})x([A-Z]{1,12})$/.exec(word);
	if (product?.[1] !== undefined && product[2] !== undefined) return [makeSlot(product[1]), 'x', makeSlot(product[2])];
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
	const whole = /^<([^<>]{1,60})>$|^\$?\{([\w .-]{1,40})\}$|^\$([A-Z_]{2,30})$/.exec(content);
	const name = whole?.[1] ?? whole?.[2] ?? whole?.[3];
	if (name !== undefined) return [namedSlot(name)];
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
