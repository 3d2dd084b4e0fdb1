/** Who may talk to the server at all: loopback hosts, our own origin, JSON writes; pure (SECURITY, *The server*). */
import { AppError } from '../shared/errors.ts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
const UPLOAD = /^\/api\/conversations\/[^/]+\/files\/.+/;

/** @throws AppError `forbidden` or `unsupported_media_type` */
export function checkDoor(request: { method: string; path: string; headers: Headers }): void {
	const { method, path, headers } = request;
	const host = headers.get('host') ?? '';
	if (!LOOPBACK.test(host)) {
		throw new AppError(
			'forbidden',
			`The host “${host.slice(0, 100)}” is not served here; open it as 127.0.0.1 or localhost.`
		);
	}
	const origin = headers.get('origin');
	if (origin !== null && origin !== `http://${host}` && origin !== `https://${host}`) {
		throw new AppError('forbidden', 'Requests from other sites are refused.');
	}
	if (headers.get('sec-fetch-site') === 'cross-site' && path.startsWith('/api/')) {
		throw new AppError('forbidden', 'Requests from other sites are refused.');
	}
	if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'DELETE') return;
	if (method === 'PUT' && UPLOAD.test(path)) return;
	if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(headers.get('content-type') ?? '')) {
		throw new AppError('unsupported_media_type', 'Send JSON with content-type: application/json.');
	}
}
