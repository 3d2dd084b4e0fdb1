/** What becomes of a run whose server has stopped: it ends as interrupted, or another server goes on with it (F14). */
import { type RunEvent, usageSince } from '../../shared/events.ts';
import { emptyAnswer, foldEvent, type Message } from '../../shared/message.ts';
import { missingItems } from '../agent/history.ts';
import { failure } from '../agent/tool.ts';
import { resultEvent } from '../agent/calls.ts';
import type { LapsedRun, TakenRun } from '../store/chat/run-ownership.ts';
import type { RunRecord } from '../store/chat/runs.ts';
import type { Store } from '../store/store.ts';
import type { RunRequest } from '../turns/run-request.ts';

export const INTERRUPTED: RunEvent = {
	type: 'RUN_ERROR',
	code: 'interrupted',
	message: 'The server stopped while this reply was being written. What you see was saved.'
};

/** How often a run is taken over: one that ends its server again and again must not end all. */
const MOST_TAKEOVERS = 2;

const PAGE = { limit: 1000, maxBytes: 1024 * 1024 };

/** The answer with all stored events of its run; null if it's gone. `before` is the answer at the run's start. */
export async function foldStored(
	store: Store,
	{ id, conversationId, messageId, lastSeq }: RunRecord
): Promise<{ message: Message; before: Message } | null> {
	const before = await store.messages.get(conversationId, messageId);
	let message = before;
	for (let after = 0; message && after < lastSeq;) {
		const events = await store.runs.readEvents(id, { after, ...PAGE });
		for (const { data } of events) message = foldEvent(message, JSON.parse(data) as RunEvent);
		const last = events.at(-1);
		if (!last) break;
		after = last.seq;
	}
	return before && message && { message, before };
}

/** Ends a run left by a crash: folds its events into the stored message, and runs no tool again. */
export async function endOrphan(store: Store, run: RunRecord): Promise<void> {
	const { id, conversationId, epoch, lastSeq, startedAt } = run;
	const folded = await foldStored(store, run);
	const { message = null, before = null } = folded ?? {};
	const now = new Date().toISOString();
	await store.runs.finish(id, {
		state: 'interrupted',
		epoch,
		errorCode: 'interrupted',
		// The duration is unknown, and the clock may have been set back.
		finishedAt: now < startedAt ? startedAt : now,
		events: [{ seq: lastSeq + 1, data: JSON.stringify(INTERRUPTED) }],
		message: message ? { conversationId, message: foldEvent(message, INTERRUPTED) } : undefined,
		used: message?.usage ? usageSince(before?.usage ?? null, message.usage) : undefined
	});
}

/** A run that this server has taken over, ready to go on. */
export interface GoesOn {
	/** The answer so far. */
	answer: Message;
	/** Of the run's earlier part; the answer's usage before the run. */
	before: Message;
	/** Null if the answer was complete and only its end is missing. */
	request: RunRequest | null;
}

/**
 * What to write when a run is taken over, and how to go on. Calls without a result get one: nobody knows whether they
 * finished, and they are never run again.
 */
export async function takeOver(run: LapsedRun): Promise<{ taken: TakenRun; goesOn: GoesOn | null }> {
	const { answer: before, request: asked, conversationId, messageId, id } = run;
	const request = asked === null ? null : (JSON.parse(asked) as RunRequest);
	const log = new OpenEvents();
	let answer = before ?? emptyAnswer(messageId, id, run.startedAt);
	for await (const event of run.events) {
		log.take(event);
		answer = foldEvent(answer, event);
	}
	const isOwnTool = new Set(request?.tools.map(({ name }) => name));
	const isComplete = log.isComplete && answer.parts.at(-1)?.type === 'text';
	const events = [...log.closing(answer, isOwnTool), takenEvent(run.epoch + 1)];
	answer = events.reduce(foldEvent, answer);
	// Without a word of an answer, the question is simply asked again.
	const isFresh = answer.parts.length === 0 && (request?.kind === 'ask' || request?.kind === 'retry');
	const items = isFresh
		? ({ items: [], mode: 'replace' } as const)
		: ({ items: missingItems(answer, run.items), mode: 'append' } as const);
	const goOn = (): RunRequest | null => {
		if (isComplete || !request) return null;
		if (isFresh) return request;
		const isAsking = answer.parts.some((part) => part.type === 'tool' && part.status === 'waiting');
		const { tools, instructions, policy, choice, compare, isProgram, isElsewhere, apiKeyId } = request;
		const rest = { tools, instructions, policy, choice, compare, isProgram, isElsewhere, apiKeyId };
		return { ...rest, runId: id, conversationId, kind: isAsking ? 'resume' : 'continue', messageId };
	};
	const canGoOn = before !== null && request !== null && run.takeovers < MOST_TAKEOVERS;
	return { taken: { events, items }, goesOn: canGoOn ? { answer, before, request: goOn() } : null };
}

