/** The skills that this server brings itself, as the library shows them (FEATURES D27–D31, B6). */
import type { SkillDetail, SkillSummary } from '../../shared/api.ts';
import type { SkillModes } from './skill-modes.ts';

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

const PREFIX = 'builtin/';
const VERSION = '1.0.0';

/** By its id, `builtin/name`, as it is written. */
export function findBuiltin(builtins: readonly BuiltinSkill[], id: string): BuiltinSkill | null {
	return builtins.find(({ name }) => id === `${PREFIX}${name}`) ?? null;
}

export function summariseBuiltin(
	{ name, description, unavailable }: BuiltinSkill,
	modes: Pick<SkillModes, 'modeOf'>
): SkillSummary {
	const id = `${PREFIX}${name}`;
	const reason = unavailable();
	return {
		...{ id, name, description, status: 'ready', path: '', scripts: [], tools: [name] },
		diagnostics: reason === null ? [] : [{ severity: 'warning', field: '_', message: reason }],
		trust: 'builtin',
		mode: modes.modeOf(id)
	};
}

/** It has no files, and needs and may do nothing that somebody could decide about. */
export function describeBuiltin(builtin: BuiltinSkill, modes: Pick<SkillModes, 'modeOf'>): SkillDetail {
	const summary = summariseBuiltin(builtin, modes);
	return {
		...summary,
		skillId: summary.id,
		version: VERSION,
		source: 'builtin',
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
