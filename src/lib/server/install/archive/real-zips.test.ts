import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createStagingFolder, type StagingFolder } from '../staging-folder.ts';
import { readZip } from './archive-zip.ts';

const archives = join(import.meta.dirname, '../../../../../tests/fixtures/archives');
const signal = new AbortController().signal;
let home: string;
let folder: StagingFolder;

beforeEach(async () => {
	home = await mkdtemp(join(tmpdir(), 'real-zips-'));
	folder = await createStagingFolder(home);
});
afterEach(() => rm(home, { recursive: true, force: true }));

describe('E20: archives of other programs unpack byte for byte', () => {
	test.each([
		['info-zip', 'Info-ZIP 3.0 on Linux, whose names are UTF-8 without saying so', ''],
		['info-zip-streamed', 'Info-ZIP into a pipe: sizes after the data', ''],
		['python', 'Python’s shutil.make_archive: with folders', ''],
		['python-streamed', 'Python into a pipe', ''],
		['python-zip64', 'Python with zip64 sizes before the data', ''],
		['java', 'jar: with no permissions, and a mark of its own', ''],
		['perl', 'Perl’s IO::Compress', ''],
		['git-archive', 'git archive: one folder around everything, and a comment', 'packed-main']
	])('%s: %s', async (name, _, top) => {
		expect(await readZip(join(archives, `${name}.zip`), folder, signal)).toEqual({ notes: [] });
		const dir = join(folder.dir, top);
		const entries = await readdir(dir, { recursive: true, withFileTypes: true });
		expect(entries.filter((entry) => entry.isFile()).map((entry) => entry.name)).toHaveLength(5);
		expect(await readFile(join(dir, 'SKILL.md'), 'utf8')).toMatch(/^---\nname: packed\n[^]*# Packed\n$/);
		expect(await readFile(join(dir, 'references/über uns.md'), 'utf8')).toBe('Grüße\n'.repeat(200));
		expect(await readFile(join(dir, 'assets/bytes.bin'))).toEqual(
			Buffer.from(Array.from({ length: 2048 }, (_none, index) => index % 256))
		);
		expect(await readFile(join(dir, 'assets/empty.txt'), 'utf8')).toBe('');
		expect((await stat(join(dir, 'scripts/run.sh'))).mode & 0o777).toBe(0o700);
		expect((await stat(join(dir, 'SKILL.md'))).mode & 0o777).toBe(0o600);
	});
});
