/** Files that were chosen, dropped or pasted, and adding them to the next message. */
import type { ChatSession } from '../conversation/session.svelte.ts';
import type { WorkspaceFile } from '../../shared/api.ts';
import { fileUrl, openFile, safePath } from '../files/files.ts';
import type { FolderFile } from '../server.ts';
import type { Attachment } from './chat-attachment.svelte.ts';

/** Larger files are uploaded again. */
const MAX_COMPARED = 20_000_000;
/** What `uniqueNames` appends. */
const NUMBER = / \(\d+\)(?=(?:\.[^./]{1,11})?$)/;
/** Never part of a skill, and often large. */
const LEFT_OUT = /(^|\/)(\.git|node_modules|__pycache__|\.DS_Store)(\/|$)/;

/** Files from a picker; `webkitdirectory` gives them a path. */
export function chosenFiles(files: Iterable<File>): FolderFile[] {
	return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** Drops what tools put beside a skill. */
export function skillFiles(files: readonly FolderFile[]): { kept: FolderFile[]; leftOut: number } {
	const kept = files.filter(({ path }) => !LEFT_OUT.test(path));
	return { kept, leftOut: files.length - kept.length };
}

export function isArchive({ name, type }: File): boolean {
	return /\.(zip|skill)$/i.test(name) || type === 'application/zip';
}

/** Name of the skill if this is an archive or a folder with a SKILL.md; otherwise null. */
export function skillIn(files: readonly FolderFile[]): string | null {
	const [first] = files;
	if (files.length === 1 && first && isArchive(first.file)) return first.file.name;
	const found = files.find(({ path }) => /^[^/]+(\/[^/]+){0,2}\/SKILL\.md$/i.test(path));
	return found?.path.split('/')[0] ?? null;
}

/** All dropped files, folders expanded. Must be called while the event is handled. */
export async function droppedFiles(data: DataTransfer): Promise<FolderFile[]> {
	const entries = [...data.items].map((item) => item.webkitGetAsEntry());
	// Browsers without entries don't support folders either.
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

/** A reader returns a batch at a time, and an empty one at the end. */
async function entriesOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
	const all: FileSystemEntry[] = [];
	for (;;) {
		const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
		if (some.length === 0) return all;
		all.push(...some);
	}
}

/** Uploads files next to those in the workspace; one that is there with the same content is used as it is. */
export async function attachFiles(session: ChatSession, files: readonly FolderFile[]): Promise<void> {
	if (files.length === 0) return;
	const known = await listed(session);
	const there = await Promise.all(files.map((file) => findSame(session, known, file)));
	const fresh = files.filter((_, at) => there[at] === undefined);
	if (fresh.length > 0) session.draft.attach(fresh, takenPaths(session, known));
	for (const same of there) if (same) session.draft.mention(same.path, same.bytes);
}

/** Under its name, or the one that it got beside another file of that name. */
async function findSame(
	session: ChatSession,
	known: readonly WorkspaceFile[],
	{ path, file }: FolderFile
): Promise<WorkspaceFile | undefined> {
	const name = safePath(path);
	const isCalledSo = (there: string) => there === name || there.replace(NUMBER, '') === name;
	const alike = known.filter(({ path: there, bytes }) => bytes === file.size && isCalledSo(there));
	if (alike.length === 0 || file.size > MAX_COMPARED) return undefined;
	const content = new Uint8Array(await file.arrayBuffer());
	for (const each of alike) {
		const response = await openFile(fileUrl(session.id, each.path)).catch(() => null);
		const bytes = new Uint8Array((await response?.arrayBuffer().catch(() => null)) ?? []);
		if (bytes.length === content.length && bytes.every((byte, at) => byte === content[at])) return each;
	}
	return undefined;
}

/** Attaches a text too long for the box as a file. */
export async function attachText(session: ChatSession, pasted: string): Promise<void> {
	const file = new File([pasted], 'Pasted text.txt', { type: 'text/plain' });
	session.draft.attach([{ path: file.name, file }], takenPaths(session, await listed(session)), { pastedText: pasted });
}

async function listed(session: ChatSession): Promise<WorkspaceFile[]> {
	return session.phase === 'new' ? [] : session.client.listFiles(session.id).catch(() => []);
}

/** Workspace paths that must not be overwritten: earlier messages show what is there. */
function takenPaths(session: ChatSession, known: readonly WorkspaceFile[]): string[] {
	const messages = [...session.entries.map(({ message }) => message), ...session.queue.items];
	return [...known.map(({ path }) => path), ...messages.flatMap(({ files }) => files)];
}

/** Pasted text with this many characters or more becomes a file. */
export const LONG_PASTE = 4_000;

export type Pasted = { files: File[] } | { longText: string } | null;

/** What to do with pasted data; null: insert it as it is. */
export function pastedFrom(data: Pick<DataTransfer, 'files' | 'getData' | 'types'> | null): Pasted {
	if (!data) return null;
	const text = data.getData('text/plain');
	// Office programs add a picture of copied text; use the text.
	const isPicturedText = text.trim() !== '' && data.types.includes('text/html');
	if (data.files.length > 0 && !isPicturedText) return { files: [...data.files] };
	return text.length >= LONG_PASTE ? { longText: text } : null;
}

/** Removes and returns the last attachment, or else the name of the last skill waiting to be pinned; null if there was none. */
export function removeLastPill(session: ChatSession): Attachment | string | null {
	const attachment = session.draft.attachments.at(-1);
	if (attachment) {
		session.draft.remove(attachment);
		return attachment;
	}
	const pin = session.skills.pins.at(-1);
	if (pin === undefined) return null;
	void session.skills.unpin(pin);
	return pin;
}
