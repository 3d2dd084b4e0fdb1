/** The headers that a workspace file is served with: whatever a script made, it never acts as a page of ours. */
import { contentType } from './content-type.ts';

/** `isView`: to be looked at in a frame of our page; only pages are, everything else stays a download. */
export function fileHeaders(path: string, bytes: number, isView: boolean): Record<string, string> {
	const name = encodeURIComponent(path.split('/').at(-1) ?? 'file');
	const headers = {
		'content-length': String(bytes),
		'x-content-type-options': 'nosniff',
		'cache-control': 'no-cache'
	};
	if (isView && /\.html?$/i.test(path)) {
		return {
			...headers,
			'content-type': 'text/html; charset=utf-8',
			'content-disposition': `inline; filename*=UTF-8''${name}`,
			// An origin of its own, without scripts, forms and pop-ups; nothing is fetched, and nobody else frames it.
			'content-security-policy':
				"sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
			'x-frame-options': 'SAMEORIGIN',
			'x-dns-prefetch-control': 'off'
		};
	}
	return {
		...headers,
		'content-type': contentType(path),
		'content-disposition': `attachment; filename*=UTF-8''${name}`,
		'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'"
	};
}
