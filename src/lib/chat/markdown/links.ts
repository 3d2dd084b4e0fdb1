/** Which addresses in foreign text may become links. */

const SAFE_PROTOCOLS = new Set(['http:', 'https:', 'mailto:']);

/** The address in the browser's own spelling, or null: only http, https, mailto, and anchors (`#…`). */
export function safeHref(href: string): string | null {
	const trimmed = href.trim();
	if (trimmed.startsWith('#')) return trimmed;
	// Without a base: a relative address would lead into the app.
	const url = URL.parse(trimmed);
	return url && SAFE_PROTOCOLS.has(url.protocol) ? url.href : null;
}

/** As `safeHref`, for what can be an image: http and https only. */
export function safeImageHref(href: string): string | null {
	const safe = safeHref(href);
	return safe && /^https?:/.test(safe) ? safe : null;
}
