/** An execution in words and as the step that a terminal shows. Pure. */
import type { SkillExecution } from '../shared/try-out.ts';
import type { Execution, ToolStatus } from '../shared/message.ts';
import { formatBytes } from './format.ts';

export const EXECUTION_WORDS: Record<SkillExecution['status'], string> = {
	pending: 'Waiting',
	running: 'Running',
	success: 'Success',
	error: 'Error',
	timeout: 'Timed out'
};

export function isUnderWay({ status }: SkillExecution): boolean {
	return status === 'running' || status === 'pending';
}

export function hasFailed({ status }: SkillExecution): boolean {
	return status === 'error' || status === 'timeout';
}

/** The script or tool. */
export function nameOf({ tool, script }: SkillExecution): string {
	return tool ?? script ?? '';
}

/** Names and values of what is known of it, without those that say nothing. */
export function factsOf(execution: SkillExecution): [name: string, value: string][] {
	const { limits, files, refused, exitCode, stdoutBytes, stderrBytes } = execution;
	const facts: [string, string][] = [
		['Skill', `${execution.skillId} ${execution.version}`],
		['Files', execution.digest],
		['Sandbox', execution.sandbox],
		['Exit code', exitCode === null ? '–' : String(exitCode)],
		['Output', `${formatBytes(stdoutBytes ?? 0)} stdout, ${formatBytes(stderrBytes ?? 0)} stderr`],
		[
			'Limits',
			Object.entries(limits)
				.map(([name, value]) => `${name} ${value}`)
				.join(', ')
		],
		['Asked by', callerOf(execution)],
		['Files made', files.map(({ path, bytes }) => `${path} (${formatBytes(bytes)})`).join(', ')],
		['Refused', refused.join(', ')]
	];
	return facts.filter(([, value]) => value !== '');
}

function callerOf({ conversationId, apiKeyId, sessionId }: SkillExecution): string {
	const callers = [apiKeyId && `key ${apiKeyId}`, sessionId && `session ${sessionId}`];
	return callers.filter(Boolean).join(', ') || (conversationId ? '' : 'the API');
}

/** As the timeline of a conversation has it; both streams are one here. */
export function asStep(execution: SkillExecution): { execution: Execution; status: ToolStatus } {
	const { output, input, argv, skill, tool, sandbox, files, refused, exitCode, durationMs } = execution;
	const isOver = !isUnderWay(execution);
	return {
		status: isOver ? (hasFailed(execution) ? 'failed' : 'done') : 'running',
		execution: {
			...{ skill, script: nameOf(execution), args: input === null ? argv : [input], sandbox, files, refused },
			...(tool === null ? {} : { tool }),
			output: output === null || output === '' ? [] : [{ stream: 'stdout', text: output }],
			...(isOver ? { exitCode } : {}),
			...(durationMs === null ? {} : { durationMs }),
			...(execution.errorType === null ? {} : { error: execution.errorType }),
			...(execution.errorMessage === null ? {} : { message: execution.errorMessage }),
			executionId: execution.id
		}
	};
}
