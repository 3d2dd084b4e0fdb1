/** Confirms a staged install: which skills, under which names, replacing which (E5, E20, A38, A41). */
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import type { InstallConfirm, StagedSkill } from '../../shared/install.ts';
import type { InstallRecord } from '../store/skills/installs.ts';
import { ignoring, isThere } from '../foreign-folders.ts';
import { currentFiles, type Inspection, inspectSkill } from './inspection.ts';
import { inLibrary, installationsOf, type InstallContext, timeOf } from './install-context.ts';
import { placeAll, type Placement } from './placing.ts';
import type { Staged } from './staging.ts';
import { usedInstallation } from './versions.ts';

interface Plan {
	placements: Placement[];
	skipped: string[];
	/** Restores the files changed in the staging folder. */
	undo: (() => Promise<void>)[];
}

/** Places every chosen skill, or none. @throws AppError as `Installer.confirm` */
export async function placeStaged(
	context: InstallContext,
	staged: Staged,
	choice: InstallConfirm
): Promise<{ records: InstallRecord[]; skipped: string[] }> {
	const plan: Plan = { placements: [], skipped: [], undo: [] };
	try {
		const conflicts: string[] = [];
		for (const skill of chosenOf(staged, choice.paths)) {
			const conflict = await addTo(plan, skill, { context, staged, choice });
			if (conflict !== null) conflicts.push(conflict);
		}
		if (conflicts.length > 0) throw identityExists(conflicts);
		await withModes(context, plan.placements, choice.enabled, () => placeAll(context, plan.placements));
	} catch (error) {
		for (const step of plan.undo) await step();
		throw error;
	}
	return { records: plan.placements.map(({ record }) => record), skipped: plan.skipped };
}

function chosenOf({ shown }: Staged, paths: readonly string[] | undefined): StagedSkill[] {
	const chosen = shown.skills.filter((skill) => (paths ? paths.includes(skill.path) : skill.status === 'ready'));
	const unknown = paths?.find((path) => !chosen.some((skill) => skill.path === path));
	if (unknown !== undefined) throw refused(`paths: no staged skill at “${unknown.slice(0, 200)}”`);
	const broken = (paths ? chosen : shown.skills).find(({ status }) => status === 'broken');
	if (broken && (paths || chosen.length === 0)) {
		const issue = broken.diagnostics.find(({ severity }) => severity === 'error');
		const reason = issue ? `${issue.field === '_' ? '' : `${issue.field} `}${issue.message}` : 'it’s broken';
		throw refused(`Couldn’t install “${broken.name}”: ${reason}`);
	}
	return chosen;
}

interface Surroundings {
	context: InstallContext;
	staged: Staged;
	choice: InstallConfirm;
}

/** @returns the identity of an unwanted conflict */
async function addTo(plan: Plan, skill: StagedSkill, around: Surroundings): Promise<string | null> {
	const { context, staged, choice } = around;
	const inspection = staged.inspections.get(skill.path);
	const version = skill.version;
	if (!inspection || version === null) throw refused(`“${skill.name}” can’t be installed`);
	const { source } = context.places.rootOf(choice.apiKeyId);
	const skillId = `${source}/${skill.name}`;
	const identity = `${skill.name}@${version}`;
	const existing = await activeOf(context, skillId, version);
	const now = existing && (await currentFiles(existing.dir)).digest;
	if (now === skill.digest) {
		plan.skipped.push(identity);
		return null;
	}
	const isPlanned = plan.placements.some(({ record }) => record.skillId === skillId && record.version === version);
	const isByHand = !existing && inLibrary(context, skillId).some((other) => other.version === version);
	const isTaken = existing !== null || isPlanned || isByHand;
	if (isTaken && choice.conflict === 'skip') {
		plan.skipped.push(identity);
		return null;
	}
	if (isTaken && choice.conflict === 'rename') {
		const rows = await context.store.skillInstalls.list();
		const isUsed = (name: string) =>
			inLibrary(context, `${source}/${name}`).length > 0 ||
			[...rows, ...plan.placements.map(({ record }) => record)].some((row) => row.skillId === `${source}/${name}`);
		const name = freeName(skill.name, isUsed);
		const renamed = await renameSkill(join(staged.folder.dir, skill.path), name);
		plan.undo.push(renamed.undo);
		plan.placements.push(await placementOf(renamed.inspection, { ...around, skill, version, replaced: null }));
		return null;
	}
	if (isTaken && (choice.conflict === 'fail' || isPlanned || isByHand)) return identity;
	const compared = choice.compared?.[skill.path];
	if (now !== null && compared !== undefined && compared !== now) {
		throw new AppError('conflict', `“${skill.name}” was changed after you opened this review, so it wasn’t replaced.`, {
			hint: 'Look at what changes now, then replace it.'
		});
	}
	plan.placements.push(await placementOf(inspection, { ...around, skill, version, replaced: existing }));
	return null;
}

