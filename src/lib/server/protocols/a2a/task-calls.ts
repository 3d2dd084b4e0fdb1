/** Starts and cancels tasks and sends messages to them. */
import { randomUUID } from 'node:crypto';
import type { Message as Sent } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotCancelableError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { approvalDecision, conversationId } from '../../../shared/api.ts';
import { AppError } from '../../../shared/errors.ts';
import type { ApprovalDecision } from '../../../shared/events.ts';
import type { Message } from '../../../shared/message.ts';
import { checkConversationId, withoutUndefined } from '../../conversations/agui-input.ts';
import { cancelWaiting, checkMayDecide, decide } from '../../conversations/consent.ts';
import { type ConversationChanges, requireOwnConversation, requireOwnRun } from '../../runs/conversation-changes.ts';
import { type Runner, UNTITLED } from '../../runs/runner.ts';
import type { Store } from '../../store/store.ts';
import { waitingIds } from '../../trust/approval-policy.ts';
import { type Asker, mayAnswer } from '../../turns/toolbox.ts';
import type { Workspaces } from '../../workspaces.ts';
import { readIncoming } from './requests.ts';
import { withDecisions } from '../../conversations/conversations.ts';
import type { RunRecord } from '../../store/chat/runs.ts';

export interface CallParts {
	store: Store;
	runner: Runner;
	workspaces: Workspaces;
	changes: ConversationChanges;
}

/** Starts a task, or answers the question of a waiting one. @throws AppError | A2AError */
export async function send(parts: CallParts, asker: Asker, message: Sent): Promise<TaskSource> {
	if (message.taskId === '') return begin(parts, asker, message);
	const task = await readTask(parts, asker, message.taskId);
	if (message.contextId !== '' && message.contextId !== task.contextId) {
		throw new RequestMalformedError('message.contextId doesn’t match the task.');
	}
	switch (task.answer.status) {
		case 'waiting':
			return answer(parts, asker, task, message);
		case 'running':
			throw new UnsupportedOperationError('This task is still running. Wait until it’s done, or cancel it.');
		default:
			throw new UnsupportedOperationError(
				'This task is done. To start another one, send the message with its contextId and without its taskId.'
			);
	}
}

/** Cancels a running or waiting task. @throws AppError | A2AError */
export async function cancel(parts: CallParts, asker: Asker, id: string): Promise<TaskSource> {
	const task = await readTask(parts, asker, id);
	const { status } = task.answer;
	const isStopped =
		status === 'running'
			? await parts.runner.stop(task.run.id)
			: status === 'waiting' &&
				(await cancelWaiting(parts, {
					conversationId: task.contextId,
					answer: task.answer,
					reason: 'The task was cancelled.'
				}));
	const now = await readTask(parts, asker, id);
	if (!isStopped || now.answer.status !== 'cancelled') {
		throw new TaskNotCancelableError('This task is done, so it can’t be cancelled.');
	}
	return now;
}

async function begin(parts: CallParts, asker: Asker, sent: Sent): Promise<TaskSource> {
	const { apiKeyId } = asker;
	const { message, files } = readIncoming(sent);
	const conversationId = checkConversationId(sent.contextId || randomUUID());
	const owner = { apiKeyId: apiKeyId ?? undefined };
	const existing = await parts.store.conversations.get(conversationId);
	if (existing) await requireOwnContext(parts, apiKeyId, conversationId);
	if (existing && existing.activeRunId !== null) {
		throw new UnsupportedOperationError(
			'Another task of this context is still running. Wait until it’s done, or cancel it.'
		);
	}
	// Before writing files, so that nobody else can claim the context meanwhile.
	if (!existing) {
		const createdAt = new Date().toISOString();
		await parts.store.conversations.create({ id: conversationId, title: UNTITLED, createdAt, ...owner });
	}
	const runId = randomUUID();
	try {
		for (const { path, bytes } of files) {
			await parts.workspaces.write(conversationId, path, new Blob([new Uint8Array(bytes)]).stream());
		}
		const model = sent.metadata?.model;
		const choice = typeof model === 'string' ? { model } : undefined;
		await parts.runner.start({
			kind: 'ask',
			runId,
			conversationId,
			message,
			tools: [],
			choice,
			isProgram: true,
			...owner
		});
	} catch (error) {
		if (!existing) await removeEmpty(parts, conversationId);
		throw error;
	}
	return readTask(parts, asker, runId);
}

/** Removes a context whose first task failed to start, unless another task started in it meanwhile. */
async function removeEmpty({ store, workspaces }: CallParts, conversationId: string): Promise<void> {
	if ((await store.messages.list(conversationId)).length > 0) return;
	await store.conversations.remove(conversationId);
	await workspaces.removeAll(conversationId);
}

