/** Files that come along in a program’s message, as base64: what they’re called, and saving them to a workspace. */
import { hash } from 'node:crypto';
import { plainLine } from '../../shared/characters.ts';
import { AppError } from '../../shared/errors.ts';
import { extensionOf } from '../conversations/file-headers.ts';
import type { Workspaces } from '../workspaces.ts';

export interface Received {
	bytes: Buffer<ArrayBuffer>;
	/** Empty if unknown. */
	mediaType: string;
}

/** Longer than a name can be, with what is taken out of it. */
const MAX_GIVEN_NAME = 1000;

/** Reads base64, or a data URL; null if it's neither. */
export function decodeReceived(data: string): Received | null {
	const [, mediaType = '', encoding, payload = data] =
		/^data:([^;,]*)(?:;[^;,]*)*?(;base64)?,([^]*)$/i.exec(data) ?? [];
	if (data.startsWith('data:') && encoding === undefined) {
		try {
			return { bytes: Buffer.from(decodeURIComponent(payload)), mediaType };
		} catch {
			// Not valid base64 either: refused below.
		}
	}
	const packed = payload.replaceAll(/\s+/g, '');
	// One pass: `=+$` would look at a long row of signs once for each of them.
	const digits = /^([A-Za-z0-9+/_-]*)={0,2}$/.exec(packed)?.[1];
	if (digits === undefined || digits.length % 4 === 1) return null;
	return { bytes: Buffer.from(packed, 'base64'), mediaType };
}

/** The caller's name without a path, with characters that every system accepts; else `kind` and a mark of the content. */
export function nameOfReceived({
	bytes,
	mediaType,
	filename,
	kind = 'file'
}: Received & { filename?: string | null | undefined; kind?: string }): string {
	const name = (filename ?? '').split(/[\\/]/).at(-1) ?? '';
	// What follows looks at a long row of dots once for each of them.
	const plain = plainLine(name.slice(0, MAX_GIVEN_NAME).toWellFormed())
		.normalize('NFC')
		.replaceAll(/[<>:"|?*]/g, '_')
		.replace(/^[. ]+|[. ]+$/g, '')
		.slice(0, 120);
	return plain || `${kind}-${markOf(bytes)}${extensionOf(mediaType)}`;
}

/**
 * Saves a file to the workspace and returns its name there (F5, F12). It doesn't overwrite another file of that
 * name, because a key's requests share a workspace. @throws AppError as `Workspaces.write`
 */
export async function keepReceived(
	workspaces: Workspaces,
	folder: string,
	{ name: wanted, bytes }: { name: string; bytes: Buffer<ArrayBuffer> }
): Promise<string> {
	const name = (await isOther(workspaces, folder, wanted, bytes)) ? withMark(wanted, markOf(bytes)) : wanted;
	await workspaces.write(folder, name, new Blob([bytes]).stream());
	return name;
}

/** A line for the question. Nothing is fetched here, and only the question's text is stored. */
export function tellAddress(address: string): string {
	return `Sent by address, not fetched: ${plainLine(address).slice(0, 2000)}`;
}

function markOf(bytes: Buffer): string {
	return hash('sha256', bytes).slice(0, 8);
}

function withMark(name: string, mark: string): string {
	const dot = name.lastIndexOf('.');
	return dot <= 0 ? `${name}-${mark}` : `${name.slice(0, dot)}-${mark}${name.slice(dot)}`;
}

async function isOther(workspaces: Workspaces, folder: string, name: string, bytes: Buffer): Promise<boolean> {
	try {
		const { file, bytes: size } = await workspaces.read(folder, name);
		try {
			return size !== bytes.length || !(await file.readFile()).equals(bytes);
		} finally {
			await file.close();
		}
	} catch (error) {
		if (error instanceof AppError) return false;
		throw error;
	}
}
