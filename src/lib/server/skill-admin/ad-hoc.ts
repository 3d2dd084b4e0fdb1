/** Runs a script, tool or built-in skill on request, without a model (E10, E11, F6). */
import { AppError, type ErrorCode, errorLine } from '../../shared/errors.ts';
import type { ApprovalRequest } from '../../shared/events.ts';
import type {
	AdHocExecution,
	CaseExpectation,
	CaseRun,
	SkillCase,
	skillCaseCreate,
	SkillExecution
} from '../../shared/try-out.ts';
import { CASE_SESSION, fromSkillId } from '../../shared/names.ts';
import { type ExecutionCaller, skillIdOf } from '../skills/run/execution-host.ts';
import { ownerOf } from '../skills/registry/visibility.ts';
import type { SkillOperation } from '../skills/call/operations.ts';
import type { SkillsProvider } from '../skills/provider.ts';
import type { PlannedRun, SkillSession } from '../skills/call/session.ts';
import {
	type Skill,
	SkillError,
	type SkillErrorType,
	type SkillEvent,
	type SkillExecutionResult
} from '../skills/types.ts';
import type { Store } from '../store/store.ts';
import { type ApprovalPolicy, handlerOf } from '../trust/approval-policy.ts';
import { type LookupParts, requireSkill } from './skill-details.ts';
import type { StoredSkillModes } from '../trust/skill-modes.ts';
import { type Asker, hintFor, mayAnswer, runsUnasked, typeOf } from '../turns/toolbox.ts';
import { randomUUID } from 'node:crypto';
import type { Workspaces } from '../workspaces.ts';
import type { z } from 'zod';
import { declaredVariables } from '../skills/needs/variables.ts';
import { resolveScript } from '../skills/read/files.ts';
import { digestWithoutEvals } from '../skills/read/skill-tree.ts';

export interface AdHocParts {
	skills: SkillsProvider;
	store: Pick<Store, 'skillExecutions'>;
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
	approvals: Pick<ApprovalPolicy, 'request' | 'runsUnasked'>;
	/** False while skills are turned off (E11). */
	isEnabled(): boolean;
	/** By name or alias. */
	findBuiltin(name: string): AdHocBuiltin | null;
	/** Runs something in the workspace of a conversation, an API key or a session, as `Workspaces.use`. */
	inWorkspace<Result>(
		of: { apiKeyId?: string | undefined; sessionId?: string | undefined; conversationId?: string | undefined },
		work: (cwd: string) => Promise<Result>
	): Promise<{ result: Result; unkept: string | null }>;
	/** Lends a copy of a skill with these texts in it. */
	withTexts<Result>(
		of: { skill: Skill; texts: NonNullable<AdHocExecution['files']> },
		use: (copy: Skill) => Promise<Result>
	): Promise<Result>;
}

export interface AdHocBuiltin {
	name: string;
	/** The approval it needs; null for none. */
	question(input: Record<string, unknown>): ApprovalRequest | null;
	/** Never throws. */
	call(
		input: Record<string, unknown>,
		context: AdHocContext
	): Promise<{ ok: boolean; output: string; outcome: Failure & { value: unknown } }>;
}

interface AdHocContext {
	/** Absolute path. */
	cwd: string;
	signal: AbortSignal;
	caller: ExecutionCaller;
	onEvent: (event: SkillEvent) => void;
}

interface Failure {
	error?: SkillErrorType;
	message?: string;
	hint?: string;
}

interface AdHocResult {
	execution: SkillExecution;
	/** The result of a script or tool, or the value of a built-in skill. */
	result: SkillExecutionResult | ({ success: boolean; value: unknown } & Failure);
}

/** Codes of failures before anything ran. A script that fails is a result. */
const CODES: Partial<Record<SkillErrorType, ErrorCode>> = {
	SkillsDisabled: 'unavailable',
	SkillDisabled: 'conflict',
	NotTrusted: 'forbidden',
	SkillNotFound: 'not_found',
	ScriptNotFound: 'not_found',
	HandlerNotFound: 'not_found',
	UnknownTool: 'not_found',
	InvalidArgs: 'invalid_input',
	ScriptNotAllowed: 'invalid_input',
	UnsupportedScriptType: 'invalid_input',
	MissingDependency: 'conflict'
};

