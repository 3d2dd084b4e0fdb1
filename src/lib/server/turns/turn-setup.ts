/** Prepares a turn, in a conversation or without one: the skills in its prompt and its tools. */
import { MAX_OFFERED, type OfferedSkill, type SkillOffer } from '../../shared/events.ts';
import { alwaysStub, type HistoryMessage, lookedAtStubs, unloadedStub, withoutSkills } from '../agent/history.ts';
import type { FunctionTool, Model } from '../agent/model.ts';
import type { AgentObserver, Toolbox } from '../agent/tool.ts';
import type { ExplainedSkill } from '../skills/find/skill-index.ts';
import { AUTO_MAX_SKILLS } from '../skills/find/scores.ts';
import { estimateTokens } from '../../shared/characters.ts';
import { type Catalog, firstCharacters, tellCatalog } from '../skills/prompt.ts';
import type { SkillsProvider } from '../skills/provider.ts';
import type { SkillSnapshot } from '../skills/registry/registry.ts';
import { ownerOf, type UnusableSkill, unusableIn, viewOf } from '../skills/registry/visibility.ts';
import type { ExecutionCaller, ExecutionRecorder } from '../skills/run/execution-host.ts';
import type { Skill } from '../skills/types.ts';
import type { ConversationSkillState } from '../store/chat/queue.ts';
import type { ApprovalPolicy } from '../trust/approval-policy.ts';
import type { StoredSkillModes } from '../trust/skill-modes.ts';
import { contextLimitOf } from './context-budget.ts';
import {
	type AlwaysSection,
	type AlwaysSkill,
	alwaysSkills,
	CATALOG_TOKENS,
	NAMES_TOKENS,
	renderAlways
} from './instructions.ts';
import type { SkillPolicy } from './run-request.ts';
import type { Ask, Sampler } from './questions.ts';
import { type BuiltinTools, createSkillToolbox } from './toolbox.ts';
import { unusableFor } from './unusable.ts';

export interface TurnSetupParts {
	skills: SkillsProvider;
	approvals: ApprovalPolicy;
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
	/** Built-in tools. The same in each turn: see `BuiltinSession`. */
	builtins?: (offer: {
		only?: readonly string[] | undefined;
		/** Those that can ask must ask. */
		asks?: boolean;
		apiKeyId?: string | undefined;
		/** The request names the skills that it allows. */
		isLimited?: boolean;
		/** See `offerTurn`. */
		refused?: readonly string[] | undefined;
		conversationId?: string | undefined;
		isProgram?: boolean | undefined;
		signal: AbortSignal;
	}) => BuiltinTools | Promise<BuiltinTools>;
	/** At most so many skills are described for a question (B8): \`search_skills\` finds the others. */
	maxSuggested?: () => number;
	/** Skills that were deleted and can be restored. */
	trash?: () => Promise<readonly { name: string; skillId: string }[]>;
	/** Records denied calls. */
	recorder?: ExecutionRecorder;
	/** The operator's limit of the context; null: the model's own. */
	contextTokens: number | null;
	observer?: AgentObserver | undefined;
}

interface TurnOwner {
	/** The calling program's key; none for the server's owner. */
	apiKeyId: string | undefined;
	/** Default: all skills. */
	policy: SkillPolicy | undefined;
	/** `ask`: every script needs approval. */
	approval?: 'ask' | undefined;
}

/** What the model is told about skills. */
export interface TurnSkills {
	/** Section of the system prompt; empty without skills. */
	catalog: string;
	/** Section of the system prompt with the instructions of `loaded`; empty without any. */
	always: string;
	/** Skills with their instructions in the system prompt. */
	loaded: readonly Skill[];
	/** Skills that may fit the question and aren't described in `catalog`, best first. */
	suggested: readonly Pick<Skill, 'name' | 'description'>[];
	/** Skills that the question names, or that are pinned, and that can’t be used; and names that no skill has. */
	unusable: readonly UnusableSkill[];
	/** Other skills that can’t be used and may fit the question. */
	shelved: readonly UnusableSkill[];
	offer: SkillOffer;
	/** Removes instructions from the history that were unloaded or are in the system prompt. */
	historyOf(history: readonly HistoryMessage[]): readonly HistoryMessage[];
}

