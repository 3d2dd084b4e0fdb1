/** Opens a connection to an MCP server with the official client (E36). Hides the client’s types. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdir } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { createRedaction, type Redaction } from '../sandbox/output/redact.ts';
import { UNREACHABLE } from '../../shared/errors.ts';
import type { QuestionReply } from '../../shared/questions.ts';
import { readElicitation, readSampling, type SampleRequest, type ServerQuestion } from './asking.ts';
import { plainLine, type ToolAnswer, type ToolPage } from './listing.ts';
import type { Access } from './sign-in.ts';
import { unlessAborted } from '../skills/turns.ts';

/** Address or program of a server, with its secrets. */
export type Target =
	| {
			type: 'stdio';
			command: string;
			args: readonly string[];
			/** In addition to PATH, HOME and a few others. */
			env: Readonly<Record<string, string>>;
			/** Absolute; created if missing. */
			cwd: string;
	  }
	| {
			type: 'http';
			url: string;
			headers: Readonly<Record<string, string>>;
			/** Of the person who signed in. */
			access?: Access | null | undefined;
	  };

export interface CallOptions {
	signal: AbortSignal;
	onProgress(message: string): void;
	/** The chat's folder, which programs are told of; never told to a server over HTTP. */
	folder?: string | undefined;
	/** Asks the person; never rejects. */
	ask(question: ServerQuestion, signal: AbortSignal): Promise<QuestionReply>;
	/** Asks the chat's model, after the person; null if they don't allow it. Rejects if the model fails. */
	sample(request: SampleRequest, signal: AbortSignal): Promise<SampleAnswer | null>;
}

export interface SampleAnswer {
	text: string;
	model: string;
	isCut: boolean;
}

export interface ServerEvents {
	onClosed(reason: string): void;
	onToolsChanged(): void;
}

/** Leaves time to download a program. */
const CONNECT_TIMEOUT_MS = 60_000;
/** Older servers may not answer the newest version’s probe. */
const PROBE_TIMEOUT_MS = 5_000;
const LIST_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 2_000;
/** The maximum of a timer, because the caller limits calls. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_REASON = 500;
/** The specification's code for a request that a person has denied. */
const REJECTED = -1;
/** Characters of a program’s stderr kept to explain failures. */
const MAX_LAST_WORDS = 2_000;
/** Errors of a server that answered, but against the protocol. */
const ANSWERS: ReadonlySet<string> = new Set([
	'INVALID_RESULT',
	'UNSUPPORTED_RESULT_TYPE',
	'INPUT_REQUIRED_ROUNDS_EXCEEDED',
	'CAPABILITY_NOT_SUPPORTED'
]);