/** `owner` selects whose skills to use beside the system’s, if no key does. */
export type AskedExecution = Omit<AdHocExecution, 'approve'> & { owner?: string };

interface AdHocWatch {
	onEvent?: (event: SkillEvent) => void;
	/** Returns if the approval is given. @throws Error with the reason if not */
	allow(question: ApprovalRequest): void;
}

/**
 * For requests without a user to ask: allows what the key may run unasked, and what the operator approved by digest in
 * the request itself. Only the owner can allow a skill that nobody trusts, and only this once.
 */
export function allowedIn(approve: string | undefined, asker: Asker): AdHocWatch['allow'] {
	return (question) => {
		const { reason, digest, trust, missing, reach } = question;
		if (runsUnasked(asker, question)) return;
		const isOwner = asker.apiKeyId === null;
		if (approve === digest && (isOwner || (trust === undefined && mayAnswer(asker)))) return;
		const hint = `To allow it this once, send the request again with "approve": "${digest}".`;
		throw new AppError('forbidden', reason, {
			hint: isOwner ? hint : hintFor(question, asker),
			details: { error: typeOf(question), digest, trust, missing, reach }
		});
	};
}

/** A request doesn’t imply approval: someone else may have told the program what to run. @throws AppError if nothing ran */
export async function runAdHoc(
	parts: AdHocParts,
	asked: AskedExecution,
	signal: AbortSignal,
	watch: AdHocWatch
): Promise<AdHocResult> {
	requireEnabled(parts);
	const { apiKeyId, sessionId, conversationId } = asked;
	let executionId: string | null = null;
	const context: Omit<AdHocContext, 'cwd'> = {
		signal,
		caller: { apiKeyId, sessionId, conversationId },
		onEvent: (event) => {
			if (event.type === 'started') executionId = event.executionId;
			watch.onEvent?.(event);
		}
	};
	const builtin = builtinFor(parts, asked.skillName);
	const { files = [] } = asked;
	if (files.length > 0 && apiKeyId !== undefined)
		throw new AppError('forbidden', 'Only the server’s admin can run a skill with other files.');
	const perform = (context: AdHocContext): Promise<Outcome> =>
		files.length === 0
			? performOperation(parts, asked, context, watch)
			: performUnsaved(parts, { ...asked, files }, context, watch);
	const { result: outcome, unkept } = await parts.inWorkspace(asked, (cwd) =>
		builtin ? callBuiltin(builtin, asked, { ...context, cwd }, watch) : perform({ ...context, cwd })
	);
	const { result, failure } = outcome;
	if (executionId === null) throw asAppError(failure);
	const execution = await parts.store.skillExecutions.get(executionId);
	if (!execution) throw new AppError('unavailable', 'It ran, but couldn’t be recorded.');
	return { execution, result: withRemark(result, unkept) };
}

/** The result also says why other servers don’t have its files yet. */
export function withRemark<Result extends { hint?: string }>(result: Result, unkept: string | null): Result {
	return unkept === null ? result : { ...result, hint: [result.hint, unkept].filter(Boolean).join(' ') };
}

/** Checked first, so that a server with skills turned off reveals nothing about them. @throws AppError `unavailable` */
export function requireEnabled({ isEnabled }: Pick<AdHocParts, 'isEnabled'>): void {
	if (isEnabled()) return;
	throw new AppError('unavailable', 'Skills are turned off on this server.', {
		hint: 'Whoever runs the server can turn them on in Settings.',
		details: { error: 'SkillsDisabled' }
	});
}

type Outcome = Pick<AdHocResult, 'result'> & { failure: Failure };

/** A built-in skill’s bare name wins over a folder’s skill, which is then `source/name` (D17). @throws AppError `not_found` */
function builtinFor({ findBuiltin }: AdHocParts, skillName: string): AdHocBuiltin | null {
	if (!skillName.startsWith('builtin/')) return findBuiltin(skillName);
	const builtin = findBuiltin(skillName.slice('builtin/'.length));
	if (!builtin) throw new AppError('not_found', `Skill not found: “${skillName}”.`);
	return builtin;
}

