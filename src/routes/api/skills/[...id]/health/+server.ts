import { skillHealth } from '$lib/shared/skills.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { healthOf } from '$lib/server/skill-admin/skill-counts.ts';
import { findBuiltin, requireListed } from '$lib/server/skill-admin/skill-details.ts';
import { skillIdOf } from '$lib/server/skills/run/execution-host.ts';

export const GET = endpoint({
	id: 'getSkillHealth',
	tag: 'Skills',
	summary: 'How a skill’s runs ended by week, and what the answers cost in which it ran',
	params: OF_SKILL,
	answer: skillHealth,
	errors: ['invalid_input'],
	handler: ({ app, params }) => {
		const isBuiltin = findBuiltin(app.builtins.builtins, params.id) !== null;
		const skillId = isBuiltin ? params.id : skillIdOf(requireListed(app, null, params.id));
		return healthOf(app.store, skillId, new Date().toISOString());
	}
});
