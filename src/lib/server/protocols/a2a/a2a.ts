/** Agent2Agent over JSON-RPC. A task is a run, a context a conversation, artifacts are a run's output (E16). */
import {
	AgentCard,
	type AgentSkill,
	ListTasksRequest,
	type Message,
	type SendMessageConfiguration,
	type StreamResponse,
	type Task,
	type ListTasksResponse,
	TaskState
} from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler, V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import {
	A2A_ERROR_CODE,
	A2AError,
	RequestMalformedError,
	TaskNotFoundError,
	toJsonRpcError,
	UnsupportedOperationError
} from '@a2a-js/sdk/errors';
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { duplicateInterfacesForLegacy } from '@a2a-js/sdk/compat/v0_3';
import { AppError } from '../../../shared/errors.ts';
import type { Log } from '../../log.ts';
import type { Asker } from '../../turns/toolbox.ts';
import { createPushes, type PushParts, type Pushes } from './pushes.ts';
import { artifactsOf, inlineBudget, toTask, taskEvents, STATES } from './render-task.ts';
import { readCall, type RpcCall, rpcError, type RpcError } from './requests.ts';
import { cancel, readTask, send, type TaskSource, type CallParts } from './task-calls.ts';
import { withoutHiddenIn } from '../../../shared/characters.ts';
import type { SkillRegistry } from '../../skills/registry/registry.ts';
import { ownerOf, viewOf } from '../../skills/registry/visibility.ts';
import type { StoredSkillModes } from '../../trust/skill-modes.ts';
import { z } from 'zod';
import type { MessageStatus } from '../../../shared/message.ts';
import type { TaskPlace } from '../../store/chat/tasks.ts';

/** Maximum request body. Large, because files arrive as base64. */
export const MAX_A2A_BYTES = 24 * 1024 * 1024;

export interface A2AParts extends PushParts, CardParts {}

export interface A2ACaller extends AgentFacts {
	/** Determines which tasks are visible and what the caller may approve. */
	asker: Asker;
	/** The `A2A-Version` header. */
	version: string | null;
	/** Aborts when the client disconnects. Ends streaming and waiting; the run continues. */
	signal: AbortSignal;
}

/** `frames` yields server-sent events. */
export type A2AAnswer = { json: unknown } | { frames: AsyncGenerator<string> };

export interface A2A {
	/** Never throws: every error, including one from `readBody`, becomes a JSON-RPC error. */
	answer(readBody: () => Promise<string>, caller: A2ACaller): Promise<A2AAnswer>;
	/** The agent card. An anonymous reader sees no skills. */
	card(reader: Reader, agent: AgentFacts & Pick<A2ACaller, 'version'>): Record<string, unknown>;
	/** Goes on with the push notifications of the last start. Call once. */
	resume(): Promise<void>;
	close(): Promise<void>;
}

const VERSIONS = /^(0\.3|1\.0)(\.\d+)?$/;

export function createA2A(parts: A2AParts): A2A {
	const pushes = createPushes(parts);
	return {
		async answer(readBody, caller) {
			const call = await readBody().then(readCall, (error: unknown) =>
				rpcError(null, A2A_ERROR_CODE.INVALID_REQUEST, toA2AError(error, parts.log).message)
			);
			if ('error' in call) return { json: call };
			const { id, version } = call;
			if (caller.version && !VERSIONS.test(caller.version)) {
				const message = 'This server supports A2A 1.0 and 0.3 only.';
				return { json: rpcError(id, A2A_ERROR_CODE.VERSION_NOT_SUPPORTED, message) };
			}
			const handler = createHandler(parts, pushes, caller, version);
			if (call.body['method'] === 'tasks/list') return { json: await listForOld(handler, call, parts.log) };
			const transport =
				version === '1.0' ? new JsonRpcTransportHandler(handler) : new LegacyJsonRpcTransportHandler(handler);
			const answered = await transport.handle(call.body, new ServerCallContext({ requestedVersion: version }));
			if (!(Symbol.asyncIterator in answered)) return { json: answered };
			return toFrames(answered, (error) => ({
				jsonrpc: '2.0',
				id,
				error: toJsonRpcError(toA2AError(error, parts.log))
			}));
		},

		card: (reader, { version, ...agent }) =>
			cardJson(agentCard(parts, reader, agent), !version || version.startsWith('0.')),
		resume: pushes.resume,
		close: pushes.close
	};
}

