import type { RequestHandler } from './$types';
import { AppError } from '$lib/shared/errors.ts';
import { exportSkill, folderNameOf } from '$lib/server/install/export-skill.ts';
import { api, downloadStream } from '$lib/server/http.ts';
import { findBuiltin, requireListed } from '$lib/server/skill-admin/skill-details.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	const builtin = findBuiltin(locals.app.builtins.builtins, params.id);
	if (builtin) throw new AppError('invalid_input', `“${builtin.name}” is part of this server: it has no files.`);
	const skill = requireListed(locals.app, locals.caller.apiKeyId, params.id);
	const pieces = await exportSkill(skill);
	return downloadStream(pieces, { name: `${folderNameOf(skill.name)}.zip`, type: 'application/zip' });
});