async function callBuiltin(
	builtin: AdHocBuiltin,
	{ script, args, tool, input = {} }: AskedExecution,
	context: AdHocContext,
	{ allow }: AdHocWatch
): Promise<Outcome> {
	if (script !== undefined || args !== undefined) {
		throw new AppError('invalid_input', `“${builtin.name}” has no scripts. It takes an “input”.`);
	}
	if (tool !== undefined && tool !== builtin.name) {
		throw new AppError('not_found', `“${builtin.name}” has no tool “${tool}”.`);
	}
	const question = builtin.question(input);
	if (question) allow(question);
	const { ok, outcome } = await builtin.call(input, context);
	const { value, error, message, hint } = outcome;
	return { result: { success: ok, value, error, message, hint }, failure: outcome };
}

/**
 * With texts that aren’t saved. They run unasked where the saved skill does, because a person has just typed them and pressed
 * the button, unless they declare variables that it doesn’t.
 */
async function performUnsaved(
	parts: AdHocParts,
	asked: AskedExecution & Required<Pick<AskedExecution, 'files'>>,
	context: AdHocContext,
	watch: AdHocWatch
): Promise<Outcome> {
	const { approvals, modes, skills } = parts;
	const skill = requireSkill(parts, null, asked.skillName);
	const runsUnasked = await approvals.runsUnasked(skill);
	const declared = new Set(declaredVariables(skill).map(({ name }) => name));
	return parts.withTexts({ skill, texts: asked.files }, (copy) => {
		const library = skills.registry.snapshot();
		const others = library.skills.filter(({ name }) => name !== copy.name);
		const snapshot = { ...library, skills: [copy, ...others], revision: randomUUID() };
		const copyId = skillIdOf(copy);
		const isAsSaved = runsUnasked && declaredVariables(copy).every(({ name }) => declared.has(name));
		const own: Pick<AdHocParts, 'skills' | 'modes' | 'approvals'> = {
			skills: { ...skills, registry: { ...skills.registry, snapshot: () => snapshot } },
			modes: {
				modeOf: (each) => (typeof each !== 'string' && skillIdOf(each) === copyId ? 'auto' : modes.modeOf(each)),
				pinOf: modes.pinOf
			},
			approvals: {
				runsUnasked: approvals.runsUnasked,
				async request(plan, earlier) {
					const isOwn = isAsSaved && plan.skill.dir === copy.dir && handlerOf(plan.skill, plan.script) === null;
					return isOwn ? { question: null, digest: null } : approvals.request(plan, earlier);
				}
			}
		};
		return performOperation({ ...parts, ...own }, { ...asked, skillName: copy.name }, context, watch);
	});
}

async function performOperation(
	{ skills, modes, approvals }: AdHocParts,
	asked: AskedExecution,
	context: AdHocContext,
	{ allow }: AdHocWatch
): Promise<Outcome> {
	const { apiKeyId, owner } = asked;
	const { script, args, tool, input } = withOnlyPart({ skills, modes }, asked);
	const snapshot = skills.registry.snapshot();
	const session = skills.createSession({
		snapshot,
		dialect: 'full',
		modeOf: modes.modeOf,
		pinOf: modes.pinOf,
		owner: owner ?? ownerOf(apiKeyId)
	});
	const skill = fromSkillId(asked.skillName);
	const operation: SkillOperation =
		tool === undefined
			? { kind: 'run', skill, script: script ?? '', args, argStyle: undefined }
			: { kind: 'tool', skill, tool, args: input ?? {} };
	const plan = planOf(session, operation);
	const { question, digest } = plan ? await approvals.request(plan, null) : { question: null, digest: null };
	if (question) allow(question);
	const { result } = await session.perform(operation, digest === null ? context : { ...context, allowed: digest });
	if (typeof result === 'string') throw new AppError('invalid_input', 'Nothing to run in this call.');
	return { result, failure: result };
}

