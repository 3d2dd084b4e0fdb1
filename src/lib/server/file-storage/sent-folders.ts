/**
 * The folders of a script for workers that have a data folder of their own: through the bucket, and back. A chat's
 * workspace goes as what it is; anything else, such as the copy of a skill, as a folder in `sent-folders`.
 */
import { mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { onceForAll } from '../../shared/in-turn.ts';
import type { PackageLock } from '../../shared/packages.ts';
import { copyFolder, isThere, removeFolder } from '../foreign-folders.ts';
import type { Log } from '../log.ts';
import { digestOfFolder } from '../skills/read/skill-tree.ts';
import type { StoredFiles } from '../store/stored-files.ts';
import { kindOf } from './folder-kinds.ts';
import { bytesIn } from './local-files.ts';
import { createLocalStates } from './local-state.ts';
import { type StoredFolders, UNSTORED } from './stored-folders.ts';
import { SENT_FOLDERS, WORKSPACE_KINDS } from './stored-workspaces.ts';

/** What a job says of its folders: by their names in the data folder, wherever that is. */
export interface SentFolders {
	workspace: string;
	/** `digest`: SHA-256 of its files, see `digestOfFolder`. */
	skill: { folder: string; digest: string } | null;
	/** What somebody allowed; workers install it themselves, because packages differ per machine and are large. */
	packages: PackageLock | null;
}

/** Absolute paths here. */
interface Folders {
	workspace: string;
	skill?: string;
	packages?: string;
}

/** The server's side. */
export interface FolderSender {
	/** Tells with what it couldn't store what workers couldn't, of chats. */
	storage: StoredFolders;
	/** @throws AppError `unavailable` */
	send(jobId: string, folders: Folders): Promise<SentFolders>;
	/** Gets what the script has changed. `unkept`: why the worker couldn't store it. Never rejects. */
	receive(sent: SentFolders, folders: Folders, unkept: string | null): Promise<void>;
	/** Deletes what was sent. */
	close(): Promise<void>;
}

interface FolderSenderOptions {
	storage: StoredFolders;
	files: StoredFiles;
	log: Log;
	/** null: nothing with this digest is installed for any skill. */
	lockOf(digest: string): Promise<PackageLock | null>;
	replica: {
		id: string;
		live(): Promise<ReadonlySet<string>>;
		onGone(listener: () => Promise<unknown>): void;
	};
}

const [WORKSPACES] = WORKSPACE_KINDS;
/** A skill that wasn't used for so long is sent anew. */
const UNUSED_MS = 60 * 60_000;

export async function openFolderSender(
	config: { dataDir: string },
	{ storage, files, log, lockOf, replica }: FolderSenderOptions
): Promise<FolderSender> {
	// As scripts' folders are named.
	const dataDir = await realpath(config.dataDir);
	const nameOf = (id: string) => id.slice(0, 8);
	const own = nameOf(replica.id);
	/** By workspace: what to say of it. */
	const unkeptIn = new Map<string, string>();
	/** By the folder that they are sent as. */
	const skills = new Map<string, { digest: Promise<string>; users: number; usedAt: number }>();
	const rootOf = (folder: string) => join(dataDir, ...folder.split('/'));
	const logged = (error: unknown) => log.error({ error: String(error) }, 'Couldn’t delete a folder that was sent');
	const remove = async (folder: string): Promise<void> => {
		// Of one that was never stored, nothing needs to be told.
		if (await files.folder(folder)) await storage.remove(folder);
		else await removeFolder(rootOf(folder));
	};
	const store = async (folder: string): Promise<void> => {
		if ((await storage.keep(folder)) !== UNSTORED) return;
		const message = 'its files can’t be stored, because the file storage can’t be used. Try again later';
		throw new AppError('unavailable', message);
	};
	const sendSkill = async (dir: string, folder: string): Promise<string> => {
		await removeFolder(rootOf(folder));
		await copyFolder(dir, rootOf(folder), () => undefined);
		await store(folder);
		const digest = await digestOfFolder(dir);
		if (digest === null) throw new AppError('unavailable', 'the skill’s files can’t be read');
		return digest;
	};
	const skillOf = async (dir: string): Promise<SentFolders['skill']> => {
		for (const [folder, { users, usedAt }] of skills) {
			if (users > 0 || performance.now() - usedAt < UNUSED_MS) continue;
			skills.delete(folder);
			void remove(folder).catch(logged);
		}
		const folder = `${SENT_FOLDERS.path}/${own}.${basename(dir)}`;
		const known = skills.get(folder) ?? { digest: sendSkill(dir, folder), users: 0, usedAt: 0 };
		skills.set(folder, known);
		known.users += 1;
		try {
			return { folder, digest: await known.digest };
		} catch (error) {
			skills.delete(folder);
			throw error;
		}
	};
	/** In the folder of an environment, wherever it is installed. */
	const packagesOf = async (dir: string): Promise<PackageLock> => {
		const lock = await lockOf(basename(dir));
		if (!lock) throw new AppError('unavailable', 'its packages have just been removed. Try again');
		return lock;
	};
	/** The copy in `folder` takes the place of what is in the workspace. */
	const replace = async (workspace: string, folder: string): Promise<void> => {
		for (const name of await readdir(workspace)) await removeFolder(join(workspace, name));
		await copyFolder(rootOf(folder), workspace, () => undefined);
	};
	/** What servers that have stopped had sent. */
	const sweep = async (): Promise<void> => {
		const stored = (await files.folders([SENT_FOLDERS.path])).filter(({ isRemoved }) => !isRemoved);
		const sent = new Set([...stored.map(({ folder }) => folder), ...(await storage.local([SENT_FOLDERS]))]);
		const live = new Set([own, ...[...(await replica.live())].map(nameOf)]);
		for (const folder of sent) {
			const server = basename(folder).split('.')[0] ?? '';
			if (kindOf([SENT_FOLDERS], folder) && !live.has(server)) await remove(folder);
		}
	};
	void sweep().catch(logged);
	replica.onGone(sweep);

	return {
		storage: {
			...storage,
			async keep(folder) {
				const unkept = [unkeptIn.get(folder), await storage.keep(folder)].filter(Boolean);
				unkeptIn.delete(folder);
				return unkept.length === 0 ? null : unkept.join(' ');
			}
		},
		async send(jobId, { workspace, skill, packages: environment }) {
			const packages = environment === undefined ? null : await packagesOf(environment);
			const within = relative(dataDir, workspace).replaceAll(sep, '/');
			const isChat = kindOf([WORKSPACES], within) !== undefined;
			const folder = isChat ? within : `${SENT_FOLDERS.path}/${own}.${jobId}`;
			try {
				if (!isChat) await copyFolder(workspace, rootOf(folder), () => undefined);
				await store(folder);
				return { workspace: folder, skill: skill === undefined ? null : await skillOf(skill), packages };
			} catch (error) {
				if (!isChat) await remove(folder).catch(logged);
				throw error;
			}
		},
		async receive({ workspace: folder, skill }, { workspace }, unkept) {
			const known = skill && skills.get(skill.folder);
			if (known) {
				known.users -= 1;
				known.usedAt = performance.now();
			}
			try {
				const isChat = kindOf([WORKSPACES], folder) !== undefined;
				await storage.bring(folder, { toChange: isChat });
				if (!isChat) await replace(workspace, folder);
				if (unkept !== null) unkeptIn.set(folder, unkept);
			} catch (error) {
				log.error({ folder, error: String(error) }, 'Couldn’t fetch what a script on a worker has changed');
				unkeptIn.set(folder, unkept ?? UNFETCHED);
			}
			if (kindOf([SENT_FOLDERS], folder)) {
				unkeptIn.delete(folder);
				await remove(folder).catch(logged);
			}
		},
		async close() {
			for (const folder of skills.keys()) await remove(folder).catch(logged);
		}
	};
}

/** Where scripts on workers have their files. */
const KINDS = [WORKSPACES, SENT_FOLDERS];
/** A worker's copies of what no script has used for so long go. */
const KEPT_MS = 24 * 60 * 60_000;

const UNFETCHED =
	'Files that the script has changed on a worker couldn’t be fetched yet. They are stored, and will be there once the file storage works again.';
const UNKEPT =
	'Files that the script has changed couldn’t be stored. They are on the worker, which tries again until it can.';

interface Installing {
	signal: AbortSignal;
	/** Packages are installed first. */
	onInstall(): void;
}

interface TakenFolders {
	folders: Folders;
	/** The script begins now: what it does counts only if it ends. */
	begin(): Promise<void>;
	/** Stores what has changed. Returns why it couldn't. Never rejects. */
	release(): Promise<string | null>;
}

interface FolderReceiverOptions {
	storage: StoredFolders;
	files: StoredFiles;
	dataDir: string;
	/** Of local copies that no script uses. */
	maxBytes: number;
	now?: () => number;
	/** The skill in this folder if it has this digest; nobody changes the copy. @throws Error otherwise */
	copyOf(dir: string, digest: string): Promise<{ dir: string; release(): void }>;
	/** The folder of these packages, which stays until it's released. @throws Error */
	installed(packages: PackageLock, how: Installing): Promise<{ folder: string; release(): void }>;
}

/** The worker's side. */
export function createFolderReceiver(options: FolderReceiverOptions) {
	const { storage, files, dataDir, copyOf, installed, maxBytes, now = () => performance.now() } = options;
	const rootOf = (folder: string) => join(dataDir, ...folder.split('/'));
	const marks = marksIn(dataDir);
	/** Scripts by folder. */
	const users = new Map<string, number>();
	const use = (folder: string, more: 1 | -1): void => {
		const now = (users.get(folder) ?? 0) + more;
		if (now > 0) users.set(folder, now);
		else users.delete(folder);
	};
	const copies = new Map<string, { bytes: number; usedAt: number }>();
	const note = async (folder: string): Promise<void> => {
		const usedAt = now();
		copies.set(folder, { bytes: await bytesIn(rootOf(folder)), usedAt });
	};
	const tidy = onceForAll(async () => {
		const local = new Set(await storage.local(KINDS));
		for (const folder of copies.keys()) if (!local.has(folder)) copies.delete(folder);
		// Of an earlier start, or of a script that never began.
		for (const folder of local) if (!copies.has(folder)) await note(folder);
		const idle = [...copies].filter(([folder]) => !users.has(folder));
		let bytes = idle.reduce((sum, [, copy]) => sum + copy.bytes, 0);
		for (const [folder, copy] of idle.sort(([, one], [, other]) => one.usedAt - other.usedAt)) {
			if (bytes <= maxBytes && now() - copy.usedAt < KEPT_MS) continue;
			if (!(await storage.letGo(folder, () => users.has(folder)))) continue;
			copies.delete(folder);
			bytes -= copy.bytes;
		}
	});
	const fetch = async (
		{ workspace: folder, skill }: SentFolders,
		isIdle: boolean
	): Promise<Awaited<ReturnType<typeof copyOf>> | null> => {
		const workspace = rootOf(folder);
		// If this worker were killed, it would be lost with what the next script leaves.
		if (isIdle && (await isThere(workspace)) && (await storage.keep(folder)) === UNSTORED) {
			throw new AppError('unavailable', `${UNKEPT} Try again later.`);
		}
		await storage.bring(folder, { toChange: true });
		await mkdir(workspace, { recursive: true });
		if (!skill) return null;
		await storage.bring(skill.folder);
		return copyOf(rootOf(skill.folder), skill.digest).catch(notAsSent);
	};
	return {
		/** Deletes copies that no script uses and that are stored: those of a day ago, and the oldest when there are too many. */
		tidy,
		/** @throws AppError `unavailable`, `storage_full`, `conflict` if they aren't those that were sent; as `installed` */
		async take(jobId: string, sent: SentFolders, how: Installing): Promise<TakenFolders> {
			const { workspace: folder, skill, packages: wanted } = sent;
			if (!kindOf(KINDS, folder) || (skill && !kindOf([SENT_FOLDERS], skill.folder))) {
				throw new AppError('conflict', 'The job names a folder that no script may use.');
			}
			const workspace = rootOf(folder);
			// First: it may take minutes, and files are to be new.
			const packages = wanted && (await installed(wanted, how));
			const names = [folder, ...(skill ? [skill.folder] : [])];
			const isIdle = !users.has(folder);
			for (const name of names) use(name, 1);
			let copy: Awaited<ReturnType<typeof fetch>> = null;
			const free = (): void => {
				for (const name of names) use(name, -1);
				copy?.release();
				packages?.release();
			};
			try {
				copy = await fetch(sent, isIdle);
			} catch (error) {
				free();
				throw error;
			}
			return {
				folders: { workspace, ...(copy && { skill: copy.dir }), ...(packages && { packages: packages.folder }) },
				begin: async () => {
					await mkdir(marks, { recursive: true });
					await writeFile(join(marks, jobId), folder);
				},
				async release() {
					free();
					const unkept = await storage.keep(folder);
					await rm(join(marks, jobId), { force: true });
					const isForgotten = kindOf([SENT_FOLDERS], folder) && (await files.folder(folder).catch(() => true)) === null;
					if (isForgotten) await removeFolder(workspace);
					// Otherwise it's measured when copies are looked at.
					for (const name of names) void note(name).catch(() => copies.delete(name));
					return unkept === UNSTORED ? UNKEPT : unkept;
				}
			};
		}
	};
}

export type FolderReceiver = ReturnType<typeof createFolderReceiver>;

const marksIn = (dataDir: string) => join(dataDir, 'workers', 'changing');

/** What scripts had changed that were under way when this worker was killed. Before anything is stored. */
export async function dropUnfinished(dataDir: string): Promise<void> {
	const marks = marksIn(dataDir);
	const states = createLocalStates(join(dataDir, 'stored-folders'));
	await mkdir(marks, { recursive: true });
	for (const name of await readdir(marks)) {
		const folder = await readFile(join(marks, name), 'utf8');
		if (kindOf(KINDS, folder)) {
			await removeFolder(join(dataDir, ...folder.split('/')));
			await states.remove(folder);
		}
		await rm(join(marks, name), { force: true });
	}
}

function notAsSent(cause: unknown): never {
	const message =
		'The skill’s files on the worker aren’t those that were checked. A bucket holds no links and no empty folders.';
	throw new AppError('conflict', message, { cause });
}
