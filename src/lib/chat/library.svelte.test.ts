import { expect, test } from 'vitest';
import { createFakeClient } from '../../../tests/support/fake-client.ts';
import type { SkillSummary } from '../shared/api.ts';
import { Library } from './library.svelte.ts';

const skill = (name: string, more: Partial<SkillSummary>): SkillSummary => ({
	...{ id: name, name, description: '', status: 'ready', path: '', scripts: [], tools: [], diagnostics: [] },
	...{ trust: 'trusted', mode: 'auto', ...more }
});

test('D27: skills of folders are counted without those of the server', async () => {
	const data = [
		skill('mine', {}),
		skill('torn', { status: 'broken', trust: 'untrusted' }),
		skill('file_read', { trust: 'builtin' })
	];
	const listSkills = async (page: number, limit: number) => ({ data, total: 3, page, limit, revision: '1' });
	const library = new Library({ ...createFakeClient(), listSkills });
	await library.refresh();
	const names = (skills: readonly SkillSummary[]) => skills.map(({ name }) => name);
	expect(names(library.skills)).toEqual(['mine', 'torn']);
	expect(names(library.ready)).toEqual(['mine']);
	expect(names(library.broken)).toEqual(['torn']);
	expect(names(library.builtins)).toEqual(['file_read']);
});
