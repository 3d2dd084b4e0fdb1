/** The arguments of a script as fields, as far as its own text says them: argparse, parseArgs, or lines of usage. Pure. */
import type { SkillDetail } from '../../../shared/skills.ts';
import { asArray } from '../../../shared/json.ts';
import { type Runnable, usesOf } from './scripts.ts';

interface Parameter {
	/** Unique in its command. */
	name: string;
	/** How it's written; null for one that is known by its place. */
	flag: string | null;
	/** Short forms and others. */
	aliases: readonly string[];
	isRequired: boolean;
	/** A JSON Schema of the value: `boolean` for a flag alone, `array` for several values. */
	schema: Record<string, unknown>;
}

/** One way to call a script. */
export interface Command {
	/** As its usage says it. */
	label: string;
	/** What it does, as its usage says it; may be empty. */
	about: string;
	/** Comes first, such as `read` in `pdf.mjs read FILE`. */
	words: readonly string[];
	parameters: readonly Parameter[];
}

/** Empty if its parameters aren't known. */
export function commandsOf(files: SkillDetail['files'], script: string): Command[] {
	const text = files.find(({ path }) => path === script)?.text ?? '';
	const declared = argparseIn(text) ?? parseArgsIn(text);
	const said = usageIn(text, script);
	// A usage also has what stands by its place, and commands of their own.
	if (said.length > 0 || declared === null) return distinct(said.length > 0 ? said : documented(files, script));
	return [declared];
}

