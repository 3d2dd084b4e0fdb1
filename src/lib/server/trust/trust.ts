/** Decides whether a skill's scripts may run without asking. Trust is in a digest of all its files (F4, E30). */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { AppError } from '../../shared/errors.ts';
import type {
	FileChanges,
	SkillDetail,
	SkillFile,
	SkillFileChange,
	SkillFinding,
	TrustState
} from '../../shared/skills.ts';
import { compareNames, isInside } from '../skills/read/files.ts';
import { createPace } from '../skills/read/lean.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import { digestOfFolder } from '../skills/read/skill-tree.ts';
import type { Skill } from '../skills/types.ts';
import type { TrustedFile, TrustedSkills } from '../store/skills/choices.ts';
import { type FolderContent, marksOf, readFolder } from './folder.ts';
import { scanFiles } from './scan/scan.ts';

/** Longer texts are neither shown nor stored. */
const MAX_TEXT = 256 * 1024;
/** For all texts of a skill together. */
const MAX_TEXTS = 2 * 1024 * 1024;
const MAX_CACHED = 1000;
/** Skills whose risks are counted for lists; beyond them, a list shows none. */
const MAX_COUNTED = 1000;
/** A list that is read again and again looks at the folders at most this often. */
const RECOUNT_MS = 500;
const SLICE_MS = 4;
/** Stored in place of a digest: someone wants to be asked, though the skill's location is trusted. */
const ASK = '';

export type TrustSubject = Pick<Skill, 'source' | 'name' | 'root' | 'dir'> & { version?: string };

export interface Judgement {
	state: TrustState;
	/** SHA-256 of all its files; null if it isn't needed or not all can be read. */
	digest: string | null;
	/** Why it can't be checked completely, and so not be trusted. */
	problem: string | null;
}

export interface Trust {
	/** For a decision to run: reads every file of a skill that isn't trusted by its location. */
	judge(skill: TrustSubject): Promise<Judgement>;
	/** SHA-256 of all its current files, even if they are too many to check; empty if they are too many to run. */
	digestOf(skill: TrustSubject): Promise<string>;
	/** For a list, in order; doesn't read files again that look unchanged by `lstat`. */
	statesOf(skills: readonly TrustSubject[]): Promise<TrustState[]>;
	/**
	 * Serious findings as last counted; null if they never were. For a list: counts them again later, one skill at a time,
	 * and calls `onRisks` if that changes anything.
	 */
	risksOf(skill: TrustSubject): number | null;
	/** Everything to check before trusting a skill. */
	review(skill: TrustSubject): Promise<Review>;
	/**
	 * Trusts the files with this digest.
	 * @throws AppError `conflict` if they changed, `too_large` if they can't be checked completely
	 */
	trust(skill: TrustSubject, digest: string, now: string): Promise<void>;
	/** Trusts files that a return brought back as they were, if `wasTrusted` knows their digest and this version is still trusted. */
	trustAgain(skill: TrustSubject, wasTrusted: (digest: string) => Promise<boolean>, now: string): Promise<void>;
	/** Asks each time from now on, even for a skill in a trusted location. */
	revoke(skill: TrustSubject): Promise<void>;
}

export type Review = Pick<SkillDetail, 'trust' | 'isTrustedByPlace' | 'digest' | 'files' | 'findings' | 'changes'>;

export interface TrustOptions {
	store: { trustedSkills: TrustedSkills };
	/** Folders whose skills are trusted by their location. */
	roots: readonly string[];
	/** These must really be inside this folder, if there is one. */
	projectDir?: string | null;
	/** Folder of skills installed through the app; none of them is trusted by its location. */
	installedRoot: string;
	/** Trusts skills in the other configured folders. */
	trustsLocal: boolean;
	onRisks?: () => void;
}