/** OmniRoute sends only an input: then the skill’s only tool or script is meant. @throws AppError */
function withOnlyPart(
	parts: LookupParts,
	asked: AskedExecution
): Pick<AskedExecution, 'script' | 'args' | 'tool' | 'input'> {
	const { skillName, script, args, tool, input, apiKeyId } = asked;
	if (script !== undefined || tool !== undefined) return { script, args, tool, input };
	const { name, tools, scripts } = requireSkill(parts, apiKeyId ?? null, skillName);
	const [onlyTool] = tools;
	const [onlyScript] = scripts;
	if (onlyTool && tools.length === 1) return { tool: onlyTool.name, input };
	if (onlyScript && tools.length === 0 && scripts.length === 1) return { script: onlyScript, args: args ?? input };
	const names = tools.map((each) => each.name).join(', ') || 'none';
	const hint = `Its tools: ${names}. Its scripts: ${scripts.join(', ') || 'none'}.`;
	throw new AppError('invalid_input', `Choose a script or tool of “${name}”.`, { hint });
}

/** The planned run; null if it doesn’t exist or is off. @throws AppError for invalid arguments */
function planOf(session: SkillSession, operation: SkillOperation): PlannedRun | null {
	try {
		return session.planOperation(operation);
	} catch (error) {
		if (!(error instanceof SkillError)) throw error;
		const { type, message, hint } = error;
		throw asAppError({ error: type, message, hint });
	}
}

function asAppError({ error = 'ExecutionFailed', message = 'It couldn’t be run.', hint }: Failure): AppError {
	return new AppError(CODES[error] ?? 'conflict', message, { hint, details: { error } });
}

// Test cases of a skill: saved runs with expected results (F6).

/** `id` is any skill id that the API accepts. */
export interface Cases {
	/** Oldest first. @throws AppError `not_found` */
	list(id: string): Promise<SkillCase[]>;
	/** @throws AppError `invalid_input` if the skill has no such script or tool */
	create(id: string, entry: z.infer<typeof skillCaseCreate>): Promise<SkillCase>;
	/** Runs it like any request, in the version that `id` means. @throws AppError if nothing ran */
	run(id: string, caseId: string, how: Pick<AdHocWatch, 'allow'> & { signal: AbortSignal }): Promise<CaseRun>;
	/** @throws AppError `not_found` */
	remove(id: string, caseId: string): Promise<void>;
}

/** Per skill. */
const MAX_CASES = 200;

export function createCases(parts: {
	store: Pick<Store, 'skillCases'>;
	adHoc: AdHocParts;
	modes: LookupParts['modes'];
	workspaces: Pick<Workspaces, 'read' | 'write' | 'copyAll' | 'removeAll'>;
	/** Name of a session’s workspace. */
	folderOf(apiKeyId: null, sessionId: string): string;
}): Cases {
	const { store, adHoc, modes, workspaces, folderOf } = parts;
	const skillOf = (id: string) => requireSkill({ skills: adHoc.skills, modes }, null, id);
	const requireCase = async (skill: Skill, caseId: string): Promise<SkillCase> => {
		const found = await store.skillCases.get(caseId);
		if (found?.skillId === skillIdOf(skill)) return found;
		throw new AppError('not_found', `“${skill.name}” has no case with this id.`);
	};
	/** The workspace with the files of a case. */
	const keptIn = (caseId: string) => folderOf(null, `${CASE_SESSION}files-${caseId}`);
	const keepFiles = async (caseId: string, paths: readonly string[], from: string): Promise<void> => {
		for (const path of paths) {
			const { file } = await workspaces.read(from, path);
			const body = file.readableWebStream() as ReadableStream<Uint8Array>;
			await workspaces.write(keptIn(caseId), path, body).finally(() => file.close());
		}
	};
	return {
		async list(id) {
			const skill = skillOf(id);
			const all = await store.skillCases.list(skillIdOf(skill));
			const now = all.some(({ lastRun }) => lastRun?.digest) ? await digestWithoutEvals(skill) : null;
			return all.map((each) => {
				const { lastRun } = each;
				if (!lastRun?.digest || !now || lastRun.digest === now) return each;
				return { ...each, lastRun: { ...lastRun, isOutdated: true } };
			});
		},

		async create(id, { title, script, args, tool, input, files, conversationId = '', expect }) {
			const skill = skillOf(id);
			const skillId = skillIdOf(skill);
			await requirePart(skill, script, tool);
			if ((await store.skillCases.list(skillId)).length >= MAX_CASES) {
				throw new AppError('conflict', `“${skill.name}” already has ${MAX_CASES} cases. Delete one first.`);
			}
			const what = { script: script ?? null, args: args ?? [], tool: tool ?? null, input: input ?? null, files };
			const entry = { id: randomUUID(), skillId, title, ...what, expect, createdAt: new Date().toISOString() };
			try {
				await keepFiles(entry.id, files, conversationId);
				await store.skillCases.add(entry);
			} catch (error) {
				await workspaces.removeAll(keptIn(entry.id));
				throw error;
			}
			return { ...entry, lastRun: null };
		},

		async run(id, caseId, { allow, signal }) {
			const skill = skillOf(id);
			const { script, args, tool, input, files, expect } = await requireCase(skill, caseId);
			// The list of runs knows it by its start.
			const sessionId = `${CASE_SESSION}${randomUUID()}`;
			const asked = {
				skillName: `${skillIdOf(skill)}@${skill.version}`,
				...(script === null ? {} : { script, args }),
				...(tool === null ? {} : { tool, input: input ?? {} }),
				owner: skill.owner,
				sessionId
			};
			const folder = folderOf(null, sessionId);
			// Before it runs, so that a change meanwhile is one.
			const digest = (await digestWithoutEvals(skill)) ?? undefined;
			if (files.length > 0) await workspaces.copyAll(keptIn(caseId), folder, '');
			const ran = await runAdHoc(adHoc, asked, signal, { allow }).finally(() => workspaces.removeAll(folder));
			const failures = failuresOf(ran, expect);
			const isPassed = failures.length === 0;
			const at = new Date().toISOString();
			await store.skillCases.setLastRun(caseId, { isPassed, failures, executionId: ran.execution.id, at, digest });
			return { isPassed, failures, execution: ran.execution };
		},

		async remove(id, caseId) {
			await requireCase(skillOf(id), caseId);
			await store.skillCases.remove(caseId);
			await workspaces.removeAll(keptIn(caseId));
		}
	};
}

