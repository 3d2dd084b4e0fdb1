/** Reads the beginning of a workspace file, for a preview, and tells whether it is still what it was. */
import { ApiError, errorFromBody, unreachable } from './api-error.ts';
import { goToLogin } from './login.ts';

export interface FileStart {
	text: string;
	isCut: boolean;
	/** Of the whole file; null where the server does not say. */
	bytes: number | null;
}

/** At most `maxBytes`; the rest is not fetched. Throws an `ApiError`. */
export async function readStart(url: string, maxBytes: number): Promise<FileStart> {
	const response = await fetch(url).catch((error: unknown) => {
		throw unreachable(error);
	});
	if (response.status === 401) goToLogin();
	if (!response.ok) throw errorFromBody(response.status, await response.text());
	if (!response.body) throw new ApiError('internal', 'The file came without content.');
	const whole = sizeOf(response);
	const decoder = new TextDecoder();
	const reader = response.body.getReader();
	let text = '';
	let bytes = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done) return { text: text + decoder.decode(), isCut: false, bytes: whole ?? bytes };
		const rest = maxBytes - bytes;
		text += decoder.decode(value.subarray(0, rest), { stream: true });
		bytes += value.byteLength;
		if (bytes <= maxBytes) continue;
		await reader.cancel();
		return { text, isCut: true, bytes: whole };
	}
}

export type FileState = 'same' | 'gone' | { bytes: number };

/** Is the file still there, as long as it was? What cannot be told counts as the same. Never rejects. */
export async function checkFile(url: string, bytes: number): Promise<FileState> {
	const response = await fetch(url, { method: 'HEAD' }).catch(() => null);
	if (response?.status === 404) return 'gone';
	const now = response?.ok && response.headers.has('content-disposition') ? sizeOf(response) : null;
	return now === null || now === bytes ? 'same' : { bytes: now };
}

function sizeOf(response: Response): number | null {
	const length = response.headers.get('content-length');
	// A body that was compressed on its way is not as long as the file.
	return length === null || response.headers.has('content-encoding') ? null : Number(length);
}
