/** What must be asked about is asked through the client, or refused with where to allow it (FEATURES C16, F3). */
import { toSkillId } from '../../../shared/names.ts';
import type { ApprovalRequest } from '../../../shared/events.ts';
import { hintFor, mayAnswer, runsUnasked, typeOf } from '../../turns/toolbox.ts';
import { requireConsent, type Consent } from './consent.ts';
import { clientOf, type McpContext, type McpPeer } from './parts.ts';

export interface Refusal {
	/** Its type (D13). */
	error: string;
	message: string;
	hint: string;
}

/** Who would have to be asked. */
export interface Asking {
	peer: McpPeer;
	consent: Consent;
}

/** null where it needs no asking, or was allowed. @throws ConsentNeeded; SkillError `ApprovalDenied` */
export function refusalOf(
	question: ApprovalRequest | null,
	{ questions }: Pick<McpContext, 'questions'>,
	{ peer, consent }: Asking
): Refusal | null {
	if (question === null) return null;
	const { caller, sessionId } = peer;
	const { skill, script, args, digest, reason, trust } = question;
	// What the client says that its user has answered is said with the key.
	if (consent.canAsk && mayAnswer(caller)) {
		const subject = [clientOf(caller, sessionId), skill, script, args, digest];
		const page = `/skills/${encodeURIComponent(toSkillId(skill))}`;
		const where = trust ? ` What it contains is shown on its page, ${page}, where it can be trusted for good.` : '';
		requireConsent(consent, questions, { reason: reason + where, args, subject });
		return null;
	}
	return runsUnasked(caller, question)
		? null
		: { error: typeOf(question), message: reason, hint: hintFor(question, caller) };
}
