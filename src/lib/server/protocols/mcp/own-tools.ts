/** What the server’s own tools do: list, switch, run, look back (FEATURES E10, E15, B6). */
import type { z } from 'zod';
import { AppError } from '../../../shared/errors.ts';
import type { SkillExecution } from '../../../shared/try-out.ts';
import type { SkillSummary } from '../../../shared/skills.ts';
import { runAdHoc } from '../../skill-admin/ad-hoc.ts';
import { requireSkill } from '../../skill-admin/skill-details.ts';
import type { ModeSubject } from '../../trust/skill-modes.ts';
import type { SkillEvent } from '../../skills/types.ts';
import { skillsEnableInput, skillsExecuteInput, skillsExecutionsInput, skillsListInput } from './definitions.ts';
import { clientOf, type McpContext, type McpPeer } from './parts.ts';
import { toSkillId } from '../../../shared/names.ts';
import type { ApprovalRequest } from '../../../shared/events.ts';
import { hintFor, mayAnswer, runsUnasked, typeOf } from '../../turns/toolbox.ts';
import { requireConsent, type Consent } from './consent.ts';

export interface OwnCall extends Asking {
	signal: AbortSignal;
	onEvent: (event: SkillEvent) => void;
}

type Answer = Record<string, unknown>;

/** @throws AppError for what cannot be done */
export async function callOwnTool(context: McpContext, name: string, args: unknown, call: OwnCall): Promise<Answer> {
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
	// The list knows three modes, of which two are “enabled”.
	const wantedMode = enabled ? asked : { ...asked, mode: 'off' as const };
	const { data } = await lister.list(wantedMode, { page: 1, limit: 100_000 }, peer.caller.apiKeyId);
	const wanted = enabled ? data.filter(({ mode, status }) => mode !== 'off' && status === 'ready') : data;
	return { skills: wanted.slice((page - 1) * limit, page * limit).map(briefly), total: wanted.length, page };
}

/** Not where on this machine it lies. */
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
	{ peer, consent, signal, onEvent }: OwnCall
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
			allow(question) {
				const refusal = refusalOf(question, context, { peer, consent });
				if (!refusal) return;
				const { error, message, hint } = refusal;
				throw new AppError('forbidden', message, { hint, details: { error } });
			}
		});
		return { execution: toRecord(execution), result };
	});
}

async function listExecutions(
	{ store }: McpContext,
	{ limit, page, skill, status, apiKeyId }: z.infer<typeof skillsExecutionsInput>,
	{ caller }: McpPeer
): Promise<Answer> {
	const whose = caller.apiKeyId ?? apiKeyId;
	const filter = { skill, status, apiKeyId: whose };
	const { data, total } = await store.skillExecutions.list(filter, { page, limit });
	return { executions: data.map(toRecord), total, page };
}

/** Outputs and inputs may be long, and are in the app. */
function toRecord({ output: _output, input: _input, limits: _limits, ...record }: SkillExecution): Answer {
	return record;
}

function parse<Schema extends z.ZodType>(schema: Schema, args: unknown): z.infer<Schema> {
	const parsed = schema.safeParse(args);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	throw new AppError('invalid_input', `${issue?.path.join('.') || 'arguments'}: ${issue?.message ?? 'is not right'}`);
}

// What must be asked about is asked through the client, or refused with where to allow it (FEATURES C16, F3).

export interface Refusal {
	/** Its type (D13). */
	error: string;
	message: string;
	hint: string;
}

/** Who would have to be asked. */
export interface Asking {
	peer: McpPeer;
	consent: Consent;
}

/** null where it needs no asking, or was allowed. @throws ConsentNeeded; SkillError `ApprovalDenied` */
export function refusalOf(
	question: ApprovalRequest | null,
	{ questions }: Pick<McpContext, 'questions'>,
	{ peer, consent }: Asking
): Refusal | null {
	if (question === null) return null;
	const { caller, sessionId } = peer;
	const { skill, script, args, digest, reason, trust } = question;
	// What the client says that its user has answered is said with the key.
	if (consent.canAsk && mayAnswer(caller)) {
		const subject = [clientOf(caller, sessionId), skill, script, args, digest];
		const page = `/skills/${encodeURIComponent(toSkillId(skill))}`;
		const where = trust ? ` What it contains is shown on its page, ${page}, where it can be trusted for good.` : '';
		requireConsent(consent, questions, { reason: reason + where, args, subject });
		return null;
	}
	return runsUnasked(caller, question)
		? null
		: { error: typeOf(question), message: reason, hint: hintFor(question, caller) };
}