/** Redacts the server’s secrets from everything it sends. @throws ServerError with the reason */
export async function openServer(target: Target, events: ServerEvents, signal: AbortSignal) {
	// Loaded on demand: most installations have no MCP server.
	const { Client, StreamableHTTPClientTransport, ProtocolError, SdkError } =
		await import('@modelcontextprotocol/client');
	const calls = createCalls();
	const { transport, said, end, watch } = await openTransport(target);
	refuseVast(transport);
	const secretsOf = () =>
		target.type === 'stdio'
			? Object.values(target.env)
			: [...Object.values(target.headers), ...(target.access?.secrets() ?? [])];
	const redaction = redactionOf(secretsOf);
	const why = (error: unknown) => {
		const isAnswer = error instanceof ProtocolError || (error instanceof SdkError && ANSWERS.has(error.code));
		const { status } = error as { status?: unknown };
		return new ServerError(reasonOf(error, target, said(), redaction), { isAnswer, isRefused: status === 401 });
	};
	const client = new Client(
		{ name: 'openrouter-skills', version: '1.0.0' },
		{
			// Paths of this computer mean nothing to a server elsewhere.
			capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, ...(target.type === 'stdio' && { roots: {} }) },
			versionNegotiation: { mode: 'auto', probe: { timeoutMs: PROBE_TIMEOUT_MS } },
			// The connection reads the list no more often than it should.
			listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => events.onToolsChanged() } }
		}
	);
	client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
		const question = readElicitation(redaction.value(params));
		return (question && (await calls.asking()?.ask(question, mcpReq.signal))) ?? { action: 'decline' };
	});
	client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
		const request = readSampling(redaction.value(params));
		const answer = request && (await calls.asking()?.sample(request, mcpReq.signal));
		if (!answer) throw new ProtocolError(REJECTED, 'It wasn’t allowed to ask the model.');
		const { text, model, isCut } = answer;
		const content = { type: 'text' as const, text };
		return { role: 'assistant', content, model, stopReason: isCut ? 'maxTokens' : 'endTurn' };
	});
	if (target.type === 'stdio') {
		client.setRequestHandler('roots/list', () => {
			const folder = calls.asking()?.folder;
			return { roots: folder === undefined ? [] : [{ uri: pathToFileURL(folder).href, name: 'Files of the chat' }] };
		});
	}
	let isOpen = true;
	const close = async () => {
		isOpen = false;
		await end();
		await client.close().catch(() => undefined);
	};
	const connecting = client.connect(transport, { signal, timeout: CONNECT_TIMEOUT_MS });
	try {
		await unlessAborted(connecting, signal);
	} catch (error) {
		// The client finishes its version negotiation even when aborted, so close it again afterwards.
		if (signal.aborted) void connecting.catch(() => undefined).then(close);
		await close();
		throw why(error);
	}
	watch();
	// Invalid lines and broken streams: affected calls fail themselves.
	client.onerror = () => undefined;
	client.onclose = () => {
		if (isOpen) events.onClosed(why(new SdkError('CONNECTION_CLOSED' as never, 'The connection was closed.')).message);
	};
	const about = client.getServerVersion();
	return {
		/** Its own name and version. */
		software: about ? plainLine(redaction.text(`${about.name} ${about.version}`), 100) : null,
		async readPage(cursor: string | undefined, within: AbortSignal): Promise<ToolPage> {
			if (!client.getServerCapabilities()?.tools) return { tools: [] };
			try {
				const params = cursor === undefined ? {} : { cursor };
				const options = { signal: within, timeout: LIST_TIMEOUT_MS };
				const page: ToolPage = await client.request({ method: 'tools/list', params }, options);
				return { ...page, tools: page.tools.flatMap((tool) => withoutSecrets(tool, redaction)) };
			} catch (error) {
				throw why(error);
			}
		},
		async call(tool: string, args: Record<string, unknown>, options: CallOptions): Promise<ToolAnswer> {
			const sent = {
				signal: options.signal,
				timeout: NO_TIMEOUT_MS,
				onprogress({ progress, total, message }: { progress: number; total?: number; message?: string }) {
					const count = total === undefined ? String(progress) : `${progress} of ${total}`;
					options.onProgress(redaction.text(message ?? count));
				}
			};
			try {
				const answer: ToolAnswer = await calls.during(options, () =>
					client.callTool({ name: tool, arguments: args }, sent)
				);
				return redaction.value(answer);
			} catch (error) {
				throw why(error);
			}
		},
		/** Never rejects. */
		close
	};

	async function openTransport(at: Target) {
		if (at.type === 'stdio') {
			// Without a sandbox (SECURITY, MCP servers): only this and the sandbox start processes.
			const { getDefaultEnvironment, StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
			const { command, args, cwd } = at;
			await mkdir(cwd, { recursive: true });
			// Without the server’s other variables, which include keys.
			const env = { ...getDefaultEnvironment(), ...at.env };
			const program = new StdioClientTransport({ command, args: [...args], env, cwd, stderr: 'pipe' });
			let tail = '';
			program.stderr?.on('data', (chunk: Buffer) => {
				tail = (tail + chunk.toString()).slice(-MAX_LAST_WORDS);
			});
			return { transport: program, said: () => tail, end: async () => undefined, watch: () => undefined };
		}
		const { access } = at;
		const http = new StreamableHTTPClientTransport(new URL(at.url), {
			requestInit: { headers: { ...at.headers } },
			fetch: createGuardedFetch(at.url),
			...(access && { authProvider: { token: async () => access.token(), onUnauthorized: () => access.renew() } })
		});
		// Lets the server free the session.
		const end = () => settled(http.terminateSession(), CLOSE_TIMEOUT_MS);
		// The client waits on for the answer of a call whose stream has ended for good.
		const awaited = new Map<unknown, CallOptions>();
		const send = http.send.bind(http);
		http.send = (message, sending) => {
			const call = calls.current();
			if (!call || Array.isArray(message) || !('method' in message && 'id' in message)) return send(message, sending);
			const { id } = message;
			awaited.set(id, call);
			const onRequestStreamEnd = () => {
				sending?.onRequestStreamEnd?.();
				if (awaited.delete(id)) calls.lose(call);
			};
			return send(message, { ...sending, onRequestStreamEnd });
		};
		/** Once connected, because the client sets its own receiver then. */
		const watch = () => {
			const receive = http.onmessage;
			http.onmessage = (message) => {
				if (!('method' in message)) awaited.delete(message.id);
				receive?.(message);
			};
		};
		return { transport: http, said: () => '', end, watch };
	}
}

