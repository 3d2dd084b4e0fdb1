/** Answers the questions that ended a run, as AG-UI's `resume` has them, and goes on (FEATURES F13, F14). */
import type { RunAgentInput } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import type { Store } from '../store/store.ts';
import { type Answers, toRunSetup, trailingResults } from './agui-input.ts';
import { checkMayDecide, decide } from './consent.ts';
import { type ConversationChanges, requireOwnConversation } from '../runs/conversation-changes.ts';
import type { Runner } from '../runs/runner.ts';
import type { Asker } from '../turns/toolbox.ts';

interface Parts {
	store: Store;
	runner: Runner;
	changes: ConversationChanges;
}

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
		throw new AppError('conflict', 'Other questions of this run are still open; answer all of them.');
	}
}

/** The run is there: whoever comes again with other answers is not to believe that they count. @throws AppError conflict */
async function requireDecided({ store }: Parts, conversationId: string, answers: Answers): Promise<void> {
	const decided = await store.approvals.decisions(conversationId, [...answers.keys()]);
	for (const [id, { choice, reason }] of answers) {
		const before = decided.get(id);
		if (before?.choice === choice && before.reason === reason) continue;
		throw new AppError('conflict', 'This run was started with another request.', {
			hint: 'Choose a new run id for what is answered now.'
		});
	}
}
