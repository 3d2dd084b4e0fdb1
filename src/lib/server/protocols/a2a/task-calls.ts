/** Sends messages to tasks, starts and stops them: the part of A2A that does something. */
import { randomUUID } from 'node:crypto';
import type { Message } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotCancelableError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { approvalDecision } from '../../../shared/api.ts';
import { AppError } from '../../../shared/errors.ts';
import type { ApprovalDecision } from '../../../shared/events.ts';
import { endMessage } from '../../../shared/message.ts';
import { checkConversationId, withoutUndefined } from '../../conversations/agui-input.ts';
import { checkMayDecide, decide } from '../../conversations/consent.ts';
import { type ConversationChanges, requireOwnConversation } from '../../runs/conversation-changes.ts';
import { type Runner, UNTITLED } from '../../runs/runner.ts';
import type { Store } from '../../store/store.ts';
import { waitingIds } from '../../trust/approval-policy.ts';
import type { Asker } from '../../turns/toolbox.ts';
import type { Workspaces } from '../../workspaces.ts';
import { type IncomingFile, readIncoming } from './requests.ts';
import { readTask, type TaskSource } from './task-source.ts';

export interface CallParts {
	store: Store;
	runner: Runner;
	workspaces: Workspaces;
	changes: ConversationChanges;
}

/** Starts a task, or decides about one that waits. @throws AppError | A2AError */
export async function send(parts: CallParts, asker: Asker, message: Message): Promise<TaskSource> {
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

/** Stops what runs, and lets go of what waits. @throws AppError | A2AError */
export async function cancel(parts: CallParts, asker: Asker, id: string): Promise<TaskSource> {
	const task = await readTask(parts, asker, id);
	const { status } = task.answer;
	const isStopped =
		status === 'running'
			? await parts.runner.stop(task.run.id)
			: status === 'waiting' && (await letGo(parts, asker, task));
	const now = await readTask(parts, asker, id);
	if (!isStopped || now.answer.status !== 'cancelled') {
		throw new TaskNotCancelableError('This task is done, so it can’t be cancelled.');
	}
	return now;
}

async function begin(parts: CallParts, asker: Asker, sent: Message): Promise<TaskSource> {
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
	// Before any file is there, so that nobody else can make it theirs meanwhile.
	if (!existing) {
		const createdAt = new Date().toISOString();
		await parts.store.conversations.create({ id: conversationId, title: UNTITLED, createdAt, ...owner });
	}
	const runId = randomUUID();
	try {
		await writeFiles(parts, conversationId, files);
		await parts.runner.start({ kind: 'ask', runId, conversationId, message, tools: [], ...owner });
	} catch (error) {
		if (!existing) await removeEmpty(parts, conversationId);
		throw error;
	}
	return readTask(parts, asker, runId);
}

/** Nobody knows of a context whose first task did not begin; unless somebody has begun another in it meanwhile. */
async function removeEmpty({ store, workspaces }: CallParts, conversationId: string): Promise<void> {
	if ((await store.messages.list(conversationId)).length > 0) return;
	await store.conversations.remove(conversationId);
	await workspaces.removeAll(conversationId);
}

async function requireOwnContext(parts: CallParts, apiKeyId: string | null, id: string): Promise<void> {
	await requireOwnConversation(parts, apiKeyId, id).catch((error: unknown) => {
		if (!(error instanceof AppError)) throw error;
		throw new RequestMalformedError({
			message: 'This message.contextId can’t be used. Choose another one.',
			cause: error
		});
	});
}

async function writeFiles(
	{ workspaces }: CallParts,
	conversationId: string,
	files: readonly IncomingFile[]
): Promise<void> {
	for (const { path, bytes } of files)
		await workspaces.write(conversationId, path, new Blob([new Uint8Array(bytes)]).stream());
}

async function answer(parts: CallParts, asker: Asker, task: TaskSource, message: Message): Promise<TaskSource> {
	const { contextId: conversationId, taskId } = task;
	const ids = waitingIds(task.answer);
	const decided = await parts.store.approvals.decisions(conversationId, ids);
	const open = ids.filter((id) => !decided.has(id));
	const decisions = [...readDecisions(message, open)];
	// All of them or none.
	for (const [, decision] of decisions) checkMayDecide(asker, decision);
	for (const [interruptId, decision] of decisions) {
		await decide(parts, { by: asker, conversationId, interruptId, decision });
	}
	return readTask(parts, asker, taskId);
}

/** False when somebody else decided first, and it goes on. */
async function letGo(parts: CallParts, asker: Asker, task: TaskSource): Promise<boolean> {
	const { store, runner, changes } = parts;
	const { contextId } = task;
	const now = new Date().toISOString();
	const decision = { choice: 'deny', reason: 'The task was cancelled.' } as const;
	for (const id of waitingIds(task.answer)) await store.approvals.decide(contextId, id, decision, now);
	const { answer: latest, run } = await readTask(parts, asker, task.taskId);
	if (latest.status === 'running') return runner.stop(run.id);
	if (latest.status !== 'waiting') return false;
	await store.messages.update(contextId, endMessage(latest, 'cancelled', null));
	changes.announce(contextId);
	return true;
}

// What a client answers to a task that waits: “allow” or “deny”, or a choice as data; pure.

const ALLOW = /^(allow|yes|ok|approve|approved|once)[.!]?$/i;
const DENY = /^(deny|no|refuse|reject|denied)[.!]?$/i;

const choice = z.looseObject({ interruptId: z.string().optional() });

/**
 * A decision for each question that the message answers, of those that are `open`; what names none answers all.
 * @throws A2AError for what is no answer to them
 */
function readDecisions(message: Message, open: readonly string[]): Map<string, ApprovalDecision> {
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
		for (const id of interruptId === undefined ? open : [interruptId]) {
			decisions.set(id, withoutUndefined(parsed.data));
		}
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
