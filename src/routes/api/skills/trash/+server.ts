import { trashedSkillList } from '$lib/shared/install.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listTrash',
	tag: 'Trash',
	summary: 'What was removed and can be restored',
	answer: trashedSkillList.describe('All of it.'),
	handler: async ({ app }) => ({ data: await app.installer.trash() })
});
