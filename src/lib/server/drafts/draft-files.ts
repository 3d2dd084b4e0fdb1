/** The files of a draft: how they are shown, checked, compared, and handed to the installer (F8). */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { MAX_DRAFT_FILES, type SkillDraft } from '../../shared/drafts.ts';
import { AppError } from '../../shared/errors.ts';
import { isObject } from '../../shared/json.ts';
import { MAX_SKILL_FILE_BYTES } from '../../shared/names.ts';
import type { SkillDiagnostic } from '../../shared/skills.ts';
import type { Fetch } from '../install/catalog-installer.ts';
import { fetchFolder } from '../install/sources/upload.ts';
import { faultsIn } from '../install/inspection.ts';
import { createEntryNames, isLeftOut } from '../install/staging-folder.ts';
import { checkText } from '../skills/doctor/doctor.ts';
import { readFrontMatter } from '../skills/read/front-matter.ts';
import type { Skill } from '../skills/types.ts';
import type { TrustedFile } from '../store/skills/choices.ts';
import type { StoredFile } from '../store/skills/drafts.ts';
import { type FolderFile, readFolder } from '../trust/folder.ts';
import { keptFiles } from '../trust/trust.ts';
import type { Workspaces } from '../workspaces.ts';

const MAX_BYTES = 8 * 1024 * 1024;
const MAX_EARLIER = 20;
const MAX_EARLIER_CHARACTERS = 4 * 1024 * 1024;
const MAX_EXAMPLES = 5;
const MAX_EXAMPLE_BYTES = 1024 * 1024;

export function bytesOf({ content, encoding }: StoredFile): Buffer {
	return Buffer.from(content, encoding);
}

export function fileShown(file: StoredFile): SkillDraft['files'][number] {
	const isText = file.encoding === 'utf8';
	return { path: file.path, bytes: bytesOf(file).length, text: isText ? file.content : null };
}

/** @throws AppError `too_large`; `invalid_input` for a file's name, or two that differ only in case */
export function requireRoom(files: readonly StoredFile[]): void {
	const names = createEntryNames();
	for (const { path } of files) names.take(path, 'file');
	if (files.length > MAX_DRAFT_FILES) {
		throw new AppError('too_large', `A draft can have up to ${MAX_DRAFT_FILES} files.`);
	}
	const sizes = files.map((file) => bytesOf(file).length);
	if (sizes.some((bytes) => bytes > MAX_SKILL_FILE_BYTES) || sizes.reduce((sum, bytes) => sum + bytes, 0) > MAX_BYTES) {
		throw new AppError('too_large', 'A draft can have files of up to 2 MB, and 8 MB together.', {
			hint: 'Leave large files out; they can be added to the skill’s folder later.'
		});
	}
}

/** As many of what it was before as can be undone; all of it is written with each change. */
export function latestOf(earlier: readonly StoredFile[][]): StoredFile[][] {
	let room = MAX_EARLIER_CHARACTERS;
	const fits = (files: readonly StoredFile[]) => {
		room -= files.reduce((sum, { content }) => sum + content.length, 0);
		return room >= 0;
	};
	const last = earlier.slice(-MAX_EARLIER);
	const from = last.findLastIndex((files) => !fits(files)) + 1;
	// The last change can always be undone.
	return last.slice(Math.min(from, last.length - 1));
}

export function nameOf(files: readonly StoredFile[]): string {
	const front = frontOf(files);
	return typeof front.name === 'string' ? front.name.slice(0, 200) : '';
}

export function frontOf(files: readonly StoredFile[]): Record<string, unknown> {
	const front = readFrontMatter(files.find(({ path }) => path === 'SKILL.md')?.content ?? '');
	return 'field' in front ? {} : front.data;
}

export function metadataOf(files: readonly StoredFile[]): Record<string, string> {
	const { metadata } = frontOf(files);
	const entries = isObject(metadata) ? Object.entries(metadata) : [];
	return Object.fromEntries(entries.flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])));
}

