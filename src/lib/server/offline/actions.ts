/** What can be called: the commands that a skill documents, and tools, as one thing with slots to fill. */
import type { FunctionTool } from '../agent/model.ts';
import { asArray, asObject, asText, isObject, parseJson } from '../../shared/json.ts';
import { stem, tokenize, tokenizeName } from '../skills/find/scores.ts';
import { type Argument, type Group, type Part, readCommandLine, slotsOf } from './command-line.ts';
import { type LoadedSkill, USE_SKILL } from './history.ts';
import { type CodeLine, findCodeLines, literalWords, type Notes, readNotes } from './skill-text.ts';
import { ISO_DATE, kindOfWords, makeSlot, type Slot, type SlotKind, slotWords } from './slots.ts';

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
	call(values: Values): PlannedCall;
}

type OwnAction = Omit<Action, 'subject' | 'literals'>;

export interface Command {
	/** Path from the skill's folder. */
	script: string;
	groups: Group[];
	context: string;
	isInline: boolean;
	/** Does it say "and any options"? */
	takesOptions: boolean;
}

const INTERPRETERS = new Set(
	'python python3 py node bash sh zsh bun deno tsx npx uv uvx pnpm yarn npm ruby perl php exec'.split(' ')
);
const PROGRAM = /\.(py|js|mjs|cjs|ts|mts|cts|sh|bash|zsh|rb|pl|php)$/i;
const MAX_COMMANDS = 60;

/** A skill's own tools on offer, then its commands. */
export function actionsOf(skill: LoadedSkill, description: string, tools: readonly FunctionTool[]): Action[] {
	const own = skill.toolNames.flatMap((name) => {
		const named = (wanted: string) => tools.find((tool) => tool.name === wanted);
		return named(`${skill.name}__${name}`.slice(0, 64)) ?? named(name) ?? [];
	});
	const subject = new Set([...tokenizeName(skill.name), ...tokenize(description)]);
	const about = { subject, literals: literalWords(skill.body) };
	const canRun = tools.some(({ name }) => name === USE_SKILL);
	const notes = readNotes(skill.body);
	const commands = canRun ? findCommands(skill, notes) : [];
	return [
		...own.map((tool) => ({ ...toolAction(tool), ...about })),
		...commands.map((command) => ({ ...commandAction(skill, command, notes), ...about }))
	];
}

export function toolAction(tool: FunctionTool): Action {
	const slots = propertiesOf(tool);
	const { description = '' } = tool;
	return {
		label: tool.name,
		form: [tool.name, ...slots.map(({ slot }) => (slot.isRequired ? slot.name : `[${slot.name}]`))].join(' '),
		slots: slots.map(({ slot }) => slot),
		own: new Set(tokenizeName(tool.name)),
		prose: new Set(tokenize(description)),
		subject: new Set(),
		literals: new Set(),
		isTool: true,
		call: (values) => {
			const given = slots.flatMap(({ slot, type, items }): [string, unknown][] => {
				const value = values.get(slot);
				if (value === undefined) return type === 'boolean' && slot.isRequired ? [[slot.name, false]] : [];
				return [[slot.name, type === 'array' ? value.map((each) => typed(each, items)) : typed(value[0] ?? '', type)]];
			});
			return { name: tool.name, arguments: JSON.stringify(Object.fromEntries(given)) };
		}
	};
}

interface Property {
	slot: Slot;
	type: string;
	/** Type of the members of a list. */
	items: string;
}

function propertiesOf({ parameters }: FunctionTool): Property[] {
	const required = new Set(asArray(asObject(parameters).required));
	return Object.entries(asObject(asObject(parameters).properties)).map(([name, given]) => {
		const schema = firstVariant(asObject(given));
		const items = firstVariant(asObject(schema.items));
		const type = typeOf(schema);
		const choices = [...asArray(schema.enum), ...asArray(items.enum)].filter(
			(choice) => typeof choice === 'string' || typeof choice === 'number'
		);
		const about = (asText(schema.description) ?? '').slice(0, 300);
		const slot = makeSlot(name, {
			choices: choices.map(String),
			isRequired: required.has(name),
			// An optional property is named by its key, as an option is by its flag; where all are, they are what the tool is for.
			flag: required.size > 0 && !required.has(name) ? `--${slotWords(name).join('-')}` : null,
			isRepeated: type === 'array',
			kind: kindOfProperty(name, type === 'array' ? typeOf(items) : type, schema, about),
			about
		});
		return { slot: type === 'boolean' ? { ...slot, isRequired: false } : slot, type, items: typeOf(items) };
	});
}

