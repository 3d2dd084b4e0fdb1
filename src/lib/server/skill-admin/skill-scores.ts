/** Why each skill is or is not picked for a text: its points by both scorers, signal by signal (FEATURES B7, B8, F2). */
import type { z } from 'zod';
import type { scoreRequest, SkillScoreList } from '../../shared/skills.ts';
import type { Settings } from '../../shared/settings.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import { createAutoScorer, pickScored, type ScoredSkill } from '../skills/find/omniroute-score.ts';
import { ownerOf, viewOf } from '../skills/registry/visibility.ts';
import type { SkillRegistry } from '../skills/registry/registry.ts';
import { createScorer } from '../skills/find/scores.ts';
import { createPace } from '../skills/read/lean.ts';
import type { Skill } from '../skills/types.ts';
import type { StoredSkillModes } from '../trust/skill-modes.ts';
import type { SkillUsageCounts } from './skill-counts.ts';

export interface ScoreParts {
	skills: { registry: Pick<SkillRegistry, 'snapshot'> };
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
	usage: Pick<SkillUsageCounts, 'of'>;
	settings: { current(): Pick<Settings, 'autoMaxSkills' | 'autoMinScore'> };
}

/** Of each name the version in use; those that are switched off as well. Equals: the one that was used last, then by name. */
export async function scoreSkills(
	parts: ScoreParts,
	{ text, apiKeyId, provider, backgroundReason, limit }: z.infer<typeof scoreRequest>
): Promise<SkillScoreList> {
	const { autoMaxSkills, autoMinScore } = parts.settings.current();
	const score = createScorer(text);
	const scoreAuto = createAutoScorer({
		messages: [text],
		provider,
		backgroundReason
	});
	const pace = createPace();
	const scored = [];
	for (const skill of candidates(parts, ownerOf(apiKeyId))) {
		const rest = pace();
		if (rest) await rest;
		const asked = asScored(skill, parts);
		const mode = parts.modes.modeOf(skill);
		scored.push({ name: skill.name, mode, asked, ...score(skill), omniroute: scoreAuto(asked) });
	}
	const rivals = scored.filter(({ mode }) => mode === 'auto');
	const picked = pickScored(
		rivals.map((rival) => ({ rival, skill: rival.asked, score: rival.omniroute.score })),
		{ maxSkills: autoMaxSkills, minScore: autoMinScore }
	);
	const isPicked = new Set(picked.map(({ rival }) => rival));
	scored.sort(
		(a, b) => b.score - a.score || (b.asked.lastUsedAt ?? 0) - (a.asked.lastUsedAt ?? 0) || (a.name < b.name ? -1 : 1)
	);
	const data = scored.slice(0, limit).map((one) => ({
		id: one.name,
		name: one.name,
		mode: one.mode,
		score: one.score,
		signals: one.signals,
		omniroute: { ...one.omniroute, isPicked: one.mode === 'on' || isPicked.has(one) }
	}));
	return { data, total: scored.length, autoMaxSkills, autoMinScore };
}

function candidates({ skills, modes }: ScoreParts, owner: string | undefined): Skill[] {
	const { library, off } = viewOf(skills.registry.snapshot(), { owner, ...modes });
	const names = new Set(library.skills.map(({ name }) => name));
	const isFirst = ({ name }: Skill) => !names.has(name) && names.add(name);
	return [...library.skills, ...off.filter(isFirst)];
}

function asScored(skill: Skill, { usage }: ScoreParts): ScoredSkill {
	const { name, description, tags } = skill;
	const { lastUsedAt } = usage.of(skillIdOf(skill));
	return { name, description, tags, lastUsedAt: lastUsedAt === null ? undefined : Date.parse(lastUsedAt) };
}
