/** The skills of a conversation, and the caller's own tools, as the loop's toolbox. */
import type { FunctionTool } from '../agent/model.ts';
import type { Toolbox } from '../agent/tool.ts';
import type { ExecutionCaller } from '../skills/execution-host.ts';
import type { PlannedRun, SkillSession } from '../skills/session.ts';
import type { SkillEvent } from '../skills/types.ts';
import type { ApprovalRequest, CustomRunEvent } from '../../shared/events.ts';
import type { Approval } from '../../shared/message.ts';

export interface RunVerdict {
	/** What to ask before this runs; null when it may run. */
	question: ApprovalRequest | null;
	/** SHA-256 of the files that were looked at, and no others may run; null for a trusted place, whose files run as they are. */
	digest: string | null;
}

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
