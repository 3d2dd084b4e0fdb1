/** Reads the beginning of a workspace file, for a preview. */
import { ApiError, errorFromBody, unreachable } from './api-error.ts';
import { goToLogin } from './login.ts';

/** At most `maxBytes`; the rest is not fetched. Throws an `ApiError`. */
export async function readStart(url: string, maxBytes: number): Promise<{ text: string; isCut: boolean }> {
	const response = await fetch(url).catch((error: unknown) => {
		throw unreachable(error);
	});
	if (response.status === 401) goToLogin();
	if (!response.ok) throw errorFromBody(response.status, await response.text());
	if (!response.body) throw new ApiError('internal', 'The file came without content.');
	const decoder = new TextDecoder();
	const reader = response.body.getReader();
	let text = '';
	let bytes = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done) return { text: text + decoder.decode(), isCut: false };
		const rest = maxBytes - bytes;
		text += decoder.decode(value.subarray(0, rest), { stream: true });
		bytes += value.byteLength;
		if (bytes <= maxBytes) continue;
		await reader.cancel();
		return { text, isCut: true };
	}
}
