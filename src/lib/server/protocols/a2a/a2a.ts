/** Agent2Agent over JSON-RPC: a task is a run, its context a conversation, its artifacts are what the run made (FEATURES E16). */
import type { AgentCard, Message, StreamResponse, Task } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import {
	A2A_ERROR_CODE,
	A2AError,
	PushNotificationNotSupportedError,
	RequestMalformedError,
	TaskNotFoundError,
	toJsonRpcError,
	UnsupportedOperationError
} from '@a2a-js/sdk/errors';
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { AppError } from '../../../shared/errors.ts';
import type { Log } from '../../log.ts';
import type { Asker } from '../../turns/toolbox.ts';
import { agentCard, type AgentFacts, cardJson, type CardParts, type Reader } from './agent-card.ts';
import { artifactsOf, toTask } from './render-task.ts';
import { readCall, type RpcCall, rpcError, type RpcError, type RpcId } from './requests.ts';
import { type CallParts, cancel, send } from './task-calls.ts';
import { taskEvents } from './task-events.ts';
import { readTask, type TaskSource } from './task-source.ts';

/** The largest body: files come in base64. */
export const MAX_A2A_BYTES = 24 * 1024 * 1024;

export interface A2AParts extends CallParts, CardParts {
	log: Log;
}

export interface A2ACaller extends AgentFacts {
	/** Whose tasks it sees, and what it may decide about them. */
	asker: Asker;
	/** The header `A2A-Version`. */
	version: string | null;
	/** It has gone: nothing is streamed any more, and nobody waits. What runs goes on. */
	signal: AbortSignal;
}

/** `frames` are server-sent events. */
export type A2AAnswer = { json: unknown } | { frames: AsyncGenerator<string> };

export interface A2A {
	/** `readBody` may fail, as for a body that is too large. Never throws: what is wrong is a JSON-RPC error. */
	answer(readBody: () => Promise<string>, caller: A2ACaller): Promise<A2AAnswer>;
	/** For the address that everybody knows; without skills for somebody who has not said who they are. */
	card(reader: Reader, agent: AgentFacts & Pick<A2ACaller, 'version'>): Record<string, unknown>;
}

const VERSIONS = /^(0\.3|1\.0)(\.\d+)?$/;

export function createA2A(parts: A2AParts): A2A {
	return {
		async answer(readBody, caller) {
			const call = await readBody().then(readCall, (error: unknown) => unreadable(error, parts.log));
			if ('error' in call) return { json: call };
			const { id, version } = call;
			if (caller.version !== null && !VERSIONS.test(caller.version)) {
				const message = 'This version of A2A is not spoken here: 1.0 and 0.3 are.';
				return { json: rpcError(id, A2A_ERROR_CODE.VERSION_NOT_SUPPORTED, message) };
			}
			const handler = createHandler(parts, caller, version);
			const transport =
				version === '1.0' ? new JsonRpcTransportHandler(handler) : new LegacyJsonRpcTransportHandler(handler);
			const answered = await transport.handle(call.body, new ServerCallContext({ requestedVersion: version }));
			if (!(Symbol.asyncIterator in answered)) return { json: answered };
			return begun(answered, (error) => toRpcError(error, id, parts.log));
		},

		card: (reader, { version, ...agent }) =>
			cardJson(agentCard(parts, reader, agent), version === null || version.startsWith('0.'))
	};
}

/** What goes wrong before the first event is an answer, and no stream. */
async function begun(events: AsyncGenerator<unknown>, toError: (error: unknown) => RpcError): Promise<A2AAnswer> {
	let first: IteratorResult<unknown>;
	try {
		first = await events.next();
	} catch (error) {
		return { json: toError(error) };
	}
	const frame = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
	return {
		frames: (async function* () {
			try {
				if (!first.done) yield frame(first.value);
				for await (const event of events) yield frame(event);
			} catch (error) {
				yield frame(toError(error));
			}
		})()
	};
}

function unreadable(error: unknown, log: Log): RpcError {
	const { message } = toA2AError(error, log);
	return rpcError(null, A2A_ERROR_CODE.INVALID_REQUEST, message);
}

function toRpcError(error: unknown, id: RpcId, log: Log): RpcError {
	return { jsonrpc: '2.0', id, error: toJsonRpcError(toA2AError(error, log)) };
}

