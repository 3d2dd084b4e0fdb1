/** The tools of MCP servers in a conversation: offered, approved, called and recorded (D42). */
import { hash, randomUUID } from 'node:crypto';
import { failed } from '../skills/call/tools.ts';
import type { ApprovalRequest } from '../../shared/events.ts';
import type { Approval } from '../../shared/message.ts';
import { mcpSubject } from '../../shared/names.ts';
import { createRedaction } from '../sandbox/output/redact.ts';
import type { ExecutionCaller, ExecutionRecorder } from '../skills/run/execution-host.ts';
import type { SkillErrorType, SkillEvent, ToolDefinition } from '../skills/types.ts';
import type { Approvals } from '../store/chat/queue.ts';
import type { QuestionReply } from '../../shared/questions.ts';
import { promptOf, type SampleRequest, type ServerQuestion } from './asking.ts';
import type { Connection } from './connection.ts';
import type { SampleAnswer } from './open-server.ts';
import { boundedText, type ListedTool, plainText, resultText } from './listing.ts';

export interface ServerTools {
	name: string;
	approval: 'ask' | 'auto';
	/** Digest of the transport: a changed one needs approval again. */
	digest: string;
	/** Its secrets, redacted from records. */
	values: readonly string[];
	connection: Pick<Connection, 'listing' | 'software' | 'call'>;
}

export interface McpToolsOptions {
	servers(): readonly ServerTools[];
	/** Only these tools (`mcp__server__tool`) and servers (`mcp/server`) (D42). Default: all. */
	only?: readonly string[] | undefined;
	/** False while skills are turned off (E11). */
	isEnabled(): boolean;
	approvals: Pick<Approvals, 'isGranted'>;
	recorder: ExecutionRecorder;
	maxOutputBytes: number;
	timeoutMs(): number;
}

export interface McpTools {
	tools(): ToolDefinition[];
	has(name: string): boolean;
	lane(name: string): null;
	/** The approval it needs; null for none. An earlier one is valid while the tool’s definition is unchanged. */
	approval(name: string, args: Record<string, unknown>, earlier: Approval | null): Promise<ApprovalRequest | null>;
	/** Never throws. */
	call(name: string, args: Record<string, unknown>, context: CallContext): Promise<{ ok: boolean; output: string }>;
}

interface CallContext {
	/** Asks the person in the chat; absent where nobody can be asked. */
	ask?:
		| ((question: ServerQuestion & { server: string; grant?: string }, signal: AbortSignal) => Promise<QuestionReply>)
		| undefined;
	/** Asks the chat's model; absent where nobody can be asked. */
	sample?: ((request: SampleRequest, signal: AbortSignal) => Promise<SampleAnswer>) | undefined;
	/** The chat's folder. */
	cwd?: string;
	signal: AbortSignal;
	onEvent?: ((event: SkillEvent) => void) | undefined;
	caller?: ExecutionCaller;
	/** Receives the pictures of the result, in base64. */
	pictures?: string[];
}

interface Found {
	server: ServerTools;
	tool: ListedTool;
}

interface Outcome {
	error?: SkillErrorType;
	message?: string;
	output: string;
	truncated: boolean;
}

/** Characters of recorded output. */
const MAX_RECORDED = 20_000;
const MAX_PROGRESS = 500;
/** Of one call; more are declined unseen. */
const MAX_QUESTIONS = 10;
const TOO_MANY = `It asked more than ${MAX_QUESTIONS} times; the rest was declined.`;
/** Characters of a question in a result. */
const MAX_ASKED = 200;

function nobodyFor(server: string, what: string): string {
	return `The MCP server “${server}” ${what}. Nobody can be asked here, so that was declined. Put what it needs into the arguments, or use the tool in a chat in the app.`;
}

