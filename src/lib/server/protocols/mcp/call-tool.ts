/** Runs a tool call. Errors become results, which the model reads (E15, D24). */
import {
	type CallToolResult,
	type InputRequiredResult,
	ProtocolError,
	ProtocolErrorCode
} from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { AppError } from '../../../shared/errors.ts';
import { numberArgument } from '../../skills/call/operations.ts';
import type { PlannedRun, ToolOutcome } from '../../skills/call/session.ts';
import { LOAD_SKILL } from '../../skills/call/tools.ts';
import { renderLoadedSkill } from '../../skills/prompt.ts';
import type { SkillSnapshot } from '../../skills/registry/registry.ts';
import { TooManyCalls } from '../../skills/turns.ts';
import { type Missing, SkillError, type SkillEvent, type SkillExecutionResult } from '../../skills/types.ts';
import { covers } from '../../skills/needs/hosts.ts';
import { skillIdOf } from '../../skills/run/execution-host.ts';
import { askFor, askToMend, ConsentNeeded, requireConsent, takeLack, type Consent, type Lack } from './consent.ts';
import {
	clientOf,
	hasScope,
	lackOf,
	type McpContext,
	type McpPeer,
	ownToolOf,
	skillsEnableInput,
	skillsExecuteInput,
	skillsExecutionsInput,
	skillsListInput,
	viewFor
} from './definitions.ts';
import { findNamed } from './resources.ts';
import { isObject } from '../../../shared/json.ts';
import type { SkillExecution } from '../../../shared/try-out.ts';
import type { SkillSummary } from '../../../shared/skills.ts';
import { runAdHoc, withRemark } from '../../skill-admin/ad-hoc.ts';
import { requireSkill } from '../../skill-admin/skill-details.ts';
import type { ModeSubject } from '../../trust/skill-modes.ts';
import { type ApiScope, toSkillId } from '../../../shared/names.ts';
import type { ApprovalRequest } from '../../../shared/events.ts';
import { type Asker, hintFor, mayAnswer, runsUnasked, typeOf } from '../../turns/toolbox.ts';
import { inPlainWords, sentenceOf } from '../../../shared/plain-issues.ts';

/** Returns a question if the user must consent first. @throws ProtocolError (only) for an unknown tool */
export async function callTool(
	context: McpContext,
	{ name, arguments: args = {} }: { name: string; arguments?: Record<string, unknown> | undefined },
	asked: Omit<OwnCall, 'mend'>
): Promise<CallToolResult | InputRequiredResult> {
	try {
		const subject = ['missing', clientOf(asked.peer.caller, asked.peer.sessionId), name, args];
		const lack = takeLack(asked.consent, context.questions, subject);
		if (lack && !(await isMended(context, asked.consent, lack))) {
			const { failure: facts } = lack;
			return { content: [text(JSON.stringify({ ok: false, ...facts }))], structuredContent: facts, isError: true };
		}
		const mend: OwnCall['mend'] = async (skillId, { missing, error = 'ExecutionFailed', message = '', hint }) => {
			// Who has been asked isn't asked again by this call, whatever its script says then.
			if (lack || !missing || asked.peer.caller.apiKeyId !== null) return;
			const isGranted = async () =>
				(await context.network.granted(skillId)).some((domain) => covers(domain, missing.name));
			if (missing.kind === 'host' && (await isGranted())) return;
			const page = `/skills/${toSkillId(skillId).split('/').map(encodeURIComponent).join('/')}`;
			const failure = { error, message, hint, missing };
			const { canAsk, origin } = asked.consent;
			const isOffered = missing.kind === 'package' && canAsk && origin === null;
			const packages = isOffered ? await lookUpPackages(context, skillId, missing) : null;
			askToMend(asked.consent, context.questions, { skillId, page, failure, packages }, subject);
		};
		const call = { ...asked, mend };
		const own = ownToolOf(name);
		if (!own) return await callSkillTool(context, { name, args }, call);
		checkScope(call.peer.caller, own.scope);
		const answer = await callOwnTool(context, own.name, args, call);
		// A run that failed is a tool error too, with its record.
		const isError = (isObject(answer.result) && answer.result.success === false) || undefined;
		return { content: [text(JSON.stringify(answer))], structuredContent: answer, isError };
	} catch (error) {
		if (error instanceof ProtocolError) throw error;
		if (error instanceof ConsentNeeded) return askFor(error);
		if (error instanceof TooManyCalls) return failure({ error: 'rate_limited', message: error.message });
		if (error instanceof SkillError || error instanceof AppError) {
			const { message, hint } = error;
			return failure({ error: error instanceof SkillError ? error.type : typeIn(error), message, hint });
		}
		if (asked.signal.aborted) return failure({ error: 'Cancelled', message: 'The call was cancelled.' });
		context.log.error({ tool: name.slice(0, 100), error: String(error) }, 'MCP tool failed');
		return failure({ error: 'internal', message: 'Something went wrong on the server. See its log for details.' });
	}
}

