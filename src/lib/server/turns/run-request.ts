/** The request for a run. */
import { hash } from 'node:crypto';
import type { FunctionTool } from '../agent/model.ts';
import type { ChatChoices } from '../../shared/api.ts';
import type { Beside, CallResult } from '../store/chat/store-runs.ts';

export type RunRequest = {
	/** Idempotency key. */
	runId: string;
	conversationId: string;
	/** The calling program's key, which owns the conversation and sees its own skills. None for the server's owner. */
	apiKeyId?: string;
	/** From another agent: without tools that only a person at the page may allow. */
	isProgram?: boolean;
	/** The person reads along in another program, which shows no questions of tools. */
	isElsewhere?: boolean;
	/** The caller's own tools, whose calls are handed back. */
	tools: FunctionTool[];
	/** The caller's instructions, at the end of the system prompt. */
	instructions?: string;
	/** Default: all skills. */
	policy?: SkillPolicy;
	/** For this and later runs of the conversation; default: the conversation's choices. */
	choice?: ChatChoices;
	/** Side by side with other answers: `model` writes this one only. */
	compare?: { model: string; beside: Beside };
	/** Names of skills to pin in the conversation first (F7). */
	pins?: readonly string[];
} & RunTask;

/** Which skills a request may use, whatever their modes (B14, D42). */
export interface SkillPolicy {
	/** Names of skills from folders; empty: none. */
	allowed?: readonly string[];
	/** Names of built-in skills. */
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
	/** Answers a new message, which follows `after` or the end of the shown branch. */
	| { kind: 'ask'; message: NewMessage; after?: string | null; results?: readonly CallResult[] }
	/** Writes another answer to a message. */
	| { kind: 'retry'; questionId: string }
	/** Continues an answer that ended early. */
	| { kind: 'continue'; messageId: string }
	/** Continues an answer that waited for approval, once all of its calls are decided. */
	| { kind: 'resume'; messageId: string; results?: readonly CallResult[] }
	/** Continues the last shown answer with results of the caller's own tools. */
	| { kind: 'results'; results: readonly CallResult[] };

/** Identifies the task of a request; ignores its tools and options. */
export function digestOfTask(task: RunTask): string {
	return hash('sha256', JSON.stringify(keyOf(task)));
}

function keyOf(task: RunTask): unknown[] {
	switch (task.kind) {
		case 'ask': {
			const { id, text, files } = task.message;
			// null (a first message) differs from undefined (the end of the shown branch).
			return ['ask', id, text, files, task.after === undefined ? '' : [task.after]];
		}
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
