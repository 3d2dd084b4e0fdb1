/** Reads, writes, renames and removes text files of a skill, atomically and without overwriting concurrent changes; goes back to what they said before; creates skills. */
import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import {
	closeSync,
	constants,
	fstatSync,
	lstatSync,
	openSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync
} from 'node:fs';
import { access, chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, basename, dirname } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import type {
	SkillEdit,
	SkillFileChange,
	SkillFileRename,
	SkillFileText,
	SkillFileWrite,
	NewSkill
} from '../../shared/skills.ts';
import { MAX_SKILL_FILE_BYTES, namingsOf } from '../../shared/names.ts';
import { FILE_ONLY, isThere, openFile } from '../foreign-folders.ts';
import { holdFolder, type HeldFolder, openSkillFolder } from '../safe-path.ts';
import type { SkillRegistry } from '../skills/registry/registry.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';
import { type BuiltinSkill, findBuiltin, folderOf, type LookupParts, requireListed } from './skill-details.ts';
import { idIn, folderGone, reloadedId, requireInRoot } from './skill-diagnosis.ts';
import { changesOf, type Trust } from '../trust/trust.ts';
import type { ChangeSkill, SkillEdits } from './skill-edits.ts';
import { digestOf, writeNew } from '../skills/doctor/skill-file.ts';
import { templateFiles } from '../skills/make/templates.ts';

export interface SkillEditorParts extends LookupParts {
	skills: { registry: Pick<SkillRegistry, 'snapshot' | 'reload'> };
	builtins: { builtins: readonly BuiltinSkill[] };
	edits: SkillEdits;
	/** Default: a return brings back no trust. */
	trust?: Pick<Trust, 'trustAgain'>;
	/** Default: only this server has them. */
	changeSkill?: ChangeSkill;
}

/** After what other servers have changed. */
async function changing<Result>(
	{ changeSkill }: Pick<SkillEditorParts, 'changeSkill'>,
	{ dir }: Skill | BrokenSkill,
	work: () => Promise<Result>
): Promise<{ result: Result; unkept: string | null }> {
	return changeSkill ? changeSkill(dir, work) : { result: await work(), unkept: null };
}

/** Larger files are deleted for good. */
const MAX_KEPT_BYTES = 10 * 1024 * 1024;

interface ReadFile {
	bytes: Buffer;
	mode: number;
}

/** @throws AppError `not_found`; `invalid_input` if it isn’t text, or for a built-in skill; `too_large` */
export async function readSkillFile(parts: SkillEditorParts, id: string, path: string): Promise<SkillFileText> {
	const skill = requireFolder(parts, id);
	const folder = await hold(skill, path);
	try {
		const file = readText(folder.target, path);
		if (!file) throw new AppError('not_found', `“${skill.name}” has no file “${path}”.`);
		const at = { skill: idIn(parts, skill), folder: folderOf(skill) };
		return { ...describe(path, file), isWritable: await isWritable(skill, folder), ...at };
	} finally {
		await folder.close();
	}
}

/** A file of any kind and size, to serve; the caller closes it. @throws AppError `not_found`; `invalid_input`; `conflict` for a link */
export async function openSkillFile(parts: SkillEditorParts, id: string, path: string) {
	const skill = requireFolder(parts, id);
	const folder = await hold(skill, path);
	try {
		const opened = await openFile(skill.dir, folder.target).catch((error: unknown) => {
			throw isMissing(error) ? missing(skill, path, error) : linkError(path, error);
		});
		if (!opened) throw new AppError('invalid_input', `“${path}” isn’t a regular file.`);
		return { file: opened.file, bytes: opened.facts.size };
	} finally {
		await folder.close();
	}
}

/**
 * Keeps the file’s mode; new files that begin with `#!` are executable. Reloads the library. Changes nothing after an error.
 * @throws AppError `conflict` if the file has changed or is behind a link; `invalid_input` for a built-in skill;
 * `too_large`; `unavailable` if it isn’t writable; `storage_full`
 */
export async function writeSkillFile(
	parts: SkillEditorParts,
	id: string,
	wanted: SkillFileWrite
): Promise<SkillFileText> {
	const { path, text, digest } = wanted;
	const skill = requireFolder(parts, id);
	await requireInRoot(skill, 'Edit');
	const bytes = Buffer.from(text);
	if (bytes.length > MAX_SKILL_FILE_BYTES) {
		throw new AppError('too_large', 'Files of a skill can be up to 2 MB.', { hint: 'Split it into smaller files.' });
	}
	if (text.includes('\0')) throw new AppError('invalid_input', 'text isn’t valid: it contains zero bytes.');
	const { result, unkept } = await changing(parts, skill, () => write(parts, skill, { path, bytes, digest }));
	return unkept === null ? result : { ...result, hint: unkept };
}

