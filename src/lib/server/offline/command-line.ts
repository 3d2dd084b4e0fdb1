/** Reads one documented command line: literal words, placeholders, optional groups. */
import { makeSlot, type Slot } from './slots.ts';
import { namedSlot, readLiteral, readQuoted, type TemplatePart } from './tool-call.ts';

/** One argument is its parts joined. */
export type TemplateArgument = TemplatePart[];

/** Arguments that stand or fall together; one that is not optional has one argument, or a flag and its value. */
export interface TemplateGroup {
	isOptional: boolean;
	arguments: TemplateArgument[];
}

export interface CommandLine {
	/** The words before the first argument: environment, interpreter, script. */
	groups: TemplateGroup[];
	/** What a trailing comment says. */
	comment: string;
	/** Does it say "and any options" (`[OPTIONS]`)? */
	takesOptions: boolean;
}

const OPTIONS_MARK = /^(options?|flags?|args|arguments|opts)$/i;

/** `text` is the line after the script's name. Never throws: what makes no sense is taken literally. */
export function readCommandLine(text: string): CommandLine {
	const reader = new LineReader(text.slice(0, 2_000));
	const groups = reader.readGroups(null, 0);
	return { groups: joinFlags(groups), comment: reader.comment, takesOptions: reader.takesOptions };
}

