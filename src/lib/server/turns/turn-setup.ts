/** What every turn begins with, in a conversation or without one: the skills that it is told of, and the tools that it may call. */
import { MAX_OFFERED, type OfferedSkill, type SkillOffer } from '../../shared/events.ts';
import { alwaysStub, type HistoryMessage, unloadedStub, withoutSkills } from '../agent/history.ts';
import type { FunctionTool, Model } from '../agent/model.ts';
import type { Toolbox } from '../agent/tool.ts';
import type { ExplainedSkill } from '../skills/find/skill-index.ts';
import { type Catalog, estimateTokens, tellCatalog } from '../skills/prompt.ts';
import type { SkillsProvider } from '../skills/provider.ts';
import type { SkillSnapshot } from '../skills/registry/registry.ts';
import { ownerOf, viewOf } from '../skills/registry/visibility.ts';
import type { ExecutionCaller } from '../skills/run/execution-host.ts';
import type { Skill } from '../skills/types.ts';
import type { ConversationSkillState } from '../store/chat/queue.ts';
import type { ApprovalPolicy } from '../trust/approval-policy.ts';
import type { StoredSkillModes } from '../trust/skill-modes.ts';
import { contextLimitOf } from './context-budget.ts';
import { type AlwaysSection, type AlwaysSkill, alwaysSkills, CATALOG_TOKENS, renderAlways } from './instructions.ts';
import type { SkillPolicy } from './run-request.ts';
import { type BuiltinTools, createSkillToolbox } from './toolbox.ts';

export interface TurnSetupParts {
	skills: SkillsProvider;
	approvals: ApprovalPolicy;
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
	/** The skills that the server brings itself, for one question; `used` are those that the conversation has used. */
	builtins?: (offer: {
		question: string;
		used: ReadonlySet<string>;
		only?: readonly string[] | undefined;
	}) => BuiltinTools;
	/** Most tokens that a model is sent, however many it takes; null for as many as it takes. */
	contextTokens: number | null;
}

/** Whose skills a turn has, and which of them. */
interface TurnOwner {
	/** Of the program that asks; whoever manages the server has none. */
	apiKeyId: string | undefined;
	/** All of them without it. */
	policy: SkillPolicy | undefined;
}

export interface TurnOffer {
	/** The skills as they are now, to the turn's end. */
	snapshot: SkillSnapshot;
	builtins: BuiltinTools | undefined;
	told: TurnSkills;
}

export async function offerTurn(
	parts: TurnSetupParts,
	turn: TurnOwner & {
		/** The question. */
		asked: string;
		/** Names of the tools that were called before. */
		used: ReadonlySet<string>;
		states: readonly ConversationSkillState[];
		model: Model;
		signal: AbortSignal;
	}
): Promise<TurnOffer> {
	const { skills, modes, contextTokens } = parts;
	const { asked, used, states, model, signal, policy, apiKeyId } = turn;
	const snapshot = skills.registry.snapshot();
	const builtins = parts.builtins?.({ question: asked, used, only: policy?.builtins });
	const told = await skillsOfTurn({
		skills,
		modes,
		snapshot,
		asked,
		model,
		signal,
		states,
		contextTokens,
		allowed: policy?.allowed,
		owner: ownerOf(apiKeyId)
	});
	return { snapshot, builtins, told };
}

/** The tools of a turn: its skills', the server's own, and those of the caller, which are handed back. */
export function equipTurn(
	{ skills, approvals, modes }: TurnSetupParts,
	{ snapshot, builtins, told }: TurnOffer,
	turn: TurnOwner & {
		/** The caller's. */
		tools: readonly FunctionTool[];
		/** Names of the skills that were loaded before. */
		loaded: readonly string[];
		/** Digests of the instructions that are in the history. */
		seen: readonly string[];
		/** Where scripts run. */
		cwd: string;
		/** For the record of executions. */
		caller: ExecutionCaller;
	}
): Toolbox {
	const { tools, loaded, seen, cwd, caller, policy, apiKeyId } = turn;
	const session = skills.createSession({
		snapshot,
		loaded: [...told.loaded.map(({ name }) => name), ...loaded],
		seen: [...told.loaded.map(({ digest }) => digest), ...seen],
		dialect: 'full',
		modeOf: modes.modeOf,
		pinOf: modes.pinOf,
		allowed: policy?.allowed,
		owner: ownerOf(apiKeyId),
		reserved: new Set(tools.map(({ name }) => name))
	});
	return createSkillToolbox({
		session,
		cwd,
		caller,
		approvals,
		callerTools: tools,
		builtins
	});
}

// What one turn tells the model of its skills: the catalog, those that are always there, and what is gone from the history.

export interface TurnSkillsOptions {
	skills: Pick<SkillsProvider, 'rank' | 'explain'>;
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
	snapshot: SkillSnapshot;
	/** Only these, by name; all without it. */
	allowed: readonly string[] | undefined;
	/** Whose own skills count beside the system's. */
	owner?: string | undefined;
	/** What was said of skills in this conversation. */
	states: readonly ConversationSkillState[];
	/** The question. */
	asked: string;
	model: Model;
	/** The operator's limit of the context, or null. */
	contextTokens: number | null;
	signal: AbortSignal;
}

