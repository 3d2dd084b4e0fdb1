import { version } from '$app/environment';
import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { Health } from '$lib/shared/api.ts';
import { api } from '$lib/server/http.ts';
import { isSeenBy } from '$lib/server/skill-admin/skill-details.ts';
import { ownerOf, viewOf } from '$lib/server/skills/registry/visibility.ts';

export const GET: RequestHandler = api(async ({ locals }) => {
	const { login, models, sandbox, skills } = locals.app;
	const { apiKeyId } = locals.caller;
	const snapshot = skills.registry.snapshot();
	const { skills: ready } = apiKeyId === null ? snapshot : viewOf(snapshot, { owner: ownerOf(apiKeyId) }).library;
	const broken = snapshot.broken.filter((skill) => isSeenBy(apiKeyId, skill));
	const { waiting, longestWaitMs } = skills.turns.state;
	const health: Health = {
		status: 'ok',
		version,
		model: models.current(),
		sandbox: {
			name: sandbox.name,
			isolation: sandbox.isolation,
			running: sandbox.runningCount,
			waiting,
			longestWaitMs
		},
		database: 'sqlite',
		login: login.isNeeded,
		skills: { ready: ready.length, broken: broken.length }
	};
	return json(health);
});