export interface TurnOffer {
	/** Used for the whole turn, until a tool of the turn adds a skill. */
	snapshot: SkillSnapshot;
	builtins: BuiltinTools | undefined;
	told: TurnSkills;
}

/** What choosing skills takes. */
export type OfferParts = Omit<TurnSetupParts, 'skills' | 'approvals' | 'recorder'> & {
	skills: Pick<SkillsProvider, 'rank' | 'explain'> & { registry: Pick<SkillsProvider['registry'], 'snapshot'> };
};

/** Chooses the skills for a question and describes them for the model. */
export async function offerTurn(
	parts: OfferParts,
	turn: TurnOwner & {
		question: string;
		/** Descriptions of skills that earlier notes contain, by name. */
		described: ReadonlyMap<string, string>;
		/** Pinned and unloaded skills of the conversation. */
		states: readonly ConversationSkillState[];
		/** Ids of catalog skills that aren’t asked for again. */
		refused?: readonly string[];
		/** None without a conversation. */
		conversationId?: string;
		/** See `RunRequest`. */
		isProgram?: boolean | undefined;
		model: Model;
		signal: AbortSignal;
	}
): Promise<TurnOffer> {
	const { skills, modes, contextTokens: cap } = parts;
	const { question: asked, described, states, refused, model, signal, policy, approval, apiKeyId } = turn;
	const snapshot = skills.registry.snapshot();
	const builtins = await parts.builtins?.({
		only: policy?.builtins,
		asks: approval === 'ask',
		apiKeyId,
		isLimited: policy?.allowed !== undefined,
		refused,
		conversationId: turn.conversationId,
		isProgram: turn.isProgram,
		signal
	});
	const visibility = { ...modes, allowed: policy?.allowed, owner: ownerOf(apiKeyId) };
	const view = viewOf(snapshot, visibility);
	const { library, off } = view;
	const usable = library.skills;
	const pinned = states.filter(({ state }) => state === 'pinned').map(({ skill }) => skill);
	const always = alwaysSkills(usable, { pinned, off, modeOf: modes.modeOf });
	const section = renderAlways(always, await roomFor(always, { model, cap, signal }));
	const isUsable = new Set(usable);
	const fitting = await skills.rank(snapshot, asked);
	const ranked = fitting.filter((skill) => isUsable.has(skill));
	// Always-loaded skills first, then the best matches.
	const best = new Set([...always.map(({ skill }) => skill), ...ranked]);
	const catalog = tellCatalog(usable, { budgetTokens: CATALOG_TOKENS, namesTokens: NAMES_TOKENS, hasGuidance: true });
	const suggested = [...best]
		.filter((skill) => catalog.told.get(skill)?.told !== 'full')
		.slice(0, parts.maxSuggested?.() ?? AUTO_MAX_SKILLS)
		.map(({ name, description }) => ({ name, description: firstCharacters(description) }));
	const toExplain = [...new Set([...best, ...usable])].slice(0, MAX_OFFERED);
	const explained = await skills.explain(snapshot, asked, toExplain);
	const inPrompt = new Set(section.inFull.map(({ skill }) => skill.name));
	const unloaded = new Map(
		states.flatMap(({ skill, state, changedAt }) => (state === 'unloaded' ? [[skill, changedAt]] : []))
	);
	const { unusable, shelved } = unusableFor(asked, view, {
		all: unusableIn(view, (await parts.trash?.()) ?? [], visibility),
		pinned,
		fitting,
		tools: builtins?.tools() ?? []
	});
	const told: TurnSkills = {
		catalog: catalog.text,
		always: section.text,
		loaded: section.inFull.map(({ skill }) => skill),
		suggested,
		unusable,
		shelved,
		offer: offerOf(usable, always, { catalog, section, explained, noted: notedOf(suggested, described) }),
		historyOf(history) {
			const lookedAt = lookedAtStubs(history, model.id);
			return withoutSkills(history, (skill, message) => {
				if (inPrompt.has(skill)) return alwaysStub(skill);
				const isUnloaded = message.createdAt < (unloaded.get(skill) ?? '');
				return isUnloaded ? unloadedStub(skill) : lookedAt(skill, message);
			});
		}
	};
	return { snapshot, builtins, told };
}

