/** What a client of a task is streamed: first the task as it is, then what its run does, then its end or its question. */
import { TaskState, type Artifact, type StreamResponse } from '@a2a-js/sdk';
import type { RunEvent } from '../../../shared/events.ts';
import type { Runner } from '../../runs/runner.ts';
import {
	answerArtifact,
	artifactsOf,
	fileArtifact,
	type FileSource,
	MAX_INLINE_TOTAL,
	noteOf,
	statusOf,
	TEXT_BREAK,
	toTask
} from './render-task.ts';
import type { TaskSource } from './task-source.ts';
import { messageText } from '../../../shared/message.ts';

export interface EventParts {
	runner: Pick<Runner, 'follow'>;
	files: FileSource;
	/** The task as it is now. */
	read(): Promise<TaskSource>;
	/** The client has gone. */
	signal: AbortSignal;
}

export async function* taskEvents(
	parts: EventParts,
	begin: TaskSource,
	historyLength?: number
): AsyncGenerator<StreamResponse, void, undefined> {
	const { runner, files, read, signal } = parts;
	const task = toTask(begin, await artifactsOf(files, begin.answer), historyLength);
	yield { payload: { $case: 'task', value: task } };
	let source = begin;
	if (source.answer.status !== 'running') return;
	const teller = createTeller(files, begin);
	// Somebody may have decided at once about what a run stopped for: then another goes on with it.
	while (source.answer.status === 'running') {
		const batches = await runner.follow(source.run.id, source.seq, signal);
		if (!batches) return;
		for await (const batch of batches) {
			yield* teller.tell(
				batch.map(({ seq, data }) => ({ seq, event: JSON.parse(data) as RunEvent })),
				source
			);
		}
		if (signal.aborted) return;
		const before = source;
		source = await read();
		if (source.run.id === before.run.id && source.answer.status === 'running') return;
	}
	const { taskId, contextId } = source;
	yield {
		payload: { $case: 'statusUpdate', value: { taskId, contextId, status: statusOf(source), metadata: undefined } }
	};
}

/** Tells events in order; keeps which text it is in. */
function createTeller(files: FileSource, { taskId, contextId, answer }: TaskSource) {
	let hasText = messageText(answer) !== '';
	let textId = answer.parts.findLast((part) => part.type === 'text' && part.text !== '')?.id;
	const budget = { bytes: MAX_INLINE_TOTAL };

	const update = (artifact: Artifact, append: boolean): StreamResponse => ({
		payload: {
			$case: 'artifactUpdate',
			value: { taskId, contextId, artifact, append, lastChunk: !append, metadata: undefined }
		}
	});
	const text = (said: string): StreamResponse => {
		const response = update(answerArtifact(said), hasText);
		if (response.payload?.$case === 'artifactUpdate') response.payload.value.lastChunk = false;
		hasText = true;
		return response;
	};
	const note = (source: TaskSource, id: string, said: string): StreamResponse => ({
		payload: {
			$case: 'statusUpdate',
			value: {
				taskId,
				contextId,
				metadata: undefined,
				status: {
					state: TaskState.TASK_STATE_WORKING,
					message: noteOf(source, id, said),
					timestamp: new Date().toISOString()
				}
			}
		}
	});

	return {
		async *tell(events: { seq: number; event: RunEvent }[], source: TaskSource): AsyncGenerator<StreamResponse> {
			// Adjacent pieces of text are one update.
			let said = '';
			for (const { seq, event } of events) {
				if (event.type === 'TEXT_MESSAGE_CONTENT') {
					if (event.delta === '') continue;
					if (event.messageId !== textId && (hasText || said !== '')) said += TEXT_BREAK;
					textId = event.messageId;
					said += event.delta;
					continue;
				}
				if (event.type !== 'CUSTOM') continue;
				if (said !== '') yield text(said);
				said = '';
				const id = `${source.run.id}-${seq}`;
				if (event.name === 'skill.loaded') yield note(source, id, `Read the skill “${event.value.skill}”.`);
				if (event.name === 'skill.started') {
					yield note(source, id, `Running ${event.value.tool ?? event.value.script} of “${event.value.skill}”.`);
				}
				if (event.name === 'skill.finished') {
					for (const { path } of event.value.files) {
						const artifact = await fileArtifact(files, path, budget);
						if (artifact) yield update(artifact, false);
					}
				}
			}
			if (said !== '') yield text(said);
		}
	};
}
