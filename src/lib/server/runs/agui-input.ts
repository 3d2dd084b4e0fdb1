/** AG-UI's `RunAgentInput` → what the runner starts. The history is the server's: only the newest message is taken. */
import type { z } from 'zod';
import { conversationId, forwardedProps, userMessage, approvalDecision, type RunAgentInput } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import type { ApprovalDecision } from '../../shared/events.ts';
import type { FunctionTool } from '../agent/model.ts';
import type { ModelChoice } from '../store/run-start.ts';
import type { NewMessage, RunRequest, SkillPolicy } from './run-request.ts';
import { safeSegments } from '../safe-path.ts';

/** Answers to the questions that ended a run, by their ids. */
export type Answers = ReadonlyMap<string, ApprovalDecision>;

/** @throws AppError invalid_input when the last message is not a user's, or says nothing */
export function toRunRequest(input: RunAgentInput): RunRequest {
	const props = forwardedProps.safeParse(input.forwardedProps ?? {});
	if (!props.success) throw new AppError('invalid_input', `forwardedProps: ${props.error.issues[0]?.message ?? ''}`);
	const { retry, continue: messageId, after, skills, model, effort, pins } = props.data;
	const common = {
		runId: input.runId,
		conversationId: input.threadId,
		tools: input.tools.map(toTool),
		...(skills ? { policy: toPolicy(skills) } : {}),
		...(model === undefined && effort === undefined ? {} : { choice: toChoice({ model, effort }) }),
		...(pins ? { pins } : {})
	};
	if (retry !== undefined) return { ...common, kind: 'retry', questionId: retry };
	if (messageId !== undefined) return { ...common, kind: 'continue', messageId };
	return { ...common, kind: 'ask', message: newMessage(input), ...(after === undefined ? {} : { after }) };
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

/** A new message of which the files can be in a workspace. @throws AppError invalid_input */
export function checkedMessage({ id, text, files }: NewMessage): NewMessage {
	const readable = text.replaceAll('\0', '');
	if (readable.trim() === '') throw new AppError('invalid_input', 'messages: the message is empty; write something.');
	for (const file of files) safeSegments(file);
	return { id, text: readable, files };
}

/** An id that may name a folder. @throws AppError invalid_input */
export function checkConversationId(id: string): string {
	if (conversationId.safeParse(id).success) return id;
	throw new AppError('invalid_input', 'id: must be 1 to 128 letters, digits, hyphens or underscores');
}

function newMessage(input: RunAgentInput): NewMessage {
	if (input.messages.length === 0) throw new AppError('invalid_input', 'messages: must hold a message');
	const parsed = userMessage.safeParse(input.messages.at(-1));
	if (!parsed.success) {
		const issue = parsed.error.issues[0];
		const field = ['messages', input.messages.length - 1, ...(issue?.path ?? [])].join('.');
		throw new AppError('invalid_input', `${field}: the last message must be a user's: ${issue?.message ?? ''}`);
	}
	const { id, content, metadata } = parsed.data;
	const text = typeof content === 'string' ? content : content.map(textOf).join('\n');
	return checkedMessage({ id, text, files: metadata?.files ?? [] });
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

function toTool({ name, description, parameters }: RunAgentInput['tools'][number]): FunctionTool {
	return { type: 'function', name, description, parameters: isObject(parameters) ? parameters : EMPTY_PARAMETERS };
}

function textOf(part: { type: string; text?: unknown }): string {
	return part.type === 'text' && typeof part.text === 'string' ? part.text : '';
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
