import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { requireSkill } from '$lib/server/skill-admin/skill-details.ts';
import { packagesAllowed, packagesRemoved, packagesWanted, skillPackages } from '$lib/shared/packages.ts';

export const GET = endpoint({
	id: 'getSkillPackages',
	tag: 'Skills',
	summary: 'Show the packages installed for a skill, and what is being done',
	params: OF_SKILL,
	answer: skillPackages,
	errors: ['invalid_input'],
	handler: async ({ app, caller, params }) => app.packages.stateOf(requireSkill(app, caller.apiKeyId, params.id))
});

export const POST = endpoint({
	id: 'lookUpSkillPackages',
	tag: 'Skills',
	summary: 'Look up the packages a skill needs',
	description: 'Finds versions, hashes and sizes, and installs nothing. Ask for the state until `work` is null.',
	params: OF_SKILL,
	body: packagesWanted,
	status: 202,
	answer: skillPackages,
	errors: ['conflict'],
	handler: async ({ app, caller, params, body }) => {
		const skill = requireSkill(app, caller.apiKeyId, params.id);
		await app.packages.lookUp(skill, (await body()).also);
		return app.packages.stateOf(skill);
	}
});

export const PUT = endpoint({
	id: 'installSkillPackages',
	tag: 'Skills',
	summary: 'Install the packages that were looked up',
	description: 'Only what was shown, by its digest. Ask for the state until `work` is null.',
	params: OF_SKILL,
	body: packagesAllowed,
	status: 202,
	answer: skillPackages,
	errors: ['conflict'],
	handler: async ({ app, caller, params, body }) => {
		const skill = requireSkill(app, caller.apiKeyId, params.id);
		await app.packages.install(skill, (await body()).digest);
		return app.packages.stateOf(skill);
	}
});

export const DELETE = endpoint({
	id: 'removeSkillPackages',
	tag: 'Skills',
	summary: 'Stop installing, or remove the packages of a skill',
	params: OF_SKILL,
	query: packagesRemoved,
	answer: skillPackages,
	errors: ['conflict'],
	handler: async ({ app, caller, params, query }) => {
		const skill = requireSkill(app, caller.apiKeyId, params.id);
		await app.packages.remove(skill, query.only);
		return app.packages.stateOf(skill);
	}
});
