/** The page inside the diagram frame. Its policy allows only its own script and loads nothing. */
import frame from './frame.js?raw';

export function diagramPage(nonce: string): string {
	return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Diagram</title>
<style>body{margin:0;overflow:hidden}svg{display:block;margin:0 auto;max-width:100%;height:auto}</style></head>
<body><script nonce="${nonce}">${withoutHandlers.toString()}
${frame}</script></body></html>`;
}

/** `sandbox` too: opening the address directly gives it no origin either. */
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

/**
 * Turns inline event handlers (`on…`) into `data-on…` before the HTML is parsed, because Chromium (156) applies the page's
 * policy to them even in a sanitizer's document. Finds tags as the HTML standard does. Its source is put into the frame, so
 * it must be self-contained.
 */
export function withoutHandlers(html: string): string {
	if (!/<[a-z][^]*on/i.test(html)) return html;
	const name = /[\t\n\f\r /]*([^\t\n\f\r />][^\t\n\f\r />=]*)/y;
	const value = /[\t\n\f\r ]*=[\t\n\f\r ]*(?:"[^"]*"?|'[^']*'?|[^\t\n\f\r >]*)/y;
	const handlers = new Set<number>();
	for (const tag of html.matchAll(/<[a-z][^\t\n\f\r />]*/gi)) {
		name.lastIndex = tag.index + tag[0].length;
		for (let found = name.exec(html); found?.[1] !== undefined; found = name.exec(html)) {
			if (/^on/i.test(found[1])) handlers.add(name.lastIndex - found[1].length);
			value.lastIndex = name.lastIndex;
			if (value.test(html)) name.lastIndex = value.lastIndex;
		}
	}
	let [clean, end] = ['', 0];
	for (const start of [...handlers].sort((a, b) => a - b)) {
		clean += `${html.slice(end, start)}data-`;
		end = start;
	}
	return clean + html.slice(end);
}