async function write(
	parts: SkillEditorParts,
	skill: Skill | BrokenSkill,
	{ path, bytes, digest }: Pick<SkillFileWrite, 'path' | 'digest'> & { bytes: Buffer }
): Promise<SkillFileText> {
	const folder = await hold(skill, path, digest === null).catch((error: unknown) => {
		throw explained(error, path);
	});
	let file: ReadFile;
	try {
		const before = readText(folder.target, path);
		// Otherwise, nothing is written.
		if ((before && digestOf(before.bytes)) === digest) {
			await parts.edits.keep(skill.dir, [{ path, before: before && kept(before), after: digestOf(bytes) }]);
		}
		file = replace(folder, { path, bytes, digest });
	} catch (error) {
		throw explained(error, path);
	} finally {
		await folder.close();
	}
	const at = { skill: await reloadedId(parts, skill), folder: folderOf(skill) };
	return { ...describe(path, file), isWritable: true, ...at };
}

/** @throws AppError as `writeSkillFile`; `invalid_input` for the SKILL.md, `not_found` */
export async function removeSkillFile(parts: SkillEditorParts, id: string, path: string): Promise<void> {
	const skill = requireFolder(parts, id);
	if (/^skill\.md$/i.test(path)) {
		throw new AppError('invalid_input', 'A skill needs its SKILL.md. Remove the whole skill instead.');
	}
	await requireInRoot(skill, 'Edit');
	await changing(parts, skill, () => remove(parts, skill, path));
}

async function remove(parts: SkillEditorParts, skill: Skill | BrokenSkill, path: string): Promise<void> {
	const folder = await hold(skill, path);
	try {
		// Removes a link itself, not its target.
		const entry = lstatSync(folder.target);
		if (entry.isDirectory()) throw new AppError('invalid_input', `“${path}” is a folder.`);
		if (entry.isFile() && entry.size <= MAX_KEPT_BYTES) {
			const before = readFile(folder.target, path, MAX_KEPT_BYTES);
			await parts.edits.keep(skill.dir, [{ path, before: before && kept(before), after: null }]);
		}
		rmSync(folder.target);
	} catch (error) {
		throw isMissing(error) ? missing(skill, path, error) : explained(error, path);
	} finally {
		await folder.close();
	}
	await reloadedId(parts, skill);
}

/** Keeps its content and mode. @throws AppError as `writeSkillFile`; `conflict` for a name that exists, `not_found` */
export async function renameSkillFile(parts: SkillEditorParts, id: string, wanted: SkillFileRename): Promise<void> {
	const skill = requireFolder(parts, id);
	if ([wanted.path, wanted.to].some((path) => /^skill\.md$/i.test(path))) {
		throw new AppError('invalid_input', 'A skill needs its SKILL.md, and has one.');
	}
	await requireInRoot(skill, 'Edit');
	await changing(parts, skill, () => renameIn(parts, skill, wanted));
}

async function renameIn(
	parts: SkillEditorParts,
	skill: Skill | BrokenSkill,
	{ path, to, alsoIn = [] }: SkillFileRename
): Promise<void> {
	const from = await hold(skill, path);
	const held = [from];
	try {
		const file = readFile(from.target, path, MAX_KEPT_BYTES);
		if (!file) throw missing(skill, path, null);
		const changed = [];
		for (const other of new Set(alsoIn)) {
			const folder = await hold(skill, other);
			held.push(folder);
			const before = other === path ? null : readText(folder.target, other);
			if (!before) throw missing(skill, other, null);
			const bytes = Buffer.from(before.bytes.toString().replace(namingsOf(path), () => to));
			if (!bytes.equals(before.bytes)) changed.push({ path: other, folder, before, bytes });
		}
		const folder = await hold(skill, to, true);
		held.push(folder);
		const requireFree = (): void => {
			if (!lstatSync(folder.target, { throwIfNoEntry: false })) return;
			throw new AppError('conflict', `“${to}” already exists. Nothing was renamed.`);
		};
		requireFree();
		await parts.edits.keep(skill.dir, [
			{ path: to, before: null, after: digestOf(file.bytes) },
			{ path, before: kept(file), after: null },
			...changed.map((each) => ({ path: each.path, before: kept(each.before), after: digestOf(each.bytes) }))
		]);
		requireFree();
		for (const each of changed) {
			replace(each.folder, { path: each.path, bytes: each.bytes, digest: digestOf(each.before.bytes) });
		}
		renameSync(from.target, folder.target);
	} catch (error) {
		throw explained(error, path);
	} finally {
		for (const folder of held) await folder.close();
	}
	await reloadedId(parts, skill);
}

