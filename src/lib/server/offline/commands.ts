/** Finds the commands that a skill documents: code lines that run one of its own files. */
import { stem, tokenizeName } from '../skills/find/scores.ts';
import {
	codeSpans,
	findCodeLines,
	readCommandLine,
	slotsOf,
	type TemplateArgument,
	type TemplateGroup
} from './command-line.ts';
import { type Filled, fillSlots } from './fill.ts';
import type { FillContext } from './filling.ts';
import { overlaps, type Span } from './question.ts';
import { isFileName, makeSlot, slotWords } from './slots.ts';
import type { LoadedSkill } from './turn.ts';

export interface Command {
	/** Path from the skill's folder. */
	script: string;
	groups: TemplateGroup[];
	/** Options that are documented elsewhere in the text; used only when the message is clear about them. */
	moreOptions: TemplateGroup[];
	/** Stems of the words that are its own: of the script's name and its literal arguments. */
	ownWords: string[];
	/** Prose around it. */
	context: string;
	/** Does it show values instead of placeholders? */
	isExample: boolean;
}

/** A flag that prose or a table documents, with the values it names. */
interface OptionNote {
	flag: string;
	argument: string;
	choices: string[];
}

const INTERPRETERS = new Set(
	'python python3 py node bash sh zsh bun deno tsx npx uv uvx pnpm yarn npm ruby perl php exec'.split(' ')
);
const PROGRAM = /\.(py|js|mjs|cjs|ts|mts|cts|sh|bash|zsh|rb|pl|php)$/i;
const MAX_COMMANDS = 60;

export function findCommands(skill: LoadedSkill): Command[] {
	const notes = readOptionNotes(skill.body);
	const lines = findCodeLines(skill.body);
	const found = lines.flatMap(({ code, context, isInline }) =>
		code.split(/\s(?:&&|;)\s/).flatMap((part) => {
			const command = readCommand(part, context, skill, notes);
			return command ? [{ ...command, isInline, isMention: isInline && command.groups.length === 0 }] : [];
		})
	);
	// A path that is merely mentioned says nothing about arguments, as long as something else does.
	const documented = found.some(({ isMention }) => !isMention) ? found.filter(({ isMention }) => !isMention) : found;
	const unique = new Map(documented.map((command) => [JSON.stringify([command.script, command.groups]), command]));
	return [...unique.values()].sort((a, b) => Number(a.isInline) - Number(b.isInline)).slice(0, MAX_COMMANDS);
}

function readCommand(code: string, context: string, skill: LoadedSkill, notes: OptionNote[]): Command | null {
	const start = findScript(code, skill.files);
	if (!start) return null;
	const rest = code
		.slice(start.end)
		.replaceAll(/\$\{?(?:CLAUDE_)?SKILL_(?:DIR|ROOT|PATH)\}?|\{(?:baseDir|skill_?dir)\}/gi, skill.folder);
	const line = readCommandLine(rest);
	const groups = line.groups.map((group) => ({
		...group,
		arguments: group.arguments.map((argument, index) => applyNotes(argument, group.arguments[index - 1], notes))
	}));
	const literals = groups.flatMap(({ arguments: list }) =>
		list.filter((argument) => argument.every((part) => typeof part === 'string'))
	);
	const words = literals.map((argument) => argument.join('')).filter((word) => /^[A-Za-z][\w-]*$/.test(word));
	const slots = slotsOf(groups);
	const hasSubcommand = groups.some(
		({ isOptional, arguments: [first] }) => !isOptional && typeof first?.[0] === 'string' && !first[0].startsWith('-')
	);
	return {
		script: start.script,
		groups,
		moreOptions: hasSubcommand && !line.takesOptions ? [] : notesBeside(groups, notes),
		ownWords: [...new Set([...stemOf(start.script), ...words].flatMap(tokenizeName))],
		context: `${context}\n${line.comment}`,
		isExample: slots.length > 0 && slots.every(({ example }) => example !== null)
	};
}

