/** Converts AG-UI's `RunAgentInput` for the runner. The server keeps the history, so only new messages count (F13). */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import {
	approvalDecision,
	conversationId,
	forwardedProps,
	type RunAgentInput,
	toolMessage,
	userMessage
} from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import type { ApprovalDecision } from '../../shared/events.ts';
import type { FunctionTool } from '../agent/model.ts';
import { safeSegments } from '../safe-path.ts';
import type { CallResult } from '../store/chat/store-runs.ts';
import type { NewMessage, RunRequest, SkillPolicy } from '../turns/run-request.ts';
import { isObject } from '../../shared/json.ts';
import { inPlainWords, sentenceOf } from '../../shared/plain-issues.ts';

/** Answers to the questions that ended a run, by interrupt id. */
export type Answers = ReadonlyMap<string, ApprovalDecision>;

/** Options common to all kinds of runs. */
export type RunSetup = Pick<
	RunRequest,
	'runId' | 'conversationId' | 'tools' | 'policy' | 'choice' | 'pins' | 'instructions' | 'isProgram' | 'isElsewhere'
>;

/**
 * One request, or one for each model that is compared.
 * @throws AppError invalid_input if the messages end with neither a question nor a result, or an empty one
 */
export function toRunRequests(input: RunAgentInput): RunRequest[] {
	const { compare, retry, beside, instead } = toProps(input);
	const request = toRunRequest(input);
	if (!compare) return [request];
	const questionId = request.kind === 'ask' ? request.message.id : retry;
	if (questionId === undefined) throw new AppError('invalid_input', 'forwardedProps.compare: needs a question.');
	const { tools, instructions, policy, conversationId } = request;
	const named = retry === undefined ? undefined : (instead ?? beside);
	return compare.map((model, index) => {
		if (index === 0) {
			const answer = named === undefined ? 'new' : { answer: named, isReplaced: instead !== undefined };
			return { ...request, compare: { model, beside: answer } };
		}
		const runId = `${input.runId.slice(0, 120)}-${index + 1}`;
		const options = { runId, conversationId, tools, instructions, policy };
		return { ...options, kind: 'retry', questionId, compare: { model, beside: 'open' } };
	});
}

function toRunRequest(input: RunAgentInput): RunRequest {
	const { retry, continue: messageId, after } = toProps(input);
	const setup = toRunSetup(input);
	if (retry !== undefined) return { ...setup, kind: 'retry', questionId: retry };
	if (messageId !== undefined) return { ...setup, kind: 'continue', messageId };
	const results = trailingResults(input);
	if (results.length > 0) return { ...setup, kind: 'results', results };
	const message = newestQuestion(input);
	const before = resultsBeforeQuestion(input);
	return {
		...setup,
		kind: 'ask',
		message,
		after,
		results: before.length === 0 ? undefined : before
	};
}

/** Options every run takes from the input. @throws AppError invalid_input | too_large */
export function toRunSetup(input: RunAgentInput): RunSetup {
	const { skills, model, effort, instructions: own, routing, web, approval, preset, pins } = toProps(input);
	const choice = { model, effort, instructions: own, routing, web, approval, preset };
	const instructions = spokenInstructions(input);
	return {
		runId: input.runId,
		conversationId: input.threadId,
		tools: toTools(input.tools),
		instructions: instructions || undefined,
		policy: skills ? toPolicy(skills) : undefined,
		...(Object.values(choice).every((value) => value === undefined) ? {} : { choice }),
		...(pins ? { pins } : {})
	};
}

/** This server's fields of `forwardedProps`; ignores anything but an object. @throws AppError invalid_input */
export function toProps(input: RunAgentInput): z.infer<typeof forwardedProps> {
	const props = forwardedProps.safeParse(isObject(input.forwardedProps) ? input.forwardedProps : {}, {
		error: inPlainWords
	});
	if (props.success) return props.data;
	throw new AppError('invalid_input', sentenceOf(props.error.issues[0], '', ['forwardedProps']).sentence);
}

/** Answers in AG-UI's `resume`; null if there are none. @throws AppError invalid_input */
export function toAnswers({ resume }: RunAgentInput): Answers | null {
	if (!resume || resume.length === 0) return null;
	return new Map(
		resume.map(({ interruptId, status, payload }, index) => {
			if (status === 'cancelled') return [interruptId, { choice: 'deny' }];
			const parsed = approvalDecision.safeParse(payload, { error: inPlainWords });
			if (parsed.success) return [interruptId, withoutUndefined(parsed.data)];
			const { sentence } = sentenceOf(parsed.error.issues[0], '', ['resume', index, 'payload']);
			throw new AppError('invalid_input', sentence, { hint: 'See the question’s responseSchema.' });
		})
	);
}

export function withoutUndefined({
	choice,
	reason
}: {
	choice: ApprovalDecision['choice'];
	reason?: string | undefined;
}): ApprovalDecision {
	return reason === undefined ? { choice } : { choice, reason };
}

/** Checks an id that becomes a folder name. @throws AppError invalid_input */
export function checkConversationId(id: string): string {
	const { success, error } = conversationId.safeParse(id);
	if (success) return id;
	throw new AppError('invalid_input', `id: ${error.issues[0]?.message}`);
}