/** Forgets a row whose folder was deleted by hand. */
async function activeOf(context: InstallContext, skillId: string, version: string): Promise<InstallRecord | null> {
	const rows = await installationsOf(context, skillId);
	const active = rows.find((row) => row.state === 'active' && row.version === version);
	if (!active || (await isThere(active.dir))) return active ?? null;
	await context.store.skillInstalls.remove(active.id);
	return null;
}

async function placementOf(
	{ shown, files, computedHash, skill: made }: Inspection,
	around: Surroundings & { skill: StagedSkill; version: string; replaced: InstallRecord | null }
): Promise<Placement> {
	const { context, staged, choice, skill, version, replaced } = around;
	const { source } = context.places.rootOf(choice.apiKeyId);
	const skillId = `${source}/${shown.name}`;
	const active = (await installationsOf(context, skillId)).filter(({ state }) => state === 'active');
	return {
		record: {
			id: randomUUID(),
			skillId,
			name: shown.name,
			version,
			owner: choice.apiKeyId,
			state: 'active',
			dir: context.places.placeOf(choice.apiKeyId, shown.name, version),
			origin: skill.origin,
			digest: shown.digest,
			files,
			computedHash,
			installedAt: timeOf(context)
		},
		from: join(staged.folder.dir, skill.path),
		before: null,
		replaced,
		used: usedInstallation(context, active) ?? null,
		...(skill.origin.base !== undefined &&
			made && { hosts: (await context.needsOf(made)).hosts.map(({ name }) => name) })
	};
}

/** Sets the modes before the library sees the skills, so that none is on for a moment. */
async function withModes(
	{ modes, places }: InstallContext,
	placements: readonly Placement[],
	isEnabled: boolean,
	place: () => Promise<void>
): Promise<void> {
	const undo: (() => Promise<void>)[] = [];
	try {
		for (const { record, replaced } of placements) {
			const { skillId, name, version, owner } = record;
			const subject = { source: places.rootOf(owner).source, name, version };
			const before = modes.modeOf(subject);
			undo.push(() => (replaced ? modes.setMode(subject, before) : modes.forget(skillId, version)));
			// A new skill becomes `auto` when switched on, whatever the mode of an earlier one of this name.
			if (!replaced) await modes.setMode(subject, 'auto');
			await modes.setEnabled(subject, isEnabled);
		}
		await place();
	} catch (error) {
		for (const step of undo) await step();
		throw error;
	}
}

function refused(message: string): AppError {
	return new AppError('invalid_input', `${message}.`);
}

function identityExists(identities: readonly string[]): AppError {
	const other = identities.length === 1 ? 'another name' : 'other names';
	return new AppError('conflict', `Already installed: ${identities.map((one) => `“${one}”`).join(', ')}.`, {
		hint: `Set conflict to skip, overwrite, or rename with ${other}.`,
		details: { identities }
	});
}

// Renames a staged skill: the only case in which an installed skill differs from its source (E20).

const MAX_NAME = 64;

/** `pdf` → `pdf-2`, or the next free one. */
function freeName(name: string, isTaken: (name: string) => boolean): string {
	for (let count = 2; ; count += 1) {
		const suffix = `-${count}`;
		const candidate = `${name.slice(0, MAX_NAME - suffix.length).replace(/-+$/, '')}${suffix}`;
		if (!isTaken(candidate)) return candidate;
	}
}

/**
 * Writes the name into the front matter and inspects the skill again. `undo` restores the file.
 * @throws AppError `invalid_input` if the name can’t be replaced, such as one on several lines
 */
async function renameSkill(dir: string, name: string): Promise<{ inspection: Inspection; undo: () => Promise<void> }> {
	const path = join(dir, 'SKILL.md');
	const before = await readFile(path).catch(ignoring('ENOENT'));
	if (!before) throw refusal(name);
	const text = before.toString('latin1');
	// Latin-1 preserves bytes that aren’t UTF-8.
	const renamed = text.replace(
		/^((?:\xef\xbb\xbf)?---[ \t]*\r?\n(?:(?!---).*\r?\n)*?(?:name|skill)[ \t]*:[ \t]*)[^\r\n]*/,
		`$1${name}`
	);
	if (renamed === text) throw refusal(name);
	const undo = () => writeFile(path, before);
	await writeFile(path, Buffer.from(renamed, 'latin1'));
	const inspection = await inspectSkill(dir).catch(async (error: unknown) => {
		await undo();
		throw error;
	});
	if (inspection.shown.name === name && inspection.shown.status === 'ready') return { inspection, undo };
	await undo();
	throw refusal(name);
}

function refusal(name: string): AppError {
	const hint = 'Rename it at its source, or choose “overwrite”.';
	return new AppError('invalid_input', `Couldn’t rename this skill to “${name}” in its SKILL.md.`, { hint });
}
