/** Places a draft in the library: as a new skill, or as a change of one that keeps what it was (F8). */
import { hash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmod, cp, lchown, lstat, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type StagedSkill } from '../../shared/install.ts';
import { AppError } from '../../shared/errors.ts';
import { createLines, type Exclusively } from '../../shared/in-turn.ts';
import { ignoring } from '../foreign-folders.ts';
import { SWAPS, swapFolder } from '../install/folder-swap.ts';
import { diskError } from '../install/staging-folder.ts';
import type { Installer } from '../install/catalog-installer.ts';
import { requireInRoot } from '../skill-admin/skill-diagnosis.ts';
import { placeSkill, type SkillEditorParts } from '../skill-admin/skill-editor.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { Skill } from '../skills/types.ts';
import type { StoredDraft, StoredFile } from '../store/skills/drafts.ts';
import type { Store } from '../store/store.ts';
import { readFolder } from '../trust/folder.ts';
import { bytesOf, fetchOf, isHeld } from './draft-files.ts';

export interface SavingParts {
	store: Pick<Store, 'skillInstalls'>;
	installer: Pick<Installer, 'install'>;
	/** Default: this server is alone. */
	exclusively?: Exclusively | undefined;
	/** To place skills, and to change those in the skills’ folders. */
	editor: SkillEditorParts & Parameters<typeof placeSkill>[0];
}

export function createSaving({ store, installer, exclusively = createLines(), editor }: SavingParts) {
	const skillWith = (isIt: (skill: Skill) => boolean): Skill | null => {
		const { skills, shadowed } = editor.skills.registry.snapshot();
		return [...skills, ...shadowed].find(isIt) ?? null;
	};
	const baseOf = (id: string) => skillWith((skill) => skillIdOf(skill) === id);

	const placeNew = async (name: string, files: readonly StoredFile[]): Promise<string> => {
		await placeSkill(editor, name, Object.fromEntries(files.map((file) => [file.path, bytesOf(file)])));
		const made = editor.skills.registry.snapshot().skills.find((skill) => skill.name === name);
		return made ? skillIdOf(made) : name;
	};

	/** Its files become these; what a draft can't hold, such as links and .git, stays. `now`: what is there, as `digestsOf`. */
	const editAsWhole = async (base: Skill, files: readonly StoredFile[], now: Record<string, string>): Promise<void> => {
		await requireInRoot(base, 'Edit');
		const [root, dir] = await Promise.all([realpath(base.root), realpath(base.dir)]);
		const wanted = new Map(files.map((file) => [file.path, bytesOf(file)]));
		const paths = [...new Set([...Object.keys(now), ...wanted.keys()])];
		const changed = paths.filter((path) => now[path] !== digestIn(wanted, path));
		if (changed.length === 0) return;
		const swap = () =>
			swapFolder(root, dir, async (made) => {
				await copyOfSkill(dir, made);
				for (const path of changed) await change(made, path, wanted.get(path) ?? null);
				const edits = changed.map(async (path) => {
					const after = digestIn(wanted, path) ?? null;
					return { path, before: path in now ? await keptFile(join(dir, path)) : null, after };
				});
				const kept = await Promise.all(edits);
				if (!isDeepStrictEqual(await digestsOf(base), now)) {
					throw new AppError('conflict', 'Somebody has just changed the skill. Nothing was saved.');
				}
				await editor.edits.keep(base.dir, kept, 'draft');
			});
		const save = async (): Promise<void> => {
			await exclusively(SWAPS, swap).catch((error: unknown) => {
				throw diskError(error);
			});
			await editor.skills.registry.reload();
		};
		await (editor.changeSkill ? editor.changeSkill(base.dir, save) : save());
	};

	/** An installed skill gets one more installation, which can be rolled back; another one is edited, and keeps its edits. */
	const changeBase = async (
		id: string,
		name: string,
		{ files, baseFiles }: Pick<StoredDraft, 'files' | 'baseFiles'>
	): Promise<string> => {
		const base = baseOf(id);
		if (!base) throw new AppError('conflict', 'The skill that this draft changes is gone.');
		const { skills, shadowed, broken } = editor.skills.registry.snapshot();
		if (name !== base.name && [...skills, ...shadowed, ...broken].some((other) => other.name === name)) {
			throw new AppError('conflict', `Another skill is named “${name}”.`, { hint: 'Choose another name.' });
		}
		const now = await digestsOf(base);
		const changed = changedSince(baseFiles, now);
		if (changed.length > 0) {
			const what = changed.slice(0, 3).join(', ');
			throw new AppError('conflict', `The skill has changed since this draft was begun: ${what}.`, {
				hint: 'Nothing was saved. Start again from the current skill and bring your changes over; this draft stays.'
			});
		}
		const installs = await store.skillInstalls.list(id);
		if (installs.some(({ state }) => state === 'active')) {
			const from = installs.find(({ state, dir }) => state === 'active' && dir === base.dir)?.id;
			const choice = { conflict: 'overwrite' as const, apiKeyId: 'system', enabled: true };
			const { installed } = await installer.install(fetchOf(files, from), choice, new AbortController().signal);
			return installed[0]?.skillId ?? id;
		}
		await editAsWhole(base, files, now);
		// Its name may have changed with its SKILL.md.
		const after = skillWith(({ dir }) => dir === base.dir);
		return after ? skillIdOf(after) : id;
	};

	return { baseOf, placeNew, changeBase };
}