export type OpenServer = Awaited<ReturnType<typeof openServer>>;

/** Finds the call that a request of the server belongs to, because the protocol doesn't say. */
function createCalls() {
	const running = new Map<CallOptions, (reason: Error) => void>();
	const context = new AsyncLocalStorage<CallOptions>();
	return {
		async during<Result>(call: CallOptions, task: () => Promise<Result>): Promise<Result> {
			const lost = Promise.withResolvers<never>();
			running.set(call, lost.reject);
			try {
				return await Promise.race([context.run(call, task), lost.promise]);
			} finally {
				running.delete(call);
			}
		},
		/** The call that this is done for; null for none. */
		current: (): CallOptions | null => context.getStore() ?? null,
		lose(call: CallOptions): void {
			running.get(call)?.(new Error('It closed the connection before it answered.'));
		},
		/** Null outside of calls, and if it could be one of several chats. In one chat it's the same person anyway. */
		asking(): CallOptions | null {
			const own = context.getStore();
			if (own) return running.has(own) ? own : null;
			const calls = [...running.keys()];
			const newest = calls.at(-1);
			const isOneChat = newest?.folder !== undefined && calls.every(({ folder }) => folder === newest.folder);
			return newest && (calls.length === 1 || isOneChat) ? newest : null;
		}
	};
}

/** Why a server can’t be used. `isAnswer` if the server itself answered so, and the connection is fine. */
export class ServerError extends Error {
	override readonly name = 'ServerError';
	readonly isAnswer: boolean;
	/** It wants somebody to sign in. */
	readonly isRefused: boolean;

	constructor(message: string, { isAnswer = false, isRefused = false } = {}) {
		super(message);
		[this.isAnswer, this.isRefused] = [isAnswer, isRefused];
	}
}

type Hiding = Pick<Redaction, 'text' | 'value'>;

/** Of the secrets as they are now: a token is renewed. */
function redactionOf(secrets: () => readonly string[]): Hiding {
	let known: readonly string[] = [];
	let made = createRedaction(known);
	const current = () => {
		const now = secrets();
		if (now.length !== known.length || now.some((each, index) => each !== known[index])) {
			[known, made] = [now, createRedaction(now)];
		}
		return made;
	};
	return { text: (text) => current().text(text), value: (value) => current().value(value) };
}

/** Drops a tool with a secret in its name, because it couldn’t be called by a redacted one. */
function withoutSecrets(tool: ToolPage['tools'][number], { text, value }: Hiding): ToolPage['tools'] {
	if (text(tool.name) !== tool.name) return [];
	return [{ ...tool, description: value(tool.description), inputSchema: value(tool.inputSchema) }];
}

/** A sentence without the server’s secrets, which are redacted before shortening. */
function reasonOf(error: unknown, target: Target, said: string, { text }: Hiding): string {
	const message = plainLine(text(sentenceOf(error, target)), MAX_REASON);
	const lastWords = plainLine(text(said).trimEnd().split('\n').slice(-3).join(' '), MAX_REASON);
	return lastWords === '' ? message : `${message.replace(/[^.!?…]$/, '$&.')} Its last output: ${lastWords}`;
}

function sentenceOf(error: unknown, target: Target): string {
	if (!(error instanceof Error)) return String(error);
	const { code, status } = error as Error & { code?: unknown; status?: unknown };
	if (code === 'ENOENT' && target.type === 'stdio') return `Program not found: “${target.command}”.`;
	if (code === 'EACCES' && target.type === 'stdio') return `No permission to start “${target.command}”.`;
	if (code === 'CONNECTION_CLOSED')
		return target.type === 'stdio' ? 'The program exited.' : 'The connection was closed.';
	if (code === 'REQUEST_TIMEOUT') return 'It didn’t respond in time.';
	if (status === 401 || status === 403) {
		return `It refused access (status ${status}). Sign in, or add a header such as “Authorization”.`;
	}
	const refused = statusOf(error);
	if (refused !== null) return `It answered with status ${refused}.${refused >= 500 ? ' Try again later.' : ''}`;
	const inner = innermost(error) as NodeJS.ErrnoException;
	if (error.message.includes('fetch failed')) {
		const { host } = new URL(target.type === 'http' ? target.url : 'http://local');
		return `Couldn’t connect to ${host}: ${UNREACHABLE[inner.code ?? ''] ?? inner.code ?? inner.message}.`;
	}
	return error.message.replace(/^MCP error -?\d+: /, '') || error.name;
}

