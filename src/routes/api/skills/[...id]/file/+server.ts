import {
	skillFileQuery,
	skillFileReading,
	skillFileRename,
	skillFileText,
	skillFileWrite
} from '$lib/shared/skills.ts';
import { content, endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { fileResponse } from '$lib/server/conversations/file-headers.ts';
import {
	openSkillFile,
	readSkillFile,
	removeSkillFile,
	renameSkillFile,
	writeSkillFile
} from '$lib/server/skill-admin/skill-editor.ts';

export const GET = endpoint({
	id: 'readSkillFile',
	tag: 'Skills',
	summary: 'Read a file of a skill',
	params: OF_SKILL,
	query: skillFileReading,
	answer: [
		skillFileText.describe('The text and its SHA-256.'),
		content('application/octet-stream', 'The file, or the part of it that `Range` asks for.')
	],
	errors: ['too_large', 'conflict'],
	handler: async ({ app, params, query, request }) => {
		const { path, format, view = null } = query;
		if (format === 'json') return readSkillFile(app, params.id, path);
		const opened = await openSkillFile(app, params.id, path);
		return fileResponse(opened, { path, view, range: request.headers.get('range') });
	}
});

export const PUT = endpoint({
	id: 'writeSkillFile',
	tag: 'Skills',
	summary: 'Write a file of a skill',
	description: '`digest` is the SHA-256 of the file you read. If the file has changed since, that’s a conflict.',
	params: OF_SKILL,
	body: skillFileWrite,
	answer: skillFileText.describe('The written file.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => writeSkillFile(app, params.id, await body())
});

export const PATCH = endpoint({
	id: 'renameSkillFile',
	tag: 'Skills',
	summary: 'Rename a file of a skill',
	description:
		'Its content and permissions stay; `alsoIn` names files whose text follows. One edit, to before which you can go back.',
	params: OF_SKILL,
	body: skillFileRename,
	answer: null,
	errors: ['conflict'],
	handler: async ({ app, params, body }) => renameSkillFile(app, params.id, await body())
});

export const DELETE = endpoint({
	id: 'removeSkillFile',
	tag: 'Skills',
	summary: 'Delete a file of a skill',
	description: 'What it said is kept as a version, unless it’s larger than 10 MB.',
	params: OF_SKILL,
	query: skillFileQuery,
	answer: null,
	errors: ['conflict'],
	handler: ({ app, params, query }) => removeSkillFile(app, params.id, query.path)
});
