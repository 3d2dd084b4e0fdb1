/**
 * HTML without inline event handlers, before anything has parsed it: Chromium (156) holds them against the policy of the
 * page even in the document of a sanitizer. The function is put into the frame as its own source, so it stands alone.
 */

/** Each `on…` attribute becomes `data-on…`; from every `<` that could begin a tag, as the HTML standard reads one. */
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