async function requirePart(skill: Skill, script: string | undefined, tool: string | undefined): Promise<void> {
	if (tool !== undefined && !skill.tools.some(({ name }) => name === tool)) {
		const names = skill.tools.map(({ name }) => name).join(', ') || '(none)';
		throw new AppError('invalid_input', `tool: “${skill.name}” has no tool “${tool.slice(0, 200)}”.`, {
			hint: `Its tools: ${names}`,
			details: { field: 'tool' }
		});
	}
	if (script === undefined) return;
	await resolveScript(skill.dir, script).catch((error: unknown) => {
		if (!(error instanceof SkillError)) throw error;
		const { message, hint } = error;
		throw new AppError('invalid_input', `script: ${message}`, { hint, details: { field: 'script' } });
	});
}

/** Characters of an error’s line that a case shows. */
const MAX_LINE = 300;

/** One sentence per unmet expectation. Without an expected exit code, the run must succeed. */
function failuresOf({ execution, result }: AdHocResult, { exitCode, contains, files }: CaseExpectation): string[] {
	const { status, errorMessage } = execution;
	const line = status === 'error' ? errorLine(execution.output ?? '') : null;
	const reason = line === null ? '' : ` It said: ${line.slice(0, MAX_LINE)}`;
	const failures: string[] = [];
	if (exitCode === undefined && status !== 'success') {
		failures.push(`It should succeed, but didn’t: ${errorMessage ?? status}${reason}`);
	}
	if (exitCode !== undefined && execution.exitCode !== exitCode) {
		const ended = execution.exitCode === null ? `had none (${errorMessage ?? status})` : `was ${execution.exitCode}`;
		failures.push(`The exit code should be ${exitCode}, but ${ended}.${reason}`);
	}
	const said = saidIn(result);
	for (const text of contains ?? []) {
		if (!said.some((part) => part.includes(text))) failures.push(`Its output should contain “${text}”, but doesn’t.`);
	}
	const made = new Set(execution.files.map(({ path }) => path));
	for (const path of files ?? []) {
		if (!made.has(path)) failures.push(`It should create or change the file “${path}”, but didn’t.`);
	}
	return failures;
}

/** Its output and returned value, as text or JSON. */
function saidIn(result: AdHocResult['result']): string[] {
	const { value } = result;
	const returned = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
	return 'stdout' in result ? [result.stdout, result.stderr, returned] : [returned];
}
