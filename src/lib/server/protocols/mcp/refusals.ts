/** What would have to be asked is refused here, for nobody is there to answer, with where to allow it (FEATURES C16, F3). */
import type { PlannedRun } from '../../skills/session.ts';
import type { McpParts } from './parts.ts';

export interface Refusal {
	message: string;
	hint: string;
}

const ASKED_BEFORE = 'or start the server with SKILLS_APPROVAL=auto.';

/** null where the run needs no asking. */
export async function refusalOf(run: PlannedRun, { approvals }: Pick<McpParts, 'approvals'>): Promise<Refusal | null> {
	const question = await approvals.request(run, null);
	if (question === null) return null;
	const page = `/skills/${encodeURIComponent(run.skill.name)}`;
	const hint = question.trust
		? `Somebody who manages this server must look at what the skill contains, and trust it there: on its page, ${page}.`
		: question.missing
			? `Whoever manages this server can set them on the skill’s page, ${page}.`
			: `This server asks before each script. Run it once in the chat and choose “always”, ${ASKED_BEFORE}`;
	return { message: question.reason, hint };
}

/** The skills of the server itself have no files that could be trusted. */
export function refusalOfBuiltin(name: string, { approvalMode }: Pick<McpParts, 'approvalMode'>): Refusal | null {
	if (approvalMode === 'auto') return null;
	return { message: `“${name}” would have to be asked about.`, hint: `Use it in the chat, ${ASKED_BEFORE}` };
}
