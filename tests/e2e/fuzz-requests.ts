/** Requests generated from the API description, as a careless or hostile client might send them. */

import {
	exampleOf,
	operationsByTag,
	type ApiDescription,
	type ListedOperation
} from '../../src/lib/page/connect/api-description.ts';

export interface FuzzRequest {
	/** What it tries, including the operation. */
	name: string;
	operation: ListedOperation;
	/** Path and query. */
	url: string;
	headers: Record<string, string>;
	body?: string;
}

type Schema = Record<string, unknown>;

/** Existing ids, so that requests get past the lookup. */
export interface KnownIds {
	skill: string;
	conversation: string;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const MEGABYTE = 'm'.repeat(1024 * 1024);

/** For any field; each has a special meaning for some layer. */
const TEXTS = [
	'',
	' ',
	'\0',
	'a\0b',
	'\r\nset-cookie: a=b',
	'🦜\u202e\ufeff\ud800',
	'٣٤',
	"' or 1=1; drop table conversations;--",
	'%_"`$(id)`',
	'../../../../etc/passwd',
	'..\\..\\windows\\win.ini',
	'/etc/passwd',
	'C:\\con',
	'__proto__',
	'constructor',
	'${jndi:x}{{7*7}}<script>',
	'1e400',
	'-1',
	'http://somebody:secret@127.0.0.1:9/',
	'http://127.0.0.1:9/../v1?a=b#c',
	'http://[::1]:9',
	'http://127.0.0.1:99999/',
	'javascript://127.0.0.1/%0Aalert(1)',
	'x'.repeat(5000)
];

const VALUES: readonly unknown[] = [
	null,
	true,
	0,
	-1,
	1.5,
	1e308,
	2 ** 53,
	[],
	{},
	[null],
	[[]],
	{ __proto__: null, length: 1 },
	{ toString: 1 }
];

/** Replacements for path parameters, already encoded. */
const SEGMENTS = [
	'%00',
	'x%00y',
	'..%2f..%2f..%2fetc%2fpasswd',
	'..%5c..%5cx',
	'%2e%2e%2f',
	"'%20or%201=1--",
	'%F0%9F%A6%9C%E2%80%AE',
	'%25%32%66',
	'__proto__',
	'constructor',
	'a%2Fb%2Fc',
	'name@%5E1..2',
	'@@',
	'builtin%2F__proto__',
	'%20',
	'~',
	'n'.repeat(3000)
];

/** The description with our own address wherever possible, so no request leaves the machine. */
export function withAddresses(description: ApiDescription, addressOf: (field: string) => string): ApiDescription {
	const replaced = (value: unknown, field: string): unknown => {
		if (Array.isArray(value)) return value.map((each) => replaced(each, field));
		if (typeof value !== 'object' || value === null) return value;
		if ('format' in value && value.format === 'uri') return { const: addressOf(field) };
		const fieldOf = (key: string): string => (/^(anyOf|oneOf|properties|schema)$/.test(key) ? field : key);
		return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaced(each, fieldOf(key))]));
	};
	return replaced(description, '') as ApiDescription;
}

