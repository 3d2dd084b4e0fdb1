import { settings, settingsPatch } from '$lib/shared/settings.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'getSettings',
	tag: 'Server',
	summary: 'What can be changed while the server runs',
	answer: settings.describe('Settings; keys are said to be there, never shown.'),
	handler: ({ app }) => app.settings.current()
});

export const PUT = endpoint({
	id: 'changeSettings',
	tag: 'Server',
	summary: 'Changes settings; what is left out stays as it is',
	body: settingsPatch,
	answer: settings.describe('The settings in effect.'),
	errors: ['conflict'],
	handler: async ({ app, body }) => {
		const patch = await body();
		return app.settings.change(patch, new Date().toISOString());
	}
});