export function createTrust(options: TrustOptions): Trust {
	const { store, roots, projectDir = null, installedRoot, trustsLocal } = options;
	const { trustedSkills } = store;
	const installed = resolve(installedRoot);
	const local = new Set(roots.map((root) => resolve(root)).filter((root) => root !== installed));
	const cache = new Map<string, { marks: string; digest: string }>();
	const listedPaths = new WeakMap<TrustSubject, Promise<string>>();
	/** Findings by digest. */
	const scanned = new Map<string, SkillFinding[]>();
	const counted = new Map<string, { marks: string | null; risks: number }>();
	const uncounted = new Set<string>();
	let isDue = false;

	/**
	 * Skills the operator put there, who could change this server too. Compares real paths, so that links and overlaps
	 * don't count.
	 */
	const areInTrustedPlace = async (
		skills: readonly TrustSubject[],
		pathOf = ({ dir }: TrustSubject): Promise<string> => real(dir)
	): Promise<boolean[]> => {
		const isLocal = skills.map(({ root }) => trustsLocal && local.has(resolve(root)));
		if (!isLocal.includes(true)) return isLocal;
		const [notHere, project, ...found] = await Promise.all([installed, projectDir ?? '', ...local].map(real));
		const places = found.filter((place) => projectDir === null || isInside(project ?? '', place));
		// In parallel, because waits for the disk add up on a busy server.
		return Promise.all(
			skills.map(async (skill, index) => {
				if (isLocal[index] !== true) return false;
				const path = await pathOf(skill);
				return !isInside(notHere ?? installed, path) && places.some((place) => isInside(place, path));
			})
		);
	};
	/** For a list, looked up once for each skill that was found: before it runs, it's looked up anew. */
	const listedPath = (skill: TrustSubject): Promise<string> => {
		const path = listedPaths.get(skill) ?? real(skill.dir);
		listedPaths.set(skill, path);
		return path;
	};
	const isInTrustedPlace = async (skill: TrustSubject): Promise<boolean> =>
		(await areInTrustedPlace([skill]))[0] === true;
	const isTrustedByPlace = async (skill: TrustSubject): Promise<boolean> =>
		(await isInTrustedPlace(skill)) && !(await trustedSkills.digestsOf(skillIdOf(skill))).includes(ASK);
	/** Trust is in files, of any version that somebody has checked. */
	const stateFor = (digest: string | null, trusted: readonly string[]): TrustState => {
		if (trusted.every((each) => each === ASK)) return 'untrusted';
		return digest !== null && trusted.includes(digest) ? 'trusted' : 'changed';
	};
	/** The cached digest, as long as nothing in the folder looks newer. */
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

	/** A large skill takes half a second. */
	const findingsIn = async (content: FolderContent): Promise<SkillFinding[]> => {
		const key = content.digest ?? '';
		const findings = scanned.get(key) ?? (await scanFiles(content));
		scanned.delete(key);
		const [oldest] = scanned.keys();
		if (oldest !== undefined && scanned.size >= MAX_CACHED) scanned.delete(oldest);
		if (key !== '') scanned.set(key, findings);
		return findings;
	};

	const countRisks = async (): Promise<void> => {
		let isNew = false;
		for (const dir of uncounted) {
			// Before it is read: a change of it that is noticed meanwhile counts again.
			uncounted.delete(dir);
			const marks = await marksOf(dir);
			const known = counted.get(dir);
			if (marks === null || known?.marks !== marks) {
				const risks = countDangers(await findingsIn(await readFolder(dir)));
				isNew ||= known?.risks !== risks;
				counted.set(dir, { marks, risks });
			}
		}
		isDue = false;
		if (isNew) options.onRisks?.();
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
			const digests = await trustedSkills.digests();
			const inPlace = await areInTrustedPlace(skills, listedPath);
			for (const [index, skill] of skills.entries()) {
				const trusted = digests.get(skillIdOf(skill));
				if (inPlace[index] && !trusted?.includes(ASK)) {
					states.push('trusted');
					continue;
				}
				states.push(trusted ? stateFor(await digestForList(skill.dir), trusted) : 'untrusted');
			}
			return states;
		},

		risksOf({ dir }) {
			const known = counted.get(dir);
			if (known || counted.size + uncounted.size < MAX_COUNTED) uncounted.add(dir);
			if (!isDue) setTimeout(() => void countRisks(), known ? RECOUNT_MS : 0).unref();
			isDue = true;
			return known?.risks ?? null;
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
				findings: await findingsIn(content),
				changes: trusted && state === 'changed' ? await changesOf(trusted.files, kept) : null
			};
		},

		async trust(skill, digest, now) {
			if (await isInTrustedPlace(skill)) {
				await trustedSkills.remove(skillIdOf(skill), { version: ASK, digest: ASK });
				return;
			}
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

		async trustAgain(skill, wasTrusted, now) {
			const { version = '' } = skill;
			const content = await readFolder(skill.dir);
			const known = await trustedSkills.get(skillIdOf(skill), version);
			if (content.digest === null || known?.version !== version || known.digest === ASK) return;
			if (known.digest === content.digest || !(await wasTrusted(content.digest))) return;
			const { digest } = content;
			await trustedSkills.put(skillIdOf(skill), { version, digest, files: await keptFiles(content), trustedAt: now });
		},

		async revoke(skill) {
			if (await isInTrustedPlace(skill)) {
				await trustedSkills.remove(skillIdOf(skill));
				const mark = { version: ASK, digest: ASK, files: [], trustedAt: new Date().toISOString() };
				await trustedSkills.put(skillIdOf(skill), mark);
				return;
			}
			const { digest } = await readFolder(skill.dir);
			await trustedSkills.remove(skillIdOf(skill), { version: skill.version ?? '', digest: digest ?? '' });
		}
	};
}

