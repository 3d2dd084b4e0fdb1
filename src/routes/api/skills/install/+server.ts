import { z } from 'zod';
import { customSkill, installBody, installOutcome, installRequest } from '$lib/shared/install.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { readJson } from '$lib/server/http.ts';

export const POST = endpoint({
	id: 'installSkills',
	tag: 'Install',
	summary: 'Install skills in one step',
	description: 'From a source, or as one tool made of a schema and a native handler’s name.',
	// A union, so that errors refer to the variant that was meant.
	body: z.union([customSkill, installRequest]),
	example: { source: { type: 'github', repository: 'anthropics/skills' } },
	status: 201,
	answer: installOutcome
		.extend({ id: z.string(), name: z.string(), version: z.string() })
		.partial({ id: true, name: true, version: true })
		.describe('What was installed, and what was skipped.'),
	errors: ['not_found', 'conflict'],
	handler: async ({ app, request }) => {
		const asked = await readJson(request, installBody);
		const { installer } = app;
		if ('source' in asked) {
			const { source, ...choice } = asked;
			return installer.install(source, choice, request.signal);
		}
		const made = await installer.installCustom(asked);
		const { id, name, version } = made;
		return { id, name, version, installed: [made], skipped: [] };
	}
});