/** The script that a line runs, and where its arguments begin. */
function findScript(code: string, files: readonly string[]): { script: string; end: number } | null {
	let hasInterpreter = false;
	for (const { 0: word, index } of code.slice(0, 600).matchAll(/\S+/g)) {
		if (/^[$>%]$|^usage:$/i.test(word) || /^[A-Z_][A-Z0-9_]*=/.test(word)) continue;
		if (INTERPRETERS.has(word.replace(/^.*\//, ''))) {
			hasInterpreter = true;
			continue;
		}
		const script = resolveFile(word.replace(/^["'(]|["')]$/g, ''), files);
		if (script !== null && (hasInterpreter || PROGRAM.test(script) || /^(?:bin|scripts)\/[^.]+$/.test(script))) {
			return { script, end: index + word.length };
		}
		// Options and sub-commands may stand between an interpreter and the script: `uv run`, `deno run -A`.
		if (!hasInterpreter || /^-[ecm]$/.test(word)) return null;
	}
	return null;
}

/** By its path, by a path that ends in it (`$SKILL_DIR/scripts/x.py`), or by its name where no other file has it. */
function resolveFile(word: string, files: readonly string[]): string | null {
	const path = word.replace(/^\.\//, '');
	const exact = files.find((file) => path === file || path.endsWith(`/${file}`));
	if (exact !== undefined) return exact;
	const name = path.split('/').at(-1) ?? '';
	const named = name === '' ? [] : files.filter((file) => file === name || file.endsWith(`/${name}`));
	return named.length === 1 ? (named[0] ?? null) : null;
}

function stemOf(script: string): string[] {
	return [
		script
			.split('/')
			.at(-1)
			?.replace(/\.\w+$/, '') ?? ''
	];
}

/** The documented values of a flag make its placeholder, or the value that a line shows, a choice. */
function applyNotes(
	argument: TemplateArgument,
	before: TemplateArgument | undefined,
	notes: readonly OptionNote[]
): TemplateArgument {
	const [first, second] = argument;
	const flag =
		typeof first === 'string' && first.endsWith('=')
			? first.slice(0, -1)
			: typeof before?.[0] === 'string'
				? before[0]
				: '';
	const choices = notes.find((note) => note.flag === flag)?.choices ?? [];
	if (choices.length < 2) return argument;
	const withChoices = (part: TemplateArgument[number]) => {
		if (typeof part !== 'string') return part.choices.length > 0 ? part : { ...part, choices };
		return choices.includes(part) ? makeSlot(slotWords(flag).join('_'), { flag, choices, fallback: part }) : part;
	};
	return argument.length === 2 && second !== undefined && first !== undefined
		? [first, withChoices(second)]
		: argument.map(withChoices);
}

function notesBeside(groups: readonly TemplateGroup[], notes: readonly OptionNote[]): TemplateGroup[] {
	const known = new Set(
		groups.flatMap((group) => group.arguments.map(([part]) => (typeof part === 'string' ? part.replace(/=$/, '') : '')))
	);
	return notes
		.filter(({ flag }) => !known.has(flag))
		.map(({ flag, argument, choices }) => {
			// Such an option is found by its own name only: that of its argument says too little.
			const kind = argument === '' ? undefined : makeSlot(argument).kind;
			const slot = makeSlot(slotWords(flag).join('_'), { flag, choices, isRequired: false, kind });
			return { isOptional: true, arguments: argument === '' && choices.length < 2 ? [[flag]] : [[flag], [slot]] };
		});
}

/** Options that the text explains: `` `--units UNITS`: `metric` or `imperial` ``. */
function readOptionNotes(body: string): OptionNote[] {
	const notes = new Map<string, OptionNote>();
	for (const line of body.split('\n')) {
		let note: OptionNote | undefined;
		for (const span of line.includes('`-') ? codeSpans(line) : []) {
			const option = /^(--[a-z][\w-]*)(?:[ =]([^\s=]{1,40}))?$/i.exec(span);
			if (option?.[1] !== undefined) {
				const argument = (option[2] ?? '').replace(/[<>[\]{}]/g, '');
				note = notes.get(option[1]) ?? {
					flag: option[1],
					argument,
					choices: argument.includes('|') ? argument.split('|') : []
				};
				if (note.argument === '') note.argument = argument;
				notes.set(option[1], note);
			} else if (note && /^[A-Za-z][\w-]*$/.test(span) && !isFileName(span) && !note.choices.includes(span)) {
				note.choices.push(span);
			}
		}
	}
	return [...notes.values()];
}

// Makes the arguments of a documented command out of a message.

export interface FilledCommand extends Filled {
	args: string[];
	/** Optional switches that were asked for. */
	switches: number;
}

export function fillCommand(command: Command, context: FillContext): FilledCommand {
	const groups = [...command.groups, ...command.moreOptions];
	const more = new Set(slotsOf(command.moreOptions));
	const literals = literalSpans(command, context);
	const slots = slotsOf(groups);
	const first = fillSlots(slots, context, literals);
	// An option found elsewhere in the text must not take what a documented placeholder needs, so it gets what is left.
	const filled =
		first.missing.length > 0 && more.size > 0
			? fillSlots(
					slots.filter((slot) => !more.has(slot)),
					context,
					literals
				)
			: first;
	const args: string[] = [];
	let switches = 0;
	for (const group of groups) {
		const values = group.arguments.map((argument) => fillArgument(argument, filled));
		const isSwitch = group.isOptional && slotsOf([group]).length === 0;
		const isKept =
			!group.isOptional || (isSwitch ? isAskedFor(group, context) : values.every((value) => value.length > 0));
		if (isKept) args.push(...values.flat());
		if (isKept && isSwitch) switches += 1;
	}
	return { ...filled, args, switches };
}

function fillArgument(argument: TemplateArgument, { found }: Filled): string[] {
	const [only] = argument;
	if (argument.length === 1 && only !== undefined && typeof only !== 'string' && only.isRepeated) {
		const value = found.get(only);
		return value ? (value.values ?? [value.value]) : [];
	}
	const isJson = typeof only === 'string' && /^\s*[{[]/.test(only);
	const texts = argument.map((part) => {
		if (typeof part === 'string') return part;
		const value = found.get(part)?.value;
		return value === undefined || !isJson ? value : JSON.stringify(value).slice(1, -1);
	});
	return texts.every((text) => text !== undefined) ? [texts.join('')] : [];
}

/** `[--clean]`, `[--format json]`: when the words of the switch and its value occur, and are not denied. */
function isAskedFor(group: TemplateGroup, { question }: FillContext): boolean {
	const literals = group.arguments.map((argument) => argument.join(''));
	if (question.words.some((word) => word.text === literals[0])) return true;
	const words = literals.length > 1 ? literals.slice(1) : literals;
	const asked = words.flatMap(slotWords).map(stem);
	if (asked.length === 0 || asked.join('').length < 3) return false;
	const isNegative = asked[0] === 'no' || asked[0] === 'without';
	return asked.every((part) =>
		question.words.some((word, index) => {
			const isDenied = /^(no|not|without|don['’]?t|never)$/.test(question.words[index - 1]?.lower ?? '');
			const isSame = word.stem === part || (part === 'no' && word.lower === 'without');
			return isSame && !word.isQuoted && (isNegative || !isDenied);
		})
	);
}

/** Words of the message that a literal value of the command stands for, such as `month` in `--period month`. */
function literalSpans(command: Command, { question }: FillContext): Span[] {
	const values = command.groups
		.filter(({ isOptional, arguments: list }) => !isOptional && list.length > 1)
		.flatMap(({ arguments: list }) => list.slice(1))
		.filter((argument) => argument.every((part) => typeof part === 'string'))
		.map((argument) => stem(argument.join('').toLowerCase()));
	return question.words
		.filter((word) => !word.isQuoted && values.includes(word.stem))
		.map(({ start, end }) => ({ start, end }));
}

/** Does any of the spans cover the piece? */
export function isUsed(piece: Span, taken: readonly Span[]): boolean {
	return taken.some((span) => overlaps(span, piece));
}