export interface TurnSkills {
	/** Section of the system prompt; empty without skills. */
	catalog: string;
	/** Section of the system prompt with the instructions of `loaded`; empty without any. */
	always: string;
	/** Skills whose instructions are in the system prompt. */
	loaded: readonly Skill[];
	offer: SkillOffer;
	/** The history without the instructions that somebody has unloaded, and those that are in the system prompt. */
	historyOf(history: readonly HistoryMessage[]): readonly HistoryMessage[];
}

/** So much of instructions is always there, whatever the model takes: nobody waits for its server to say how much that is. */
const FREE_TOKENS = 2000;
/** Of the model's context, for instructions that are always there. */
const SHARE = 1 / 3;
/** Where nobody says how much the model takes. */
const UNKNOWN_TOKENS = 20_000;

async function skillsOfTurn(options: TurnSkillsOptions): Promise<TurnSkills> {
	const { skills, modes, snapshot, allowed, owner, states, asked } = options;
	const usable = viewOf(snapshot, { ...modes, allowed, owner }).library.skills;
	const pinned = states.filter(({ state }) => state === 'pinned').map(({ skill }) => skill);
	const always = alwaysSkills(usable, { pinned, modeOf: modes.modeOf });
	const section = renderAlways(always, await roomFor(always, options));
	const isUsable = new Set(usable);
	const ranked = (await skills.rank(snapshot, asked)).filter((skill) => isUsable.has(skill));
	const first = new Set(always.map(({ skill }) => skill));
	const catalog = tellCatalog(usable, {
		budgetTokens: CATALOG_TOKENS,
		rank: () => [...first, ...ranked.filter((skill) => !first.has(skill))],
		hasGuidance: true
	});
	const offered = { usable, ranked, always };
	const explained = await skills.explain(snapshot, asked, skillsToExplain(offered));
	const inPrompt = new Set(section.inFull.map(({ skill }) => skill.name));
	const unloaded = new Map(
		states.flatMap(({ skill, state, changedAt }) => (state === 'unloaded' ? [[skill, changedAt]] : []))
	);
	return {
		catalog: catalog.text,
		always: section.text,
		loaded: section.inFull.map(({ skill }) => skill),
		offer: offerOf(offered, { catalog, section, explained }),
		historyOf(history) {
			if (inPrompt.size === 0 && unloaded.size === 0) return history;
			return withoutSkills(history, (skill, { createdAt }) => {
				if (inPrompt.has(skill)) return alwaysStub(skill);
				const since = unloaded.get(skill);
				return since !== undefined && createdAt < since ? unloadedStub(skill) : null;
			});
		}
	};
}

async function roomFor(
	always: readonly AlwaysSkill[],
	{ model, contextTokens: cap, signal }: TurnSkillsOptions
): Promise<number> {
	const total = always.reduce((sum, { tokens }) => sum + tokens, 0);
	if (total <= FREE_TOKENS) return total;
	const { tokens, isGuess } = await contextLimitOf(model, { cap, signal, patienceMs: null });
	return isGuess ? UNKNOWN_TOKENS : Math.floor(tokens * SHARE);
}

// Why a run offers what it does: the best skills, how each was told, and where its points come from; pure (FEATURES F2).

export interface OfferParts {
	/** All that the model may use in this run, by name. */
	usable: readonly Skill[];
	/** Those that fit the question, best first. */
	ranked: readonly Skill[];
	always: readonly AlwaysSkill[];
}

/** The skills that the run keeps why of: first those that are always there, then the best, then by name. */
function skillsToExplain({ usable, ranked, always }: OfferParts): Skill[] {
	const first = new Set([...always.map(({ skill }) => skill), ...ranked]);
	for (const skill of usable) {
		if (first.size >= MAX_OFFERED) break;
		first.add(skill);
	}
	return [...first].slice(0, MAX_OFFERED);
}

/** `explained`: of `skillsToExplain`, in that order. */
function offerOf(
	{ usable, always }: OfferParts,
	{
		catalog,
		section,
		explained
	}: { catalog: Catalog; section: AlwaysSection; explained: readonly ExplainedSkill<Skill>[] }
): SkillOffer {
	const reasons = new Map(always.map((each) => [each.skill, each]));
	const inFull = new Set(section.inFull);
	const skills = explained.map(({ skill, points, signals }): OfferedSkill => {
		const told = catalog.told.get(skill);
		const reason = reasons.get(skill);
		const instructions = reason && inFull.has(reason) ? reason.tokens : 0;
		return {
			name: skill.name,
			description: skill.description,
			told: instructions > 0 ? 'full' : (told?.told ?? (reason ? 'name' : 'omitted')),
			tokens: (told?.tokens ?? 0) + instructions,
			always: reason?.why,
			points,
			signals
		};
	});
	return { skills, total: usable.length, tokens: estimateTokens(catalog.text) + estimateTokens(section.text) };
}