/** Newest first. */
export async function listEdits(parts: SkillEditorParts, id: string): Promise<SkillEdit[]> {
	const skill = requireFolder(parts, id);
	return parts.edits.list(skill.dir, (path) => bytesNow(skill, path));
}

async function bytesNow(skill: Skill | BrokenSkill, path: string): Promise<Buffer | null> {
	const folder = await hold(skill, path).catch(() => null);
	try {
		return folder && (readFile(folder.target, path, MAX_KEPT_BYTES)?.bytes ?? null);
	} catch {
		// A link, or a folder: what it says isn't told.
		return null;
	} finally {
		await folder?.close();
	}
}

/** What this edit changed, from before it to after it. @throws AppError `not_found` for what is no longer kept */
export async function changesOfEdit(parts: SkillEditorParts, id: string, edit: string): Promise<SkillFileChange[]> {
	const skill = requireFolder(parts, id);
	const files = await parts.edits.ofEdit(skill.dir, edit, (path) => bytesNow(skill, path));
	const side = (of: 'before' | 'after') =>
		files.flatMap(({ path, [of]: file }) => (file ? [{ path, sha256: file.sha256, text: textIn(file.bytes) }] : []));
	return changesOf(side('before'), side('after'));
}

/** What going back to before this edit changes, from what the files say now. @throws AppError as `returnToEdit` */
export async function changesOfReturn(parts: SkillEditorParts, id: string, edit: string): Promise<SkillFileChange[]> {
	const skill = requireFolder(parts, id);
	const files = await filesOfEdit(parts, skill, edit);
	const textOf = (path: string, file: Pick<ReadFile, 'bytes'> | null) =>
		file ? [{ path, sha256: digestOf(file.bytes), text: textIn(file.bytes) }] : [];
	return changesOf(
		files.flatMap(({ path, now }) => textOf(path, now)),
		files.flatMap(({ path, before }) => textOf(path, before))
	);
}

/** Makes the edited files what they were before this edit, and keeps what they are now. @throws AppError as `writeSkillFile`; `not_found` for what is no longer kept */
export async function returnToEdit(parts: SkillEditorParts, id: string, edit: string): Promise<string> {
	const skill = requireFolder(parts, id);
	await requireInRoot(skill, 'Edit');
	return (await changing(parts, skill, () => goBack(parts, skill, edit))).result;
}

async function goBack(parts: SkillEditorParts, skill: Skill | BrokenSkill, edit: string): Promise<string> {
	const files = await filesOfEdit(parts, skill, edit);
	const changed = files.filter(({ before, now }) => !isSame(before, now));
	const edited = changed.map(({ path, before, now }) => ({
		path,
		before: now && kept(now),
		after: before && digestOf(before.bytes)
	}));
	if (changed.length > 0) await parts.edits.keep(skill.dir, edited, { backTo: edit });
	for (const { path, before, now } of changed) {
		const folder = await hold(skill, path, before !== null);
		try {
			if (before) replace(folder, { path, ...before, digest: now && digestOf(now.bytes) });
			else rmSync(folder.target);
		} catch (error) {
			throw explained(error, path);
		} finally {
			await folder.close();
		}
	}
	const id = await reloadedId(parts, skill);
	const { skills, shadowed } = parts.skills.registry.snapshot();
	const returned = [...skills, ...shadowed].find(({ dir }) => dir === skill.dir);
	const wasTrusted = (digest: string) => parts.edits.wasTrusted(skill.dir, digest);
	if (returned) await parts.trust?.trustAgain(returned, wasTrusted, new Date().toISOString());
	return id;
}

