/** Renders a run as an A2A task: state, open questions, history and artifacts, as a snapshot or as a stream. */
import {
	type Artifact,
	type Message as A2AMessage,
	type Part,
	Role,
	type Task,
	TaskState,
	type TaskStatus,
	type StreamResponse
} from '@a2a-js/sdk';
import { AppError } from '../../../shared/errors.ts';
import { type Approval, filesOf, type Message, type MessageStatus, messageText } from '../../../shared/message.ts';
import { isBuiltinCall } from '../../../shared/names.ts';
import { readUpTo } from '../../foreign-folders.ts';
import { mediaTypeOf } from '../../conversations/file-headers.ts';
import type { Workspaces } from '../../workspaces.ts';
import type { TaskSource } from './task-calls.ts';
import type { RunEvent } from '../../../shared/events.ts';
import type { Runner } from '../../runs/runner.ts';

export const STATES: Record<MessageStatus, TaskState> = {
	running: TaskState.TASK_STATE_WORKING,
	waiting: TaskState.TASK_STATE_INPUT_REQUIRED,
	complete: TaskState.TASK_STATE_COMPLETED,
	cancelled: TaskState.TASK_STATE_CANCELED,
	interrupted: TaskState.TASK_STATE_FAILED,
	failed: TaskState.TASK_STATE_FAILED
};

const CHOICES = ['once', 'script', 'skill', 'deny'] as const;
const ADVICE =
	'Answer with a message to this task: “allow” or “deny”, or a data part {"choice": "once" | "deny", "interruptId"?, "reason"?}.';
const ADVICE_WITHOUT_SCOPE =
	'This API key lacks the scope “approve”, so only the server’s owner can allow this, in the app. Answer “deny” to continue without it.';

function statusOf(source: TaskSource): TaskStatus {
	const { answer, run } = source;
	return {
		state: STATES[answer.status],
		message: statusMessage(source),
		timestamp: (answer.status === 'running' ? null : run.finishedAt) ?? run.startedAt
	};
}

/** `historyLength`: number of newest messages to include; all if absent. */
export function toTask(source: TaskSource, artifacts: Artifact[], historyLength?: number): Task {
	const history = historyOf(source);
	return {
		id: source.taskId,
		contextId: source.contextId,
		status: statusOf(source),
		artifacts,
		history: historyLength === undefined ? history : history.slice(Math.max(0, history.length - historyLength)),
		metadata: undefined
	};
}

/** A progress note from the agent. Not part of the history. */
function noteOf(source: TaskSource, id: string, text: string, data?: Record<string, unknown>): A2AMessage {
	return messageOf(source, { id, role: 'agent', parts: data ? [textPart(text), dataPart(data)] : [textPart(text)] });
}

function statusMessage(source: TaskSource): A2AMessage | undefined {
	const { answer } = source;
	if (answer.status === 'waiting') {
		const open = approvalsOf(answer).flatMap(({ approval, isOpen }) => (isOpen ? [approval] : []));
		const id = `${open[0]?.interruptId ?? answer.id}-question`;
		return messageOf(source, { id, role: 'agent', parts: questionParts(open, source) });
	}
	const end = answer.error?.message;
	return end === undefined ? undefined : noteOf(source, `${answer.id}-end`, end);
}

function questionParts(open: readonly Approval[], { mayAnswer }: TaskSource): Part[] {
	const interrupts = open.map(({ interruptId, skill, script, args, reason, trust, missing }) => ({
		interruptId,
		skill,
		script,
		args,
		reason,
		missing,
		choices: !mayAnswer ? ['deny'] : trust || isBuiltinCall({ skill, script }) ? ['once', 'deny'] : CHOICES
	}));
	const reasons = open.map(({ reason }) => reason).join('\n');
	return [textPart(`${reasons}\n\n${mayAnswer ? ADVICE : ADVICE_WITHOUT_SCOPE}`), dataPart({ interrupts })];
}

/** The client's message, then each decided question with its answer. */
function historyOf(source: TaskSource): A2AMessage[] {
	const { question, answer } = source;
	const said = question ? [messageOf(source, { id: question.id, role: 'user', parts: askedParts(question) })] : [];
	const decided = approvalsOf(answer).flatMap(({ approval }) => {
		const { decision, interruptId } = approval;
		if (!decision) return [];
		return [
			messageOf(source, { id: `${interruptId}-question`, role: 'agent', parts: questionParts([approval], source) }),
			messageOf(source, { id: `${interruptId}-answer`, role: 'user', parts: [dataPart({ interruptId, ...decision })] })
		];
	});
	return [...said, ...decided];
}

