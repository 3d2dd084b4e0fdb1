/** Answers `tools/call`: with the result, with a question for the client's user, or with a task that goes on (E15). */
import { setTimeout as delay } from 'node:timers/promises';
import {
	type CallToolResult,
	type InputRequiredResult,
	isInputRequiredResult,
	ProtocolError,
	ProtocolErrorCode,
	type Server,
	type ServerContext
} from '@modelcontextprotocol/server';
import type { SkillEvent } from '../../skills/types.ts';
import { LOAD_SKILL, READ_SKILL_FILE } from '../../skills/call/tools.ts';
import { callTool } from './call-tool.ts';
import type { CallReports } from './call-reports.ts';
import { type Consent, readConsent } from './consent.ts';
import { type McpContext, type McpPeer, ownToolOf } from './definitions.ts';
import { knowsTasks, type McpTasks, TaskCreated } from './tasks.ts';

/** A call of 2026-07-28 that takes longer becomes a task, if the client knows tasks. */
const TASK_AFTER_MS = 1000;

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
	server: Server,
	{ params, handled, ...answering }: Answering & { params: CallParams; handled: ServerContext }
): Promise<CallToolResult | InputRequiredResult> {
	const { peer, tasks, owner, reports, isModern } = answering;
	const wanted = isModern ? undefined : params.task;
	const mayBeTask = canBeTask(params.name) && (isModern ? knowsTasks(handled) : wanted !== undefined);
	if (wanted && !mayBeTask) {
		throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'This tool doesn’t run as a task. Call it without one.');
	}
	const { signal } = handled.mcpReq;
	const controller = new AbortController();
	const leave = () => controller.abort(signal.reason);
	signal.addEventListener('abort', leave);
	let task = wanted ? tasks.create(owner, controller, wanted.ttl) : null;
	if (wanted && !task) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, NO_ROOM);
	let goesOn = false;
	const { promise: runs, resolve: onAllowed } = Promise.withResolvers<void>();
	const onEvent = (event: SkillEvent): void => {
		if (event.type === 'started') onAllowed();
		task?.note(event);
		reports.onEvent(event);
	};
	const asked = readConsent(server, handled);
	// Once its request is answered, nobody can be asked.
	const consent: Consent = {
		answer: asked.answer,
		get canAsk() {
			return !goesOn && asked.canAsk;
		},
		get origin() {
			return goesOn ? null : asked.origin;
		}
	};
	const finished = callTool(context, params, { peer, consent, signal: controller.signal, onEvent, onAllowed }).then(
		(result) =>
			isInputRequiredResult(result)
				? result
				: server.projectCallToolResult(result, ownToolOf(params.name)?.outputSchema)
	);
	try {
		goesOn = mayBeTask && (await takesLong(finished, runs, isModern ? TASK_AFTER_MS : 0));
		if (goesOn) task ??= tasks.create(owner, controller);
		if (!task || !goesOn) {
			const result = await finished;
			if (!task || isInputRequiredResult(result)) {
				task?.discard();
				await reports.flush();
				return result;
			}
		}
	} catch (error) {
		task?.discard();
		throw error;
	} finally {
		signal.removeEventListener('abort', leave);
	}
	reports.detach();
	task.follow(finished.then(asResult));
	throw new TaskCreated(task, isModern);
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

/** A question that came too late: its call hasn't run, or has failed for want of something. */
function asResult(result: CallToolResult | InputRequiredResult): CallToolResult {
	if (!isInputRequiredResult(result)) return result;
	const message = 'The user has to be asked, and a task can’t ask. Call the tool without a task.';
	return {
		content: [{ type: 'text', text: JSON.stringify({ ok: false, error: 'ApprovalRequired', message }) }],
		isError: true
	};
}