/** What a missing package and the skill’s other packages come to; null if that can’t be told. */
async function lookUpPackages(
	context: McpContext,
	skillId: string,
	{ ecosystem, name }: Extract<Missing, { kind: 'package' }>
): Promise<Lack['packages']> {
	const skill = requireSkill(context, null, toSkillId(skillId));
	// Somebody may be installing them on the page.
	await context.packages.lookUp(skill, [{ ecosystem, name }]).catch(() => undefined);
	await context.packages.settled(skill);
	return (await context.packages.stateOf(skill)).proposed;
}

/**
 * Whether the call may run again. Only a ticked box allows the host or installs the packages; a page that was opened has
 * changed what it has.
 */
async function isMended(context: McpContext, { answer }: Consent, lack: Lack): Promise<boolean> {
	if (!lack.isForm) return answer?.isAllowed === true;
	if (answer?.isTicked !== true) return false;
	const { network, revisions, packages } = context;
	const { skillId, failure } = lack;
	if (lack.packages) {
		const skill = requireSkill(context, null, toSkillId(skillId));
		await packages.install(skill, lack.packages.digest);
		await packages.settled(skill);
		const { installed } = await packages.stateOf(skill);
		return installed?.digest === lack.packages.digest && installed.state === 'ready';
	}
	const domains = await network.granted(skillId);
	await network.grant(skillId, [...new Set([...domains, failure.missing.name])], new Date().toISOString());
	revisions.note();
	return true;
}

/** Why a script didn't run, with the same name as everywhere else; otherwise the error code. */
function typeIn({ code, details }: AppError): string {
	return isObject(details) && typeof details.error === 'string' ? details.error : code;
}

