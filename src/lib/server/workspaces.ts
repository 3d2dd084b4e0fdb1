/** Workspaces: a folder for each conversation’s uploads and scripts (F5). */
import { hash, randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, open, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListedFile, WorkspaceFile } from '../shared/api.ts';
import { AppError } from '../shared/errors.ts';
import type { Exclusively } from '../shared/in-turn.ts';
import type { Log } from './log.ts';
import { copyFolder, readInPieces, removeFolder, walkFiles } from './foreign-folders.ts';
import { type HeldFolder, holdFolder, openInside, problemOnWindows } from './safe-path.ts';
import { createWorkspaceRooms, isUpload, UPLOADING, type WorkspaceRooms } from './workspace-rooms.ts';
import { createWorkspaceVersions } from './workspace-versions.ts';
import { writeZip, type ZipEntry } from './zip.ts';

const MAX_UPLOAD_BYTES = 200 * 1024 * 1024;
/** Without zip64, an archive has less than 4 GB. */
const MAX_ARCHIVE_BYTES = 2 * 1024 ** 3;

/** A script may create any number of files. */
const MAX_LISTED = 1000;
const LISTED = { maxDepth: 7, maxEntries: 5000, isSkipped: (name: string) => name.startsWith('.') };

export interface Workspaces {
	/** Absolute path of a conversation’s folder, which may not exist. What uses files in it runs in `use`. */
	path(conversationId: string): string;
	/**
	 * Runs something that may use and change files in the folder. `unkept`: why other servers don’t have the changes yet,
	 * as sentences.
	 * @throws AppError `unavailable`, `storage_full`, before anything runs
	 */
	use<Result>(
		conversationId: string,
		work: (cwd: string) => Promise<Result>
	): Promise<{ result: Result; unkept: string | null }>;
	list(conversationId: string): Promise<WorkspaceFile[]>;
	/** The files with their earlier contents. */
	listVersions(conversationId: string): Promise<ListedFile[]>;
	/** Keeps the current content of all files. Never rejects: errors are logged. */
	keepVersions(conversationId: string): Promise<void>;
	/** Streams a body into a file, atomically. Doesn’t cancel a body that is too large. @throws AppError `invalid_input`, `too_large` for the file or workspace */
	write(conversationId: string, path: string, body: ReadableStream<Uint8Array> | null): Promise<WorkspaceFile>;
	/** `version`: ID of an earlier content, or of a copy for models. @throws AppError not_found */
	read(conversationId: string, path: string, version?: string): Promise<{ file: FileHandle; bytes: number }>;
	/** Keeps, with its current content, a copy of a file that models are sent in its place. @throws AppError `not_found`, `too_large` */
	keepCopy(conversationId: string, path: string, copy: Buffer): Promise<WorkspaceFile>;
	/** The copy for models; null without one of the current content. @throws AppError not_found */
	readCopy(conversationId: string, path: string): Promise<{ file: FileHandle; bytes: number } | null>;
	/** A zip with all listed files, streamed. Files deleted meanwhile are left out. @throws AppError too_large */
	archive(conversationId: string): Promise<AsyncGenerator<Uint8Array<ArrayBuffer>>>;
	/** Deletes a file, which `restore` brings back for an hour with its versions, unless it couldn't be kept (logged). */
	remove(conversationId: string, path: string): Promise<void>;
	/** @throws AppError `conflict` if there is a file again, `not_found` if it's no longer kept; also what `write` throws */
	restore(conversationId: string, path: string): Promise<WorkspaceFile>;
	removeAll(conversationId: string): Promise<void>;
	/**
	 * Copies all files except links, with their earlier contents and their copies for models. Leaves nothing after an error. `lastId`: of the messages
	 * that are copied; a chat's own tools are those that it had then.
	 * @throws AppError `too_large`, `storage_full`
	 */
	copyAll(conversationId: string, toConversationId: string, lastId: string): Promise<void>;
}

interface WorkspacesOptions {
	/** Limit for all versions of one conversation together. */
	versionBytes?: number;
	/** Default: this server is alone. */
	exclusively?: Exclusively;
	log?: Log;
}

/** More is copied and deleted with a conversation’s files. */
export function goingWith(files: Workspaces, more: Pick<Workspaces, 'removeAll' | 'copyAll'>): Workspaces {
	return {
		...files,
		async removeAll(id) {
			await more.removeAll(id);
			await files.removeAll(id);
		},
		async copyAll(id, toId, lastId) {
			await files.copyAll(id, toId, lastId);
			try {
				await more.copyAll(id, toId, lastId);
			} catch (error) {
				await this.removeAll(toId);
				throw error;
			}
		}
	};
}

