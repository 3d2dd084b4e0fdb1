/** Puts files into the next message of a conversation: chosen, dropped, pasted, or of its workspace already. */
import type { FolderFile } from './registry-client.ts';
import type { ChatSession } from './session.svelte.ts';

/** Uploads them beside the files that are there already. */
export async function attachFiles(session: ChatSession, files: readonly FolderFile[]): Promise<void> {
	if (files.length > 0) session.draft.attach(files, await takenPaths(session));
}

/** A text that is too long for the box goes as a file. */
export async function attachText(session: ChatSession, pasted: string): Promise<void> {
	const file = new File([pasted], 'Pasted text.txt', { type: 'text/plain' });
	session.draft.attach([{ path: file.name, file }], await takenPaths(session), pasted);
}

/** Workspace paths that a new file must not have. */
async function takenPaths(session: ChatSession): Promise<string[]> {
	const known = session.phase === 'new' ? [] : await session.client.listFiles(session.id).catch(() => []);
	const messages = [...session.entries.map(({ message }) => message), ...session.queue.items];
	return [...known.map(({ path }) => path), ...messages.flatMap(({ files }) => files)];
}
