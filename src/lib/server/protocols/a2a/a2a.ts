/** Agent2Agent over JSON-RPC. A task is a run, a context a conversation, artifacts are a run's output (E16). */
import { AgentCard, type Message, type StreamResponse, type Task, type AgentSkill } from '@a2a-js/sdk';
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
import { duplicateInterfacesForLegacy } from '@a2a-js/sdk/compat/v0_3';
import { AppError } from '../../../shared/errors.ts';
import type { Log } from '../../log.ts';
import type { Asker } from '../../turns/toolbox.ts';
import { artifactsOf, toTask, taskEvents } from './render-task.ts';
import { readCall, type RpcCall, rpcError, type RpcError } from './requests.ts';
import { type CallParts, cancel, readTask, send, type TaskSource } from './task-calls.ts';
import { withoutHiddenIn } from '../../../shared/characters.ts';
import type { SkillRegistry } from '../../skills/registry/registry.ts';
import { ownerOf, viewOf } from '../../skills/registry/visibility.ts';
import type { StoredSkillModes } from '../../trust/skill-modes.ts';

/** Maximum request body. Large, because files arrive as base64. */
export const MAX_A2A_BYTES = 24 * 1024 * 1024;

export interface A2AParts extends CallParts, CardParts {
	log: Log;
}

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
}

const VERSIONS = /^(0\.3|1\.0)(\.\d+)?$/;

export function createA2A(parts: A2AParts): A2A {
	return {
		async answer(readBody, caller) {
			const call = await readBody().then(readCall, (error: unknown) =>
				rpcError(null, A2A_ERROR_CODE.INVALID_REQUEST, toA2AError(error, parts.log).message)
			);
			if ('error' in call) return { json: call };
			const { id, version } = call;
			if (caller.version !== null && !VERSIONS.test(caller.version)) {
				const message = 'This server supports A2A 1.0 and 0.3 only.';
				return { json: rpcError(id, A2A_ERROR_CODE.VERSION_NOT_SUPPORTED, message) };
			}
			const handler = createHandler(parts, caller, version);
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
			cardJson(agentCard(parts, reader, agent), version === null || version.startsWith('0.'))
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

/** Handles one request for the SDK's transports. */
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
				// 0.3 doesn't forbid it: a client that subscribes a moment too late still learns how the task ended.
				if (version === '0.3' || ['running', 'waiting'].includes(source.answer.status)) return source;
				throw new UnsupportedOperationError('This task is done. Use GetTask to read it.');
			}),
		async listTasks() {
			throw new UnsupportedOperationError('Tasks can’t be listed. Request one by its id.');
		},
		createTaskPushNotificationConfig: noPush,
		getTaskPushNotificationConfig: noPush,
		listTaskPushNotificationConfigs: noPush,
		deleteTaskPushNotificationConfig: noPush
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
		capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: true },
		securitySchemes: {
			bearer: {
				scheme: {
					$case: 'httpAuthSecurityScheme',
					value: { description: BEARER, scheme: 'Bearer', bearerFormat: '' }
				}
			}
		},
		securityRequirements: [{ schemes: { bearer: { list: [] } } }],
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
		supportsAuthenticatedExtendedCard: true,
		securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: BEARER } },
		security: [{ bearer: [] }]
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
