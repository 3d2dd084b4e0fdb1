/** A tool call, from its name to its result; what goes wrong is a result that the model reads (FEATURES E15, D24). */
import {
	type CallToolResult,
	type InputRequiredResult,
	ProtocolError,
	ProtocolErrorCode,
	type ServerContext
} from '@modelcontextprotocol/server';
import { AppError } from '../../../shared/errors.ts';
import { numberArgument } from '../../skills/call/operations.ts';
import type { PlannedRun, ToolOutcome } from '../../skills/call/session.ts';
import { LOAD_SKILL } from '../../skills/call/tools.ts';
import { renderLoadedSkill } from '../../skills/prompt.ts';
import type { SkillSnapshot } from '../../skills/registry/registry.ts';
import { TooManyCalls } from '../../skills/turns.ts';
import { SkillError, type SkillEvent } from '../../skills/types.ts';
import { askFor, ConsentNeeded } from './consent.ts';
import { hasScope, lackOf, ownToolOf, scopeOf, viewFor } from './definitions.ts';
import { callOwnTool, type OwnCall, refusalOf } from './own-tools.ts';
import { clientOf, type McpContext } from './parts.ts';
import { findNamed } from './resources.ts';
import { isObject } from '../../../shared/json.ts';

/** Answers with a question where somebody must be asked first. @throws ProtocolError for a tool that is not there; nothing else */
export async function callTool(
	context: McpContext,
	{ name, arguments: args = {} }: { name: string; arguments?: Record<string, unknown> | undefined },
	call: OwnCall
): Promise<CallToolResult | InputRequiredResult> {
	try {
		const own = ownToolOf(name);
		if (own === null) return await callSkillTool(context, { name, args }, call);
		const scope = scopeOf(own);
		if (!hasScope(call.peer.caller, scope)) return failure({ error: 'forbidden', message: lackOf(scope) });
		const answer = await callOwnTool(context, own, args, call);
		return {
			content: [text(JSON.stringify(answer))],
			structuredContent: answer,
			isError: failed(answer) || undefined
		};
	} catch (error) {
		if (error instanceof ProtocolError) throw error;
		if (error instanceof ConsentNeeded) return askFor(error);
		if (error instanceof TooManyCalls) return failure({ error: 'rate_limited', message: error.message });
		if (error instanceof SkillError) {
			return failure({ error: error.type, message: error.message, hint: error.hint });
		}
		if (error instanceof AppError) {
			return failure({ error: typeIn(error), message: error.message, hint: error.hint });
		}
		if (call.signal.aborted) return failure({ error: 'Cancelled', message: 'The call was cancelled.' });
		context.log.error({ tool: name.slice(0, 100), error: String(error) }, 'an MCP tool failed');
		return failure({ error: 'internal', message: 'Something went wrong in the server.' });
	}
}

/** Of what did not run, why, as every other way in says it; else what kind of request failed. */
function typeIn({ code, details }: AppError): string {
	return isObject(details) && typeof details.error === 'string' ? details.error : code;
}

/** A run that ended badly is an error of the tool, with its record. */
function failed({ result }: Record<string, unknown>): boolean {
	return isObject(result) && result.success === false;
}

async function callSkillTool(
	context: McpContext,
	{ name, args }: { name: string; args: Record<string, unknown> },
	{ peer, consent, signal, onEvent }: OwnCall
): Promise<CallToolResult> {
	const { caller, sessionId } = peer;
	const { session, library } = viewFor(context, caller);
	if (!session.has(name)) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool “${name.slice(0, 100)}”.`);
	}
	const run: PlannedRun | null = session.plan(name, args);
	const scope = run === null ? 'read' : 'execute';
	if (!hasScope(caller, scope)) return failure({ error: 'forbidden', message: lackOf(scope) });
	if (name === LOAD_SKILL.name && !hasScope(caller, 'execute')) return instructionsOnly(library, args);
	const { question, digest } = run ? await context.approvals.request(run, null) : { question: null, digest: null };
	const refusal = refusalOf(question, context, { peer, consent });
	if (refusal) return failure(refusal);
	const apiKeyId = caller.apiKeyId ?? undefined;
	const cwd = context.adHoc.workspaceOf(apiKeyId, sessionId);
	const callerOfRun = { sessionId, apiKeyId };
	return context.turns.run({ caller: clientOf(caller, sessionId), lane: run?.skill.name ?? null, signal }, async () => {
		const within = { cwd, signal, onEvent, caller: callerOfRun };
		return toResult(await session.call(name, args, digest === null ? within : { ...within, allowed: digest }));
	});
}

/** Loading may run commands that stand in the instructions, where the operator allows it: not for a key that may not. */
function instructionsOnly(library: SkillSnapshot, args: Record<string, unknown>): CallToolResult {
	const name = args.skill;
	const skill = typeof name === 'string' ? findNamed(library, name) : null;
	if (skill) return { content: [text(renderLoadedSkill(skill, numberArgument(args, 'offset')))] };
	return failure({
		error: 'SkillNotFound',
		message: 'There is no such skill.',
		hint: 'skills_list names all of them.'
	});
}

/** A text is told as it is, an object also as data. */
function toResult({ ok, output, result }: ToolOutcome): CallToolResult {
	if (typeof result === 'string') return { content: [text(output)] };
	const { value } = result;
	const isPlainText = ok && typeof value === 'string' && output === JSON.stringify(value);
	const data = value === undefined ? { ...result } : value;
	return {
		content: [text(isPlainText ? value : output)],
		structuredContent: isObject(data) ? data : undefined,
		isError: !ok || undefined
	};
}

function failure(what: { error: string; message: string; hint?: string | undefined }): CallToolResult {
	return { content: [text(JSON.stringify({ ok: false, ...what }))], isError: true };
}

function text(words: string): { type: 'text'; text: string } {
	return { type: 'text', text: words };
}

// Live output of a script as progress, where the client asked for it (FEATURES F15).

export interface ProgressReport {
	onEvent(event: SkillEvent): void;
	/** All has been sent that was reported. */
	flush(): Promise<void>;
}

/** Characters of output that one notification carries; what comes while one is on its way goes together. */
const MAX_TEXT = 4096;

/** `progress` counts characters of output; a client that gave no token is told nothing. */
export function reportProgress({ mcpReq }: Pick<ServerContext, 'mcpReq'>): ProgressReport {
	const progressToken = mcpReq._meta?.progressToken;
	if (progressToken === undefined) return { onEvent: () => undefined, flush: async () => undefined };
	let progress = 0;
	let waiting = '';
	let sending: Promise<void> | null = null;

	const send = async (): Promise<void> => {
		while (waiting !== '' && !mcpReq.signal.aborted) {
			const text = waiting.slice(-MAX_TEXT).toWellFormed();
			progress += waiting.length;
			waiting = '';
			await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message: text } });
		}
	};
	const start = (): void => {
		// The client has gone, or its stream is closed: the call itself learns of it by its signal.
		sending ??= send()
			.catch(() => undefined)
			.finally(() => (sending = null));
	};
	return {
		onEvent(event) {
			if (event.type === 'started') waiting += `${event.skill}: ${event.script} runs\n`;
			if (event.type === 'output') waiting += event.text;
			if (waiting !== '') start();
		},
		async flush() {
			while (sending) await sending;
		}
	};
}
