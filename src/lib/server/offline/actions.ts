/** What can be called: the commands that a skill documents, and tools, as one thing with slots to fill. */
import type { FunctionTool } from '../agent/model.ts';
import { asArray, asObject, asText, type JsonObject, parseJson } from '../../shared/json.ts';
import { stem, tokenize, tokenizeName } from '../skills/find/words.ts';
import { type Argument, type Group, type Part, readCommandLine, slotsOf } from './command-line.ts';
import { type LoadedSkill, USE_SKILL } from './history.ts';
import { type CodeLine, findCodeLines, literalWords, type Note, type Notes, readNotes } from './skill-text.ts';
import { kindOfWords, makeSlot, type Slot, type SlotKind, slotWords } from './slots.ts';

export interface PlannedCall {
	name: string;
	/** JSON. */
	arguments: string;
}

/** Texts by slot; more than one for a slot that is repeated; `true` for a switch. */
export type Values = ReadonlyMap<Slot, readonly string[]>;

export interface Action {
	/** The script with its sub-commands, or the tool's name. */
	label: string;
	/** How it is called, as the instructions have it. */
	form: string;
	/** What it does, for a person; '' where nothing says so. */
	purpose: string;
	slots: Slot[];
	/** Stems of the words that name it. */
	own: ReadonlySet<string>;
	/** Stems of the words around it. */
	prose: ReadonlySet<string>;
	/** Stems of all that the skill says of its subject. */
	subject: ReadonlySet<string>;
	/** Words that the skill writes in code marks: how a value is to be spelled. */
	literals: ReadonlySet<string>;
	isTool: boolean;
	/** The name of the skill it belongs to; '' for other tools. */
	skill: string;
	call(values: Values): PlannedCall;
}

export interface Filled {
	/** One text for each slot; several for one that is repeated. */
	values: Map<Slot, string[]>;
	/** Required, and the message has nothing certain for them. */
	missing: Slot[];
	/** What was said and would go nowhere: it must be asked about. */
	left: string[];
	/** The part of it that is but words nothing speaks of. */
	vague: string;
	/** How many words nothing in the skill speaks of, talk included. */
	strange: number;
}

/** `fit`: how clearly the skill speaks of the files that the call is given. */
export interface Work {
	kind: 'call';
	call: PlannedCall;
	strange: number;
	fit: number;
	used?: Used;
}

export interface Used {
	action: Action;
	filled: Filled;
	/** The message, and those that went on with it. */
	said: string;
}

type OwnAction = Omit<Action, 'subject' | 'literals' | 'skill'>;

export interface Command {
	/** Path from the skill's folder. */
	script: string;
	groups: Group[];
	context: string;
	purpose: string;
	isInline: boolean;
	/** Does it say "and any options"? */
	takesOptions: boolean;
}

export const INTERPRETERS = new Set(
	'python python3 py node bash sh zsh bun deno tsx npx uv uvx pnpm yarn npm ruby perl php exec'.split(' ')
);
const PROGRAM = /\.(py|js|mjs|cjs|ts|mts|cts|sh|bash|zsh|rb|pl|php)$|^(?:bin|scripts)\/[^.]+$/i;
const WHETHER = /\b(whether|(says?|tells?|finds? out) if)\b/i;
const MAX_COMMANDS = 60;
const MAX_PURPOSE = 120;

/** A skill's own tools on offer, then its commands. */
export function actionsOf(skill: LoadedSkill, description: string, tools: readonly FunctionTool[]): Action[] {
	const own = skill.toolNames.flatMap((name) => {
		const named = (wanted: string) => tools.find((tool) => tool.name === wanted);
		return named(`${skill.name}__${name}`.slice(0, 64)) ?? named(name) ?? [];
	});
	// A word too common to be a subject, and yet it says that the skill answers with yes or no.
	const answers = WHETHER.test(description) ? [stem('whether')] : [];
	const subject = new Set([...tokenizeName(skill.name), ...tokenize(description), ...answers]);
	const about = { subject, literals: literalWords(skill.body), skill: skill.name };
	const notes = readNotes(skill.body);
	const commands = tools.some(({ name }) => name === USE_SKILL) ? findCommands(skill, notes) : [];
	return [
		...own.map((tool) => ({ ...toolAction(tool), ...about })),
		...commands.map((command) => ({ ...commandAction(skill, command, notes), ...about }))
	];
}