async function callSkillTool(
	context: McpContext,
	{ name, args }: { name: string; args: Record<string, unknown> },
	{ peer, consent, signal, onEvent, onAllowed, mend }: OwnCall
): Promise<CallToolResult> {
	const { caller, sessionId } = peer;
	const { session, library } = viewFor(context, caller);
	if (!session.has(name)) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool “${name.slice(0, 100)}”.`);
	}
	const run: PlannedRun | null = session.plan(name, args);
	checkScope(caller, run === null ? 'read' : 'execute');
	if (name === LOAD_SKILL.name && !hasScope(caller, 'execute')) return instructionsOnly(library, args);
	const { question, digest } = run ? await context.approvals.request(run, null) : { question: null, digest: null };
	requireAllowed(question, context, { peer, consent });
	if (run) onAllowed();
	const apiKeyId = caller.apiKeyId ?? undefined;
	return context.turns.run({ caller: clientOf(caller, sessionId), lane: run?.skill.name ?? null, signal }, async () => {
		const within = { signal, onEvent, caller: { sessionId, apiKeyId }, allowed: digest ?? undefined };
		const { result: outcome, unkept } = await context.adHoc.inWorkspace({ apiKeyId, sessionId }, (cwd) =>
			session.call(name, args, { ...within, cwd })
		);
		if (run && typeof outcome.result !== 'string') await mend(skillIdOf(run.skill), outcome.result);
		return toResult(outcome, unkept);
	});
}

/** For keys without “execute”: loading a skill normally may run commands in its instructions, but this doesn't. */
function instructionsOnly(library: SkillSnapshot, args: Record<string, unknown>): CallToolResult {
	const name = args.skill;
	const skill = typeof name === 'string' ? findNamed(library, name) : null;
	if (!skill) throw new SkillError('SkillNotFound', 'Skill not found.', 'skills_list shows all skills.');
	return { content: [text(renderLoadedSkill(skill, numberArgument(args, 'offset')))] };
}

/** Text goes out as it is; an object also as structured content. `unkept` is said after it. */
function toResult({ ok, output, result }: ToolOutcome, unkept: string | null): CallToolResult {
	const remarks = unkept === null ? [] : [text(unkept)];
	if (typeof result === 'string') return { content: [text(output), ...remarks] };
	const { value } = result;
	const isPlainText = ok && typeof value === 'string' && output === JSON.stringify(value);
	const data = value === undefined ? withRemark({ ...result }, unkept) : value;
	return {
		content: [text(isPlainText ? value : output), ...remarks],
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

// The server’s own tools (E10, E15, B6).

interface OwnCall {
	peer: McpPeer;
	consent: Consent;
	signal: AbortSignal;
	onEvent: (event: SkillEvent) => void;
	/** It will run, perhaps after others; the user isn't asked before it has. */
	onAllowed: () => void;
	/** Has the user asked for what a script lacked. @throws ConsentNeeded */
	mend(skillId: string, result: Lacking): Promise<void>;
}

type Lacking = Pick<SkillExecutionResult, 'missing' | 'error' | 'message' | 'hint'>;
type Answer = Record<string, unknown>;

/** @throws AppError */
async function callOwnTool(context: McpContext, name: string, args: unknown, call: OwnCall): Promise<Answer> {
	switch (name) {
		case 'skills_list':
			return listSkills(context, parse(skillsListInput, args), call.peer);
		case 'skills_enable':
			return enableSkill(context, parse(skillsEnableInput, args), call.peer);
		case 'skills_execute':
			return executeSkill(context, parse(skillsExecuteInput, args), call);
		default:
			return listExecutions(context, parse(skillsExecutionsInput, args), call.peer);
	}
}

async function listSkills(
	{ lister }: McpContext,
	{ query, name, enabled, page, limit, apiKeyId }: z.infer<typeof skillsListInput>,
	peer: McpPeer
): Promise<Answer> {
	const q = [query, name].filter(Boolean).join(' ');
	const asked = { q: q || undefined, apiKeyId };
	if (enabled === undefined) {
		const { data, total } = await lister.list(asked, { page, limit }, peer.caller.apiKeyId);
		return { skills: data.map(briefly), total, page };
	}
	// The list filters by mode; two of the three modes count as enabled.
	const wantedMode = enabled ? asked : { ...asked, mode: 'off' as const };
	const { data } = await lister.list(wantedMode, { page: 1, limit: 100_000 }, peer.caller.apiKeyId);
	const wanted = enabled ? data.filter(({ mode, status }) => mode !== 'off' && status === 'ready') : data;
	return { skills: wanted.slice((page - 1) * limit, page * limit).map(briefly), total: wanted.length, page };
}

/** Without its path on this machine. */
function briefly({ path: _path, usage, ...skill }: SkillSummary): Answer {
	return { ...skill, enabled: skill.mode !== 'off' && skill.status === 'ready', executions: usage.executions };
}

async function enableSkill(
	{ modes, skills, adHoc, revisions }: McpContext,
	{ skillId, enabled }: z.infer<typeof skillsEnableInput>,
	{ caller }: McpPeer
): Promise<Answer> {
	const builtin = skillId.startsWith('builtin/') ? adHoc.findBuiltin(skillId.slice('builtin/'.length)) : null;
	const subject: ModeSubject = builtin
		? `builtin/${builtin.name}`
		: requireSkill({ skills, modes }, caller.apiKeyId, skillId);
	await modes.setEnabled(subject, enabled);
	revisions.note();
	const mode = modes.modeOf(subject);
	return { skillId, enabled: mode !== 'off', mode };
}

async function executeSkill(
	context: McpContext,
	wanted: z.infer<typeof skillsExecuteInput>,
	{ peer, consent, signal, onEvent, mend }: OwnCall
): Promise<Answer> {
	const { script, tool, skillName } = wanted;
	if (script !== undefined && tool !== undefined) {
		throw new AppError('invalid_input', 'Name a script or a tool, not both.');
	}
	const apiKeyId = peer.caller.apiKeyId ?? wanted.apiKeyId;
	const sessionId = wanted.sessionId ?? peer.sessionId;
	const asked = { ...wanted, sessionId, apiKeyId };
	return context.turns.run({ caller: clientOf(peer.caller, peer.sessionId), lane: skillName, signal }, async () => {
		const { execution, result } = await runAdHoc(context.adHoc, asked, signal, {
			onEvent,
			allow: (question) => requireAllowed(question, context, { peer, consent })
		});
		await mend(execution.skillId, result);
		return { execution: toRecord(execution), result };
	});
}

async function listExecutions(
	{ store }: McpContext,
	{ limit, page, skill, status, apiKeyId }: z.infer<typeof skillsExecutionsInput>,
	{ caller }: McpPeer
): Promise<Answer> {
	const filter = { skill, status, apiKeyId: caller.apiKeyId ?? apiKeyId };
	const { data, total } = await store.skillExecutions.list(filter, { page, limit });
	return { executions: data.map(toRecord), total, page };
}

/** Leaves out output and input, which can be long; the app shows them. */
function toRecord({ output: _output, input: _input, limits: _limits, ...record }: SkillExecution): Answer {
	return record;
}

function parse<Schema extends z.ZodType>(schema: Schema, args: unknown): z.infer<Schema> {
	const parsed = schema.safeParse(args, { error: inPlainWords });
	if (parsed.success) return parsed.data;
	throw new AppError('invalid_input', sentenceOf(parsed.error.issues[0], 'arguments').sentence);
}

/** @throws AppError forbidden */
function checkScope(caller: Asker, scope: ApiScope): void {
	if (!hasScope(caller, scope)) throw new AppError('forbidden', lackOf(scope));
}

/**
 * Asks for consent through the client if it can ask, else refuses and says where to allow it (C16, F3).
 * @throws ConsentNeeded | SkillError `ApprovalDenied` | AppError `forbidden` with the error type (D13) in its details
 */
function requireAllowed(
	question: ApprovalRequest | null,
	{ questions }: Pick<McpContext, 'questions'>,
	{ peer, consent }: Pick<OwnCall, 'peer' | 'consent'>
): void {
	if (question === null) return;
	const { caller, sessionId } = peer;
	const { skill, script, args, digest, reason, trust } = question;
	// The client reports its user's answer with the authority of its key.
	if (consent.canAsk && mayAnswer(caller)) {
		const subject = [clientOf(caller, sessionId), skill, script, args, digest];
		const page = `/skills/${encodeURIComponent(toSkillId(skill))}`;
		const where = trust ? ` Check what it contains and trust it on its page, ${page}.` : '';
		return requireConsent(consent, questions, { reason: reason + where, args, subject });
	}
	if (runsUnasked(caller, question)) return;
	throw new AppError('forbidden', reason, { hint: hintFor(question, caller), details: { error: typeOf(question) } });
}
