/** Writes a conversation as a file, a few messages at a time, however long it is. */
import type { ConversationSummary } from '../../shared/api.ts';
import { plainLine } from '../../shared/characters.ts';
import { FILE_FORMAT, FILE_VERSION, type FileMessage } from '../../shared/conversation-file.ts';
import { AppError } from '../../shared/errors.ts';
import type { Message, Part, ToolPart } from '../../shared/message.ts';
import type { Runner } from '../runs/runner.ts';
import type { Store } from '../store/store.ts';

export type ExportFormat = 'json' | 'markdown';

export interface ExportedFile {
	name: string;
	type: string;
	pieces: AsyncIterable<string>;
}

interface Parts {
	store: Store;
	runner: Pick<Runner, 'live'>;
}

const PAGE = 50;
const KINDS = {
	json: { extension: 'json', type: 'application/json' },
	markdown: { extension: 'md', type: 'text/markdown; charset=utf-8' }
} as const;

/** JSON has every branch, Markdown the one that is shown. @throws AppError not_found */
export async function exportConversation(parts: Parts, id: string, format: ExportFormat): Promise<ExportedFile> {
	const conversation = await parts.store.conversations.get(id);
	if (!conversation) throw new AppError('not_found', 'There is no such conversation.');
	const { extension, type } = KINDS[format];
	const write = format === 'json' ? writeJson : writeMarkdown;
	return { name: `${fileNameOf(conversation.title)}.${extension}`, type, pieces: write(parts, conversation) };
}

async function* writeJson(parts: Parts, conversation: ConversationSummary): AsyncGenerator<string> {
	const { id, title, createdAt } = conversation;
	const { messages } = parts.store;
	const all = await messages.ids(id, 'all');
	const head = (await messages.ids(id, 'shown')).at(-1) ?? null;
	const facts = { format: FILE_FORMAT, version: FILE_VERSION, title, createdAt, exportedAt: now(), head };
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
	const shown = await parts.store.messages.ids(conversation.id, 'shown');
	for await (const message of readAll(parts, conversation, shown)) yield `\n${markdownOf(message)}`;
}

async function* readAll(
	{ store, runner }: Parts,
	{ id, activeRunId }: ConversationSummary,
	ids: readonly string[]
): AsyncGenerator<Message> {
	for (let start = 0; start < ids.length; start += PAGE) {
		for (const message of await store.messages.read(id, ids.slice(start, start + PAGE))) {
			// Memory is ahead of the database.
			const live = activeRunId === message.runId && activeRunId !== null ? runner.live(activeRunId) : null;
			yield live?.message.id === message.id ? live.message : message;
		}
	}
}

function withoutRun({ runId: _runId, ...message }: Message): FileMessage {
	return message;
}

function now(): string {
	return new Date().toISOString();
}

/** What every system takes as a name, without an ending. */
export function fileNameOf(title: string): string {
	const name = plainLine(title.toWellFormed())
		.replaceAll(/[\\/:*?"<>|%]+/g, ' ')
		.replaceAll(/\s+/g, ' ');
	// A name may have 255 bytes, and a sign at most four.
	const short = [...name]
		.slice(0, 60)
		.join('')
		.replaceAll(/^[. ]+|[. ]+$/g, '');
	if (short === '') return 'conversation';
	return /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(short) ? `_${short}` : short;
}

// A message as Markdown, for people: who, what was said, and the steps of an answer as a short list.

/** Ends with a line break. */
export function markdownOf(message: Message): string {
	const blocks = [`## ${message.role === 'user' ? 'You' : 'Assistant'}`];
	for (const part of message.parts) {
		const block = blockOf(part);
		if (block !== '') blocks.push(block);
	}
	if (message.files.length > 0) blocks.push(`Files: ${message.files.map(codeOf).join(', ')}`);
	const end = endOf(message);
	if (end !== '') blocks.push(end);
	return `${blocks.join('\n\n')}\n`;
}

function blockOf(part: Part): string {
	switch (part.type) {
		case 'text':
			return part.text.trim();
		case 'tool':
			return stepOf(part);
		// Not said to anybody.
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
	if (execution && execution.files.length > 0) {
		lines.push(`  Files: ${execution.files.map(({ path }) => codeOf(path)).join(', ')}`);
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
	if (error) return `*This answer ended early: ${oneLine(error.message)}*`;
	if (status === 'cancelled') return '*This answer was stopped.*';
	if (status === 'interrupted') return '*This answer was interrupted.*';
	if (status === 'waiting') return '*This answer waits for consent.*';
	return status === 'running' ? '*This answer is being written.*' : '';
}

/** In a fence that is longer than any inside. */
function fenced(text: string): string {
	const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
	return `${fence}\n${text.endsWith('\n') ? text.slice(0, -1) : text}\n${fence}`;
}

/** As code within a line. */
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
