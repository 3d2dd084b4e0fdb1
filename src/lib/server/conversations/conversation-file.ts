/** Export and import of conversations: streams files of any length, and trusts nothing in an imported one. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ConversationSummary } from '../../shared/api.ts';
import { plainLine } from '../../shared/characters.ts';
import { markedText, sourceList, Sources } from '../../shared/citations.ts';
import {
	conversationFile,
	FILE_FORMAT,
	FILE_VERSION,
	type FileMessage,
	fileMessage,
	MAX_FILE_MESSAGES,
	MAX_FILE_PARTS
} from '../../shared/message-schema.ts';
import { AppError } from '../../shared/errors.ts';
import { type Message, type Part, type ToolPart, endMessage, filesOf } from '../../shared/message.ts';
import type { Runner } from '../runs/runner.ts';
import type { Store } from '../store/store.ts';
import { inPlainWords, sentenceOf } from '../../shared/plain-issues.ts';

export type ExportFormat = 'json' | 'markdown';

export interface ExportedFile {
	name: string;
	type: string;
	pieces: AsyncIterable<string>;
}

interface Parts {
	store: Store;
	runner: Pick<Runner, 'current'>;
}

const PAGE = 50;
const KINDS = {
	json: { extension: 'json', type: 'application/json' },
	markdown: { extension: 'md', type: 'text/markdown; charset=utf-8' }
} as const;

/** JSON contains every branch, Markdown only the visible one. @throws AppError not_found */
export async function exportConversation(parts: Parts, id: string, format: ExportFormat): Promise<ExportedFile> {
	const conversation = await parts.store.conversations.get(id);
	if (!conversation) throw new AppError('not_found', 'Conversation not found.');
	const { extension, type } = KINDS[format];
	const write = format === 'json' ? writeJson : writeMarkdown;
	return { name: `${fileNameOf(conversation.title)}.${extension}`, type, pieces: write(parts, conversation) };
}

async function* writeJson(parts: Parts, conversation: ConversationSummary): AsyncGenerator<string> {
	const { id, title, summary, createdAt } = conversation;
	const { messages } = parts.store;
	const all = await messages.ids(id, 'all');
	const head = (await messages.ids(id, 'shown')).at(-1) ?? null;
	const facts = { format: FILE_FORMAT, version: FILE_VERSION, title, summary, createdAt, exportedAt: now(), head };
	yield `${JSON.stringify(facts, null, '\t').slice(0, -2)},\n\t"messages": [`;
	let separator = '\n\t\t';
	for await (const message of readAll(parts, conversation, all)) {
		yield separator + JSON.stringify(withoutRun(message));
		separator = ',\n\t\t';
	}
	yield '\n\t]\n}\n';
}

async function* writeMarkdown(parts: Parts, conversation: ConversationSummary): AsyncGenerator<string> {
	yield `# ${conversation.title.replaceAll(/\s+/g, ' ')}\n`;
	if (conversation.summary) yield `\n> ${oneLine(conversation.summary)}\n`;
	const shown = await parts.store.messages.ids(conversation.id, 'shown');
	for await (const message of readAll(parts, conversation, shown)) yield `\n${markdownOf(message)}`;
}

async function* readAll(
	{ store, runner }: Parts,
	{ id }: ConversationSummary,
	ids: readonly string[]
): AsyncGenerator<Message> {
	for (let start = 0; start < ids.length; start += PAGE) {
		for (const message of await store.messages.read(id, ids.slice(start, start + PAGE))) {
			yield runner.current(message);
		}
	}
}

function withoutRun({ runId: _runId, ...message }: Message): FileMessage {
	return message;
}

function now(): string {
	return new Date().toISOString();
}

