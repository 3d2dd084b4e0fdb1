/** Zip archives that must be refused, each with the entry and reason the error names (see docs/security.md). */
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { descriptorOf, extraField, unicodePath, zipOf, type ZipEnd, type ZipPart } from './zip-writer.ts';

export interface HostileArchive {
	name: string;
	/** Built on demand: some are large. */
	bytes: () => Buffer;
	says: RegExp;
	/** Default: `invalid_input`. */
	code?: 'too_large';
}

const MB = 1024 * 1024;
const skill: ZipPart = { name: 'SKILL.md', content: '---\nname: a\ndescription: b\n---\n' };

/** One good entry, then the bad one. */
function oneBad(name: string, part: ZipPart, says: RegExp, code?: 'too_large'): HostileArchive {
	return { name, bytes: () => zipOf([skill, part]), says, ...(code && { code }) };
}

function badEnd(name: string, end: ZipEnd, says: RegExp): HostileArchive {
	return { name, bytes: () => zipOf([skill, { name: 'a.md', content: 'a' }], end), says };
}

const names: HostileArchive[] = [
	oneBad('traversal', { name: '../../etc/cron.d/x', content: 'x' }, /“\.\.\/\.\.\/etc\/cron\.d\/x”.* leads out/),
	oneBad('traversal inside', { name: 'a/../../x', content: 'x' }, /“a\/\.\.\/\.\.\/x”.* leads out/),
	oneBad('traversal of a folder', { name: '../x/' }, /“\.\.\/x”.* leads out/),
	oneBad('traversal with backslashes', { name: '..\\..\\x', content: 'x' }, /“\.\.\\\.\.\\x”.* backslash/),
	oneBad('traversal in full width', { name: '．．/x', content: 'x' }, /“．．\/x”.* leads out/),
	oneBad('absolute', { name: '/etc/passwd', content: 'x' }, /“\/etc\/passwd”.* absolute/),
	oneBad('absolute on Windows', { name: 'C:/x', content: 'x' }, /“C:\/x”.* drive/),
	oneBad('of a network share', { name: '//server/share', content: 'x' }, /“\/\/server\/share”.* absolute/),
	oneBad('folder with a backslash', { name: 'a\\b/', content: '' }, /“a\\b”.* backslash/),
	oneBad('NUL in a name', { name: 'safe.md\0.exe', content: 'x' }, /“safe\.md⟨U\+0000⟩\.exe”.* control/),
	oneBad('new line in a name', { name: 'a\nb', content: 'x' }, /“a⟨U\+000A⟩b”.* control/),
	oneBad('escape sequence in a name', { name: '\u001b[2Ja', content: 'x' }, /“⟨U\+001B⟩\[2Ja”.* control/),
	oneBad('bidi in a name', { name: 'a\u202egpj.exe', content: 'x' }, /“a⟨U\+202E⟩gpj\.exe”.* invisible/),
	oneBad('empty name', { name: '', content: 'x' }, /“”.* empty/),
	oneBad('root folder', { name: '/' }, /“”.* empty/),
	oneBad('empty part', { name: 'a//b', content: 'x' }, /“a\/\/b”.* path is empty/),
	oneBad('Windows device', { name: 'scripts/NUL.txt', content: 'x' }, /“scripts\/NUL\.txt”.* reserved on Windows/),
	oneBad('Windows port', { name: 'com1', content: 'x' }, /“com1”.* reserved on Windows/),
	oneBad('Windows stream', { name: 'a.md:x', content: 'x' }, /“a\.md:x”.* Windows/),
	oneBad('dot at the end', { name: 'SKILL.md.', content: 'x' }, /“SKILL\.md\.”.* ends with a dot/),
	oneBad('space at the end', { name: 'a /b', content: 'x' }, /“a \/b”.* ends with a dot or space/),
	oneBad('name of 300 bytes', { name: 'x'.repeat(300), content: 'x' }, /“x{100}…”.* 255 bytes/),
	oneBad('path of 60,000 characters', { name: 'x/'.repeat(30_000) + 'y', content: 'x' }, /1024 characters/),
	oneBad('path of 13 levels', { name: 'x/'.repeat(12) + 'y', content: 'x' }, /“(x\/)+y”.* 12 levels/),
	oneBad('duplicate', { name: 'SKILL.md', content: 'another' }, /“SKILL\.md”.* twice/),
	oneBad('case twin', { name: 'skill.md', content: 'x' }, /“skill\.md”.* case or Unicode form/),
	oneBad('file and folder', { name: 'SKILL.md/x', content: 'x' }, /“SKILL\.md\/x”.* a file and a folder/),
	{
		name: 'Unicode twin',
		bytes: () => zipOf(['caf\u00e9', 'cafe\u0301'].map((name) => ({ name, content: 'x' }))),
		says: /“café”.* case or Unicode form/
	},
	{
		name: 'folders that are case twins',
		bytes: () => zipOf(['Docs/a', 'docs/b'].map((name) => ({ name, content: 'x' }))),
		says: /“docs\/b”.* case or Unicode form/
	}
];

const encodings: HostileArchive[] = [
	oneBad('cp437', { name: Buffer.from([0x81, 0x62]), flags: 0, host: 0, content: 'x' }, /“⟨U\+0081⟩b”.* isn’t UTF-8/),
	oneBad('UTF-8 that DOS did not say', { name: 'ü', flags: 0, host: 0, content: 'x' }, /isn’t UTF-8/),
	oneBad('Latin 1 of Unix', { name: Buffer.from([0xfc]), flags: 0, content: 'x' }, /“ü”.* isn’t UTF-8/),
	oneBad('Shift JIS', { name: Buffer.from([0x83, 0x5c]), flags: 0, content: 'x' }, /isn’t UTF-8/),
	oneBad('UTF-8 that is none', { name: Buffer.from([0x61, 0xc3]), content: 'x' }, /“aÃ”.* isn’t UTF-8/),
	oneBad('overlong UTF-8', { name: Buffer.from('2e2ec0af78', 'hex'), content: 'x' }, /isn’t UTF-8/),
	oneBad('surrogates in UTF-8', { name: Buffer.from('eda080', 'hex'), content: 'x' }, /isn’t UTF-8/),
	oneBad(
		'another name in an extra field',
		{ name: 'a.md', content: 'x', extra: unicodePath(Buffer.from('a.md'), '../x') },
		/“a\.md”.* another name/
	),
	oneBad(
		'another name in the extra field before the data',
		{ name: 'a.md', content: 'x', localExtra: unicodePath(Buffer.from('a.md'), 'b.md') },
		/“a\.md”.* another name/
	),
	oneBad('extra fields beyond the end', { name: 'a', extra: Buffer.from('0100ff00', 'hex') }, /“a”.* extra fields/),
	oneBad('junk for extra fields', { name: 'a', extra: Buffer.from('ff') }, /“a”.* extra fields/),
	oneBad(
		'the same extra field twice',
		{ name: 'a', extra: Buffer.concat([extraField(9, Buffer.alloc(2)), extraField(9, Buffer.alloc(2))]) },
		/“a”.* twice/
	)
];

const kinds: HostileArchive[] = [
	oneBad('link', { name: 'a', content: 'SKILL.md', mode: 0o120777 }, /“a”.* a link/),
	oneBad('absolute link', { name: 'a', content: '/etc/passwd', mode: 0o120777 }, /“a”.* a link/),
	oneBad('link that says DOS', { name: 'a', content: '/etc', mode: 0o120777, host: 0 }, /“a”.* a link/),
	oneBad('link to a folder', { name: 'a/', mode: 0o120777 }, /“a\/”.* a link/),
	oneBad('character device', { name: 'a', mode: 0o020666 }, /“a”.* a device/),
	oneBad('block device', { name: 'a', mode: 0o060666 }, /“a”.* a device/),
	oneBad('named pipe', { name: 'a', mode: 0o010666 }, /“a”.* a named pipe/),
	oneBad('socket', { name: 'a', mode: 0o140666 }, /“a”.* a socket/),
	oneBad('of no kind', { name: 'a', mode: 0o170666 }, /“a”.* neither a file nor a folder/),
	oneBad('folder by its mode alone', { name: 'a', mode: 0o040755 }, /“a”.* both a file and a folder/),
	oneBad('folder of DOS by its mark alone', { name: 'a', host: 0, attributes: 0x10 }, /“a”.* both a file and a folder/),
	oneBad('file with the name of a folder', { name: 'a/', mode: 0o100644 }, /“a\/”.* both a file and a folder/),
	oneBad('folder with a content', { name: 'a/', content: 'x', mode: 0o040755 }, /“a\/”.* folder with content/),
	oneBad('encrypted', { name: 'a', content: 'x', flags: 0x801 }, /“a”.* encrypted/),
	oneBad('strongly encrypted', { name: 'a', content: 'x', flags: 0x840 }, /“a”.* encrypted/),
	oneBad('masked', { name: 'a', content: 'x', flags: 0x2800 }, /“a”.* encrypted/),
	oneBad('AES', { name: 'a', content: 'x', method: 99 }, /“a”.* method.*99/),
	oneBad('bzip2', { name: 'a', content: 'x', method: 12 }, /“a”.* method.*12/),
	oneBad('LZMA', { name: 'a', content: 'x', method: 14 }, /“a”.* method.*14/),
	oneBad('patch', { name: 'a', content: 'x', flags: 0x820 }, /“a”.* patch/)
];

const zeros = (bytes: number) => deflateRawSync(Buffer.alloc(bytes), { level: 9 });
const sizes: HostileArchive[] = [
	oneBad('a file of 11 MB', { name: 'big', content: Buffer.alloc(11 * MB) }, /“big”.* larger than 10 MB/, 'too_large'),
	oneBad(
		'a file that says 1 byte and unpacks to 500 KB',
		{ name: 'big', packed: zeros(MB / 2), method: 8, size: 1, crc: 0 },
		/“big”.* larger than the archive says/
	),
	oneBad(
		'a file that says 9 MB and unpacks to 4 GB',
		{ name: 'big', packed: bombOf4GB(), method: 8, size: 9 * MB, crc: 0 },
		/“big”.* larger than the archive says/
	),
	{
		name: '42 KB that unpack to 40 MB and more',
		bytes: () => {
			const part = packedOnce(Buffer.alloc(10 * MB));
			return zipOf(Array.from({ length: 4 }, (_, i) => ({ ...part, name: `${i}` })));
		},
		says: /“\d”.* 200 times as large/,
		code: 'too_large'
	},
	{
		name: '12 KB whose entries share their data and unpack to 3 GB',
		bytes: () => sharing({ content: Buffer.alloc(10 * MB) }),
		says: /“a\d+”.* 200 times as large/,
		code: 'too_large'
	},
	{
		name: 'entries that share their data',
		bytes: () => sharing({ content: Buffer.alloc(1000, 'x') }),
		says: /“a\d+”.* overlaps/
	},
	{
		name: 'entries one in the other',
		bytes: () => {
			const inner = zipOf([{ name: 'inner', content: 'x', method: 0 }]).subarray(0, 36);
			return zipOf([
				{ name: 'outer', content: inner, method: 0 },
				{ name: 'inner', content: 'x', method: 0, offset: 35, isListedOnly: true }
			]);
		},
		says: /“outer”.* overlaps/
	},
	{
		name: '210 MB in files of 10 MB',
		bytes: () => {
			const content = Buffer.alloc(10 * MB);
			for (let at = 0; at < content.length; at += 1000) content.writeUInt32LE(Math.imul(at, 2654435761) >>> 0, at);
			const part = packedOnce(content, 1);
			return zipOf(Array.from({ length: 21 }, (_, i) => ({ ...part, name: `${i}` })));
		},
		says: /“20”.* more than 200 MB/,
		code: 'too_large'
	},
	{
		name: '1,001 files',
		bytes: () => zipOf(Array.from({ length: 1001 }, (_, i) => ({ name: `f${i}`, content: '' }))),
		says: /“f1000”.* more than 1000 files/,
		code: 'too_large'
	},
	{
		name: '100,000 entries',
		bytes: () => zipOf(manyEntries(100_000), { zip64: true }),
		says: /more than 20000 files/
	},
	{
		name: '30,000 entries that say they are two',
		bytes: () => zipOf(manyEntries(30_000), { count: 2 }),
		says: /should have 2 entries, but has more/
	},
	oneBad('larger than it says', { name: 'a', content: 'abcdef', size: 3 }, /“a”.* larger than the archive says/),
	oneBad('smaller than it says', { name: 'a', content: 'abc', size: 30 }, /“a”.* smaller than the archive says/),
	oneBad('two sizes of stored data', { name: 'a', content: 'abc', method: 0, size: 2 }, /“a”.* two sizes/),
	oneBad('packed size beyond the end', { name: 'a', content: 'abc', packedSize: 900 }, /“a”.* overlaps/),
	oneBad('packed size too small', { name: 'a', content: 'abc'.repeat(99), packedSize: 3 }, /“a”.* extra data follows/),
	oneBad('sizes of 4 GB', { name: 'a', content: 'abc', size: 0xfffffffe, packedSize: 0xfffffffe }, /“a”/, 'too_large'),
	oneBad(
		'much packed for nothing',
		{ name: 'a', packed: Buffer.alloc(5000), method: 8, size: 0 },
		/“a”.* larger compressed/
	),
	oneBad('wrong checksum', { name: 'a', content: 'abc', crc: 1 }, /“a”.* checksum/),
	oneBad('damaged data', { name: 'a', packed: Buffer.from('ffffff', 'hex'), method: 8, size: 3 }, /“a”.* damaged/),
	oneBad(
		'data behind the data',
		{ name: 'a', content: 'abc', packed: Buffer.concat([deflateRawSync(Buffer.from('abc')), Buffer.from('hidden')]) },
		/“a”.* extra data follows/
	)
];

const headers: HostileArchive[] = [
	oneBad(
		'another name before the data',
		{ name: 'a', content: 'x', local: { name: 'b' } },
		/“a”.* don’t match \(names\)/
	),
	oneBad(
		'a longer name before the data',
		{ name: 'a', content: 'x', local: { name: '../a' } },
		/“a”.* don’t match \(names\)/
	),
	oneBad(
		'another method before the data',
		{ name: 'a', content: 'x', local: { method: 0 } },
		/“a”.* don’t match \(methods\)/
	),
	oneBad(
		'encrypted before the data only',
		{ name: 'a', content: 'x', local: { flags: 0x801 } },
		/“a”.* don’t match \(flags\)/
	),
	oneBad('another size before the data', { name: 'a', content: 'x', local: { size: 9 } }, /“a”.* don’t match/),
	oneBad(
		'another checksum before the data',
		{ name: 'a', content: 'x', local: { crc: 9 } },
		/“a”.* don’t match \(checksums\)/
	),
	oneBad('no header before the data', { name: 'a', content: 'x', signature: 0x12345678 }, /“a”.* no header/),
	oneBad('an offset of -1', { name: 'a', content: 'x', offset: 0xfffffffe }, /“a”.* misplaced/),
	oneBad('an offset into another entry', { name: 'a', content: 'x', offset: 10 }, /overlaps|no header/),
	{
		name: 'an offset into the list of files',
		bytes: () => zipOf([skill, { name: 'a', content: 'x', offset: 200 }]),
		says: /“a”.* misplaced/
	},
	oneBad(
		'data that nobody lists',
		{ name: 'a', content: 'x', descriptor: Buffer.alloc(40) },
		/“a”.* extra data follows/
	),
	oneBad(
		'sizes after the data that lie',
		{
			name: 'a',
			content: 'x',
			flags: 0x808,
			descriptor: descriptorOf(Buffer.from('another'), Buffer.from('another'))
		},
		/“a”.* after its data/
	),
	oneBad(
		'sizes after the data that are junk',
		{ name: 'a', content: 'x', flags: 0x808, descriptor: Buffer.alloc(12, 1) },
		/“a”.* after its data/
	),
	oneBad('no sizes after the data', { name: 'a', content: 'x', flags: 0x808 }, /“a”.* extra data follows/),
	oneBad('in another part', { name: 'a', content: 'x', disk: 3 }, /“a”.* another part/),
	oneBad('zip64 with no sizes', { name: 'a', content: 'x', size: 0xffffffff }, /“a”.* zip64 sizes are missing/),
	oneBad('zip64 of 2^63 bytes', { name: 'a', content: 'x', zip64: { size: 1n << 63n } }, /numbers is too large/),
	oneBad('zip64 of 8 GB', { name: 'a', content: 'x', zip64: { size: 1n << 33n } }, /“a”.* larger than/, 'too_large'),
	oneBad('zip64 offset beyond the end', { name: 'a', content: 'x', zip64: { offset: 1n << 40n } }, /“a”.* misplaced/)
];

const ends: HostileArchive[] = [
	{ name: 'nothing', bytes: () => Buffer.alloc(0), says: /incomplete/ },
	{ name: 'no archive', bytes: () => Buffer.from('%PDF-1.7 '.repeat(50)), says: /isn’t a zip file/ },
	{ name: '100 KB of noughts', bytes: () => Buffer.alloc(100_000), says: /incomplete/ },
	badEnd('too few entries in the list', { count: 9 }, /9 entries, but has fewer/),
	badEnd('too many entries in the list', { count: 1 }, /1 entries, but has more/),
	badEnd('two parts', { countHere: 1 }, /part of a multi-part archive/),
	badEnd('the second part', { disk: 1 }, /part of a multi-part archive/),
	badEnd('a list beyond the file', { directoryOffset: 0xffff_fff0 }, /is misplaced/),
	badEnd('a list of no bytes', { directorySize: 0 }, /is misplaced/),
	badEnd('a list of 4 GB', { directorySize: 0xffff_fff0 }, /too large/),
	badEnd('data before it', { prefix: Buffer.from('#!/bin/sh\nexit\n') }, /extra data before its files/),
	badEnd('an archive before it', { prefix: zipOf([skill]) }, /extra data before its files/),
	badEnd('data before the list', { between: Buffer.alloc(100) }, /“a\.md”.* extra data follows/),
	badEnd('data after it', { suffix: Buffer.from('junk') }, /extra data at the end/),
	badEnd('a comment that is cut off', { commentLength: 50 }, /extra data at the end/),
	badEnd('an end in its comment', { comment: zipOf([]) }, /is misplaced/),
	badEnd('an archive in its comment', { comment: zipOf([{ name: 'b', content: 'x' }]) }, /is misplaced/),
	{
		name: 'an archive in its comment, with right offsets',
		bytes: () => {
			const outer = zipOf([skill]);
			const inner = zipOf([{ name: 'evil', content: 'x', offset: outer.length }], {
				directoryOffset: outer.length + 34 + 3
			});
			const hidden = Buffer.concat([outer, inner]);
			hidden.writeUInt16LE(inner.length, outer.length - 2);
			return hidden;
		},
		says: /“evil”.* extra data lies before it|is misplaced/
	},
	{
		name: 'two archives',
		bytes: () => Buffer.concat([zipOf([skill]), zipOf([skill])]),
		says: /extra data before its files/
	},
	{ name: 'an empty one after data', bytes: () => Buffer.concat([Buffer.alloc(9), zipOf([])]), says: /extra data/ },
	badEnd('zip64: an end elsewhere', { zip64: { at: 0n } }, /zip64 end is misplaced/),
	badEnd('zip64: an end at 2^60', { zip64: { at: 1n << 60n } }, /numbers is too large/),
	badEnd('zip64: an end of another size', { zip64: { recordSize: 1000n } }, /zip64 end is damaged/),
	badEnd('zip64: 2^62 entries', { zip64: { count: 1n << 62n } }, /numbers is too large/),
	badEnd('zip64: 3 entries of 2', { zip64: { count: 3n } }, /3 entries, but has fewer/),
	badEnd('zip64: a list elsewhere', { zip64: { offset: 7n } }, /is misplaced/),
	badEnd('zip64: two ends that differ', { zip64: { count: 1n, keepsEnd: true } }, /two ends don’t match/)
];

export const HOSTILE_ARCHIVES: readonly HostileArchive[] = [
	...names,
	...encodings,
	...kinds,
	...sizes,
	...headers,
	...ends
];

function manyEntries(count: number): ZipPart[] {
	return Array.from({ length: count }, (_, i) => ({ name: `f${i}`, offset: 0, isListedOnly: i > 0 }));
}

/** Entries that all point at the first one's data. */
function sharing({ content }: { content: Buffer }): Buffer {
	const part = packedOnce(content);
	const others = Array.from({ length: 300 }, (_, i) => ({ ...part, name: `a${i + 1}`, offset: 0, isListedOnly: true }));
	return zipOf([{ ...part, name: 'a0' }, ...others]);
}

/** Content shared by many entries, compressed only once. */
function packedOnce(content: Buffer, level = 6) {
	return { method: 8, packed: deflateRawSync(content, { level }), crc: crc32(content), size: content.length };
}

/** A deflate stream of concatenated blocks of zeros, 4 MB in all. */
function bombOf4GB(): Buffer {
	const block = deflateRawSync(Buffer.alloc(10 * MB), { finishFlush: constants.Z_FULL_FLUSH });
	return Buffer.concat([...Array.from({ length: 410 }, () => block), zeros(1)]);
}
