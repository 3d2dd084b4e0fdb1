/** Whether the scripts of a skill may run without being asked about, and who said so: trust is given to a digest of all its files (FEATURES F4, E30). */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { AppError } from '../../shared/errors.ts';
import type { SkillDetail, SkillFile, SkillFileChange, TrustState } from '../../shared/skills.ts';
import { compareNames, isInside } from '../skills/read/files.ts';
import { createPace } from '../skills/read/lean.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import { digestOfFolder } from '../skills/read/skill-tree.ts';
import type { Skill } from '../skills/types.ts';
import type { TrustedFile, TrustedSkills } from '../store/skills/choices.ts';
import { type FolderContent, marksOf, readFolder } from './folder.ts';
import { scanFiles } from './scan/scan.ts';

/** Texts longer than this are neither shown nor kept. */
const MAX_TEXT = 256 * 1024;
/** Of all texts of a skill together. */
const MAX_TEXTS = 2 * 1024 * 1024;
const MAX_CACHED = 1000;
const SLICE_MS = 4;

/** What trust needs to know of a skill. */
export type TrustSubject = Pick<Skill, 'source' | 'name' | 'root' | 'dir'> & { version?: string };

export interface Judgement {
	state: TrustState;
	/** SHA-256 of all its files; null where nobody needed it, or where not all can be read. */
	digest: string | null;
	/** Why it cannot be looked at as a whole, and so not be trusted. */
	problem: string | null;
}

export interface Trust {
	/** For a decision to run: reads every file of a skill that is not trusted by its place. */
	judge(skill: TrustSubject): Promise<Judgement>;
	/** SHA-256 of all its files as they are now, also where they are too many to be looked at; empty where they are too many to be run. */
	digestOf(skill: TrustSubject): Promise<string>;
	/** For a list, in its order; files that look unchanged by `lstat` are not read again. */
	statesOf(skills: readonly TrustSubject[]): Promise<TrustState[]>;
	/** Everything that somebody looks at before saying that they trust it. */
	review(skill: TrustSubject): Promise<Review>;
	/**
	 * Trusts the files that have this digest.
	 * @throws AppError `conflict` when they are others by now, `too_large` when they cannot be looked at as a whole
	 */
	trust(skill: TrustSubject, digest: string, now: string): Promise<void>;
	/** @throws AppError `conflict` for a skill that is trusted by its place */
	revoke(skill: TrustSubject): Promise<void>;
}

export type Review = Pick<SkillDetail, 'trust' | 'isTrustedByPlace' | 'digest' | 'files' | 'findings' | 'changes'>;

export interface TrustOptions {
	store: { trustedSkills: TrustedSkills };
	/** Folders whose skills are trusted by their place. */
	roots: readonly string[];
	/** These count where they really lie in this folder; wherever they lie without it. */
	projectDir?: string | null;
	/** Where skills lie that came in through the app; nothing in it is trusted by its place. */
	installedRoot: string;
	/** Are skills in the other configured folders trusted? */
	trustsLocal: boolean;
}

export function createTrust(options: TrustOptions): Trust {
	const { store, roots, projectDir = null, installedRoot, trustsLocal } = options;
	const { trustedSkills } = store;
	const installed = resolve(installedRoot);
	const local = new Set(roots.map((root) => resolve(root)).filter((root) => root !== installed));
	const cache = new Map<string, { marks: string; digest: string }>();

	/** Which of them the operator put there, who could change this server as well; by real path, so that no link or overlap counts. */
	const areTrustedByPlace = async (skills: readonly TrustSubject[]): Promise<boolean[]> => {
		const isLocal = skills.map(({ root }) => trustsLocal && local.has(resolve(root)));
		if (!isLocal.includes(true)) return isLocal;
		const [notHere, project, ...found] = await Promise.all([installed, projectDir ?? '', ...local].map(real));
		const places = found.filter((place) => projectDir === null || isInside(project ?? '', place));
		// At once: on a busy server each wait for the disk is a wait for everybody's turn.
		return Promise.all(
			skills.map(async ({ dir }, index) => {
				if (isLocal[index] !== true) return false;
				const path = await real(dir);
				return !isInside(notHere ?? installed, path) && places.some((place) => isInside(place, path));
			})
		);
	};
	const isTrustedByPlace = async (skill: TrustSubject): Promise<boolean> =>
		(await areTrustedByPlace([skill]))[0] === true;
	/** Trust is of files: those of any version that somebody has looked at. */
	const stateFor = (digest: string | null, trusted: readonly string[]): TrustState => {
		if (trusted.length === 0) return 'untrusted';
		return digest !== null && trusted.includes(digest) ? 'trusted' : 'changed';
	};
	/** The digest as it was, as long as nothing in the folder looks newer. */
	const digestForList = async (dir: string): Promise<string | null> => {
		const marks = await marksOf(dir);
		const known = cache.get(dir);
		if (marks !== null && known?.marks === marks) return known.digest;
		const { digest } = await readFolder(dir);
		cache.delete(dir);
		const [oldest] = cache.keys();
		if (oldest !== undefined && cache.size >= MAX_CACHED) cache.delete(oldest);
		if (marks !== null && digest !== null) cache.set(dir, { marks, digest });
		return digest;
	};

	return {
		async judge(skill) {
			if (await isTrustedByPlace(skill)) return { state: 'trusted', digest: null, problem: null };
			const { digest, problem } = await readFolder(skill.dir);
			const trusted = await trustedSkills.digestsOf(skillIdOf(skill));
			return { state: stateFor(digest, trusted), digest, problem };
		},

		digestOf: async ({ dir }) => (await readFolder(dir)).digest ?? (await digestOfFolder(dir)) ?? '',

		async statesOf(skills) {
			const states: TrustState[] = [];
			let digests: Map<string, string[]> | null = null;
			const byPlace = await areTrustedByPlace(skills);
			for (const [index, skill] of skills.entries()) {
				if (byPlace[index]) {
					states.push('trusted');
					continue;
				}
				digests ??= await trustedSkills.digests();
				const trusted = digests.get(skillIdOf(skill));
				states.push(trusted ? stateFor(await digestForList(skill.dir), trusted) : 'untrusted');
			}
			return states;
		},

		async review(skill) {
			const isLocal = await isTrustedByPlace(skill);
			const content = await readFolder(skill.dir);
			const skillId = skillIdOf(skill);
			const trusted = isLocal ? null : await trustedSkills.get(skillId, skill.version ?? '');
			const digests = isLocal ? [] : await trustedSkills.digestsOf(skillId);
			const kept = await keptFiles(content);
			const state = isLocal ? 'trusted' : stateFor(content.digest, digests);
			return {
				trust: state,
				isTrustedByPlace: isLocal,
				digest: content.digest ?? '',
				files: kept.map(({ path, text }, index): SkillFile => {
					return { path, bytes: content.files[index]?.bytes ?? 0, text };
				}),
				findings: await scanFiles(content),
				changes: trusted && state === 'changed' ? await changesOf(trusted.files, kept) : null
			};
		},

		async trust(skill, digest, now) {
			if (await isTrustedByPlace(skill)) return;
			const content = await readFolder(skill.dir);
			if (content.digest === null) {
				throw new AppError('too_large', content.problem ?? 'Couldn’t read the folder.', {
					hint: 'Delete files that the skill doesn’t need, then check it again.'
				});
			}
			if (content.digest !== digest) {
				throw new AppError('conflict', `The files of “${skill.name}” changed since you checked them.`, {
					hint: 'Check them again.'
				});
			}
			const { version = '' } = skill;
			await trustedSkills.put(skillIdOf(skill), { version, digest, files: await keptFiles(content), trustedAt: now });
		},

		async revoke(skill) {
			if (await isTrustedByPlace(skill)) {
				throw new AppError('conflict', `“${skill.name}” is in one of your skill folders, so it’s already trusted.`, {
					hint: 'Set SKILLS_TRUST_LOCAL=ask to be asked about such skills too, or turn the skill off.'
				});
			}
			const { digest } = await readFolder(skill.dir);
			await trustedSkills.remove(skillIdOf(skill), { version: skill.version ?? '', digest: digest ?? '' });
		}
	};
}

