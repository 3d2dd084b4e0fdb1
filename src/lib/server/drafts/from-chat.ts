/** Makes a skill of what happened in a chat, by rules: what worked becomes steps, scripts and evals; pure (F8). */
import { extname } from 'node:path';
import { basename } from 'node:path/posix';
import { type Message, messageText, type ToolPart } from '../../shared/message.ts';
import { asText, isObject, parseJson } from '../../shared/json.ts';
import { DRAFT_TOOL } from '../../shared/names.ts';
import { plainLine } from '../../shared/characters.ts';
import { meaningfulWords } from '../skills/find/words.ts';
import { skillFiles } from '../skills/make/templates.ts';
import type { StoredFile } from '../store/skills/drafts.ts';
import { type Hider, withImport } from './personal.ts';

export interface ChatFacts {
	title: string;
	/** The branch, oldest first. */
	messages: readonly Message[];
	/** What people attached, with contents. */
	attached: readonly { path: string; bytes: Buffer }[];
	/** Names of skills that there are. */
	taken: ReadonlySet<string>;
}

export interface MadeSkill {
	name: string;
	files: StoredFile[];
	/** What was left out, as sentences. */
	notes: string[];
	/** Something was tried, and nothing worked: what to do; else null. */
	problem: string | null;
}

/** One call that worked. */
interface Step {
	name: string;
	args: Record<string, unknown>;
	part: ToolPart;
}

const MAX_STEPS = 20;
const MAX_EVALS = 5;
const MAX_QUOTE = 600;
const MAX_PROMPT = 2000;
/** Tools that only look: a skill says what to do. */
const LOOKS = new Set(['load_skill', 'read_skill_file', 'search_skills', 'list_skills', 'file_read', DRAFT_TOOL]);
const OPEN: ReadonlySet<string> = new Set(['preparing', 'waiting', 'running']);
const NOTHING_WORKED =
	'No step of this chat succeeded, so nothing shows how it’s done. Write that in SKILL.md and try the draft before you save it, or get it to work in the chat and make a new draft.';
const CODE = /\.(py|sh|bash|[cm]?js|ts|rb)$/;

/** `hider` sees every text before it becomes a part of the skill. */
export function draftFromChat({ title, messages, attached, taken }: ChatFacts, hider: Hider): MadeSkill {
	const notes: string[] = [];
	learn({ messages, attached }, hider);
	const turns = turnsOf(messages);
	const worked = turns.flatMap(({ steps }) => steps);
	const failed = messages
		.flatMap(({ parts }) => parts)
		.filter((part) => part.type === 'tool' && !OPEN.has(part.status) && !hasWorked(part)).length;
	if (failed > 0)
		notes.push(`${failed === 1 ? 'One call that failed was' : `${failed} calls that failed were`} left out.`);
	const steps = unique(worked).filter(({ name }) => !LOOKS.has(name));
	if (steps.length > MAX_STEPS) notes.push(`Only the last ${MAX_STEPS} of ${steps.length} different calls are in it.`);
	const inputs = attached.map(({ path }) => path);
	// What was asked when it worked: what came before may be talk.
	const isWork = ({ name: tool }: Step) => !LOOKS.has(tool);
	const main = turns.find((turn) => turn.isComplete && turn.steps.some(isWork)) ?? turns[0];
	const about = main === turns[0] ? title : (main?.question ?? title);
	const first = hider.hide(plainLine(main?.question || title)).slice(0, 300);
	const name = freeName(nameFrom(hider.hide(about) || first), taken);

	const scripts: StoredFile[] = [];
	const lines = steps.slice(-MAX_STEPS).map((step) => lineOf(step, { inputs, scripts, hider }));
	const requires = [...new Set(steps.flatMap(({ part }) => part.execution?.skill ?? []))].filter(
		(skill) => skill !== name && steps.some(({ part }) => part.execution?.skill === skill && !isBuiltin(part))
	);
	const examples: StoredFile[] = [];
	for (const file of attached) examples.push(exampleOf(file, examples, hider));
	const body = bodyOf({ lines, inputs, hasSteps: steps.length > 0 });
	const said = hider.hide(plainLine(about) || first);
	const description = `${said.replace(/[.!?\s]+$/, '')}. Use it when someone asks for something like “${first.slice(0, 200)}”.`;
	const evals = turns.flatMap((turn) => evalOf(turn, name, hider)).slice(0, MAX_EVALS);
	const metadata = {
		...(requires.length > 0 && { requires: requires.join(' ') }),
		...(first !== '' && first.length <= 500 && { example: first })
	};
	const files = Object.entries(skillFiles({ name, description: description.slice(0, 1024), body, metadata }));
	const given = examples.map(({ path }) => path);
	const cases = evals.map((each, at) => ({ id: at + 1, ...each, ...(given.length > 0 && { files: given }) }));
	return {
		name,
		notes,
		problem: steps.length === 0 && failed > 0 ? NOTHING_WORKED : null,
		files: [
			...files.map(([path, content]): StoredFile => ({ path, content, encoding: 'utf8' })),
			...scripts,
			...examples,
			...(cases.length > 0
				? [
						{
							path: 'evals/evals.json',
							content: `${JSON.stringify({ skill_name: name, evals: cases }, null, '\t')}\n`,
							encoding: 'utf8' as const
						}
					]
				: [])
		]
	};
}

