/** How often each skill ran, counted in memory as executions end: a list asks for thousands (FEATURES B8, E2). */
import type { SkillUsage } from '../../shared/skills.ts';
import type { Store } from '../store/store.ts';

export interface SkillUsageCounts {
	/** Of all versions of `source/name`, or of `builtin/name`. */
	of(skillId: string): SkillUsage;
	/** One more that has ended. `startedAt` is ISO 8601. */
	count(skillId: string, execution: { startedAt: string; hasFailed: boolean }): void;
}

const NEVER: SkillUsage = Object.freeze({ executions: 0, failures: 0, lastUsedAt: null });

export async function openSkillUsage({ skillExecutions }: Pick<Store, 'skillExecutions'>): Promise<SkillUsageCounts> {
	const counts = await skillExecutions.usage();
	const of = (skillId: string): SkillUsage => counts.get(skillId) ?? NEVER;
	return {
		of,
		count(skillId, { startedAt, hasFailed }) {
			const { executions, failures } = of(skillId);
			counts.set(skillId, {
				executions: executions + 1,
				failures: failures + (hasFailed ? 1 : 0),
				lastUsedAt: startedAt
			});
		}
	};
}
