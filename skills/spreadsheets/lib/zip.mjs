/** Zip archives, as .xlsx files are: entries are unpacked when they are read, and kept packed when they are copied. */
import * as zlib from 'node:zlib';
import { DataError } from './errors.mjs';

const MAX_ENTRIES = 10_000;
/** Unpacked, of all entries that are read. */
const MAX_UNPACKED = 150 * 1024 * 1024;

/** `has(name)`, `text(name)` (null if there is none), `set(name, text)`, `toBuffer()`. */
export function openZip(bytes, file) {
	const entries = bytes ? readEntries(bytes, file) : new Map();
	let room = MAX_UNPACKED;
	return {
		has: (name) => entries.has(name),
		names: () => [...entries.keys()],
		text(name) {
			const entry = entries.get(name);
			if (!entry) return null;
			const text = unpacked(entry, room, file);
			room -= text.length;
			return text.toString('utf8').replace(/^\ufeff/, '');
		},
		set(name, text) {
			const data = Buffer.from(text);
			entries.set(name, { packed: zlib.deflateRawSync(data), method: 8, crc: checksum(data), size: data.length });
		},
		toBuffer: () => written(entries)
	};
}

function readEntries(bytes, file) {
	const damaged = () => new DataError(`${file} is damaged: it isn't a whole .xlsx file.`);
	const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06'));
	if (bytes.readUInt32LE(0) !== 0x04034b50 || end < 0 || end + 22 > bytes.length) throw damaged();
	const count = bytes.readUInt16LE(end + 10);
	if (count > MAX_ENTRIES) throw new DataError(`${file} holds too many parts: it isn't a workbook.`);
	const entries = new Map();
	try {
		for (let index = 0, at = bytes.readUInt32LE(end + 16); index < count; index += 1) {
			if (bytes.readUInt32LE(at) !== 0x02014b50) throw damaged();
			const [nameLength, extra, comment] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset));
			const [crc, packedSize, size] = [16, 20, 24].map((offset) => bytes.readUInt32LE(at + offset));
			const local = bytes.readUInt32LE(at + 42);
			const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
			if (start + packedSize > bytes.length || bytes.readUInt16LE(at + 8) & 1) throw damaged();
			const name = bytes.toString('utf8', at + 46, at + 46 + nameLength).replaceAll('\\', '/');
			const packed = bytes.subarray(start, start + packedSize);
			entries.set(name, { packed, method: bytes.readUInt16LE(at + 10), crc, size });
			at += 46 + nameLength + extra + comment;
		}
	} catch (error) {
		throw error instanceof DataError ? error : damaged();
	}
	return entries;
}

/** What the archive says of the size isn't believed. */
function unpacked({ packed, method, crc }, room, file) {
	let data;
	try {
		data = method === 0 ? packed : zlib.inflateRawSync(packed, { maxOutputLength: Math.max(room, 1) });
	} catch (error) {
		if (error.code !== 'ERR_BUFFER_TOO_LARGE') throw new DataError(`${file} is damaged: a part can't be unpacked.`);
		throw new DataError(`${file} is too large: it unpacks to more than ${MAX_UNPACKED / 1024 / 1024} MB.`);
	}
	if (checksum(data) !== crc) throw new DataError(`${file} is damaged: a part doesn't match its checksum.`);
	return data;
}

function written(entries) {
	const parts = [];
	const directory = [];
	let at = 0;
	for (const [name, { packed, method, crc, size }] of entries) {
		const path = Buffer.from(name);
		const common = Buffer.alloc(26);
		for (const [value, offset] of [[20, 0], [0x800, 2], [method, 4], [0, 6], [0x5c21, 8], [path.length, 22]])
			common.writeUInt16LE(value, offset);
		for (const [value, offset] of [[crc, 10], [packed.length, 14], [size, 18]]) common.writeUInt32LE(value, offset);
		const place = Buffer.alloc(14);
		place.writeUInt32LE(at, 10);
		directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, place, path);
		parts.push(Buffer.from('PK\x03\x04'), common, path, packed);
		at += 30 + path.length + packed.length;
	}
	const end = Buffer.alloc(22);
	end.write('PK\x05\x06');
	for (const offset of [8, 10]) end.writeUInt16LE(entries.size, offset);
	end.writeUInt32LE(directory.reduce((sum, { length }) => sum + length, 0), 12);
	end.writeUInt32LE(at, 16);
	return Buffer.concat([...parts, ...directory, end]);
}

/** Node before 22.2 has no `crc32`. */
function checksum(data) {
	if (zlib.crc32) return zlib.crc32(data);
	let crc = -1;
	for (const byte of data) crc = CRC_TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
	return ~crc >>> 0;
}

const CRC_TABLE = Array.from({ length: 256 }, (_, byte) => {
	let crc = byte;
	for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
	return crc;
});
