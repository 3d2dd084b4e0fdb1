/** Fetches skills into a staging folder and describes them for review: files, scripts, warnings, changes (E20; SECURITY, archives). */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import type { StagedInstall, StagedSkill } from '../../shared/install.ts';
import type { InstallRecord } from '../store/skills/installs.ts';
import { readFolder } from '../trust/folder.ts';
import { changesOf, keptFiles } from '../trust/trust.ts';
import type { Fetch, FetchedSkills } from './catalog-installer.ts';
import { findSkillFolders, type Inspection, inspectSkill } from './inspection.ts';
import { hasSecrets, inLibrary, installationsOf, type InstallContext, isSameOrigin } from './install-context.ts';
import type { StagedInstalls } from './staged-installs.ts';
import { createStagingFolder, diskError, type StagingFolder } from './staging-folder.ts';
import { usedInstallation } from './versions.ts';

/** Also the maximum that can be confirmed at once. */
const MAX_SKILLS = 100;
/** Characters of all texts shown; they stay in memory for an hour. */
const MAX_TEXT = 4 * 1024 * 1024;

export interface StageRequest {
	fetch: Fetch;
	owner: string;
	signal: AbortSignal;
	/** Whether the user reviews it now. Otherwise it is installed at once, and reviewed before it is trusted. */
	isShown?: boolean;
	/** Default: all skills of the source. */
	isWanted?: (skill: Pick<StagedSkill, 'name' | 'path'>) => boolean;
}

/** Leaves nothing on disk after an error. @throws AppError as `Installer.stage` */
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
		if (found.length > MAX_SKILLS) notes.push(`Found ${found.length} skills. Showing the first ${MAX_SKILLS}.`);
		const inspections = new Map<string, Inspection>();
		const skills: StagedSkill[] = [];
		let room = MAX_TEXT;
		for (const path of found.slice(0, MAX_SKILLS)) {
			signal.throwIfAborted();
			const inspection = await inspectSkill(join(folder.dir, path), { scans: isShown });
			const name = inspection.shown.name || path.split('/').at(-1) || 'SKILL.md';
			if (!isWanted({ name, path })) continue;
			const skill = await describe(inspection, { path, name }, { context, owner, fetched, isShown });
			const { shown, left } = fitted(skill, room);
			room = left;
			inspections.set(path, { ...inspection, kept: [] });
			skills.push(shown);
			notes.push(...(await warningsFor(context, owner, shown)));
		}
		const beside = skills.filter(({ status }) => status === 'ready').map(({ name }) => name);
		for (const { path, needs } of skills) {
			const skill = inspections.get(path)?.skill;
			if (needs && skill) needs.skills = context.siblingsOf(skill, beside);
		}
		if (skills.length === 0) {
			throw new AppError('invalid_input', 'No skill found. A skill is a folder with a SKILL.md.');
		}
		const id = randomUUID();
		const made = (times: Pick<StagedInstall, 'createdAt' | 'expiresAt'>) => {
			return { shown: { id, ...times, skills, notes: [...new Set(notes)] }, folder, inspections };
		};
		return await stagedInstalls.add(id, made, { isShown });
	} catch (error) {
		await folder.remove().catch((failure: unknown) => {
			context.log.error({ error: String(failure) }, 'couldn’t remove a staging folder; the next start will');
		});
		throw diskError(error);
	}
}

/** Skill folders without those inside another skill. */
async function foldersOf({ folders }: FetchedSkills, { dir }: StagingFolder): Promise<string[]> {
	const all = [...new Set(folders ?? (await findSkillFolders(dir)))].sort();
	return all.filter((path) => !all.some((above) => above !== path && (above === '' || path.startsWith(`${above}/`))));
}

async function describe(
	{ shown, kept, skill }: Inspection,
	{ path, name }: Pick<StagedSkill, 'path' | 'name'>,
	{
		context,
		owner,
		fetched,
		isShown
	}: Pick<StageRequest, 'owner' | 'isShown'> & { context: InstallContext; fetched: FetchedSkills }
): Promise<StagedSkill> {
	const { version, digest } = shown;
	const origin = fetched.originOf(path);
	const { source } = context.places.rootOf(owner);
	const other = await installedLike(context, `${source}/${name}`, version);
	const content = other && other.digest !== digest ? await readFolder(other.dir) : null;
	return {
		...shown,
		path,
		name,
		origin,
		installed: other && {
			skillId: other.skillId,
			version: other.version,
			isSameVersion: other.version === version,
			isSameOrigin: isSameOrigin(origin, other.origin)
		},
		changes: content ? await changesOf(await keptFiles(content), kept) : null,
		audit: fetched.audits?.get(path) ?? null,
		needs: isShown && skill ? await context.needsOf(skill) : null
	};
}

/** The same version, else the one in use, else the newest. */
async function installedLike(
	context: InstallContext,
	skillId: string,
	version: string | null
): Promise<InstallRecord | null> {
	const rows = (await installationsOf(context, skillId)).filter(({ state }) => state === 'active');
	return rows.find((row) => row.version === version) ?? usedInstallation(context, rows) ?? null;
}

async function warningsFor(context: InstallContext, owner: string, skill: StagedSkill): Promise<string[]> {
	const { name, version, installed, status, changes } = skill;
	if (status === 'broken') return [];
	const { source } = context.places.rootOf(owner);
	const skillId = `${source}/${name}`;
	const notes: string[] = [];
	// The same files are the same skill, wherever they come from.
	if (installed && !installed.isSameOrigin && changes !== null) {
		notes.push(`“${name}” is installed from another source. This may be a different skill with the same name.`);
	}
	if (!installed?.isSameOrigin && (await hasSecrets(context, skillId))) {
		notes.push(
			`Secrets and network access of the installed “${name}” will be removed, because they were given to a different skill.`
		);
	}
	if (!installed && inLibrary(context, skillId).some((other) => other.version === version)) {
		notes.push(
			`“${name}” ${version ?? ''} is already in the folder of installed skills. Someone put it there by hand.`
		);
	}
	return notes;
}

/** Drops texts beyond `room` characters. */
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
