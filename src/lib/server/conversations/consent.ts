/** Takes what people decide about calls that wait for it, and goes on once nothing is open (AG-UI `resume`, F14). */
import { isBuiltinCall } from '../../shared/names.ts';
import { AppError } from '../../shared/errors.ts';
import type { ApprovalDecision } from '../../shared/events.ts';
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
	/** Who decides. */
	by: Asker;
	conversationId: string;
	interruptId: string;
	decision: ApprovalDecision;
	/** What the run that goes on is to be called. */
	runId?: string;
	/** What else that run has of whoever asks for it: tools, say, and results of those that were called. */
	resumed?: Partial<Omit<RunSetup, 'runId' | 'conversationId'>> & { results?: readonly CallResult[] };
}

/**
 * The first decision about a call counts. When none is open any more the answer goes on: then the id of that run is
 * returned.
 * @throws AppError `not_found` for a question that nobody asked, `conflict` when it was decided already, `invalid_input`
 * for what would last beyond this call of a skill that nobody trusts, or of a built-in one, `forbidden` for a key that may
 * not decide so
 */
export async function decide(
	{ store, runner, changes }: Parts,
	{ by, conversationId, interruptId, decision, runId, resumed }: Decision
): Promise<string | null> {
	checkMayDecide(by, decision);
	await refuseDeleted({ store }, conversationId);
	const answer = (await store.messages.list(conversationId)).findLast((message) => message.status === 'waiting');
	const part = answer?.parts.find((each) => each.type === 'tool' && each.approval?.interruptId === interruptId);
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
	const now = new Date().toISOString();
	const isFirst = await store.approvals.decide(conversationId, interruptId, decision, now);
	const { skill, script, digest } = part.approval;
	if (isFirst && isLasting) {
		await store.approvals.grant({ skill, script: decision.choice === 'skill' ? '' : script, digest }, now);
	}
	changes.announce(conversationId);
	// Whoever decides last goes on with it; so does one who comes again because the server was stopped in between.
	const ids = waitingIds(answer);
	const decided = await store.approvals.decisions(conversationId, ids);
	if (ids.some((id) => !decided.has(id))) {
		if (!isFirst) throw new AppError('conflict', 'You’ve already answered this.');
		return null;
	}
	// One id for all who may come to start it.
	const id = runId ?? `resume-${ids[0]}`;
	const apiKeyId = await store.conversations.apiKeyOf(conversationId);
	const task = { kind: 'resume' as const, runId: id, conversationId, messageId: answer.id };
	await runner.start({ tools: [], ...resumed, apiKeyId: apiKeyId ?? undefined, ...task });
	return id;
}

/**
 * Whoever asks for a run does not allow it to itself, unless its key was made for that; to let go of a call harms nobody.
 * What is allowed for good is allowed for everybody: whoever manages the server decides that.
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

// Answers the questions that ended a run, as AG-UI's `resume` has them, and goes on (FEATURES F13, F14).

/**
 * The same run id twice is the same run.
 * @throws AppError `not_found` for a question that nobody asked, `conflict` when it was decided already or others are open,
 * `forbidden` for a key that may not decide so
 */
export async function resumeRun(parts: Parts, by: Asker, input: RunAgentInput, answers: Answers): Promise<void> {
	const { threadId: conversationId, runId } = input;
	await requireOwnConversation(parts, by.apiKeyId, conversationId);
	const known = await parts.runner.get(runId);
	if (known?.conversationId === conversationId) return requireDecided(parts, conversationId, answers);
	// All of them or none.
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

/** The run is there: whoever comes again with other answers is not to believe that they count. @throws AppError conflict */
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
