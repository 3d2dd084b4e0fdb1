/** Versions of a skill: which one a bare name means, switching, rollback, and deleting all but the last three (A38, E28). */
import { rename, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compare } from 'semver';
import { AppError } from '../../shared/errors.ts';
import type { SkillVersions, VersionSwitch } from '../../shared/install.ts';
import type { SkillFileChange } from '../../shared/skills.ts';
import { ignoring, isThere } from '../foreign-folders.ts';
import { problemIn } from '../skills/doctor/doctor.ts';
import { statesVersion } from '../skills/read/skill-loader.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { InstallRecord } from '../store/skills/installs.ts';
import { briefly, changesOf } from '../trust/trust.ts';
import { inLibrary, installationsOf, installedOf, removeQuietly, type InstallContext } from './install-context.ts';
import type { InstallSubject } from './catalog-installer.ts';
import { currentFiles } from './inspection.ts';
import { placeAll } from './placing.ts';
import { onDisk } from './staging-folder.ts';

/** Installations kept per skill, including the one in use. */
const KEPT = 3;

/** The version that the bare name means; null while all are off. */
function versionInUse(context: Pick<InstallContext, 'registry' | 'modes'>, skillId: string): string | null {
	const enabled = inLibrary(context, skillId).filter((skill) => context.modes.modeOf(skill) !== 'off');
	const pinned = context.modes.pinOf(skillId);
	const versions = enabled.map(({ version }) => version).sort((a, b) => compare(b, a));
	return versions.find((version) => version === pinned) ?? versions[0] ?? null;
}

/** The installation in use, else the newest. `rows` are those of one skill, newest first. */
export function usedInstallation(
	context: Pick<InstallContext, 'registry' | 'modes'>,
	rows: readonly InstallRecord[]
): InstallRecord | undefined {
	const used = rows[0] && versionInUse(context, rows[0].skillId);
	return rows.find(({ version }) => version === used) ?? rows[0];
}

export async function versionsOf(context: InstallContext, skill: InstallSubject): Promise<SkillVersions> {
	const skillId = skillIdOf(skill);
	const rows = await installationsOf(context, skillId);
	const found = inLibrary(context, skillId);
	const modeOf = (version: string) => context.modes.modeOf({ ...skill, version });
	const files = new Map<InstallRecord, Awaited<ReturnType<typeof currentFiles>>>();
	for (const row of rows) if (await isThere(row.dir)) files.set(row, await onDisk(currentFiles(row.dir)));
	const isEdited = (row: InstallRecord): boolean => files.has(row) && files.get(row)?.digest !== row.digest;
	const linesOf = async (row: InstallRecord, index: number) => {
		const before = rows.find(({ id }) => id === row.origin.base) ?? rows[index + 1];
		const [then, now] = [before && files.get(before), files.get(row)];
		if (!before || !then || !now || isEdited(before) || isEdited(row)) return undefined;
		return briefly(await changesOf(then.kept, now.kept)).lines;
	};
	const lines = await Promise.all(rows.map(linesOf));
	const installed = rows.map((row, index) => {
		const skillMd = files.get(row)?.kept.find(({ path }) => path === 'SKILL.md')?.text;
		const listed = row.state === 'active' ? found.find(({ dir }) => dir === row.dir) : undefined;
		const id = listed ? `${skillId}@${row.version}` : null;
		return {
			...(listed && { statesVersion: statesVersion(listed) }),
			...{ version: row.version, id, mode: modeOf(row.version), installation: installedOf(row) },
			isEdited: isEdited(row),
			...(skillMd && { problem: problemIn(skillMd, row.dir) }),
			...(lines[index] && { lines: lines[index] })
		};
	});
	const local = found
		.filter(({ dir }) => !rows.some((row) => row.dir === dir))
		.sort((a, b) => compare(b.version, a.version))
		.map(({ version, extra, metadata }) => ({
			version,
			statesVersion: statesVersion({ extra, metadata }),
			id: `${skillId}@${version}`,
			mode: modeOf(version),
			installation: null,
			isEdited: false
		}));
	return {
		current: versionInUse(context, skillId),
		pinned: context.modes.pinOf(skillId),
		versions: [...installed, ...local]
	};
}

/**
 * What using that one would change, by file; `wanted` is a version or the id of an installation.
 * @throws AppError `not_found`, `unavailable` if another server has its files
 */
