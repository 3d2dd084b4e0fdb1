/** Writes zip archives byte by byte, so any field can lie. Fields not given are correct. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipPart {
	name: string | Buffer;
	content?: string | Buffer;
	/** Default: 8 (deflate). */
	method?: number;
	/** Compressed bytes to use instead of compressing `content` with `method`. */
	packed?: Buffer;
	/** UTF-8 by default. */
	flags?: number;
	/** Unix mode, including the type: 0o100644 for files. */
	mode?: number;
	/** System it was created on: 3 is Unix, 0 is DOS. */
	host?: number;
	/** All 32 bits, instead of those derived from `mode`. */
	attributes?: number;
	crc?: number;
	size?: number;
	packedSize?: number;
	offset?: number;
	disk?: number;
	comment?: Buffer;
	extra?: Buffer;
	/** Fields of the local header that differ from the central directory. */
	local?: { name?: string | Buffer; flags?: number; method?: number; crc?: number; size?: number; packedSize?: number };
	localExtra?: Buffer;
	signature?: number;
	/** After the data. */
	descriptor?: Buffer;
	/** Sizes and offset in a zip64 field; `true` for correct ones. */
	zip64?: true | { size?: bigint; packedSize?: bigint; offset?: bigint };
	/** Has no local header or data. */
	isListedOnly?: boolean;
}

export interface ZipEnd {
	count?: number;
	countHere?: number;
	disk?: number;
	directorySize?: number;
	directoryOffset?: number;
	comment?: Buffer;
	commentLength?: number;
	/** Comes before everything; offsets don't count it. */
	prefix?: Buffer;
	/** Between the entries and the central directory; offsets stay correct. */
	between?: Buffer;
	suffix?: Buffer;
	/** Adds a zip64 end record; `true` for a correct one that the normal end record points to. */
	zip64?:
		true | { count?: bigint; size?: bigint; offset?: bigint; at?: bigint; recordSize?: bigint; keepsEnd?: boolean };
}

const UTF8 = 0x800;

export function zipOf(parts: readonly ZipPart[], end: ZipEnd = {}): Buffer {
	const blocks: Buffer[] = [];
	const listed: Buffer[] = [];
	let offset = 0;
	const push = (block: Buffer) => {
		blocks.push(block);
		offset += block.length;
	};
	for (const part of parts) {
		const at = offset;
		const made = madeOf(part);
		if (!part.isListedOnly) {
			push(localHeader(part, made));
			push(made.packed);
			if (part.descriptor) push(part.descriptor);
		}
		listed.push(directoryHeader(part, made, part.offset ?? at));
	}
	if (end.between) push(end.between);
	const directory = Buffer.concat(listed);
	return Buffer.concat([
		end.prefix ?? Buffer.alloc(0),
		...blocks,
		directory,
		endOf({ count: parts.length, size: directory.length, offset }, end),
		end.suffix ?? Buffer.alloc(0)
	]);
}

/** Follows the data of an entry whose size wasn't known before. */
export function descriptorOf(
	content: Buffer,
	packed: Buffer,
	options: { isLarge?: boolean; isSigned?: boolean } = {}
): Buffer {
	const { isLarge = false, isSigned = true } = options;
	const size = isLarge ? (value: number) => u64(BigInt(value)) : u32;
	const signature = isSigned ? [u32(0x08074b50)] : [];
	return Buffer.concat([...signature, u32(crc32(content)), size(packed.length), size(content.length)]);
}

export function extraField(id: number, content: Buffer): Buffer {
	return Buffer.concat([u16(id), u16(content.length), content]);
}

/** Info-ZIP's field with the name in UTF-8. */
export function unicodePath(rawName: Buffer, name: string): Buffer {
	return extraField(0x7075, Buffer.concat([Buffer.from([1]), u32(crc32(rawName)), Buffer.from(name)]));
}

interface Made {
	rawName: Buffer;
	content: Buffer;
	packed: Buffer;
	method: number;
	flags: number;
	crc: number;
	size: number;
	packedSize: number;
}

function madeOf(part: ZipPart): Made {
	const content = Buffer.from(part.content ?? '');
	const method = part.method ?? (content.length > 0 ? 8 : 0);
	const packed = part.packed ?? (method === 8 ? deflateRawSync(content) : content);
	return {
		rawName: Buffer.from(part.name),
		content,
		packed,
		method,
		flags: part.flags ?? UTF8,
		crc: part.crc ?? crc32(content),
		size: part.size ?? content.length,
		packedSize: part.packedSize ?? packed.length
	};
}

