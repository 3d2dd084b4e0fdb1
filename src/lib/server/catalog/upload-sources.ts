/** Skills that somebody uploads: a zip archive, a folder's files, the text of a SKILL.md (FEATURES E20, E22). */
import { rm } from 'node:fs/promises';
import type { InstallProvider } from '../../shared/skills.ts';
import { noteOf, readZip } from './archive/zip.ts';
import { storeUpload } from './archive/store-upload.ts';
import { onDisk } from './disk-errors.ts';
import { checkEntryName, isLeftOut } from './entry-names.ts';
import type { FetchedSkills } from './source.ts';
import type { StagingFolder } from './staging-folder.ts';

/** A file of an uploaded folder. */
export interface UploadedFile {
	/** With `/`. */
	path: string;
	content: Uint8Array | AsyncIterable<Uint8Array>;
}

/**
 * The archive lies beside the staging folder while it is unpacked.
 * @throws AppError `invalid_input` with the entry named, `too_large`, `storage_full`, `unavailable`
 */
export async function fetchZip(
	body: AsyncIterable<Uint8Array>,
	into: StagingFolder,
	signal: AbortSignal
): Promise<FetchedSkills> {
	const archive = `${into.dir}.zip`;
	await storeUpload(body, archive, into.limits.packedBytes, signal);
	try {
		const { notes } = await readZip(archive, into, signal);
		return { folders: null, originOf: uploadedAs('zip'), notes };
	} finally {
		await onDisk(rm(archive, { force: true }));
	}
}

/**
 * No permissions come with such files, so scripts are known by `#!`.
 * @throws AppError as `StagingFolder.add`
 */
export async function fetchFolder(
	files: AsyncIterable<UploadedFile>,
	into: StagingFolder,
	signal: AbortSignal
): Promise<FetchedSkills> {
	const leftOut: string[] = [];
	for await (const { path, content } of files) {
		signal.throwIfAborted();
		checkEntryName(path);
		if (isLeftOut(path)) {
			leftOut.push(path);
			if (!(content instanceof Uint8Array)) await drain(content);
		} else await into.add(path, content, { isExecutable: 'by-shebang' });
	}
	return { folders: null, originOf: uploadedAs('folder'), notes: noteOf(leftOut) };
}

/** @throws AppError `too_large`, `storage_full`, `unavailable` */
export async function fetchInline(text: string, into: StagingFolder): Promise<FetchedSkills> {
	await into.add('SKILL.md', Buffer.from(text));
	return { folders: [''], originOf: uploadedAs('inline'), notes: [] };
}

/** The next file of a stream comes only after this one. */
async function drain(content: AsyncIterable<Uint8Array>): Promise<void> {
	for await (const chunk of content) void chunk;
}

function uploadedAs(provider: InstallProvider): FetchedSkills['originOf'] {
	return (path) => ({ provider, source: null, url: null, commit: null, path, revision: null });
}
