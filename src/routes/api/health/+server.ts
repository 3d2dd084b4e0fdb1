import { health } from '$lib/shared/api.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { version } from '$app/environment';
import { isSeenBy } from '$lib/server/skill-admin/skill-details.ts';
import { ownerOf, viewOf } from '$lib/server/skills/registry/visibility.ts';

export const GET = endpoint({
	id: 'getHealth',
	tag: 'Server',
	summary: 'Get status, version and sandbox',
	scope: 'read',
	answer: health.describe('Version, model, sandbox, database and counts.'),
	handler: ({ app, caller }) => {
		const { login, models, sandbox, skills } = app;
		const { apiKeyId } = caller;
		const snapshot = skills.registry.snapshot();
		const { skills: ready } = apiKeyId === null ? snapshot : viewOf(snapshot, { owner: ownerOf(apiKeyId) }).library;
		const broken = snapshot.broken.filter((skill) => isSeenBy(apiKeyId, skill));
		const { waiting, longestWaitMs } = skills.turns.state;
		return {
			status: 'ok' as const,
			version,
			model: models.current(),
			sandbox: {
				name: sandbox.name,
				isolation: sandbox.isolation,
				running: sandbox.runningCount,
				waiting,
				longestWaitMs
			},
			database: app.config.database === null ? 'sqlite' : 'postgres',
			login: login.isNeeded,
			skills: { ready: ready.length, broken: broken.length }
		};
	}
});
