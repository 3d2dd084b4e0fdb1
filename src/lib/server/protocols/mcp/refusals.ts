/** What must be asked about is asked through the client, or refused with where to allow it (FEATURES C16, F3). */
import type { PlannedRun } from '../../skills/session.ts';
import { requireConsent, type Consent } from './consent.ts';
import { clientOf } from './lanes.ts';
import type { McpContext, McpPeer } from './parts.ts';

export interface Refusal {
	message: string;
	hint: string;
}

/** Who would have to be asked. */
export interface Asking {
	peer: McpPeer;
	consent: Consent;
}

const ASKED_BEFORE = 'or start the server with SKILLS_APPROVAL=auto.';

/** null where the run needs no asking, or was allowed. @throws ConsentNeeded; SkillError `ApprovalDenied` */
export async function refusalOf(
	run: PlannedRun,
	{ approvals, questions }: Pick<McpContext, 'approvals' | 'questions'>,
	{ peer, consent }: Asking
): Promise<Refusal | null> {
	const question = await approvals.request(run, null);
	if (question === null) return null;
	const { reason, digest, trust, missing } = question;
	const { skill, script, args } = run;
	const page = `/skills/${encodeURIComponent(skill.name)}`;
	if (consent.canAsk) {
		const subject = [clientOf(peer.caller, peer.sessionId), skill.name, script, args, digest];
		const where = trust ? ` What it contains is shown on its page, ${page}, where it can be trusted for good.` : '';
		requireConsent(consent, questions, { reason: reason + where, args, subject });
		return null;
	}
	const hint = trust
		? `Somebody who manages this server must look at what the skill contains, and trust it there: on its page, ${page}.`
		: missing
			? `Whoever manages this server can set them on the skill’s page, ${page}.`
			: `This server asks before each script. Run it once in the chat and choose “always”, ${ASKED_BEFORE}`;
	return { message: reason, hint };
}

/** The skills of the server itself have no files that could be trusted. Throws as `refusalOf` does. */
export function refusalOfBuiltin(
	name: string,
	input: unknown,
	{ approvalMode, questions }: Pick<McpContext, 'approvalMode' | 'questions'>,
	{ peer, consent }: Asking
): Refusal | null {
	if (approvalMode === 'auto') return null;
	if (consent.canAsk) {
		const subject = [clientOf(peer.caller, peer.sessionId), name, input];
		requireConsent(consent, questions, {
			reason: `“${name}”, a skill of this server, is to be run.`,
			args: input === undefined ? [] : [JSON.stringify(input)],
			subject
		});
		return null;
	}
	return { message: `“${name}” would have to be asked about.`, hint: `Use it in the chat, ${ASKED_BEFORE}` };
}
