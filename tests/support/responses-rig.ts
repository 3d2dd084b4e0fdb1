/** The Responses API of a whole app over real HTTP, with demo mode or a scripted model behind it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp, type App } from '../../src/lib/server/app.ts';
import type { Caller } from '../../src/lib/server/access/caller.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import * as chatCompletions from '../../src/routes/v1/chat/completions/+server.ts';
import * as models from '../../src/routes/v1/models/+server.ts';
import * as model from '../../src/routes/v1/models/[...id]/+server.ts';
import { createResponseSockets, type SocketLimits } from '../../src/lib/server/protocols/responses/sockets.ts';
import { upgrade } from '../../src/lib/server/upgrade.ts';
import * as responses from '../../src/routes/v1/responses/+server.ts';
import * as response from '../../src/routes/v1/responses/[id]/+server.ts';
import * as cancellation from '../../src/routes/v1/responses/[id]/cancel/+server.ts';
import * as conversations from '../../src/routes/v1/conversations/+server.ts';
import * as conversation from '../../src/routes/v1/conversations/[id]/+server.ts';
import * as conversationItems from '../../src/routes/v1/conversations/[id]/items/+server.ts';
import * as conversationItem from '../../src/routes/v1/conversations/[id]/items/[item]/+server.ts';
import * as files from '../../src/routes/v1/files/+server.ts';
import * as file from '../../src/routes/v1/files/[id]/+server.ts';
import * as fileContent from '../../src/routes/v1/files/[id]/content/+server.ts';
import * as inputItems from '../../src/routes/v1/responses/[id]/input_items/+server.ts';
import * as inputTokens from '../../src/routes/v1/responses/input_tokens/+server.ts';
import * as compaction from '../../src/routes/v1/responses/compact/+server.ts';
import { startModelServer, type ModelServer, type Reply } from './model-server.ts';
import { validate, validateEvent } from './open-responses.ts';
import { serveRoutes, type RouteServer } from './route-server.ts';
import { putFiles } from './folder.ts';

export interface ResponsesRig {
	app: App;
	root: string;
	/** Including `/v1`. */
	url: string;
	/** The scripted model; null in demo mode. */
	model: ModelServer | null;
	/** Sends a body; checks the response against the document. */
	ask(body: unknown, more?: { key?: string; signal?: AbortSignal }): Promise<Asked>;
	/** The stream's events, each checked. */
	stream(body: Record<string, unknown>, more?: { key?: string }): Promise<StreamedEvent[]>;
	/** Both without a check: the document has only functions and their items. */
	askFreely(body: Record<string, unknown>): Promise<Asked>;
	streamFreely(body: Record<string, unknown>): Promise<StreamedEvent[]>;
	/** Compacts a conversation; checks the result against the document. */
	compact(body: unknown, more?: { key?: string; signal?: AbortSignal }): Promise<Asked>;
	get(path: string, more?: { key?: string; method?: string }): Promise<Asked>;
	/** The rest of a background response's stream, each event checked; `after` is the number of the last one known. */
	resume(id: string, after?: number, more?: { key?: string }): Promise<StreamedEvent[]>;
	close(): Promise<void>;
}