/** An error before the first event becomes a plain JSON response instead of a stream. */
async function toFrames(events: AsyncGenerator<unknown>, toError: (error: unknown) => RpcError): Promise<A2AAnswer> {
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

/** The SDK knows no such method of 0.3, though its specification has one. */
async function listForOld(handler: A2ARequestHandler, { id, body }: RpcCall, log: Log): Promise<unknown> {
	try {
		const request = ListTasksRequest.fromJSON(body['params']);
		const { tasks, ...page } = await handler.listTasks(request, new ServerCallContext({ requestedVersion: '0.3' }));
		const serializer = new V03PushNotificationSerializer();
		const old = tasks.map((task) => {
			const { body } = serializer.serialize({ payload: { $case: 'task', value: task } });
			const { artifacts, ...rest } = JSON.parse(body) as Record<string, unknown>;
			return request.includeArtifacts ? { ...rest, artifacts: artifacts ?? [] } : rest;
		});
		return { jsonrpc: '2.0', id, result: { tasks: old, ...page } };
	} catch (error) {
		return { jsonrpc: '2.0', id, error: toJsonRpcError(toA2AError(error, log)) };
	}
}

/** Handles one request for the SDK's transports. */
function createHandler(
	parts: A2AParts,
	pushes: Pushes,
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
	/** Waits until the task ends, asks a question, or the client disconnects. */
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
	/** Starts or answers, and remembers whom to tell. */
	const begin = async (message: Message | undefined, configuration: SendMessageConfiguration | undefined) => {
		const push = configuration?.taskPushNotificationConfig;
		if (push) pushes.check(push, asker.apiKeyId);
		const source = await send(parts, asker, required(message));
		if (push) await pushes.add(source, push, { asker, version, origin: agent.origin }, true);
		return source;
	};

	return {
		getAgentCard: card,
		getAuthenticatedExtendedAgentCard: card,
		sendMessage: ({ message, configuration }) =>
			guard(async () => {
				const started = await begin(message, configuration);
				const source = configuration?.returnImmediately ? started : await settled(started);
				return render(source, configuration?.historyLength);
			}),
		sendMessageStream: ({ message, configuration }) =>
			events(() => begin(message, configuration), configuration?.historyLength),
		getTask: ({ id, historyLength }) => guard(async () => render(await readTask(parts, asker, id), historyLength)),
		cancelTask: ({ id }) => guard(async () => render(await cancel(parts, asker, id), undefined)),
		resubscribe: ({ id }) =>
			events(async () => {
				const source = await readTask(parts, asker, id);
				// 0.3 doesn't forbid it: a client that subscribes a moment too late still learns how the task ended.
				if (version === '0.3' || ['running', 'waiting'].includes(source.answer.status)) return source;
				throw new UnsupportedOperationError('This task is done. Use GetTask to read it.');
			}),
		listTasks: (request) =>
			guard(() => {
				// Together, or a page could be a gigabyte.
				const budget = inlineBudget();
				return listTasks(parts, asker, request, async (source) => {
					const artifacts = request.includeArtifacts ? await artifactsOf(filesOf(source), source.answer, budget) : [];
					return toTask(source, artifacts, request.historyLength);
				});
			}),
		createTaskPushNotificationConfig: (config) =>
			guard(async () => {
				const source = await readTask(parts, asker, config.taskId);
				return pushes.add(source, config, { asker, version, origin: agent.origin });
			}),
		getTaskPushNotificationConfig: ({ taskId, id }) =>
			guard(async () => pushes.get(await readTask(parts, asker, taskId), id)),
		listTaskPushNotificationConfigs: ({ taskId }) =>
			guard(async () => ({ configs: await pushes.list(await readTask(parts, asker, taskId)), nextPageToken: '' })),
		deleteTaskPushNotificationConfig: ({ taskId, id }) =>
			guard(async () => pushes.remove(await readTask(parts, asker, taskId), id))
	};
}

/** The call's schema requires a message; the SDK's type doesn't know that. */
function required(message: Message | undefined): Message {
	if (message) return message;
	throw new UnsupportedOperationError('The message is missing.');
}

/** Converts to the SDK's error classes (A2A §5.4). Logs an unexpected error and hides its message from the client. */
function toA2AError(error: unknown, log: Log): A2AError {
	if (error instanceof A2AError) return error;
	if (!(error instanceof AppError)) {
		log.error({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, 'A2A call failed');
		return new A2AError('Something went wrong on the server. See its log for details.');
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

// The agent card: address, authentication and skills (A2A §4.4; FEATURES E16).

interface CardParts {
	skills: { registry: Pick<SkillRegistry, 'snapshot'> };
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
	/** Whether programs need a key. */
	isKeyNeeded: boolean;
	/** Whether skills are enabled at all. */
	isEnabled(): boolean;
}

interface AgentFacts {
	/** As the client reached this server. */
	origin: string;
	/** Version of this app. */
	release: string;
}

/** null: anonymous. */
type Reader = { apiKeyId: string | null } | null;

/** The card lists only this many; the agent can find the rest itself. */
const MAX_SKILLS = 500;
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const INPUT = [
	'text/plain',
	'application/json',
	'text/csv',
	...PICTURES,
	'application/pdf',
	'application/octet-stream'
];
const OUTPUT = ['text/markdown', 'text/plain', 'application/octet-stream'];
const BEARER = 'An API key of this server (from the Connect page), or its ADMIN_TOKEN.';

function agentCard(parts: CardParts, reader: Reader, { origin, release }: AgentFacts): AgentCard {
	const here = { url: `${origin}/a2a`, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' };
	return {
		name: 'openrouter-skills',
		description: 'An agent that answers questions and works on files with Agent Skills. Scripts run in a sandbox.',
		version: release,
		supportedInterfaces: duplicateInterfacesForLegacy([here], ['JSONRPC']),
		provider: undefined,
		capabilities: { streaming: true, pushNotifications: true, extensions: [], extendedAgentCard: true },
		securitySchemes: parts.isKeyNeeded
			? {
					bearer: {
						scheme: {
							$case: 'httpAuthSecurityScheme',
							value: { description: BEARER, scheme: 'Bearer', bearerFormat: '' }
						}
					}
				}
			: {},
		securityRequirements: parts.isKeyNeeded ? [{ schemes: { bearer: { list: [] } } }] : [],
		defaultInputModes: INPUT,
		defaultOutputModes: OUTPUT,
		skills: [GENERAL, ...(reader && parts.isEnabled() ? skillsOf(parts, reader.apiKeyId) : [])],
		signatures: []
	};
}

/** 0.3 clients send no version and expect their own fields in addition to those of 1.0. */
function cardJson(card: AgentCard, isOld: boolean): Record<string, unknown> {
	const json = {
		...(AgentCard.toJSON(card) as Record<string, unknown>),
		// ProtoJSON omits empty fields, but both versions require these.
		skills: card.skills.map(({ id, name, description, tags }) => ({ id, name, description, tags }))
	};
	if (!isOld) return json;
	return {
		...json,
		protocolVersion: '0.3.0',
		url: card.supportedInterfaces[0]?.url,
		preferredTransport: 'JSONRPC',
		additionalInterfaces: [{ url: card.supportedInterfaces[0]?.url, transport: 'JSONRPC' }],
		supportsAuthenticatedExtendedCard: true,
		...(card.securityRequirements.length > 0 && {
			securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: BEARER } },
			security: [{ bearer: [] }]
		})
	};
}

const DEFAULTS = { examples: [], inputModes: [], outputModes: [], securityRequirements: [] };

/** What the agent can do without any skill. */
const GENERAL: AgentSkill = {
	...DEFAULTS,
	id: 'agent',
	name: 'Answer',
	tags: ['chat', 'files', 'skills'],
	description: 'Answers a message, works on the files sent with it, and uses the skills that fit.'
};

function skillsOf({ skills, modes }: CardParts, apiKeyId: string | null): AgentSkill[] {
	const owner = ownerOf(apiKeyId ?? undefined);
	const usable = viewOf(skills.registry.snapshot(), { owner, ...modes }).library.skills;
	return usable.slice(0, MAX_SKILLS).map(({ name, description, tags }) => ({
		...DEFAULTS,
		// Other agents read this: no invisible characters.
		...withoutHiddenIn({ id: `skill:${name}`, name, description, tags: [...tags] })
	}));
}

const DEFAULT_PAGE = 50;

/** `render` makes a task of what was read. @throws A2AError for a page token that isn't ours */
async function listTasks(
	parts: CallParts,
	asker: Asker,
	request: ListTasksRequest,
	render: (source: TaskSource) => Promise<Task>
): Promise<ListTasksResponse> {
	const { contextId, status, statusTimestampAfter, pageToken } = request;
	const pageSize = request.pageSize ?? DEFAULT_PAGE;
	const { data, total } = await parts.store.tasks.list({
		apiKeyId: asker.apiKeyId,
		contextId: contextId || undefined,
		statuses: status === TaskState.TASK_STATE_UNSPECIFIED ? undefined : statusesOf(status),
		since: statusTimestampAfter ? new Date(statusTimestampAfter).toISOString() : undefined,
		after: pageToken === '' ? undefined : readToken(pageToken),
		// One more, to see whether there is a next page.
		limit: pageSize + 1
	});
	const page = data.slice(0, pageSize);
	const tasks: Task[] = [];
	for (const { taskId } of page) {
		const source = await readTask(parts, asker, taskId).catch((error: unknown) => {
			// Deleted meanwhile.
			if (error instanceof AppError && error.code === 'not_found') return null;
			throw error;
		});
		if (source) tasks.push(await render(source));
	}
	const last = data.length > pageSize ? page.at(-1) : undefined;
	return { tasks, pageSize, totalSize: total, nextPageToken: last ? tokenOf(last) : '' };
}

function statusesOf(state: TaskState): MessageStatus[] {
	return (Object.keys(STATES) as MessageStatus[]).filter((status) => STATES[status] === state);
}

function tokenOf({ at, runId }: TaskPlace): string {
	return Buffer.from(JSON.stringify([at, runId])).toString('base64url');
}

const token = z.tuple([z.iso.datetime(), z.string().max(1024)]);

function readToken(text: string): TaskPlace {
	try {
		const [at, runId] = token.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
		if (!runId.includes('\0')) return { at, runId };
	} catch {
		// Another server's, or none.
	}
	throw new RequestMalformedError('params.pageToken isn’t one of this list. Start again without it.');
}