/** Without `rooms`, sizes are unlimited. */
export function createWorkspaces(
	dataDir: string,
	rooms: WorkspaceRooms = createWorkspaceRooms(),
	{ versionBytes = Infinity, exclusively, log }: WorkspacesOptions = {}
): Workspaces {
	const rootOf = (conversationId: string) => join(dataDir, 'workspaces', workspaceName(conversationId));
	const versions = createWorkspaceVersions(join(dataDir, 'file-versions'), versionBytes, exclusively);
	const walk = async (conversationId: string) => {
		const found: { path: string; facts: Stats }[] = [];
		for await (const file of walkFiles(rootOf(conversationId), LISTED)) {
			found.push(file);
			if (found.length >= MAX_LISTED) break;
		}
		return found.sort((a, b) => (a.path < b.path ? -1 : 1));
	};
	const keepVersions = async (conversationId: string): Promise<void> => {
		try {
			const root = rootOf(conversationId);
			const files = await walk(conversationId);
			const opened = (path: string) => openInside(root, path).then(({ file }) => file, ignoreGone);
			await versions.keep(
				workspaceName(conversationId),
				files.map((file) => ({ ...file, open: () => opened(file.path) }))
			);
		} catch (error) {
			log?.error({ conversationId, error: String(error) }, 'couldn’t keep versions of files');
		}
	};
	const logged = (conversationId: string, what: string) => (error: unknown) =>
		log?.error({ conversationId, error: String(error) }, `couldn’t keep ${what}`);
	const write = async (
		conversationId: string,
		path: string,
		body: ReadableStream<Uint8Array> | null,
		maxBytes = MAX_UPLOAD_BYTES
	): Promise<WorkspaceFile> => {
		const root = rootOf(conversationId);
		if (isUpload(path)) throw new AppError('invalid_input', `“${path.slice(0, 100)}” isn’t a valid file name.`);
		const folder = await holdFolder(root, path, { make: true }).catch((error: NodeJS.ErrnoException) => {
			throw error.code === 'ENOENT' ? deletedMeanwhile(error) : error;
		});
		const staging = join(root, `${UPLOADING}${randomUUID()}`);
		const upload = await rooms.enter(root);
		try {
			await upload.place(folder.target, 'replace');
			const bytes = await writeStream(staging, body, { folder, take: upload.take, maxBytes });
			await rename(staging, folder.target);
			upload.keep();
			return { path, bytes, modifiedAt: new Date().toISOString() };
		} catch (error) {
			await rm(staging, { force: true });
			const code = (error as NodeJS.ErrnoException).code;
			if (code === 'ENOSPC') throw diskFull(error);
			if (code === 'EISDIR' || code === 'ENOTEMPTY') {
				throw new AppError('conflict', 'A folder already has this name.', { cause: error });
			}
			if (code === 'ENOENT') throw deletedMeanwhile(error);
			throw error;
		} finally {
			upload.leave();
			await folder.close();
		}
	};
	const keepCopy = async (conversationId: string, path: string, copy: Buffer): Promise<WorkspaceFile> => {
		const { file } = await openInside(rootOf(conversationId), path);
		try {
			const current = { path, facts: await file.stat(), open: async () => file };
			if (!(await versions.keepCopy(workspaceName(conversationId), current, copy)))
				throw new AppError('too_large', 'There is no room for a copy of this file.');
		} catch (error) {
			throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? diskFull(error) : error;
		} finally {
			await file.close();
		}
		return { path, bytes: copy.length, modifiedAt: new Date().toISOString() };
	};
	const readCopy = async (conversationId: string, path: string) => {
		const { file } = await openInside(rootOf(conversationId), path);
		const facts = await file.stat().finally(() => file.close());
		return versions.readCopy(workspaceName(conversationId), { path, facts });
	};
	return {
		path: rootOf,
		use: async (conversationId, work) => ({ result: await work(rootOf(conversationId)), unkept: null }),
		keepCopy,
		readCopy,
		list: async (conversationId) => (await walk(conversationId)).map(asListed),
		async listVersions(conversationId) {
			const files = await walk(conversationId);
			const kept = await versions.list(workspaceName(conversationId), files);
			return files.map((file) => ({ ...asListed(file), versions: kept.get(file.path) ?? [] }));
		},
		keepVersions,
		write: (conversationId, path, body) => write(conversationId, path, body),
		async read(conversationId, path, version) {
			if (version === undefined) return openInside(rootOf(conversationId), path);
			const kept = await versions.read(workspaceName(conversationId), path, version);
			if (!kept) throw new AppError('not_found', 'This version of the file is no longer kept.');
			return kept;
		},
		async archive(conversationId) {
			const files = await walk(conversationId);
			const bytes = files.reduce((sum, { facts }) => sum + facts.size, 0);
			if (bytes > MAX_ARCHIVE_BYTES) {
				const hint = 'Download the files one by one.';
				throw new AppError('too_large', 'These files total more than 2 GB, too much for one zip.', { hint });
			}
			const root = rootOf(conversationId);
			const entries = async function* (): AsyncGenerator<ZipEntry> {
				for (const { path, facts } of files) {
					const opened = await openInside(root, path).catch(ignoreGone);
					// It may grow meanwhile.
					if (opened) yield { ...entryOf(path, facts), chunks: readInPieces(opened.file, facts.size) };
				}
			};
			return writeZip(entries());
		},
		async remove(conversationId, path) {
			const { file } = await openInside(rootOf(conversationId), path);
			// A full disk must not keep a file from being deleted.
			await file
				.stat()
				.then((facts) => versions.keepDeleted(workspaceName(conversationId), { path, facts, open: async () => file }))
				.catch(logged(conversationId, 'a deleted file'))
				.finally(() => file.close());
			try {
				const folder = await holdFolder(rootOf(conversationId), path);
				await unlink(folder.target).finally(() => folder.close());
			} catch (error) {
				if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
				throw new AppError('not_found', 'Someone else just deleted this file.', { cause: error });
			}
		},
		async restore(conversationId, path) {
			const there = await openInside(rootOf(conversationId), path).catch(ignoreGone);
			await there?.file.close();
			if (there) throw new AppError('conflict', 'There is a file with this name again.');
			const kept = await versions.readDeleted(workspaceName(conversationId), path);
			if (!kept) throw new AppError('not_found', 'This file can’t be restored: it’s no longer kept.');
			const body = kept.file.readableWebStream() as ReadableStream<Uint8Array>;
			const restored = await write(conversationId, path, body, Infinity).finally(() => kept.file.close());
			const { file } = await openInside(rootOf(conversationId), path);
			const at = new Date(kept.modifiedAt);
			await file.utimes(at, at).finally(() => file.close());
			// Otherwise what it has in it would be listed as an earlier content.
			await keepVersions(conversationId);
			return { ...restored, modifiedAt: kept.modifiedAt };
		},
		async removeAll(conversationId) {
			await removeFolder(rootOf(conversationId));
			await versions.removeAll(workspaceName(conversationId));
		},
		async copyAll(conversationId, toConversationId) {
			const root = rootOf(toConversationId);
			const room = await rooms.enter(root);
			try {
				await copyFolder(rootOf(conversationId), root, (bytes) => room.add(bytes));
				room.keep();
			} catch (error) {
				await removeFolder(root);
				throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? diskFull(error) : error;
			} finally {
				room.leave();
			}
			// Without them, old answers show what the files have in them now, and models are sent the files themselves.
			await versions
				.copyAll(workspaceName(conversationId), workspaceName(toConversationId))
				.catch(logged(toConversationId, 'versions of files'));
			await keepVersions(toConversationId);
		}
	};
}

