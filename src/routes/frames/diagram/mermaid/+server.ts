/**
 * GET /frames/diagram/mermaid: Mermaid's code as text, which the page hands to the frame, since that can't load anything.
 * Served separately, because compressing five megabytes with the other scripts would double the build time.
 */
import type { RequestHandler } from './$types';

export const GET: RequestHandler = async ({ request }) => {
	const { default: code } = await import('mermaid/dist/mermaid.min.js?raw');
	const headers = new Headers({
		'content-type': 'text/plain; charset=utf-8',
		'cache-control': 'private, max-age=86400',
		vary: 'accept-encoding'
	});
	if (!/\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')) return new Response(code, { headers });
	headers.set('content-encoding', 'gzip');
	return new Response(new Blob([code]).stream().pipeThrough(new CompressionStream('gzip')), { headers });
};
