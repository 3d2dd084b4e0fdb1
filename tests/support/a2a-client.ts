/** The clients of @a2a-js/sdk for both versions of A2A, and what tests send and read with them. */
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

/** What both clients can do, in the words of 1.0. */
export type A2AClient = Pick<
	Client,
	'sendMessage' | 'sendMessageStream' | 'getTask' | 'cancelTask' | 'resubscribeTask'
>;

/** The SDK's client, by the card that the server shows. */
export async function a2aClient(url: string, version: A2AVersion, token?: string): Promise<A2AClient> {
	const fetchImpl = token === undefined ? fetch : withToken(token);
	if (version === '0.3') {
		// As a client of 0.3 sees it: only what 0.3 knows.
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

/** Answers at once, while the task goes on. */
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

/** Sends and gets a task. */
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

/** The text of an artifact, put together of its parts. */
export function textOfArtifact(task: Pick<Task, 'artifacts'>, id = 'answer'): string {
	const parts = task.artifacts.find(({ artifactId }) => artifactId === id)?.parts ?? [];
	return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}

/** The task that a client has after these events, put together as the protocol says. */
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