export function toolAction({ name, description = '', parameters }: FunctionTool): Action {
	const required = asArray(asObject(parameters).required);
	const properties = Object.entries(asObject(asObject(parameters).properties)).map(([key, given]) => {
		const schema = firstVariant(asObject(given));
		const items = firstVariant(asObject(schema.items));
		const isRepeated = schema.type === 'array';
		const type = isRepeated ? items.type : schema.type;
		const about = (asText(schema.description) ?? '').slice(0, 300);
		const kind = kindOfWords(slotWords(key));
		const isDate = schema.format === 'date' || about.includes('YYYY-MM-DD');
		// An optional property is named by its key, as an option is by its flag; where all are, they are what the tool is for.
		const isOption = required.length > 0 && !required.includes(key);
		const slot = makeSlot(key, {
			choices: [...asArray(schema.enum), ...asArray(items.enum)].map(String),
			isRequired: required.includes(key) && type !== 'boolean',
			flag: isOption ? `--${slotWords(key).join('-')}` : null,
			isRepeated,
			kind: KIND_BY_TYPE[String(type)] ?? (isDate ? 'date' : kind === 'number' ? 'name' : (kind ?? undefined)),
			about
		});
		return { slot, type, isNeeded: required.includes(key) };
	});
	const slots = properties.map(({ slot }) => slot);
	return {
		label: name,
		form: [name, ...slots.map((slot) => (slot.isRequired ? slot.name : `[${slot.name}]`))].join(' '),
		purpose: plainly(description),
		slots,
		own: new Set(tokenizeName(name)),
		prose: new Set(tokenize(description)),
		subject: new Set(),
		literals: new Set(),
		isTool: true,
		skill: '',
		call: (values) => {
			const given = properties.flatMap(({ slot, type, isNeeded }): [string, unknown][] => {
				const texts = values.get(slot) ?? (isNeeded && type === 'boolean' ? ['false'] : []);
				const typedValues = texts.map((text) => typed(text, type));
				return texts.length === 0 ? [] : [[slot.name, slot.isRepeated ? typedValues : typedValues[0]]];
			});
			return { name, arguments: JSON.stringify(Object.fromEntries(given)) };
		}
	};
}

const KIND_BY_TYPE: Record<string, SlotKind | undefined> = {
	number: 'number',
	integer: 'number',
	boolean: 'switch',
	object: 'object'
};

/** With one type: of several the first that is not null. */
function firstVariant(schema: JsonObject): JsonObject {
	const variants = [schema, ...asArray(schema.anyOf), ...asArray(schema.oneOf)].map(asObject);
	const types = variants.map((each) => ({ ...each, type: [each.type].flat().find((type) => type !== 'null') }));
	return { ...schema, ...types.find(({ type }) => type !== undefined) };
}

function typed(value: string, type: unknown): unknown {
	if (type === 'boolean') return value === 'true';
	if (type === 'object') return parseJson(value) ?? value;
	const number = type === 'number' || type === 'integer' ? Number(value) : NaN;
	return Number.isFinite(number) ? number : value;
}

// Commands: code lines that run one of the skill's own files.

export function findCommands(skill: LoadedSkill, notes = readNotes(skill.body)): Command[] {
	const lines = findCodeLines(skill.body).flatMap((line) =>
		line.code.split(/\s(?:&&|;)\s/).map((part) => ({ ...line, code: part.slice(0, 2_000) }))
	);
	const marked = lines.flatMap((line) => readCommand(line, skill, notes));
	const found = marked.length > 0 ? marked : proseLines(skill).flatMap((line) => readCommand(line, skill, notes));
	// `list --all` in prose is the sub-command of the script that another line runs with it.
	const scripts = new Map(found.map(({ groups, script }) => [literalsOf(groups)[0], script]));
	const told = lines.flatMap((line) => {
		const script = line.isInline && /\s/.test(line.code) ? scripts.get(line.code.split(/\s/, 1)[0]) : undefined;
		return script === undefined ? [] : readCommand({ ...line, code: `${script} ${line.code}` }, skill, notes);
	});
	const all = [...found, ...told].sort((a, b) => Number(a.isInline) - Number(b.isInline));
	// A path that is merely mentioned says nothing about arguments, as long as something else does, and no sentence is about it.
	const documented = all.filter(({ isInline, groups }) => !isInline || groups.length > 0);
	const scriptsOf = new Set(documented.map(({ script }) => script));
	const isTold = (each: Command) =>
		documented.includes(each) || (ABOUT.test(each.context) && !scriptsOf.has(each.script));
	let forms: Command[] = [];
	for (const command of (documented.length > 0 ? all.filter(isTold) : all).slice(0, MAX_COMMANDS)) {
		const same = forms.filter((form) => isUseOf(form, command) || isUseOf(command, form));
		forms = [...forms.filter((form) => !same.includes(form)), same.reduce(merge, command)];
	}
	return forms.map((command) => {
		const groups = [...command.groups, ...notesBeside(command, notes)];
		return { ...command, groups: groups.length > 0 ? groups : [UNDOCUMENTED] };
	});
}

