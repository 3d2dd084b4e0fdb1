/** Answers the questions that ended a run, as AG-UI's `resume` has them, and goes on (FEATURES F13, F14). */
import type { RunAgentInput } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import type { ApprovalDecision } from '../../shared/events.ts';
import type { Store } from '../store/store.ts';
import { toRunSetup, type Answers } from './agui-input.ts';
import { trailingResults } from './agui-messages.ts';
import { decide } from './consent.ts';
import type { ConversationChanges } from './conversation-changes.ts';
import { requireOwnConversation } from './ownership.ts';
import type { Runner } from './runner.ts';

interface Parts {
	store: Store;
	runner: Runner;
	changes: ConversationChanges;
}

/**
 * The same run id twice is the same run.
 * @throws AppError `not_found` for a question that nobody asked, `conflict` when it was decided already or others are open,
 * `forbidden` when a program would allow something for good
 */
export async function resumeRun(
	parts: Parts,
	apiKeyId: string | null,
	input: RunAgentInput,
	answers: Answers
): Promise<void> {
	const { threadId: conversationId, runId } = input;
	await requireOwnConversation(parts, apiKeyId, conversationId);
	const known = await parts.runner.get(runId);
	if (known?.conversationId === conversationId) return requireDecided(parts, conversationId, answers);
	if (apiKeyId !== null) for (const decision of answers.values()) requireOnce(decision);
	const { runId: _runId, conversationId: _conversationId, ...setup } = toRunSetup(input);
	const resumed = { ...setup, results: trailingResults(input) };
	let started: string | null = null;
	for (const [interruptId, decision] of answers) {
		started = await decide(parts, { conversationId, interruptId, decision, runId, resumed });
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

/** What is allowed for good is allowed for everybody: whoever manages the server decides that. */
function requireOnce({ choice }: ApprovalDecision): void {
	if (choice === 'once' || choice === 'deny') return;
	throw new AppError('forbidden', 'A program may allow a call once only; for good, whoever manages the server may.');
}
