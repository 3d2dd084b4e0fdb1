/** The loop's toolbox: tools of skills, built-in tools and the caller's own; and who may approve calls. */
import { randomUUID } from 'node:crypto';
import { failed, type ToolAnswer } from '../skills/call/tools.ts';
import type { WorkspaceFile } from '../../shared/api.ts';
import type { ApprovalRequest, CustomRunEvent, ProducedFile, RunVerdict } from '../../shared/events.ts';
import { isOfChat, mcpServerOf, type ApiScope, toSkillId } from '../../shared/names.ts';
import type { Approval } from '../../shared/message.ts';
import type { FunctionTool } from '../agent/model.ts';
import { failure, type Toolbox } from '../agent/tool.ts';
import type { PlannedRun, SkillSession } from '../skills/call/session.ts';
import { type ExecutionCaller, type ExecutionRecorder, skillIdOf } from '../skills/run/execution-host.ts';
import type { Skill, SkillEvent } from '../skills/types.ts';
import type { QuestionReply } from '../../shared/questions.ts';
import { AppError } from '../../shared/errors.ts';
import type { Workspaces } from '../workspaces.ts';
import type { Ask, AskedQuestion, Sample, Sampler, SampleRequest } from './questions.ts';

export interface SkillToolboxOptions {
	session: SkillSession;
	callerTools: readonly FunctionTool[];
	/** Working directory of scripts. */
	cwd: string;
	/** For execution records. */
	caller: ExecutionCaller;
	/** Decides what needs approval. */
	approvals: { request(run: PlannedRun, earlier: Approval | null): Promise<RunVerdict> };
	builtins?: BuiltinTools;
	/** Asks the person in the chat what a tool asks; absent where nobody can be asked. */
	ask?: Ask | undefined;
	/** Asks the chat's model what a tool asks; used only after `ask`. */
	sample?: Sampler | undefined;
	/** Denied calls are among the executions, too. */
	recorder?: ExecutionRecorder | undefined;
	/** Called after a tool has changed the library. */
	onLibraryChange?: () => void;
}

/** Tools of one conversation that don't belong to a skill: built in, or from MCP servers. */
export interface BuiltinTools {
	/** Tools to offer now. */
	tools(): FunctionTool[];
	/** Skills that only this conversation has; none by default. */
	skills?(): readonly Skill[];
	/** Whether the tool exists, even if it isn't offered. Calling such a tool explains why. */
	has(name: string): boolean;
	lane(name: string): string | null;
	/** The question to ask before it may run; null if it may. */
	approval(
		name: string,
		args: Record<string, unknown>,
		earlier: Approval | null
	): ApprovalRequest | null | Promise<ApprovalRequest | null>;
	call(
		name: string,
		args: Record<string, unknown>,
		context: {
			cwd: string;
			signal: AbortSignal;
			onEvent(event: SkillEvent): void;
			caller: ExecutionCaller;
			/** Asks the person in the chat; absent where nobody can be asked. */
			ask?: ((question: AskedQuestion, signal: AbortSignal) => Promise<QuestionReply>) | undefined;
			/** Asks the chat's model; absent where nobody can be asked. */
			sample?: ((request: SampleRequest, signal: AbortSignal) => Promise<Sample>) | undefined;
			/** Receives the pictures that it returns, in base64. */
			pictures?: string[];
		}
	): Promise<BuiltinResult>;
}

export interface BuiltinResult extends ToolAnswer {
	/** See `ToolResult`. */
	parts?: readonly object[];
	/** That it has made, or shown. */
	files?: ProducedFile[];
}

/** A caller's tool takes precedence over one of ours with the same name (B13). */
export function createSkillToolbox(options: SkillToolboxOptions): Toolbox {
	const { session, callerTools, cwd, caller, approvals, builtins, recorder } = options;
	const callerNames = new Set(callerTools.map((tool) => tool.name));
	const builtinOf = (name: string): BuiltinTools | null =>
		builtins?.has(name) && !callerNames.has(name) ? builtins : null;
	/** Digests of the approved files, by call. Only these files run. */
	const approved = new Map<string, string>();
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
			// Approval, now or in advance, is for exactly these files.
			if (digest !== null) approved.set(keyOf(name, args), digest);
			return question;
		},
		async denied({ callId, name, approval }, args, message) {
			// What wasn't installed or defined has no executions.
			if (!recorder || !approval || approval.install || approval.define) return;
			const { skill, script, args: argv, digest } = approval;
			const plan = builtinOf(name) ? null : session.plan(name, args);
			const id = randomUUID();
			const skillId = plan ? skillIdOf(plan.skill) : skill;
			const version = plan?.skill.version ?? '1.0.0';
			const record = { id, skillId, skill, version, script, argv, digest, sandbox: '', limits: { timeoutMs: 0 } };
			await recorder.started({ ...record, caller: { ...caller, toolCallId: callId } });
			await recorder.finished(id, {
				...{ status: 'error', errorType: 'ApprovalDenied', message, exitCode: null, durationMs: 0 },
				...{ stdoutBytes: 0, stderrBytes: 0, output: '', files: [], refused: [] }
			});
		},
		async call(name, args, { toolCallId, signal, emit, spend, untimed }) {
			const plan = builtinOf(name) ? null : session.plan(name, args);
			const ofChat = plan !== null && isOfChat(skillIdOf(plan.skill)) ? { isOfChat: true } : {};
			const onEvent = (event: SkillEvent) => emit(toRunEvent(event, toolCallId, ofChat));
			const { ask, sample } = options;
			const asked =
				ask &&
				((question: AskedQuestion, within: AbortSignal) =>
					untimed(() => ask(question, { toolCallId, signal: within, emit })));
			const sampled =
				sample && ((request: SampleRequest, within: AbortSignal) => sample(request, { signal: within, spend }));
			const context = { cwd, signal, onEvent, caller: { ...caller, toolCallId } };
			const allowed = approved.get(keyOf(name, args));
			const result: BuiltinResult = await (builtinOf(name)?.call(name, args, {
				...context,
				ask: asked,
				sample: sampled
			}) ?? session.call(name, args, allowed === undefined ? context : { ...context, allowed }));
			const { ok, output, parts, files, changesLibrary } = result;
			if (changesLibrary) options.onLibraryChange?.();
			if (files) emit({ type: 'CUSTOM', name: 'tool.files', value: { toolCallId, files } });
			return { output, parts, isError: !ok };
		}
	};
}

