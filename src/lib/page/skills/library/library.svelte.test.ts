import { expect, test } from 'vitest';
import { createFakeClient, FakeSource } from '../../../../../tests/support/fake-client.ts';
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

test('a change that is told while the skills are read is read once more, and only if the read had not seen it', async () => {
	const source = new FakeSource('skills', 0);
	const reads: ((revision: string) => void)[] = [];
	const library = new Library({
		...createFakeClient(),
		skillEvents: () => source as unknown as EventSource,
		listSkills: (page, limit) =>
			new Promise((resolve) => reads.push((revision) => resolve(sampleList([], { page, limit, revision }))))
	});
	const tell = (revision: string) =>
		source.onmessage?.(new MessageEvent('message', { data: JSON.stringify({ revision }) }));
	const stop = library.watch();
	const first = library.refresh();
	tell('1');
	reads[0]?.('1');
	await first;
	expect(reads).toHaveLength(1);
	const second = library.refresh();
	tell('3');
	reads[1]?.('2');
	await second;
	await expect.poll(() => reads.length).toBe(3);
	reads[2]?.('3');
	await expect.poll(() => library.revision).toBe('3');
	expect(reads).toHaveLength(3);
	stop();
});
