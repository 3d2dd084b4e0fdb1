/** Runs one script or tool because somebody asked for it, without a model (FEATURES E10, E11, F6). */
import { AppError, type ErrorCode } from '../../shared/errors.ts';
import type { AdHocExecution, SkillExecution } from '../../shared/api.ts';
import type { SkillOperation } from '../skills/operations.ts';
import type { SkillsProvider } from '../skills/provider.ts';
import type { SkillErrorType, SkillExecutionResult } from '../skills/types.ts';
import type { Store } from '../store/store.ts';
import type { ApprovalPolicy } from './approval-policy.ts';
import type { SkillModes } from './skill-modes.ts';

export interface AdHocParts {
	skills: SkillsProvider;
	store: Pick<Store, 'skillExecutions'>;
	modes: Pick<SkillModes, 'modeOf'>;
	approvals: Pick<ApprovalPolicy, 'mayRunUnasked'>;
	/** The folder of an API key, or of a session. */
	workspaceOf(apiKeyId: string | undefined, sessionId: string | undefined): string;
}

export interface AdHocResult {
	execution: SkillExecution;
	result: SkillExecutionResult;
}

/** What a failure before anything ran is to the caller; a script that fails is an answer. */
const CODES: Partial<Record<SkillErrorType, ErrorCode>> = {
	SkillsDisabled: 'unavailable',
	SkillDisabled: 'conflict',
	NotTrusted: 'forbidden',
	SkillNotFound: 'not_found',
	ScriptNotFound: 'not_found',
	HandlerNotFound: 'not_found',
	UnknownTool: 'not_found',
	InvalidArgs: 'invalid_input',
	ScriptNotAllowed: 'invalid_input',
	UnsupportedScriptType: 'invalid_input',
	MissingDependency: 'conflict'
};

/** Asking is consent, but not to what nobody has looked at. @throws AppError when nothing was run */
export async function runAdHoc(
	{ skills, store, modes, approvals, workspaceOf }: AdHocParts,
	{ skillName, script, args, tool, input, apiKeyId, sessionId }: AdHocExecution,
	signal: AbortSignal
): Promise<AdHocResult> {
	const snapshot = skills.registry.snapshot();
	const session = skills.createSession({ snapshot, dialect: 'full', modeOf: modes.modeOf });
	const operation: SkillOperation =
		tool === undefined
			? { kind: 'run', skill: skillName, script: script ?? '', args, argStyle: undefined }
			: { kind: 'tool', skill: skillName, tool, args: input ?? {} };
	const plan = session.planOperation(operation);
	if (plan && !(await approvals.mayRunUnasked(plan.skill))) {
		throw new AppError('forbidden', `Nobody has trusted the files of “${plan.skill.name}” yet.`, {
			hint: 'Look at what it contains on its page, and trust it there.'
		});
	}
	let executionId: string | null = null;
	const { result } = await session.perform(operation, {
		cwd: workspaceOf(apiKeyId, sessionId),
		signal,
		caller: { ...(apiKeyId ? { apiKeyId } : {}), ...(sessionId ? { sessionId } : {}) },
		onEvent: (event) => {
			if (event.type === 'started') executionId = event.executionId;
		}
	});
	if (typeof result === 'string') throw new AppError('invalid_input', 'This call runs nothing.');
	if (executionId === null) {
		throw new AppError(
			CODES[result.error ?? 'ExecutionFailed'] ?? 'conflict',
			result.message ?? 'It could not be run.',
			{
				...(result.hint ? { hint: result.hint } : {}),
				details: { error: result.error }
			}
		);
	}
	const execution = await store.skillExecutions.get(executionId);
	if (!execution) throw new AppError('unavailable', 'It ran, but its record could not be written.');
	return { execution, result };
}
