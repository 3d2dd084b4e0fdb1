/** Renders runs and stored messages as session updates: text, thoughts, and tool calls with their output, files and diffs. */
import { extname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type {
	SessionUpdate,
	StopReason,
	ToolCall,
	ToolCallContent,
	ToolCallLocation,
	ToolKind
} from '@agentclientprotocol/sdk';
import { AppError } from '../../../shared/errors.ts';
import type { RunEvent } from '../../../shared/events.ts';
import { asText, parseJson } from '../../../shared/json.ts';
import { filesOf, foldEvent, type Message, type ToolPart } from '../../../shared/message.ts';
import { mcpToolOf } from '../../../shared/names.ts';
import { parseArguments } from '../../agent/calls.ts';
import { readUpTo } from '../../foreign-folders.ts';
import { formatOf } from '../../skills/run/picture-format.ts';
import { mediaTypeOf } from '../../conversations/file-headers.ts';
import type { Workspaces } from '../../workspaces.ts';

export interface RenderOptions {
	/** The project's folder. */
	cwd: string;
	conversationId: string;
	workspaces: Pick<Workspaces, 'path' | 'read'>;
	/** What a tool of the editor shows of its call: a diff, or a terminal. */
	shownBy(toolCallId: string): ToolCallContent[] | undefined;
	/** Whether the editor shows notices. */
	hasNotices: boolean;
}

export interface Renderer {
	/** The answer so far. */
	answer(): Message;
	/** Takes the events of one batch. */
	updates(events: readonly RunEvent[]): Promise<SessionUpdate[]>;
	/** A call as it is now, for a question about it. */
	call(toolCallId: string): ToolCall | null;
}

/** Characters of a call's output and result that are shown: each update repeats them. */
const MAX_SHOWN = 8_000;
/** Characters of raw results. */
const MAX_RAW = 50_000;
const MAX_FILES = 20;
const MAX_PICTURE_BYTES = 1024 * 1024;

/** Follows one answer, over all runs that write it. */
export function createRenderer(begin: Message, options: RenderOptions): Renderer {
	let answer = begin;
	const partOf = (id: string) => answer.parts.find((part): part is ToolPart => part.type === 'tool' && part.id === id);
	const idOf = (id: string) => `${answer.id}:${id}`;

	return {
		answer: () => answer,
		call(toolCallId) {
			const part = partOf(toolCallId);
			return part ? renderCall(part, idOf(toolCallId), options) : null;
		},
		async updates(events) {
			const updates: SessionUpdate[] = [];
			/** Calls with new output: one update for a batch. */
			const grown = new Set<string>();
			const tell = async (id: string, isNew = false) => {
				const part = partOf(id);
				if (!part) return;
				grown.delete(id);
				const call = renderCall(part, idOf(id), options);
				const isOver = part.result !== undefined;
				if (isOver) call.content?.push(...(await picturesOf(part, options)));
				updates.push(isNew ? { sessionUpdate: 'tool_call', ...call } : { sessionUpdate: 'tool_call_update', ...call });
			};
			for (const event of events) {
				answer = foldEvent(answer, event);
				switch (event.type) {
					case 'TEXT_MESSAGE_CONTENT':
						addText(updates, 'agent_message_chunk', { messageId: event.messageId, delta: event.delta });
						break;
					case 'REASONING_MESSAGE_CONTENT':
						addText(updates, 'agent_thought_chunk', { messageId: event.messageId, delta: event.delta });
						break;
					case 'TOOL_CALL_START':
						await tell(event.toolCallId, true);
						break;
					case 'TOOL_CALL_END':
					case 'TOOL_CALL_RESULT':
						await tell(event.toolCallId);
						break;
					case 'CUSTOM':
						if (event.name === 'skill.output') grown.add(event.value.toolCallId);
						else if (isOfCall(event)) await tell(event.value.toolCallId);
						else updates.push(...otherUpdates(event, answer, options.hasNotices));
						break;
				}
			}
			for (const id of grown) {
				const part = partOf(id);
				if (part) {
					const content = contentOf(part, options);
					updates.push({ sessionUpdate: 'tool_call_update', toolCallId: idOf(id), status: 'in_progress', content });
				}
			}
			return updates;
		}
	};
}

/** A stored message, for an editor that opens its conversation. */
export async function replay(message: Message, options: RenderOptions): Promise<SessionUpdate[]> {
	const said = message.role === 'user' ? 'user_message_chunk' : 'agent_message_chunk';
	const updates: SessionUpdate[] = [];
	for (const part of message.parts) {
		if (part.type === 'text') addText(updates, said, { messageId: message.id, delta: part.text });
		if (part.type === 'reasoning') addText(updates, 'agent_thought_chunk', { messageId: message.id, delta: part.text });
		if (part.type !== 'tool') continue;
		const call = renderCall(part, `${message.id}:${part.id}`, options);
		call.content?.push(...(await picturesOf(part, options)));
		updates.push({ sessionUpdate: 'tool_call', ...call });
	}
	return updates;
}

/** Why an answer is over. @throws AppError with what went wrong */
export function stopReasonOf({ status, limit, error }: Message): StopReason {
	switch (status) {
		case 'cancelled':
			return 'cancelled';
		case 'failed':
		case 'interrupted':
			if (error?.code === 'moderation') return 'refusal';
			throw new AppError('unavailable', error?.message ?? 'The answer was interrupted.', {
				details: { code: error?.code }
			});
		default:
			return limit === null ? 'end_turn' : limit === 'length' ? 'max_tokens' : 'max_turn_requests';
	}
}

type TextUpdate = 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk';

/** Adjacent text of one message is one chunk. */
function addText(
	updates: SessionUpdate[],
	sessionUpdate: TextUpdate,
	{ messageId, delta }: { messageId: string; delta: string }
): void {
	if (delta === '') return;
	const last = updates.at(-1);
	if (last?.sessionUpdate === sessionUpdate && last.messageId === messageId && last.content.type === 'text') {
		updates[updates.length - 1] = { ...last, content: { type: 'text', text: last.content.text + delta } };
	} else updates.push({ sessionUpdate, messageId, content: { type: 'text', text: delta } });
}

type CustomEvent = Extract<RunEvent, { type: 'CUSTOM' }>;

function isOfCall(event: CustomEvent): event is Extract<CustomEvent, { value: { toolCallId: string } }> {
	return 'toolCallId' in event.value;
}

function otherUpdates(event: CustomEvent, { context }: Message, hasNotices: boolean): SessionUpdate[] {
	if (event.name === 'run.usage') {
		const { lastStep, cost } = event.value;
		const used = lastStep ? lastStep.inputTokens + lastStep.outputTokens : 0;
		if (!context?.limit || used === 0) return [];
		const spent = cost === undefined ? null : { amount: cost, currency: 'USD' };
		return [{ sessionUpdate: 'usage_update', used, size: context.limit, cost: spent }];
	}
	if (event.name !== 'run.retry' || !hasNotices) return [];
	return [
		{ sessionUpdate: 'notice', severity: 'warning', title: 'Asking the model again', description: event.value.message }
	];
}

function renderCall(part: ToolPart, toolCallId: string, options: RenderOptions): ToolCall {
	const args = argumentsOf(part);
	const call: ToolCall = {
		toolCallId,
		name: part.name,
		title: titleOf(part, args),
		kind: kindOf(part),
		status: statusOf(part),
		content: contentOf(part, options),
		locations: locationsOf(part, args, options)
	};
	if (part.status !== 'preparing') call.rawInput = args;
	if (part.result !== undefined) call.rawOutput = rawOf(part.result);
	return call;
}

/** Nothing while they arrive, or if they aren't valid. */
function argumentsOf(part: ToolPart): Record<string, unknown> {
	const args = part.status === 'preparing' ? {} : parseArguments(part.arguments);
	return typeof args === 'string' ? {} : args;
}

function statusOf({ status, execution, approval, loaded }: ToolPart): ToolCall['status'] {
	switch (status) {
		case 'preparing':
		case 'waiting':
			return 'pending';
		case 'running':
			return execution || approval?.decision || loaded ? 'in_progress' : 'pending';
		case 'done':
			return 'completed';
		default:
			return 'failed';
	}
}

const KINDS: Readonly<Record<string, ToolKind>> = {
	load_skill: 'read',
	read_skill_file: 'read',
	search_skills: 'search',
	use_skill: 'execute',
	file_read: 'read',
	file_write: 'edit',
	look_at_file: 'read',
	http_request: 'fetch',
	web_search: 'search',
	browser: 'fetch',
	eval_code: 'execute',
	execute_command: 'execute',
	editor_list: 'search',
	editor_read: 'read',
	editor_write: 'edit',
	editor_edit: 'edit',
	editor_run: 'execute'
};

function kindOf({ name, execution }: ToolPart): ToolKind {
	return KINDS[name] ?? (execution && mcpToolOf(name) === null ? 'execute' : 'other');
}

/** A few words; what is missing is added once the arguments are there. */
function titleOf({ name, headline, execution }: ToolPart, args: Record<string, unknown>): string {
	const said = (key: string) => asText(args[key]) ?? '';
	const short = (text: string) => (text.length > 200 ? `${text.slice(0, 199)}…` : text).replaceAll(/\s+/g, ' ');
	const words = (verb: string, what: string) => short(what === '' ? verb : `${verb} ${what}`);
	switch (name) {
		case 'load_skill':
			return words('Read skill', said('skill'));
		case 'use_skill':
			return words('Run', [said('skill'), said('script')].filter(Boolean).join(': '));
		case 'search_skills':
			return words('Search skills', said('query'));
		case 'file_read':
		case 'editor_read':
			return words('Read', said('path'));
		case 'look_at_file':
			return words('Look at', said('path'));
		case 'file_write':
		case 'editor_write':
			return words('Write', said('path'));
		case 'editor_edit':
			return words('Edit', said('path'));
		case 'editor_list':
			return words('List files', said('path'));
		case 'editor_run':
		case 'execute_command':
			return words('Run', said('command'));
		case 'http_request':
			return words('Fetch', said('url'));
		case 'web_search':
			return words('Search the web', said('query'));
	}
	const tool = mcpToolOf(name);
	if (tool) return `${tool.tool} (${tool.server})`;
	if (headline !== undefined) return short(headline);
	if (execution && execution.skill !== name) return short(`${execution.tool ?? execution.script} (${execution.skill})`);
	return name;
}

function locationsOf(
	{ name }: ToolPart,
	{ path, line }: Record<string, unknown>,
	{ cwd, workspaces, conversationId }: RenderOptions
): ToolCallLocation[] {
	if (typeof path !== 'string' || path === '') return [];
	if (name.startsWith('editor_'))
		return [{ path: resolve(cwd, path), ...(typeof line === 'number' && line > 0 && { line: Math.trunc(line) }) }];
	if (!name.startsWith('file_') || isAbsolute(path)) return [];
	return [{ path: join(workspaces.path(conversationId), path) }];
}

function contentOf(part: ToolPart, options: RenderOptions): ToolCallContent[] {
	const content = options.shownBy(part.id) ?? diffOf(part, options);
	const { execution, result = '' } = part;
	const output = (execution?.output ?? []).map(({ text }) => text).join('');
	const hasTerminal = content.some(({ type }) => type === 'terminal');
	const isFailed = part.status === 'failed';
	// Instructions of a skill are for the model, and a diff says it all.
	const isSaid = part.loaded !== undefined || content.length > 0;
	const text = output !== '' && !hasTerminal ? output : !isSaid || isFailed ? result : '';
	const shown = [...content, ...(text === '' ? [] : [textContent(inFence(text))])];
	return [...shown, ...linksOf(part, options)];
}

/** Without the editor, as when a conversation is opened again, only what the call says is known. */
function diffOf(part: ToolPart, { cwd, workspaces, conversationId }: RenderOptions): ToolCallContent[] {
	const { path, content, old_text: oldText, new_text: newText, encoding } = argumentsOf(part);
	if (typeof path !== 'string') return [];
	if (part.name === 'editor_edit' && typeof oldText === 'string' && typeof newText === 'string')
		return [{ type: 'diff', path: resolve(cwd, path), oldText, newText }];
	if (typeof content !== 'string') return [];
	if (part.name === 'editor_write') return [{ type: 'diff', path: resolve(cwd, path), newText: content }];
	if (part.name !== 'file_write' || encoding === 'base64' || isAbsolute(path)) return [];
	return [{ type: 'diff', path: join(workspaces.path(conversationId), path), newText: content }];
}

/** Files that the call has made, for the editor to open. */
function linksOf(part: ToolPart, { workspaces, conversationId }: RenderOptions): ToolCallContent[] {
	if (part.result === undefined || part.name.startsWith('editor_')) return [];
	return filesOf(part)
		.slice(0, MAX_FILES)
		.map(({ path, bytes }) => {
			const uri = pathToFileURL(join(workspaces.path(conversationId), path)).href;
			const link = {
				type: 'resource_link' as const,
				name: path,
				uri,
				size: bytes,
				mimeType: mediaTypeOf(path) ?? undefined
			};
			return { type: 'content', content: link };
		});
}

/** Small pictures among the files that the call has made. */
async function picturesOf(part: ToolPart, { workspaces, conversationId }: RenderOptions): Promise<ToolCallContent[]> {
	const pictures: ToolCallContent[] = [];
	for (const { path, bytes } of filesOf(part).slice(0, MAX_FILES)) {
		if (bytes > MAX_PICTURE_BYTES || !/^\.(png|jpe?g|gif|webp)$/i.test(extname(path))) continue;
		const data = await readPicture(workspaces, conversationId, path);
		const format = data && formatOf(data);
		if (!data || !format) continue;
		const { mediaType: mimeType } = format;
		pictures.push({ type: 'content', content: { type: 'image', mimeType, data: data.toString('base64') } });
	}
	return pictures;
}

async function readPicture(workspaces: Pick<Workspaces, 'read'>, id: string, path: string): Promise<Buffer | null> {
	try {
		const { file, bytes } = await workspaces.read(id, path);
		try {
			return bytes > MAX_PICTURE_BYTES ? null : await readUpTo(file, bytes);
		} finally {
			await file.close();
		}
	} catch (error) {
		// A later step may have removed it.
		if (error instanceof AppError) return null;
		throw error;
	}
}

export function textContent(text: string): ToolCallContent {
	return { type: 'content', content: { type: 'text', text } };
}

/** The end of a long text, as a block of code whatever is in it. */
function inFence(text: string): string {
	const shown = text.length > MAX_SHOWN ? `…${text.slice(-MAX_SHOWN)}` : text;
	const longest = Math.max(2, ...[...shown.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
	const fence = '`'.repeat(longest + 1);
	return `${fence}\n${shown.trimEnd()}\n${fence}`;
}

function rawOf(result: string): unknown {
	if (result.length > MAX_RAW) return `${result.slice(0, MAX_RAW)}…`;
	const value = parseJson(result);
	return value === undefined ? result : value;
}
