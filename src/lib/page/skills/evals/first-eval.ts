/** Evals that are made of what is there: the first one of a skill, from its own example or the last chat that used it; and one of an answer. */
import { withoutMarks } from '../../../shared/evals.ts';
import { asObject, type JsonObject, parseJson } from '../../../shared/json.ts';
import { type Message, messageText } from '../../../shared/message.ts';
import { MAX_SKILL_FILE_BYTES } from '../../../shared/names.ts';
import { isAskedBack, offeredIn } from '../../../shared/questions.ts';
import type { SkillDetail } from '../../../shared/skills.ts';
import { EVERY_EXECUTION, nameOf } from '../../executions/executions.svelte.ts';
import { fileName, fileUrl, openFile } from '../../files/files.ts';
import { ApiError } from '../../request.ts';
import type { Client } from '../../server.ts';
import { filesGiven } from '../run/scripts.ts';
import type { AnswerPlace } from '../skill-words.ts';

export interface FirstEval {
	from: 'example' | 'chat';
	prompt: string;
	/** Paths in the skill. */
	files: string[];
	/** As evals.json has them. */
	expectations: string[];
}

type Asked = Pick<Client, 'listExecutions' | 'getConversation'>;

const MOST_RUNS = 20;
const MOST_CHATS = 3;

/** null if there is neither, or only chats with files: the skill doesn't have those. Rejects with an `ApiError`. */
export async function findFirstEval(
	client: Asked,
	{ name, skillId, example }: Pick<SkillDetail, 'name' | 'skillId' | 'example'>
): Promise<FirstEval | null> {
	const loads = `skillLoaded: ${name}`;
	if (example) {
		const files = example.files.map((file) => `examples/${file}`);
		return { from: 'example', prompt: example.prompt, files, expectations: [loads] };
	}
	const { data } = await client.listExecutions({ ...EVERY_EXECUTION, skill: skillId, page: 1, limit: MOST_RUNS });
	const worked = data.filter((run) => run.status === 'success' && run.toolCallId !== null);
	for (const id of [...new Set(worked.map((run) => run.conversationId ?? ''))].filter(Boolean).slice(0, MOST_CHATS)) {
		// It may be deleted.
		const chat = await client.getConversation(id).catch(() => null);
		const messages = chat?.messages ?? [];
		for (const run of worked.filter((each) => each.conversationId === id)) {
			const { prompt, files } = questionOf(messages, answerOf(messages, run.toolCallId));
			if (prompt === '' || files.length > 0) continue;
			return { from: 'chat', prompt, files: [], expectations: [loads, `toolCalled: ${nameOf(run)}`] };
		}
	}
	return null;
}

/** -1 without one. */
function answerOf(messages: readonly Message[], call: string | null): number {
	return messages.findIndex(({ parts }) => parts.some((part) => part.type === 'tool' && part.id === call));
}

/** What was asked before an answer, so that it can be asked alone: a reply to a question back comes with what it's about. */
function questionOf(
	messages: readonly Message[],
	answer: number
): { isThere: boolean; prompt: string; files: string[] } {
	const said: string[] = [];
	const files = new Set<string>();
	let at = answer;
	do {
		at = messages.slice(0, Math.max(at, 0)).findLastIndex(({ role }) => role === 'user');
		const [before, message] = [messages[at - 1], messages[at]];
		if (!message) break;
		const text = messageText(message).trim();
		const { answers } = offeredIn(before ? messageText(before) : '');
		// The number of an option says nothing without its list.
		said.unshift(/^\d+$/.test(text) ? (answers[Number(text) - 1] ?? text) : text);
		for (const file of message.files) files.add(file);
	} while (hasAskedBack(messages[at - 1]));
	return { isThere: said.length > 0, prompt: said.filter(Boolean).join('\n\n'), files: [...files] };
}

/** Instead of an answer; a model may do so in any words. */
function hasAskedBack(message: Message | undefined): boolean {
	if (message?.role !== 'assistant') return false;
	const hasRun = message.parts.some((part) => part.type === 'tool' && part.execution !== undefined);
	const text = messageText(message).trimEnd();
	return isAskedBack(text) || (!hasRun && text.endsWith('?'));
}

/** The text of `evals.json` with it; without one, with an empty prompt to fill in. */
export function evalsText(first: FirstEval | null, name: string): string {
	const { prompt = '', files = [], expectations = [`skillLoaded: ${name}`] } = first ?? {};
	return `${JSON.stringify({ evals: [{ prompt, ...(files.length > 0 && { files }), expectations }] }, null, '\t')}\n`;
}

