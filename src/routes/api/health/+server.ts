import { version } from '$app/environment';
import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { Health } from '$lib/shared/api.ts';
import { api } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ locals }) => {
	const { login, models, sandbox, skills } = locals.app;
	const { skills: ready, broken } = skills.registry.snapshot();
	const health: Health = {
		status: 'ok',
		version,
		model: models.current(),
		sandbox: { name: sandbox.name, isolation: sandbox.isolation, running: sandbox.runningCount },
		database: 'sqlite',
		login: login.isNeeded,
		skills: { ready: ready.length, broken: broken.length }
	};
	return json(health);
});
