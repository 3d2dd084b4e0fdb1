/** Answers `tools/call`: with the result, with a question for the client's user, or with a task that goes on (E15). */
import { setTimeout as delay } from 'node:timers/promises';
import {
	type CallToolResult,
	type InputRequiredResult,
	ProtocolError,
	ProtocolErrorCode,
	type Server,
	type ServerContext
} from '@modelcontextprotocol/server';
import type { SkillEvent } from '../../skills/types.ts';
import { LOAD_SKILL, READ_SKILL_FILE } from '../../skills/call/tools.ts';
import { callTool } from './call-tool.ts';
import type { CallReports } from './call-reports.ts';
import { type Consent, questionIn, readAnswer, readConsent } from './consent.ts';
import { type McpContext, type McpPeer, ownToolOf } from './definitions.ts';
import { createAsker, knowsTasks, TaskCreated } from './serve-tasks.ts';
import type { McpTask, McpTasks } from './tasks.ts';

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
