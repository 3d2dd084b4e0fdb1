/** Sends one file and reports how far it is; `fetch` cannot report the progress of an upload, so XMLHttpRequest. */
import type { WorkspaceFile } from '../shared/api.ts';
import { ApiError, errorFromBody, unreachable } from './api-error.ts';
import { goToLogin } from './login.ts';

export interface UploadOptions {
	signal: AbortSignal;
	/** From 0 to 1. */
	onprogress: (share: number) => void;
}

/** Throws an `ApiError`; when the signal fires, its reason. */
export function uploadFile(url: string, file: Blob, { signal, onprogress }: UploadOptions): Promise<WorkspaceFile> {
	return new Promise((resolve, reject) => {
		if (signal.aborted) return reject(signal.reason);
		const request = new XMLHttpRequest();
		const abort = (): void => request.abort();
		signal.addEventListener('abort', abort, { once: true });
		request.upload.onprogress = (event) => {
			if (event.lengthComputable && event.total > 0) onprogress(event.loaded / event.total);
		};
		request.onload = () => {
			if (request.status === 401) goToLogin();
			const isOk = request.status >= 200 && request.status < 300;
			if (isOk) resolve(JSON.parse(request.responseText) as WorkspaceFile);
			else reject(errorFromBody(request.status, request.responseText));
		};
		request.onerror = () => reject(unreachable());
		request.ontimeout = () => reject(new ApiError('unavailable', 'The upload took too long.'));
		request.onabort = () => reject(signal.reason);
		request.onloadend = () => signal.removeEventListener('abort', abort);
		request.open('PUT', url);
		// A file's own type must not decide anything on the server, and other types may be taken for a form.
		request.setRequestHeader('content-type', 'application/octet-stream');
		request.setRequestHeader('accept', 'application/json');
		request.send(file);
	});
}