function kindOfProperty(name: string, type: string, { format }: Record<string, unknown>, about: string): SlotKind {
	if (type === 'number' || type === 'integer') return 'number';
	if (type === 'boolean') return 'switch';
	if (type === 'object') return 'object';
	if (format === 'uri' || format === 'url') return 'url';
	if (format === 'email') return 'email';
	if (format === 'date' || ISO_DATE.test(about) || about.includes('YYYY-MM-DD')) return 'date';
	const kind = kindOfWords(slotWords(name));
	const isVague = /^(input|value|data|content)$/i.test(name);
	if (kind !== null && kind !== 'number' && !isVague) return kind;
	if (/^(the |a )?(whole |full )?(text|message|sentence|string)/i.test(about)) return 'text';
	const said = slotWords(about).map((word) => kindOfWords([word]));
	return said.find((each) => each !== null && /^(file|folder|url|email|date)$/.test(each)) ?? 'name';
}

function firstVariant(schema: Record<string, unknown>): Record<string, unknown> {
	const variants = [...asArray(schema.anyOf), ...asArray(schema.oneOf)].filter(isObject);
	return schema.type === undefined ? { ...schema, ...variants.find(({ type }) => type !== 'null') } : schema;
}

function typeOf({ type }: Record<string, unknown>): string {
	const first: unknown = Array.isArray(type) ? type.find((one) => one !== 'null') : type;
	return typeof first === 'string' ? first : 'string';
}

function typed(value: string, type: string): unknown {
	if (type === 'boolean') return value === 'true';
	if (type === 'object') return parseJson(value) ?? value;
	if (type !== 'number' && type !== 'integer') return value;
	const number = Number(value);
	return Number.isFinite(number) ? number : value;
}

// Commands: code lines that run one of the skill's own files.

export function findCommands(skill: LoadedSkill, notes = readNotes(skill.body)): Command[] {
	const lines = findCodeLines(skill.body).flatMap((line) =>
		line.code.split(/\s(?:&&|;)\s/).map((part) => ({ ...line, code: part.slice(0, 2_000) }))
	);
	const found = lines.flatMap((line) => readCommand(line, skill, notes));
	// `list --all` in prose is the sub-command of the script that another line runs with it.
	const scripts = new Map(found.map((command) => [literalsOf(command)[0], command.script]));
	for (const line of lines) {
		const script = line.isInline && /\s/.test(line.code) ? scripts.get(line.code.split(/\s/, 1)[0]) : undefined;
		if (script !== undefined) found.push(...readCommand({ ...line, code: `${script} ${line.code}` }, skill, notes));
	}
	// A path that is merely mentioned says nothing about arguments, as long as something else does.
	const documented = found.filter(({ isInline, groups }) => !isInline || groups.length > 0);
	const merged: Command[] = [];
	for (const command of documented.length > 0 ? documented : found) {
		const at = merged.findIndex((other) => isSameUse(other, command));
		const other = merged[at];
		if (other) merged[at] = merge(other, command);
		else if (merged.length < MAX_COMMANDS) merged.push(command);
	}
	const forms = merged.filter((command) => !merged.some((other) => other !== command && isExampleOf(command, other)));
	const whole = forms.map((command) => ({ ...command, groups: [...command.groups, ...notesBeside(command, notes)] }));
	return whole.sort((a, b) => Number(a.isInline) - Number(b.isInline));
}

