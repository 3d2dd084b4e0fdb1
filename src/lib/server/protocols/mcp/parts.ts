/** What the MCP server is made of, and who it serves (FEATURES E15). */
import type { Log } from '../../log.ts';
import type { AdHocParts } from '../../skill-admin/ad-hoc.ts';
import type { ApprovalPolicy } from '../../trust/approval-policy.ts';
import type { SkillLister } from '../../skill-admin/skill-list.ts';
import type { StoredSkillModes } from '../../trust/skill-modes.ts';
import type { SkillRevisions } from '../../skill-admin/skill-counts.ts';
import type { Asker } from '../../turns/toolbox.ts';
import type { SkillsProvider } from '../../skills/provider.ts';
import type { Store } from '../../store/store.ts';
import type { Questions } from './consent.ts';
import type { Turns } from '../../skills/turns.ts';

export interface McpParts {
	skills: Pick<SkillsProvider, 'registry' | 'createSession'>;
	modes: StoredSkillModes;
	approvals: ApprovalPolicy;
	adHoc: AdHocParts;
	lister: Pick<SkillLister, 'list'>;
	store: Pick<Store, 'skillExecutions'>;
	revisions: SkillRevisions;
	log: Log;
}

/** A program with a key, or whoever manages the server. */
export type McpCaller = Asker;

/** One connection, as the handlers of its requests see it. */
export interface McpPeer {
	caller: McpCaller;
	/** What executions and the workspace of a caller without a key are kept under. */
	sessionId: string;
}

/** The parts, and what all connections share. */
export interface McpContext extends McpParts {
	/** Of each client: one skill's scripts run one after the other, and not too many run or wait. */
	turns: Turns;
	questions: Questions;
}

/** Sessions of one key share its workspace, as its conversations do, and do not wait for each other. */
export function clientOf({ apiKeyId }: Pick<McpCaller, 'apiKeyId'>, sessionId: string): string {
	return `${apiKeyId ?? ''} ${sessionId}`;
}
