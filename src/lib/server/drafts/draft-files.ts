/** The files of a draft: how they are shown, checked, compared, and handed to the installer (F8). */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_DRAFT_FILES, type SkillDraft } from '../../shared/drafts.ts';
import { AppError } from '../../shared/errors.ts';
import { isObject } from '../../shared/json.ts';
import { MAX_SKILL_FILE_BYTES } from '../../shared/names.ts';
import type { Fetch } from '../install/catalog-installer.ts';
import { fetchFolder } from '../install/sources/upload.ts';
import { isLeftOut } from '../install/staging-folder.ts';
import { readFrontMatter } from '../skills/read/front-matter.ts';
import type { Skill } from '../skills/types.ts';
import type { TrustedFile } from '../store/skills/choices.ts';
import type { StoredFile } from '../store/skills/drafts.ts';
import { readFolder } from '../trust/folder.ts';
import { keptFiles } from '../trust/trust.ts';
import type { Workspaces } from '../workspaces.ts';

const MAX_BYTES = 8 * 1024 * 1024;
const MAX_EXAMPLE_BYTES = 1024 * 1024;

export function bytesOf({ content, encoding }: StoredFile): Buffer {
	return Buffer.from(content, encoding);
}

export function fileShown(file: StoredFile): SkillDraft['files'][number] {
	const isText = file.encoding === 'utf8';
	return { path: file.path, bytes: bytesOf(file).length, text: isText ? file.content : null };
}

/** @throws AppError `too_large` */
export function requireRoom(files: readonly StoredFile[]): void {
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

export function fetchOf(files: readonly StoredFile[]): Fetch {
	async function* each() {
		for (const file of files) yield { path: file.path, content: bytesOf(file) };
	}
	return (into, signal) => fetchFolder(each(), into, signal);
}

/** @throws AppError `too_large` if it can't be read as a whole */
export async function filesOf(skill: Skill): Promise<StoredFile[]> {
	const { files, problem } = await readFolder(skill.dir);
	if (problem !== null) throw new AppError('too_large', problem);
	const read = files
		.filter(({ kind, path }) => kind === 'file' && !isLeftOut(path))
		.map(async ({ path, text, isCut }): Promise<StoredFile> => {
			if (text !== null && !isCut) return { path, content: text, encoding: 'utf8' };
			return { path, content: await readFile(join(skill.dir, path), 'base64'), encoding: 'base64' };
		});
	return Promise.all(read);
}

export async function filesForDiff(skill: Skill): Promise<TrustedFile[]> {
	return keptFiles(await readFolder(skill.dir));
}

export function forDiff(file: StoredFile): TrustedFile {
	const text = file.encoding === 'utf8' ? file.content : null;
	return { path: file.path, sha256: hash('sha256', bytesOf(file)), text };
}

/** null for one that is gone or too large. */
export async function readWhole(workspaces: Workspaces, conversationId: string, path: string): Promise<Buffer | null> {
	const opened = await workspaces.read(conversationId, path).catch(() => null);
	if (!opened) return null;
	try {
		return opened.bytes > MAX_EXAMPLE_BYTES ? null : await opened.file.readFile();
	} finally {
		await opened.file.close();
	}
}
