/** `tools/call` and `tasks/*`: of 2025-11-25, where clients ask for a task, and the extension of 2026-07-28, where we decide (E15). */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
	CLIENT_CAPABILITIES_META_KEY,
	type ElicitRequest,
	MissingRequiredClientCapabilityError,
	ProtocolError,
	ProtocolErrorCode,
	RELATED_TASK_META_KEY,
	type Server,
	type ServerContext,
	type CallToolResult,
	type InputRequiredResult
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { asObject } from '../../../shared/json.ts';
import { canBeAsked, type Consent, questionIn, readAnswer, readConsent } from './consent.ts';
import { pageOf, type McpContext, type McpPeer, ownToolOf } from './definitions.ts';
import { MAX_TTL_MS, type McpTask, type McpTasks, type TaskAnswer, type TaskAsker, type TaskEntry } from './tasks.ts';
import type { SkillEvent } from '../../skills/types.ts';
import { LOAD_SKILL, READ_SKILL_FILE } from '../../skills/call/tools.ts';
import { callTool } from './call-tool.ts';
import type { CallReports } from './call-reports.ts';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
const POLL_MS = 500;
const PAGE = 50;

/** How 2025-11-25 writes a task. */
export function toLegacy(entry: TaskEntry) {
	const { ttlMs, ...facts } = entry.facts();
	return { ...facts, ttl: ttlMs, pollInterval: POLL_MS };
}

/** How 2026-07-28 writes one, with what it asks or came to. */
export function toModern(entry: TaskEntry) {
	const { result, error, question } = entry;
	return {
		...{ ...entry.facts(), pollIntervalMs: POLL_MS },
		...(question ? { inputRequests: { [question.key]: question.request } } : {}),
		// As the version wants of every result.
		...(result ? { result: { resultType: 'complete', ...result } } : {}),
		...(error ? { error } : {})
	};
}

/** What a call is answered that became a task. Not a result of the tool, so it is thrown past the SDK’s check of those. */
export class TaskCreated extends Error {
	override readonly name = 'TaskCreated';
	readonly result: Record<string, unknown>;

	constructor(task: McpTask, isModern: boolean) {
		super('The call became a task.');
		const entry = task as TaskEntry;
		this.result = isModern
			? { resultType: 'task', ...entry.facts(), pollIntervalMs: POLL_MS }
			: { task: toLegacy(entry) };
	}
}

/** Whether the client of 2026-07-28 has said that it knows tasks, as each request does anew in what comes with it. */
export function knowsTasks(envelope: unknown): boolean {
	const { extensions } = asObject(asObject(envelope)[CLIENT_CAPABILITIES_META_KEY]);
	return TASKS_EXTENSION in asObject(extensions);
}

export function tasksUnknownToClient(): ProtocolError {
	const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };
	return new MissingRequiredClientCapabilityError({ requiredCapabilities });
}

const UNKNOWN =
	'Task not found. Its time may be over, or the server was restarted, which ends all tasks. Call the tool again.';

const withId = z.looseObject({ taskId: z.string().max(200) });