function toPolicy({
	allowed,
	customSkillExecutionEnabled,
	builtinToolNames
}: NonNullable<z.infer<typeof forwardedProps>['skills']>): SkillPolicy {
	const skills = customSkillExecutionEnabled === false ? [] : allowed;
	return { allowed: skills, builtins: builtinToolNames };
}

const EMPTY_PARAMETERS = { type: 'object', properties: {} };

/** Of two tools with the same name the first counts, since model servers refuse both. */
function toTools(tools: RunAgentInput['tools']): FunctionTool[] {
	const names = new Map<string, FunctionTool>();
	for (const { name, description, parameters } of tools) {
		if (names.has(name)) continue;
		const schema = isObject(parameters) ? parameters : EMPTY_PARAMETERS;
		names.set(name, { type: 'function', name, description, parameters: schema });
	}
	return [...names.values()];
}

type AguiMessage = RunAgentInput['messages'][number];

/** Limit in characters; more would fill most of a model's context. */
const MAX_INSTRUCTIONS = 50_000;
/** Characters per result, same as per message. */
const MAX_RESULT = 1_000_000;

/** A new message with valid file paths. @throws AppError invalid_input */
export function checkedMessage({ id, text, files }: NewMessage): NewMessage {
	const readable = text.replaceAll('\0', '');
	if (readable.trim() === '') throw new AppError('invalid_input', 'The message is empty. Write something.');
	for (const file of files) safeSegments(file);
	return { id, text: readable, files };
}

/** The last message. @throws AppError invalid_input if it isn't a user's, or is empty */
function newestQuestion({ messages }: RunAgentInput): NewMessage {
	if (messages.length === 0) throw new AppError('invalid_input', 'messages must have at least one message.');
	const parsed = userMessage.safeParse(messages.at(-1), { error: inPlainWords });
	if (!parsed.success) {
		const { sentence } = sentenceOf(parsed.error.issues[0], '', ['messages', messages.length - 1]);
		throw new AppError('invalid_input', sentence, {
			hint: 'The last message must be from the user, or the result of a tool.'
		});
	}
	const { content, metadata } = parsed.data;
	const id = toMessageId(messages.at(-1)?.id ?? '');
	return checkedMessage({ id, text: contentText(content), files: metadata?.files ?? [] });
}

/** The tool results at the end of the messages. @throws AppError invalid_input | too_large */
export function trailingResults({ messages }: RunAgentInput): CallResult[] {
	const first = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
	return messages.slice(first).map((message, index) => toResult(message, first + index));
}

/** The tool results between the newest question and the one before. @throws AppError invalid_input | too_large */
function resultsBeforeQuestion({ messages }: RunAgentInput): CallResult[] {
	const before = messages.slice(0, -1);
	const first = before.findLastIndex(({ role }) => role === 'user') + 1;
	return before.flatMap((message, index) => {
		return index >= first && message.role === 'tool' ? [toResult(message, index)] : [];
	});
}

/** The application's system and developer messages and its context; empty if none. @throws AppError too_large */
function spokenInstructions({ messages, context }: RunAgentInput): string {
	const spoken = messages.flatMap(({ role, content }) => {
		const isTheirs = role === 'system' || role === 'developer';
		return isTheirs && typeof content === 'string' && content.trim() !== '' ? [content.trim()] : [];
	});
	const facts = context.map(({ description, value }) => `- ${description}: ${value}`);
	const sections = [
		...(spoken.length > 0 ? [`## Instructions of the application\n\n${spoken.join('\n\n')}`] : []),
		...(facts.length > 0 ? [`## Context from the application\n\n${facts.join('\n')}`] : [])
	];
	const text = sections.join('\n\n').replaceAll('\0', '');
	if (text.length <= MAX_INSTRUCTIONS) return text;
	throw new AppError(
		'too_large',
		`The instructions and context are longer than ${MAX_INSTRUCTIONS} characters in total.`,
		{ hint: 'Shorten them, or send parts of them as messages.' }
	);
}

function toResult(message: AguiMessage, index: number): CallResult {
	const parsed = toolMessage.safeParse(message, { error: inPlainWords });
	if (!parsed.success) {
		const { field, sentence } = sentenceOf(parsed.error.issues[0], '', ['messages', index]);
		throw new AppError('invalid_input', sentence, { details: { field } });
	}
	const { toolCallId, content, error } = parsed.data;
	const text = contentText(content).replaceAll('\0', '');
	// A failure may consist of nothing but its error text.
	const output = error === undefined ? text : [`Error: ${error.replaceAll('\0', '')}`, text].filter(Boolean).join('\n');
	if (output.length > MAX_RESULT) {
		throw new AppError('too_large', `messages.${index}.content is longer than ${MAX_RESULT} characters.`, {
			hint: 'Send only the part that matters.'
		});
	}
	return { toolCallId, output, isError: error !== undefined };
}

/** Turns any id into one that fits in an address; the same id gives the same result. */
function toMessageId(id: string): string {
	if (conversationId.safeParse(id).success) return id;
	return `agui-${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}

/** The text of AG-UI content. Ignores other kinds of parts, as AG-UI allows. */
function contentText(content: string | readonly { type: string; text?: unknown }[]): string {
	if (typeof content === 'string') return content;
	return content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : [])).join('\n');
}
