/** Types shared by the MCP server's files (FEATURES E15). */
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

/** A program with an API key, or the server's owner. */
export type McpCaller = Asker;

/** Who sent a request, and in which session. */
export interface McpPeer {
	caller: McpCaller;
	/** Names the executions and, for a caller without a key, the workspace. */
	sessionId: string;
}

/** The parts, plus state shared by all connections. */
export interface McpContext extends McpParts {
	/** Per client: runs one script of a skill at a time, and limits running and waiting calls. */
	turns: Turns;
	questions: Questions;
}

/** Sessions of one key share its workspace, but don't wait for each other. */
export function clientOf({ apiKeyId }: Pick<McpCaller, 'apiKeyId'>, sessionId: string): string {
	return `${apiKeyId ?? ''} ${sessionId}`;
}
