/** Contract tests for uploaded files, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createUploadedFiles, type UploadedFile, type UploadedFiles } from '../uploaded-files.ts';
import { at, type Bench } from './fixtures.suite.ts';

export function testUploadedFiles(bench: () => Bench): void {
	describe('uploaded files', () => {
		let files: UploadedFiles;
		beforeEach(async () => {
			await bench().db.deleteFrom('uploaded_files').execute();
			files = createUploadedFiles(bench().db);
		});
		const file = (id: string, second: number, more: Partial<UploadedFile> = {}): UploadedFile => ({
			...{ id, apiKeyId: null, filename: `${id}.txt`, purpose: 'user_data', bytes: 5, expiresAt: null },
			...{ createdAt: at(second), ...more }
		});

		test('F12, E18: each key has its own, oldest first, and no other finds or removes one', async () => {
			const [first, second, other] = [file('b', 1), file('a', 2), file('c', 1, { apiKeyId: 'key_1' })];
			for (const each of [second, first, other]) await files.put(each);
			expect(await files.list(null)).toEqual([first, second]);
			expect(await files.list('key_1')).toEqual([other]);
			expect(await files.get('c', 'key_1')).toEqual(other);
			for (const stranger of [null, 'key_2']) {
				expect(await files.get('c', stranger)).toBeNull();
				expect(await files.remove('c', stranger)).toBe(false);
			}
			expect(await files.remove('c', 'key_1')).toBe(true);
			expect(await files.remove('c', 'key_1')).toBe(false);
		});

		test('F12: one may be larger than 4 GB', async () => {
			await files.put(file('large', 1, { bytes: 5_000_000_001 }));
			expect((await files.get('large', null))?.bytes).toBe(5_000_000_001);
		});

		test('F12: those that have expired are listed, whoever owns them', async () => {
			await files.put(file('never', 1));
			await files.put(file('later', 1, { expiresAt: at(9) }));
			const expired = file('now', 1, { apiKeyId: 'key_1', expiresAt: at(5) });
			await files.put(expired);
			expect(await files.listExpired(at(5))).toEqual([expired]);
		});
	});
}