interface Turn {
	question: string;
	answer: string;
	isComplete: boolean;
	steps: Step[];
	/** All that its calls said. */
	results: string;
}

function turnsOf(messages: readonly Message[]): Turn[] {
	const turns: Turn[] = [];
	for (const message of messages) {
		if (message.role === 'user') {
			turns.push({ question: messageText(message).trim(), answer: '', isComplete: false, steps: [], results: '' });
			continue;
		}
		const turn = turns.at(-1);
		if (!turn) continue;
		turn.answer = messageText(message, '\n').trim();
		turn.isComplete = message.status === 'complete';
		for (const part of message.parts) {
			if (part.type !== 'tool' || !hasWorked(part)) continue;
			const args = parseJson(part.arguments);
			turn.steps.push({ name: part.name, args: isObject(args) ? args : {}, part });
			turn.results += `${part.result ?? ''}\n`;
		}
	}
	return turns;
}

function hasWorked({ status, execution }: ToolPart): boolean {
	return status === 'done' && execution?.error === undefined && (execution?.exitCode ?? 0) === 0;
}

function isBuiltin({ name, execution }: ToolPart): boolean {
	return execution?.skill === name;
}

/** The last of several equal ones. */
function unique(steps: readonly Step[]): Step[] {
	const last = new Map<string, Step>();
	for (const step of steps) {
		const key = JSON.stringify([step.name, step.args]);
		last.delete(key);
		last.set(key, step);
	}
	return [...last.values()];
}

/** `Sales by month, please` → `sales-month-please` */
function nameFrom(title: string): string {
	const words = meaningfulWords(title.normalize('NFKD').replace(/\p{M}/gu, ''));
	const name = words
		.slice(0, 4)
		.join('-')
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, '-')
		.slice(0, 48);
	return name.replace(/^-+|-+$/g, '') || 'new-skill';
}

function freeName(name: string, taken: ReadonlySet<string>): string {
	for (let at = 1; ; at += 1) {
		const free = at === 1 ? name : `${name.slice(0, 60)}-${at}`;
		if (!taken.has(free)) return free;
	}
}

interface Making {
	/** Files that came with the messages. */
	inputs: readonly string[];
	/** Receives scripts. */
	scripts: StoredFile[];
	hider: Hider;
}

