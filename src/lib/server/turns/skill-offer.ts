/** Why a run offers what it does: the best skills, how each was told, and where its points come from; pure (FEATURES F2). */
import { MAX_OFFERED, type OfferedSkill, type SkillOffer } from '../../shared/events.ts';
import { type Catalog, estimateTokens } from '../skills/prompt.ts';
import type { Skill } from '../skills/types.ts';
import type { ExplainedSkill } from '../skills/find/skill-index.ts';
import type { AlwaysSection, AlwaysSkill } from './instructions.ts';

export interface OfferParts {
	/** All that the model may use in this run, by name. */
	usable: readonly Skill[];
	/** Those that fit the question, best first. */
	ranked: readonly Skill[];
	always: readonly AlwaysSkill[];
}

/** The skills that the run keeps why of: first those that are always there, then the best, then by name. */
export function skillsToExplain({ usable, ranked, always }: OfferParts): Skill[] {
	const first = new Set([...always.map(({ skill }) => skill), ...ranked]);
	for (const skill of usable) {
		if (first.size >= MAX_OFFERED) break;
		first.add(skill);
	}
	return [...first].slice(0, MAX_OFFERED);
}

/** `explained`: of `skillsToExplain`, in that order. */
export function offerOf(
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
			...(reason ? { always: reason.why } : {}),
			points,
			signals
		};
	});
	return { skills, total: usable.length, tokens: estimateTokens(catalog.text) + estimateTokens(section.text) };
}
