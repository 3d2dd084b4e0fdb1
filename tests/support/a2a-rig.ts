/** The whole app behind real HTTP with A2A's two routes, and the SDK's own clients of both versions. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
import { getRequest, setResponse } from '@sveltejs/kit/node';
import { checkRoute } from '../../src/lib/server/access/caller.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import { errorResponse } from '../../src/lib/server/http.ts';
import * as card from '../../src/routes/.well-known/agent-card.json/+server.ts';
import * as a2a from '../../src/routes/a2a/+server.ts';

export type A2AVersion = '1.0' | '0.3';

/** What both clients can do, in the words of 1.0. */
export type A2AClient = Pick<
	Client,
	'sendMessage' | 'sendMessageStream' | 'getTask' | 'cancelTask' | 'resubscribeTask'
>;

export interface A2ARig {
	url: string;
	readonly app: App;
	root: string;
	/** Ends the app and opens it again on the same data, as after a restart. */
	reopen(): Promise<void>;
	close(): Promise<void>;
}

/** A skill that says what it is given, and one that waits until it is killed. */
const SKILLS: Record<string, string> = {
	'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.',
	'demo/scripts/say.sh': 'echo "said: $*"; echo "made for $*" > made.txt\n',
	'demo/scripts/big.sh': 'head -c 1500000 /dev/zero > big.bin\n',
	'demo/scripts/wait.sh': 'echo waiting; exec sleep "$1"\n'
};

export async function startA2ARig(env: Record<string, string> = {}): Promise<A2ARig> {
	const root = await mkdtemp(join(tmpdir(), 'a2a-rig-'));
	for (const [path, text] of Object.entries(SKILLS)) {
		await mkdir(dirname(join(root, 'skills', path)), { recursive: true });
		await writeFile(join(root, 'skills', path), text);
	}
	const open = () =>
		createApp(
			loadConfig({
				...{ DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills'), SKILLS_SANDBOX: 'process' },
				...{ SHUTDOWN_TIMEOUT_MS: '0', ...env }
			})
		);
	let app = await open();
	const routes: Record<string, { id: string; handlers: Record<string, unknown> }> = {
		'/a2a': { id: '/a2a', handlers: a2a },
		'/.well-known/agent-card.json': { id: 'card', handlers: card }
	};
	const server = createServer((incoming, response) => {
		void (async () => {
			const base = `http://${incoming.headers.host}`;
			const request = await getRequest({ request: incoming, base });
			const route = routes[new URL(request.url).pathname];
			const answer = await respond(app, request, route).catch(errorResponse);
			await setResponse(response, answer);
		})();
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		root,
		get app() {
			return app;
		},
		async reopen() {
			await app.close();
			app = await open();
		},
		async close() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
			await app.close();
			await rm(root, { recursive: true, force: true });
		}
	};
}

/** What the hooks do for these two routes. */
async function respond(
	app: App,
	request: Request,
	route: { id: string; handlers: Record<string, unknown> } | undefined
): Promise<Response> {
	const handler = route?.handlers[request.method] as ((event: unknown) => Promise<Response>) | undefined;
	if (!route || !handler) return new Response(null, { status: 404 });
	const locals = { app, client: 'a client', caller: { apiKeyId: null as string | null } };
	if (route.id !== 'card') {
		const proof = { authorization: request.headers.get('authorization'), session: undefined, client: locals.client };
		const caller = await app.login.check(proof);
		checkRoute(caller, route.id, request.method);
		locals.caller = caller;
	}
	return handler({ request, url: new URL(request.url), locals, cookies: { get: () => undefined } });
}

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