function localHeader(part: ZipPart, made: Made): Buffer {
	const said = { ...made, ...part.local };
	const rawName = Buffer.from(part.local?.name ?? made.rawName);
	const extra = part.localExtra ?? Buffer.alloc(0);
	const header = Buffer.alloc(30);
	header.writeUInt32LE(part.signature ?? 0x04034b50, 0);
	header.writeUInt16LE(20, 4);
	header.writeUInt16LE(said.flags, 6);
	header.writeUInt16LE(said.method, 8);
	header.writeUInt32LE(0x58210000, 10);
	header.writeUInt32LE(said.crc, 14);
	header.writeUInt32LE(said.packedSize, 18);
	header.writeUInt32LE(said.size, 22);
	header.writeUInt16LE(rawName.length, 26);
	header.writeUInt16LE(extra.length, 28);
	return Buffer.concat([header, rawName, extra]);
}

function directoryHeader(part: ZipPart, made: Made, offset: number): Buffer {
	const isFolder = made.rawName.at(-1) === 0x2f;
	const mode = part.mode ?? (isFolder ? 0o40755 : 0o100644);
	const large = part.zip64 === true ? {} : part.zip64;
	const zip64 = large
		? extraField(
				1,
				Buffer.concat([
					u64(large.size ?? BigInt(made.size)),
					u64(large.packedSize ?? BigInt(made.packedSize)),
					u64(large.offset ?? BigInt(offset))
				])
			)
		: Buffer.alloc(0);
	const extra = Buffer.concat([zip64, part.extra ?? Buffer.alloc(0)]);
	const comment = part.comment ?? Buffer.alloc(0);
	const header = Buffer.alloc(46);
	header.writeUInt32LE(0x02014b50, 0);
	header.writeUInt8(20, 4);
	header.writeUInt8(part.host ?? 3, 5);
	header.writeUInt16LE(20, 6);
	header.writeUInt16LE(made.flags, 8);
	header.writeUInt16LE(made.method, 10);
	header.writeUInt32LE(0x58210000, 12);
	header.writeUInt32LE(made.crc, 16);
	header.writeUInt32LE(large ? 0xffffffff : made.packedSize, 20);
	header.writeUInt32LE(large ? 0xffffffff : made.size, 24);
	header.writeUInt16LE(made.rawName.length, 28);
	header.writeUInt16LE(extra.length, 30);
	header.writeUInt16LE(comment.length, 32);
	header.writeUInt16LE(part.disk ?? 0, 34);
	header.writeUInt32LE((part.attributes ?? (mode << 16) | (isFolder ? 0x10 : 0)) >>> 0, 38);
	header.writeUInt32LE(large ? 0xffffffff : offset, 42);
	return Buffer.concat([header, made.rawName, extra, comment]);
}

function endOf(right: { count: number; size: number; offset: number }, end: ZipEnd): Buffer {
	const comment = end.comment ?? Buffer.alloc(0);
	const large = end.zip64 === true ? {} : end.zip64;
	const isHidden = large && !large.keepsEnd;
	const blocks: Buffer[] = [];
	if (large) {
		const count = u64(large.count ?? BigInt(right.count));
		blocks.push(u32(0x06064b50), u64(large.recordSize ?? 44n), u16(45), u16(45), u32(0), u32(0), count, count);
		blocks.push(u64(large.size ?? BigInt(right.size)), u64(large.offset ?? BigInt(right.offset)));
		blocks.push(u32(0x07064b50), u32(0), u64(large.at ?? BigInt(right.offset + right.size)), u32(1));
	}
	const count = isHidden ? 0xffff : (end.count ?? right.count);
	blocks.push(u32(0x06054b50), u16(end.disk ?? 0), u16(end.disk ?? 0), u16(end.countHere ?? count), u16(count));
	blocks.push(u32(isHidden ? 0xffffffff : (end.directorySize ?? right.size)));
	blocks.push(u32(isHidden ? 0xffffffff : (end.directoryOffset ?? right.offset)));
	blocks.push(u16(end.commentLength ?? comment.length), comment);
	return Buffer.concat(blocks);
}

function u16(value: number): Buffer {
	const bytes = Buffer.alloc(2);
	bytes.writeUInt16LE(value);
	return bytes;
}

function u32(value: number): Buffer {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32LE(value >>> 0);
	return bytes;
}

function u64(value: bigint): Buffer {
	const bytes = Buffer.alloc(8);
	bytes.writeBigUInt64LE(value);
	return bytes;
}