export function fetchOf(files: readonly StoredFile[], base?: string): Fetch {
	async function* each() {
		for (const file of files) yield { path: file.path, content: bytesOf(file) };
	}
	return async (into, signal) => {
		const fetched = await fetchFolder(each(), into, signal, 'draft');
		const originOf: typeof fetched.originOf = (path) => ({
			...fetched.originOf(path),
			...(base !== undefined && { base })
		});
		return { ...fetched, originOf };
	};
}

/** Whether a file of a skill's folder is in its drafts. */
export function isHeld({ kind, path }: Pick<FolderFile, 'kind' | 'path'>): boolean {
	return kind === 'file' && !isLeftOut(path);
}

/** @throws AppError `too_large` if it can't be read as a whole */
export async function filesOf(skill: Skill): Promise<StoredFile[]> {
	const { files, problem } = await readFolder(skill.dir);
	if (problem !== null) throw new AppError('too_large', problem);
	const read = files.filter(isHeld).map(async ({ path, text, isCut }): Promise<StoredFile> => {
		if (text !== null && !isCut) return { path, content: text, encoding: 'utf8' };
		return { path, content: await readFile(join(skill.dir, path), 'base64'), encoding: 'base64' };
	});
	return Promise.all(read);
}

export async function filesForDiff(skill: Skill): Promise<TrustedFile[]> {
	const content = await readFolder(skill.dir);
	return keptFiles({ ...content, files: content.files.filter(isHeld) });
}

/** Problems of its SKILL.md with their lines, which reading it for use doesn’t find. */
export function withLines(problems: readonly SkillDiagnostic[], skillMd: string, name: string): SkillDiagnostic[] {
	// Its folder, which isn't there, has the name it should have.
	const { issues } = checkText(skillMd, `/${name}`);
	return problems.map((problem) => {
		const { field, message, file = 'SKILL.md', line } = problem;
		if (line !== undefined || file !== 'SKILL.md') return problem;
		const alike = issues.filter((issue) => issue.field === field);
		const found = (alike.find((issue) => issue.message === message) ?? alike[0])?.line;
		return found === undefined ? problem : { ...problem, line: found };
	});
}

/** What keeps it from being saved, as its review says. */
export function faultsOf(files: readonly StoredFile[]): SkillDiagnostic[] {
	const file = files.find(({ path }) => path === 'SKILL.md');
	if (!file) return [{ severity: 'error', field: '_', message: 'has no SKILL.md' }];
	return withLines(faultsIn(file.content), file.content, nameOf(files));
}

export function forDiff(file: StoredFile): TrustedFile {
	const text = file.encoding === 'utf8' ? file.content : null;
	return { path: file.path, sha256: hash('sha256', bytesOf(file)), text };
}

/** Whether they aren't those of these digests, as `digestsOf` has them. */
export function differs(files: readonly StoredFile[], digests: Record<string, string> = {}): boolean {
	return !isDeepStrictEqual(Object.fromEntries(files.map((file) => [file.path, forDiff(file).sha256])), digests);
}

/** What came with the messages, as examples; for the others, sentences. */
export async function readAttached(workspaces: Workspaces, conversationId: string, paths: readonly string[]) {
	const attached: { path: string; bytes: Buffer }[] = [];
	const left: string[] = [];
	for (const path of paths) {
		const bytes = attached.length < MAX_EXAMPLES ? await readWhole(workspaces, conversationId, path) : null;
		const isTwice = attached.some((each) => posix.basename(each.path) === posix.basename(path));
		if (bytes && !isTwice) attached.push({ path, bytes });
		else left.push(`The file ${path.slice(0, 200)} is not among its examples: it is gone, too large, or one too many.`);
	}
	return { attached, left };
}

/** null for one that is gone or too large. */
async function readWhole(workspaces: Workspaces, conversationId: string, path: string): Promise<Buffer | null> {
	const opened = await workspaces.read(conversationId, path).catch(() => null);
	if (!opened) return null;
	try {
		return opened.bytes > MAX_EXAMPLE_BYTES ? null : await opened.file.readFile();
	} finally {
		await opened.file.close();
	}
}
