/** Which calls somebody must allow first, and what was decided about them (AG-UI interrupts). */
import { randomUUID } from 'node:crypto';
import type { ApprovalDecision, ApprovalRequest } from '../../shared/events.ts';
import type { Approval, Message } from '../../shared/message.ts';
import type { PlannedRun } from '../skills/session.ts';
import { digestOfFiles } from '../skills/skill-digest.ts';
import type { Store } from '../store/store.ts';

/** `ask`: scripts run when somebody has allowed them; `auto`: they run. */
export type ApprovalMode = 'ask' | 'auto';

export interface ApprovalPolicy {
	/** What to ask before this runs; null when it may run. `earlier` counts as long as the skill's files are the same. */
	request(run: PlannedRun, earlier: Approval | null): Promise<ApprovalRequest | null>;
	/** What was decided about the calls that an answer waits with, by the ids of the questions. */
	decisions(conversationId: string, answer: Message): Promise<Map<string, ApprovalDecision>>;
}

export function createApprovalPolicy(store: Store, mode: ApprovalMode): ApprovalPolicy {
	return {
		async request({ skill, script, args }, earlier) {
			if (mode === 'auto') return null;
			const digest = await digestOfFiles(skill.dir);
			const isAllowed = earlier?.decision !== undefined && earlier.decision.choice !== 'deny';
			if (isAllowed && earlier.digest === digest) return null;
			if (await store.approvals.isGranted({ skill: skill.name, script, digest })) return null;
			const reason = isAllowed
				? `The files of “${skill.name}” changed since this was allowed.`
				: `“${skill.name}” wants to run ${script}.`;
			return { interruptId: randomUUID(), skill: skill.name, script, args, reason, digest };
		},
		decisions: (conversationId, answer) => store.approvals.decisions(conversationId, waitingIds(answer))
	};
}

/** The ids of the questions that an answer waits with. */
export function waitingIds(answer: Message): string[] {
	return answer.parts.flatMap((part) => {
		return part.type === 'tool' && part.status === 'waiting' && part.approval ? [part.approval.interruptId] : [];
	});
}