/** How programs get at what they're given: arguments, standard input, or a library that reads them. */
const READS_INPUT =
	/arg|stdin|\binput\(|(?:^|[;|]|while)[ \t]*read\s|\b(?:getopts?|click|typer|fire|docopt|commander)\b|\$[\d@*#]|\$\{[\d@*#!]/im;

/** Whether its text never looks at what it's given. False if that isn't known, as when it uses another file of the skill. */
export function takesNothing(files: SkillDetail['files'], script: string): boolean {
	const text = files.find(({ path }) => path === script)?.text;
	if (!text || READS_INPUT.test(text) || usesOf(files, script).length > 0) return false;
	const words = new Set(text.match(/\w+/g));
	return !files.some(({ path }) => path !== script && words.has(path.replace(/^.*\/|\.\w+$/g, '')));
}

/** Whether it can run as it is: it takes nothing, or nothing that is required. */
export function runsAsIs({ files, inputSchemas }: SkillDetail, { kind, name }: Runnable): boolean {
	if (kind === 'tool') return asArray(inputSchemas[name]?.required).length === 0;
	const [command] = commandsOf(files, name);
	return command ? !command.parameters.some(({ isRequired }) => isRequired) : takesNothing(files, name);
}

/** The schema of an object with a property for each parameter, as a tool has it. */
export function schemaOf({ parameters }: Command): Record<string, unknown> {
	return {
		type: 'object',
		properties: Object.fromEntries(
			parameters.map(({ name, schema, isRequired }) => [name, isRequired ? { ...schema, minLength: 1 } : schema])
		),
		required: parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name)
	};
}

export function argsOf({ words, parameters }: Command, input: Record<string, unknown>): string[] {
	const given = parameters.map((each) =>
		writtenAs(each, Object.hasOwn(input, each.name) ? input[each.name] : undefined)
	);
	return [...words, ...given.flat()];
}

function writtenAs({ flag }: Parameter, value: unknown): string[] {
	if (value === undefined || value === '' || value === false) return [];
	if (flag === null) return [value].flat().map(String);
	if (value === true) return [flag];
	const values = [value].flat().map(String);
	const [only = ''] = values;
	// Otherwise it reads as another option.
	if (values.length === 1 && only.startsWith('-') && flag.startsWith('--')) return [`${flag}=${only}`];
	return values.length === 0 ? [] : [flag, ...values];
}

/** What `argsOf` was given; null if this command isn't called like that. */
export function inputOf({ words, parameters }: Command, args: readonly string[]): Record<string, unknown> | null {
	if (words.some((word, index) => args[index] !== word)) return null;
	const places = parameters.filter(({ flag }) => flag === null);
	const input = new Map<string, unknown>();
	const left = args.slice(words.length);
	while (left.length > 0) {
		const [arg = ''] = left.splice(0, 1);
		const [, name = arg, attached] = /^(--[^=]+)=(.*)$/s.exec(arg) ?? [];
		const option = parameters.find(({ flag, aliases }) => flag === name || aliases.includes(name));
		const parameter = option ?? (arg.startsWith('-') && arg !== '-' ? undefined : places.shift());
		if (!parameter || input.has(parameter.name)) return null;
		const { type } = parameter.schema;
		if (type === 'boolean') input.set(parameter.name, true);
		else {
			const first = option ? (attached ?? left.shift()) : arg;
			if (first === undefined) return null;
			const value = type === 'array' ? [first, ...takeValues(left, places.length)] : numberIn(parameter, first);
			if (value === null) return null;
			input.set(parameter.name, value);
		}
	}
	return Object.fromEntries(input);
}

/** Up to the next option, without those that other places need. */
function takeValues(left: string[], kept: number): string[] {
	const end = left.findIndex((arg) => arg.startsWith('-'));
	return left.splice(0, Math.max(0, (end < 0 ? left.length : end) - kept));
}

function numberIn({ schema: { type } }: Parameter, text: string): unknown {
	if (type !== 'integer' && type !== 'number') return text;
	return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : null;
}

/** Whether its value names a file, which can be chosen: not one that is written. */
export function isFileName(name: string, about = ''): boolean {
	if (
		/(^|[-_. ])(out(put)?|save|write)($|[-_. \d])/i.test(name) ||
		/\b(?:write|save|draw|create|export)s?\b|\boutput\b/i.test(about)
	)
		return false;
	return /(^|[-_. ])(files?|path|input|source|csv|pdf|image|document)($|[-_. \d])/i.test(name);
}

function distinct(commands: readonly Command[]): Command[] {
	return [...new Map(commands.map((command) => [command.label, command])).values()].slice(0, 20);
}

// Lines of usage.

/** What stands for a value: `FILE`, `HH:MM`, `<file>`, `"TEXT"` or `{a,b}`, with `...` for several. */
const PLACE = /^(?:[A-Z][A-Z\d]*(?:[_:/-][A-Z\d]+)*|<[^<>]+>|"[^"]+"|'[^']+'|\{[^{}]+\})(?:\.\.\.|…)?$/;
export const isPlace = (word: string): boolean => PLACE.test(word);

/** Words without vowels are short for something, and so are these. */
const SHORT = /^[^AEIOUY]+$|^(?:API|ID|IDS|JSON|URI|URL|YAML)$/;

/** A place as the label of a field: `FILE` as "File", `GROUP_ID` as "Group ID". Other names stay. */
export function labelOf(name: string): string {
	if (!/^[A-Z][A-Z\d]*(?:_[A-Z\d]+)*(?: \d+)?$/.test(name)) return name;
	const words = name.split(/[_ ]/).map((word) => (SHORT.test(word) ? word : word.toLowerCase()));
	const label = words.join(' ');
	return label.charAt(0).toUpperCase() + label.slice(1);
}

const FLAG = /^--?[A-Za-z][\w-]*$/;
const TOKENS = /\[[^[\]]*\](?:\.\.\.|…)?|"[^"]*"(?:\.\.\.|…)?|'[^']*'|<[^<>]*>(?:\.\.\.|…)?|\S+/g;
/** How a shell script, or Python, says its own name. */
const OWN_NAME = /^["']?(?:\$0|\$\{0##\*\/\}|\$\(basename "?\$0"?\)|%\(prog\)s)["']?$/;

function usageIn(text: string, script: string): Command[] {
	const lines = linesIn(text);
	const at = lines.findIndex((line) => /\busage:/i.test(line));
	if (at < 0) return [];
	const [first = '', ...rest] = lines.slice(at);
	const end = rest.findIndex((line) => plain(line) === '');
	const block = [first.replace(/^.*?\busage:/i, ''), ...rest.slice(0, end < 0 ? undefined : end)].map(plain);
	const described = descriptionsIn(rest);
	const found: { synopsis: string; about: string }[] = [];
	for (const line of block.slice(0, 60)) {
		const words = line.split(/\s+/);
		const own = words.slice(0, 3).findIndex((word) => isName(word, script));
		const last = found.at(-1);
		if (own >= 0) {
			const [synopsis = '', ...about] =
				words.slice(own + 1).length > 0 ? afterWords(line, own + 1).split(/\s{2,}/) : [''];
			found.push({ synopsis, about: about.join(' ') });
		} else if (last && /^\[/.test(line)) last.synopsis += ` ${line}`;
		else if (line !== '') break;
	}
	return found.flatMap(({ synopsis, about }) => commandIn(synopsis, described, about) ?? []);
}

function documented(files: SkillDetail['files'], script: string): Command[] {
	return usesOf(files, script).flatMap((use) => {
		const synopsis = afterWords(use, 1);
		// An example with values of its own says too little.
		return /[[<]|(^|\s|")[A-Z][A-Z]/.test(synopsis) ? (commandIn(synopsis, new Map(), '') ?? []) : [];
	});
}

/** Longer lines are data. */
const linesIn = (text: string): string[] => text.split('\n').map((line) => (line.length > 500 ? '' : line));

/** Without marks of comments and the ends of strings. */
const plain = (line: string): string =>
	line
		.trim()
		.replace(/^(?:#|\/\/|\*|echo\b|print\()+\s*["'`]?/, '')
		.replace(/\\n.*$|["'`]?\s*\)?[;,]?$/, (end) => (/^"$/.test(end) ? end : ''))
		.replace(/[`'](?:\s*\))?[;,]?$/, '')
		.trim();

const isName = (word: string, script: string): boolean =>
	OWN_NAME.test(word) || word === script || word.split('/').at(-1) === script.split('/').at(-1);

const afterWords = (line: string, count: number): string =>
	line.replace(new RegExp(`^(?:\\S+\\s*){${count}}`), '').trim();

/** `  --limit NUMBER  how many lines`: what the lines below a usage say, by flag. */
function descriptionsIn(lines: readonly string[]): Map<string, string> {
	const rows = lines.slice(0, 120).flatMap((line): [string, string][] => {
		const [, flags = '', about = ''] =
			/^[\s#*]*((?:-\w,?\s+)?--[\w-]+)(?:[ =]\S+)?\s{2,}(\S.*?)(?:["'`][;),]*)?$/.exec(line) ?? [];
		return flags
			.split(/,?\s+/)
			.filter(Boolean)
			.map((flag) => [flag, about]);
	});
	return new Map(rows);
}

/** Said below the field of a flag; places that only say the kind, in a few words. */
function aboutPlace(place: string): string {
	const kinds: Record<string, string> = {
		file: 'Path of a file',
		path: 'Path of a file or folder',
		text: 'Any text',
		number: 'A number',
		value: ''
	};
	return kinds[place.toLowerCase()] ?? labelOf(place);
}

/** Null if there is a word whose meaning isn't sure: then nothing is guessed. */
function commandIn(synopsis: string, described: ReadonlyMap<string, string>, about: string): Command | null {
	const words: string[] = [];
	const parameters: Parameter[] = [];
	const add = (flag: string | null, place: string | null, isRequired: boolean, aliases: string[] = []): void => {
		const wanted = flag ?? place?.replace(/^[<"'{]+|[>"'}]*(?:\.\.\.|…)?$/g, '') ?? '';
		const same = parameters.filter(({ name }) => name === wanted || name.startsWith(`${wanted} `)).length;
		const description =
			(flag && described.get(flag)) ?? (flag && place ? aboutPlace(place.replace(/[<>]/g, '')) : undefined);
		const schema = { ...valueOf(place), ...(description ? { description } : {}) };
		parameters.push({ name: same > 0 ? `${wanted} ${same + 1}` : wanted, flag, aliases, isRequired, schema });
	};
	const repeatLast = (): boolean => {
		const last = parameters.at(-1);
		if (last) last.schema = { ...last.schema, type: 'array', format: 'lines', items: { type: 'string' } };
		return last !== undefined;
	};
	const tokens = synopsis.match(TOKENS) ?? [];
	for (let at = 0; at < tokens.length; at += 1) {
		const token = tokens[at] ?? '';
		const next = tokens[at + 1] ?? '';
		if (token.startsWith('[')) {
			const inner = token.replace(/^\[|\](?:\.\.\.|…)?$/g, '').trim();
			if (!addOptional(inner, /(?:\.\.\.|…)$/.test(token), add, repeatLast)) return null;
		} else if (token === '...' || token === '…') {
			if (!repeatLast()) return null;
		} else if (/^--?[A-Za-z][\w-]*=/.test(token)) {
			const [flag = '', place = ''] = token.split('=');
			if (!PLACE.test(place)) return null;
			add(flag, place, true);
		} else if (FLAG.test(token)) {
			if (PLACE.test(next)) add(token, next, true);
			else if (parameters.length === 0) words.push(token);
			else return null;
			if (PLACE.test(next)) at += 1;
		} else if (PLACE.test(token)) {
			add(null, token, true);
			if (/(?:\.\.\.|…)$/.test(token)) repeatLast();
		} else if (/^[a-z][\w-]*$/.test(token) && parameters.length === 0) words.push(token);
		else return null;
	}
	if (parameters.length === 0) return null;
	return { label: about ? `${synopsis} – ${about}` : synopsis, about, words, parameters };
}

/** What stands in brackets. */
function addOptional(
	inner: string,
	isRepeated: boolean,
	add: (flag: string | null, place: string | null, isRequired: boolean, aliases?: string[]) => void,
	repeatLast: () => boolean
): boolean {
	const [head = '', ...values] = inner.split(/\s+(?![^"]*"$)/);
	// `-v|--verbose`, `-v, --verbose`
	const [flags, value = null, ...more] = /^-/.test(inner)
		? inner.split(/\s*[|,]\s*(?=-)/).length > 1
			? [
					inner.replace(/\s[^-|,].*$/, ''),
					...inner
						.replace(/^.*[|,]\s*-\S+\s*/, '')
						.split(/\s+/)
						.filter(Boolean)
				]
			: [...head.split('='), ...values]
		: [''];
	if (flags) {
		const names = flags.split(/\s*[|,]\s*/);
		const main = names.find((name) => name.startsWith('--')) ?? names[0] ?? '';
		if (!names.every((name) => FLAG.test(name)) || more.length > 0 || (value !== null && !PLACE.test(value)))
			return false;
		add(
			main,
			value,
			false,
			names.filter((name) => name !== main)
		);
		return true;
	}
	if (inner === '...' || (PLACE.test(head) && /^(?:\.\.\.|…)$/.test(values.join(' ')))) {
		if (PLACE.test(head)) add(null, head, false);
		return repeatLast();
	}
	if (!PLACE.test(inner)) return false;
	add(null, inner, false);
	if (isRepeated || /(?:\.\.\.|…)$/.test(inner)) repeatLast();
	return true;
}

/** Of places that say how their value is written. */
const EXAMPLES: Partial<Record<string, string>> = {
	'HH:MM': '09:30',
	'HH:MM:SS': '09:30:00',
	'YYYY-MM-DD': '2026-01-31',
	'YYYY-MM': '2026-01'
};

function valueOf(place: string | null): Record<string, unknown> {
	if (place === null) return { type: 'boolean' };
	const choices = /^\{(.+)\}$/
		.exec(place)?.[1]
		?.split(/[,|]/)
		.map((choice) => choice.trim());
	const example = EXAMPLES[place];
	return { type: 'string', ...(choices && { enum: choices }), ...(example && { examples: [example] }) };
}

// Declarations in code.

const STRING = String.raw`(?:[rbf]?"((?:[^"\\]|\\.)*)"|[rbf]?'((?:[^'\\]|\\.)*)')`;

/** Characters of a declaration that are looked at. */
const MAX_CALL = 10_000;

/** Null without one, and with commands of their own. */
function argparseIn(text: string): Command | null {
	if (/add_subparsers|parents\s*=/.test(text)) return null;
	const calls = [...text.matchAll(/\.add_argument\(/g)]
		.slice(0, 100)
		.map(({ index }) => callAt(text, index + '.add_argument'.length));
	const found = calls.flatMap((call) => argumentIn(call) ?? []);
	if (found.length === 0) return null;
	// An option of several values would take them, too.
	const parameters = found.toSorted((a, b) => Number(a.flag !== null) - Number(b.flag !== null));
	return { ...{ label: '', about: '' }, words: [], parameters };
}

/** What stands in the brackets that open at `at`. */
function callAt(text: string, at: number): string {
	let depth = 0;
	let quote = '';
	for (let index = at; index < Math.min(text.length, at + MAX_CALL); index += 1) {
		const letter = text[index] ?? '';
		if (quote !== '') {
			if (letter === '\\') index += 1;
			else if (letter === quote) quote = '';
		} else if (letter === '"' || letter === "'") quote = letter;
		else if (/[([{]/.test(letter)) depth += 1;
		else if (/[)\]}]/.test(letter) && --depth === 0) return text.slice(at + 1, index);
	}
	return '';
}

function argumentIn(call: string): Parameter | null {
	const named = (key: string): string | undefined => {
		const [, one, other] = new RegExp(String.raw`\b${key}\s*=\s*${STRING}`).exec(call) ?? [];
		return one ?? other;
	};
	const names: string[] = [];
	let rest = call.trim();
	for (let found; (found = new RegExp(`^${STRING}\\s*,?\\s*`).exec(rest)); rest = rest.slice(found[0].length))
		names.push(found[1] ?? found[2] ?? '');
	const flags = names.filter((name) => name.startsWith('-'));
	const flag = flags.find((name) => name.startsWith('--')) ?? flags[0] ?? null;
	const name = flag ?? names[0];
	const action = named('action') ?? (/action\s*=\s*[\w.]*BooleanOptionalAction/.test(call) ? 'store_true' : 'store');
	if (!name || ['help', 'version'].includes(action) || flag === '--help') return null;
	const nargs = named('nargs') ?? /\bnargs\s*=\s*(\d+)/.exec(call)?.[1];
	const type = /\btype\s*=\s*(int|float)\b/.exec(call)?.[1];
	const choices = /\bchoices\s*=\s*[[(]([^\])]*)[\])]/.exec(call)?.[1];
	const preset = named('default');
	const value =
		action === 'store_true' || action === 'store_false'
			? { type: 'boolean' }
			: nargs !== undefined && nargs !== '?'
				? { type: 'array', format: 'lines', items: { type: 'string' } }
				: { type: type === 'int' ? 'integer' : type === 'float' ? 'number' : 'string' };
	const listed = [...(choices ?? '').matchAll(new RegExp(STRING, 'g'))].map(([, one, other]) => one ?? other);
	const help = [named('help'), preset && `Default: ${preset}`].filter(Boolean).join('. ').replaceAll('%%', '%');
	return {
		name,
		flag,
		aliases: flags.filter((each) => each !== flag),
		isRequired: flag === null ? nargs !== '?' && nargs !== '*' : /\brequired\s*=\s*True\b/.test(call),
		schema: { ...value, ...(listed.length > 0 && { enum: listed }), ...(help && { description: help }) }
	};
}

/** The options of `parseArgs` of Node, and what else it takes. */
function parseArgsIn(text: string): Command | null {
	if (!/\bparseArgs\(/.test(text)) return null;
	const options = /\boptions\s*:\s*(?=\{)/.exec(text);
	if (!options) return null;
	const body = callAt(text, options.index + options[0].length);
	const found = [...body.matchAll(/(?:['"]([\w-]+)['"]|\b(\w+))\s*:\s*\{([^{}]*)\}/g)].flatMap(
		([, quoted, bare, about = '']): Parameter[] => {
			const name = quoted ?? bare ?? '';
			const type = /\btype\s*:\s*['"](string|boolean)['"]/.exec(about)?.[1];
			const short = /\bshort\s*:\s*['"](\w)['"]/.exec(about)?.[1];
			// Several values are several flags there.
			if (type === undefined || name === 'help' || /\bmultiple\s*:\s*true/.test(about)) return [];
			return [
				{
					name: `--${name}`,
					flag: `--${name}`,
					aliases: short ? [`-${short}`] : [],
					isRequired: false,
					schema: { type }
				}
			];
		}
	);
	if (found.length === 0) return null;
	const others: Parameter = {
		...{ name: 'arguments', flag: null, aliases: [], isRequired: false },
		schema: { type: 'array', format: 'lines', items: { type: 'string' } }
	};
	return {
		...{ label: '', about: '' },
		words: [],
		parameters: [...(/allowPositionals\s*:\s*true/.test(text) ? [others] : []), ...found]
	};
}