/** Answers `tasks/*`. `ownerOf`: whose tasks the caller's are. */
export function serveTasks(
	server: Server,
	tasks: McpTasks,
	{ ownerOf, isModern }: { ownerOf: (handled: ServerContext) => string; isModern: boolean }
): void {
	const find = (handled: ServerContext, taskId: string): TaskEntry => {
		if (isModern && !knowsTasks(handled.mcpReq.envelope)) throw tasksUnknownToClient();
		const entry = tasks.find(ownerOf(handled), taskId);
		if (!entry) throw new ProtocolError(ProtocolErrorCode.InvalidParams, UNKNOWN);
		return entry;
	};
	server.setRequestHandler('tasks/get', { params: withId }, ({ taskId }, handled) => {
		const entry = find(handled, taskId);
		return isModern ? toModern(entry) : toLegacy(entry);
	});
	server.setRequestHandler('tasks/cancel', { params: withId }, ({ taskId }, handled) => {
		const entry = find(handled, taskId);
		const wasRunning = entry.cancel('The client cancelled it.');
		if (isModern) return {};
		if (wasRunning) return toLegacy(entry);
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The task is over already: it’s ${entry.status}.`);
	});
	if (isModern) {
		server.setRequestHandler('tasks/update', { params: withId }, ({ taskId }, handled) => {
			takeAnswers(find(handled, taskId), handled.mcpReq);
			return {};
		});
		return;
	}
	server.setRequestHandler('tasks/result', { params: withId }, async ({ taskId }, handled) => {
		const entry = find(handled, taskId);
		const { mcpReq } = handled;
		const remove = entry.addAsker(
			createAsker(server, entry.id, () => mcpReq),
			true
		);
		if (!entry.isOver) await entry.ending.wait(mcpReq.signal);
		remove();
		const _meta = { ...entry.result?._meta, [RELATED_TASK_META_KEY]: { taskId } };
		if (entry.result) return { ...entry.result, _meta };
		const { code, message } = entry.error ?? {
			code: ProtocolErrorCode.InvalidRequest,
			message: 'The task was cancelled.'
		};
		throw new ProtocolError(code, message);
	});
	server.setRequestHandler(
		'tasks/list',
		{ params: z.looseObject({ cursor: z.string().optional() }) },
		({ cursor }, handled) => {
			const keyOf = (entry: TaskEntry) => String(entry.sequence).padStart(16, '0');
			const { page, ...more } = pageOf(tasks.list(ownerOf(handled)), keyOf, { cursor, size: PAGE });
			return { tasks: page.map(toLegacy), ...more };
		}
	);
}

const answerShape = z.looseObject({
	action: z.enum(['accept', 'decline', 'cancel']),
	content: z.record(z.string(), z.unknown()).optional()
});

/** From `tasks/update`. Answers to what isn't asked, or not any more, are left out. @throws ProtocolError */
function takeAnswers(
	entry: TaskEntry,
	{ inputResponses, droppedInputResponseKeys = [] }: ServerContext['mcpReq']
): void {
	if (!inputResponses) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'inputResponses is missing: an answer for each key.');
	}
	const key = entry.question?.key;
	if (key === undefined || !(key in inputResponses || droppedInputResponseKeys.includes(key))) return;
	const answer = answerShape.safeParse(inputResponses[key]);
	if (!answer.success) {
		const message = `The answer to “${key}” isn’t valid: its action must be accept, decline or cancel.`;
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
	}
	entry.answer(key, answer.data);
}

/**
 * Asks a client of 2025-11-25 over what `wayTo` gives: a `tasks/result` that it waits in, as its version wants, or the stream
 * that it keeps open, where some expect it. Null while there is none.
 */
function createAsker(
	server: Pick<Server, 'getClientCapabilities'>,
	taskId: string,
	wayTo: () => AskingWay | null
): TaskAsker {
	return {
		canAsk(request) {
			const way = wayTo();
			return way !== null && !way.signal.aborted && canBeAsked(server.getClientCapabilities(), request);
		},
		async ask({ method, params }, signal) {
			const way = wayTo();
			if (!way) throw new Error('The client has left.');
			const _meta = { ...params._meta, [RELATED_TASK_META_KEY]: { taskId } };
			const asked = params.mode === 'url' ? { ...params, elicitationId: randomUUID() } : params;
			const options = { signal: AbortSignal.any([way.signal, signal]), timeout: MAX_TTL_MS };
			try {
				return await way.send({ method, params: { ...asked, _meta } }, options);
			} catch (error) {
				if (way.signal.aborted) throw error;
				// A client that can't answer doesn't allow anything.
				return { action: 'cancel' };
			}
		}
	};
}

interface AskingWay {
	/** Aborts when it ends. */
	signal: AbortSignal;
	send(request: ElicitRequest, options: { signal: AbortSignal; timeout: number }): Promise<TaskAnswer>;
}

// `tools/call`: a result, a question for the client’s user, or a task that goes on.

/** A call of 2026-07-28 that takes longer becomes a task, if the client knows tasks. */
const TASK_AFTER_MS = 1000;
/** Of one task. A call that isn’t a task has as many rounds. */
const MAX_QUESTIONS = 8;

interface CallParams {
	name: string;
	arguments?: Record<string, unknown> | undefined;
	task?: { ttl?: number | undefined } | undefined;
}

interface Answering {
	peer: McpPeer;
	tasks: McpTasks;
	/** Whose tasks this caller's are. */
	owner: string;
	reports: CallReports;
	isModern: boolean;
}

/** Whether a call of this tool may run a script, which can take long. */
export function canBeTask(name: string): boolean {
	const own = ownToolOf(name);
	return own ? own.scope === 'execute' : name !== LOAD_SKILL.name && name !== READ_SKILL_FILE.name;
}

/** @throws TaskCreated if the call goes on as a task @throws ProtocolError */
export async function answerCall(
	context: McpContext,
	server: Server & { readonly stream: AbortSignal | null },
	{ params, handled, ...answering }: Answering & { params: CallParams; handled: ServerContext }
): Promise<CallToolResult | InputRequiredResult> {
	const { peer, tasks, owner, reports, isModern } = answering;
	const wanted = isModern ? undefined : params.task;
	const mayBeTask = canBeTask(params.name) && (isModern ? knowsTasks(handled.mcpReq.envelope) : wanted !== undefined);
	if (wanted && !mayBeTask) {
		throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'This tool doesn’t run as a task. Call it without one.');
	}
	const { signal } = handled.mcpReq;
	const controller = new AbortController();
	const leave = () => controller.abort(signal.reason);
	signal.addEventListener('abort', leave);
	let task = wanted ? tasks.create(owner, controller, wanted.ttl) : null;
	if (wanted && !task) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, NO_ROOM);
	// Some clients wait for questions there, others in `tasks/result`.
	task?.addAsker(
		createAsker(server, task.id, () => {
			const { stream } = server;
			return stream && { signal: stream, send: (request, options) => server.request(request, options) };
		})
	);
	const { promise: runs, resolve: onAllowed } = Promise.withResolvers<void>();
	const onEvent = (event: SkillEvent): void => {
		if (event.type === 'started') onAllowed();
		task?.note(event);
		reports.onEvent(event);
	};
	const asked = readConsent(server, handled);
	const call = async (consent: Consent): Promise<Answer> => {
		const result = await callTool(context, params, { peer, consent, signal: controller.signal, onEvent, onAllowed });
		if (questionIn(result)) return result;
		return server.projectCallToolResult(result as CallToolResult, ownToolOf(params.name)?.outputSchema);
	};
	const finished = call(asked);
	try {
		// A task that was asked for asks its questions itself. Otherwise they come first, as the extension wants.
		const goesOn =
			mayBeTask && (await takesLong(finished, wanted ? Promise.resolve() : runs, wanted ? 0 : TASK_AFTER_MS));
		if (goesOn) task ??= tasks.create(owner, controller);
		// Throws what is wrong with the call itself.
		else if (task) await finished;
		if (!task) {
			const result = await finished;
			await reports.flush();
			return result;
		}
	} catch (error) {
		task?.discard();
		throw error;
	} finally {
		signal.removeEventListener('abort', leave);
	}
	reports.detach(task.id);
	task.follow(answerInside(task, finished, (answer) => call({ ...asked, answer })));
	throw new TaskCreated(task, isModern);
}

type Answer = CallToolResult | InputRequiredResult;

/** What the call comes to, which the task’s questions may have to be answered for. Rejects if the task ends meanwhile. */
async function answerInside(
	task: McpTask,
	first: Promise<Answer>,
	again: (answer: NonNullable<Consent['answer']>) => Promise<Answer>
): Promise<CallToolResult> {
	let result = await first;
	for (let asked = 0; ; asked += 1) {
		const question = questionIn(result);
		if (!question) return result as CallToolResult;
		if (asked === MAX_QUESTIONS) return ASKED_TOO_OFTEN;
		const answer = await task.ask(question.request);
		result = await again({ questionId: question.id, ...readAnswer(answer) });
	}
}

/** Whether the call still runs after `afterMs`, with nothing left to ask. */
async function takesLong(finished: Promise<unknown>, runs: Promise<void>, afterMs: number): Promise<boolean> {
	const timer = new AbortController();
	const isOver = finished.then(
		() => true,
		() => true
	);
	const isLong = Promise.all([runs, delay(afterMs, undefined, { signal: timer.signal })]).then(
		() => false,
		() => true
	);
	const wasOver = await Promise.race([isOver, isLong]);
	timer.abort();
	return !wasOver;
}

const NO_ROOM = 'There are too many tasks. Wait until one is over, or cancel one.';

const ASKED_TOO_OFTEN: CallToolResult = {
	content: [
		{
			type: 'text',
			text: JSON.stringify({
				ok: false,
				error: 'ApprovalRequired',
				message: `The user was asked ${MAX_QUESTIONS} times, and it still needs an answer. Call the tool again.`
			})
		}
	],
	isError: true
};
