import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pictureSize, readPicture } from './picture-format.ts';

const base64 = (text: string): Buffer => Buffer.from(text, 'base64');
const PNG = Buffer.concat([
	Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'),
	Buffer.from([0, 0, 2, 0x80, 0, 0, 1, 0xe0])
]);
const GIF = base64('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7');
const WEBP = base64('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA');
/** An empty comment before the frame of 640 × 480. */
const JPEG = Buffer.from('ffd8fffe0002ffc000110801e00280030122000211010311', 'hex');
const svg = (attributes: string): Buffer => Buffer.from(`<?xml version="1.0"?>\n<svg ${attributes}><path/></svg>`);

test('F5: the size of a picture is in the first bytes of its file', () => {
	expect(pictureSize(PNG)).toEqual({ width: 640, height: 480 });
	expect(pictureSize(JPEG)).toEqual({ width: 640, height: 480 });
	expect(pictureSize(GIF)).toEqual({ width: 1, height: 1 });
	expect(pictureSize(WEBP)).toEqual({ width: 1, height: 1 });
	expect(pictureSize(svg('xmlns="x" width="760px" height="400.5"'))).toEqual({ width: 760, height: 400.5 });
	expect(pictureSize(svg('width="100%" viewBox="0 0 300,150" stroke-width="3" height="100%"'))).toEqual({
		width: 300,
		height: 150
	});
});

test('F5: whatever a script has written instead, there is a size that can be shown or none', () => {
	for (const text of ['', '<svg>', '<svg width="0" height="3">', '<svg width="1" height="9999999">', 'GIF89a'])
		expect(pictureSize(Buffer.from(text)), text).toBeNull();
	const heads = [PNG, JPEG, GIF, WEBP, Buffer.from('\xff\xd8\xff\xe0\0\0', 'latin1')];
	fc.assert(
		fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 60 }), fc.nat(40), (head, more, cut) => {
			const size = pictureSize(Buffer.concat([head.subarray(0, cut), more]));
			if (size) expect(Math.min(size.width, size.height)).toBeGreaterThanOrEqual(1);
		})
	);
});

test('F5, SECURITY: only files are read: no link, no pipe, nothing that is no picture by its name', async () => {
	const root = await mkdtemp(join(tmpdir(), 'picture-format-'));
	try {
		await writeFile(join(root, 'a.png'), PNG);
		await writeFile(join(root, 'a.txt'), PNG);
		await symlink(join(root, 'a.png'), join(root, 'link.png'));
		execFileSync('mkfifo', [join(root, 'pipe.png')]);
		const version = hash('sha256', PNG);
		expect(await readPicture(join(root, 'a.png'), PNG.length)).toEqual({ width: 640, height: 480, version });
		expect(await readPicture(join(root, 'a.png'), 1e9), 'too large').toEqual({ width: 640, height: 480 });
		for (const name of ['a.txt', 'link.png', 'pipe.png', 'gone.png'])
			expect(await readPicture(join(root, name), PNG.length), name).toBeNull();
	} finally {
		await rm(root, { recursive: true, force: true });
	}
});
