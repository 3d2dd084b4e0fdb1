/** Reads a file of a skill that may be anything: a FIFO, a device, a link to elsewhere, gigabytes (FEATURES A24). */
import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { isInside } from './resources.ts';
import type { SkillIssue } from './types.ts';

const MAX_BYTES = 2 * 1024 * 1024;
// A FIFO opened without O_NONBLOCK waits for a writer; Windows has neither flag, nor the things they are for.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * Bytes of a UTF-8 text file of at most 2 MiB that really lies in its folder, read at once and without ever waiting.
 * @throws Error that says what the file is instead.
 */
export function readSafely(path: string, isLink: boolean): Buffer {
	const bytes = readBytes(path, isLink);
	if (!isUtf8(bytes)) throw new Error('is not UTF-8 text');
	return bytes;
}

/**
 * The same of a SKILL.md, which one wrong byte does not make unreadable: it reads as \uFFFD, and the issue says where the
 * first is.
 */
export function readSkillText(path: string, isLink: boolean): { bytes: Buffer; text: string; issues: SkillIssue[] } {
	const bytes = readBytes(path, isLink);
	return { bytes, text: bytes.toString(), issues: isUtf8(bytes) ? [] : [notUtf8(bytes)] };
}

function notUtf8(bytes: Buffer): SkillIssue {
	let line = 1;
	let start = 0;
	for (let end = bytes.indexOf(10); end >= 0 && isUtf8(bytes.subarray(start, end)); end = bytes.indexOf(10, start)) {
		line += 1;
		start = end + 1;
	}
	const message = 'is not UTF-8 text; bytes that cannot be read are shown as \uFFFD';
	return { field: '_', severity: 'warning', line, message, fix: 'save the file as UTF-8' };
}

function readBytes(path: string, isLink: boolean): Buffer {
	const file = openSync(isLink ? linkedFile(path) : path, FLAGS);
	try {
		const entry = fstatSync(file);
		if (!entry.isFile()) throw new Error('is not a regular file');
		if (entry.size > MAX_BYTES) throw new Error(`is larger than 2 MiB (${entry.size} bytes)`);
		const buffer = Buffer.allocUnsafe(entry.size);
		const bytes = buffer.subarray(0, readSync(file, buffer, 0, entry.size, 0));
		if (bytes.includes(0)) throw new Error('is a binary file');
		return bytes;
	} finally {
		closeSync(file);
	}
}

function linkedFile(path: string): string {
	const target = realpathSync.native(path);
	if (!isInside(realpathSync.native(dirname(path)), target)) {
		throw new Error('is a link that leaves the skill\u2019s folder');
	}
	return target;
}
