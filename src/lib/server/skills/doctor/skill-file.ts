/** Replaces the SKILL.md of a folder, completely or not at all (F1). */
import { hash, randomUUID } from 'node:crypto';
import {
	closeSync,
	fchmodSync,
	fsyncSync,
	lstatSync,
	openSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync
} from 'node:fs';
import { join } from 'node:path';

/** A file and its new text. */
interface Replacement {
	dir: string;
	/** `SKILL.md`, or as else it may be written. */
	name: string;
	before: Buffer;
	after: string;
	/** Renames the file to SKILL.md. */
	renames: boolean;
	/** The old text is kept elsewhere, not beside the new one. */
	isKept?: boolean;
}

export function digestOf(bytes: Buffer): string {
	return hash('sha256', bytes);
}

/**
 * Replaces the file and returns the old one's new name, if it has one. Synchronous, so that simultaneous fixes notice each other.
 * @throws DoctorError without changing anything
 */
export function replaceFile(
	{ dir, name, before, after, renames, isKept = false }: Replacement,
	now = new Date()
): string | null {
	const path = join(dir, name);
	const staging = join(dir, `.SKILL.md.${randomUUID()}.tmp`);
	let kept: string | null = null;
	try {
		const mode = lstatSync(path).mode & 0o7777;
		const keptAs = isKept ? null : freeName(dir, now);
		if (keptAs !== null) {
			kept = join(dir, keptAs);
			writeNew(kept, before, mode);
		}
		writeNew(staging, Buffer.from(after), mode);
		const entry = lstatSync(path);
		if (!entry.isFile() || !readFileSync(path).equals(before)) throw changed(path);
		if (renames && readdirSync(dir).includes('SKILL.md')) throw changed(join(dir, 'SKILL.md'));
		renameSync(staging, path);
		// In two steps: on a case-insensitive disk a single one would keep the old name.
		if (renames) renameSync(path, join(dir, 'SKILL.md'));
		return keptAs;
	} catch (error) {
		rmSync(staging, { force: true });
		if (kept !== null) rmSync(kept, { force: true });
		throw explained(error, path);
	}
}

export function changed(path: string): DoctorError {
	return new DoctorError('changed', `${path} changed after you checked it. Check it again, then apply the fix.`);
}

/** `.SKILL.md.20260131T235959.old`, with a number if that's taken. */
function freeName(dir: string, now: Date): string {
	const time = now.toISOString().replace(/[-:]|\..*$/g, '');
	const taken = new Set(readdirSync(dir));
	for (let count = 1; ; count += 1) {
		const name = `.SKILL.md.${time}${count > 1 ? `-${count}` : ''}.old`;
		if (!taken.has(name)) return name;
	}
}

/** Writes a new file, flushed to disk, with this mode whatever the umask is. Never overwrites. */
export function writeNew(path: string, bytes: Buffer, mode: number): void {
	const file = openSync(path, 'wx', 0o600);
	try {
		writeFileSync(file, bytes);
		fchmodSync(file, mode);
		fsyncSync(file);
	} finally {
		closeSync(file);
	}
}

/** Explains a file system error; returns any other unchanged. */
export function explained(error: unknown, path: string): unknown {
	switch ((error as NodeJS.ErrnoException).code) {
		case 'EROFS':
		case 'EACCES':
		case 'EPERM':
			return new DoctorError(
				'read_only',
				`Couldn’t write ${path}: its folder or disk is read-only. Make it writable, or fix the skill at its source.`,
				{ cause: error }
			);
		case 'ENOSPC':
		case 'EDQUOT':
			return new DoctorError('full', `The disk is full, so ${path} wasn’t changed. Free some space and try again.`, {
				cause: error
			});
		case 'ENOENT':
			return changed(path);
		default:
			return error;
	}
}

/** Why nothing was written; `unfixable` means that there is no such fix. */
export class DoctorError extends Error {
	override readonly name = 'DoctorError';
	readonly code: 'changed' | 'link' | 'missing' | 'unfixable' | 'read_only' | 'full';

	constructor(code: DoctorError['code'], message: string, options: { cause?: unknown } = {}) {
		super(message, options);
		this.code = code;
	}
}