/** What the SDK's transports call, for one request. */
function createHandler(
	parts: A2AParts,
	{ asker, signal, ...agent }: A2ACaller,
	version: RpcCall['version']
): A2ARequestHandler {
	const { runner, workspaces, log } = parts;
	const filesOf = ({ contextId }: TaskSource) => ({ workspaces, contextId, origin: agent.origin });
	const card = async (): Promise<AgentCard> => agentCard(parts, asker, agent);
	const render = async (source: TaskSource, historyLength: number | undefined): Promise<Task> =>
		toTask(source, await artifactsOf(filesOf(source), source.answer), historyLength);
	const guard = async <Value>(work: () => Promise<Value>): Promise<Value> => {
		try {
			return await work();
		} catch (error) {
			throw toA2AError(error, log);
		}
	};
	const events = async function* (
		open: () => Promise<TaskSource>,
		historyLength?: number
	): AsyncGenerator<StreamResponse, void, undefined> {
		try {
			const source = await open();
			const read = () => readTask(parts, asker, source.taskId);
			yield* taskEvents({ runner, files: filesOf(source), read, signal }, source, historyLength);
		} catch (error) {
			throw toA2AError(error, log);
		}
	};
	/** Until it ends or asks; or until the client goes. */
	const settled = async (source: TaskSource): Promise<TaskSource> => {
		let latest = source;
		while (latest.answer.status === 'running' && !signal.aborted) {
			for await (const _ of (await runner.follow(latest.run.id, latest.seq, signal)) ?? []);
			const next = await readTask(parts, asker, source.taskId);
			if (next.run.id === latest.run.id && next.answer.status === 'running') return next;
			latest = next;
		}
		return latest;
	};
	const noPush = async (): Promise<never> => {
		throw new PushNotificationNotSupportedError();
	};

	return {
		getAgentCard: card,
		getAuthenticatedExtendedAgentCard: card,
		sendMessage: ({ message, configuration }) =>
			guard(async () => {
				if (configuration?.taskPushNotificationConfig) return noPush();
				const started = await send(parts, asker, required(message));
				const source = configuration?.returnImmediately ? started : await settled(started);
				return render(source, configuration?.historyLength);
			}),
		sendMessageStream: ({ message, configuration }) =>
			events(async () => {
				if (configuration?.taskPushNotificationConfig) return noPush();
				return send(parts, asker, required(message));
			}, configuration?.historyLength),
		getTask: ({ id, historyLength }) => guard(async () => render(await readTask(parts, asker, id), historyLength)),
		cancelTask: ({ id }) => guard(async () => render(await cancel(parts, asker, id), undefined)),
		resubscribe: ({ id }) =>
			events(async () => {
				const source = await readTask(parts, asker, id);
				// 0.3 says nothing of it: who comes a moment too late is told how the task has ended.
				if (version === '0.3' || !isOver(source)) return source;
				throw new UnsupportedOperationError('This task is over: GetTask says how.');
			}),
		async listTasks() {
			throw new UnsupportedOperationError('Tasks are not listed here: ask for one by its id.');
		},
		createTaskPushNotificationConfig: noPush,
		getTaskPushNotificationConfig: noPush,
		listTaskPushNotificationConfigs: noPush,
		deleteTaskPushNotificationConfig: noPush
	};
}

function isOver({ answer: { status } }: TaskSource): boolean {
	return status !== 'running' && status !== 'waiting';
}

/** The schema of the call has made sure of it. */
function required(message: Message | undefined): Message {
	if (message) return message;
	throw new UnsupportedOperationError('There is no message.');
}

// What went wrong in A2A's words: its error classes, which the SDK numbers (A2A §5.4).

/** Any error as one that may be told; what nobody expected is logged, and told without its words. */
function toA2AError(error: unknown, log: Log): A2AError {
	if (error instanceof A2AError) return error;
	if (!(error instanceof AppError)) {
		log.error({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, 'A2A call failed');
		return new A2AError('Something went wrong in the server; its log says more.');
	}
	const message = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
	switch (error.code) {
		case 'not_found':
			return new TaskNotFoundError({ message, cause: error });
		case 'conflict':
		case 'method_not_allowed':
			return new UnsupportedOperationError({ message, cause: error });
		case 'invalid_input':
		case 'forbidden':
		case 'too_large':
		case 'unsupported_media_type':
			return new RequestMalformedError({ message, cause: error });
		default:
			return new A2AError({ message, cause: error });
	}
}