function askedParts({ parts, files }: Message): Part[] {
	const texts = parts.flatMap((part) => (part.type === 'text' ? [textPart(part.text)] : []));
	return files.length === 0 ? texts : [...texts, dataPart({ files })];
}

function approvalsOf(answer: Message): { approval: Approval; isOpen: boolean }[] {
	return answer.parts.flatMap((part) => {
		if (part.type !== 'tool' || !part.approval) return [];
		return [{ approval: part.approval, isOpen: part.status === 'waiting' && !part.approval.decision }];
	});
}

// Artifacts: the text of the answer, and the files that scripts wrote.

/** A larger file is sent as a URL. */
const MAX_INLINE_BYTES = 1024 * 1024;
/** For all files of a task together. */
const MAX_INLINE_TOTAL = 8 * 1024 * 1024;
const MAX_FILES = 100;

export function inlineBudget(): { bytes: number } {
	return { bytes: MAX_INLINE_TOTAL };
}

/** Separates the texts before and after a tool call. */
const TEXT_BREAK = '\n\n';
const ANSWER = 'answer';

function answerArtifact(text: string): Artifact {
	return artifactOf(ANSWER, 'Answer', [textPart(text, 'text/markdown')]);
}

/** Paths the answer's scripts wrote, without duplicates, in the order of writing. */
function pathsOf(answer: Message): string[] {
	const paths = answer.parts.flatMap((part) => (part.type === 'tool' ? filesOf(part).map(({ path }) => path) : []));
	return [...new Set(paths)].slice(0, MAX_FILES);
}

export interface FileSource {
	workspaces: Pick<Workspaces, 'read'>;
	contextId: string;
	/** As the client reached this server. */
	origin: string;
}

/** The current file, or null if it's gone. `budget.bytes` may still go inline; the function subtracts what it uses. */
async function fileArtifact(
	{ workspaces, contextId, origin }: FileSource,
	path: string,
	budget: { bytes: number }
): Promise<Artifact | null> {
	const opened = await workspaces.read(contextId, path).catch((error: unknown) => {
		if (error instanceof AppError) return null;
		throw error;
	});
	if (!opened) return null;
	const { file, bytes } = opened;
	try {
		const artifact = (content: Part['content']) =>
			artifactOf(`file:${path}`, path, [
				{ ...EMPTY, filename: path, mediaType: mediaTypeOf(path) ?? 'application/octet-stream', content }
			]);
		if (bytes > MAX_INLINE_BYTES || bytes > budget.bytes) {
			const encoded = path.split('/').map(encodeURIComponent).join('/');
			return artifact({ $case: 'url', value: `${origin}/api/conversations/${contextId}/files/${encoded}` });
		}
		const content = await readUpTo(file, bytes);
		budget.bytes -= content.length;
		return artifact({ $case: 'raw', value: content });
	} finally {
		await file.close();
	}
}

/** `budget` is for the files of several tasks that are sent together. */
export async function artifactsOf(
	source: FileSource,
	answer: Message,
	budget: { bytes: number } = inlineBudget()
): Promise<Artifact[]> {
	const text = messageText(answer, TEXT_BREAK);
	const artifacts = text === '' ? [] : [answerArtifact(text)];
	for (const path of pathsOf(answer)) {
		const artifact = await fileArtifact(source, path, budget);
		if (artifact) artifacts.push(artifact);
	}
	return artifacts;
}

// A2A's shapes, with every field they require.

const EMPTY = { metadata: undefined, filename: '', mediaType: '' };

function textPart(text: string, mediaType = 'text/plain'): Part {
	return { ...EMPTY, mediaType, content: { $case: 'text', value: text } };
}

function dataPart(value: Record<string, unknown>): Part {
	return { ...EMPTY, mediaType: 'application/json', content: { $case: 'data', value } };
}

