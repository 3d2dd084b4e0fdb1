/** Which calls somebody must allow first, and what was decided about them (AG-UI interrupts; FEATURES C16, E30, F3, F4). */
import { randomUUID } from 'node:crypto';
import type { TrustState } from '../../shared/skills.ts';
import type { ApprovalDecision } from '../../shared/events.ts';
import type { Approval, Message } from '../../shared/message.ts';
import { skillIdOf } from '../skills/execution-host.ts';
import type { PlannedRun } from '../skills/session.ts';
import type { Skill } from '../skills/types.ts';
import type { Store } from '../store/store.ts';
import { isAllowedBeforehand } from './allowed-beforehand.ts';
import type { RunVerdict } from './skill-toolbox.ts';

/** `ask`: scripts run when somebody has allowed them; `auto`: they run, if somebody trusts the skill. */
export type ApprovalMode = 'ask' | 'auto';

export interface ApprovalPolicy {
	/** `earlier` counts as long as the skill's files are the same. */
	request(run: PlannedRun, earlier: Approval | null): Promise<RunVerdict>;
	/** Has somebody looked at its files as they are now, or does it lie where nobody has to? */
	isTrusted(skill: Skill): Promise<boolean>;
	/** What was decided about the calls that an answer waits with, by the ids of the questions. */
	decisions(conversationId: string, answer: Message): Promise<Map<string, ApprovalDecision>>;
}

export interface ApprovalPolicyOptions {
	store: Pick<Store, 'approvals'>;
	mode: ApprovalMode;
	trust: {
		/** Reads the files as they are now; `digest` is null where the state needed none, or not all can be read. */
		judge(skill: Skill): Promise<{ state: TrustState; digest: string | null; problem: string | null }>;
		digestOf(skill: Skill): Promise<string>;
	};
	/** Variables that a skill declares and nobody has set; none without it. */
	missingVariables?: (skill: Skill) => Promise<string[]>;
}

export function createApprovalPolicy(options: ApprovalPolicyOptions): ApprovalPolicy {
	const { store, mode, trust, missingVariables = async () => [] } = options;
	return {
		async request({ skill, script, args }, earlier) {
			const { state, digest: whole, problem } = await trust.judge(skill);
			const missing = await missingVariables(skill);
			if (isTrusted(state) && mode === 'auto' && missing.length === 0) return { question: null, digest: whole };
			const digest = whole ?? (await trust.digestOf(skill));
			const allowed = { question: null, digest };
			const isAllowed = earlier?.decision !== undefined && earlier.decision.choice !== 'deny';
			if (isAllowed && earlier.digest === digest) return allowed;
			if (isTrusted(state)) {
				// What was allowed for good, or is wished for by a skill that is trusted, counts for no other.
				if (await store.approvals.isGranted({ skill: skill.name, script, digest })) return allowed;
				const { allowedTools, tools, files } = skill;
				const wished = { script, args, tools: tools.map(({ name }) => name), files };
				if (missing.length === 0 && isAllowedBeforehand(allowedTools, wished)) return allowed;
			}
			const reason = isAllowed
				? `The files of “${skill.name}” changed since this was allowed.`
				: reasonFor(skill.name, script, { state, problem, missing });
			const question = {
				interruptId: randomUUID(),
				...{ skill: skill.name, script, args, reason, digest },
				...(state === 'untrusted' || state === 'changed' ? { trust: state, skillId: skillIdOf(skill) } : {}),
				...(missing.length > 0 ? { missing, skillId: skillIdOf(skill) } : {})
			};
			return { question, digest };
		},
		async isTrusted(skill) {
			return isTrusted((await trust.judge(skill)).state);
		},
		decisions: (conversationId, answer) => store.approvals.decisions(conversationId, waitingIds(answer))
	};
}

function isTrusted(state: TrustState): boolean {
	return state === 'trusted' || state === 'builtin';
}

function reasonFor(
	skill: string,
	script: string,
	{ state, problem, missing }: { state: TrustState; problem: string | null; missing: readonly string[] }
): string {
	if (state === 'untrusted' && problem !== null) return `“${skill}” wants to run ${script}. ${problem}`;
	if (state === 'untrusted')
		return `“${skill}” wants to run ${script}. Nobody has looked at this skill and trusted it.`;
	if (state === 'changed') return `“${skill}” wants to run ${script}. Its files have changed since it was trusted.`;
	if (missing.length === 0) return `“${skill}” wants to run ${script}.`;
	const verb = missing.length === 1 ? 'is' : 'are';
	return `“${skill}” wants to run ${script}, and needs ${missing.join(', ')}, which ${verb} not set.`;
}

/** The ids of the questions that an answer waits with. */
export function waitingIds(answer: Message): string[] {
	return answer.parts.flatMap((part) => {
		return part.type === 'tool' && part.status === 'waiting' && part.approval ? [part.approval.interruptId] : [];
	});
}
