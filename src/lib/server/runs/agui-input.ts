/** AG-UI's `RunAgentInput` → what the runner starts. The history is the server's: of the messages only what is new is taken. */
import type { z } from 'zod';
import { conversationId, forwardedProps, approvalDecision, type RunAgentInput } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import type { ApprovalDecision } from '../../shared/events.ts';
import type { FunctionTool } from '../agent/model.ts';
import type { ModelChoice } from '../store/run-start.ts';
import { newestQuestion, resultsBeforeQuestion, spokenInstructions, trailingResults } from './agui-messages.ts';
import type { RunRequest, SkillPolicy } from './run-request.ts';

/** Answers to the questions that ended a run, by their ids. */
export type Answers = ReadonlyMap<string, ApprovalDecision>;

/** What a run has whatever it is to do. */
export type RunSetup = Pick<
	RunRequest,
	'runId' | 'conversationId' | 'tools' | 'policy' | 'choice' | 'pins' | 'instructions'
>;

/** @throws AppError invalid_input when there is neither a new question nor a result at the end of the messages, or it says nothing */
export function toRunRequest(input: RunAgentInput): RunRequest {
	const { retry, continue: messageId, after } = toProps(input);
	const setup = toRunSetup(input);
	if (retry !== undefined) return { ...setup, kind: 'retry', questionId: retry };
	if (messageId !== undefined) return { ...setup, kind: 'continue', messageId };
	const results = trailingResults(input);
	if (results.length > 0) return { ...setup, kind: 'results', results };
	const message = newestQuestion(input);
	const before = resultsBeforeQuestion(input);
	return {
		...{ ...setup, kind: 'ask', message },
		...(after === undefined ? {} : { after }),
		...(before.length === 0 ? {} : { results: before })
	};
}

/** What every run takes from the input. @throws AppError invalid_input | too_large */
export function toRunSetup(input: RunAgentInput): RunSetup {
	const { skills, model, effort, pins } = toProps(input);
	const instructions = spokenInstructions(input);
	return {
		runId: input.runId,
		conversationId: input.threadId,
		tools: toTools(input.tools),
		...(instructions === '' ? {} : { instructions }),
		...(skills ? { policy: toPolicy(skills) } : {}),
		...(model === undefined && effort === undefined ? {} : { choice: toChoice({ model, effort }) }),
		...(pins ? { pins } : {})
	};
}

/** What this server takes from `forwardedProps`; what is no object says nothing to it. @throws AppError invalid_input */
export function toProps(input: RunAgentInput): z.infer<typeof forwardedProps> {
	const props = forwardedProps.safeParse(isObject(input.forwardedProps) ? input.forwardedProps : {});
	if (props.success) return props.data;
	const issue = props.error.issues[0];
	const field = ['forwardedProps', ...(issue?.path ?? [])].join('.');
	throw new AppError('invalid_input', `${field}: ${issue?.message ?? ''}`);
}

/** What AG-UI's `resume` says; null when the input answers no question. @throws AppError invalid_input */
export function toAnswers({ resume }: RunAgentInput): Answers | null {
	if (!resume || resume.length === 0) return null;
	return new Map(
		resume.map(({ interruptId, status, payload }, index) => {
			if (status === 'cancelled') return [interruptId, { choice: 'deny' }];
			const parsed = approvalDecision.safeParse(payload);
			if (parsed.success) return [interruptId, withoutUndefined(parsed.data)];
			const message = parsed.error.issues[0]?.message ?? '';
			throw new AppError('invalid_input', `resume.${index}.payload: ${message}; see the question’s responseSchema`);
		})
	);
}

/** A decision as the runner takes it. */
export function withoutUndefined({
	choice,
	reason
}: {
	choice: ApprovalDecision['choice'];
	reason?: string | undefined;
}): ApprovalDecision {
	return reason === undefined ? { choice } : { choice, reason };
}

/** An id that may name a folder. @throws AppError invalid_input */
export function checkConversationId(id: string): string {
	if (conversationId.safeParse(id).success) return id;
	throw new AppError('invalid_input', 'id: must be 1 to 128 letters, digits, hyphens or underscores');
}

function toChoice({ model, effort }: Pick<z.infer<typeof forwardedProps>, 'model' | 'effort'>): ModelChoice {
	return { ...(model === undefined ? {} : { model }), ...(effort === undefined ? {} : { effort }) };
}

function toPolicy({
	allowed,
	customSkillExecutionEnabled,
	builtinToolNames
}: NonNullable<z.infer<typeof forwardedProps>['skills']>): SkillPolicy {
	const skills = customSkillExecutionEnabled === false ? [] : allowed;
	return { ...(skills ? { allowed: skills } : {}), ...(builtinToolNames ? { builtins: builtinToolNames } : {}) };
}

const EMPTY_PARAMETERS = { type: 'object', properties: {} };

/** Of two tools of one name the first counts: a model's server refuses both. */
function toTools(tools: RunAgentInput['tools']): FunctionTool[] {
	const names = new Map<string, FunctionTool>();
	for (const { name, description, parameters } of tools) {
		if (names.has(name)) continue;
		const schema = isObject(parameters) ? parameters : EMPTY_PARAMETERS;
		names.set(name, { type: 'function', name, description, parameters: schema });
	}
	return [...names.values()];
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
