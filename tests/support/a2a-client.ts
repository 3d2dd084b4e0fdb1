/** Clients of @a2a-js/sdk for both versions of A2A, and helpers to send and read messages. */
import { Role, type Part, type SendMessageRequest, type StreamResponse, type Task } from '@a2a-js/sdk';
import {
	ClientFactory,
	ClientFactoryOptions,
	createAuthenticatingFetchWithRetry,
	DefaultAgentCardResolver,
	JsonRpcTransportFactory,
	type Client
} from '@a2a-js/sdk/client';
import { LegacyJsonRpcTransport, parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client';

export type A2AVersion = '1.0' | '0.3';

/** What both clients can do, in terms of version 1.0. */
export type A2AClient = Pick<
	Client,
	| 'sendMessage'
	| 'sendMessageStream'
	| 'getTask'
	| 'cancelTask'
	| 'resubscribeTask'
	| 'createTaskPushNotificationConfig'
	| 'getTaskPushNotificationConfig'
	| 'listTaskPushNotificationConfig'
	| 'deleteTaskPushNotificationConfig'
>;

/** The SDK's client, set up from the server's agent card. */
export async function a2aClient(url: string, version: A2AVersion, token?: string): Promise<A2AClient> {
	const fetchImpl = token === undefined ? fetch : withToken(token);
	if (version === '0.3') {
		// Read the card as a 0.3 client does, without the newer fields.
		const response = await fetchImpl(`${url}/.well-known/agent-card.json`);
		const { supportedInterfaces: _, ...old } = (await response.json()) as Record<string, unknown>;
		const [place] = parseLegacyAgentCard(old).supportedInterfaces;
		return new LegacyJsonRpcTransport({ endpoint: place?.url ?? '', fetchImpl }) as unknown as A2AClient;
	}
	const factory = new ClientFactory(
		ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
			transports: [new JsonRpcTransportFactory({ fetchImpl })],
			cardResolver: new DefaultAgentCardResolver({ fetchImpl })
		})
	);
	return factory.createFromUrl(url);
}

function withToken(token: string): typeof fetch {
	return createAuthenticatingFetchWithRetry(fetch, {
		headers: async () => ({ authorization: `Bearer ${token}` }),
		shouldRetryWithHeaders: async () => undefined
	});
}

export function says(
	text: string,
	more: { contextId?: string; taskId?: string; parts?: Part[] } = {}
): SendMessageRequest {
	const { contextId = '', taskId = '', parts = [] } = more;
	const words: Part[] = text === '' ? [] : [part({ $case: 'text', value: text })];
	return {
		tenant: '',
		message: {
			...{ messageId: crypto.randomUUID(), contextId, taskId, role: Role.ROLE_USER, parts: [...words, ...parts] },
			...{ metadata: undefined, extensions: [], referenceTaskIds: [] }
		},
		configuration: undefined,
		metadata: undefined
	};
}

/** Returns at once while the task continues. */
export function atOnce(request: SendMessageRequest): SendMessageRequest {
	return {
		...request,
		configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true }
	};
}

export function part(content: Part['content'], filename = '', mediaType = ''): Part {
	return { content, filename, mediaType, metadata: undefined };
}

export function filePart(name: string, text: string): Part {
	return part({ $case: 'raw', value: Buffer.from(text) }, name, 'text/csv');
}

/** Sends a message and returns its task. */
export async function sendTask(client: A2AClient, request: SendMessageRequest): Promise<Task> {
	const result = await client.sendMessage(request);
	if ('messageId' in result) throw new Error('a message came instead of a task');
	return result;
}

export async function all(events: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
	const list: StreamResponse[] = [];
	for await (const event of events) list.push(event);
	return list;
}

/** An artifact's text, joined from its parts. */
export function textOfArtifact(task: Pick<Task, 'artifacts'>, id = 'answer'): string {
	const parts = task.artifacts.find(({ artifactId }) => artifactId === id)?.parts ?? [];
	return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}

/** The client's task after these events, updated as the protocol says. */
export function replayed(events: readonly StreamResponse[]): Task {
	const first = events[0]?.payload;
	if (first?.$case !== 'task') throw new Error('a stream must begin with its task');
	return events.slice(1).reduce((task, { payload }): Task => {
		if (payload?.$case === 'statusUpdate') return { ...task, status: payload.value.status };
		if (payload?.$case !== 'artifactUpdate' || !payload.value.artifact) return task;
		const { artifact, append } = payload.value;
		const others = task.artifacts.filter(({ artifactId }) => artifactId !== artifact.artifactId);
		const before = task.artifacts.find(({ artifactId }) => artifactId === artifact.artifactId);
		const whole = append && before ? { ...before, parts: [...before.parts, ...artifact.parts] } : artifact;
		return { ...task, artifacts: [...others, whole] };
	}, structuredClone(first.value));
}
