/** What one turn tells the model of its skills: the catalog, those that are always there, and what is gone from the history. */
import type { SkillOffer } from '../../shared/events.ts';
import type { HistoryMessage } from '../agent/history.ts';
import type { Model } from '../agent/model.ts';
import { alwaysStub, unloadedStub, withoutSkills } from '../agent/without-skills.ts';
import { tellCatalog } from '../skills/catalog.ts';
import type { SkillsProvider } from '../skills/provider.ts';
import type { SkillSnapshot } from '../skills/registry.ts';
import type { Skill } from '../skills/types.ts';
import { viewOf } from '../skills/visibility.ts';
import type { ConversationSkillState } from '../store/conversation-skills.ts';
import { alwaysSkills, renderAlways, type AlwaysSkill } from './always-skills.ts';
import { contextLimitOf } from './context-limit.ts';
import { CATALOG_TOKENS } from './instructions.ts';
import type { SkillModes } from './skill-modes.ts';
import { offerOf, skillsToExplain } from './skill-offer.ts';

export interface TurnSkillsOptions {
	skills: Pick<SkillsProvider, 'rank' | 'explain'>;
	modes: Pick<SkillModes, 'modeOf' | 'pinOf'>;
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

export async function skillsOfTurn(options: TurnSkillsOptions): Promise<TurnSkills> {
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
