/** Character references (`&amp;`, `&#8211;`) as the characters they stand for. */

const NAMED: Readonly<Record<string, string>> = {
	amp: '&',
	lt: '<',
	gt: '>',
	quot: '"',
	apos: "'",
	nbsp: '\u00a0',
	copy: '©',
	reg: '®',
	trade: '™',
	deg: '°',
	middot: '·',
	bull: '•',
	hellip: '…',
	ndash: '–',
	mdash: '—',
	lsquo: '‘',
	rsquo: '’',
	ldquo: '“',
	rdquo: '”',
	laquo: '«',
	raquo: '»',
	times: '×',
	divide: '÷',
	plusmn: '±',
	le: '≤',
	ge: '≥',
	ne: '≠',
	larr: '←',
	rarr: '→',
	euro: '€',
	pound: '£',
	sect: '§',
	para: '¶'
};

/** References that it does not know stay as they are written. */
export function decodeEntities(text: string): string {
	if (!text.includes('&')) return text;
	return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
		if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
		const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
		const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
		return isCharacter ? String.fromCodePoint(code) : '\ufffd';
	});
}
