/** Places a draft in the library: as a new skill, or as a change of one that keeps what it was (F8). */
import { AppError } from '../../shared/errors.ts';
import type { Installer } from '../install/catalog-installer.ts';
import { placeSkill, removeSkillFile, type SkillEditorParts, writeSkillFile } from '../skill-admin/skill-editor.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { Skill } from '../skills/types.ts';
import type { StoredDraft, StoredFile } from '../store/skills/drafts.ts';
import type { Store } from '../store/store.ts';
import { readFolder } from '../trust/folder.ts';
import { bytesOf, fetchOf, isHeld } from './draft-files.ts';

export interface SavingParts {
	store: Pick<Store, 'skillInstalls'>;
	installer: Pick<Installer, 'install'>;
	/** To place skills, and to change those in the skills’ folders. */
	editor: SkillEditorParts & Parameters<typeof placeSkill>[0];
}

export function createSaving({ store, installer, editor }: SavingParts) {
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
		const paths = new Set([...Object.keys(now), ...Object.keys(baseFiles ?? now)]);
		const changed = [...paths].filter((path) => now[path] !== (baseFiles ?? now)[path]);
		if (changed.length > 0) {
			const what = changed.slice(0, 3).join(', ');
			throw new AppError('conflict', `Somebody has changed the skill since this draft was begun: ${what}.`, {
				hint: 'Nothing was saved. Open a new draft of the skill and bring your changes over; this one stays.'
			});
		}
		const installs = await store.skillInstalls.list(id);
		if (installs.some(({ state }) => state === 'active')) {
			const choice = { conflict: 'overwrite' as const, apiKeyId: 'system', enabled: true };
			const { installed } = await installer.install(fetchOf(files), choice, new AbortController().signal);
			return installed[0]?.skillId ?? id;
		}
		// What a draft can't hold, such as links and .git, stays.
		const held = (await readFolder(base.dir)).files.filter(isHeld);
		const before = new Map(held.map((file) => [file.path, file]));
		// SKILL.md last: until then the skill is what it was.
		const order = [...files].sort((a, b) => Number(a.path === 'SKILL.md') - Number(b.path === 'SKILL.md'));
		let current = id;
		for (const file of order) {
			const there = before.get(file.path);
			if (file.encoding === 'base64' || there?.text === file.content) continue;
			const wanted = { path: file.path, text: file.content, digest: there?.sha256 ?? null };
			current = (await writeSkillFile(editor, current, wanted)).skill;
		}
		const kept = new Set(files.map(({ path }) => path));
		for (const path of before.keys()) if (!kept.has(path)) await removeSkillFile(editor, current, path);
		// Its name may have changed with its SKILL.md.
		const after = skillWith(({ dir }) => dir === base.dir);
		return after ? skillIdOf(after) : id;
	};

	return { baseOf, placeNew, changeBase };
}

/** SHA-256 by path of what a draft can hold of a skill. */
export async function digestsOf(skill: Pick<Skill, 'dir'>): Promise<Record<string, string>> {
	const { files } = await readFolder(skill.dir);
	return Object.fromEntries(files.filter(isHeld).map(({ path, sha256 }) => [path, sha256]));
}
