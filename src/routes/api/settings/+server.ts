import { settings, settingsPatch } from '$lib/shared/settings.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'getSettings',
	tag: 'Server',
	summary: 'Get settings',
	answer: settings.describe('The settings. Keys are never shown.'),
	handler: ({ app }) => app.settings.current()
});

export const PUT = endpoint({
	id: 'changeSettings',
	tag: 'Server',
	summary: 'Change settings; fields left out stay the same',
	description: 'null resets a setting to its default.',
	body: settingsPatch,
	example: { maxSteps: 20 },
	answer: settings.describe('The settings in effect.'),
	errors: ['conflict'],
	handler: async ({ app, body }) => {
		const patch = await body();
		return app.settings.change(patch, new Date().toISOString());
	}
});
