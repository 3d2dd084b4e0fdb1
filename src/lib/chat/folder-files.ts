/** The files of a folder that somebody chose or dropped, with their paths in it. */
import type { FolderFile } from './registry-client.ts';

/** Never part of a skill, and often large. */
const LEFT_OUT = /(^|\/)(\.git|node_modules|__pycache__|\.DS_Store)(\/|$)/;

/** Of files that were chosen: by `webkitdirectory` they have a path, else they are loose. */
export function chosenFiles(files: Iterable<File>): FolderFile[] {
	return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** Leaves out what tools put beside a skill. */
export function skillFiles(files: readonly FolderFile[]): { kept: FolderFile[]; leftOut: number } {
	const kept = files.filter(({ path }) => !LEFT_OUT.test(path));
	return { kept, leftOut: files.length - kept.length };
}

export function isArchive({ name, type }: File): boolean {
	return /\.(zip|skill)$/i.test(name) || type === 'application/zip';
}

/** Everything in what was dropped, folders with all that is in them. Must be called while the event is handled. */
export async function droppedFiles(data: DataTransfer): Promise<FolderFile[]> {
	const entries = [...data.items].map((item) => item.webkitGetAsEntry());
	// Where the browser knows no entries there are no folders either.
	if (entries.every((entry) => entry === null)) return chosenFiles(data.files);
	const found = await Promise.all(entries.filter((entry) => entry !== null).map(filesOf));
	return found.flat();
}

async function filesOf(entry: FileSystemEntry): Promise<FolderFile[]> {
	const path = entry.fullPath.replace(/^\/+/, '');
	if (LEFT_OUT.test(path)) return [];
	if (entry.isFile) {
		const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
		return [{ path, file }];
	}
	const children = await entriesOf((entry as FileSystemDirectoryEntry).createReader());
	return (await Promise.all(children.map(filesOf))).flat();
}

/** A reader gives out some at a time, and none at the end. */
async function entriesOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
	const all: FileSystemEntry[] = [];
	for (;;) {
		const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
		if (some.length === 0) return all;
		all.push(...some);
	}
}
