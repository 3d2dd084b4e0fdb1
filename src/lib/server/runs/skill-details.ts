/** Everything of one skill that somebody needs to decide about it, and the deciding (FEATURES E30, F3, F4, D35). */
import type { z } from 'zod';
import type { SkillDetail, SkillNeeds, skillPatch } from '../../shared/skills.ts';
import { AppError } from '../../shared/errors.ts';
import { skillIdOf } from '../skills/execution-host.ts';
import type { SkillRegistry } from '../skills/registry.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';
import { describeBuiltin, findBuiltin, type BuiltinSkill } from './builtin-skills.ts';
import { brokenIdOf, idOf, isFirst, requireListed, requireSkill } from './skill-lookup.ts';
import type { ModeSubject, SkillModes } from './skill-modes.ts';
import { summaryOf, type SummaryParts } from './skill-summaries.ts';

type SkillReview = Pick<SkillDetail, 'trust' | 'isTrustedByPlace' | 'digest' | 'files' | 'findings' | 'changes'>;

export interface SkillDetailParts extends Pick<SummaryParts, 'installs' | 'usage'> {
	skills: { registry: Pick<SkillRegistry, 'snapshot'> };
	builtins: { builtins: readonly BuiltinSkill[] };
	trust: {
		review(skill: Skill | BrokenSkill): Promise<SkillReview>;
		trust(skill: Skill, digest: string, now: string): Promise<void>;
		revoke(skill: Skill): Promise<void>;
	};
	modes: SkillModes;
	preflight: { needsOf(skill: Skill): Promise<SkillNeeds> };
	network: {
		declared(skill: Skill): string[];
		granted(skillId: string): Promise<string[]>;
		grant(skillId: string, domains: readonly string[], now: string): Promise<void>;
	};
}

/** @throws AppError `not_found` */
export async function describeSkill(parts: SkillDetailParts, id: string): Promise<SkillDetail> {
	const builtin = findBuiltin(parts.builtins.builtins, id);
	if (builtin) return describeBuiltin(builtin, parts);
	const skill = requireListed(parts, null, id);
	if (skill.status === 'broken') return describeBroken(parts, skill);
	const ownId = idOf(skill, isFirst(parts, skill));
	const skillId = skillIdOf(skill);
	const declared = parts.network.declared(skill);
	const [review, needs, granted] = await Promise.all([
		parts.trust.review(skill),
		parts.preflight.needsOf(skill),
		parts.network.granted(skillId)
	]);
	return {
		...summaryOf(skill, ownId, parts),
		mode: parts.modes.modeOf(skill),
		...review,
		skillId,
		version: skill.version,
		needs,
		network: { declared, granted: granted.filter((domain) => declared.includes(domain)) },
		allowedTools: skill.allowedTools ?? null,
		inputSchemas: Object.fromEntries(skill.tools.map(({ name, inputSchema }) => [name, inputSchema]))
	};
}

/** Its files and what is wrong with it: nothing of it can run, so it needs and may do nothing. */
async function describeBroken(parts: SkillDetailParts, skill: BrokenSkill): Promise<SkillDetail> {
	return {
		...summaryOf(skill, brokenIdOf(skill), parts),
		mode: 'auto',
		...(await parts.trust.review(skill)),
		skillId: skillIdOf(skill),
		version: '',
		needs: { binaries: [], pythonModules: [], variables: [] },
		network: { declared: [], granted: [] },
		allowedTools: null,
		inputSchemas: {}
	};
}

/**
 * All of it or, where something is refused, nothing of what comes after it: what may be refused comes first.
 * @throws AppError `not_found`, `conflict` for files that have changed since, `invalid_input` for a domain that is not
 * declared, and for anything but the mode of a built-in skill
 */
export async function changeSkill(
	parts: SkillDetailParts,
	id: string,
	patch: z.infer<typeof skillPatch>,
	now: string
): Promise<SkillDetail> {
	const { trust, network } = patch;
	const builtin = findBuiltin(parts.builtins.builtins, id);
	if (builtin) {
		if (trust !== undefined || network !== undefined) {
			throw new AppError('invalid_input', `“${builtin.name}” is part of this server: only its mode can be changed.`);
		}
		await changeMode(parts.modes, `builtin/${builtin.name}`, patch);
		return describeBuiltin(builtin, parts);
	}
	const skill = requireSkill(parts, null, id);
	const skillId = skillIdOf(skill);
	const foreign = network?.find((domain) => !parts.network.declared(skill).includes(domain));
	if (foreign !== undefined) {
		throw new AppError(
			'invalid_input',
			`network: “${skill.name}” does not ask for ${foreign}, so it cannot be granted.`
		);
	}
	if (trust?.isTrusted === true) await parts.trust.trust(skill, trust.digest, now);
	if (trust?.isTrusted === false) await parts.trust.revoke(skill);
	if (network !== undefined) await parts.network.grant(skillId, network, now);
	await changeMode(parts.modes, skill, patch);
	return describeSkill(parts, id);
}

async function changeMode(
	modes: SkillModes,
	subject: ModeSubject,
	{ mode, enabled }: Pick<z.infer<typeof skillPatch>, 'mode' | 'enabled'>
): Promise<void> {
	if (mode !== undefined) await modes.setMode(subject, mode);
	if (enabled !== undefined) await modes.setEnabled(subject, enabled);
}
