/** Earlier contents of a conversation's files, kept by digest where no script reaches them (F5). */
import { createHash, hash, randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { FileVersion } from '../shared/api.ts';
import { createLines, type Exclusively } from '../shared/in-turn.ts';
import { parseJson } from '../shared/json.ts';
import { copyFolder, ignoring, readInPieces, removeFolder } from './foreign-folders.ts';

/** Larger files have no versions. */
const MAX_FILE_BYTES = 50 * 1024 * 1024;
/** Of one file. */
const MAX_VERSIONS = 20;
/** A deleted file can be restored this long. */
const DELETED_MS = 60 * 60_000;
const INDEX = 'index.json';

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const version = z.object({
	id: digest,
	bytes: z.number(),
	modifiedAt: z.string(),
	/** Of the file as it was when it was looked at: one that is still the same is not read again. */
	stamp: z.string(),
	/** What models are sent in its place. */
	copy: z.object({ id: digest, bytes: z.number() }).optional(),
	/** Only of the newest: the file was deleted with this in it, and may come back. */
	deletedAt: z.string().optional()
});
const index = z.array(z.tuple([z.string(), z.array(version)]));
type Version = z.infer<typeof version>;
/** By path, the oldest first. */
type Versions = Map<string, Version[]>;

/** A file as it is now. */
export interface CurrentFile {
	path: string;
	facts: Stats;
	/** null where it is gone by now. */
	open(): Promise<FileHandle | null>;
}

/** `root`: a folder of the server's own, with one for each workspace by its name. */
export function createWorkspaceVersions(root: string, maxBytes: number, exclusively: Exclusively = createLines()) {
	/** One after the other for each workspace. */
	const inTurn = <Result>(name: string, work: (dir: string) => Promise<Result>): Promise<Result> =>
		exclusively(`file-versions ${name}`, () => work(join(root, name)));
	return {
		/**
		 * Keeps what is new in these files, and forgets files that are not among them. The oldest contents go when all of them
		 * come to more than a workspace may hold.
		 */
		keep: (name: string, files: readonly CurrentFile[]): Promise<void> =>
			inTurn(name, async (dir) => {
				const before = await readVersions(dir);
				if (files.length === 0 && before.size === 0) return;
				await mkdir(dir, { recursive: true });
				const after: Versions = new Map();
				for (const [path, known] of before) if (mayComeBack(known)) after.set(path, known);
				for (const file of files) {
					const known = before.get(file.path) ?? [];
					const kept = await keepFile(dir, file, known);
					if (kept.length > 0) after.set(file.path, kept.slice(-MAX_VERSIONS));
				}
				fit(after, maxBytes);
				await writeVersions(dir, after);
			}),
		/** By path, the newest first, without what the file has in it now. */
		async list(
			name: string,
			files: readonly Pick<CurrentFile, 'path' | 'facts'>[]
		): Promise<Map<string, FileVersion[]>> {
			const kept = await inTurn(name, readVersions);
			const shown = ({ id, bytes, modifiedAt }: Version) => ({ id, bytes, modifiedAt });
			const earlier = ({ path, facts }: (typeof files)[number]) =>
				(kept.get(path) ?? []).filter(({ stamp }) => stamp !== stampOf(facts));
			return new Map(files.map((file) => [file.path, earlier(file).map(shown).reverse()]));
		},
		/** Of a version, or of a copy for models. null for what is not kept. */
		read: (name: string, path: string, id: string): Promise<{ file: FileHandle; bytes: number } | null> =>
			inTurn(name, async (dir) => {
				const kept = contentsOf((await readVersions(dir)).get(path) ?? []).find((each) => each.id === id);
				return openKept(dir, kept);
			}),
		/** Keeps a file of any size that is about to be deleted, with its versions, for an hour. */
		keepDeleted: (name: string, file: CurrentFile): Promise<void> =>
			inTurn(name, async (dir) => {
				const kept = await readVersions(dir);
				await mkdir(dir, { recursive: true });
				const versions = await keepFile(dir, file, kept.get(file.path) ?? [], Infinity);
				const newest = versions.at(-1);
				if (!newest) return;
				kept.set(file.path, [...versions.slice(0, -1), { ...newest, deletedAt: new Date().toISOString() }]);
				fit(kept, maxBytes);
				await writeVersions(dir, kept);
			}),
		/** What a deleted file had in it; null if it's no longer kept, or wasn't deleted. */
		readDeleted: (
			name: string,
			path: string
		): Promise<{ file: FileHandle; bytes: number; modifiedAt: string } | null> =>
			inTurn(name, async (dir) => {
				const known = (await readVersions(dir)).get(path) ?? [];
				const newest = mayComeBack(known) ? known.at(-1) : undefined;
				const opened = await openKept(dir, newest);
				return opened && newest ? { ...opened, modifiedAt: newest.modifiedAt } : null;
			}),
		/** Keeps this file, and a copy for models with it. False if there's no room, or the file is too large to keep. */
		keepCopy: (name: string, file: CurrentFile, content: Buffer): Promise<boolean> =>
			inTurn(name, async (dir) => {
				const kept = await readVersions(dir);
				const copies = [...kept.values()].flat().map(({ copy }) => copy?.bytes ?? 0);
				if (copies.reduce((sum, bytes) => sum + bytes, content.length) > maxBytes) return false;
				await mkdir(dir, { recursive: true });
				const versions = await keepFile(dir, file, kept.get(file.path) ?? []);
				const newest = versions.at(-1);
				if (newest?.stamp !== stampOf(file.facts)) return false;
				const id = hash('sha256', content);
				await writeWhole(dir, id, content);
				const copy = { id, bytes: content.length };
				kept.set(file.path, [...versions.slice(0, -1), { ...newest, copy }].slice(-MAX_VERSIONS));
				fit(kept, maxBytes);
				await writeVersions(dir, kept);
				return true;
			}),
		/** null if there's none of what the file has in it now. */
		readCopy: (
			name: string,
			{ path, facts }: Pick<CurrentFile, 'path' | 'facts'>
		): Promise<{ file: FileHandle; bytes: number } | null> =>
			inTurn(name, async (dir) => {
				const newest = (await readVersions(dir)).get(path)?.at(-1);
				return openKept(dir, newest?.stamp === stampOf(facts) ? newest.copy : undefined);
			}),
		/** To a workspace that has none; `keep` tells them from what its files have in them now. */
		copyAll: (name: string, toName: string): Promise<void> =>
			inTurn(name, (dir) => copyFolder(dir, join(root, toName), () => undefined)),
		removeAll: (name: string): Promise<void> => inTurn(name, removeFolder)
	};
}

/** The known versions, the last of which is what the file has in it, unless it's larger than `maxBytes`. */
async function keepFile(
	dir: string,
	{ facts, open: openIt }: CurrentFile,
	known: Version[],
	maxBytes = MAX_FILE_BYTES
): Promise<Version[]> {
	// One that was deleted is there again.
	const earlier = known.map(({ deletedAt: _, ...version }) => version);
	const newest = earlier.at(-1);
	const stamp = stampOf(facts);
	if (newest?.stamp === stamp || facts.size > maxBytes) return earlier;
	const file = await openIt();
	if (!file) return earlier;
	const { id, bytes } = await copy(dir, file, maxBytes).finally(() => file.close());
	const version = { id, bytes, modifiedAt: facts.mtime.toISOString(), stamp };
	// Written again, with the same in it.
	return newest?.id === id ? [...earlier.slice(0, -1), { ...newest, stamp }] : [...earlier, version];
}

function contentsOf(versions: readonly Version[]): { id: string; bytes: number }[] {
	return versions.flatMap(({ copy, ...version }) => (copy ? [version, copy] : [version]));
}

async function openKept(
	dir: string,
	kept: { id: string; bytes: number } | undefined
): Promise<{ file: FileHandle; bytes: number } | null> {
	const file = kept && (await open(join(dir, kept.id)).catch(ignoring('ENOENT')));
	return kept && file ? { file, bytes: kept.bytes } : null;
}

function mayComeBack(known: readonly Version[]): boolean {
	const { deletedAt } = known.at(-1) ?? {};
	return deletedAt !== undefined && Date.now() - Date.parse(deletedAt) < DELETED_MS;
}

function stampOf({ size, mtimeMs, ino }: Stats): string {
	return `${size}:${mtimeMs}:${ino}`;
}

/** Under the name of its digest, whole or not at all. */
async function copy(dir: string, file: FileHandle, maxBytes: number): Promise<{ id: string; bytes: number }> {
	const staging = join(dir, `.${randomUUID()}`);
	try {
		const target = await open(staging, 'wx', 0o600);
		const hash = createHash('sha256');
		let bytes = 0;
		try {
			// It may grow meanwhile.
			for await (const piece of readInPieces(file, maxBytes)) {
				hash.update(piece);
				await target.writeFile(piece);
				bytes += piece.length;
			}
		} finally {
			await target.close();
		}
		const id = hash.digest('hex');
		await rename(staging, join(dir, id));
		return { id, bytes };
	} catch (error) {
		await rm(staging, { force: true });
		throw error;
	}
}

/** The oldest contents go first; what a file holds now stays. */
function fit(versions: Versions, maxBytes: number): void {
	const all = [...versions.values()].flat();
	const sizes = new Map(contentsOf(all).map(({ id, bytes }) => [id, bytes]));
	let total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
	const older = [...versions].flatMap(([path, list]) => list.slice(0, -1).map((version) => ({ path, version })));
	older.sort((one, other) => (one.version.modifiedAt < other.version.modifiedAt ? -1 : 1));
	for (const { path, version } of older) {
		if (total <= maxBytes) return;
		versions.set(path, versions.get(path)?.filter((each) => each !== version) ?? []);
		const used = new Set(contentsOf([...versions.values()].flat()).map(({ id }) => id));
		for (const { id, bytes } of contentsOf([version])) if (!used.has(id)) total -= bytes;
	}
}

async function readVersions(dir: string): Promise<Versions> {
	return new Map(await readIndex(dir, index));
}

async function writeVersions(dir: string, versions: Versions): Promise<void> {
	const ids = contentsOf([...versions.values()].flat()).map(({ id }) => id);
	await writeIndex(dir, [...versions], ids);
}

/** null where there is none, and where it is no index: what was kept is lost then, and the files themselves are not. */
export async function readIndex<Content>(dir: string, schema: z.ZodType<Content>): Promise<Content | null> {
	const text = await readFile(join(dir, INDEX), 'utf8').catch(ignoring('ENOENT'));
	return schema.safeParse(parseJson(text ?? '')).data ?? null;
}

/** The index first, then what it doesn't name any more: a stop in between leaves too much, never too little. */
export async function writeIndex(dir: string, content: unknown, ids: readonly string[]): Promise<void> {
	await writeWhole(dir, INDEX, JSON.stringify(content));
	const named = new Set([INDEX, ...ids]);
	for (const name of await readdir(dir)) if (!named.has(name)) await rm(join(dir, name), { force: true });
}

/** Whole or not at all. */
export async function writeWhole(dir: string, name: string, content: string | Buffer): Promise<void> {
	const staging = join(dir, `.${randomUUID()}`);
	try {
		await writeFile(staging, content, { mode: 0o600 });
		await rename(staging, join(dir, name));
	} finally {
		await rm(staging, { force: true });
	}
}
