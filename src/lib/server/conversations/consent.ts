/** Decisions about pending calls; the reply continues once all are decided (AG-UI `resume`, F14). */
import { isBuiltinCall } from '../../shared/names.ts';
import { AppError } from '../../shared/errors.ts';
import type { ApprovalDecision } from '../../shared/events.ts';
import { endMessage, type Message, type Part } from '../../shared/message.ts';
import type { Store } from '../store/store.ts';
import type { CallResult } from '../store/chat/store-runs.ts';
import { type RunSetup, type Answers, toRunSetup, trailingResults } from './agui-input.ts';
import { waitingIds } from '../trust/approval-policy.ts';
import { type ConversationChanges, requireOwnConversation } from '../runs/conversation-changes.ts';
import { refuseDeleted } from './conversations.ts';
import type { Runner } from '../runs/runner.ts';
import { mayAnswer, type Asker } from '../turns/toolbox.ts';
import type { RunAgentInput } from '../../shared/api.ts';

interface Parts {
	store: Store;
	runner: Runner;
	changes: ConversationChanges;
}

export interface Decision {
	by: Asker;
	conversationId: string;
	interruptId: string;
	decision: ApprovalDecision;
	/** Id for the run that continues. */
	runId?: string;
	/** More options of that run from the caller, such as tools and results. */
	resumed?: Partial<Omit<RunSetup, 'runId' | 'conversationId'>> & { results?: readonly CallResult[] };
}

/**
 * The first decision about a call counts. Once all are decided the reply continues, and the id of that run is returned.
 * @throws AppError `not_found` for an unknown question, `conflict` if it's already decided, also if another answer came first, `invalid_input` for a lasting
 * decision about an untrusted or built-in skill, `forbidden` if the key may not decide this
 */
export async function decide(
	{ store, runner, changes }: Parts,
	{ by, conversationId, interruptId, decision, runId, resumed }: Decision
): Promise<string | null> {
	checkMayDecide(by, decision);
	await refuseDeleted({ store }, conversationId);
	const compared = (await store.messages.compared(conversationId)).map(({ id }) => id);
	const shown = (await store.messages.list(conversationId)).findLast(({ status }) => status === 'waiting');
	const waiting = [...(await store.messages.read(conversationId, compared)), ...(shown ? [shown] : [])];
	const isAsked = (each: Part) => each.type === 'tool' && each.approval?.interruptId === interruptId;
	const answer = waiting.find(({ status, parts }) => status === 'waiting' && parts.some(isAsked));
	const part = answer?.parts.find(isAsked);
	if (!answer || part?.type !== 'tool' || !part.approval) {
		throw new AppError('not_found', 'This question is no longer open.');
	}
	const isLasting = decision.choice === 'script' || decision.choice === 'skill';
	if (isLasting && isBuiltinCall(part.approval)) {
		throw new AppError('invalid_input', `“${part.approval.skill}” always asks, so you can only allow it once.`);
	}
	if (isLasting && part.approval.trust) {
		throw new AppError('invalid_input', `“${part.approval.skill}” isn’t trusted, so you can only allow it once.`, {
			hint: 'To stop being asked, check the skill and trust it.'
		});
	}
	if (part.approval.install && isLasting) {
		throw new AppError('invalid_input', 'A skill can only be installed once.');
	}
	if (part.approval.define && isLasting) {
		throw new AppError('invalid_input', 'A new tool can only be allowed once.');
	}
	if (part.approval.install && decision.choice !== 'deny' && by.apiKeyId !== null) {
		throw new AppError('forbidden', 'API keys can’t install skills.', { hint: 'Answer in the app.' });
	}
	if (part.approval.define && decision.choice !== 'deny' && (by.apiKeyId !== null || resumed?.isProgram)) {
		throw new AppError('forbidden', 'Programs can’t define tools.', { hint: 'Answer in the app.' });
	}
	const now = new Date().toISOString();
	const isFirst = await store.approvals.decide(conversationId, interruptId, decision, now);
	const { skill, script, digest } = part.approval;
	if (isFirst && isLasting) {
		await store.approvals.grant({ skill, script: decision.choice === 'skill' ? '' : script, digest }, now);
	}
	changes.announce(conversationId);
	// The last decision starts the run. So does a repeated one, if the server stopped in between.
	const ids = waitingIds(answer);
	const decided = await store.approvals.decisions(conversationId, ids);
	if (ids.some((id) => !decided.has(id))) {
		if (!isFirst) throw new AppError('conflict', 'You’ve already answered this.');
		return null;
	}
	// The same id for everyone who might start it.
	const id = runId ?? `resume-${ids[0]}`;
	const apiKeyId = await store.conversations.apiKeyOf(conversationId);
	const task = { kind: 'resume' as const, runId: id, conversationId, messageId: answer.id };
	await runner.start({ tools: [], ...resumed, apiKeyId: apiKeyId ?? undefined, ...task });
	const counts = decided.get(interruptId);
	if (counts && counts.choice !== decision.choice) {
		const what = counts.choice === 'deny' ? 'denied' : 'allowed';
		throw new AppError('conflict', `Another answer came first: this was ${what}.`);
	}
	return id;
}