/** An HTTP status of 400 or more, which the client may only have in its message; null without one. */
function statusOf(error: Error): number | null {
	const { status } = error as Error & { status?: unknown };
	const told = typeof status === 'number' ? status : Number(/ with HTTP (\d{3})$/.exec(error.message)?.[1]);
	return told >= 400 ? told : null;
}

function innermost(error: Error): Error {
	const { cause, data } = error as Error & { data?: unknown };
	const next = cause ?? (data as { cause?: unknown } | undefined)?.cause;
	return next instanceof Error && next !== error ? innermost(next) : error;
}

/** Waits for it, at most `timeoutMs`, and ignores its errors. */
async function settled(work: Promise<unknown>, timeoutMs: number): Promise<void> {
	await Promise.race([work.catch(() => undefined), delay(timeoutMs, undefined, { ref: false })]);
}

// Limits on what a server sends, and where requests to it go (SECURITY, MCP servers).

type Handler = (message: never, extra?: never) => void;

interface Incoming {
	id?: string | number;
	method?: string;
	params?: unknown;
	result?: { content?: unknown; inputRequests?: unknown };
}

const TOO_MUCH = 'It sent more than can be read.';
const MAX_VALUES = 20_000;
const MAX_CHARACTERS = 1_000_000;

/** Before the client checks a message: for one of many small values that takes it seconds, in which everybody waits. */
function refuseVast(wire: { send(message: never): Promise<void> }): void {
	let guarded: Handler | undefined;
	const guard =
		(handler: Handler) =>
		(message: Incoming, extra?: never): void => {
			const { id, method, params, result } = message;
			if (method !== undefined && isVast(params, MAX_CHARACTERS)) {
				if (id === undefined) return;
				const refusal =
					method === 'elicitation/create'
						? { result: { action: 'decline' } }
						: { error: { code: -32_602, message: TOO_MUCH } };
				// If it can't be told, the connection is over.
				void wire.send({ jsonrpc: '2.0', id, ...refusal } as never).catch(() => undefined);
			} else if (isVast(result?.content, Infinity) || isVast(result?.inputRequests, MAX_CHARACTERS)) {
				handler({ jsonrpc: '2.0', id, error: { code: -32_603, message: TOO_MUCH } } as never, extra);
			} else handler(message as never, extra);
		};
	Object.defineProperty(wire, 'onmessage', {
		get: () => guarded,
		set: (handler?: Handler) => void (guarded = handler && guard(handler))
	});
}

/** Counts values, and characters of names and texts, until it's sure. */
function isVast(whole: unknown, mostCharacters: number): boolean {
	let [values, characters] = [0, 0];
	const open = [whole];
	while (open.length > 0) {
		const value = open.pop();
		values += 1;
		if (typeof value === 'string') characters += value.length;
		const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
		if (values + open.length + names.length > MAX_VALUES) return true;
		for (const name of names) {
			characters += name.length;
			open.push((value as Record<string, unknown>)[name]);
		}
		if (characters > mostCharacters) return true;
	}
	return false;
}

// `fetch` for an MCP server: only to its own origin, with limited responses (SECURITY, MCP servers).

/** Size of a response, or of one event of a stream. */
const MAX_BYTES = 10 * 1024 * 1024;

/** `address` may be any host, because the operator set it. */
function createGuardedFetch(address: string): (url: string | URL, init?: RequestInit) => Promise<Response> {
	const { origin } = new URL(address);
	return async (url, init = {}) => {
		const target = new URL(url);
		if (target.origin !== origin) throw new Error(`It redirected to ${target.origin}, which isn’t allowed.`);
		// The client decides about redirects.
		const response = await fetch(target, { ...init, redirect: 'manual' });
		if (!response.body) return response;
		const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
		return new Response(response.body.pipeThrough(bounded(isStream)), response);
	};
}

/** Fails beyond `MAX_BYTES`; in an event stream, per event. */
function bounded(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
	let bytes = 0;
	return new TransformStream({
		transform(chunk, controller) {
			const end = isStream ? endOfEvent(chunk) : -1;
			bytes = end < 0 ? bytes + chunk.length : chunk.length - end;
			if (bytes > MAX_BYTES) controller.error(new Error(`Its response is larger than ${MAX_BYTES} bytes.`));
			else controller.enqueue(chunk);
		}
	});
}

/** Index of the last empty line; -1 without one. Ignores one split between chunks, which then counts for the next event. */
function endOfEvent(chunk: Uint8Array): number {
	const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
	return Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'), text.lastIndexOf('\r\r'));
}
