/** A run in the words of A2A: its state, its question to the client, what was said, and all of that as it happens. */
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
import { type Approval, type Message, type MessageStatus, messageText } from '../../../shared/message.ts';
import { isBuiltinCall } from '../../../shared/names.ts';
import { contentType, type Workspaces } from '../../workspaces.ts';
import type { TaskSource } from './task-source.ts';
import type { RunEvent } from '../../../shared/events.ts';
import type { Runner } from '../../runs/runner.ts';

const STATES: Record<MessageStatus, TaskState> = {
	running: TaskState.TASK_STATE_WORKING,
	waiting: TaskState.TASK_STATE_INPUT_REQUIRED,
	complete: TaskState.TASK_STATE_COMPLETED,
	cancelled: TaskState.TASK_STATE_CANCELED,
	interrupted: TaskState.TASK_STATE_FAILED,
	failed: TaskState.TASK_STATE_FAILED
};

/** What may be answered to a question. */
const CHOICES = ['once', 'script', 'skill', 'deny'] as const;
const ADVICE =
	'Answer with a message to this task: “allow” or “deny”, or a data part {"choice": "once" | "deny", "interruptId"?, "reason"?}.';
const ADVICE_WITHOUT_SCOPE =
	'Whoever runs the server can allow it in the app: this API key lacks the scope “approve”. Answer “deny” to continue without it.';

function statusOf(source: TaskSource): TaskStatus {
	const { answer, run } = source;
	return {
		state: STATES[answer.status],
		message: statusMessage(source),
		timestamp: (answer.status === 'running' ? null : run.finishedAt) ?? run.startedAt
	};
}

/** `historyLength`: the newest messages alone; all of them without it. */
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

/** An agent's note on what goes on, which is in no history. */
function noteOf(source: TaskSource, id: string, text: string): A2AMessage {
	return messageOf(source, { id, role: 'agent', parts: [textPart(text)] });
}