function toRunEvent(event: SkillEvent, toolCallId: string, ofChat: { isOfChat?: boolean }): CustomRunEvent {
	switch (event.type) {
		case 'loaded': {
			const { type: _type, ...value } = event;
			return { type: 'CUSTOM', name: 'skill.loaded', value: { toolCallId, ...value } };
		}
		case 'started': {
			const { type: _type, ...value } = event;
			return { type: 'CUSTOM', name: 'skill.started', value: { toolCallId, ...value, ...ofChat } };
		}
		case 'waiting': {
			const { type: _type, ...value } = event;
			return { type: 'CUSTOM', name: 'skill.waiting', value: { toolCallId, ...value } };
		}
		case 'output':
			return { type: 'CUSTOM', name: 'skill.output', value: { toolCallId, stream: event.stream, text: event.text } };
		case 'finished': {
			const { type: _type, ...value } = event;
			return { type: 'CUSTOM', name: 'skill.finished', value: { toolCallId, ...value } };
		}
	}
}

// Approval (C16, E30)

/** The caller of a run. */
export interface Asker {
	/** null: the server's owner. */
	apiKeyId: string | null;
	scopes: readonly ApiScope[];
}

/** Whether it may approve its own runs: the owner, or a key with the scope. */
export function mayAnswer({ apiKeyId, scopes }: Asker): boolean {
	return apiKeyId === null || scopes.includes('approve');
}

/**
 * Whether it may run without asking when nobody can be asked: only for a key with the scope, and only trusted skills.
 * Not for the owner, a person who wanted to be asked.
 */
export function runsUnasked({ apiKeyId, scopes }: Asker, { trust }: Pick<ApprovalRequest, 'trust'>): boolean {
	return apiKeyId !== null && scopes.includes('approve') && trust === undefined;
}

/** A toolbox for when nobody can be asked: refuses calls that need approval, and says where to give it. */
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

/** The error type of a call that needs approval (D13). */
export function typeOf({ trust, missing }: ApprovalRequest): 'NotTrusted' | 'MissingSecret' | 'ApprovalRequired' {
	return trust ? 'NotTrusted' : missing ? 'MissingSecret' : 'ApprovalRequired';
}

/** How to let it run next time. */
export function hintFor({ trust, missing, skill }: ApprovalRequest, { apiKeyId }: Pick<Asker, 'apiKeyId'>): string {
	const page = `/skills/${encodeURIComponent(toSkillId(skill))}`;
	if (trust !== undefined) return `Check what the skill contains and trust it on its page, ${page}.`;
	const orByKey = apiKeyId === null ? '' : ' A key with the scope “approve” runs it without asking.';
	if (missing !== undefined) return `Set the variables on the skill’s page, ${page}.${orByKey}`;
	const where =
		mcpServerOf(skill) === null ? 'start the server with SKILLS_APPROVAL=auto' : 'turn off asking for its MCP server';
	return `Always allow it in the chat, or ${where}.${orByKey}`;
}

/** Our tools run in a workspace that is as other servers left it; what they change is stored, or the result says that it isn't. */
export function inWorkspace(toolbox: Toolbox, workspaces: Pick<Workspaces, 'use'>, conversationId: string): Toolbox {
	return {
		...toolbox,
		async call(name, args, context) {
			try {
				const { result, unkept } = await workspaces.use(conversationId, () => toolbox.call(name, args, context));
				return unkept === null ? result : { ...result, output: `${result.output}\n${unkept}` };
			} catch (error) {
				if (!(error instanceof AppError)) throw error;
				return failure('ExecutionFailed', error.message, error.hint);
			}
		}
	};
}

/** Files that the model is told of; none while they can't be fetched. */
export function filesToTell(workspaces: Pick<Workspaces, 'list'>, conversationId: string): Promise<WorkspaceFile[]> {
	return workspaces.list(conversationId).catch((error: unknown) => {
		if (error instanceof AppError && error.code === 'unavailable') return [];
		throw error;
	});
}

/** Combines several sources of tools (E36). If two have a tool of the same name, the first source wins. */
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
		skills: () => sources.flatMap((source) => source.skills?.() ?? []),
		has: (name) => sourceOf(name) !== undefined,
		lane: (name) => sourceOf(name)?.lane(name) ?? null,
		approval: (name, args, earlier) => sourceOf(name)?.approval(name, args, earlier) ?? null,
		async call(name, args, context) {
			const source = sourceOf(name);
			if (source) return source.call(name, args, context);
			return failed('UnknownTool');
		}
	};
}
