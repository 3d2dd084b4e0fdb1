/** Reads the format and the size of pictures from the start of their files: whether a model takes one, and how much room a page leaves for it. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { readInPieces, readUpTo } from '../../foreign-folders.ts';
import { READ_FLAGS } from '../read/files.ts';

export interface PictureSize {
	/** In pixels. */
	width: number;
	height: number;
}

/** Enough for the size of nearly every picture. */
export const HEAD_BYTES = 256 * 1024;
const MAX_PX = 100_000;
/** A page shows no larger ones. */
const MAX_BYTES = 20_000_000;

/** `version`: SHA-256 of the file. A later page finds this picture by it. A file over 20 MB has none. */
export interface Picture extends Partial<PictureSize> {
	version?: string;
}

/** Null for what is no picture or can't be read. Never rejects. */
export async function readPicture(path: string, bytes: number): Promise<Picture | null> {
	if (!/\.(png|jpe?g|gif|webp|svg)$/i.test(path)) return null;
	const file = await open(path, READ_FLAGS).catch(() => null);
	try {
		if (!file) return null;
		const size = pictureSize(await readUpTo(file, HEAD_BYTES));
		if (bytes > MAX_BYTES) return size;
		const sum = createHash('sha256');
		for await (const piece of readInPieces(file, bytes)) sum.update(piece);
		return { ...size, version: sum.digest('hex') };
	} catch {
		// It isn't a file any more: the page finds out for itself.
		return null;
	} finally {
		await file?.close();
	}
}

/** By the first bytes of a PNG, JPEG, GIF, WebP or SVG. */
export function pictureSize(head: Buffer): PictureSize | null {
	const { width = 0, height = 0 } = formatOf(head) ?? svgSize(head) ?? {};
	const isShown = (px: number): boolean => px >= 1 && px <= MAX_PX;
	return isShown(width) && isShown(height) ? { width, height } : null;
}

export interface Format {
	mediaType: string;
	/** In pixels; undefined if its place wasn't found. */
	width?: number | undefined;
	height?: number | undefined;
}

/** From the first bytes of a file; null if it's none of the formats that models take. */
export function formatOf(head: Buffer): Format | null {
	const text = head.toString('latin1', 0, 32);
	if (text.startsWith('\x89PNG\r\n\x1a\n') && head.length >= 24)
		return { mediaType: 'image/png', width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
	if (/^GIF8[79]a/.test(text) && head.length >= 10)
		return { mediaType: 'image/gif', width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
	if (/^RIFF....WEBP/s.test(text)) return { mediaType: 'image/webp', ...sizeOfWebp(head, text.slice(12, 16)) };
	if (text.startsWith('\xff\xd8\xff')) return { mediaType: 'image/jpeg', ...sizeOfJpeg(head) };
	return null;
}

function sizeOfWebp(head: Buffer, kind: string): { width?: number; height?: number } {
	if (head.length < 30) return {};
	if (kind === 'VP8X') return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
	if (kind === 'VP8 ') return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
	if (kind !== 'VP8L') return {};
	const bits = head.readUInt32LE(21);
	return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
}

function sizeOfJpeg(head: Buffer): { width?: number; height?: number } {
	for (let at = 2; at + 9 < head.length && head[at] === 0xff; at += 2 + head.readUInt16BE(at + 2)) {
		const marker = head[at + 1] ?? 0;
		const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
		if (isFrame) return { height: head.readUInt16BE(at + 5), width: head.readUInt16BE(at + 7) };
	}
	return {};
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