function statusMessage(source: TaskSource): A2AMessage | undefined {
	const { answer } = source;
	if (answer.status === 'waiting') {
		const open = approvalsOf(answer).filter(({ isOpen }) => isOpen);
		return messageOf(source, {
			id: `${open[0]?.approval.interruptId ?? answer.id}-question`,
			role: 'agent',
			parts: questionParts(
				open.map(({ approval }) => approval),
				source
			)
		});
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

/** The client's message, then each question that was decided and its answer. */
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

// What a task has made: the text of the answer, and the files that its scripts wrote.

/** Larger files are told by their address. */
const MAX_INLINE_BYTES = 1024 * 1024;
/** Of all files of one task together. */
const MAX_INLINE_TOTAL = 8 * 1024 * 1024;
const MAX_FILES = 100;

/** Between two texts of one answer, where the model called a tool. */
const TEXT_BREAK = '\n\n';
const ANSWER = 'answer';

function answerArtifact(text: string): Artifact {
	return artifactOf(ANSWER, 'Answer', [textPart(text, 'text/markdown')]);
}

/** Paths that the answer's scripts wrote, each once, in the order of their making. */
function filesOf(answer: Message): string[] {
	const paths = answer.parts.flatMap((part) =>
		part.type === 'tool' ? (part.execution?.files ?? []).map(({ path }) => path) : []
	);
	return [...new Set(paths)].slice(0, MAX_FILES);
}

export interface FileSource {
	workspaces: Pick<Workspaces, 'read'>;
	contextId: string;
	/** By which the client has reached this server. */
	origin: string;
}

/** Bytes that may still go inline. */
export interface InlineBudget {
	bytes: number;
}

/** A file as it is now; null for one that is gone. */
async function fileArtifact(
	{ workspaces, contextId, origin }: FileSource,
	path: string,
	budget: InlineBudget
): Promise<Artifact | null> {
	const opened = await workspaces.read(contextId, path).catch((error: unknown) => {
		if (error instanceof AppError) return null;
		throw error;
	});
	if (!opened) return null;
	const { file, bytes } = opened;
	try {
		const facts = { filename: path, mediaType: contentType(path) };
		const artifact = (part: ReturnType<typeof urlPart>) => artifactOf(`file:${path}`, path, [part]);
		if (bytes > MAX_INLINE_BYTES || bytes > budget.bytes) {
			const encoded = path.split('/').map(encodeURIComponent).join('/');
			return artifact(urlPart(`${origin}/api/conversations/${contextId}/files/${encoded}`, facts));
		}
		const content = Buffer.alloc(bytes);
		const { bytesRead } = await file.read(content, 0, bytes, 0);
		budget.bytes -= bytesRead;
		return artifact(bytesPart(content.subarray(0, bytesRead), facts));
	} finally {
		await file.close();
	}
}

export async function artifactsOf(source: FileSource, answer: Message): Promise<Artifact[]> {
	const budget = { bytes: MAX_INLINE_TOTAL };
	const text = messageText(answer, TEXT_BREAK);
	const artifacts = text === '' ? [] : [answerArtifact(text)];
	for (const path of filesOf(answer)) {
		const artifact = await fileArtifact(source, path, budget);
		if (artifact) artifacts.push(artifact);
	}
	return artifacts;
}

// Messages, parts and files in A2A's shapes; every field that it wants, in one place.

const NOTHING = { metadata: undefined, filename: '', mediaType: '' };

function textPart(text: string, mediaType = 'text/plain'): Part {
	return { ...NOTHING, mediaType, content: { $case: 'text', value: text } };
}

function dataPart(value: Record<string, unknown>): Part {
	return { ...NOTHING, mediaType: 'application/json', content: { $case: 'data', value } };
}

export interface FileFacts {
	filename: string;
	mediaType: string;
}

function bytesPart(bytes: Buffer, facts: FileFacts): Part {
	return { ...NOTHING, ...facts, content: { $case: 'raw', value: bytes } };
}

function urlPart(url: string, facts: FileFacts): Part {
	return { ...NOTHING, ...facts, content: { $case: 'url', value: url } };
}

export interface MessagePlace {
	taskId: string;
	contextId: string;
}

function messageOf(
	{ taskId, contextId }: MessagePlace,
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

// What a client of a task is streamed: first the task as it is, then what its run does, then its end or its question.

interface EventParts {
	runner: Pick<Runner, 'follow'>;
	files: FileSource;
	/** The task as it is now. */
	read(): Promise<TaskSource>;
	/** The client has gone. */
	signal: AbortSignal;
}

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
	const teller = createTeller(files, begin);
	// Somebody may have decided at once about what a run stopped for: then another goes on with it.
	while (source.answer.status === 'running') {
		const batches = await runner.follow(source.run.id, source.seq, signal);
		if (!batches) return;
		for await (const batch of batches) {
			yield* teller.tell(
				batch.map(({ seq, data }) => ({ seq, event: JSON.parse(data) as RunEvent })),
				source
			);
		}
		if (signal.aborted) return;
		const before = source;
		source = await read();
		if (source.run.id === before.run.id && source.answer.status === 'running') return;
	}
	const { taskId, contextId } = source;
	yield {
		payload: { $case: 'statusUpdate', value: { taskId, contextId, status: statusOf(source), metadata: undefined } }
	};
}

/** Tells events in order; keeps which text it is in. */
function createTeller(files: FileSource, { taskId, contextId, answer }: TaskSource) {
	let hasText = messageText(answer) !== '';
	let textId = answer.parts.findLast((part) => part.type === 'text' && part.text !== '')?.id;
	const budget = { bytes: MAX_INLINE_TOTAL };

	const update = (artifact: Artifact, append: boolean): StreamResponse => ({
		payload: {
			$case: 'artifactUpdate',
			value: { taskId, contextId, artifact, append, lastChunk: !append, metadata: undefined }
		}
	});
	const text = (said: string): StreamResponse => {
		const response = update(answerArtifact(said), hasText);
		if (response.payload?.$case === 'artifactUpdate') response.payload.value.lastChunk = false;
		hasText = true;
		return response;
	};
	const note = (source: TaskSource, id: string, said: string): StreamResponse => ({
		payload: {
			$case: 'statusUpdate',
			value: {
				taskId,
				contextId,
				metadata: undefined,
				status: {
					state: TaskState.TASK_STATE_WORKING,
					message: noteOf(source, id, said),
					timestamp: new Date().toISOString()
				}
			}
		}
	});

	return {
		async *tell(events: { seq: number; event: RunEvent }[], source: TaskSource): AsyncGenerator<StreamResponse> {
			// Adjacent pieces of text are one update.
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
					for (const { path } of event.value.files) {
						const artifact = await fileArtifact(files, path, budget);
						if (artifact) yield update(artifact, false);
					}
				}
			}
			if (said !== '') yield text(said);
		}
	};
}
