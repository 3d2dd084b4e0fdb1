/** Where, for whom and until when something is executed. */
import type { ExecutionCaller } from './execution-host.ts';
import type { SkillEvent } from '../types.ts';

export interface ExecutionContext {
	/** Absolute working directory; made when it is not there. */
	cwd: string;
	signal?: AbortSignal;
	onEvent?: (event: SkillEvent) => void;
	/** Instead of the skill's or the host's limit, up to 300,000 (D10). */
	timeoutMs?: number;
	/** Digest of the skill's files that may run, and no others; without it those that are there. */
	allowed?: string;
	/** Who asked, for the record. */
	caller?: ExecutionCaller;
}