/** The files with the texts that are short enough to be shown; of a link, where it leads to. */
export async function keptFiles({ files }: FolderContent): Promise<TrustedFile[]> {
	const pace = createPace(SLICE_MS);
	const kept: TrustedFile[] = [];
	let room = MAX_TEXTS;
	for (const { path, kind, sha256, text, isCut } of files) {
		await pace();
		const shown = text !== null && kind === 'link' ? `→ ${text}` : text;
		const fits = shown !== null && !isCut && shown.length <= Math.min(room, MAX_TEXT);
		if (fits) room -= shown.length;
		kept.push({ path, sha256, text: fits ? shown : null });
	}
	return kept;
}

/** What is different, by path; the same files twice are no change. */
export async function changesOf(before: readonly TrustedFile[], after: readonly TrustedFile[]) {
	const pace = createPace(SLICE_MS);
	const [then, now] = [before, after].map((files) => new Map(files.map((file) => [file.path, file])));
	const changes = [];
	for (const path of pathsOf(before, after)) {
		await pace();
		const change = changeOf(then?.get(path) ?? null, now?.get(path) ?? null);
		if (change) changes.push(change);
	}
	return changes;
}

/** Without the links on its way; as it is where nothing is. */
function real(path: string): Promise<string> {
	return realpath(path).catch(() => path);
}

// What is different in a skill's files since they were trusted; pure (FEATURES F4).

/** Texts with more differences than this are shown as wholly replaced: looking for the fewest would take too long. */
const MAX_EDITS = 400;

/** Of one file; `null` where it is not there. */
function changeOf(before: TrustedFile | null, after: TrustedFile | null): SkillFileChange | null {
	const path = (after ?? before)?.path;
	if (path === undefined) return null;
	// A file that holds the path that a link led to has the bytes of the link, and another text.
	const isSameText = before?.text === after?.text || before?.text === null || after?.text === null;
	if (before?.sha256 === after?.sha256 && isSameText) return null;
	const kind = before === null ? 'added' : after === null ? 'removed' : 'changed';
	const isText = before?.text !== null && after?.text !== null;
	return { path, kind, diff: isText ? diffOf(path, before?.text ?? '', after?.text ?? '') : null };
}

/** The paths of both, each once, sorted. */
function pathsOf(before: readonly TrustedFile[], after: readonly TrustedFile[]): string[] {
	return [...new Set([...before, ...after].map(({ path }) => path))].sort(compareNames);
}

function diffOf(path: string, before: string, after: string): string {
	const options = { context: 3, maxEditLength: MAX_EDITS };
	const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, options);
	if (patch !== undefined) return patch.replace(/^(?:Index: .*\n)?=+\n/, '');
	const lines = (text: string) => text.replace(/\n$/, '').split('\n');
	const [removed, added] = [lines(before), lines(after)];
	return [
		`--- ${path}`,
		`+++ ${path}`,
		`@@ -1,${removed.length} +1,${added.length} @@`,
		...removed.map((line) => `-${line}`),
		...added.map((line) => `+${line}`),
		''
	].join('\n');
}
