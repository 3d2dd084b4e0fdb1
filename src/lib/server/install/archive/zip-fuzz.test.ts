import fc from 'fast-check';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { zipOf } from '../../../../../tests/support/zip-writer.ts';
import { AppError } from '../../../shared/errors.ts';
import { createStagingFolder } from '../staging-folder.ts';
import { readZip } from './archive-zip.ts';

const signal = new AbortController().signal;
let home: string;
let parent: string;

beforeEach(async () => {
	home = await mkdtemp(join(tmpdir(), 'zip-fuzz-'));
	parent = join(home, 'staging');
});
afterEach(() => rm(home, { recursive: true, force: true }));

describe('SECURITY Archives: whatever the bytes are, files inside or an AppError', () => {
	const seed = zipOf([
		{ name: 'SKILL.md', content: 'a'.repeat(100) },
		{ name: 'scripts/', content: '' },
		{ name: 'scripts/run.py', content: 'print(1)', method: 0 }
	]);

	async function holds(bytes: Buffer): Promise<void> {
		const folder = await createStagingFolder(parent);
		const path = join(home, 'upload.zip');
		await writeFile(path, bytes);
		const error: unknown = await readZip(path, folder, signal).catch((thrown: unknown) => thrown);
		if (error instanceof Error) expect(error).toBeInstanceOf(AppError);
		expect((await readdir(home)).sort()).toEqual(['staging', 'upload.zip']);
		await folder.remove();
	}

	test('random bytes', async () => {
		await fc.assert(
			fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), (bytes) => holds(Buffer.from(bytes))),
			{ numRuns: 100 }
		);
	});

	test('a good archive with some bytes changed', async () => {
		const change = fc.tuple(fc.nat(seed.length - 1), fc.oneof(fc.nat(255), fc.constantFrom(0, 0x2e, 0x2f, 0x5c, 0xff)));
		await fc.assert(
			fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
				const bytes = Buffer.from(seed);
				for (const [at, value] of changes) bytes[at] = value;
				await holds(bytes);
			}),
			{ numRuns: 250 }
		);
	});
});
