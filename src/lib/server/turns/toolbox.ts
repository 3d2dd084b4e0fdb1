/** The skills of a conversation, and the caller's own tools, as the loop's toolbox. */
import type { ApprovalRequest, CustomRunEvent, RunVerdict } from '../../shared/events.ts';
import { mcpServerOf, type ApiScope, toSkillId } from '../../shared/names.ts';
import type { Approval } from '../../shared/message.ts';
import type { FunctionTool } from '../agent/model.ts';
import { failure, type Toolbox } from '../agent/tool.ts';
import type { PlannedRun, SkillSession } from '../skills/call/session.ts';
import type { ExecutionCaller } from '../skills/run/execution-host.ts';
import type { SkillEvent } from '../skills/types.ts';

export interface SkillToolboxOptions {
	session: SkillSession;
	callerTools: readonly FunctionTool[];
	/** Where scripts run. */
	cwd: string;
	/** For the record of executions. */
	caller: ExecutionCaller;
	/** What to ask before something runs, or what may run. */
	approvals: { request(run: PlannedRun, earlier: Approval | null): Promise<RunVerdict> };
	builtins?: BuiltinTools;
}

/** Tools that are no skill's, as one conversation has them: the server's own, those of MCP servers. */
export interface BuiltinTools {
	/** Those to offer now. */
	tools(): FunctionTool[];
	/** Is it one of theirs, offered or not? A call of one that is not offered is told why. */
	has(name: string): boolean;
	lane(name: string): string | null;
	/** What to ask before it runs; null when it may. */
	approval(
		name: string,
		args: Record<string, unknown>,
		earlier: Approval | null
	): ApprovalRequest | null | Promise<ApprovalRequest | null>;
	call(
		name: string,
		args: Record<string, unknown>,
		context: { cwd: string; signal: AbortSignal; onEvent(event: SkillEvent): void; caller: ExecutionCaller }
	): Promise<{ ok: boolean; output: string }>;
}

/** A caller's tool of the same name as one of ours stands before it (FEATURES B13). */
export function createSkillToolbox(options: SkillToolboxOptions): Toolbox {
	const { session, callerTools, cwd, caller, approvals, builtins } = options;
	const callerNames = new Set(callerTools.map((tool) => tool.name));
	/** No skill's tool takes the name of a built-in one, offered or not. */
	const builtinOf = (name: string): BuiltinTools | null =>
		builtins?.has(name) && !callerNames.has(name) ? builtins : null;
	/** By call: the digest of the files that were looked at. They alone are run. */
	const lookedAt = new Map<string, string>();
	const keyOf = (name: string, args: Record<string, unknown>) => JSON.stringify([name, args]);
	return {
		definitions() {
			const own = [...session.tools(), ...(builtins?.tools() ?? [])];
			const unique = new Map(own.filter((tool) => !callerNames.has(tool.name)).map((tool) => [tool.name, tool]));
			return [...unique.values(), ...callerTools];
		},
		kind: (name) => (callerNames.has(name) ? 'caller' : session.has(name) || builtinOf(name) ? 'own' : null),
		lane: (name, args) => builtinOf(name)?.lane(name) ?? session.lane(name, args),
		async approval(name, args, earlier) {
			const builtin = builtinOf(name);
			if (builtin) return builtin.approval(name, args, earlier);
			const plan = callerNames.has(name) ? null : session.plan(name, args);
			if (!plan) return null;
			const { question, digest } = await approvals.request(plan, earlier);
			// Whoever allows it, now or without being asked, allows these files.
			if (digest !== null) lookedAt.set(keyOf(name, args), digest);
			return question;
		},
		async call(name, args, { toolCallId, signal, emit }) {
			const onEvent = (event: SkillEvent) => emit(toRunEvent(event, toolCallId));
			const context = { cwd, signal, onEvent, caller: { ...caller, toolCallId } };
			const allowed = lookedAt.get(keyOf(name, args));
			const { ok, output } = await (builtinOf(name)?.call(name, args, context) ??
				session.call(name, args, allowed === undefined ? context : { ...context, allowed }));
			return { output, isError: !ok };
		}
	};
}

