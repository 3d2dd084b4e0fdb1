/**
 * `subscriptions/listen` of 2026-07-28: changes and files, which the SDK serves, and status notifications of the extension for
 * tasks, which it doesn't know (E15). To the SDK, a task is one more file that is followed.
 */
import {
	type JSONRPCMessage,
	ProtocolError,
	ProtocolErrorCode,
	type RequestId,
	SUBSCRIPTION_ID_META_KEY,
	type Transport
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { withoutHiddenIn } from '../../../shared/characters.ts';
import { asObject } from '../../../shared/json.ts';
import { MAX_FOLLOWED } from './resources.ts';
import { knowsTasks, tasksUnknownToClient, toModern } from './serve-tasks.ts';
import type { TaskEntry } from './tasks.ts';

/** What the SDK is told has changed when a task has. Never sent, and no client can follow it by this name. */
export function taskAddress(taskId: string): string {
	return `${SCHEME}${taskId}`;
}

const SCHEME = 'task:';

/** By address. `told`: the revision that the client has. */
type Followed = Map<string, { task: TaskEntry; told: number }>;

/** Between one client and the SDK. `taskOf`: null for an id that isn't one of this client's tasks. */
export function createListening(taskOf: (taskId: string) => TaskEntry | null) {
	const followed = new Map<RequestId, Followed>();

	const follow = (id: RequestId, taskIds: unknown): string[] => {
		const parsed = z.array(z.string()).max(MAX_FOLLOWED).safeParse(taskIds);
		if (!parsed.success) {
			const message = `taskIds must be a list of at most ${MAX_FOLLOWED} ids.`;
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
		}
		const tasks = parsed.data.map(taskOf).filter((task) => task !== null);
		followed.set(id, new Map(tasks.map((task) => [taskAddress(task.id), { task, told: -1 }])));
		return [...(followed.get(id)?.keys() ?? [])];
	};

	const notify = (id: RequestId, each: { task: TaskEntry; told: number }): JSONRPCMessage[] => {
		const { task } = each;
		// A client that reads slowly gets what is true now, once.
		if (each.told === task.revision) return [];
		each.told = task.revision;
		const params = { ...withoutHiddenIn(toModern(task)), _meta: { [SUBSCRIPTION_ID_META_KEY]: id } };
		return [{ jsonrpc: '2.0', method: 'notifications/tasks', params }];
	};

	return {
		/** What the SDK gets instead of this message. @throws ProtocolError */
		incoming(message: unknown): unknown {
			const { method, id, params } = asObject(message);
			const { requestId, notifications, _meta } = asObject(params);
			if (method === 'notifications/cancelled') followed.delete(requestId as RequestId);
			if (method !== 'subscriptions/listen') return message;
			const { taskIds, ...filter } = asObject(notifications);
			const files = filter.resourceSubscriptions;
			// The SDK takes any number of them, and looks through all at each change.
			if (Array.isArray(files) && files.length > MAX_FOLLOWED) {
				const text = `You can follow at most ${MAX_FOLLOWED} resources.`;
				throw new ProtocolError(ProtocolErrorCode.InvalidParams, text);
			}
			if (Array.isArray(files)) {
				filter.resourceSubscriptions = files.filter((uri) => typeof uri !== 'string' || !uri.startsWith(SCHEME));
			}
			if (taskIds !== undefined) {
				if (!knowsTasks(_meta)) throw tasksUnknownToClient();
				const addresses = follow(id as RequestId, taskIds);
				const { resourceSubscriptions = [] } = filter;
				if (Array.isArray(resourceSubscriptions)) {
					filter.resourceSubscriptions = [...(resourceSubscriptions as unknown[]), ...addresses];
				}
			}
			return { ...asObject(message), params: { ...asObject(params), notifications: filter } };
		},
		/** What the client gets instead of this message: nothing, or a few. */
		outgoing(message: JSONRPCMessage): JSONRPCMessage[] {
			if (!('method' in message)) {
				// Refused, or over.
				if (message.id !== undefined) followed.delete(message.id);
				return [message];
			}
			const { method, params = {} } = message;
			const id = asObject(params._meta)[SUBSCRIPTION_ID_META_KEY] as RequestId;
			const tasks = followed.get(id);
			if (!tasks) return [message];
			if (method === 'notifications/subscriptions/acknowledged') {
				const acknowledged = {
					...message,
					params: { ...params, notifications: withTasks(params.notifications, tasks) }
				};
				return [acknowledged, ...[...tasks.values()].flatMap((each) => notify(id, each))];
			}
			const changed = method === 'notifications/resources/updated' ? tasks.get(String(params.uri)) : undefined;
			return changed ? notify(id, changed) : [message];
		}
	};
}

type Listening = ReturnType<typeof createListening>;

function withTasks(notifications: unknown, tasks: Followed): Record<string, unknown> {
	const { resourceSubscriptions, ...others } = asObject(notifications);
	const uris = Array.isArray(resourceSubscriptions) ? (resourceSubscriptions as unknown[]) : [];
	const files = uris.filter((uri) => !tasks.has(String(uri)));
	const taskIds = [...tasks.values()].map(({ task }) => task.id);
	return { ...others, ...(files.length > 0 ? { resourceSubscriptions: files } : {}), taskIds };
}

/** A stream of events, changed as the client reads it, so that what it hasn't read is kept as the SDK has it. */
export function listeningResponse(response: Response, { outgoing }: Listening): Response {
	if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
	let rest = '';
	const events = new TransformStream<string, string>({
		transform(text, controller) {
			const blocks = (rest + text).split('\n\n');
			rest = blocks.pop() ?? '';
			for (const block of blocks) {
				const [line, data] = /^data: (.*)$/m.exec(block) ?? [];
				const messages = data === undefined ? null : outgoing(JSON.parse(data) as JSONRPCMessage);
				const written = messages?.map((each) => block.replace(line ?? '', () => `data: ${JSON.stringify(each)}`));
				for (const each of written ?? [block]) controller.enqueue(`${each}\n\n`);
			}
		}
	});
	const body = response.body
		.pipeThrough(new TextDecoderStream())
		.pipeThrough(events)
		.pipeThrough(new TextEncoderStream());
	return new Response(body, { status: response.status, headers: response.headers });
}

/** A connection that everything goes through. */
export function listeningTransport(transport: Transport, { incoming, outgoing }: Listening): Transport {
	const inner: Transport = {
		start: () => transport.start(),
		close: () => transport.close(),
		async send(message, options) {
			for (const each of outgoing(message)) await transport.send(each, options);
		}
	};
	transport.onclose = () => inner.onclose?.();
	transport.onerror = (error) => inner.onerror?.(error);
	transport.onmessage = (message, extra) => {
		try {
			inner.onmessage?.(incoming(message) as JSONRPCMessage, extra);
		} catch (error) {
			if (!(error instanceof ProtocolError) || !('id' in message) || message.id === undefined) throw error;
			const { code, message: text, data } = error;
			void transport.send({ jsonrpc: '2.0', id: message.id, error: { code, message: text, data } });
		}
	};
	return inner;
}
