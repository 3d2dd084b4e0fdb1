/** An editor: starts `acp` as a real process and talks to it with the protocol's own client. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import { type ModelServer, type Reply, startModelServer } from './model-server.ts';

const root = join(import.meta.dirname, '../..');

export interface EditorOptions {
	capabilities?: acp.ClientCapabilities;
	/** Answers questions, in order; the last one counts for all others. Default: `once`. */
	answers?: (string | 'cancelled' | Promise<string>)[];
	/** Program and arguments. Default: the command's source. */
	command?: [string, ...string[]];
	env?: Record<string, string>;
}

export interface TestEditor {
	agent: acp.ClientContext;
	process: ChildProcessWithoutNullStreams;
	/** All updates so far, of every session. */
	updates: acp.SessionUpdate[];
	questions: acp.RequestPermissionRequest[];
	/** What the agent has written into the editor's buffers. */
	written: Map<string, string>;
	/** Unsaved text, by absolute path. */
	buffers: Map<string, string>;
	/** Commands of terminals. */
	commands: string[];
	killed: string[];
	/** Raw lines of standard output. */
	lines: string[];
	open(extra?: Partial<acp.NewSessionRequest>): Promise<string>;
	ask(sessionId: string, prompt: string | acp.ContentBlock[]): Promise<acp.StopReason>;
	/** The whole text of this kind. */
	text(kind?: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk'): string;
	/** The newest state of each call, by title. */
	calls(): acp.ToolCallUpdate[];
	/** Closes standard input and waits for the end. */
	leave(): Promise<number | null>;
}

export interface AcpRig {
	model: ModelServer;
	dataDir: string;
	/** The project's folder. */
	project: string;
	put(path: string, text: string | Uint8Array): Promise<string>;
	putSkill(path: string, text: string): Promise<void>;
	start(options?: EditorOptions): Promise<TestEditor>;
	/** Variables of the command. */
	env: Record<string, string>;
	close(): Promise<void>;
}

/** `script`: null for demo mode. */
export async function openAcpRig(script: Reply[] | null, env: Record<string, string> = {}): Promise<AcpRig> {
	const folder = await mkdtemp(join(tmpdir(), 'acp-'));
	const [dataDir, project, skills] = [join(folder, 'data'), join(folder, 'project'), join(folder, 'skills')];
	await mkdir(project);
	for (const name of ['count-words', 'data-analysis'])
		await cp(join(root, 'skills', name), join(skills, name), { recursive: true });
	const model = await startModelServer(script ?? []);
	const { PATH = '', HOME = '' } = process.env;
	const server = { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url, OPENROUTER_MODEL: 'test/model' };
	const environment: Record<string, string> = {
		...{ PATH, HOME, DATA_DIR: dataDir, SKILLS_DIRS: skills, SKILLS_SANDBOX: 'process', CHAT_TITLES: 'false' },
		...(script && server),
		...env
	};
	const editors: TestEditor[] = [];
	const put = async (at: string, text: string | Uint8Array) => {
		await mkdir(dirname(at), { recursive: true });
		await writeFile(at, text);
	};
	return {
		model,
		dataDir,
		project,
		env: environment,
		async put(path, text) {
			await put(join(project, path), text);
			return join(project, path);
		},
		putSkill: (path, text) => put(join(skills, path), text),
		async start(options = {}) {
			const editor = await startEditor({ ...options, env: { ...environment, ...options.env } }, project);
			editors.push(editor);
			return editor;
		},
		async close() {
			for (const editor of editors) if (editor.process.exitCode === null) await editor.leave();
			await model.close();
			await rm(folder, { recursive: true, force: true });
		}
	};
}

export async function startEditor(options: EditorOptions, project: string): Promise<TestEditor> {
	const { capabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true }, answers = ['once'] } =
		options;
	const [file, ...args] = options.command ?? [join(root, 'node_modules/.bin/node'), 'src/lib/server/cli/acp.ts'];
	const program = spawn(file, args, { cwd: root, env: options.env, stdio: ['pipe', 'pipe', 'pipe'] });
	const ended = once(program, 'exit') as Promise<[number | null]>;
	program.stdin.on('error', () => undefined);
	program.stderr.resume();
	const lines: string[] = [];
	let rest = '';
	const updates: acp.SessionUpdate[] = [];
	const questions: acp.RequestPermissionRequest[] = [];
	const [written, buffers] = [new Map<string, string>(), new Map<string, string>()];
	const [commands, killed]: [string[], string[]] = [[], []];
	const outputs = new Map<
		string,
		{ child: ReturnType<typeof spawn>; output: string; exit: Promise<acp.WaitForTerminalExitResponse> }
	>();
	const app = acp
		.client({ name: 'test editor' })
		.onNotification('session/update', ({ params }) => void updates.push(params.update))
		.onRequest('session/request_permission', async ({ params, signal }) => {
			const answer = answers[Math.min(questions.length, answers.length - 1)] ?? 'once';
			questions.push(params);
			const cancelled = new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('cancelled')));
			const optionId = await Promise.race([answer, cancelled]);
			return { outcome: optionId === 'cancelled' ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
		})
		.onRequest('fs/read_text_file', async ({ params }) => {
			return { content: buffers.get(params.path) ?? (await readFile(params.path, 'utf8')) };
		})
		.onRequest('fs/write_text_file', async ({ params }) => {
			written.set(params.path, params.content);
			buffers.set(params.path, params.content);
			return {};
		})
		.onRequest('terminal/create', ({ params }) => {
			const terminalId = `terminal-${commands.push([params.command, ...(params.args ?? [])].join(' '))}`;
			const child = spawn(params.command, params.args ?? [], { cwd: params.cwd ?? project });
			const exit = once(child, 'close').then(
				([exitCode, signal]) => ({ exitCode, signal }) as acp.WaitForTerminalExitResponse
			);
			const terminal = { child, output: '', exit };
			child.stdout.on('data', (chunk: Buffer) => (terminal.output += chunk.toString()));
			outputs.set(terminalId, terminal);
			return { terminalId };
		})
		.onRequest('terminal/wait_for_exit', async ({ params }) => (await outputs.get(params.terminalId)?.exit) ?? {})
		.onRequest('terminal/output', ({ params }) => ({
			output: outputs.get(params.terminalId)?.output ?? '',
			truncated: false
		}))
		.onRequest('terminal/kill', ({ params }) => {
			killed.push(params.terminalId);
			outputs.get(params.terminalId)?.child.kill('SIGKILL');
			return {};
		})
		.onRequest('terminal/release', () => ({}));
	const counted = (Readable.toWeb(program.stdout) as unknown as ReadableStream<Uint8Array>).pipeThrough(
		new TransformStream<Uint8Array, Uint8Array>({
			transform(chunk, controller) {
				const parts = (rest + Buffer.from(chunk).toString()).split('\n');
				rest = parts.pop() ?? '';
				lines.push(...parts);
				controller.enqueue(chunk);
			}
		})
	);
	const connection = app.connect(
		acp.ndJsonStream(Writable.toWeb(program.stdin) as WritableStream<Uint8Array>, counted)
	);
	await connection.agent.request('initialize', {
		protocolVersion: acp.PROTOCOL_VERSION,
		clientCapabilities: capabilities
	});
	return {
		agent: connection.agent,
		process: program,
		...{ updates, questions, written, buffers, commands, killed, lines },
		async open(extra = {}) {
			const { sessionId } = await connection.agent.request('session/new', { cwd: project, mcpServers: [], ...extra });
			return sessionId;
		},
		async ask(sessionId, prompt) {
			const blocks = typeof prompt === 'string' ? [{ type: 'text' as const, text: prompt }] : prompt;
			return (await connection.agent.request('session/prompt', { sessionId, prompt: blocks })).stopReason;
		},
		text: (kind = 'agent_message_chunk') =>
			updates
				.flatMap((update) =>
					update.sessionUpdate === kind && update.content.type === 'text' ? [update.content.text] : []
				)
				.join(''),
		calls() {
			const calls = new Map<string, acp.ToolCallUpdate>();
			for (const { sessionUpdate, ...update } of updates) {
				if (sessionUpdate !== 'tool_call' && sessionUpdate !== 'tool_call_update') continue;
				const call = update as acp.ToolCallUpdate;
				calls.set(call.toolCallId, { ...calls.get(call.toolCallId), ...call });
			}
			return [...calls.values()];
		},
		async leave() {
			program.stdin.end();
			return (await ended)[0];
		}
	};
}
