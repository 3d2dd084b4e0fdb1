/** Protocol requests with random faults; equal seeds give the same faults. */
import fc from 'fast-check';
import type { Protocol } from '../support/protocol-answers.ts';
import type { Template } from './protocol-templates.ts';

export interface ProtocolRequest {
	/** What it tries. */
	name: string;
	protocol: Protocol;
	method: string;
	path: string;
	headers: Record<string, string>;
	body?: string | Uint8Array<ArrayBuffer>;
}

const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

/** JSON as sent, including what JavaScript values can't represent. */
const ODD_JSON: readonly string[] = [
	...['null', 'true', 'false', '0', '-1', '1.5', '[]', '{}', '[null]', '[[]]', '[{}]', '""', '" "'],
	...['9007199254740993', '-9007199254740993', '1e308', '1e400', '-1e400', '9'.repeat(400), '1e-400', '-0'],
	...['"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udfff\\ud800x"', '"🦜\\u202e\\ufeff"', '"\\r\\nset-cookie: a=b"'],
	...['"__proto__"', '"constructor"', '"toString"', '"hasOwnProperty"', '"../../etc/passwd"', '"C:\\\\con"'],
	...['{"__proto__":{"isAdmin":true}}', '{"constructor":{"prototype":{"isAdmin":true}}}', '{"length":-1}', '{"":""}'],
	...[`"${'x'.repeat(5000)}"`, `"${'\\u0000'.repeat(2000)}"`, `[${'0,'.repeat(5000)}0]`],
	...[deep(40), deep(200), deep(20_000), `${'{"a":'.repeat(300)}0${'}'.repeat(300)}`],
	...['"2025-11-25"', '"1.0"', '"http://127.0.0.1:9/"', '"skill://../../etc/passwd"', '"data:;base64,%%%"']
];

/** A wrong header to send instead of the right one; an empty value omits it. */
const ODD_HEADERS: readonly Record<string, string>[] = [
	{ 'mcp-protocol-version': '1999-01-01' },
	{ 'mcp-protocol-version': '2099-01-01' },
	{ 'mcp-protocol-version': '__proto__' },
	{ 'mcp-protocol-version': '' },
	{ 'mcp-session-id': '__proto__' },
	{ 'mcp-session-id': 'x'.repeat(4000) },
	{ 'mcp-session-id': '' },
	{ 'mcp-method': 'no/such' },
	{ 'mcp-name': '../..' },
	{ 'last-event-id': '-1' },
	{ 'a2a-version': '9.9' },
	{ 'a2a-version': '0.3' },
	{ 'a2a-version': '1.0' },
	{ 'a2a-version': '1.0, 0.3' },
	{ 'a2a-extensions': '__proto__' },
	{ accept: 'text/html' },
	{ accept: 'application/json' },
	{ accept: '*/*;q=0' },
	{ accept: '\xff' },
	{ 'content-type': 'text/plain' },
	{ 'content-type': '' },
	{ 'content-type': 'application/json; charset=utf-7' },
	{ 'content-encoding': 'gzip' },
	{ 'x-forwarded-for': '127.0.0.1, \xff' }
];

const fault = fc.record({
	template: fc.nat(),
	place: fc.nat(),
	json: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...ODD_JSON) }, { weight: 1, arbitrary: fc.json() }),
	kind: fc.oneof(
		{ weight: 10, arbitrary: fc.constant('replace' as const) },
		{ weight: 2, arbitrary: fc.constantFrom('remove', 'add', 'twice') },
		{ weight: 1, arbitrary: fc.constantFrom('batch', 'whole', 'cut', 'bytes') }
	),
	header: fc.option(fc.nat(), { freq: 4 }),
	cut: fc.nat()
});

/** Number of requests per protocol. */
export function fuzzedRequests(templates: readonly Template[], seed: number, each: number): ProtocolRequest[] {
	const protocols = [...new Set(templates.map(({ protocol }) => protocol))];
	return protocols.flatMap((protocol, index) => {
		const own = templates.filter((template) => template.protocol === protocol);
		return fc.sample(fault, { seed: seed * 10 + index, numRuns: each }).map((drawn) => requestOf(own, drawn));
	});
}

type Fault = typeof fault extends fc.Arbitrary<infer Drawn> ? Drawn : never;

function requestOf(templates: readonly Template[], drawn: Fault): ProtocolRequest {
	const template = at(templates, drawn.template);
	const { protocol, path } = template;
	const { what, body } = bodyOf(template.body(), drawn);
	const odd = drawn.header === null ? {} : at(ODD_HEADERS, drawn.header);
	const given = Object.entries({ ...template.headers, ...odd }).filter(([, value]) => value !== '');
	const name = `${protocol} ${template.name} with ${what}, headers ${JSON.stringify(odd)}`.slice(0, 300);
	return { name, protocol, method: 'POST', path, headers: Object.fromEntries(given), body };
}

function bodyOf(
	value: Record<string, unknown>,
	{ kind, place, json, cut }: Fault
): { what: string; body: string | Uint8Array<ArrayBuffer> } {
	const shown = json.slice(0, 60);
	const whole = JSON.stringify(value);
	if (kind === 'whole') return { what: `the body ${shown}`, body: json };
	if (kind === 'cut') return { what: 'half a body', body: whole.slice(0, cut % whole.length) };
	if (kind === 'batch') return { what: 'a batch', body: `[${whole},${json},${whole}]` };
	if (kind === 'bytes') {
		const bytes = new TextEncoder().encode(whole);
		bytes[cut % bytes.length] = 0xff;
		return { what: 'a byte that is no UTF-8', body: bytes };
	}
	const [holder, key] = at(placesOf(value), place);
	const where = `${key} ${kind}`;
	if (kind === 'remove') {
		Reflect.deleteProperty(holder, key);
		return { what: where, body: JSON.stringify(value) };
	}
	// Puts in a placeholder and replaces it in the text, since JavaScript has no value for such JSON.
	const mark = 'the-odd-value-stands-here';
	if (kind === 'replace') holder[key] = mark;
	else Object.assign(holder, { [kind === 'twice' ? 'twice' : '__odd']: mark });
	const text = JSON.stringify(value);
	const put = kind === 'add' ? text.replace('"__odd"', '"__proto__"') : text.replace('"twice"', JSON.stringify(key));
	return { what: `${where} ${shown}`, body: put.replace(`"${mark}"`, () => json) };
}

type Holder = Record<string, unknown>;

/** Every key of every object and array in the value, with its container. */
function placesOf(value: unknown): [Holder, string][] {
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([key, inner]) => [[value as Holder, key], ...placesOf(inner)]) as [
		Holder,
		string
	][];
}

function at<Item>(items: readonly Item[], index: number): Item {
	const item = items[index % items.length];
	if (item === undefined) throw new Error('there is nothing to choose from');
	return item;
}
