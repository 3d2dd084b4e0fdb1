/** A skill as the API lists it: with its diagnostics, where it came from, whose it is and how often it ran (FEATURES E2). */
import type { SkillSummary, TrustState } from '../../shared/skills.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';
import type { InstallIndex, SkillUsageCounts } from './skill-counts.ts';
import type { StoredSkillModes } from '../trust/skill-modes.ts';

export interface SummaryParts {
	trust: { statesOf(skills: readonly (Skill | BrokenSkill)[]): Promise<TrustState[]> };
	modes: Pick<StoredSkillModes, 'modeOf'>;
	installs: Pick<InstallIndex, 'providerOf' | 'ownerOf'>;
	usage: Pick<SkillUsageCounts, 'of'>;
}

/** In their order. Whether files are trusted costs more than the rest: ask for what is shown, not for all. */
export async function summariseSkills(
	listed: readonly { id: string; skill: Skill | BrokenSkill }[],
	parts: SummaryParts
): Promise<SkillSummary[]> {
	const states = await parts.trust.statesOf(listed.map(({ skill }) => skill));
	return listed.map(({ id, skill }, index) => ({
		...summaryOf(skill, id, parts),
		trust: states[index] ?? 'untrusted',
		mode: modeOf(skill, parts)
	}));
}

/** A broken one has no mode that somebody chose: it is never offered. */
export function modeOf(skill: Skill | BrokenSkill, { modes }: Pick<SummaryParts, 'modes'>): SkillSummary['mode'] {
	return skill.status === 'ready' ? modes.modeOf(skill) : 'auto';
}

export function summaryOf(
	skill: Skill | BrokenSkill,
	id: string,
	{ installs, usage }: Pick<SummaryParts, 'installs' | 'usage'>
): Omit<SkillSummary, 'trust' | 'mode'> {
	const { name, description, status, path, source, issues } = skill;
	const skillId = skillIdOf(skill);
	const isReady = skill.status === 'ready';
	const version = isReady ? skill.version : null;
	return {
		id,
		name,
		description,
		status,
		path,
		version,
		source,
		scripts: isReady ? [...skill.scripts] : [],
		tools: isReady ? skill.tools.map((tool) => tool.name) : [],
		diagnostics: [...issues],
		provider: installs.providerOf(skillId, version),
		owner: installs.ownerOf(source),
		usage: usage.of(skillId)
	};
}