/** A file name for any system, without an extension. */
export function fileNameOf(title: string): string {
	const name = plainLine(title.toWellFormed())
		.replaceAll(/[\\/:*?"<>|%]+/g, ' ')
		.replaceAll(/\s+/g, ' ');
	// At most 255 bytes, with up to four per character.
	const short = [...name]
		.slice(0, 60)
		.join('')
		.replaceAll(/^[. ]+|[. ]+$/g, '');
	if (short === '') return 'conversation';
	return /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(short) ? `_${short}` : short;
}

/** A message as Markdown: author, text, and the steps of a reply as a short list. Ends with a line break. */
export function markdownOf(message: Message): string {
	const sources = new Sources(message.parts);
	const blocks = [
		`## ${message.role === 'user' ? 'You' : 'Assistant'}`,
		...message.parts.map((part) => blockOf(part, sources)),
		sourceList(sources)
	].filter((block) => block !== '');
	if (message.files.length > 0) blocks.push(`Files: ${message.files.map(codeOf).join(', ')}`);
	const end = endOf(message);
	if (end !== '') blocks.push(end);
	return `${blocks.join('\n\n')}\n`;
}

function blockOf(part: Part, sources: Sources): string {
	switch (part.type) {
		case 'text':
			return markedText(sources, part).trim();
		case 'tool':
			return stepOf(part);
		// Not part of the conversation.
		case 'reasoning':
		case 'compaction':
			return '';
		default:
			return part satisfies never;
	}
}

function stepOf(part: ToolPart): string {
	const { execution, status, result } = part;
	const exitCode = execution?.exitCode;
	const facts = [status, ...(typeof exitCode === 'number' ? [`exit code ${exitCode}`] : [])];
	const lines = [`- ${labelOf(part)} (${facts.join(', ')})`];
	const files = filesOf(part);
	if (files.length > 0) {
		lines.push(`  Files: ${files.map(({ path }) => codeOf(path)).join(', ')}`);
	}
	if (result !== undefined && result !== '') lines.push('', indent(fenced(result)));
	return lines.join('\n');
}

function labelOf({ name, loaded, execution }: ToolPart): string {
	if (loaded) return `Loaded the skill ${codeOf(loaded.skill)}`;
	if (!execution) return `Called ${codeOf(name)}`;
	const command = [execution.tool ?? execution.script, ...execution.args].join(' ');
	return `Ran ${codeOf(command)} of the skill ${codeOf(execution.skill)}`;
}

function endOf({ status, error }: Message): string {
	if (error) return `*This reply ended early: ${oneLine(error.message)}*`;
	if (status === 'cancelled') return '*You stopped this reply.*';
	if (status === 'interrupted') return '*This reply was interrupted.*';
	if (status === 'waiting') return '*This reply is waiting for approval.*';
	return status === 'running' ? '*This reply is still being written.*' : '';
}

/** Uses a fence longer than any inside. */
function fenced(text: string): string {
	const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
	return `${fence}\n${text.endsWith('\n') ? text.slice(0, -1) : text}\n${fence}`;
}

/** As inline code. */
function codeOf(text: string): string {
	const line = oneLine(text);
	const mark = '`'.repeat(longestRun(line) + 1);
	const space = line.startsWith('`') || line.endsWith('`') || line === '' ? ' ' : '';
	return `${mark}${space}${line}${space}${mark}`;
}

function longestRun(text: string): number {
	let longest = 0;
	for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
	return longest;
}

function oneLine(text: string): string {
	return plainLine(text);
}

function indent(text: string): string {
	return text.replaceAll(/^(?=.)/gm, '  ');
}

/** Messages are checked one by one, so that a bad file is refused early. */
const envelope = conversationFile.omit({ messages: true }).extend({ messages: z.array(z.unknown()) });

interface Imported {
	title: string;
	summary: string | undefined;
	createdAt: string;
	head: string | null;
	messages: Message[];
}

/** Creates a new conversation from a file. @throws AppError invalid_input naming the place */
export async function importConversation(store: Store, body: unknown, now = new Date()): Promise<ConversationSummary> {
	const { title, summary, createdAt, head, messages } = readConversationFile(body, now);
	const id = randomUUID();
	await store.conversations.create({ id, title, summary, createdAt });
	try {
		await store.messages.fill(id, messages, head);
		await store.conversations.touch(id, now.toISOString());
	} catch (error) {
		await store.conversations.remove(id);
		throw error;
	}
	const conversation = await store.conversations.get(id);
	if (!conversation) throw new AppError('not_found', 'The conversation was deleted during the import.');
	return conversation;
}

/** Checks everything and assigns new message ids. @throws AppError invalid_input */
function readConversationFile(body: unknown, now: Date): Imported {
	const file = check(envelope, body, []);
	if (file.messages.length > MAX_FILE_MESSAGES) {
		throw refusal(`it has ${file.messages.length} messages, but the limit is ${MAX_FILE_MESSAGES}.`);
	}
	const ids = new Map<string, string>();
	const messages = file.messages.map((given, index) => {
		requireFewParts(given, index);
		const message = check(fileMessage, given, ['messages', index]) as FileMessage;
		const parentId = message.parentId === null ? null : ids.get(message.parentId);
		if (parentId === undefined) {
			throw refusal(`messages.${index}.parentId: no earlier message has the id ${quote(message.parentId)}.`);
		}
		if (ids.has(message.id)) throw refusal(`messages.${index}.id: ${quote(message.id)} is used twice.`);
		const id = randomUUID();
		ids.set(message.id, id);
		return ended({ ...message, id, parentId, runId: null, createdAt: timeOf(message.createdAt, now) });
	});
	const head = file.head === null ? null : ids.get(file.head);
	if (head === undefined) throw refusal(`head: no message has the id ${quote(file.head)}.`);
	if (head === null && messages.length > 0) throw refusal('head must be the id of a message.');
	const summary = file.summary && plainLine(file.summary);
	return { title: file.title, summary, createdAt: timeOf(file.createdAt, now), head, messages };
}

/** Running and waiting calls become interrupted. */
function ended(message: Message): Message {
	const isOpen = message.status === 'running' || message.status === 'waiting';
	const status = isOpen ? 'interrupted' : message.status;
	const { parts } = endMessage(message, 'interrupted', null);
	return { ...message, parts, status, retry: null };
}

/** Checked before the schema, which would report an issue for each of a million parts. */
function requireFewParts(message: unknown, index: number): void {
	const parts = typeof message === 'object' && message !== null && 'parts' in message ? message.parts : null;
	if (Array.isArray(parts) && parts.length > MAX_FILE_PARTS) {
		throw refusal(`messages.${index}.parts has more than ${MAX_FILE_PARTS} parts.`);
	}
}

/** Normalised, and not in the future. */
function timeOf(time: string, now: Date): string {
	return new Date(Math.min(Date.parse(time), now.getTime())).toISOString();
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown, at: readonly (string | number)[]) {
	const parsed = schema.safeParse(value, { error: inPlainWords });
	if (parsed.success) return parsed.data;
	throw refusal(sentenceOf(parsed.error.issues[0], 'the file', at).sentence);
}

function refusal(reason: string): AppError {
	return new AppError('invalid_input', `Couldn’t import this conversation: ${reason}`, {
		hint: 'Choose a file that was exported as JSON.'
	});
}

function quote(id: string | null): string {
	return `“${(id ?? '').slice(0, 64)}”`;
}
