/** Workspaces whose files are in a bucket, for several servers without a shared file system. */
import { AppError } from '../../shared/errors.ts';
import { workspaceName, type Workspaces } from '../workspaces.ts';
import type { FolderKind } from './folder-kinds.ts';
import type { StoredFolders } from './stored-folders.ts';

/** With one folder for each conversation. */
export const WORKSPACE_KINDS = [
	{ path: 'workspaces', keepsBoth: true },
	{ path: 'file-versions' }
] as const satisfies FolderKind[];

/** What scripts on workers need, for as long as their server needs it: the server's id, and a name. */
export const SENT_FOLDERS = { path: 'sent-folders', names: /^[0-9a-f]{8}\.[\w.-]+$/ } as const satisfies FolderKind;

/** Tools that the agent defined, of one conversation each. */
export const CHAT_TOOLS = { path: 'chat-tools', isWhole: true, keepsBoth: true } as const satisfies FolderKind;

/** For `createDefinedTools`. */
export function storedChatTools(storage: StoredFolders) {
	const folderOf = (id: string) => `${CHAT_TOOLS.path}/${workspaceName(id)}`;
	return {
		async around<Result>(id: string, how: 'read' | 'change', work: () => Promise<Result>): Promise<Result> {
			if (how === 'change') {
				await storage.bring(folderOf(id), { toChange: true });
				return work().finally(() => storage.keep(folderOf(id)));
			}
			// Without what others have made, the chat still has what is here.
			await storage.bring(folderOf(id)).catch((error: unknown) => {
				if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
			});
			return work();
		},
		removed: (id: string) => storage.remove(folderOf(id))
	};
}

/** Every use begins with what other servers have left, and every change is stored. */
export function withStorage(files: Workspaces, storage: StoredFolders): Workspaces {
	const [filesOf, versionsOf] = WORKSPACE_KINDS.map(
		({ path }) =>
			(id: string) =>
				`${path}/${workspaceName(id)}`
	) as [(id: string) => string, (id: string) => string];
	const reading = async <Result>(folder: string, work: () => Promise<Result>): Promise<Result> => {
		await storage.bring(folder);
		return work();
	};
	/** What can't be stored yet is logged, and tried again. */
	const changing = async <Result>(folder: string, work: () => Promise<Result>): Promise<Result> => {
		await storage.bring(folder, { toChange: true });
		return work().finally(() => storage.keep(folder));
	};
	/** Without what others have kept, it is still worth to keep ours. */
	const versionsToo = <Result>(id: string, work: () => Promise<Result>): Promise<Result> =>
		changing(versionsOf(id), work).catch((error: unknown) => {
			if (error instanceof AppError && error.code === 'unavailable') return work();
			throw error;
		});
	return {
		path: files.path,
		async use(id, work) {
			await storage.bring(filesOf(id), { toChange: true });
			let unkept: string | null = null;
			const { result } = await files.use(id, work).finally(async () => (unkept = await storage.keep(filesOf(id))));
			return { result, unkept };
		},
		list: (id) => reading(filesOf(id), () => files.list(id)),
		listVersions: (id) => reading(filesOf(id), () => reading(versionsOf(id), () => files.listVersions(id))),
		keepVersions: (id) => versionsToo(id, () => files.keepVersions(id)),
		async write(id, path, body) {
			await storage.bring(filesOf(id), { toChange: true });
			let unkept: string | null = null;
			const keep = async () => void (unkept = await storage.keep(filesOf(id)));
			const file = await files.write(id, path, body).finally(keep);
			return unkept === null ? file : { ...file, hint: unkept };
		},
		async read(id, path, version) {
			if (version !== undefined) return reading(versionsOf(id), () => files.read(id, path, version));
			const damaged = await storage.bring(filesOf(id));
			if (!damaged.includes(path)) return files.read(id, path);
			throw new AppError('unavailable', `The stored content of “${path}” is damaged, so it can’t be shown.`, {
				hint: 'Upload the file again.'
			});
		},
		keepCopy: (id, path, copy) => versionsToo(id, () => files.keepCopy(id, path, copy)),
		readCopy: (id, path) => reading(filesOf(id), () => reading(versionsOf(id), () => files.readCopy(id, path))),
		archive: (id) => reading(filesOf(id), () => files.archive(id)),
		remove: (id, path) => changing(filesOf(id), () => versionsToo(id, () => files.remove(id, path))),
		restore: (id, path) => changing(filesOf(id), () => versionsToo(id, () => files.restore(id, path))),
		async removeAll(id) {
			for (const folder of [filesOf(id), versionsOf(id)]) await storage.remove(folder);
			await files.removeAll(id);
		},
		async copyAll(id, toId, lastId) {
			for (const folder of [filesOf(id), versionsOf(id)]) await storage.bring(folder);
			await files.copyAll(id, toId, lastId);
			for (const folder of [filesOf(toId), versionsOf(toId)]) await storage.keep(folder);
		}
	};
}