function digestIn(files: ReadonlyMap<string, Buffer>, path: string): string | undefined {
	const bytes = files.get(path);
	return bytes && hash('sha256', bytes);
}

async function keptFile(path: string) {
	const [bytes, { mode }] = await Promise.all([readFile(path), lstat(path)]);
	return { id: hash('sha256', bytes), bytes, mode: mode & 0o777 };
}

/** With links as they are, permissions, times and owners. */
async function copyOfSkill(dir: string, made: string): Promise<void> {
	const filter = async (path: string) => {
		const entry = await lstat(path);
		return entry.isFile() || entry.isDirectory() || entry.isSymbolicLink();
	};
	await cp(dir, made, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter });
	if (process.getuid?.() !== 0) return;
	for (const path of ['', ...(await readdir(made, { recursive: true }))]) {
		const { uid, gid } = await lstat(join(dir, path));
		await lchown(join(made, path), uid, gid);
	}
}

/** A file keeps its permissions and owner; a new one gets those of the skill's folder. */
async function change(folder: string, path: string, bytes: Buffer | null): Promise<void> {
	const target = join(folder, path);
	const [around, before] = [await lstat(folder), await lstat(target).catch(ignoring('ENOENT'))];
	await rm(target, { force: true });
	if (bytes === null) return;
	const isScript = bytes.subarray(0, 2).toString() === '#!';
	const made = await mkdir(dirname(target), { recursive: true });
	if (made !== undefined) {
		for (let at = dirname(target); at.length >= made.length; at = dirname(at)) await adopt(at, around, around.mode);
	}
	await writeFile(target, bytes, { flag: 'wx' });
	await adopt(target, before ?? around, before?.mode ?? (isScript ? 0o755 : 0o644) & (0o700 | around.mode));
}

async function adopt(path: string, { uid, gid }: Stats, mode: number): Promise<void> {
	await chmod(path, mode & 0o777);
	if (process.getuid?.() === 0) await lchown(path, uid, gid);
}

/** SHA-256 by path of what a draft can hold of a skill. */
export async function digestsOf(skill: Pick<Skill, 'dir'>): Promise<Record<string, string>> {
	const { files } = await readFolder(skill.dir);
	return Object.fromEntries(files.filter(isHeld).map(({ path, sha256 }) => [path, sha256]));
}

/** Paths of what differs from what the skill was. Without that, none is known. */
export function changedSince(before: Record<string, string> | undefined, now: Record<string, string>): string[] {
	const paths = new Set([...Object.keys(now), ...Object.keys(before ?? now)]);
	return [...paths].filter((path) => now[path] !== (before ?? now)[path]);
}

/** The one skill of a draft. @throws AppError `invalid_input` if it's broken, or not one */
export function savable([skill, other]: readonly StagedSkill[]): StagedSkill {
	if (other) throw new AppError('invalid_input', `A draft is one skill: “${other.name}” is another one in it.`);
	const fault = skill?.diagnostics.find(({ severity }) => severity === 'error');
	if (skill && skill.status !== 'broken') return skill;
	const where = fault ? `${fault.field === '_' ? 'SKILL.md' : fault.field} ${fault.message}` : 'it has no SKILL.md';
	throw new AppError('invalid_input', `The skill can’t be saved: ${where}.`, { hint: 'Mend it, then save again.' });
}