async function requireOwnContext(parts: CallParts, apiKeyId: string | null, id: string): Promise<void> {
	await requireOwnConversation(parts, apiKeyId, id).catch((error: unknown) => {
		if (!(error instanceof AppError)) throw error;
		const message = 'This message.contextId can’t be used. Choose another one.';
		throw new RequestMalformedError({ message, cause: error });
	});
}

async function answer(parts: CallParts, asker: Asker, task: TaskSource, message: Sent): Promise<TaskSource> {
	const { contextId: conversationId, taskId } = task;
	const ids = waitingIds(task.answer);
	const decided = await parts.store.approvals.decisions(conversationId, ids);
	const open = ids.filter((id) => !decided.has(id));
	const decisions = [...readDecisions(message, open)];
	// All or none.
	for (const [, decision] of decisions) checkMayDecide(asker, decision);
	for (const [interruptId, decision] of decisions) {
		await decide(parts, { by: asker, conversationId, interruptId, decision, resumed: { isProgram: true } });
	}
	return readTask(parts, asker, taskId);
}

const ALLOW = /^(allow|yes|ok|approve|approved|once)[.!]?$/i;
const DENY = /^(deny|no|refuse|reject|denied)[.!]?$/i;

const choice = z.looseObject({ interruptId: z.string().optional() });

/**
 * Reads a client's answer: “allow”, “deny”, or a choice as data. Without an interruptId it applies to all `open` questions.
 * @throws A2AError if the message isn't an answer
 */
function readDecisions(message: Sent, open: readonly string[]): Map<string, ApprovalDecision> {
	const decisions = new Map<string, ApprovalDecision>();
	for (const { content } of message.parts) {
		if (content?.$case === 'text') {
			const decision = wordDecision(content.value.trim());
			for (const id of open) decisions.set(id, decision);
		}
		if (content?.$case !== 'data') continue;
		const named = choice.safeParse(content.value);
		const { interruptId, ...rest } = named.data ?? {};
		const parsed = approvalDecision.safeParse(rest);
		if (!named.success || !parsed.success) throw notUnderstood();
		if (interruptId !== undefined && !open.includes(interruptId)) {
			throw new RequestMalformedError('This task isn’t waiting for a decision with that interruptId.');
		}
		for (const id of interruptId === undefined ? open : [interruptId]) decisions.set(id, withoutUndefined(parsed.data));
	}
	if (decisions.size === 0) throw notUnderstood();
	return decisions;
}

function wordDecision(text: string): ApprovalDecision {
	if (ALLOW.test(text)) return { choice: 'once' };
	if (DENY.test(text)) return { choice: 'deny' };
	throw notUnderstood();
}

function notUnderstood(): Error {
	return new RequestMalformedError(
		'This task is waiting for approval. Answer “allow” or “deny”, or send a data part {"choice": "once" | "deny"}.'
	);
}

// Reads what a task consists of from the store: a run, its answer, and the question before it.

export interface TaskSource {
	/** Id of the run that started the answer. Stays the same when another run continues it after a decision. */
	taskId: string;
	contextId: string;
	answer: Message;
	/** The latest run of this answer. */
	run: RunRecord;
	/** Last event of that run included in `answer`, while it is running. */
	seq: number;
	/** null if it was deleted. */
	question: Message | null;
	/** Whether the reader may allow what the task asks for. */
	mayAnswer: boolean;
}

/** @throws AppError `not_found`, also for another key's task */
export async function readTask(parts: CallParts, asker: Asker, taskId: string): Promise<TaskSource> {
	const { store, runner } = parts;
	if (!conversationId.safeParse(taskId).success) throw noTask();
	const first = await requireOwnRun(parts, asker.apiKeyId, taskId).catch((error: unknown) => {
		throw error instanceof AppError && error.code === 'not_found' ? noTask() : error;
	});
	const { conversationId: contextId, messageId } = first;
	const read = async () => {
		const answer = await store.messages.get(contextId, messageId);
		if (!answer) throw noTask();
		return { answer, live: answer.runId ? runner.live(answer.runId) : null };
	};
	let { answer, live } = await read();
	// The run ended between the two reads.
	if (answer.status === 'running' && !live) ({ answer, live } = await read());
	if (answer.status === 'waiting') [answer = answer] = await withDecisions(store, contextId, [answer]);
	const run = answer.runId === null || answer.runId === first.id ? first : await runner.get(answer.runId);
	const question = answer.parentId === null ? null : await store.messages.get(contextId, answer.parentId);
	return {
		taskId,
		contextId,
		question,
		mayAnswer: mayAnswer(asker),
		answer: live?.message ?? answer,
		run: run ?? first,
		seq: live?.seq ?? 0
	};
}

function noTask(): AppError {
	return new AppError('not_found', 'Task not found.');
}
