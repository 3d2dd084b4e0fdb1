/** What a run is asked to do. */
import { hash } from 'node:crypto';
import type { FunctionTool } from '../agent/model.ts';
import type { CallResult } from '../store/chat/handed-calls.ts';
import type { ModelChoice } from '../store/chat/run-start.ts';

export type RunRequest = {
	/** The same id twice is the same run. */
	runId: string;
	conversationId: string;
	/** Of the program that asks: the conversation is its own, and it sees its own skills. Whoever manages the server has none. */
	apiKeyId?: string;
	/** Tools of the caller: offered to the model, handed back when it calls them. */
	tools: FunctionTool[];
	/** What the caller says besides the messages; it stands at the end of the system prompt. */
	instructions?: string;
	/** What of the skills it may use; all of it without it. */
	policy?: SkillPolicy;
	/** What is to answer, now and from now on in the conversation; what the conversation has chosen without it. */
	choice?: ModelChoice;
	/** Names of skills to pin in the conversation before it is answered (FEATURES F7). */
	pins?: readonly string[];
} & RunTask;

/** What one request may use of the skills, whatever their modes (FEATURES B14, D42). */
export interface SkillPolicy {
	/** Only these skills of folders, by name; none for an empty list. */
	allowed?: readonly string[];
	/** Only these of the server's own. */
	builtins?: readonly string[];
}

/** A user's message, before it is stored. */
export interface NewMessage {
	id: string;
	text: string;
	/** Workspace paths. */
	files: string[];
}

export type RunTask =
	/** Answers a new message, which follows `after`, or the end of what is shown. */
	| { kind: 'ask'; message: NewMessage; after?: string | null; results?: readonly CallResult[] }
	/** Gives another answer to a message. */
	| { kind: 'retry'; questionId: string }
	/** Goes on with an answer that ended early. */
	| { kind: 'continue'; messageId: string }
	/** Goes on with an answer whose calls had to be allowed, once all of them are decided. */
	| { kind: 'resume'; messageId: string; results?: readonly CallResult[] }
	/** Goes on with the answer at the end of what is shown, whose calls of the caller's own tools have results now. */
	| { kind: 'results'; results: readonly CallResult[] };

/** The same for two requests that ask for the same; what they say besides it, tools say, may differ. */
export function digestOfTask(task: RunTask): string {
	return hash('sha256', JSON.stringify(whatIsAsked(task)));
}

function whatIsAsked(task: RunTask): unknown[] {
	switch (task.kind) {
		case 'ask':
			// A first message follows null; one that follows the end of what is shown says nothing of it.
			return [
				'ask',
				task.message.id,
				task.message.text,
				task.message.files,
				task.after === undefined ? '' : [task.after]
			];
		case 'retry':
			return ['retry', task.questionId];
		case 'continue':
		case 'resume':
			return [task.kind, task.messageId];
		case 'results':
			return ['results', task.results.map(({ toolCallId, output, isError }) => [toolCallId, output, isError])];
		default:
			return task satisfies never;
	}
}