/**
 * Name of a conversation’s folder: its id, or a hash if a file system could confuse the id with another one that differs
 * only in case, or with a device such as `nul`.
 */
export function workspaceName(conversationId: string, platform: NodeJS.Platform = process.platform): string {
	const isOwn = conversationId === conversationId.toLowerCase() && problemOnWindows(conversationId) === null;
	if (isOwn || (platform !== 'win32' && platform !== 'darwin')) return conversationId;
	return `id~${hash('sha256', conversationId).slice(0, 32)}`;
}

function asListed({ path, facts }: { path: string; facts: Stats }): WorkspaceFile {
	return { path, bytes: facts.size, modifiedAt: facts.mtime.toISOString() };
}

function ignoreGone(error: unknown): null {
	if (error instanceof AppError && error.code === 'not_found') return null;
	throw error;
}

/** Compresses text only: most other results are compressed already. */
function entryOf(path: string, { mtime }: Stats): Omit<ZipEntry, 'chunks'> {
	const isCompressed = /\.(txt|md|csv|tsv|json|jsonl|geojson|ipynb|html?|svg|xml|ya?ml|log|js|ts|py|sql|css)$/i.test(
		path
	);
	return { name: path, modifiedAt: mtime, isCompressed };
}

function diskFull(cause: unknown): AppError {
	return new AppError('storage_full', 'The disk is full. Free some space and try again.', { cause });
}

function deletedMeanwhile(cause: unknown): AppError {
	return new AppError('conflict', 'The conversation was deleted.', { cause });
}

/** `take` receives the size of each piece before it is written, and throws beyond the limit. */
async function writeStream(
	path: string,
	body: ReadableStream<Uint8Array> | null,
	{ folder, take, maxBytes }: { folder: HeldFolder; take(bytes: number): void; maxBytes: number }
): Promise<number> {
	const file = await open(path, 'wx');
	let bytes = 0;
	try {
		await folder.adopt(file);
		// Cancelling the body would close the connection before the answer.
		for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
			bytes += chunk.length;
			if (bytes > maxBytes) {
				throw new AppError('too_large', 'The limit per file is 200 MB.', { hint: 'Split the file or compress it.' });
			}
			take(chunk.length);
			await file.write(chunk);
		}
	} finally {
		await file.close();
	}
	return bytes;
}