export interface Asked {
	status: number;
	// Bodies are checked against the document, and tests read them in many ways.
	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	body: any;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type StreamedEvent = { type: string; sequence_number: number } & Record<string, any>;

export interface ResponsesRigOptions {
	/** The model's replies, one per request. Default: demo mode. */
	script?: Reply[];
	/** Files to put into a skills folder. Default: the bundled skills. */
	skills?: Record<string, string | Uint8Array>;
	/** The model server's list of models. */
	models?: Record<string, unknown>[];
	env?: Record<string, string>;
	/** WebSocket limits. Default: the server's own. */
	sockets?: Partial<SocketLimits>;
}

export async function openResponses(options: ResponsesRigOptions = {}): Promise<ResponsesRig> {
	const root = await mkdtemp(join(tmpdir(), 'responses-rig-'));
	await putFiles(join(root, 'skills'), options.skills ?? {});
	const model_ = options.script
		? await startModelServer(options.script, options.models ? { models: options.models } : {})
		: null;
	const app = await createApp(
		loadConfig({
			DATA_DIR: join(root, 'data'),
			SKILLS_DIRS: options.skills ? join(root, 'skills') : join(import.meta.dirname, '../../skills'),
			SKILLS_SANDBOX: 'process',
			CHAT_TITLES: 'false',
			...(model_ ? { OPENROUTER_API_KEY: 'test-key-of-the-scripted-model', OPENROUTER_BASE_URL: model_.url } : {}),
			...options.env
		})
	);
	const routes = {
		'/v1/chat/completions': chatCompletions,
		'/v1/responses/compact': compaction,
		'/v1/responses': responses,
		'/v1/responses/[id]': response,
		'/v1/responses/[id]/cancel': cancellation,
		'/v1/responses/[id]/input_items': inputItems,
		'/v1/responses/input_tokens': inputTokens,
		'/v1/conversations': conversations,
		'/v1/conversations/[id]': conversation,
		'/v1/conversations/[id]/items': conversationItems,
		'/v1/conversations/[id]/items/[item]': conversationItem,
		'/v1/files': files,
		'/v1/files/[id]': file,
		'/v1/files/[id]/content': fileContent,
		'/v1/models': models,
		'/v1/models/[...id]': model
	};
	const server: RouteServer = await serveRoutes(app, routes, (request) => callerOf(app, request));
	const url = `${server.url}/v1`;
	const sockets = options.sockets ? createResponseSockets(app.responses, options.sockets) : app.sockets;
	server.http.on('upgrade', (request, socket, head) => void upgrade({ ...app, sockets }, request, socket, head));

	const send = (body: unknown, { key, signal }: { key?: string; signal?: AbortSignal } = {}, path = '/responses') =>
		fetch(`${url}${path}`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', ...authorization(key) },
			body: typeof body === 'string' ? body : JSON.stringify(body),
			...(signal ? { signal } : {})
		});
	return {
		...{ app, root, url, model: model_ },
		async ask(body, more) {
			const answer = await send(body, more);
			const value: unknown = await answer.json();
			if (answer.status === 200) validate('ResponseResource', value);
			return { status: answer.status, body: value };
		},
		async stream(body, more) {
			const answer = await send({ ...body, stream: true }, more);
			return checked(readEvents(await answer.text()), 0);
		},
		async askFreely(body) {
			const answer = await send(body);
			return { status: answer.status, body: await answer.json() };
		},
		async streamFreely(body) {
			const answer = await send({ ...body, stream: true });
			return readEvents(await answer.text());
		},
		async compact(body, more) {
			const answer = await send(body, more, '/responses/compact');
			const value: unknown = await answer.json();
			if (answer.status === 200) validate('CompactResource', value);
			return { status: answer.status, body: value };
		},
		async get(path, { key, method = 'GET' } = {}) {
			const answer = await fetch(`${url}${path}`, { method, headers: authorization(key) });
			return { status: answer.status, body: await answer.json() };
		},
		async resume(id, after = -1, { key } = {}) {
			const from = after < 0 ? '' : `&starting_after=${after}`;
			const answer = await fetch(`${url}/responses/${id}?stream=true${from}`, { headers: authorization(key) });
			return checked(readEvents(await answer.text()), after + 1);
		},
		async close() {
			await app.responses.close();
			await sockets.close();
			await server.close();
			await app.close();
			await model_?.close();
			await rm(root, { recursive: true, force: true });
		}
	};
}

export interface ResponsesRigs {
	/** Shares one app between a file's tests; with `more` set, or to close it, a test gets its own app. */
	open(script: Reply[], more?: ResponsesRigOptions): Promise<ResponsesRig>;
	/** After each test: checks that the script was used up. */
	settle(): Promise<void>;
	/** After all tests. */
	close(): Promise<void>;
}

export function createResponsesRigs(skills: Record<string, string>): ResponsesRigs {
	let shared: ResponsesRig | null = null;
	let current: ResponsesRig | null = null;
	return {
		async open(script, more) {
			if (more) return (current = await openResponses({ script, skills, ...more }));
			current = shared ??= await openResponses({ script: [], skills });
			current.model?.restart(script);
			return current;
		},
		async settle() {
			try {
				current?.model?.assertDone();
			} finally {
				if (current !== shared) await current?.close();
				current = null;
			}
		},
		close: async () => shared?.close()
	};
}

/** A key that was really created, or the id of a made-up one. */
async function callerOf({ login }: App, request: Request): Promise<Caller> {
	const authorization = request.headers.get('authorization');
	const apiKeyId = authorization?.replace(/^Bearer /, '') ?? null;
	if (apiKeyId?.startsWith('ors_')) return login.check({ authorization, session: undefined, client: '127.0.0.1' });
	return { apiKeyId: apiKeyId?.startsWith('key_') ? apiKeyId : null, scopes: ['read', 'write', 'execute'] };
}

function authorization(key: string | undefined): Record<string, string> {
	return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

/** Throws unless each event is as documented, and their numbers follow each other from `first`. */
function checked(events: StreamedEvent[], first: number): StreamedEvent[] {
	for (const [index, event] of events.entries()) {
		validateEvent(event);
		if (event.sequence_number !== first + index) throw new Error(`event ${index} has number ${event.sequence_number}`);
	}
	return events;
}

/** Throws unless it's a valid SSE stream: each event named after its type, `[DONE]` last. */
function readEvents(text: string): StreamedEvent[] {
	const frames = text.split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'));
	if (frames.pop() !== 'data: [DONE]') throw new Error(`the stream does not end in [DONE]: ${text.slice(-300)}`);
	return frames.map((frame) => {
		const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
		const event = JSON.parse(data ?? '{}') as StreamedEvent;
		if (event.type !== name) throw new Error(`an event is named ${name}, and is ${event.type}`);
		return event;
	});
}