export async function compareVersions(
	context: InstallContext,
	skill: InstallSubject,
	wanted: string
): Promise<SkillFileChange[]> {
	const skillId = skillIdOf(skill);
	const rows = await installationsOf(context, skillId);
	const inUse = versionInUse(context, skillId) ?? skill.version;
	const dirOf = (version: string) => inLibrary(context, skillId).find((each) => each.version === version)?.dir;
	const sides = [dirOf(inUse), rows.find(({ id }) => id === wanted)?.dir ?? dirOf(wanted)];
	const [before, after] = await Promise.all(
		sides.map(async (dir) => {
			if (dir === undefined) throw new AppError('not_found', `“${skill.name}” has no such version.`);
			if (await isThere(dir)) return (await onDisk(currentFiles(dir))).kept;
			throw new AppError('unavailable', `The files of this version of “${skill.name}” aren’t on this server.`);
		})
	);
	return changesOf(before ?? [], after ?? []);
}

/** Pins a version; an installation only if a newer version would be used instead. @throws AppError `not_found` */
export async function useVersion(
	context: InstallContext,
	skill: InstallSubject,
	wanted: VersionSwitch['use']
): Promise<void> {
	const { modes } = context;
	const skillId = skillIdOf(skill);
	if (wanted === null) return modes.setPin(skillId, null);
	const rows = await installationsOf(context, skillId);
	const isWanted = (row: InstallRecord) =>
		'version' in wanted ? row.version === wanted.version : row.id === wanted.installationId;
	const listed = 'version' in wanted && inLibrary(context, skillId).find(({ version }) => version === wanted.version);
	const row = rows.find((each) => isWanted(each) && each.state === 'active') ?? rows.find(isWanted);
	const version = row?.version ?? (listed ? listed.version : null);
	if (version === null) throw new AppError('not_found', `“${skill.name}” has no such version.`);
	if (row?.state === 'kept') await swapIn(context, row, rows);
	await modes.setEnabled({ source: skill.source, name: skill.name, version }, true);
	const others = inLibrary(context, skillId).filter((other) => modes.modeOf(other) !== 'off');
	const isNewest = others.every((other) => compare(other.version, version) <= 0);
	await modes.setPin(skillId, 'installationId' in wanted && isNewest ? null : version);
}

/** @throws AppError `conflict` without an earlier one */
export async function rollBack(context: InstallContext, skill: InstallSubject): Promise<void> {
	const skillId = skillIdOf(skill);
	const rows = await installationsOf(context, skillId);
	const used = versionInUse(context, skillId);
	const at = rows.findIndex(({ state, version }) => state === 'active' && (used === null || version === used));
	const before = at < 0 ? undefined : rows[at + 1];
	if (!before) throw new AppError('conflict', `“${skill.name}” has no earlier version to go back to.`);
	await useVersion(context, skill, { installationId: before.id });
}

/** Moves a kept installation into the library; keeps the one it replaces. */
async function swapIn(context: InstallContext, row: InstallRecord, rows: readonly InstallRecord[]): Promise<void> {
	const { places } = context;
	const active = rows.filter(({ state }) => state === 'active');
	await placeAll(context, [
		{
			record: { ...row, dir: places.placeOf(row.owner, row.name, row.version) },
			from: row.dir,
			before: row,
			replaced: active.find(({ version }) => version === row.version) ?? null,
			used: usedInstallation(context, active) ?? null
		}
	]);
}

/** Permanently deletes all but the last three; never the newest, the one in use or a pinned one. */
export async function deleteOldest(context: InstallContext, skillId: string): Promise<void> {
	const rows = await installationsOf(context, skillId);
	const [used, pinned] = [versionInUse(context, skillId), context.modes.pinOf(skillId)];
	const needed = rows.filter(
		({ state, version }, index) => index === 0 || (state === 'active' && (version === used || version === pinned))
	);
	const others = rows.filter((row) => !needed.includes(row));
	const kept = [...needed, ...others.slice(0, Math.max(0, KEPT - needed.length))];
	for (const row of rows.filter((each) => !kept.includes(each))) {
		await deleteForGood(context, row);
		const { version, digest } = row;
		if (kept.some((other) => other.version === version)) continue;
		await context.modes.forget(skillId, version);
		await context.store.trustedSkills.remove(skillId, { version, digest });
	}
}

/** Moves the folder away at once, then deletes it. */
async function deleteForGood(context: InstallContext, { id, dir }: InstallRecord): Promise<void> {
	const { places, store } = context;
	const gone = join(places.staging, id);
	await mkdir(places.staging, { recursive: true });
	await rename(dir, gone).catch(ignoring('ENOENT'));
	await store.skillInstalls.remove(id);
	await removeQuietly(gone, context);
	await removeQuietly(places.editsOf(dir), context);
}
