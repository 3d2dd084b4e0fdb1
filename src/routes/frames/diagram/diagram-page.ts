/** The page inside the frame that draws diagrams: a policy that lets only its own script run, and nothing be loaded. */
import frame from './frame.js?raw';
import { withoutHandlers } from './without-handlers.ts';

export function diagramPage(nonce: string): string {
	return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Diagram</title>
<style>body{margin:0;overflow:hidden}svg{display:block;margin:0 auto;max-width:100%;height:auto}</style></head>
<body><script nonce="${nonce}">${withoutHandlers.toString()}
${frame}</script></body></html>`;
}

/** `sandbox` as well as the frame's own: whoever opens the address itself gets no origin either. */
export function diagramPolicy(nonce: string): string {
	return [
		"default-src 'none'",
		`script-src 'nonce-${nonce}'`,
		"style-src 'unsafe-inline'",
		'img-src data:',
		'sandbox allow-scripts',
		"frame-ancestors 'self'",
		"base-uri 'none'",
		"form-action 'none'"
	].join('; ');
}
