/** Workspaces: a folder for each conversation’s uploads and scripts (FEATURES F5). */
import { hash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceFile } from '../shared/api.ts';
import { AppError } from '../shared/errors.ts';
import { copyFolder, removeFolder, walkFiles } from './foreign-folders.ts';
import { type HeldFolder, holdFolder, openInside, problemOnWindows } from './safe-path.ts';
import { createWorkspaceRooms, UPLOADING, type WorkspaceRooms } from './workspace-rooms.ts';

const MAX_UPLOAD_BYTES = 200 * 1024 * 1024;

/** A script may create any number of files. */
const MAX_LISTED = 1000;
const LISTED = { maxDepth: 7, maxEntries: 5000, isSkipped: (name: string) => name.startsWith('.') };

export interface Workspaces {
	/** Absolute path of a conversation’s folder, which may not exist. */
	path(conversationId: string): string;
	list(conversationId: string): Promise<WorkspaceFile[]>;
	/** Streams a body into a file, atomically. Doesn’t cancel a body that is too large. @throws AppError `invalid_input`, `too_large` for the file or workspace */
	write(conversationId: string, path: string, body: ReadableStream<Uint8Array> | null): Promise<WorkspaceFile>;
	/** @throws AppError not_found */
	read(conversationId: string, path: string): Promise<{ file: FileHandle; bytes: number }>;
	remove(conversationId: string, path: string): Promise<void>;
	removeAll(conversationId: string): Promise<void>;
	/** Copies all files except links. Leaves nothing after an error. @throws AppError `too_large`, `storage_full` */
	copyAll(conversationId: string, toConversationId: string): Promise<void>;
}

/** Without `rooms`, sizes are unlimited. */
export function createWorkspaces(dataDir: string, rooms: WorkspaceRooms = createWorkspaceRooms()): Workspaces {
	const rootOf = (conversationId: string) => join(dataDir, 'workspaces', workspaceName(conversationId));
	return {
		path: rootOf,
		async list(conversationId) {
			const listed: WorkspaceFile[] = [];
			for await (const { path, facts } of walkFiles(rootOf(conversationId), LISTED)) {
				listed.push({ path, bytes: facts.size, modifiedAt: facts.mtime.toISOString() });
				if (listed.length >= MAX_LISTED) break;
			}
			return listed.sort((a, b) => (a.path < b.path ? -1 : 1));
		},
		async write(conversationId, path, body) {
			const root = rootOf(conversationId);
			const folder = await holdFolder(root, path, { make: true }).catch((error: NodeJS.ErrnoException) => {
				throw error.code === 'ENOENT' ? deletedMeanwhile(error) : error;
			});
			const staging = join(root, `${UPLOADING}${randomUUID()}`);
			const upload = await rooms.enter(root);
			try {
				await upload.place(folder.target, 'replace');
				const bytes = await writeStream(staging, body, { folder, take: upload.take });
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
		},
		read: (conversationId, path) => openInside(rootOf(conversationId), path),
		async remove(conversationId, path) {
			const { file } = await openInside(rootOf(conversationId), path);
			await file.close();
			try {
				const folder = await holdFolder(rootOf(conversationId), path);
				await unlink(folder.target).finally(() => folder.close());
			} catch (error) {
				if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
				throw new AppError('not_found', 'Someone else just deleted this file.', { cause: error });
			}
		},
		removeAll: (conversationId) => removeFolder(rootOf(conversationId)),
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
	{ folder, take }: { folder: HeldFolder; take(bytes: number): void }
): Promise<number> {
	const file = await open(path, 'wx');
	let bytes = 0;
	try {
		await folder.adopt(file);
		// Cancelling the body would close the connection before the answer.
		for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
			bytes += chunk.length;
			if (bytes > MAX_UPLOAD_BYTES) {
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

/** Headers of a workspace file, which must never act as a page of ours. `isView`: shown in a frame, for HTML only; other types stay downloads. */
export function fileHeaders(path: string, bytes: number, isView: boolean): Record<string, string> {
	const name = encodeURIComponent(path.split('/').at(-1) ?? 'file');
	const length = { 'content-length': String(bytes) };
	const headers = { ...length, 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache' };
	if (isView && /\.html?$/i.test(path)) {
		return {
			...headers,
			'content-type': 'text/html; charset=utf-8',
			'content-disposition': `inline; filename*=UTF-8''${name}`,
			// Own origin; no scripts, forms, popups or requests; only framed by us.
			'content-security-policy':
				"sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
			'x-frame-options': 'SAMEORIGIN',
			'x-dns-prefetch-control': 'off'
		};
	}
	return {
		...headers,
		'content-type': contentType(path),
		'content-disposition': `attachment; filename*=UTF-8''${name}`,
		'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'"
	};
}

/** Types shown in previews; everything else is bytes. */
const TYPES: Readonly<Record<string, string>> = {
	svg: 'image/svg+xml',
	png: 'image/png',
	jpg: 'image/jpeg',
	jpeg: 'image/jpeg',
	gif: 'image/gif',
	webp: 'image/webp',
	csv: 'text/csv; charset=utf-8',
	txt: 'text/plain; charset=utf-8',
	md: 'text/plain; charset=utf-8',
	json: 'application/json'
};

export function contentType(path: string): string {
	return TYPES[path.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream';
}