export interface AnswerEval {
	/** As evals.json has it. */
	entry: JsonObject;
	/** Files that the skill lacks, where the eval expects them. */
	copies: { path: string; text: string }[];
	/** Names of files that can’t be copied: they aren’t text, or too large. */
	left: string[];
	answer: { text: string; hasFailed: boolean };
}

/** Longer ones hardly come again as they are. */
const MOST_CLEAR = 80;

/** What an answer says first in bold, else its first short line, as a person reads it; empty if nothing stands out. */
export function clearWords(text: string): string {
	const told = text.replace(/^```[^]*?(?:^```|(?![^]))/gm, '');
	const isClear = (words: string) => words !== '' && words.length <= MOST_CLEAR && !words.endsWith(':');
	// With a colon after it, it's a label of what comes.
	const bold = [...told.matchAll(/\*\*([^*\n]+)\*\*(?!:)/g)].map(([, words = '']) => withoutMarks(words).trim());
	const lines = told.split('\n').filter((line) => !/^\s*[#|>]|[[\]]/.test(line));
	const plain = lines.map((line) => withoutMarks(line.replace(/^\s*(?:[-*+]|\d+\.) /, '')).trim());
	return bold.find(isClear) ?? plain.find(isClear) ?? '';
}

/** Its question, the files that it was given, and a check to fill in or correct. Rejects with an `ApiError`. */
export async function findAnswerEval(
	client: Pick<Client, 'getConversation' | 'listFiles'>,
	{ name, files: own }: Pick<SkillDetail, 'name' | 'files'>,
	{ chat, call }: AnswerPlace
): Promise<AnswerEval> {
	const [{ messages }, there] = await Promise.all([client.getConversation(chat), client.listFiles(chat)]);
	const at = answerOf(messages, call);
	const asked = questionOf(messages, at);
	if (!asked.isThere) throw new ApiError('not_found', 'This answer is no longer in its chat.');
	const calls = (messages[at]?.parts ?? []).filter((part) => part.type === 'tool');
	const runs = calls.flatMap(({ execution }) => execution ?? []);
	const last = calls.findLast(({ execution }) => execution?.skill === name);
	const hasFailed = messages[at]?.status !== 'complete' || last?.status === 'failed';
	const text = messages[at] ? messageText(messages[at], '\n\n').trim() : '';
	const made = new Set(runs.flatMap(({ files }) => files.map(({ path }) => path)));
	const paths = there.map(({ path }) => path).filter((path) => !made.has(path));
	const given = runs.flatMap(({ args }) => filesGiven(paths, { args, input: asObject(parseJson(args[0] ?? '')) }));
	const entry: AnswerEval = { entry: {}, copies: [], left: [], answer: { text, hasFailed } };
	const files: string[] = [];
	for (const path of new Set([...asked.files.filter((each) => paths.includes(each)), ...given])) {
		const content = await textOf(fileUrl(chat, path));
		const same = own.find((file) => file.text === content && fileName(file.path) === fileName(path));
		if (content === null) entry.left.push(fileName(path));
		else if (same) files.push(same.path);
		else {
			const taken = new Set([...own, ...entry.copies].map((file) => file.path));
			const copy = freePath(`evals/files/${fileName(path)}`, taken);
			entry.copies.push({ path: copy, text: content });
			files.push(copy);
		}
	}
	const used = runs.find(({ skill }) => skill === name);
	entry.entry = {
		prompt: asked.prompt,
		...(files.length > 0 && { files }),
		expectations: [
			`skillLoaded: ${name}`,
			...(used ? [`toolCalled: ${used.tool ?? used.script}`] : []),
			// What a failed answer says is not what a good one has.
			{ contains: hasFailed ? '' : clearWords(text) }
		]
	};
	return entry;
}

/** null if it isn’t text, or too large for a file that is written here. */
async function textOf(url: string): Promise<string | null> {
	const bytes = await (await openFile(url)).arrayBuffer();
	try {
		const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
		return bytes.byteLength > MAX_SKILL_FILE_BYTES || text.includes('\0') ? null : text;
	} catch {
		return null;
	}
}

/** `notes-2.txt` where there is another `notes.txt`. */
function freePath(path: string, taken: ReadonlySet<string>): string {
	for (let count = 1; ; count++) {
		const tried = count === 1 ? path : path.replace(/(?=\.[^./]*$)|$/, `-${count}`);
		if (!taken.has(tried)) return tried;
	}
}