/** Denies what an answer waits for, and ends it. False if somebody else decided first, and it has come to its end. */
export async function cancelWaiting(
	{ store, runner, changes }: Parts,
	{ conversationId, answer, reason }: { conversationId: string; answer: Message; reason: string }
): Promise<boolean> {
	const now = new Date().toISOString();
	const decision = { choice: 'deny', reason } as const;
	for (const id of waitingIds(answer)) await store.approvals.decide(conversationId, id, decision, now);
	const latest = await store.messages.get(conversationId, answer.id);
	if (latest?.status === 'running' && latest.runId !== null) return runner.stop(latest.runId);
	if (latest?.status !== 'waiting') return false;
	await store.messages.update(conversationId, endMessage(latest, 'cancelled', null));
	changes.announce(conversationId);
	return true;
}

/**
 * A key can't approve its own runs, unless it was created for that; denying is always allowed. Lasting approvals apply to
 * everyone, so only the server's admin can give them.
 * @throws AppError `forbidden`
 */
export function checkMayDecide(by: Asker, { choice }: ApprovalDecision): void {
	if (choice === 'deny') return;
	if (!mayAnswer(by)) {
		throw new AppError('forbidden', 'This API key can’t approve calls: it lacks the scope “approve”.', {
			hint: 'Answer in the app, or create a key with this scope on the Connect page.'
		});
	}
	if (by.apiKeyId === null || choice === 'once') return;
	throw new AppError('forbidden', 'Programs can only allow a call once. To always allow it, use the app.');
}

/**
 * Answers the questions that ended a run (AG-UI `resume`) and continues it. The same run id is the same run (F13,
 * F14).
 * @throws AppError `not_found` for an unknown question, `conflict` if it's already decided or others are open, `forbidden` if
 * the key may not decide this
 */
export async function resumeRun(parts: Parts, by: Asker, input: RunAgentInput, answers: Answers): Promise<void> {
	const { threadId: conversationId, runId } = input;
	await requireOwnConversation(parts, by.apiKeyId, conversationId);
	const known = await parts.runner.get(runId);
	if (known?.conversationId === conversationId) return requireDecided(parts, conversationId, answers);
	// All or none.
	for (const decision of answers.values()) checkMayDecide(by, decision);
	const { runId: _runId, conversationId: _conversationId, ...setup } = toRunSetup(input);
	const resumed = { ...setup, results: trailingResults(input) };
	let started: string | null = null;
	for (const [interruptId, decision] of answers) {
		started = await decide(parts, { by, conversationId, interruptId, decision, runId, resumed });
	}
	if (started === null) {
		throw new AppError('conflict', 'This run has other open questions. Answer all of them.');
	}
}

/** The run exists: repeating the request with different answers is a conflict. @throws AppError conflict */
async function requireDecided({ store }: Parts, conversationId: string, answers: Answers): Promise<void> {
	const decided = await store.approvals.decisions(conversationId, [...answers.keys()]);
	for (const [id, { choice, reason }] of answers) {
		const before = decided.get(id);
		if (before?.choice === choice && before.reason === reason) continue;
		throw new AppError('conflict', 'This run was started with a different request.', {
			hint: 'Use a new run id for your answers.'
		});
	}
}