export function createMcpTools(options: McpToolsOptions): McpTools {
	const { isEnabled, approvals, recorder } = options;
	const only = options.only && new Set(options.only);
	const all = (): Found[] =>
		options
			.servers()
			.flatMap((server) => server.connection.listing().tools.map((tool) => ({ server, tool })))
			.filter(({ server, tool }) => !only || only.has(tool.name) || only.has(mcpSubject(server.name)));
	const find = (name: string) => all().find(({ tool }) => tool.name === name);

	return {
		tools: () =>
			all().map(({ server, tool: { name, shown, description, parameters } }) => ({
				type: 'function',
				name,
				description: description || `The tool ${shown} of the MCP server ${server.name}.`,
				parameters
			})),
		has: (name) => find(name) !== undefined,
		lane: () => null,
		async approval(name, args, earlier) {
			const found = find(name);
			if (!found || !isEnabled() || found.server.approval === 'auto') return null;
			const digest = digestOf(found);
			const isAllowed = earlier?.decision !== undefined && earlier.decision.choice !== 'deny';
			if (isAllowed && earlier.digest === digest) return null;
			const about = { skill: mcpSubject(found.server.name), script: found.tool.shown, digest };
			if (await approvals.isGranted(about)) return null;
			const what = `“${found.tool.shown}” of the MCP server “${found.server.name}”`;
			const reason = isAllowed ? `${what} has changed since you allowed it.` : `The model wants to use ${what}.`;
			return { interruptId: randomUUID(), ...about, args: [JSON.stringify(args)], reason };
		},
		async call(name, args, context) {
			const found = find(name);
			if (!found) return failed('UnknownTool', `The tool “${name}” is no longer available.`);
			if (!isEnabled()) return failed('SkillsDisabled', 'Skills are turned off on this server.');
			return record(found, args, context);
		}
	};

	async function record({ server, tool }: Found, args: Record<string, unknown>, context: CallContext) {
		const { onEvent, caller = {} } = context;
		const id = randomUUID();
		const began = performance.now();
		const input = JSON.stringify(createRedaction(server.values).value(args));
		const subject = { skill: mcpSubject(server.name), sandbox: 'mcp' };
		onEvent?.({ type: 'started', executionId: id, script: tool.shown, tool: tool.shown, args: [input], ...subject });
		const recorded = recorder
			.started({
				id,
				skillId: subject.skill,
				...subject,
				tool: tool.shown,
				argv: [],
				input,
				caller,
				version: server.connection.software() ?? '',
				digest: digestOf({ server, tool }),
				limits: { timeoutMs: options.timeoutMs() }
			})
			.then(() => recorder.running(id));
		const outcome = await ask({ server, tool }, args, context);
		const { error, message, output, truncated } = outcome;
		const end = { exitCode: null, durationMs: Math.round(performance.now() - began), files: [], message };
		onEvent?.({ type: 'finished', skill: subject.skill, truncated, ...end, error });
		await recorded;
		await recorder.finished(id, {
			status: error === undefined ? 'success' : error === 'ExecutionTimeout' ? 'timeout' : 'error',
			errorType: error,
			...end,
			stdoutBytes: Buffer.byteLength(output),
			stderrBytes: 0,
			refused: [],
			output: output.slice(0, MAX_RECORDED).toWellFormed()
		});
		return { ok: error === undefined, output };
	}

	async function ask({ server, tool }: Found, args: Record<string, unknown>, context: CallContext): Promise<Outcome> {
		const { signal, onEvent } = context;
		let questions = 0;
		/** Open when the call ended: then it's the person who took too long. */
		let isUnanswered = false;
		const answered = async (asking: Promise<QuestionReply>): Promise<QuestionReply> => {
			isUnanswered = true;
			const reply = await asking;
			isUnanswered = signal.aborted && reply.action === 'cancel';
			return reply;
		};
		/** A question is over with its call, however that ended. */
		const over = new AbortController();
		/** Declined unseen, which the server’s answer doesn’t say. */
		const unseen = new Set<string>();
		const isUnseen = (canAsk: boolean, what: string): boolean => {
			questions += 1;
			if (canAsk && questions <= MAX_QUESTIONS) return false;
			unseen.add(canAsk ? TOO_MANY : nobodyFor(server.name, what));
			return true;
		};
		const withUnseen = (text: string) => [text, ...unseen].join('\n');
		try {
			const answer = await server.connection.call(tool.tool, args, {
				signal,
				folder: context.cwd,
				async sample(request, within) {
					const { ask: askPerson, sample: askModel } = context;
					const isDeclined = isUnseen(askPerson !== undefined && askModel !== undefined, 'wanted to ask the model');
					if (isDeclined || !askPerson || !askModel) return null;
					const stop = AbortSignal.any([signal, within, over.signal]);
					const sample = { prompt: promptOf(request), maxTokens: request.maxTokens };
					const question = { server: server.name, message: 'It wants to ask the model of this chat.', sample };
					const grant = `sample ${server.name} ${server.digest}`;
					const { action } = await answered(askPerson({ ...question, grant }, stop));
					return action === 'accept' ? askModel(request, stop) : null;
				},
				async ask(question, within) {
					const asked = `asked “${plainText(question.message, MAX_ASKED).replaceAll(/\s+/g, ' ')}”`;
					const isDeclined = isUnseen(context.ask !== undefined, asked);
					if (isDeclined || !context.ask) return { action: 'decline' };
					const stop = AbortSignal.any([signal, within, over.signal]);
					return answered(context.ask({ server: server.name, ...question }, stop));
				},
				onProgress: (message) => {
					onEvent?.({ type: 'output', stream: 'stderr', text: `${plainText(message, MAX_PROGRESS)}\n` });
				}
			});
			const { text, truncated } = boundedText(resultText(answer, context.pictures), options.maxOutputBytes);
			const output = withUnseen(text);
			if (!answer.isError) return { output, truncated };
			const message = withUnseen(plainText(text, MAX_PROGRESS));
			return { error: 'ExecutionFailed', message, output, truncated };
		} catch (reason) {
			const [error, why] = whyOf(reason, tool, { signal, isUnanswered });
			const message = withUnseen(why);
			return { error, message, output: failed(error, message).output, truncated: false };
		} finally {
			over.abort();
		}
	}
}

function whyOf(
	reason: unknown,
	{ shown }: ListedTool,
	{ signal, isUnanswered }: { signal: AbortSignal; isUnanswered: boolean }
): [SkillErrorType, string] {
	if (!signal.aborted) return ['ExecutionFailed', reason instanceof Error ? reason.message : String(reason)];
	const isOver = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
	if (isOver && isUnanswered) return ['ExecutionTimeout', `Nobody answered what ${shown} asked.`];
	if (isOver) return ['ExecutionTimeout', `${shown} didn’t respond in time.`];
	return ['Cancelled', `${shown} was stopped.`];
}

function digestOf({ server, tool }: Found): string {
	return hash('sha256', `${server.digest}\0${tool.digest}`);
}