function readCommand({ code, context, isInline }: CodeLine, skill: LoadedSkill, notes: Notes): Command[] {
	const start = findScript(code, skill.files);
	if (!start) return [];
	const folder = /\$\{?(?:CLAUDE_)?SKILL_(?:DIR|ROOT|PATH)\}?|\{(?:baseDir|skill_?dir)\}/gi;
	const { groups, comment, takesOptions } = readCommandLine(code.slice(start.end).replaceAll(folder, skill.folder));
	const explained = groups.map((group) => noted(group, notes));
	return [{ script: start.script, groups: explained, context: `${context}\n${comment}`, isInline, takesOptions }];
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
		if (script !== null && (hasInterpreter || PROGRAM.test(script) || /^(?:bin|scripts)\/[^.]+$/.test(script)))
			return { script, end: index + word.length };
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

/** What the text says of an option counts: its values, whether it can be left out. */
function noted(group: Group, notes: Notes): Group {
	const { flag } = group;
	const note = flag === null ? undefined : notes.get(flag);
	const isOptional = group.isOptional || note?.isOptional === true;
	const explain = (part: Part): Part => {
		if (typeof part === 'string') {
			// The value that a line shows is one of those that the text names.
			if (flag === null || !note || note.choices.length < 2 || !note.choices.includes(part)) return part;
			const { choices, text } = note;
			return makeSlot(slotWords(flag).join('_'), { flag, choices, isRequired: !isOptional, about: text });
		}
		const told = note ?? notes.get(part.name.toLowerCase());
		const choices = part.choices.length === 0 && told && told.choices.length > 1 ? told.choices : part.choices;
		return { ...part, choices, isRequired: !isOptional, hints: [...part.hints, ...tokenize(told?.text ?? '')] };
	};
	return { flag, isOptional, arguments: group.arguments.map((argument) => argument.map(explain)) };
}

/** Options that are documented elsewhere in the text. */
function notesBeside(command: Command, notes: Notes): Group[] {
	if (literalsOf(command).length > 0 && !command.takesOptions) return [];
	const known = flagsOf(command);
	const more = [...notes.values()].filter(({ key }) => key.startsWith('--') && !known.includes(key));
	return more.map(({ key, argument, choices, text }) => {
		const kind = argument === '' ? undefined : makeSlot(argument, { flag: key }).kind;
		const slot = makeSlot(slotWords(key).join('_'), { flag: key, choices, isRequired: false, kind, about: text });
		const isSwitch = argument === '' && choices.length < 2;
		return { flag: key, isOptional: true, arguments: isSwitch ? [[key]] : [[key], [slot]] };
	});
}

function literalsOf({ groups }: Command): string[] {
	const places = groups
		.filter(({ isOptional, flag }) => !isOptional && flag === null)
		.flatMap((group) => group.arguments);
	return places
		.filter((argument) => argument.every((part) => typeof part === 'string'))
		.map((argument) => argument.join(''));
}

function flagsOf({ groups }: Command): string[] {
	return groups.flatMap(({ flag }) => flag ?? []);
}

/** `decode url "a"` shows how `<encode|decode> <base64|url> TEXT` is used. */
function isExampleOf(example: Command, form: Command): boolean {
	const [shown, wanted] = [example, form].map(({ groups }) =>
		groups.filter(({ isOptional }) => !isOptional).flatMap((group) => group.arguments)
	);
	if (example.script !== form.script || !shown || !wanted || shown.length !== wanted.length) return false;
	const fits = ([part]: Argument, [value]: Argument) => {
		if (typeof part === 'string') return value === part;
		if (part?.choices.length) return part.choices.includes(typeof value === 'string' ? value : (value?.example ?? ''));
		return typeof value === 'object' && value.example !== null;
	};
	const hasChoices = wanted.some(([part]) => typeof part === 'object' && part.choices.length > 0);
	return hasChoices && wanted.every((argument, index) => fits(argument, shown[index] ?? []));
}

/** One line shows all that the other has, or less: `x FILE` and `x FILE --days 3`. */
function isSameUse(a: Command, b: Command): boolean {
	if (a.script !== b.script || String(literalsOf(a)) !== String(literalsOf(b))) return false;
	const places = ({ groups }: Command) => slotsOf(groups.filter(({ flag }) => flag === null));
	const named = (command: Command, flag: string) => slotsOf(command.groups.filter((group) => group.flag === flag))[0];
	const isAlike = (one: Slot | undefined, other: Slot | undefined) =>
		!one || !other || one.example !== null || other.example !== null || one.name === other.name;
	const [flags, others] = [flagsOf(a), flagsOf(b)];
	const covers = (many: string[], few: string[]) => few.every((flag) => many.includes(flag));
	return (
		places(a).length === places(b).length &&
		places(a).every((slot, index) => isAlike(slot, places(b)[index])) &&
		flags.every((flag) => isAlike(named(a, flag), named(b, flag))) &&
		(covers(flags, others) || covers(others, flags))
	);
}

/** The one with placeholders tells more; what only one of them has can be left out. */
function merge(a: Command, b: Command): Command {
	const examples = ({ groups }: Command) => slotsOf(groups).filter(({ example }) => example !== null).length;
	const [more, less] = examples(a) <= examples(b) ? [a, b] : [b, a];
	const left = (part: Part) => (typeof part === 'string' ? part : { ...part, isRequired: false });
	const optional = (group: Group): Group => {
		return { ...group, isOptional: true, arguments: group.arguments.map((argument) => argument.map(left)) };
	};
	const isNeeded = ({ flag }: Group) =>
		flag === null || less.groups.some((group) => group.flag === flag && !group.isOptional);
	const added = less.groups.filter(({ flag }) => flag !== null && !flagsOf(more).includes(flag));
	const groups = [...more.groups.map((group) => (isNeeded(group) ? group : optional(group))), ...added.map(optional)];
	return { ...more, groups, context: `${a.context}\n${b.context}`, isInline: a.isInline && b.isInline };
}

/** A switch is a slot too: whether it was said. */
function switchFor(group: Group, notes: string): Slot {
	const text = group.arguments.map((argument) => argument.join('')).join(' ');
	const [flag = '', ...values] = text.split(' ');
	const slot = makeSlot(text, { flag, kind: 'switch', isRequired: false, about: notes });
	return values.length > 0 ? { ...slot, labels: values.flatMap(slotWords).map(stem) } : slot;
}

function commandAction(skill: LoadedSkill, { script, groups, context, ...rest }: Command, notes: Notes): OwnAction {
	const withSlots = groups.map((group) => {
		const slots = slotsOf([group]);
		const about = notes.get(group.flag ?? '')?.text ?? '';
		return { ...group, slots: slots.length === 0 && group.isOptional ? [switchFor(group, about)] : slots };
	});
	const words = literalsOf({ script, groups, context, ...rest }).filter((word) => /^[A-Za-z][\w-]*$/.test(word));
	const file = (script.split('/').at(-1) ?? '').replace(/\.\w+$/, '');
	return {
		label: [script, ...words].join(' '),
		form: [script, ...groups.map(shownGroup)].join(' '),
		slots: withSlots.flatMap(({ slots }) => slots),
		own: new Set([file, ...words].flatMap(tokenizeName)),
		prose: new Set(tokenize([context, ...words.map((word) => notes.get(word)?.text ?? '')].join('\n'))),
		isTool: false,
		call: (values) => {
			const isKept = ({ slots, isOptional }: (typeof withSlots)[number]) =>
				slots.every((slot) => values.has(slot) || (slot.kind !== 'switch' && !isOptional));
			const args = withSlots
				.filter(isKept)
				.flatMap((group) => group.arguments.flatMap((argument) => argumentsFor(argument, values)));
			return { name: USE_SKILL, arguments: JSON.stringify({ skill: skill.name, script, args }) };
		}
	};
}

function argumentsFor(argument: Argument, values: Values): string[] {
	const [only] = argument;
	if (argument.length === 1 && typeof only === 'object' && only.isRepeated) return [...(values.get(only) ?? [])];
	const isJson = typeof only === 'string' && /^\s*[{[]/.test(only);
	const texts = argument.map((part) => {
		if (typeof part === 'string') return part;
		const value = values.get(part)?.[0] ?? '';
		return isJson ? JSON.stringify(value).slice(1, -1) : value;
	});
	return [texts.join('')];
}

function shownGroup({ isOptional, arguments: list }: Group): string {
	const shown = (part: Part) => {
		if (typeof part === 'string') return part;
		const name = part.choices.length > 0 ? part.choices.slice(0, 12).join('|') : part.name.replaceAll(/[\s<>]+/g, '_');
		return `${name.toUpperCase() === name || part.choices.length > 0 ? name : `<${name}>`}${part.isRepeated ? '...' : ''}`;
	};
	const text = list.map((argument) => argument.map(shown).join('')).join(' ');
	return isOptional ? `[${text}]` : text;
}
