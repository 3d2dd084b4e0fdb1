/** Reads how large a picture is meant to be shown from the start of its file, so that a page can leave room for it. */
import { open } from 'node:fs/promises';
import { READ_FLAGS } from '../read/files.ts';

export interface PictureSize {
	/** In pixels. */
	width: number;
	height: number;
}

const HEAD_BYTES = 65_536;
const MAX_PX = 100_000;

/** Null for what is no picture, can't be read, or doesn't say. Never rejects. */
export async function readPictureSize(path: string): Promise<PictureSize | null> {
	if (!/\.(png|jpe?g|gif|webp|svg)$/i.test(path)) return null;
	const file = await open(path, READ_FLAGS).catch(() => null);
	try {
		const read = await file?.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
		return read ? pictureSize(read.buffer.subarray(0, read.bytesRead)) : null;
	} catch {
		// It isn't a file any more: the page finds out for itself.
		return null;
	} finally {
		await file?.close();
	}
}

/** By the first 64 KB of a PNG, JPEG, GIF, WebP or SVG. */
export function pictureSize(head: Buffer): PictureSize | null {
	const size = rasterSize(head) ?? svgSize(head);
	const isShown = (px: number): boolean => px >= 1 && px <= MAX_PX;
	return size && isShown(size.width) && isShown(size.height) ? size : null;
}

function rasterSize(head: Buffer): PictureSize | null {
	const text = (from: number, to: number): string => head.toString('latin1', from, to);
	if (text(1, 4) === 'PNG' && head.length >= 24) return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
	if (text(0, 3) === 'GIF' && head.length >= 10) return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
	if (text(0, 2) === '\xff\xd8') return jpegSize(head);
	if (text(0, 4) !== 'RIFF' || text(8, 12) !== 'WEBP' || head.length < 30) return null;
	switch (text(12, 16)) {
		case 'VP8X':
			return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
		case 'VP8L':
			return { width: (head.readUInt32LE(21) & 0x3fff) + 1, height: ((head.readUInt32LE(21) >>> 14) & 0x3fff) + 1 };
		default:
			return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
	}
}

/** In the frame header, after segments of other kinds. */
function jpegSize(head: Buffer): PictureSize | null {
	for (let at = 2; at + 9 <= head.length && head[at] === 0xff; at += 2 + head.readUInt16BE(at + 2)) {
		const kind = head.readUInt8(at + 1);
		const isFrame = kind >= 0xc0 && kind <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(kind);
		if (isFrame) return { width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5) };
	}
	return null;
}

/** The `width` and `height` of the root if both are plain pixels, otherwise its `viewBox`. */
function svgSize(head: Buffer): PictureSize | null {
	const [root] = /<svg\b[^>]*>/.exec(head.toString('utf8', 0, 4096)) ?? [];
	if (root === undefined) return null;
	const pixels = (name: string): number =>
		Number(new RegExp(`\\s${name}\\s*=\\s*["']\\s*([\\d.]+)(?:px)?\\s*["']`).exec(root)?.[1]);
	const own = { width: pixels('width'), height: pixels('height') };
	if (own.width > 0 && own.height > 0) return own;
	const [, box = ''] = /\sviewBox\s*=\s*["']([^"']*)["']/.exec(root) ?? [];
	const [, , width, height] = box
		.trim()
		.split(/[\s,]+/)
		.map(Number);
	return width && height ? { width, height } : null;
}