/** What is left of a sentence about the code that was taken from it: `  lists all tides`, `Run   first`. */
const ABOUT = /^(?:(?:[-*+]|\d+\.) )? (?=[ :])|^(?:run|execute|call|use|start) {2}/i;

/** Of a command that says nothing of arguments: it can be given one, by whoever says so. */
const UNDOCUMENTED: Group = {
	flag: null,
	isOptional: true,
	arguments: [[makeSlot('ARGUMENT', { isRequired: false, kind: 'text' })]]
};

/** What may follow a command in a sentence: `with the file`, `on each attached CSV file`. */
const TAKES_FILE =
	/^[^.\n]{0,40}?\b(?:with|on|for|over) (?:the|an?|each|every|this|that|your|all) (?:\w+ ){0,2}files?\b/im;
const ARGUMENTS = /^(?:\s+(?:--?[\w-]+|[A-Z][A-Z0-9_]+|<[^<>]+>|\[[^[\]]+\]))*/;

/** Where no code marks a command: `Run scripts/x.sh CITY` in a sentence, up to the first word that is no argument. */
function proseLines({ body, files }: LoadedSkill): CodeLine[] {
	const scripts = files.filter((file) => PROGRAM.test(file));
	const prose = body.replaceAll(/^\s*(```|~~~)[^]*?^\s*\1|`[^`\n]*`/gm, '');
	return prose.split('\n').flatMap((context) => {
		const script = scripts.find((file) => context.includes(file)) ?? '';
		const [before = '', after] = script === '' ? [] : context.split(script, 2);
		const isRun = /\b(run|runs|running|execute|call|use|start)\s+(the script\s+)?(\w+\s+)?$/i.test(before);
		if (after === undefined || !isRun) return [];
		return [{ code: `${script}${ARGUMENTS.exec(after)?.[0] ?? ''}`, context, purpose: '', isInline: true }];
	});
}

function readCommand({ code, context, purpose, isInline }: CodeLine, skill: LoadedSkill, notes: Notes): Command[] {
	const start = findScript(code, skill.files);
	if (!start) return [];
	const folder = /\$\{?(?:CLAUDE_)?SKILL_(?:DIR|ROOT|PATH)\}?|\{(?:baseDir|skill_?dir)\}/gi;
	const { groups, comment, takesOptions } = readCommandLine(code.slice(start.end).replaceAll(folder, skill.folder));
	const explained = groups.map((group) => noted(group, notes));
	const file = makeSlot('FILE', { isRequired: false, isRepeated: true });
	if (explained.length === 0 && TAKES_FILE.test(context.split(code).at(-1) ?? ''))
		explained.push({ flag: null, isOptional: true, arguments: [[file]] });
	const about = { context: `${context}\n${comment}`, purpose: plainly(comment) || plainly(purpose) };
	return [{ script: start.script, groups: explained, ...about, isInline, takesOptions }];
}

/** The script that a line runs, and where its arguments begin. */
function findScript(code: string, files: readonly string[]): { script: string; end: number } | null {
	let hasInterpreter = false;
	for (const { 0: word, index } of code.slice(0, 600).matchAll(/\S+/g)) {
		if (/^[$>%]$|^usage:$/i.test(word) || /^[A-Z_][A-Z0-9_]*=/.test(word)) continue;
		const isInterpreter = INTERPRETERS.has(word.replace(/^.*\//, ''));
		const script = isInterpreter ? undefined : resolveFile(word.replace(/^["'(]|["')]$/g, ''), files);
		if (script !== undefined && (hasInterpreter || PROGRAM.test(script))) return { script, end: index + word.length };
		hasInterpreter ||= isInterpreter;
		// Options and sub-commands may stand between an interpreter and the script: `uv run`, `deno run -A`.
		if (!hasInterpreter || /^-[ecm]$/.test(word)) return null;
	}
	return null;
}

/** By its path, by a path that ends in it (`$SKILL_DIR/scripts/x.py`), or by its name where no other file has it. */
function resolveFile(word: string, files: readonly string[]): string | undefined {
	const path = word.replace(/^\.\//, '');
	const name = path.split('/').at(-1) ?? '';
	const named = files.filter((file) => name !== '' && file.split('/').at(-1) === name);
	const only = named.length === 1 ? named[0] : undefined;
	return files.find((file) => path === file || path.endsWith(`/${file}`)) ?? only;
}

/** What the text says of an option counts: the values that it takes. */
function noted(group: Group, notes: Notes): Group {
	const { flag, isOptional } = group;
	const note = flag === null ? undefined : notes.get(flag);
	const explain = (part: Part): Part => {
		if (typeof part !== 'string') {
			const { choices = [], text = '' } = note ?? notes.get(part.name.toLowerCase()) ?? {};
			const known = part.choices.length === 0 && choices.length > 1 ? choices : part.choices;
			return {
				...part,
				about: text,
				choices: known,
				isRequired: !isOptional,
				hints: [...part.hints, ...tokenize(text)]
			};
		}
		// The value that a line shows is one of those that the text names.
		const isShown = flag !== null && note && note.choices.length > 1 && note.choices.includes(part);
		return isShown ? noteSlot(note, !isOptional) : part;
	};
	return { flag, isOptional, arguments: group.arguments.map((argument) => argument.map(explain)) };
}

function noteSlot({ key, argument, choices, text }: Note, isRequired: boolean): Slot {
	const kind = argument === '' ? undefined : makeSlot(argument, { flag: key }).kind;
	return makeSlot(slotWords(argument || key).join('_'), { flag: key, choices, isRequired, kind, about: text });
}

/** Options that are documented elsewhere in the text. */
function notesBeside(command: Command, notes: Notes): Group[] {
	if (literalsOf(command.groups).length > 0 && !command.takesOptions) return [];
	const known = flagsOf(command);
	const more = [...notes.values()].filter(({ key }) => key.startsWith('--') && !known.includes(key));
	return more.map((note) => {
		const isSwitch = note.argument === '' && note.choices.length < 2;
		const value = isSwitch ? [] : [[noteSlot(note, false)]];
		return { flag: note.key, isOptional: true, arguments: [[note.key], ...value] };
	});
}

function literalsOf(groups: readonly Group[]): string[] {
	const places = groups.filter(({ isOptional, flag }) => !isOptional && flag === null);
	const words = places.flatMap((group) => group.arguments).filter((argument) => !argument.some(isSlot));
	return words.map((argument) => argument.join(''));
}

function isSlot(part: Part | undefined): part is Slot {
	return typeof part === 'object';
}

function flagsOf({ groups }: Command): string[] {
	return groups.flatMap(({ flag }) => flag ?? []);
}

/** One line shows all that the form has, or less: `x FILE --days 3`, `decode url "a"` of `<encode|decode> <base64|url> TEXT`. */
function isUseOf(form: Command, example: Command): boolean {
	const places = ({ groups }: Command, flag: string | null) =>
		groups
			.filter((each) => each.flag === flag && (flag !== null || !each.isOptional))
			.flatMap((group) => group.arguments);
	const isAlike = ([part]: Argument, [value]: Argument = [], flag: string | null = null) => {
		if (!isSlot(part) || value === undefined) return value === part;
		if (flag !== null && !isSlot(value)) return true;
		const text = isSlot(value) ? (value.example ?? value.name) : value;
		if (part.choices.length > 0) return part.choices.includes(text) || text === part.name;
		return isSlot(value) && (part.example !== null || value.example !== null || part.name === value.name);
	};
	const [flags, others] = [flagsOf(form), flagsOf(example)];
	const shared = flags.filter((flag) => others.includes(flag));
	return (
		form.script === example.script &&
		places(form, null).length === places(example, null).length &&
		shared.length === Math.min(flags.length, others.length) &&
		[null, ...shared].every((flag) =>
			places(form, flag).every((argument, at) => isAlike(argument, places(example, flag)[at], flag))
		)
	);
}

/** The one with placeholders tells more; what only one of them has can be left out. */
function merge(a: Command, b: Command): Command {
	const examples = ({ groups }: Command) => slotsOf(groups).filter(({ example }) => example !== null).length;
	const [more, less] = examples(a) <= examples(b) ? [a, b] : [b, a];
	const optional = (group: Group): Group => {
		const left = (part: Part) => (isSlot(part) ? { ...part, isRequired: false } : part);
		return { ...group, isOptional: true, arguments: group.arguments.map((argument) => argument.map(left)) };
	};
	const isNeeded = ({ flag }: Group) =>
		flag === null || less.groups.some((each) => each.flag === flag && !each.isOptional);
	const added = less.groups.filter(({ flag }) => flag !== null && !flagsOf(more).includes(flag));
	const groups = [...more.groups.map((group) => (isNeeded(group) ? group : optional(group))), ...added.map(optional)];
	const purpose = more.purpose || less.purpose;
	return { ...more, groups, purpose, context: `${a.context}\n${b.context}`, isInline: a.isInline && b.isInline };
}

/** The first sentence without its marks; '' where it is long. */
function plainly(text: string): string {
	const [sentence = ''] = text.split(/(?<=[.!?])\s|\n/, 1);
	const words = sentence.replaceAll(/[`*]|^\s*(?:[-+#–→>]|\/\/|\d+\.)+\s*| \([^()]*\)|[.:\s]+$/g, '');
	return words.length > MAX_PURPOSE ? '' : words;
}

function commandAction(skill: LoadedSkill, { script, groups, context, purpose }: Command, notes: Notes): OwnAction {
	const withSlots = groups.map((group) => {
		const [slots, about] = [slotsOf([group]), notes.get(group.flag ?? '')?.text ?? ''];
		// A switch is a slot too: whether it was said.
		const name = group.flag ?? group.arguments.flat().join(' ');
		const own = makeSlot(name, { flag: name, kind: 'switch', isRequired: false, about });
		return { ...group, slots: slots.length === 0 && group.isOptional ? [own] : slots };
	});
	const words = literalsOf(groups).filter((word) => /^[A-Za-z][\w-]*$/.test(word));
	const file = (script.split('/').at(-1) ?? '').replace(/\.\w+$/, '');
	return {
		label: [script, ...words].join(' '),
		form: [script, ...groups.map(shownGroup)].join(' '),
		purpose,
		slots: withSlots.flatMap(({ slots }) => slots),
		own: new Set([file, ...words].flatMap(tokenizeName)),
		prose: new Set(tokenize([context, ...words.map((word) => notes.get(word)?.text ?? '')].join('\n'))),
		isTool: false,
		call: (values) => {
			const kept = withSlots.filter(({ slots, isOptional }) =>
				slots.every((slot) => values.has(slot) || (slot.kind !== 'switch' && !isOptional))
			);
			const args = kept.flatMap((group) => group.arguments.flatMap((argument) => argumentsFor(argument, values)));
			return { name: USE_SKILL, arguments: JSON.stringify({ skill: skill.name, script, args }) };
		}
	};
}

function argumentsFor(argument: Argument, values: Values): string[] {
	const [only] = argument;
	if (argument.length === 1 && isSlot(only) && only.isRepeated) return [...(values.get(only) ?? [])];
	const isJson = typeof only === 'string' && /^\s*[{[]/.test(only);
	const texts = argument.map((part) => {
		const value = isSlot(part) ? (values.get(part)?.[0] ?? '') : part;
		return isJson && isSlot(part) ? JSON.stringify(value).slice(1, -1) : value;
	});
	return [texts.join('')];
}

function shownGroup({ isOptional, arguments: list }: Group): string {
	const shown = (part: Part) => {
		if (!isSlot(part)) return part;
		const name = part.choices.slice(0, 12).join('|') || part.name.replaceAll(/[\s<>]+/g, '_');
		return `${name.toUpperCase() === name || part.choices.length > 0 ? name : `<${name}>`}${part.isRepeated ? '...' : ''}`;
	};
	const text = list.map((argument) => argument.map(shown).join('')).join(' ');
	return isOptional ? `[${text}]` : text;
}
