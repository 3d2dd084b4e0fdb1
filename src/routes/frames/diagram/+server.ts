/** GET /frames/diagram: the sandboxed page that draws diagrams, for a frame of our own pages only (SECURITY, *What people see*). */
import { diagramPage, diagramPolicy } from './diagram-page.ts';
import type { RequestHandler } from './$types';

export const GET: RequestHandler = () => {
	const nonce = crypto.randomUUID();
	return new Response(diagramPage(nonce), {
		headers: {
			'content-type': 'text/html; charset=utf-8',
			'content-security-policy': diagramPolicy(nonce),
			'x-frame-options': 'SAMEORIGIN'
		}
	});
};
