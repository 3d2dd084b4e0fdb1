/** Contract tests for what is known of stored files, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createStoredFiles, type FileChange, type StoredFiles } from '../stored-files.ts';
import { at, type Bench } from './fixtures.suite.ts';

export function testStoredFiles(bench: () => Bench): void {
	describe('stored files', () => {
		let files: StoredFiles;
		beforeEach(async () => {
			for (const table of ['stored_files', 'stored_folders', 'blobs'] as const)
				await bench().db.deleteFrom(table).execute();
			files = createStoredFiles(bench().db);
		});
		const digest = (mark: string) => mark.repeat(64).slice(0, 64);
		const changed = (path: string, mark: string | null, base = 0): FileChange => ({
			...{ path, sha256: mark === null ? null : digest(mark), mode: 0o644, modifiedAt: at(1), base }
		});
		const claim = async (marks: string, time = at(1)) => {
			const blobs = await files.claim(
				[...marks].map((mark) => ({ sha256: digest(mark), bytes: 5_000_000_001 })),
				time
			);
			await files.markStored(
				blobs.map(({ object }) => object),
				time
			);
			return blobs;
		};
		const both = { keepsBoth: true, isNew: false };
		const shown = async (since = 0) =>
			Object.fromEntries(
				(await files.changesSince('f', since)).map((file) => [file.path, file.content?.sha256[0] ?? null])
			);

		test('F5: a folder has versions, and tells what changed since one', async () => {
			await claim('ab');
			expect(await files.folder('f')).toBeNull();
			const first = await files.save('f', [changed('x', 'a'), changed('y', 'b')], both);
			expect(first).toMatchObject({ before: 0, version: 1 });
			await files.save('f', [changed('x', null, 1)], both);
			expect(await files.folder('f')).toEqual({ version: 2, isRemoved: false });
			expect(await shown()).toEqual({ x: null, y: 'b' });
			expect(await shown(1)).toEqual({ x: null });
			const [file] = await files.changesSince('f', 0).then((all) => all.filter(({ path }) => path === 'y'));
			expect(file?.content?.bytes).toBe(5_000_000_001);
		});

		test('F5: servers that save at once get versions of their own, and both contents stay', async () => {
			const marks = 'abcdef';
			await claim(marks);
			const saved = await Promise.all([...marks].map((mark) => files.save('f', [changed('r.txt', mark)], both)));
			expect(saved.map((each) => each?.version ?? 0).sort()).toEqual([1, 2, 3, 4, 5, 6]);
			const now = await shown();
			expect(Object.keys(now).sort()).toEqual([
				'r (2).txt',
				'r (3).txt',
				'r (4).txt',
				'r (5).txt',
				'r (6).txt',
				'r.txt'
			]);
			expect(Object.values(now).sort().join('')).toBe(marks);
		});

		test('F5: a content is claimed once, by however many at once', async () => {
			const all = await Promise.all(Array.from({ length: 8 }, (_, index) => claim(index % 2 ? 'abc' : 'cba')));
			expect(new Set(all.flat().map(({ object }) => object)).size).toBe(3);
			expect((await files.claim([{ sha256: digest('a'), bytes: 1 }], at(2)))[0]?.isStored).toBe(true);
		});

		test('F5: only contents that no file has, and that none took since, are unused; then they are others', async () => {
			const [a] = await claim('a', at(1));
			const [b] = await claim('b', at(1));
			await claim('c', at(9));
			await files.save('f', [changed('x', 'a')], both);
			expect(await files.unused(at(5))).toEqual([b?.object]);
			const [again] = await files.claim([{ sha256: digest('b'), bytes: 1 }], at(2));
			expect(again).toMatchObject({ isStored: false });
			expect(again?.object).not.toBe(b?.object);
			// Not forgotten before the bucket has deleted it.
			expect(await files.unused(at(1))).toEqual([b?.object]);
			await files.forget([b?.object ?? '', a?.object ?? '']);
			expect(await files.unused(at(1))).toEqual([]);
			expect(await shown()).toEqual({ x: 'a' });
		});

		test('F5: a deleted folder takes no late changes, but may begin again', async () => {
			await claim('a');
			await files.save('f', [changed('x', 'a')], both);
			await files.remove('f', at(2));
			await files.remove('never', at(2));
			expect(await files.save('f', [changed('y', 'a')], both)).toBeNull();
			expect(await shown()).toEqual({});
			expect((await files.removed(['f', 'never', 'other'])).sort()).toEqual(['f', 'never']);
			expect(await files.save('f', [changed('y', 'a')], { ...both, isNew: true })).not.toBeNull();
			expect(await shown()).toEqual({ y: 'a' });
			expect(await files.removed(['f'])).toEqual([]);
		});

		test('F5: thousands of files in one go', async () => {
			await claim('a');
			const many = Array.from({ length: 2500 }, (_, index) => changed(`${index}`, 'a'));
			expect((await files.save('f', many, both))?.versions.size).toBe(2500);
			expect(await files.changesSince('f', 0)).toHaveLength(2500);
		});
	});
}
