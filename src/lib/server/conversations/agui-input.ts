/** AG-UI's `RunAgentInput` → what the runner starts. The history is the server's: of the messages only what is new is taken. */
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
		...setup,
		kind: 'ask',
		message,
		after,
		results: before.length === 0 ? undefined : before
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
		instructions: instructions || undefined,
		policy: skills ? toPolicy(skills) : undefined,
		...(model === undefined && effort === undefined ? {} : { choice: { model, effort } }),
		...(pins ? { pins } : {})
	};
}

/** What this server takes from `forwardedProps`; what is no object says nothing to it. @throws AppError invalid_input */
export function toProps(input: RunAgentInput): z.infer<typeof forwardedProps> {
	const props = forwardedProps.safeParse(isObject(input.forwardedProps) ? input.forwardedProps : {}, {
		error: inPlainWords
	});
	if (props.success) return props.data;
	throw new AppError('invalid_input', sentenceOf(props.error.issues[0], '', ['forwardedProps']).sentence);
}

/** What AG-UI's `resume` says; null when the input answers no question. @throws AppError invalid_input */
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

// What the messages of AG-UI's `RunAgentInput` bring that the server does not have yet: it keeps the history itself (FEATURES F13).

type AguiMessage = RunAgentInput['messages'][number];

/** Characters of what a program says besides the messages: more would be most of what a model takes. */
const MAX_INSTRUCTIONS = 50_000;
/** Characters of one result; a message may be as long. */
const MAX_RESULT = 1_000_000;

/** A new message of which the files can be in a workspace. @throws AppError invalid_input */
export function checkedMessage({ id, text, files }: NewMessage): NewMessage {
	const readable = text.replaceAll('\0', '');
	if (readable.trim() === '') throw new AppError('invalid_input', 'The message is empty. Write something.');
	for (const file of files) safeSegments(file);
	return { id, text: readable, files };
}

/** The last message. @throws AppError invalid_input when it is not a user's, or says nothing */
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

/** The results that the list ends with; none when it ends with something else. @throws AppError invalid_input | too_large */
export function trailingResults({ messages }: RunAgentInput): CallResult[] {
	const first = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
	return messages.slice(first).map((message, index) => toResult(message, first + index));
}

/** The results between the newest question and the one before it. @throws AppError invalid_input | too_large */
function resultsBeforeQuestion({ messages }: RunAgentInput): CallResult[] {
	const before = messages.slice(0, -1);
	const first = before.findLastIndex(({ role }) => role === 'user') + 1;
	return before.flatMap((message, index) => {
		return index >= first && message.role === 'tool' ? [toResult(message, index)] : [];
	});
}

/** The application's own words for the model: its system and developer messages and its context; empty without any. @throws AppError too_large */
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
	// What an application says of a failure may be all that it says.
	const output = error === undefined ? text : [`Error: ${error.replaceAll('\0', '')}`, text].filter(Boolean).join('\n');
	if (output.length > MAX_RESULT) {
		throw new AppError('too_large', `messages.${index}.content is longer than ${MAX_RESULT} characters.`, {
			hint: 'Send only the part that matters.'
		});
	}
	return { toolCallId, output, isError: error !== undefined };
}

/** An id of any form, as one that may stand in an address: the same one for the same message. */
function toMessageId(id: string): string {
	if (conversationId.safeParse(id).success) return id;
	return `agui-${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}

/** The text of AG-UI content; parts of other kinds are left out, as AG-UI says of a peer that cannot use them. */
function contentText(content: string | readonly { type: string; text?: unknown }[]): string {
	if (typeof content === 'string') return content;
	return content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : [])).join('\n');
}
