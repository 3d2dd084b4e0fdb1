/** What models take of pictures, and without what cameras write into them: above all the place. Bytes may be anything. */
import type { Format } from '../skills/run/picture-format.ts';

export const MAX_PICTURE_BYTES = 5 * 1024 * 1024;
const MAX_SIDE = 8000;

/** Why a model can't be shown it, as the end of a sentence; null if it can. */
export function problemOfPicture({ width, height }: Format, bytes: number): string | null {
	if (bytes > MAX_PICTURE_BYTES) return 'it’s larger than 5 MB.';
	if (width === 0 || height === 0) return 'it’s damaged.';
	return Math.max(width ?? 1, height ?? 1) > MAX_SIDE ? `it’s larger than ${MAX_SIDE} pixels.` : null;
}

/** The same pixels, colors and orientation; null if it's damaged. GIFs and other files stay as they are. */
export function withoutMetadata(bytes: Buffer, mediaType: string): Buffer | null {
	if (mediaType === 'image/jpeg') return ofJpeg(bytes);
	if (mediaType === 'image/png') return ofPng(bytes);
	return mediaType === 'image/webp' ? ofWebp(bytes) : bytes;
}

/** Also leaves out what follows the picture: films and smaller pictures have a place of their own. */
function ofJpeg(bytes: Buffer): Buffer | null {
	const kept = [bytes.subarray(0, 2)];
	let hasPixels = false;
	for (let at = 2; at + 2 <= bytes.length;) {
		const marker = bytes[at + 1] ?? 0;
		if (bytes[at] !== 0xff) return null;
		if (marker === 0xd9) return hasPixels ? Buffer.concat([...kept, bytes.subarray(at, at + 2)]) : null;
		// May be repeated before a marker.
		if (marker === 0xff) {
			at += 1;
			continue;
		}
		const length = at + 4 <= bytes.length ? bytes.readUInt16BE(at + 2) : 0;
		if (length < 2 || at + 2 + length > bytes.length) return null;
		hasPixels ||= marker === 0xda;
		const end = marker === 0xda ? endOfScan(bytes, at + 2 + length) : at + 2 + length;
		kept.push(keptSegment(marker, bytes.subarray(at, end)));
		at = end;
	}
	return hasPixels ? Buffer.concat(kept) : null;
}

function keptSegment(marker: number, segment: Buffer): Buffer {
	const name = segment.toString('latin1', 4, 16);
	if (marker === 0xe1 && name.startsWith('Exif\0\0')) return orientationOnly(segment.subarray(10));
	const isKept = [/^JFIF\0/, /^ICC_PROFILE\0/, /^Adobe/].some((known) => known.test(name));
	const isExtra = marker === 0xfe || (marker >= 0xe0 && marker <= 0xef);
	return isExtra && !isKept ? Buffer.alloc(0) : segment;
}

/** In the data, 0xff stands before 0 or a restart. */
function endOfScan(bytes: Buffer, from: number): number {
	let at = bytes.indexOf(0xff, from);
	while (at !== -1 && (bytes[at + 1] === 0 || ((bytes[at + 1] ?? 0) & 0xf8) === 0xd0)) at = bytes.indexOf(0xff, at + 2);
	return at === -1 ? bytes.length : at;
}

/** A segment with nothing but the side that is up; empty if that's the first line. */
function orientationOnly(tiff: Buffer): Buffer {
	const isLittle = tiff.toString('latin1', 0, 2) === 'II';
	const short = (at: number) => (at + 2 > tiff.length ? 0 : isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
	const first = short(isLittle ? 4 : 6);
	for (let entry = first + 2; entry < first + 2 + short(first) * 12; entry += 12) {
		const turned = short(entry + 8);
		if (short(entry) !== 0x0112 || turned < 2 || turned > 8) continue;
		const written = Buffer.from(
			'ffe1002245786966' + '00004d4d002a000000080001011200030000000100000000' + '00000000',
			'hex'
		);
		written.writeUInt16BE(turned, 28);
		return written;
	}
	return Buffer.alloc(0);
}

function ofPng(bytes: Buffer): Buffer {
	const kept: Buffer[] = [];
	let from = 0;
	for (let at = 8; at + 12 <= bytes.length;) {
		const end = at + 12 + bytes.readUInt32BE(at);
		const kind = bytes.toString('latin1', at + 4, at + 8);
		if (kind === 'IEND') return Buffer.concat([...kept, bytes.subarray(from, end)]);
		if (['eXIf', 'tEXt', 'zTXt', 'iTXt', 'tIME'].includes(kind)) {
			kept.push(bytes.subarray(from, at));
			from = end;
		}
		at = end;
	}
	return Buffer.concat([...kept, bytes.subarray(from)]);
}

function ofWebp(bytes: Buffer): Buffer {
	const kept = [Buffer.from(bytes.subarray(0, 12))];
	for (let at = 12; at + 8 <= bytes.length;) {
		const size = bytes.readUInt32LE(at + 4);
		const end = at + 8 + size + (size % 2);
		const kind = bytes.toString('latin1', at, at + 4);
		const chunk = Buffer.from(bytes.subarray(at, end));
		// It says which other ones there are.
		if (kind === 'VP8X' && chunk.length > 8) chunk[8] = (chunk[8] ?? 0) & ~0x0c;
		if (kind !== 'EXIF' && kind !== 'XMP ') kept.push(chunk);
		at = end;
	}
	const picture = Buffer.concat(kept);
	picture.writeUInt32LE(picture.length - 8, 4);
	return picture;
}
