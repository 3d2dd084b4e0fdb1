/** Fetches into a staging folder, and says what is there: skills, files, scripts, what is odd, what is new (FEATURES E20; SECURITY, archives). */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import type { StagedInstall, StagedSkill } from '../../shared/install.ts';
import type { InstallRecord } from '../store/skill-installs.ts';
import { readFolder } from '../trust/folder.ts';
import { changesOf, keptFiles } from '../trust/trust.ts';
import { diskError } from './disk-errors.ts';
import { hasSecrets, inLibrary, installationsOf, isSameOrigin, type InstallContext } from './install-context.ts';
import { inspectSkill, type Inspection } from './inspection.ts';
import type { Fetch } from './installer.ts';
import { findSkillFolders } from './skill-folders.ts';
import type { FetchedSkills } from './source.ts';
import type { StagedInstalls } from './staged-installs.ts';
import { createStagingFolder, type StagingFolder } from './staging-folder.ts';
import { versionInUse } from './versions.ts';

/** As many as can be chosen when it is confirmed. */
const MAX_SKILLS = 100;
/** Of all texts that are shown together, in characters: they are kept in memory for an hour. */
const MAX_TEXT = 4 * 1024 * 1024;

export interface StageRequest {
	fetch: Fetch;
	owner: string;
	signal: AbortSignal;
	/** Will somebody look at it? Otherwise it is placed at once, and looked at before it is trusted. */
	isShown?: boolean;
	/** Which skills of the source; all without it. */
	isWanted?: (skill: Pick<StagedSkill, 'name' | 'path'>) => boolean;
}

/** @throws AppError as `Installer.stage`; then nothing is left on disk */
export async function stageInstall(
	context: InstallContext,
	stagedInstalls: StagedInstalls,
	{ fetch, owner, signal, isShown = true, isWanted = () => true }: StageRequest
): Promise<StagedInstall> {
	const folder = await createStagingFolder(context.places.staging);
	try {
		const fetched = await fetch(folder, signal);
		const found = await foldersOf(fetched, folder);
		const notes = [...fetched.notes];
		if (found.length > MAX_SKILLS) notes.push(`There are ${found.length} skills; the first ${MAX_SKILLS} are shown.`);
		const inspections = new Map<string, Inspection>();
		const skills: StagedSkill[] = [];
		let room = MAX_TEXT;
		for (const path of found.slice(0, MAX_SKILLS)) {
			signal.throwIfAborted();
			const inspection = await inspectSkill(join(folder.dir, path), { scans: isShown });
			const name = inspection.shown.name || path.split('/').at(-1) || 'SKILL.md';
			if (!isWanted({ name, path })) continue;
			const skill = await describe({ ...inspection.shown, path, name }, inspection, { context, owner, fetched });
			const { shown, left } = fitted(skill, room);
			room = left;
			inspections.set(path, { ...inspection, kept: [] });
			skills.push(shown);
			notes.push(...(await warningsFor(context, owner, shown)));
		}
		if (skills.length === 0) {
			throw new AppError('invalid_input', 'There is no skill in it: a skill is a folder with a SKILL.md.');
		}
		const id = randomUUID();
		return await stagedInstalls.add(id, (times) => {
			return { shown: { id, ...times, skills, notes: [...new Set(notes)] }, folder, inspections };
		});
	} catch (error) {
		await folder.remove().catch((failure: unknown) => {
			context.log.error({ error: String(failure) }, 'A staging folder could not be removed; the next start does it.');
		});
		throw diskError(error);
	}
}

/** What lies inside a skill belongs to it. */
async function foldersOf({ folders }: FetchedSkills, { dir }: StagingFolder): Promise<string[]> {
	const all = [...new Set(folders ?? (await findSkillFolders(dir)))].sort();
	return all.filter((path) => !all.some((above) => above !== path && (above === '' || path.startsWith(`${above}/`))));
}

interface Surroundings {
	context: InstallContext;
	owner: string;
	fetched: FetchedSkills;
}

type Shown = Inspection['shown'] & Pick<StagedSkill, 'path'>;

async function describe(shown: Shown, { kept }: Inspection, around: Surroundings): Promise<StagedSkill> {
	const { context, owner, fetched } = around;
	const { path, name, version, digest } = shown;
	const origin = fetched.originOf(path);
	const { source } = context.places.rootOf(owner);
	const other = await installedLike(context, `${source}/${name}`, version);
	const content = other && other.digest !== digest ? await readFolder(other.dir) : null;
	return {
		...shown,
		origin,
		installed: other && {
			skillId: other.skillId,
			version: other.version,
			isSameVersion: other.version === version,
			isSameOrigin: isSameOrigin(origin, other.origin)
		},
		changes: content ? await changesOf(await keptFiles(content), kept) : null,
		audit: fetched.audits?.get(path) ?? null
	};
}

/** Of the same version, else the one in use, else the newest. */
async function installedLike(
	context: InstallContext,
	skillId: string,
	version: string | null
): Promise<InstallRecord | null> {
	const rows = (await installationsOf(context, skillId)).filter(({ state }) => state === 'active');
	const used = versionInUse(context, skillId);
	const ofVersion = (wanted: string | null) => rows.find((row) => row.version === wanted);
	return ofVersion(version) ?? ofVersion(used) ?? rows[0] ?? null;
}

async function warningsFor(context: InstallContext, owner: string, skill: StagedSkill): Promise<string[]> {
	const { name, version, installed, status } = skill;
	if (status === 'broken') return [];
	const { source } = context.places.rootOf(owner);
	const skillId = `${source}/${name}`;
	const notes: string[] = [];
	if (installed && !installed.isSameOrigin) {
		notes.push(`“${name}” is installed from elsewhere: this is another skill of the same name, or an upload.`);
	}
	if (!installed?.isSameOrigin && (await hasSecrets(context, skillId))) {
		notes.push(`Secrets and network grants of “${name}” were given to another skill of this name: they are removed.`);
	}
	if (!installed && inLibrary(context, skillId).some((other) => other.version === version)) {
		notes.push(`“${name}” ${version ?? ''} lies in the folder of installed skills already, put there by hand.`);
	}
	return notes;
}

/** Without the texts that there is no room for. */
function fitted(skill: StagedSkill, room: number): { shown: StagedSkill; left: number } {
	let left = room;
	const take = (text: string | null) => {
		if (text === null || text.length > left) return null;
		left -= text.length;
		return text;
	};
	const files = skill.files.map((file) => ({ ...file, text: take(file.text) }));
	const changes = skill.changes?.map((change) => ({ ...change, diff: take(change.diff) })) ?? null;
	return { shown: { ...skill, files, changes }, left };
}
