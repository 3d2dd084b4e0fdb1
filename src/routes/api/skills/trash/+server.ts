import { trashedSkillList } from '$lib/shared/install.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listTrash',
	tag: 'Trash',
	summary: 'List removed skills',
	answer: trashedSkillList.describe('Everything in the trash.'),
	handler: async ({ app }) => ({ data: await app.installer.trash() })
});
