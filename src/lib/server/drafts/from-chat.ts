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
const CODE = /\.(py|sh|bash|[cm]?js|ts|rb)$/;

/** `hider` sees every text before it becomes a part of the skill. */
export function draftFromChat({ title, messages, attached, taken }: ChatFacts, hider: Hider): MadeSkill {
	const notes: string[] = [];
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
	const asked = turns.map(({ question }) => question).filter((question) => question !== '');
	const first = hider.hide(plainLine(asked[0] ?? title)).slice(0, 300);
	const name = freeName(nameFrom(hider.hide(title) || first), taken);

	const scripts: StoredFile[] = [];
	const lines = steps.slice(-MAX_STEPS).map((step) => lineOf(step, { inputs, scripts, hider }));
	const requires = [...new Set(steps.flatMap(({ part }) => part.execution?.skill ?? []))].filter(
		(skill) => skill !== name && steps.some(({ part }) => part.execution?.skill === skill && !isBuiltin(part))
	);
	const answer = turns.findLast((turn) => turn.isComplete && turn.answer !== '')?.answer ?? '';
	const examples = attached.map(({ path, bytes }) => exampleOf(path, bytes, hider));
	const body = bodyOf({ lines, first, inputs, answer: hider.hide(answer), hasSteps: steps.length > 0 });
	const said = hider.hide(plainLine(title) || first);
	const description = `${said.replace(/[.!?\s]+$/, '')}. Use it when someone asks for something like “${first.slice(0, 200)}”.`;
	const evals = turns.flatMap((turn) => evalOf(turn, name, hider)).slice(0, MAX_EVALS);
	const metadata = {
		...(requires.length > 0 && { requires: requires.join(' ') }),
		...(first !== '' && first.length <= 500 && { example: first })
	};
	const files = Object.entries(skillFiles({ name, description: description.slice(0, 1024), body, metadata }));
	const cases = evals.map((each, at) => ({
		id: at + 1,
		...each,
		...(at === 0 && examples.length > 0 && { files: examples.map(({ path }) => path) })
	}));
	return {
		name,
		notes,
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
					.map((path) => code(path))
					.join(', ')}.`
			: '';
	const put = (extension: string, text: string): string => {
		const path = `scripts/step-${scripts.length + 1}.${extension}`;
		scripts.push({ path, content: hider.hide(text, path), encoding: 'utf8' });
		return path;
	};
	const withInputs = (path: string, text: string) =>
		[code(path), ...inputs.filter((input) => text.includes(input)).map(signOf)].join(' ');
	if (name === 'eval_code') {
		const text = asText(args.code) ?? '';
		const isPython = args.language === 'python';
		const path = put(
			isPython ? 'py' : /^\s*import\s/m.test(text) ? 'mjs' : 'cjs',
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
		const own = `scripts/${basename(path)}`;
		if (!scripts.some((script) => script.path === own))
			scripts.push({
				path: own,
				content: hider.hide(takingInputs(text, inputs, languageOf(path)), own),
				encoding: 'utf8'
			});
		return `Use ${code(own)}; it needn’t be written again.`;
	}
	const { execution } = part;
	const given = (execution?.args ?? []).map((arg) => (inputs.includes(arg) ? signOf(arg) : hider.hide(arg)));
	const shown = given.map((arg) => (/[\s"']/.test(arg) ? JSON.stringify(arg) : arg)).join(' ');
	if (execution && !isBuiltin(part)) {
		const what = execution.tool
			? `call its tool ${code(execution.tool)}`
			: `run ${code(`${execution.script} ${shown}`.trim())}`;
		return `Load the skill ${code(execution.skill)} and ${what}.${result}`;
	}
	const said = Object.entries(args).map(([key, value]) => {
		const text = typeof value === 'string' ? value : JSON.stringify(value);
		return `${code(key)}: ${inputs.includes(text) ? signOf(text) : hider.hide(plainLine(text)).slice(0, 200)}`;
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
				`(sys.argv[${place}] if len(sys.argv) > ${place} else ${JSON.stringify(input)})`
			);
		else if (language === 'js')
			result = result.replaceAll(quoted, `(process.argv[${place + 1}] ?? ${JSON.stringify(input)})`);
		else {
			const variable = `"\${${place}:-${input}}"`;
			result = result
				.replaceAll(quoted, variable)
				.replaceAll(new RegExp(`(?<![\\w./:-])${escaped}(?![\\w./-])`, 'g'), variable);
		}
	}
	return language === 'py' && place > 0 && !/^\s*import (?:.*\b)?sys\b/m.test(result)
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

function bodyOf(facts: {
	lines: string[];
	first: string;
	inputs: readonly string[];
	answer: string;
	hasSteps: boolean;
}): string {
	const { lines, first, inputs, answer, hasSteps } = facts;
	const begin =
		inputs.length > 0
			? [`Take the file that the user gives, such as ${code(inputs[0] ?? '')}. Without one, ask for it.`]
			: [];
	const all = [
		...begin,
		...(hasSteps ? lines : ['Nothing that was tried here worked, or nothing was run. Write here how it’s done.']),
		'Answer in the user’s language with what came out, and say so if a step fails.'
	];
	const example = answer === '' ? [] : ['## Example', `Someone asked: “${first}”`, 'The answer was:', quote(answer)];
	return [all.map((line, at) => `${at + 1}. ${line}`).join('\n'), ...example].join('\n\n');
}

function quote(text: string): string {
	const short = text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE).toWellFormed()}…` : text;
	return short
		.split('\n')
		.map((line) => `> ${line}`.trimEnd())
		.join('\n');
}

function exampleOf(path: string, bytes: Buffer, hider: Hider): StoredFile {
	const place = `examples/${basename(path)}`;
	const isText = !bytes.includes(0) && Buffer.from(bytes.toString('utf8')).equals(bytes);
	return isText
		? { path: place, content: hider.hide(bytes.toString('utf8'), place), encoding: 'utf8' }
		: { path: place, content: bytes.toString('base64'), encoding: 'base64' };
}

/** A question that was answered, and what the answer to it must have: files, and figures that came out of a step. */
function evalOf({ question, answer, isComplete, steps, results }: Turn, name: string, hider: Hider) {
	if (!isComplete || question === '' || question.length > MAX_PROMPT || steps.length === 0) return [];
	const figures = [...new Set(answer.match(/(?<![\w.,])\d[\d.,]*\d(?![\w])/g))]
		.filter((figure) => figure.length >= 3 && results.includes(figure))
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
				...[...new Set(made)].slice(0, 2).map((path) => `file: ${path}`)
			]
		}
	];
}
