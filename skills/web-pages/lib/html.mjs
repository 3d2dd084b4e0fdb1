/** An HTML text as a tree, without running anything of it. It reads what pages write, not only what is valid. */

const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));
/** Their content is text up to their own end. */
const RAW = new Set('script style textarea title xmp iframe noembed noframes'.split(' '));
/** What a new element closes without saying so. */
const CLOSES = new Map(
	Object.entries({
		li: 'li', dt: 'dt dd', dd: 'dt dd', tr: 'tr td th', td: 'td th', th: 'td th', option: 'option',
		tbody: 'thead tbody tr td th caption', tfoot: 'tbody tr td th', thead: 'caption'
	}).map(([name, closed]) => [name, new Set(closed.split(' '))])
);
/** Each of them ends an open paragraph. */
const BLOCKS = new Set('address article aside blockquote details div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul'.split(' '));
/** Nothing is closed beyond them. */
const WALLS = new Set('table ul ol dl select #root'.split(' '));
const MAX_DEPTH = 500;
const ENTITIES = {
	amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', copy: '©', reg: '®', trade: '™', euro: '€', pound: '£', yen: '¥', cent: '¢',
	hellip: '…', mdash: '—', ndash: '–', lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', laquo: '«', raquo: '»', bull: '•', middot: '·',
	times: '×', divide: '÷', deg: '°', plusmn: '±', frac12: '½', sect: '§', para: '¶', larr: '←', rarr: '→', szlig: 'ß', shy: '', zwnj: '', zwj: '',
	...{ auml: 'ä', ouml: 'ö', uuml: 'ü', Auml: 'Ä', Ouml: 'Ö', Uuml: 'Ü', eacute: 'é', Eacute: 'É', egrave: 'è', agrave: 'à', aacute: 'á', ccedil: 'ç' },
	...{ ecirc: 'ê', ntilde: 'ñ', iacute: 'í', oacute: 'ó', uacute: 'ú', aring: 'å', Aring: 'Å', oslash: 'ø', aelig: 'æ', ocirc: 'ô', icirc: 'î', acirc: 'â' }
};

/** `{ name, attributes, children }`; a child is such an element or a text. */
export function parseHtml(html) {
	const root = { name: '#root', attributes: {}, children: [] };
	const open = [root];
	const top = () => open.at(-1);
	const token = /<!--[^]*?(?:-->|$)|<[!?][^<>]*>|<\/([a-z][^\s/<>]*)[^<>]*>|<([a-z][^\s/>]*)((?:[^>"']|"[^"]*"|'[^']*')*)>/giy;
	let at = 0;
	while (at < html.length) {
		const next = html.indexOf('<', at);
		if (next !== at) {
			top().children.push(decoded(html.slice(at, next < 0 ? html.length : next)));
			if (next < 0) break;
		}
		token.lastIndex = next;
		const found = token.exec(html);
		if (!found) {
			top().children.push('<');
			at = next + 1;
			continue;
		}
		at = token.lastIndex;
		const [, ended, started, written = ''] = found;
		if (ended) close(open, ended.toLowerCase());
		if (!started) continue;
		const name = started.toLowerCase();
		const element = { name, attributes: attributesOf(written), children: [] };
		makeRoom(open, name);
		top().children.push(element);
		if (RAW.has(name)) {
			const end = html.slice(at).search(new RegExp(`</${name}[\\s/>]`, 'i'));
			element.children.push(name === 'title' ? decoded(html.slice(at, end < 0 ? html.length : at + end)) : '');
			at = end < 0 ? html.length : at + end;
		} else if (!VOID.has(name) && !written.endsWith('/') && open.length < MAX_DEPTH) open.push(element);
	}
	return root;
}

function close(open, name) {
	const index = open.findLastIndex((element) => element.name === name);
	// The end of a list doesn't end the table around it.
	const wall = WALLS.has(name) ? 0 : open.findLastIndex((element) => element.name === 'table');
	if (index > 0 && index > wall) open.length = index;
}

function makeRoom(open, name) {
	const closed = CLOSES.get(name);
	if (closed) {
		const wall = open.findLastIndex((element) => WALLS.has(element.name));
		const first = open.findIndex((element, index) => index > wall && closed.has(element.name));
		if (first > 0) open.length = first;
	} else if (BLOCKS.has(name) && open.at(-1).name === 'p') open.length -= 1;
}

function attributesOf(written) {
	const attributes = {};
	for (const [, name, double, single, bare] of written.matchAll(/([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g))
		attributes[name.toLowerCase()] ??= decoded(double ?? single ?? bare ?? '');
	return attributes;
}

function decoded(text) {
	if (!text.includes('&')) return text;
	return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,10}));?/gi, (all, decimal, hex, name) => {
		const code = decimal ? Number(decimal) : parseInt(hex ?? '0', 16);
		if (name) return Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : all;
		return code > 0 && code < 0x110000 && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : '�';
	});
}

/** All elements of these names, in their order. */
export function findAll(element, names) {
	const found = [];
	const visit = (each) => {
		if (typeof each === 'string') return;
		if (names.includes(each.name)) found.push(each);
		each.children.forEach(visit);
	};
	visit(element);
	return found;
}

/** Does nobody see it? Such text may speak to a model only. */
export function isHidden({ name, attributes }) {
	const style = attributes.style ?? '';
	return (
		'hidden' in attributes || attributes['aria-hidden'] === 'true' || (name === 'input' && attributes.type === 'hidden') ||
		/display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])/i.test(style)
	);
}