const countDangers = (findings: readonly SkillFinding[]): number =>
	findings.filter(({ severity }) => severity === 'danger').length;

/** The files, with texts that are short enough to show; for a link, its target. */
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

/** The changed files, by path. */
export async function changesOf(before: readonly TrustedFile[], after: readonly TrustedFile[]) {
	const pace = createPace(SLICE_MS);
	const [then, now] = [before, after].map((files) => new Map(files.map((file) => [file.path, file])));
	const changes = [];
	for (const path of [...new Set([...before, ...after].map((file) => file.path))].sort(compareNames)) {
		await pace();
		const change = changeOf(then?.get(path) ?? null, now?.get(path) ?? null);
		if (change) changes.push(change);
	}
	return changes;
}

/** In short: which files, and how many lines. */
export function briefly(changes: readonly SkillFileChange[]): FileChanges {
	const files = changes.map(({ path, kind }) => ({ path, kind }));
	const lines = changes.map(({ diff }) => diff?.slice(diff.indexOf('\n@@')).split('\n'));
	const count = (sign: string) =>
		lines.reduce((sum, each = []) => sum + each.filter((line) => line.startsWith(sign)).length, 0);
	return { files, lines: lines.includes(undefined) ? null : { added: count('+'), removed: count('-') } };
}

/** The real path, or the path itself if there is nothing. */
function real(path: string): Promise<string> {
	return realpath(path).catch(() => path);
}

// Differences in a skill's files since they were trusted; pure (F4).

/** Texts with more edits are shown as replaced, because finding the shortest diff would take too long. */
const MAX_EDITS = 400;

/** The change of one file; null means that it doesn't exist. */
function changeOf(before: TrustedFile | null, after: TrustedFile | null): SkillFileChange | null {
	const path = (after ?? before)?.path;
	if (path === undefined) return null;
	// A file that contains a link's target has the same bytes as the link, but another text.
	const isSameText = before?.text === after?.text || before?.text === null || after?.text === null;
	if (before?.sha256 === after?.sha256 && isSameText) return null;
	const kind = before === null ? 'added' : after === null ? 'removed' : 'changed';
	const isText = before?.text !== null && after?.text !== null;
	return { path, kind, diff: isText ? diffOf(path, before?.text ?? '', after?.text ?? '') : null };
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