/** One instruction, in Markdown. */
function lineOf({ name, args, part }: Step, making: Making): string {
	const { inputs, scripts, hider } = making;
	const made = part.execution?.files.map(({ path }) => path) ?? [];
	const result =
		made.length > 0
			? ` It writes ${made
					.slice(0, 3)
					.map((path) => code(hider.hide(path)))
					.join(', ')}.`
			: '';
	const shown = (input: string) => signOf(hider.hide(input));
	const put = (extension: string, text: string): string => {
		const path = freePath(`scripts/step-${scripts.length + 1}`, `.${extension}`, scripts);
		scripts.push({ path, content: hider.hide(text, path), encoding: 'utf8' });
		return path;
	};
	const withInputs = (path: string, text: string) =>
		[code(path), ...inputs.filter((input) => text.includes(input)).map(shown)].join(' ');
	if (name === 'eval_code') {
		const text = asText(args.code) ?? '';
		const isPython = args.language === 'python';
		const path = put(
			isPython ? 'py' : /^[ \t]*import\s/m.test(text) ? 'mjs' : 'cjs',
			takingInputs(text, inputs, isPython ? 'py' : 'js')
		);
		return `Run ${withInputs(path, text)} in the working directory.${result}`;
	}
	if (name === 'execute_command') {
		const text = asText(args.command) ?? '';
		const path = put('sh', `#!/bin/sh\nset -eu\n${takingInputs(text, inputs, 'sh')}\n`);
		return `Run ${withInputs(path, text)} in the working directory.${result}`;
	}
	if (name === 'file_write') {
		const path = asText(args.path) ?? 'file';
		const text = asText(args.content) ?? '';
		if (args.encoding === 'base64' || !CODE.test(path) || text === '')
			return `Write ${code(hider.hide(path))} with what was found.`;
		const own = `scripts/${portable(path, hider)}`;
		if (!scripts.some((script) => script.path.toLowerCase() === own.toLowerCase()))
			scripts.push({
				path: own,
				content: hider.hide(takingInputs(text, inputs, languageOf(path)), own),
				encoding: 'utf8'
			});
		return `Use ${code(own)}; it needn’t be written again.`;
	}
	const { execution } = part;
	const given = (execution?.args ?? []).map((arg) => (inputs.includes(arg) ? shown(arg) : hider.hide(arg)));
	const line = given.map((arg) => (/[\s"']/.test(arg) ? JSON.stringify(arg) : arg)).join(' ');
	if (execution && !isBuiltin(part)) {
		const what = execution.tool
			? `call its tool ${code(execution.tool)}`
			: `run ${code(`${execution.script} ${line}`.trim())}`;
		return `Load the skill ${code(execution.skill)} and ${what}.${result}`;
	}
	const said = Object.entries(args).map(([key, value]) => {
		const text = typeof value === 'string' ? value : JSON.stringify(value);
		return `${code(hider.hide(key))}: ${inputs.includes(text) ? shown(text) : hider.hide(plainLine(text)).slice(0, 200)}`;
	});
	return `Call ${code(name)}${said.length > 0 ? ` with ${said.join(', ')}` : ''}.${result}`;
}

function languageOf(path: string): 'py' | 'js' | 'sh' | null {
	const extension = extname(path);
	return extension === '.py'
		? 'py'
		: /^\.[cm]?[jt]s$/.test(extension)
			? 'js'
			: /^\.(ba)?sh$/.test(extension)
				? 'sh'
				: null;
}

/** File names of this case become arguments; without one, the script does as it did. */
function takingInputs(text: string, inputs: readonly string[], language: 'py' | 'js' | 'sh' | null): string {
	if (language === null) return text;
	let result = text;
	let place = 0;
	for (const input of inputs) {
		// In double quotes, a shell would run what is in other names.
		if (language === 'sh' && !/^[\p{L}\p{N}_.,/@ +=-]+$/u.test(input)) continue;
		const escaped = input.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
		const quoted = new RegExp(`(["'])(?:\\./)?${escaped}\\1`, 'g');
		const isThere =
			language === 'sh'
				? new RegExp(`${quoted.source}|(?<![\\w./-])${escaped}(?![\\w./-])`).test(result)
				: quoted.test(result);
		if (!isThere) continue;
		place += 1;
		if (language === 'py')
			result = result.replaceAll(
				quoted,
				() => `(sys.argv[${place}] if len(sys.argv) > ${place} else ${JSON.stringify(input)})`
			);
		else if (language === 'js')
			result = result.replaceAll(quoted, () => `(process.argv[${place + 1}] ?? ${JSON.stringify(input)})`);
		else {
			const variable = () => `"\${${place}:-${input}}"`;
			result = result
				.replaceAll(quoted, variable)
				.replaceAll(new RegExp(`(?<![\\w./:-])${escaped}(?![\\w./-])`, 'g'), variable);
		}
	}
	return language === 'py' && place > 0 && !/^[ \t]*import (?:.*\b)?sys\b/m.test(result)
		? withImport(result, 'sys')
		: result;
}

/** `sales.csv` → `<sales.csv>`, so that nobody takes it for a name that is always the same. */
function signOf(path: string): string {
	return `<a file such as ${path}>`;
}

function code(text: string): string {
	return `\`${plainLine(text).replaceAll('`', '’')}\``;
}

function bodyOf({
	lines,
	inputs,
	hasSteps
}: {
	lines: string[];
	inputs: readonly string[];
	hasSteps: boolean;
}): string {
	const begin =
		inputs.length > 0
			? [`Take the file that the user gives, such as ${code(inputs[0] ?? '')}. Without one, ask for it.`]
			: [];
	const all = [
		...begin,
		...(hasSteps ? lines : ['Nothing that was tried here worked, or nothing was run. Write here how it’s done.']),
		'Answer in the user’s language with what came out, and say so if a step fails.'
	];
	return all.map((line, at) => `${at + 1}. ${line}`).join('\n');
}

function exampleOf(
	{ path, bytes }: ChatFacts['attached'][number],
	taken: readonly StoredFile[],
	hider: Hider
): StoredFile {
	const name = portable(path, hider);
	const place = freePath(`examples/${name.slice(0, name.length - extname(name).length)}`, extname(name), taken);
	const text = textOf(bytes);
	return text === null
		? { path: place, content: bytes.toString('base64'), encoding: 'base64' }
		: { path: place, content: hider.hide(text, place), encoding: 'utf8' };
}

/** null for what isn't text. */
function textOf(bytes: Buffer): string | null {
	const text = bytes.toString('utf8');
	return !bytes.includes(0) && Buffer.from(text).equals(bytes) ? text : null;
}

/** A name of its own in any file system. */
function freePath(stem: string, extension: string, taken: readonly StoredFile[]): string {
	const isTaken = (path: string) => taken.some((each) => each.path.toLowerCase() === path.toLowerCase());
	let path = `${stem}${extension}`;
	for (let at = 2; isTaken(path); at += 1) path = `${stem}-${at}${extension}`;
	return path;
}

/** The name of a file, with nothing personal and no sign that another system refuses. */
function portable(path: string, hider: Hider): string {
	return hider.hide(basename(path)).replaceAll(/[^\p{L}\p{M}\p{N}_.,@ +=()~-]/gu, '_');
}

/** Characters; what comes after them is only found where it says itself what it is. */
const MAX_LEARNED = 2_000_000;

/** Secrets show by what stands beside them in one place, and stand alone in others: all is looked at before anything is written. */
function learn({ messages, attached }: Pick<ChatFacts, 'messages' | 'attached'>, hider: Hider): void {
	let room = MAX_LEARNED;
	const look = (text: string) => {
		if (room > 0) hider.hide(text.slice(0, room));
		room -= text.length;
	};
	for (const message of messages) {
		for (const part of message.parts) {
			if (part.type === 'text') look(part.text);
			if (part.type !== 'tool') continue;
			const args = parseJson(part.arguments);
			for (const value of Object.values(isObject(args) ? args : {})) {
				look(typeof value === 'string' ? value : JSON.stringify(value));
			}
			look(part.result ?? '');
		}
	}
	for (const { bytes } of attached) look(textOf(bytes) ?? '');
}

/** A question that was answered, and what the answer to it must have: files, and figures that came out of a step. */
function evalOf({ question, answer, isComplete, steps, results }: Turn, name: string, hider: Hider) {
	if (
		!isComplete ||
		question === '' ||
		question.length > MAX_PROMPT ||
		!steps.some(({ name: tool }) => !LOOKS.has(tool))
	)
		return [];
	const isPublic = (said: string) => hider.hide(said) === said;
	const figures = [...new Set(answer.match(/(?<![\w.,])\d[\d.,]*\d(?![\w])/g))]
		.filter((figure) => figure.length >= 3 && results.includes(figure) && isPublic(figure))
		.slice(0, 2);
	const made = steps.flatMap(({ part }) => part.execution?.files.map(({ path }) => path) ?? []);
	const shown = hider.hide(answer);
	return [
		{
			prompt: hider.hide(question),
			expected_output: shown.length > MAX_QUOTE ? `${shown.slice(0, MAX_QUOTE).toWellFormed()}…` : shown,
			expectations: [
				`skillLoaded: ${name}`,
				...figures.map((figure) => `contains: ${figure}`),
				...[...new Set(made)]
					.filter(isPublic)
					.slice(0, 2)
					.map((path) => `file: ${path}`)
			]
		}
	];
}
