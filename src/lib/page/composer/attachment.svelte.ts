/** The files of a folder that somebody chose or dropped, with their paths in it. */
import type { ChatSession } from '../conversation/session.svelte.ts';
import type { FolderFile } from '../server.ts';

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

/** Looks like a skill: an archive, or a folder with a SKILL.md. What it is called, or null for other files. */
export function skillIn(files: readonly FolderFile[]): string | null {
	const [first] = files;
	if (files.length === 1 && first && isArchive(first.file)) return first.file.name;
	const found = files.find(({ path }) => /^[^/]+(\/[^/]+){0,2}\/SKILL\.md$/i.test(path));
	return found?.path.split('/')[0] ?? null;
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

// Puts files into the next message of a conversation: chosen, dropped, pasted, or of its workspace already.

/** Uploads them beside the files that are there already. */
export async function attachFiles(session: ChatSession, files: readonly FolderFile[]): Promise<void> {
	if (files.length > 0) session.draft.attach(files, await takenPaths(session));
}

/** A text that is too long for the box goes as a file. */
export async function attachText(session: ChatSession, pasted: string): Promise<void> {
	const file = new File([pasted], 'Pasted text.txt', { type: 'text/plain' });
	session.draft.attach([{ path: file.name, file }], await takenPaths(session), { pastedText: pasted });
}

/** Workspace paths that a new file must not have. */
async function takenPaths(session: ChatSession): Promise<string[]> {
	const known = session.phase === 'new' ? [] : await session.client.listFiles(session.id).catch(() => []);
	const messages = [...session.entries.map(({ message }) => message), ...session.queue.items];
	return [...known.map(({ path }) => path), ...messages.flatMap(({ files }) => files)];
}

// A text that is pasted and too long for a message: it becomes a file that goes with it. Pure.

/** From this many characters on. */
export const LONG_PASTE = 4_000;

export type Pasted = { files: File[] } | { longText: string } | null;

/** What becomes of what was pasted; null: it is put into the box as it is. */
export function pastedFrom(data: Pick<DataTransfer, 'files' | 'getData' | 'types'> | null): Pasted {
	if (!data) return null;
	const text = data.getData('text/plain');
	// Office programs add a picture of the text that is copied: the text is meant.
	const isPicturedText = text.trim() !== '' && data.types.includes('text/html');
	if (data.files.length > 0 && !isPicturedText) return { files: [...data.files] };
	return text.length >= LONG_PASTE ? { longText: text } : null;
}

// What goes with the next message besides its text: files, and skills that are to be pinned.

/** Takes out the last file, or else the last skill that waits to be pinned; its name, or null where there is none. */
export function removeLastPill(session: ChatSession): string | null {
	const attachment = session.draft.attachments.at(-1);
	if (attachment) {
		session.draft.remove(attachment);
		return attachment.path;
	}
	const pin = session.skills.pins.at(-1);
	if (pin === undefined) return null;
	void session.skills.unpin(pin);
	return pin;
}