/** The files that were changed by this edit or later: as they were before it, and now. */
async function filesOfEdit({ edits }: SkillEditorParts, skill: Skill | BrokenSkill, edit: string) {
	const files = [];
	for (const { path, before } of await edits.before(skill.dir, edit)) {
		const folder = await hold(skill, path).catch((error: unknown) => {
			// Its folder is gone, too.
			if (error instanceof AppError && error.code === 'not_found') return null;
			throw error;
		});
		try {
			files.push({ path, before, now: folder && readFile(folder.target, path, MAX_KEPT_BYTES) });
		} finally {
			await folder?.close();
		}
	}
	return files;
}

function isSame(one: Pick<ReadFile, 'bytes'> | null, other: Pick<ReadFile, 'bytes'> | null): boolean {
	return one === null || other === null ? one === other : one.bytes.equals(other.bytes);
}

function kept({ bytes, mode }: ReadFile) {
	return { id: digestOf(bytes), bytes, mode };
}

/** Synchronous, so that the second of two concurrent writes notices the first. */
function replace(
	folder: HeldFolder,
	{ path, bytes, digest, mode: wanted }: { path: string; bytes: Buffer; digest: string | null; mode?: number }
): ReadFile {
	const before = readFile(folder.target, path, MAX_KEPT_BYTES);
	const was = before && digestOf(before.bytes);
	if (was !== digest) {
		const what = was === null ? 'no longer exists' : digest === null ? 'already exists' : 'changed after you opened it';
		throw new AppError('conflict', `“${path}” ${what}. Nothing was written.`, { details: { digest: was } });
	}
	const isScript = bytes.subarray(0, 2).toString() === '#!';
	// A new file gets the permissions of its folder.
	const mode = before?.mode ?? wanted ?? (isScript ? 0o755 : 0o644) & (0o700 | statSync(folder.path).mode);
	const staging = join(folder.path, `.${randomUUID()}.tmp`);
	try {
		writeNew(staging, bytes, mode);
		renameSync(staging, folder.target);
	} catch (error) {
		rmSync(staging, { force: true });
		throw error;
	}
	return { bytes, mode };
}

/** null if missing. @throws AppError for a link, a folder, or content other than text */
function readText(target: string, path: string): ReadFile | null {
	const file = readFile(target, path, MAX_SKILL_FILE_BYTES);
	if (file && !isText(file.bytes)) throw new AppError('invalid_input', `“${path}” isn’t text.`);
	return file;
}

function textIn(bytes: Buffer | null): string | null {
	return bytes && isText(bytes) ? bytes.toString() : null;
}

function isText(bytes: Buffer): boolean {
	return !bytes.includes(0) && isUtf8(bytes);
}

function readFile(target: string, path: string, maxBytes: number): ReadFile | null {
	let file: number;
	try {
		file = openSync(target, FILE_ONLY);
	} catch (error) {
		if (isMissing(error)) return null;
		throw linkError(path, error);
	}
	try {
		const entry = fstatSync(file);
		if (!entry.isFile()) throw new AppError('invalid_input', `“${path}” isn’t a regular file.`);
		if (entry.size > maxBytes) {
			const hint = 'Open it in the skill’s folder instead.';
			throw new AppError('too_large', `“${path}” is larger than ${maxBytes / 1024 / 1024} MB.`, { hint });
		}
		return { bytes: readFileSync(file), mode: entry.mode & 0o777 };
	} finally {
		closeSync(file);
	}
}

/** Returns other errors unchanged. */
function linkError(path: string, error: unknown): unknown {
	if ((error as NodeJS.ErrnoException).code !== 'ELOOP') return error;
	return new AppError('conflict', `“${path}” is a link. Links can’t be opened here.`, { cause: error });
}

function requireFolder(parts: SkillEditorParts, id: string): Skill | BrokenSkill {
	const builtin = findBuiltin(parts.builtins.builtins, id);
	if (builtin) throw new AppError('invalid_input', `“${builtin.name}” is built in and has no files.`);
	return requireListed(parts, null, id);
}

async function hold(skill: Skill | BrokenSkill, path: string, make = false): Promise<HeldFolder> {
	try {
		lstatSync(skill.dir);
	} catch (error) {
		throw folderGone(skill.name, skill.dir, error);
	}
	return holdFolder(skill.dir, path, { make }).catch((error: unknown) => {
		throw isMissing(error) ? missing(skill, path, error) : error;
	});
}

async function isWritable(skill: Skill | BrokenSkill, folder: HeldFolder): Promise<boolean> {
	try {
		await requireInRoot(skill, 'Edit');
		await access(folder.path, constants.W_OK);
		return true;
	} catch {
		return false; // writing reports the reason
	}
}