export function slotsOf(groups: readonly TemplateGroup[]): Slot[] {
	return groups.flatMap((group) => group.arguments.flat().filter((part): part is Slot => typeof part !== 'string'));
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
	readGroups(close: string | null, depth: number): TemplateGroup[] {
		const groups: TemplateGroup[] = [];
		while (this.#at < this.#text.length) {
			const rest = this.#text.slice(this.#at, this.#at + 200);
			const character = rest.charAt(0);
			if (/\s/.test(character)) {
				this.#at += 1;
			} else if (character === close) {
				this.#at += 1;
				return groups;
			} else if (character === '[' && depth < 4) {
				this.#at += 1;
				groups.push(...this.#asOptional(this.readGroups(']', depth + 1)));
			} else if (/^(?:#\s|#$|\/\/\s|\(|→|=>|[–—]\s)/.test(rest)) {
				this.comment = this.#text.slice(this.#at);
				this.#at = this.#text.length;
			} else if (/^(?:[|;]|&&|\d?>)/.test(rest)) {
				if (close !== null && isShortFlag(groups)) groups.length = 0;
				this.#skipAlternative(close, rest, groups.length === 0);
			} else if (/^(?:\.{3}|…)(?=[\s\]]|$)/.test(rest)) {
				this.#at += character === '.' ? 3 : 1;
				repeatLast(groups);
			} else {
				groups.push({ isOptional: false, arguments: [this.#readArgument(close)] });
			}
		}
		return groups;
	}

	#asOptional(inner: TemplateGroup[]): TemplateGroup[] {
		const words = inner.flatMap((group) => group.arguments.map((argument) => argument.map(partName).join('')));
		if (words.length === 1 && OPTIONS_MARK.test((words[0] ?? '').replace(/^-+/, ''))) {
			this.takesOptions = true;
			return [];
		}
		const own = inner.filter((group) => !group.isOptional).flatMap((group) => group.arguments);
		return [
			...(own.length > 0 ? [{ isOptional: true, arguments: own }] : []),
			...inner.filter((group) => group.isOptional)
		];
	}

	/** Of `[-n | --limit NUMBER]` the long way is taken, else the first. At the top a pipe or a second command ends it. */
	#skipAlternative(close: string | null, rest: string, isFirst: boolean): void {
		const end = close !== null && rest.startsWith('|') ? this.#text.indexOf(close, this.#at) : -1;
		this.#at = end >= 0 && isFirst ? this.#at + 1 : end >= 0 ? end : this.#text.length;
	}

	#readArgument(close: string | null): TemplateArgument {
		const parts: TemplateArgument = [];
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
		const flag = typeof parts[0] === 'string' ? /^(--?[A-Za-z][\w-]*)=$/.exec(parts[0])?.[1] : undefined;
		return flag === undefined ? parts : parts.map((part) => (typeof part === 'string' ? part : withFlag(part, flag)));
	}
}

function isShortFlag(groups: readonly TemplateGroup[]): boolean {
	return groups.length === 1 && /^-[A-Za-z]$/.test(flagOf(groups[0]?.arguments[0]) ?? '');
}

function partName(part: TemplatePart): string {
	return typeof part === 'string' ? part : part.name;
}

function repeatLast(groups: TemplateGroup[]): void {
	const part = groups.at(-1)?.arguments.at(-1)?.at(-1);
	if (part !== undefined && typeof part !== 'string') part.isRepeated = true;
}

/** A flag that stands before a placeholder takes it as its value. */
function joinFlags(groups: readonly TemplateGroup[]): TemplateGroup[] {
	const joined: TemplateGroup[] = [];
	for (const group of groups) {
		const last = joined.at(-1);
		const flag = last && !last.isOptional && !group.isOptional ? flagOf(last.arguments.at(-1)) : null;
		if (last && flag !== null && flagOf(group.arguments[0]) === null) {
			last.arguments.push(...group.arguments);
		} else {
			joined.push({ ...group, arguments: [...group.arguments] });
		}
	}
	return joined.map((group) => ({
		...group,
		arguments: group.arguments.map((argument, index) => bindArgument(group, argument, index))
	}));
}

function bindArgument(group: TemplateGroup, argument: TemplateArgument, index: number): TemplateArgument {
	const flag = flagOf(group.arguments[index - 1]);
	return argument.map((part) => {
		if (typeof part === 'string') return part;
		const slot = flag !== null && part.flag === null ? withFlag(part, flag) : part;
		const isShownNumber = slot.flag !== null && slot.example !== null && slot.kind === 'number';
		return { ...slot, isRequired: !group.isOptional, fallback: isShownNumber ? slot.example : slot.fallback };
	});
}

function withFlag(slot: Slot, flag: string): Slot {
	const { choices, isRequired, isRepeated, example, fallback } = slot;
	const isFileLike = slot.kind === 'file' || slot.kind === 'output';
	const isOutput = isFileLike && /^--?o(ut(put|file)?)?$/.test(flag);
	const kind = isOutput ? 'output' : slot.kind === 'word' ? undefined : slot.kind;
	const shown = isOutput && example !== null ? (example.split('/').at(-1) ?? null) : fallback;
	return makeSlot(slot.name, { choices, isRequired, isRepeated, example, fallback: shown, flag, kind });
}

function flagOf(argument: TemplateArgument | undefined): string | null {
	const [part] = argument ?? [];
	return argument?.length === 1 && typeof part === 'string' && /^--?[A-Za-z][\w-]*$/.test(part) ? part : null;
}

// Finds the code in Markdown: the lines of fenced and indented blocks, and spans within prose, with what is said about them.

export interface CodeLine {
	code: string;
	/** Prose that tells what the line is for: headings, the paragraph or comment before it, the sentence around it. */
	context: string;
	isInline: boolean;
}

const MAX_CODE_LINES = 2_000;
const MAX_CONTEXT = 600;

export function findCodeLines(markdown: string): CodeLine[] {
	const found: CodeLine[] = [];
	const headings: string[] = [];
	let paragraph = '';
	let isParagraphOver = false;
	let fence: string | null = null;
	let comment = '';
	let continued = '';

	const addCode = (line: string) => {
		const code = `${continued} ${line.trim()}`.trim();
		if (code.endsWith('\\')) {
			continued = code.slice(0, -1).trim();
			return;
		}
		continued = '';
		const remark = /^(?:#|\/\/|rem\s)\s*(.*)$/i.exec(code)?.[1];
		if (remark !== undefined) comment = remark;
		else if (code !== '') {
			found.push({ code, context: clip([...headings.slice(-2), paragraph, comment].join('\n')), isInline: false });
			comment = '';
		}
	};

	for (const line of markdown.split(/\r?\n/)) {
		if (found.length >= MAX_CODE_LINES) break;
		const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
		if (fence !== null) {
			const isClosed: boolean | undefined = mark?.startsWith(fence) && line.trim() === mark;
			if (isClosed) {
				if (continued !== '') addCode('');
				comment = '';
			} else {
				addCode(line);
			}
			fence = isClosed ? null : fence;
			isParagraphOver = true;
			continue;
		}
		const heading = /^(#{1,6})\s+(.*)$/.exec(line);
		if (mark !== undefined) {
			fence = mark;
		} else if (heading) {
			headings.splice((heading[1]?.length ?? 1) - 1);
			headings.push(heading[2] ?? '');
			paragraph = '';
		} else if (line.trim() === '') {
			isParagraphOver = true;
		} else {
			if (/^(?: {4}|\t)/.test(line)) addCode(line);
			else {
				paragraph = clip(isParagraphOver ? line : `${paragraph} ${line}`);
				isParagraphOver = false;
			}
			for (const code of codeSpans(line)) {
				found.push({
					code,
					context: clip([...headings.slice(-2), line.replace(`\`${code}\``, ' ')].join('\n')),
					isInline: true
				});
			}
		}
	}
	return found;
}

/** Contents of the spans between single backticks in one line. */
export function codeSpans(line: string): string[] {
	return line
		.slice(0, 4_000)
		.split('`')
		.filter((piece, index, pieces) => index % 2 === 1 && index < pieces.length - 1 && piece.trim() !== '')
		.map((piece) => piece.trim());
}

function clip(text: string): string {
	return text.slice(-MAX_CONTEXT);
}