/** Gives the same requests for the same seed. */
export function fuzzRequests(description: ApiDescription, known: KnownIds, seed: number): FuzzRequest[] {
	const random = createRandom(seed);
	const pick = <Item>(items: readonly Item[], count: number): Item[] =>
		Array.from({ length: count }, () => items[Math.floor(random() * items.length)] as Item);
	return inOrder(description).flatMap((operation) => {
		const at = (
			url: string,
			name: string,
			sent: Pick<FuzzRequest, 'body'> & { headers?: Record<string, string> } = {}
		) => ({ name: `${operation.method} ${operation.path}: ${name}`, operation, url, headers: {}, ...sent });
		const url = urlOf(operation, known);
		const plain = plainBody(operation);
		const requests: FuzzRequest[] = [];
		for (const segment of operation.path.includes('{') ? pick(SEGMENTS, 6) : []) {
			requests.push(at(operation.path.replace(/\{\w+\}/g, segment), `path with ${segment.slice(0, 30)}`, plain));
		}
		for (const { name } of (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')) {
			for (const value of pick(TEXTS, 5)) {
				const query = new URLSearchParams([[name, value]]);
				requests.push(at(`${url}?${query}`, `${name}=${JSON.stringify(value.slice(0, 30))}`, plain));
			}
			requests.push(at(`${url}?${name}=a&${name}=b&${name}[]=c`, `${name} three times`, plain));
		}
		requests.push(at(`${url}?${'a=b&'.repeat(500)}__proto__=1`, 'a query of keys that nobody knows', plain));
		const schema = operation.requestBody?.content['application/json']?.schema;
		if (schema) {
			for (const [name, body] of bodies(schema, pick)) {
				requests.push(at(url, name, { body, headers: JSON_TYPE }));
			}
			const example = JSON.stringify(exampleOf(schema));
			for (const type of [
				'text/plain',
				'application/x-www-form-urlencoded',
				'application/zip',
				'multipart/form-data',
				'x'
			]) {
				requests.push(at(url, `body as ${type}`, { body: example, headers: { 'content-type': type } }));
			}
			requests.push(at(url, 'no body', { headers: JSON_TYPE }));
		}
		return requests;
	});
}

/** Every write operation, `times` times at once, with the body of its example. */
export function concurrentRequests(description: ApiDescription, known: KnownIds, times: number): FuzzRequest[][] {
	return inOrder(description)
		.filter(({ method }) => method !== 'GET')
		.map((operation) =>
			Array.from({ length: times }, () => ({
				...{ name: `${operation.method} ${operation.path}: ${times} at once`, operation, headers: {} },
				...{ url: urlOf(operation, known), ...plainBody(operation) }
			}))
		);
}

/** Deletions come last, after the deleted objects have been tried. */
function inOrder(description: ApiDescription): ListedOperation[] {
	const all = operationsByTag(description).flatMap(({ operations }) => operations);
	return [...all.filter(({ method }) => method !== 'DELETE'), ...all.filter(({ method }) => method === 'DELETE')];
}

function urlOf({ path }: ListedOperation, { skill, conversation }: KnownIds): string {
	const id = /^\/api\/skills\/\{id\}/.test(path)
		? skill
		: /^\/api\/conversations\//.test(path)
			? conversation
			: 'ghost';
	return path.replace('{id}', id).replace(/\{\w+\}/g, 'ghost');
}

function plainBody({ requestBody, method }: ListedOperation): { body?: string; headers: Record<string, string> } {
	const schema = requestBody?.content['application/json']?.schema;
	const [otherType] = Object.keys(requestBody?.content ?? {});
	if (schema) return { body: JSON.stringify(exampleOf(schema)), headers: JSON_TYPE };
	if (otherType !== undefined) return { body: 'bytes', headers: { 'content-type': otherType } };
	return method === 'GET' || method === 'DELETE' ? { headers: {} } : { body: '{}', headers: JSON_TYPE };
}

function* bodies(
	schema: Schema,
	pick: <Item>(items: readonly Item[], count: number) => Item[]
): Generator<[name: string, body: string]> {
	for (const variant of variantsOf(schema)) {
		const whole = wholeExample(variant);
		if (typeof whole !== 'object' || whole === null) continue;
		const example = whole as Record<string, unknown>;
		yield ['everything that there is', JSON.stringify(example)];
		for (const field of Object.keys(example)) {
			const { [field]: _left, ...rest } = example;
			yield [`without ${field}`, JSON.stringify(rest)];
			for (const value of [...pick(VALUES, 3), ...pick(TEXTS, 3)]) {
				yield [`${field}: ${JSON.stringify(value).slice(0, 30)}`, JSON.stringify({ ...example, [field]: value })];
			}
		}
		const [first = 'x'] = Object.keys(example);
		yield [`${first} of a megabyte`, JSON.stringify({ ...example, [first]: MEGABYTE })];
		yield [
			`${first} 500 deep`,
			JSON.stringify({ ...example, [first]: 0 }).replace('0', '['.repeat(500) + ']'.repeat(500))
		];
		yield ['a key more', JSON.stringify({ ...example, isAdmin: true })];
		yield ['keys of objects', JSON.stringify(example).replace('{', '{"__proto__":{"isAdmin":true},"constructor":1,')];
	}
	yield ['500 deep', '['.repeat(500) + ']'.repeat(500)];
	yield ['no JSON', '{"a":'];
	yield ['text', '"text"'];
	yield ['null', 'null'];
	yield ['a list', '[{}]'];
	yield ['twice the same key', '{"name":1,"name":"a","source":null,"source":{}}'];
}

function variantsOf(schema: Schema): Schema[] {
	const choices = [schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? (list as Schema[]) : []));
	return choices.length > 0 ? choices.flatMap(variantsOf) : [schema];
}

/** A value for every key, optional ones included. */
function wholeExample(schema: Schema): unknown {
	const properties = schema.properties as Record<string, Schema> | undefined;
	if (!properties) return exampleOf(schema);
	return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, wholeExample(property)]));
}

/** Numbers in [0, 1), equal for equal seeds (mulberry32). */
function createRandom(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}
