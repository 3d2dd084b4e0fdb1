import { expect, test } from 'vitest';
import { createFakeClient } from '../../../../../tests/support/fake-client.ts';
import { sampleList, sampleSummary } from '../../../../../tests/support/sample-skills.ts';
import type { SkillSummary } from '../../../shared/skills.ts';
import { Library } from './library.svelte.ts';

const skill = (name: string, more: Partial<SkillSummary>): SkillSummary =>
	sampleSummary({ id: name, name, trust: 'trusted', ...more });

test('D27: skills of folders are counted without those of the server', async () => {
	const data = [
		skill('mine', {}),
		skill('torn', { status: 'broken', trust: 'untrusted' }),
		skill('file_read', { trust: 'builtin' })
	];
	const listSkills = async (page: number, limit: number) => sampleList(data, { page, limit });
	const library = new Library({ ...createFakeClient(), listSkills });
	await library.refresh();
	const names = (skills: readonly SkillSummary[]) => skills.map(({ name }) => name);
	expect(names(library.skills)).toEqual(['mine', 'torn']);
	expect(names(library.ready)).toEqual(['mine']);
	expect(names(library.broken)).toEqual(['torn']);
	expect(names(library.builtins)).toEqual(['file_read']);
});
