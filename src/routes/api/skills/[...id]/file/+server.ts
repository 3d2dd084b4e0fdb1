import { skillFileQuery, skillFileText, skillFileWrite } from '$lib/shared/skill-files.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { readSkillFile, removeSkillFile, writeSkillFile } from '$lib/server/skill-admin/skill-editor.ts';

export const GET = endpoint({
	id: 'readSkillFile',
	tag: 'Skills',
	summary: 'The text of one of its files',
	params: OF_SKILL,
	query: skillFileQuery,
	answer: skillFileText.describe('The text, and its SHA-256.'),
	errors: ['too_large', 'conflict'],
	handler: async ({ app, params, query }) => {
		const { path } = query;
		return readSkillFile(app, params.id, path);
	}
});

export const PUT = endpoint({
	id: 'writeSkillFile',
	tag: 'Skills',
	summary: 'Writes one of its files',
	description: '`digest` is that of the file as it was read; another file than that is a conflict.',
	params: OF_SKILL,
	body: skillFileWrite,
	answer: skillFileText.describe('The file as it is now.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => {
		const wanted = await body();
		return writeSkillFile(app, params.id, wanted);
	}
});

export const DELETE = endpoint({
	id: 'removeSkillFile',
	tag: 'Skills',
	summary: 'Removes one of its files, for good',
	params: OF_SKILL,
	query: skillFileQuery,
	answer: null,
	errors: ['conflict'],
	handler: async ({ app, params, query }) => {
		await removeSkillFile(app, params.id, query.path);
	}
});