/** Instructions up to this size fit every model, so there's no need to ask for its limit. */
const FREE_TOKENS = 2000;
/** Share of the model's context for always-loaded instructions. */
const SHARE = 1 / 3;
/** Used if the model's limit is unknown. */
const UNKNOWN_TOKENS = 20_000;

async function roomFor(
	always: readonly AlwaysSkill[],
	{ model, cap, signal }: { model: Model; cap: number | null; signal: AbortSignal }
): Promise<number> {
	const total = always.reduce((sum, { tokens }) => sum + tokens, 0);
	if (total <= FREE_TOKENS) return total;
	const { tokens, isGuess } = await contextLimitOf(model, { cap, signal, patienceMs: null });
	return isGuess ? UNKNOWN_TOKENS : Math.floor(tokens * SHARE);
}

/** Tokens of the skills that the notes describe, by name. */
function notedOf(
	suggested: readonly { name: string; description: string }[],
	described: ReadonlyMap<string, string>
): Map<string, number> {
	const all = [...described, ...suggested.map(({ name, description }) => [name, description] as const)];
	return new Map(all.map(([name, description]) => [name, estimateTokens(`### ${name}\n${description}\n\n`)]));
}

/** Why the run offers what it does (F2). */
function offerOf(
	usable: readonly Skill[],
	always: readonly AlwaysSkill[],
	prompt: {
		catalog: Catalog;
		section: AlwaysSection;
		explained: readonly ExplainedSkill<Skill>[];
		noted: ReadonlyMap<string, number>;
	}
): SkillOffer {
	const { catalog, section, explained, noted } = prompt;
	const reasons = new Map(always.map((each) => [each.skill, each]));
	const inFull = new Set(section.inFull);
	const skills = explained.map(({ skill, points, signals }): OfferedSkill => {
		const told = catalog.told.get(skill);
		const reason = reasons.get(skill);
		const instructions = reason && inFull.has(reason) ? reason.tokens : 0;
		return {
			name: skill.name,
			description: skill.description,
			told: instructions > 0 || noted.has(skill.name) ? 'full' : (told?.told ?? (reason ? 'name' : 'omitted')),
			tokens: (told?.tokens ?? 0) + (noted.get(skill.name) ?? 0) + instructions,
			always: reason?.why,
			points,
			signals
		};
	});
	const inNotes = [...noted.values()].reduce((sum, tokens) => sum + tokens, 0);
	const tokens = estimateTokens(catalog.text) + estimateTokens(section.text) + inNotes;
	return { skills, total: usable.length, tokens };
}

/** Creates the turn's toolbox: tools of skills, built-in tools, and the caller's own. */
export function equipTurn(
	{ skills, approvals, modes, recorder }: TurnSetupParts,
	{ snapshot, builtins, told }: TurnOffer,
	turn: TurnOwner & {
		/** The caller's own tools. */
		tools: readonly FunctionTool[];
		/** Names of skills loaded before. */
		loaded: readonly string[];
		/** Digests of instructions in the history. */
		seen: readonly string[];
		/** Working directory of scripts. */
		cwd: string;
		/** For execution records. */
		caller: ExecutionCaller;
		/** See `SkillToolboxOptions`. */
		ask?: Ask | undefined;
		sample?: Sampler | undefined;
	}
): Toolbox {
	const { ask, sample, tools, loaded, seen, cwd, caller, policy, approval, apiKeyId } = turn;
	let library = snapshot;
	const session = skills.createSession({
		snapshot: () => library,
		loaded: [...told.loaded.map(({ name }) => name), ...loaded],
		seen: [...told.loaded.map(({ digest }) => digest), ...seen],
		dialect: 'full',
		modeOf: modes.modeOf,
		pinOf: modes.pinOf,
		allowed: policy?.allowed,
		owner: ownerOf(apiKeyId),
		reserved: new Set(tools.map(({ name }) => name)),
		own: builtins?.skills
	});
	return createSkillToolbox({
		session,
		cwd,
		caller,
		approvals: approval === 'ask' ? approvals.asking() : approvals,
		callerTools: tools,
		builtins,
		ask,
		sample,
		recorder,
		onLibraryChange: () => (library = skills.registry.snapshot())
	});
}
