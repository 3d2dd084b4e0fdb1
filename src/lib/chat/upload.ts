/** Sends files and reports how far it is; `fetch` cannot report the progress of an upload, so XMLHttpRequest. */
import { ApiError, errorFromBody, unreachable } from './api-error.ts';
import { goToLogin } from './login.ts';

export interface UploadOptions {
	signal: AbortSignal;
	/** From 0 to 1. */
	onprogress: (share: number) => void;
}

interface Upload {
	method: 'PUT' | 'POST';
	url: string;
	body: Blob | FormData;
	/** Of a blob, whose own type must not decide anything on the server; a form says its type itself. */
	contentType: 'application/octet-stream' | 'application/zip' | 'application/json' | null;
}

/** Throws an `ApiError`; when the signal fires, its reason. */
export function upload<Answer>(
	{ method, url, body, contentType }: Upload,
	{ signal, onprogress }: UploadOptions
): Promise<Answer> {
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
			if (isOk) resolve(JSON.parse(request.responseText) as Answer);
			else reject(errorFromBody(request.status, request.responseText));
		};
		request.onerror = () => reject(unreachable());
		request.ontimeout = () => reject(new ApiError('unavailable', 'The upload took too long.'));
		request.onabort = () => reject(signal.reason);
		request.onloadend = () => signal.removeEventListener('abort', abort);
		request.open(method, url);
		if (contentType !== null) request.setRequestHeader('content-type', contentType);
		request.setRequestHeader('accept', 'application/json');
		request.send(body);
	});
}
