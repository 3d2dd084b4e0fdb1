/** What the list of executions is narrowed to, as the page keeps it. Pure. */
import type { SkillExecution } from '../../shared/try-out.ts';
import { queryOf } from '../request.ts';

/** What is empty is any. */
export interface ExecutionQuery {
	status: SkillExecution['status'] | '';
	/** `source/name`, or a name. */
	skill: string;
	apiKeyId: string;
	/** ISO 8601, from this time on and before that one. */
	since: string;
	until: string;
}

export const EVERY_EXECUTION: ExecutionQuery = { status: '', skill: '', apiKeyId: '', since: '', until: '' };

/** Address of all executions that fit, as a file. */
export function exportUrl(query: ExecutionQuery, format: 'csv' | 'json'): string {
	return `/api/skills/executions/export${queryOf({ format, ...query })}`;
}

/** What `datetime-local` gives is the time of whoever sits there; empty or half typed is none. */
export function timeOf(local: string): string {
	const time = new Date(local);
	return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}
