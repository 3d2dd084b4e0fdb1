/** What one push notification address is still to be told: in order, and bounded however slow it is (E16). */
import { type Artifact, StreamResponse, type Task, type TaskState } from '@a2a-js/sdk';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import type { RpcCall } from './requests.ts';

export interface Notification {
	body: string;
	contentType: string;
}

export interface PushSinkOptions {
	version: RpcCall['version'];
	/** False: it's no use to go on. Never throws. */
	deliver(notification: Notification): Promise<boolean>;
	/** Everything was told, or it's no use; not after `stop`. */
	onEnd(): void;
}

/** A slower address gets the whole task instead. */
const MAX_QUEUED = 32;

/** Starts with the whole task. Then 1.0 gets each event; 0.3 gets the whole task whenever its state changes. */
export function createPushSink({ version, deliver, onEnd }: PushSinkOptions) {
	let queue: StreamResponse[] = [];
	let task: Task | undefined;
	/** The whole task is next. */
	let isBehind = true;
	let told: TaskState | undefined;
	let isBusy = false;
	let isLast = false;
	let isOver = false;

	const next = (): Notification | null => {
		if (isBehind && task) {
			isBehind = false;
			queue = [];
			told = task.status?.state;
			return notificationOf({ payload: { $case: 'task', value: task } }, version);
		}
		const event = queue.shift();
		return event ? notificationOf(event, version) : null;
	};
	const pump = async () => {
		if (isBusy || isOver) return;
		isBusy = true;
		for (let each = next(); each && !isOver; each = next()) {
			if (await deliver(each)) continue;
			if (!isOver) onEnd();
			isOver = true;
		}
		isBusy = false;
		if (!isLast || isOver) return;
		isOver = true;
		onEnd();
	};

	return {
		/** `task` is the task after this event. */
		push(event: StreamResponse, after: Task): void {
			if (isOver) return;
			task = after;
			const { payload } = event;
			if (payload?.$case === 'task') isBehind = true;
			else if (version === '0.3') isBehind ||= after.status?.state !== told;
			else if (!isBehind) {
				queue = joined(queue, event);
				isBehind = queue.length > MAX_QUEUED;
			}
			void pump();
		},
		/** That was the last event. */
		finish(): void {
			isLast = true;
			void pump();
		},
		stop(): void {
			isOver = true;
			queue = [];
		}
	};
}

export type PushSink = ReturnType<typeof createPushSink>;

function notificationOf(event: StreamResponse, version: RpcCall['version']): Notification {
	if (version === '0.3') return new V03PushNotificationSerializer().serialize(event);
	return { body: JSON.stringify(StreamResponse.toJSON(event)), contentType: 'application/a2a+json' };
}

/** Text that goes on joins the text that still waits. */
function joined(queue: readonly StreamResponse[], event: StreamResponse): StreamResponse[] {
	const last = queue.at(-1)?.payload;
	const { payload } = event;
	if (
		last?.$case !== 'artifactUpdate' ||
		payload?.$case !== 'artifactUpdate' ||
		!payload.value.append ||
		!last.value.artifact ||
		last.value.artifact.artifactId !== payload.value.artifact?.artifactId
	) {
		return [...queue, event];
	}
	const artifact = withMore(last.value.artifact, payload.value.artifact);
	const value = { ...last.value, artifact, lastChunk: payload.value.lastChunk };
	return [...queue.slice(0, -1), { payload: { $case: 'artifactUpdate', value } }];
}

/** The task after an event. */
export function foldTask(task: Task, { payload }: StreamResponse): Task {
	if (payload?.$case === 'task') return payload.value;
	if (payload?.$case === 'statusUpdate') return { ...task, status: payload.value.status };
	if (payload?.$case !== 'artifactUpdate' || !payload.value.artifact) return task;
	const { artifact, append } = payload.value;
	const at = task.artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId);
	const before = task.artifacts[at];
	if (!before) return { ...task, artifacts: [...task.artifacts, artifact] };
	return { ...task, artifacts: task.artifacts.with(at, append ? withMore(before, artifact) : artifact) };
}

function withMore(before: Artifact, more: Artifact): Artifact {
	const parts = [...before.parts];
	for (const part of more.parts) {
		const last = parts.at(-1);
		if (last?.content?.$case !== 'text' || part.content?.$case !== 'text') parts.push(part);
		else
			parts[parts.length - 1] = { ...last, content: { $case: 'text', value: last.content.value + part.content.value } };
	}
	return { ...before, parts };
}
