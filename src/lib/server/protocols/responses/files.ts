/** Files that come with a request: into the workspace of the call, where scripts find them (FEATURES F5, F12). */
import { plainLine } from '../../../shared/characters.ts';
import { createHash } from 'node:crypto';
import { AppError } from '../../../shared/errors.ts';
import type { Workspaces } from '../../runs/workspaces.ts';
import { endingOf } from '../media-types.ts';
import { ApiError } from './errors.ts';

export interface GivenFile {
	filename?: string | null | undefined;
	/** Base64, or a data URL of it. */
	file_data?: string | null | undefined;
}

/** Names it as it is called in the workspace. @throws ApiError when it cannot be kept; `param` names the part */
export async function keepFile(
	{ workspaces, folder }: { workspaces: Workspaces; folder: string },
	{ filename, file_data: data }: GivenFile,
	param: string
): Promise<string> {
	const { bytes, mediaType } = decode(data ?? '', param);
	const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8);
	const wanted = plainName(filename ?? '') || `file-${hash}${endingOf(mediaType)}`;
	// One key's requests share a folder: a name that means another file already is left to that one.
	const name = (await isOther({ workspaces, folder }, wanted, bytes)) ? withMark(wanted, hash) : wanted;
	try {
		await workspaces.write(folder, name, new Blob([bytes]).stream());
		return name;
	} catch (error) {
		if (!(error instanceof AppError) || error.status >= 500) throw error;
		throw new ApiError(400, `${param}.filename: ${error.message}`, {
			code: 'invalid_value',
			param: `${param}.filename`
		});
	}
}

function decode(data: string, param: string): { bytes: Buffer<ArrayBuffer>; mediaType: string } {
	const [, mediaType = '', encoding, payload = data] =
		/^data:([^;,]*)(?:;[^;,]*)*?(;base64)?,([^]*)$/i.exec(data) ?? [];
	if (data.startsWith('data:') && encoding === undefined) {
		try {
			return { bytes: Buffer.from(decodeURIComponent(payload)), mediaType };
		} catch {
			// As no base64 is.
		}
	}
	const packed = payload.replaceAll(/\s+/g, '');
	if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(packed)) {
		const place = `${param}.file_data`;
		throw new ApiError(400, `${place}: must be base64, or a data URL`, { code: 'invalid_value', param: place });
	}
	return { bytes: Buffer.from(packed, 'base64'), mediaType };
}

/** A name without a path, of characters that every system takes. */
function plainName(filename: string): string {
	const name = filename.split(/[\\/]/).at(-1) ?? '';
	return plainLine(name.toWellFormed())
		.normalize('NFC')
		.replaceAll(/[<>:"|?*]/g, '_')
		.replace(/^[. ]+|[. ]+$/g, '')
		.slice(0, 120);
}

function withMark(name: string, mark: string): string {
	const dot = name.lastIndexOf('.');
	return dot <= 0 ? `${name}-${mark}` : `${name.slice(0, dot)}-${mark}${name.slice(dot)}`;
}

async function isOther(
	{ workspaces, folder }: { workspaces: Workspaces; folder: string },
	name: string,
	bytes: Buffer
): Promise<boolean> {
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
