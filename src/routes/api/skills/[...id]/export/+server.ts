import { endpoint, OF_SKILL, content } from '$lib/server/endpoint.ts';
import { AppError } from '$lib/shared/errors.ts';
import { exportSkill, folderNameOf } from '$lib/server/install/publish.ts';
import { downloadStream } from '$lib/server/http.ts';
import { findBuiltin, requireListed } from '$lib/server/skill-admin/skill-details.ts';

export const GET = endpoint({
	id: 'exportSkill',
	tag: 'Skills',
	summary: 'Download a skill as a zip',
	params: OF_SKILL,
	answer: content('application/zip', 'A zip with one folder.'),
	errors: ['invalid_input', 'too_large', 'conflict'],
	handler: async ({ app, caller, params }) => {
		const builtin = findBuiltin(app.builtins.builtins, params.id);
		if (builtin) throw new AppError('invalid_input', `“${builtin.name}” is built in and has no files.`);
		const skill = requireListed(app, caller.apiKeyId, params.id);
		const pieces = await exportSkill(skill);
		return downloadStream(app.log, pieces, { name: `${folderNameOf(skill.name)}.zip`, type: 'application/zip' });
	}
});
