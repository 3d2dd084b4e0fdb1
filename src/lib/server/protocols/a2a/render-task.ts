/** A run in the words of A2A: its state, its question to the client, and what was said; pure. */
import {
	TaskState,
	type Artifact,
	type Message as A2AMessage,
	type Part,
	type Task,
	type TaskStatus
} from '@a2a-js/sdk';
import { isBuiltinCall } from '../../../shared/builtins.ts';
import type { Approval, Message, MessageStatus } from '../../../shared/message.ts';
import { dataPart, messageOf, textPart } from './parts.ts';
import type { TaskSource } from './task-source.ts';

const STATES: Record<MessageStatus, TaskState> = {
	running: TaskState.TASK_STATE_WORKING,
	waiting: TaskState.TASK_STATE_INPUT_REQUIRED,
	complete: TaskState.TASK_STATE_COMPLETED,
	cancelled: TaskState.TASK_STATE_CANCELED,
	interrupted: TaskState.TASK_STATE_FAILED,
	failed: TaskState.TASK_STATE_FAILED
};

/** What may be answered to a question. */
const CHOICES = ['once', 'script', 'skill', 'deny'] as const;
const ADVICE =
	'Answer with a message to this task: “allow” or “deny”, or a data part {"choice": "once" | "deny", "interruptId"?, "reason"?}.';
const ADVICE_WITHOUT_SCOPE =
	'Whoever manages the server can allow it in the app: this API key lacks the scope “approve”. Answer “deny” to go on without it.';

export function statusOf(source: TaskSource): TaskStatus {
	const { answer, run } = source;
	return {
		state: STATES[answer.status],
		message: statusMessage(source),
		timestamp: (answer.status === 'running' ? null : run.finishedAt) ?? run.startedAt
	};
}

/** `historyLength`: the newest messages alone; all of them without it. */
export function toTask(source: TaskSource, artifacts: Artifact[], historyLength?: number): Task {
	const history = historyOf(source);
	return {
		id: source.taskId,
		contextId: source.contextId,
		status: statusOf(source),
		artifacts,
		history: historyLength === undefined ? history : history.slice(Math.max(0, history.length - historyLength)),
		metadata: undefined
	};
}

/** An agent's note on what goes on, which is in no history. */
export function noteOf(source: TaskSource, id: string, text: string): A2AMessage {
	return messageOf(source, { id, role: 'agent', parts: [textPart(text)] });
}

function statusMessage(source: TaskSource): A2AMessage | undefined {
	const { answer } = source;
	if (answer.status === 'waiting') {
		const open = approvalsOf(answer).filter(({ isOpen }) => isOpen);
		return messageOf(source, {
			id: `${open[0]?.approval.interruptId ?? answer.id}-question`,
			role: 'agent',
			parts: questionParts(
				open.map(({ approval }) => approval),
				source
			)
		});
	}
	const end = answer.error?.message;
	return end === undefined ? undefined : noteOf(source, `${answer.id}-end`, end);
}

function questionParts(open: readonly Approval[], { mayAnswer }: TaskSource): Part[] {
	const interrupts = open.map(({ interruptId, skill, script, args, reason, trust, missing }) => ({
		...{ interruptId, skill, script, args, reason },
		...(missing ? { missing } : {}),
		choices: !mayAnswer ? ['deny'] : trust || isBuiltinCall({ skill, script }) ? ['once', 'deny'] : CHOICES
	}));
	const reasons = open.map(({ reason }) => reason).join('\n');
	return [textPart(`${reasons}\n\n${mayAnswer ? ADVICE : ADVICE_WITHOUT_SCOPE}`), dataPart({ interrupts })];
}

/** The client's message, then each question that was decided and its answer. */
function historyOf(source: TaskSource): A2AMessage[] {
	const { question, answer } = source;
	const said = question ? [messageOf(source, { id: question.id, role: 'user', parts: askedParts(question) })] : [];
	const decided = approvalsOf(answer).flatMap(({ approval }) => {
		const { decision, interruptId } = approval;
		if (!decision) return [];
		return [
			messageOf(source, { id: `${interruptId}-question`, role: 'agent', parts: questionParts([approval], source) }),
			messageOf(source, { id: `${interruptId}-answer`, role: 'user', parts: [dataPart({ interruptId, ...decision })] })
		];
	});
	return [...said, ...decided];
}

function askedParts({ parts, files }: Message): Part[] {
	const texts = parts.flatMap((part) => (part.type === 'text' ? [textPart(part.text)] : []));
	return files.length === 0 ? texts : [...texts, dataPart({ files })];
}

function approvalsOf(answer: Message): { approval: Approval; isOpen: boolean }[] {
	return answer.parts.flatMap((part) => {
		if (part.type !== 'tool' || !part.approval) return [];
		return [{ approval: part.approval, isOpen: part.status === 'waiting' && !part.approval.decision }];
	});
}