function takenEvent(epoch: number): RunEvent {
	return { type: 'CUSTOM', name: 'run.taken', value: { epoch } };
}

const UNKNOWN = failure('Cancelled', 'The server stopped during this call. Whether it finished isn’t known.');
const NOT_MADE = failure('Cancelled', 'The server stopped before this call was made.');

/** What a log has begun and not ended. */
class OpenEvents {
	#texts = new Set<string>();
	#reasonings = new Set<string>();
	#thoughts = new Set<string>();
	#calls = new Set<string>();
	#step: string | null = null;
	/** Whether the last step that ended has made calls; null before any has ended. */
	#hasCalls: boolean | null = null;
	#callsOfStep = 0;

	/** The last step has ended without calls: only the end of the run is missing. */
	get isComplete(): boolean {
		return this.#step === null && this.#hasCalls === false;
	}

	take(event: RunEvent): void {
		switch (event.type) {
			case 'STEP_STARTED':
				this.#step = event.stepName;
				this.#callsOfStep = 0;
				break;
			case 'STEP_FINISHED':
				this.#step = null;
				this.#hasCalls = this.#callsOfStep > 0;
				break;
			case 'TEXT_MESSAGE_START':
				this.#texts.add(event.messageId);
				break;
			case 'TEXT_MESSAGE_END':
				this.#texts.delete(event.messageId);
				break;
			case 'REASONING_START':
				this.#reasonings.add(event.messageId);
				break;
			case 'REASONING_END':
				this.#reasonings.delete(event.messageId);
				break;
			case 'REASONING_MESSAGE_START':
				this.#thoughts.add(event.messageId);
				break;
			case 'REASONING_MESSAGE_END':
				this.#thoughts.delete(event.messageId);
				break;
			case 'TOOL_CALL_START':
				this.#calls.add(event.toolCallId);
				this.#callsOfStep += 1;
				break;
			case 'TOOL_CALL_END':
				this.#calls.delete(event.toolCallId);
				break;
			default:
		}
	}

	/** Ends all of it. `isOwnTool`: names of tools that the caller would have run. */
	closing({ parts }: Message, isOwnTool: ReadonlySet<string>): RunEvent[] {
		const open = parts.flatMap((part) =>
			part.type === 'tool' && (part.status === 'preparing' || part.status === 'running') ? [part] : []
		);
		return [
			...[...this.#texts].map((messageId): RunEvent => ({ type: 'TEXT_MESSAGE_END', messageId })),
			...[...this.#thoughts].map((messageId): RunEvent => ({ type: 'REASONING_MESSAGE_END', messageId })),
			...[...this.#reasonings].map((messageId): RunEvent => ({ type: 'REASONING_END', messageId })),
			...[...this.#calls].map((toolCallId): RunEvent => ({ type: 'TOOL_CALL_END', toolCallId })),
			...(this.#step === null ? [] : [{ type: 'STEP_FINISHED', stepName: this.#step } as const]),
			...open.flatMap(({ id: toolCallId, name, status, execution }): RunEvent[] => {
				const isMade = status === 'running' && !isOwnTool.has(name);
				const end = {
					...{ toolCallId, skill: execution?.skill ?? '', exitCode: null, durationMs: 0, truncated: false, files: [] },
					...{ error: 'Cancelled', message: 'The server stopped during this call.' }
				};
				const isRunning = execution !== undefined && execution.exitCode === undefined;
				const finished: RunEvent[] = isRunning ? [{ type: 'CUSTOM', name: 'skill.finished', value: end }] : [];
				return [...finished, resultEvent(toolCallId, isMade ? UNKNOWN : NOT_MADE)];
			})
		];
	}
}