function messageOf(
	{ taskId, contextId }: TaskSource,
	{ id, role, parts }: { id: string; role: 'user' | 'agent'; parts: Part[] }
): A2AMessage {
	return {
		messageId: id,
		taskId,
		contextId,
		parts,
		role: role === 'user' ? Role.ROLE_USER : Role.ROLE_AGENT,
		metadata: undefined,
		extensions: [],
		referenceTaskIds: []
	};
}

function artifactOf(artifactId: string, name: string, parts: Part[]): Artifact {
	return { artifactId, name, parts, description: '', metadata: undefined, extensions: [] };
}

function statusUpdate({ taskId, contextId }: TaskSource, status: TaskStatus): StreamResponse {
	return { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata: undefined } } };
}

interface EventParts {
	runner: Pick<Runner, 'follow'>;
	files: FileSource;
	/** Reads the current task. */
	read(): Promise<TaskSource>;
	/** Aborts when the client disconnects. */
	signal: AbortSignal;
}

/** Streams the current task, then its run's updates, then its end or its question. */
export async function* taskEvents(
	parts: EventParts,
	begin: TaskSource,
	historyLength?: number
): AsyncGenerator<StreamResponse, void, undefined> {
	const { runner, files, read, signal } = parts;
	const task = toTask(begin, await artifactsOf(files, begin.answer), historyLength);
	yield { payload: { $case: 'task', value: task } };
	let source = begin;
	if (source.answer.status !== 'running') return;
	const updatesOf = createUpdates(files, begin);
	// An immediate decision starts another run, which continues the answer.
	while (source.answer.status === 'running') {
		const batches = await runner.follow(source.run.id, source.seq, signal);
		if (!batches) return;
		for await (const batch of batches) {
			const events = batch.map(({ seq, data }) => ({ seq, event: JSON.parse(data) as RunEvent }));
			yield* updatesOf(events, source);
		}
		if (signal.aborted) return;
		const before = source;
		source = await read();
		if (source.run.id === before.run.id && source.answer.status === 'running') return;
	}
	yield statusUpdate(source, statusOf(source));
}

/** Converts run events to task updates. Remembers which text part it is in. */
function createUpdates(files: FileSource, { taskId, contextId, answer }: TaskSource) {
	let hasText = messageText(answer) !== '';
	let textId = answer.parts.findLast((part) => part.type === 'text' && part.text !== '')?.id;
	const budget = inlineBudget();

	const update = (
		artifact: Artifact,
		{ append, lastChunk }: { append: boolean; lastChunk: boolean }
	): StreamResponse => ({
		payload: {
			$case: 'artifactUpdate',
			value: { taskId, contextId, artifact, append, lastChunk, metadata: undefined }
		}
	});
	const text = (said: string): StreamResponse => {
		const response = update(answerArtifact(said), { append: hasText, lastChunk: false });
		hasText = true;
		return response;
	};
	const note = (source: TaskSource, id: string, said: string, data?: Record<string, unknown>): StreamResponse =>
		statusUpdate(source, {
			state: TaskState.TASK_STATE_WORKING,
			message: noteOf(source, id, said, data),
			timestamp: new Date().toISOString()
		});

	return async function* (
		events: { seq: number; event: RunEvent }[],
		source: TaskSource
	): AsyncGenerator<StreamResponse> {
		// Adjacent text deltas become one update.
		let said = '';
		for (const { seq, event } of events) {
			if (event.type === 'TEXT_MESSAGE_CONTENT') {
				if (event.delta === '') continue;
				if (event.messageId !== textId && (hasText || said !== '')) said += TEXT_BREAK;
				textId = event.messageId;
				said += event.delta;
				continue;
			}
			if (event.type !== 'CUSTOM') continue;
			if (said !== '') yield text(said);
			said = '';
			const id = `${source.run.id}-${seq}`;
			if (event.name === 'skill.loaded') yield note(source, id, `Read the skill “${event.value.skill}”.`);
			if (event.name === 'skill.started') {
				yield note(source, id, `Running ${event.value.tool ?? event.value.script} of “${event.value.skill}”.`);
			}
			if (event.name === 'skill.finished') {
				const { missing, message } = event.value;
				if (missing && message) yield note(source, `${id}-missing`, message, { missing });
				for (const { path } of event.value.files) {
					const artifact = await fileArtifact(files, path, budget);
					if (artifact) yield update(artifact, { append: false, lastChunk: true });
				}
			}
		}
		if (said !== '') yield text(said);
	};
}