function toRunEvent(event: SkillEvent, toolCallId: string): CustomRunEvent {
	switch (event.type) {
		case 'loaded': {
			const { type: _type, ...value } = event;
			return { type: 'CUSTOM', name: 'skill.loaded', value: { toolCallId, ...value } };
		}
		case 'started': {
			const { type: _type, ...value } = event;
			return { type: 'CUSTOM', name: 'skill.started', value: { toolCallId, ...value } };
		}
		case 'output':
			return { type: 'CUSTOM', name: 'skill.output', value: { toolCallId, stream: event.stream, text: event.text } };
		case 'finished': {
			const { type: _type, ...value } = event;
			return { type: 'CUSTOM', name: 'skill.finished', value: { toolCallId, ...value } };
		}
	}
}

// Who may answer a question before something runs, and what comes of it where nobody is there to be asked (FEATURES C16, E30).

/** Who wants something to run. */
export interface Asker {
	/** Null for whoever manages the server. */
	apiKeyId: string | null;
	scopes: readonly ApiScope[];
}

/** May it answer what is asked about its own runs? Whoever manages the server may; a key only when it was made for it. */
export function mayAnswer({ apiKeyId, scopes }: Asker): boolean {
	return apiKeyId === null || scopes.includes('approve');
}

/**
 * Does it run where nobody can be asked? Only for a key that was made for it, and never what nobody has looked at.
 * Whoever manages the server is a person, who wanted to be asked.
 */
export function runsUnasked({ apiKeyId, scopes }: Asker, { trust }: Pick<ApprovalRequest, 'trust'>): boolean {
	return apiKeyId !== null && scopes.includes('approve') && trust === undefined;
}

/** A toolbox where nobody is there to be asked: what would need consent is refused, and the result says where to give it. */
export function unattended(toolbox: Toolbox, asker: Asker): Toolbox {
	return {
		...toolbox,
		approval: async () => null,
		async call(name, args, context) {
			const request = await toolbox.approval(name, args, null);
			if (!request || runsUnasked(asker, request)) return toolbox.call(name, args, context);
			const { reason } = request;
			return failure(typeOf(request), `${reason} No one is here to allow it.`, hintFor(request, asker));
		}
	};
}

/** Why it does not run, as a type (D13). */
export function typeOf({ trust, missing }: ApprovalRequest): 'NotTrusted' | 'MissingSecret' | 'ApprovalRequired' {
	return trust ? 'NotTrusted' : missing ? 'MissingSecret' : 'ApprovalRequired';
}

/** What would let it run the next time. */
export function hintFor({ trust, missing, skill }: ApprovalRequest, { apiKeyId }: Pick<Asker, 'apiKeyId'>): string {
	const page = `/skills/${encodeURIComponent(toSkillId(skill))}`;
	if (trust !== undefined) {
		return `Check what the skill contains and trust it on its page, ${page}.`;
	}
	const orByKey = apiKeyId === null ? '' : ' A key with the scope “approve” runs it without asking.';
	if (missing !== undefined) {
		return `Set the variables on the skill’s page, ${page}.${orByKey}`;
	}
	const where =
		mcpServerOf(skill) === null ? 'start the server with SKILLS_APPROVAL=auto' : 'turn off asking for its MCP server';
	return `Always allow it in the chat, or ${where}.${orByKey}`;
}

// Several sources of tools as one: the server's own skills, and those of MCP servers (FEATURES E36).

/** Of one name the tool of the first source is offered and called. */
export function joinTools(sources: readonly BuiltinTools[]): BuiltinTools {
	const sourceOf = (name: string) => sources.find((source) => source.has(name));
	return {
		tools() {
			const offered = new Map<string, FunctionTool>();
			for (const tool of sources.flatMap((source) => source.tools())) {
				if (!offered.has(tool.name)) offered.set(tool.name, tool);
			}
			return [...offered.values()];
		},
		has: (name) => sourceOf(name) !== undefined,
		lane: (name) => sourceOf(name)?.lane(name) ?? null,
		approval: (name, args, earlier) => sourceOf(name)?.approval(name, args, earlier) ?? null,
		async call(name, args, context) {
			const source = sourceOf(name);
			if (source) return source.call(name, args, context);
			return { ok: false, output: JSON.stringify({ ok: false, error: 'UnknownTool' }) };
		}
	};
}