function describe(path: string, { bytes, mode }: ReadFile): Omit<SkillFileText, 'isWritable' | 'skill' | 'folder'> {
	const isExecutable = (mode & 0o111) !== 0;
	return { path, text: bytes.toString(), bytes: bytes.length, digest: digestOf(bytes), isExecutable };
}

function isMissing(error: unknown): boolean {
	return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function missing({ name }: Skill | BrokenSkill, path: string, cause: unknown): AppError {
	return new AppError('not_found', `“${name}” has no file “${path}”.`, { cause });
}

/** Turns errors of the file system into AppErrors; returns others unchanged. */
function explained(error: unknown, path: string): unknown {
	switch ((error as NodeJS.ErrnoException).code) {
		case 'EROFS':
		case 'EACCES':
		case 'EPERM':
			return new AppError(
				'unavailable',
				`Couldn’t write “${path}”: its folder or disk is read-only. Nothing was changed.`,
				{ cause: error, hint: 'Make it writable, or change the skill at its source.' }
			);
		case 'ENOSPC':
		case 'EDQUOT':
			return new AppError('storage_full', `The disk is full, so “${path}” wasn’t changed.`, { cause: error });
		case 'EISDIR':
			return new AppError('invalid_input', `“${path}” is a folder.`, { cause: error });
		default:
			return error;
	}
}

// Creates a skill from a template in the first writable skills folder (F8).

export interface NewSkillParts {
	skills: { registry: Pick<SkillRegistry, 'snapshot' | 'reload'> };
	config: { skillsDirs: readonly string[] };
}

/** @throws AppError as `placeSkill` */
export async function createSkill(parts: NewSkillParts, wanted: NewSkill): Promise<void> {
	await placeSkill(parts, wanted.name, templateFiles(wanted));
}

/**
 * Creates the folder atomically, and reloads the library. Files by path, which the caller has checked.
 * @throws AppError `conflict` for a taken name, `unavailable` without a writable folder, `storage_full`
 */
export async function placeSkill(
	parts: NewSkillParts,
	name: string,
	files: Record<string, string | Uint8Array>
): Promise<void> {
	const { skillsDirs } = parts.config;
	const { skills, shadowed, broken } = parts.skills.registry.snapshot();
	const isTaken =
		[...skills, ...shadowed].some((other) => other.name === name) || broken.some(({ dir }) => basename(dir) === name);
	if (isTaken) throw taken(name);
	const refusals: unknown[] = [];
	for (const root of skillsDirs) {
		try {
			await place(root, name, files);
			await parts.skills.registry.reload();
			return;
		} catch (error) {
			if (!isReadOnly(error)) throw whyNotMade(error, name);
			refusals.push(error);
		}
	}
	throw new AppError('unavailable', `None of the skill folders is writable: ${skillsDirs.join(', ')}.`, {
		cause: refusals[0],
		hint: 'Make one of them writable, or add another to SKILLS_DIRS.'
	});
}

/** Until complete, the folder’s name starts with a dot, so that it isn’t read as a skill. */
async function place(root: string, name: string, files: Record<string, string | Uint8Array>): Promise<void> {
	const folder = join(root, name);
	const staging = join(root, `.new-${randomUUID()}`);
	await mkdir(root, { recursive: true });
	if (await isThere(folder)) throw taken(name);
	await mkdir(staging);
	try {
		for (const [path, content] of Object.entries(files)) {
			const file = join(staging, path);
			await mkdir(dirname(file), { recursive: true });
			await writeFile(file, content, { flag: 'wx' });
			if (Buffer.from(content).subarray(0, 2).toString() === '#!') await chmod(file, 0o700);
		}
		await openSkillFolder(staging, root);
		await rename(staging, folder);
	} catch (error) {
		await rm(staging, { recursive: true, force: true });
		throw error;
	}
}

function taken(name: string): AppError {
	return new AppError('conflict', `A skill named “${name}” already exists.`, { hint: 'Choose another name.' });
}

function isReadOnly(error: unknown): boolean {
	return ['EROFS', 'EACCES', 'EPERM', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function whyNotMade(error: unknown, name: string): unknown {
	const { code } = error as NodeJS.ErrnoException;
	// Created concurrently.
	if (code === 'ENOTEMPTY' || code === 'EEXIST') return taken(name);
	if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
	return new AppError('storage_full', 'The disk is full, so the skill wasn’t created.', { cause: error });
}
