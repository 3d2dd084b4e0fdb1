/** What a text would be as the SKILL.md of a skill of the library; nothing is written (FEATURES F1). */
import { AppError } from '../../shared/errors.ts';
import type { SkillCheck } from '../../shared/skill-files.ts';
import { checkText } from '../skills/doctor/text-check.ts';
import { findBuiltin, type BuiltinSkill } from './builtin-skills.ts';
import { requireListed, type LookupParts } from './skill-lookup.ts';

/** @throws AppError `not_found`; `invalid_input` for a built-in skill */
export function checkSkillText(
	parts: LookupParts & { builtins: { builtins: readonly BuiltinSkill[] } },
	id: string,
	text: string
): SkillCheck {
	const builtin = findBuiltin(parts.builtins.builtins, id);
	if (builtin) throw new AppError('invalid_input', `“${builtin.name}” is part of this server: it has no SKILL.md.`);
	return checkText(text, requireListed(parts, null, id).dir);
}
