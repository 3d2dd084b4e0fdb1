/** Many clients at once on all protocols, with every answer checked: for a benchmark, and small for a test. */
import { randomInt, randomUUID } from 'node:crypto';
import { framesOf } from './protocol-answers.ts';

export interface LoadOptions {
	url: string;
	/** API keys that may read and execute; clients take turns with them. */
	keys: readonly string[];
	clients: number;
	/** Seconds during which new flows start. Default: each flow runs `share` times. */
	seconds?: number;
}

/** One way through a protocol, from the first request to the last. */
export interface FlowResult {
	name: string;
	/** Out of a hundred flows. */
	share: number;
	/** Does it start a script? */
	runsScript: boolean;
	requests: number;
	/** Milliseconds per whole flow. */
	latencies: number[];
}

export interface LoadResult {
	flows: FlowResult[];
	/** Missing or wrong answers. */
	errors: string[];
	/** MCP sessions, all of them ended. */
	sessions: { id: string; key: string }[];
}

/** One client's run through a flow. */
interface Turn {
	key: string;
	/** @throws Error if the status isn't 2xx */
	ask(path: string, request?: { body?: unknown; method?: string; headers?: Record<string, string> }): Promise<Answer>;
	sessions: LoadResult['sessions'];
}

interface Answer {
	text: string;
	headers: Headers;
}

interface Flow {
	name: string;
	share: number;
	runsScript: boolean;
	/** @throws Error if an answer is wrong */
	run(turn: Turn): Promise<void>;
}

const ANSWER_MS = 60_000;
const JSON_TYPE = { 'content-type': 'application/json' };
const SSE = { accept: 'text/event-stream' };
const WORDS = 'amber birch cedar dune ember fjord grove heath inlet juniper knoll larch meadow'.split(' ');

/** A client-side tool: the answer is a call of it, and no script runs. */
const TOOL = {
	name: 'look_up_parcel',
	description: 'Looks up a parcel by the text of its label.',
	parameters: { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] }
};

function randomText(): { text: string; count: number } {
	const count = randomInt(3, 13);
	return { text: Array.from({ length: count }, () => WORDS[randomInt(WORDS.length)]).join(' '), count };
}

function require(isTrue: boolean, sentence: string, seen: unknown): asserts isTrue {
	if (!isTrue) throw new Error(`${sentence}: ${(JSON.stringify(seen) ?? '').slice(0, 400)}`);
}

const requireCount = (answer: string, count: number): void =>
	require(new RegExp(`words\\W+${count}\\b`, 'i').test(answer), `it does not say ${count} words`, answer);

