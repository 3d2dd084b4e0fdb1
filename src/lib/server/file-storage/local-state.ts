/** What a server knows of its copies of stored folders: which version each file has, and that something may wait to be stored. */
import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../shared/json.ts';
import { ignoring, isThere } from '../foreign-folders.ts';
import { writeWhole } from '../workspace-versions.ts';

const known = z.object({
	/** Of the stored content. */
	sha256: z.string(),
	/** Of the local file when it had this content; empty: it must be looked at. */
	stamp: z.string(),
	/** -1: not known. */
	mode: z.number(),
	version: z.number()
});
const stored = z.object({
	folder: z.string(),
	version: z.number(),
	files: z.array(z.tuple([z.string(), known])),
	refused: z.array(z.string())
});

export type KnownFile = z.infer<typeof known>;

export interface LocalState {
	/** Of the folder, which was brought wholly; 0: never. */
	version: number;
	/** By path. */
	files: Map<string, KnownFile>;
	/** Paths that can't be stored, which was said already. */
	refused: string[];
}

/** A mark says that a folder may have changes that aren't stored. It outlives the process. */
export function createLocalStates(dir: string) {
	const nameOf = (folder: string) => hash('sha256', folder).slice(0, 32);
	const markOf = (folder: string) => `${nameOf(folder)}.changed`;
	return {
		/** Empty where there is none, and where it can't be read: then files are compared by content. */
		async read(folder: string): Promise<LocalState> {
			const text = await readFile(join(dir, `${nameOf(folder)}.json`), 'utf8').catch(ignoring('ENOENT'));
			const { data } = stored.safeParse(parseJson(text ?? ''));
			if (!data) return { version: 0, files: new Map(), refused: [] };
			return { ...data, files: new Map(data.files) };
		},
		async write(folder: string, { version, files, refused }: LocalState): Promise<void> {
			await mkdir(dir, { recursive: true });
			const content = { folder, version, files: [...files], refused } satisfies z.infer<typeof stored>;
			await writeWhole(dir, `${nameOf(folder)}.json`, JSON.stringify(content));
		},
		async mark(folder: string): Promise<void> {
			await mkdir(dir, { recursive: true });
			await writeWhole(dir, markOf(folder), folder);
		},
		isMarked: (folder: string): Promise<boolean> => isThere(join(dir, markOf(folder))),
		unmark: (folder: string): Promise<void> => rm(join(dir, markOf(folder)), { force: true }),
		async remove(folder: string): Promise<void> {
			await rm(join(dir, `${nameOf(folder)}.json`), { force: true });
			await rm(join(dir, markOf(folder)), { force: true });
		},
		async list(): Promise<{ folders: string[]; marked: string[] }> {
			const names = (await readdir(dir).catch(ignoring('ENOENT'))) ?? [];
			const read = async (name: string) => (await readFile(join(dir, name), 'utf8').catch(ignoring('ENOENT'))) ?? '';
			const folders: string[] = [];
			const marked: string[] = [];
			for (const name of names) {
				if (name.endsWith('.changed')) marked.push(await read(name));
				if (!name.endsWith('.json')) continue;
				const { data } = stored.safeParse(parseJson(await read(name)));
				if (data) folders.push(data.folder);
			}
			return { folders, marked: marked.filter(Boolean) };
		}
	};
}
