/** The skills that this server brings itself, as the library shows them (FEATURES D27–D31, B6). */
import type { SkillDetail, SkillSummary } from '../../shared/skills.ts';
import type { SkillModes } from './skill-modes.ts';
import type { SkillUsageCounts } from './skill-usage.ts';

/** What there is to show of one. */
export interface BuiltinSkill {
	/** Name of its one tool as well. */
	name: string;
	description: string;
	/** JSON Schema of its tool's input. */
	parameters: Record<string, unknown>;
	/** Why it is not offered, in a sentence; null when it is. */
	unavailable(): string | null;
}

export interface BuiltinParts {
	modes: Pick<SkillModes, 'modeOf'>;
	usage: Pick<SkillUsageCounts, 'of'>;
}

/** Source and provider of all of them. */
export const BUILTIN = 'builtin';
const VERSION = '1.0.0';

/** By its id, `builtin/name`, as it is written. */
export function findBuiltin(builtins: readonly BuiltinSkill[], id: string): BuiltinSkill | null {
	return builtins.find(({ name }) => id === `${BUILTIN}/${name}`) ?? null;
}

export function summariseBuiltin(
	{ name, description, unavailable }: BuiltinSkill,
	{ modes, usage }: BuiltinParts
): SkillSummary {
	const id = `${BUILTIN}/${name}` as const;
	const reason = unavailable();
	return {
		...{ id, name, description, status: 'ready', path: '', scripts: [], tools: [name] },
		diagnostics: reason === null ? [] : [{ severity: 'warning', field: '_', message: reason }],
		trust: 'builtin',
		mode: modes.modeOf(id),
		...{ version: VERSION, source: BUILTIN, provider: BUILTIN, owner: 'system' },
		usage: usage.of(id)
	};
}

/** It has no files, and needs and may do nothing that somebody could decide about. */
export function describeBuiltin(builtin: BuiltinSkill, parts: BuiltinParts): SkillDetail {
	const summary = summariseBuiltin(builtin, parts);
	return {
		...summary,
		skillId: summary.id,
		version: VERSION,
		digest: '',
		isTrustedByPlace: false,
		files: [],
		findings: [],
		changes: null,
		needs: { binaries: [], pythonModules: [], variables: [] },
		network: { declared: [], granted: [] },
		allowedTools: null,
		inputSchemas: { [builtin.name]: builtin.parameters }
	};
}