const FLOWS: readonly Flow[] = [
	{
		...{ name: 'REST, list of skills', share: 30, runsScript: false },
		async run({ ask }) {
			const list = JSON.parse((await ask('/api/skills?limit=100')).text) as { data: { name: string }[]; total: number };
			const names = list.data.map(({ name }) => name);
			require(list.total === names.length && names.includes('count-words'), 'a list without its skills', names);
		}
	},
	{
		...{ name: 'Responses, JSON, a tool of the caller', share: 8, runsScript: false },
		async run({ ask }) {
			const { text } = randomText();
			const { output } = JSON.parse((await ask('/v1/responses', { body: parcel(text, false) })).text) as ResponseBody;
			requireCall(output, text);
		}
	},
	{
		...{ name: 'Responses, SSE, a tool of the caller', share: 8, runsScript: false },
		async run({ ask }) {
			const { text } = randomText();
			requireCall((await streamed(ask, parcel(text, true))).output, text);
		}
	},
	{
		...{ name: 'Chat Completions, JSON, a tool of the caller', share: 6, runsScript: false },
		async run({ ask }) {
			const { text } = randomText();
			const { choices } = JSON.parse((await ask(CHAT, { body: chatParcel(text, false) })).text) as Completion;
			requireCall(
				choices.flatMap(({ message }) => callsOf(message)),
				text
			);
		}
	},
	{
		...{ name: 'Chat Completions, SSE, a tool of the caller', share: 6, runsScript: false },
		async run({ ask }) {
			const { text } = randomText();
			const parts = (await chunksOf(ask, chatParcel(text, true))).flatMap(callsOf);
			const name = parts[0]?.name ?? '';
			requireCall([{ type: 'function_call', name, arguments: parts.map((part) => part.arguments).join('') }], text);
		}
	},
	{
		...{ name: 'AG-UI, SSE, a tool of the caller', share: 14, runsScript: false },
		async run({ ask }) {
			const { text } = randomText();
			const events = await runOf(ask, `Look up the parcel labelled "${text}"`, [TOOL]);
			const args = events.map(({ type, delta }) => (type === 'TOOL_CALL_ARGS' ? String(delta) : '')).join('');
			require(args !== '' && (JSON.parse(args) as { label?: unknown }).label === text, `no call with ${text}`, events);
		}
	},
	{
		...{ name: 'A2A, message/stream, a greeting', share: 10, runsScript: false },
		async run({ ask }) {
			const answer = await taskOf(ask, 'Hello there!');
			require(answer.includes('count-words'), 'an answer without the skills', answer);
		}
	},
	{
		...{ name: 'MCP, a session with load_skill', share: 12, runsScript: false },
		run: (turn) =>
			inSession(turn, async (call) => {
				const { content } = await call('load_skill', { skill: 'count-words' });
				const text = content?.[0]?.text ?? '';
				require(text.includes('Never estimate these numbers'), 'no instructions', text);
			})
	},
	{
		...{ name: 'MCP, a session with use_skill', share: 2, runsScript: true },
		run: (turn) =>
			inSession(turn, async (call) => {
				const { text, count } = randomText();
				const args = { skill: 'count-words', script: 'scripts/count.mjs', args: [text] };
				const result = await call('use_skill', args);
				const { stdout = '' } = (result.structuredContent ?? {}) as { stdout?: string };
				require((JSON.parse(stdout || '{}') as { words?: number }).words === count, `not ${count} words`, result);
			})
	},
	{
		...{ name: 'Responses, SSE, words counted', share: 1, runsScript: true },
		async run({ ask }) {
			const { text, count } = randomText();
			const { output } = await streamed(ask, { input: `Count the words of "${text}"`, stream: true });
			requireCount(JSON.stringify(output.filter(({ type }) => type === 'message')), count);
		}
	},
	{
		...{ name: 'Chat Completions, SSE, words counted', share: 1, runsScript: true },
		async run({ ask }) {
			const { text, count } = randomText();
			const body = { messages: [{ role: 'user', content: `Count the words of "${text}"` }], stream: true };
			const deltas = await chunksOf(ask, body);
			requireCount(deltas.map(({ content }) => content ?? '').join(''), count);
		}
	},
	{
		...{ name: 'AG-UI, SSE, words counted', share: 1, runsScript: true },
		async run({ ask }) {
			const { text, count } = randomText();
			const events = await runOf(ask, `Count the words of "${text}"`, []);
			const said = events.map(({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? String(delta) : '')).join('');
			requireCount(said, count);
		}
	},
	{
		...{ name: 'A2A, message/stream, words counted', share: 1, runsScript: true },
		async run({ ask }) {
			const { text, count } = randomText();
			requireCount(await taskOf(ask, `Count the words of "${text}"`), count);
		}
	}
];

/** Interleaves the flows by share, so a short load has the same mix as a long one. Each client starts at a different place. */
const ORDER: readonly Flow[] = FLOWS.flatMap((flow, index) =>
	Array.from({ length: flow.share }, (_, count) => ({
		flow,
		at: (count + (index + 1) / (FLOWS.length + 1)) / flow.share
	}))
)
	.sort((a, b) => a.at - b.at)
	.map(({ flow }) => flow);

export async function runLoad({ url, keys, clients, seconds }: LoadOptions): Promise<LoadResult> {
	const results = new Map(
		FLOWS.map(({ run: _, ...flow }) => [flow.name, { ...flow, requests: 0, latencies: [] as number[] }])
	);
	const errors: string[] = [];
	const sessions: LoadResult['sessions'] = [];
	const endsAt = seconds === undefined ? null : performance.now() + seconds * 1000;
	let begun = 0;
	const isOver = () => (endsAt === null ? begun >= ORDER.length : performance.now() >= endsAt);

	const client = async (index: number): Promise<void> => {
		const key = keys[index % keys.length] ?? '';
		while (!isOver()) {
			const flow = ORDER[begun++ % ORDER.length];
			const result = results.get(flow?.name ?? '');
			if (!flow || !result) return;
			const ask: Turn['ask'] = async (
				path,
				{ body, method = body === undefined ? 'GET' : 'POST', headers = {} } = {}
			) => {
				result.requests += 1;
				const response = await fetch(url + path, {
					...{ method, signal: AbortSignal.timeout(ANSWER_MS) },
					headers: { ...JSON_TYPE, authorization: `Bearer ${key}`, ...headers },
					...(body === undefined ? {} : { body: JSON.stringify(body) })
				});
				const text = await response.text();
				if (!response.ok) throw new Error(`${path} answered ${response.status} ${text.slice(0, 300)}`);
				return { text, headers: response.headers };
			};
			const start = performance.now();
			await flow.run({ key, ask, sessions }).then(
				() => void result.latencies.push(performance.now() - start),
				(error: unknown) => void errors.push(`${flow.name}: ${reasonOf(error)}`)
			);
		}
	};
	await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
	return { flows: [...results.values()], errors, sessions };
}

/** `fetch` only says that it failed; the reason is in `cause`. */
function reasonOf(error: unknown): string {
	const { message, cause } = error as Error;
	return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

interface OutputItem {
	type: string;
	name?: string;
	arguments?: string;
}

interface ResponseBody {
	status: string;
	output: OutputItem[];
}

function parcel(label: string, stream: boolean): Record<string, unknown> {
	const tool_choice = { type: 'function', name: TOOL.name };
	const input = `Look up the parcel labelled "${label}"`;
	return { model: 'any', input, stream, tool_choice, tools: [{ type: 'function', ...TOOL }] };
}

function requireCall(output: readonly OutputItem[], label: string): void {
	const call = output.find(({ type, name }) => type === 'function_call' && name === TOOL.name);
	const args = JSON.parse(call?.arguments ?? '{}') as { label?: unknown };
	require(args.label === label, `no call with ${label}`, output);
}

/** The response at the end of a stream, checking that no event is missing. */
async function streamed(ask: Turn['ask'], body: Record<string, unknown>): Promise<ResponseBody> {
	const { text } = await ask('/v1/responses', { body });
	const events = framesOf(text);
	const isWhole = events.every(({ sequence_number: number }, index) => number === index);
	const last = events.at(-1);
	require(isWhole && text.endsWith('data: [DONE]\n\n'), 'a stream that is not whole', text.slice(-300));
	require(last?.type === 'response.completed', 'a response that is not completed', last);
	return last.response as ResponseBody;
}

const CHAT = '/v1/chat/completions';

/** A message, or a part of one. */
interface Said {
	content?: string | null;
	tool_calls?: { function: { name?: string; arguments: string } }[];
}

interface Completion {
	choices: { message: Said; delta: Said; finish_reason: string | null }[];
}

function chatParcel(label: string, stream: boolean): Record<string, unknown> {
	const messages = [{ role: 'user', content: `Look up the parcel labelled "${label}"` }];
	const tool_choice = { type: 'function', function: { name: TOOL.name } };
	return { model: 'any', messages, stream, tool_choice, tools: [{ type: 'function', function: TOOL }] };
}

function callsOf({ tool_calls: calls = [] }: Said): { type: string; name: string; arguments: string }[] {
	return calls.map(({ function: called }) => {
		return { type: 'function_call', name: called.name ?? '', arguments: called.arguments };
	});
}

/** The deltas of a stream, checking that it has a beginning and one end. */
async function chunksOf(ask: Turn['ask'], body: Record<string, unknown>): Promise<Said[]> {
	const { text } = await ask(CHAT, { body });
	const choices = (framesOf(text) as unknown as Completion[]).flatMap((chunk) => chunk.choices);
	const ends = choices.filter((choice) => choice.finish_reason !== null);
	require(text.endsWith('data: [DONE]\n\n') && ends.length === 1, 'a stream that is not whole', text.slice(-300));
	return choices.map(({ delta }) => delta);
}

async function runOf(ask: Turn['ask'], content: string, tools: readonly object[]): Promise<Record<string, unknown>[]> {
	const messages = [{ id: randomUUID(), role: 'user', content }];
	const body = { threadId: randomUUID(), runId: randomUUID(), messages, tools };
	const events = framesOf((await ask('/api/chat', { body, headers: SSE })).text);
	const types = [events[0]?.type, events.at(-1)?.type];
	require(types.join() === 'RUN_STARTED,RUN_FINISHED', 'a run that is not whole', events.at(-1));
	return events;
}

interface A2AEvent {
	result?: {
		kind: string;
		status?: { state: string };
		append?: boolean;
		artifact?: { artifactId: string; parts: { text?: string }[] };
		artifacts?: { artifactId: string; parts: { text?: string }[] }[];
	};
}

/** A completed task's text, joined from its events. */
async function taskOf(ask: Turn['ask'], text: string): Promise<string> {
	const message = { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text }] };
	const body = { jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message } };
	const events = framesOf((await ask('/a2a', { body, headers: SSE })).text) as A2AEvent[];
	const texts = new Map<string, string>();
	for (const { result } of events) {
		for (const artifact of [...(result?.artifacts ?? []), ...(result?.artifact ? [result.artifact] : [])]) {
			const before = result?.append ? (texts.get(artifact.artifactId) ?? '') : '';
			texts.set(artifact.artifactId, before + artifact.parts.map((part) => part.text ?? '').join(''));
		}
	}
	const states = events.flatMap(({ result }) => result?.status?.state ?? []);
	require(states.at(-1) === 'completed', 'a task that is not completed', events.at(-1));
	return [...texts.values()].join('\n');
}

interface ToolResult {
	content?: { text?: string }[];
	structuredContent?: unknown;
	isError?: boolean;
}

/** From `initialize` to DELETE. */
async function inSession(
	{ ask, key, sessions }: Turn,
	work: (call: (name: string, args: object) => Promise<ToolResult>) => Promise<void>
): Promise<void> {
	const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
	const clientInfo = { name: 'load', version: '1' };
	const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
	const opened = await ask('/mcp', { body: { jsonrpc: '2.0', id: 0, method: 'initialize', params }, headers });
	const id = opened.headers.get('mcp-session-id') ?? '';
	sessions.push({ id, key });
	const own = { ...headers, 'mcp-session-id': id };
	await ask('/mcp', { body: { jsonrpc: '2.0', method: 'notifications/initialized' }, headers: own });
	await work(async (name, args) => {
		const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
		const message = framesOf((await ask('/mcp', { body, headers: own })).text).at(-1);
		const result = message?.result as ToolResult | undefined;
		require(message?.id === 1 && result !== undefined && !result.isError, 'no result', message);
		return result;
	});
	await ask('/mcp', { method: 'DELETE', headers: own });
}
