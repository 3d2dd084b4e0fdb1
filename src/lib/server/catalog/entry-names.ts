/** The one check of names for every source of skills: what is refused on some system is refused on each (SECURITY, archives; FEATURES E20). */
import { markHidden } from '../../shared/characters.ts';
import { AppError } from '../../shared/errors.ts';
import { problemOnWindows } from '../safe-path.ts';

const MAX_PATH_CHARS = 1024;
const MAX_LEVELS = 12;
/** What Linux, macOS and Windows allow at least. */
const MAX_SEGMENT_BYTES = 255;
const SHOWN_CHARS = 100;
/** What operating systems and version control leave beside the files of a skill. */
const LEFT_OUT = new Set(['__macosx', '.ds_store', '.git', 'thumbs.db', 'desktop.ini']);

/** All names of one folder, as they come. */
export interface EntryNames {
	/**
	 * Takes a path and the folders on its way.
	 * @returns its segments
	 * @throws AppError `invalid_input`: see `checkEntryName`; a file that stands twice, a name that differs from another
	 * in case or Unicode form only, a file where a folder is or the other way round
	 */
	take(path: string, kind: 'file' | 'folder'): string[];
}

/**
 * Segments of a relative path with `/` that means the same on every system.
 * @throws AppError `invalid_input` that names the entry and says what is wrong with it
 */
export function checkEntryName(path: string): string[] {
	const segments = path.split('/');
	const problem = problemOfPath(path, segments) ?? segments.map(problemOfSegment).find((found) => found !== null);
	if (problem) throw refusal(path, problem);
	return segments;
}

export function createEntryNames(): EntryNames {
	/** By what a file system may take the path for. */
	const taken = new Map<string, { path: string; kind: 'file' | 'folder' }>();
	/** Keys of folders, so that no name is folded twice. */
	const folders = new Map<string, string>();

	/** @returns the key of the path */
	function takeOne(path: string, kind: 'file' | 'folder', entry: string): string {
		const slash = path.lastIndexOf('/');
		const above = slash < 0 ? null : path.slice(0, slash);
		const keyAbove = above === null ? '' : (folders.get(above) ?? takeOne(above, 'folder', entry));
		const key = `${keyAbove}/${foldName(path.slice(slash + 1))}`;
		const other = taken.get(key);
		if (other && other.path !== path) {
			throw refusal(entry, `it differs from ${quoteEntry(other.path)} in case or Unicode form only`);
		}
		if (other && other.kind !== kind) throw refusal(entry, `${quoteEntry(path)} is a file and a folder at once`);
		if (other && kind === 'file') throw refusal(entry, 'it stands there twice');
		taken.set(key, { path, kind });
		if (kind === 'folder') folders.set(path, key);
		return key;
	}

	return {
		take(path, kind) {
			const segments = checkEntryName(path);
			takeOne(path, kind, path);
			return segments;
		}
	};
}

/** Is this no part of any skill (`.git/`, `__MACOSX/`, `.DS_Store`), and left out with a note? */
export function isLeftOut(path: string): boolean {
	return path.split('/').some((segment) => LEFT_OUT.has(segment.toLowerCase()));
}

/** A name as people may read it: in quotes, cut, with marks for what cannot be seen. */
export function quoteEntry(path: string): string {
	const shown = path.length > SHOWN_CHARS ? `${path.slice(0, SHOWN_CHARS)}…` : path;
	return `“${markHidden(shown.toWellFormed())}”`;
}

/** `problem` goes on after “is refused: ”. */
export function refusal(path: string, problem: string): AppError {
	return new AppError('invalid_input', `The entry ${quoteEntry(path)} is refused: ${problem}.`);
}

function problemOfPath(path: string, segments: string[]): string | null {
	if (path === '') return 'its name is empty';
	if (path.length > MAX_PATH_CHARS) return `its path is longer than ${MAX_PATH_CHARS} characters`;
	if (path.startsWith('/')) return 'its path is absolute';
	if (/^[A-Za-z]:/.test(path)) return 'its path begins with the letter of a drive';
	if (path.includes('\\')) return 'its path has a backslash';
	if (segments.length > MAX_LEVELS) return `it lies deeper than ${MAX_LEVELS} levels`;
	return null;
}

function problemOfSegment(segment: string): string | null {
	// What looks like dots may be made into dots by a system that normalises names.
	const plain = segment.normalize('NFKC');
	if (segment === '') return 'its path has an empty part';
	if (plain.split(/[/\\]/).some((part) => part === '.' || part === '..')) return 'its path leads out of the folder';
	if (markHidden(segment) !== segment || !segment.isWellFormed()) return 'its name has control or invisible characters';
	if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) return `a name is longer than ${MAX_SEGMENT_BYTES} bytes`;
	return problemOnWindows(segment);
}

/** The same for all names that some file system takes for one; upper case first, since “ß” is “SS” there. */
function foldName(path: string): string {
	return path.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}
