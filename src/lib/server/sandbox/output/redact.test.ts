import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withoutHidden, withoutHiddenIn } from '../../../shared/characters.ts';
import { createRedaction, createRedactor } from './redact.ts';
import { REDACTED } from '../sandbox.ts';

/** Runs the text through the redactor, split at these positions. */
function redact(text: string, secrets: string[], cuts: number[] = []): string {
	const bytes = Buffer.from(text);
	const redactor = createRedactor(secrets);
	const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
	const out: Buffer[] = [];
	let start = 0;
	for (const place of [...places, bytes.length]) {
		out.push(Buffer.from(redactor.push(bytes.subarray(start, place))));
		start = place;
	}
	out.push(redactor.end());
	return Buffer.concat(out).toString('utf8');
}

const SECRET = "sk-or/v1+'q\"uot$e' ünd\\more";
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('F3: a secret is taken out', () => {
	test.each<[string, string]>([
		['as it is', SECRET],
		['in base64', base64(SECRET)],
		['in base64 without padding', base64(SECRET).replace(/=+$/, '')],
		['in base64 for addresses', Buffer.from(SECRET).toString('base64url')],
		['in hexadecimal', Buffer.from(SECRET).toString('hex')],
		['in hexadecimal, upper case', Buffer.from(SECRET).toString('hex').toUpperCase()],
		['percent-encoded', encodeURIComponent(SECRET)],
		['percent-encoded, lower case', encodeURIComponent(SECRET).replaceAll(/%../g, (code) => code.toLowerCase())],
		['as a form', new URLSearchParams({ key: SECRET }).toString().slice(4)],
		['as an address', encodeURI(SECRET)],
		['as JSON', JSON.stringify(SECRET).slice(1, -1)],
		['as JSON in ASCII', JSON.stringify(SECRET).slice(1, -1).replace('ü', '\\u00fc')],
		['as JSON in ASCII, upper case', JSON.stringify(SECRET).slice(1, -1).replace('ü', '\\u00FC')],
		['as JSON in JSON', JSON.stringify(JSON.stringify(SECRET)).slice(3, -3)],
		['in ASCII, as Python has it', SECRET.replace('ü', '\\xfc')],
		['percent-encoded, every byte', Buffer.from(SECRET).toString('hex').replaceAll(/../g, '%$&')],
		['in single quotes of a shell', SECRET.replaceAll("'", `'\\''`)],
		['in the quotes of Python’s shlex', SECRET.replaceAll("'", `'"'"'`)],
		['in double quotes of a shell', SECRET.replaceAll(/[$`"\\]/g, '\\$&')],
		['wrapped', `${SECRET.slice(0, 9)}\n${SECRET.slice(9, 15)}\r\n${SECRET.slice(15)}`],
		['wrapped in base64', base64(SECRET).replaceAll(/.{10}/g, '$&\n').trim()]
	])('%s', (_name, written) => {
		expect(redact(`a ${written} b`, [SECRET])).toBe(`a ${REDACTED} b`);
	});

	test.each([0, 1, 2, 3, 4, 5])(
		'inside of longer base64, %i characters in: what is left does not hold it',
		(before) => {
			for (const alphabet of ['base64', 'base64url'] as const) {
				const text = Buffer.from(`${'x'.repeat(before)}${SECRET}yyy`).toString(alphabet);
				const left = redact(text, [SECRET]);
				expect(left).toContain(REDACTED);
				expect(left.replace(REDACTED, '').length).toBeLessThan(before * 2 + 9);
			}
		}
	);

	test('of several lines: each line by itself, and all in a row', () => {
		const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcw\nab\n-----END KEY-----\n';
		expect(redact('> MIIEvQIBADANBgkqhkiG9w0B <', [key])).toBe(`> ${REDACTED} <`);
		expect(redact(`> ${key}<`, [key])).toBe(`> ${REDACTED}\n<`);
		expect(redact(JSON.stringify({ key }), [key])).toBe(`{"key":"${REDACTED}"}`);
		expect(redact('> ab <', [key])).toBe('> ab <');
		expect(redact('one\n\n\n\ntwo', ['one\n\n\n\ntwo'])).toBe(REDACTED);
	});

	test('of 64 KB: in pieces, so that little is held back', () => {
		const long = Array.from({ length: 8192 }, (_, index) => index.toString(36).padStart(8, '.')).join('');
		expect(redact(`a${long}b`, [long], [7, 99, 1000, 50_001])).toBe(`a${REDACTED}b`);
		expect(redact(base64(long), [long], [7, 99, 1000, 50_001])).toBe(REDACTED);
		const redactor = createRedactor([long]);
		expect(redactor.push(Buffer.from(long.slice(0, 5000))).length).toBeGreaterThan(0);
	});

	test('and another one that it is a part of, or that it overlaps', () => {
		expect(redact('xabcdefghx', ['abcd', 'abcdefgh'])).toBe(`x${REDACTED}x`);
		expect(redact('xabcdefgx', ['abcd', 'abcdefgh'])).toBe(`x${REDACTED}efgx`);
		expect(redact('xabcdefx', ['abcd', 'cdef'])).toBe(`x${REDACTED}x`);
		expect(redact('abcdabcd', ['abcd'])).toBe(REDACTED);
		expect(redact('xbcdefx', ['abcdeg', 'bcd'], [1, 2, 3, 4, 5])).toBe('xbcdefx');
		expect(redact('xabcdefx', ['abcdeg', 'bcde'], [1, 2, 3, 4, 5])).toBe(`xa${REDACTED}fx`);
	});

	test('but not one of fewer than 4 characters, and nothing where there is none', () => {
		expect(redact('abc', ['abc', '', '\n\n\n\n'])).toBe('abc');
		expect(createRedaction([]).text(`one ${SECRET} two`)).toBe(`one ${SECRET} two`);
		expect(createRedaction([SECRET]).text(`one ${SECRET} two`)).toBe(`one ${REDACTED} two`);
	});
});

test.each([
	...['\u200b', '\ufe0f', '\u202e', '\u00ad', '\u{e0041}', '\0', '\x1b[31m', '\u2028', '\r', '\u200b\u200b\u200b']
])('F3: what only %j divides is a secret in what is no stream: whoever is sent it without would read it', (hidden) => {
	const { text, path, host, value } = createRedaction([SECRET, 'key-of-a-server']);
	const [first, last] = [SECRET.slice(0, 5), SECRET.slice(5)];
	expect(withoutHidden(text(`a ${first}${hidden}${last} b`))).toBe(`a ${REDACTED} b`);
	expect(withoutHidden(path(`in/key-${hidden}of-a-server.txt`))).toBe(`in/${REDACTED}.txt`);
	expect(withoutHidden(host(`KEY-${hidden}of-a-server.example`))).toBe(`${REDACTED}.example`);
	expect(JSON.stringify(withoutHiddenIn(value({ [first + hidden + last]: [`${first}${hidden}${last}`] })))).toBe(
		JSON.stringify({ [REDACTED]: [REDACTED] })
	);
	expect(text(`a${hidden}b ${first}`)).toBe(`a${hidden}b ${first}`);
});

test('F3: however a text is cut, no secret comes out, and what is no secret comes out as it was', () => {
	const secret = fc.oneof(
		fc.string({ minLength: 4, maxLength: 40, unit: 'grapheme' }),
		fc.string({ minLength: 4, maxLength: 9, unit: fc.constantFrom('a', 'b') })
	);
	fc.assert(
		fc.property(
			fc.array(secret, { minLength: 1, maxLength: 3 }),
			fc.array(fc.oneof(fc.nat(), fc.string(), fc.string({ unit: fc.constantFrom('a', 'b', '\n') })), { maxLength: 8 }),
			fc.array(fc.nat(), { maxLength: 12 }),
			(secrets, parts, cuts) => {
				const text = parts.map((part) => (typeof part === 'string' ? part : secrets[part % secrets.length])).join('');
				const out = redact(text, secrets, cuts);
				// Splitting makes no difference.
				expect(out).toBe(redact(text, secrets));
				const isIn = (where: string) =>
					secrets.some((each) => each.replaceAll(/[\r\n]/g, '').length >= 4 && where.includes(each));
				// Text that only the redaction mark adds isn't a leak.
				expect(out.split(REDACTED).some(isIn)).toBe(false);
				if (out === text) expect(isIn(text)).toBe(false);
			}
		),
		{ numRuns: 400 }
	);
});

test('F3: a text in which a secret only begins comes out unchanged, cut at every byte', () => {
	fc.assert(
		fc.property(fc.stringMatching(/^[a-f]{5,12}$/), fc.array(fc.nat(), { maxLength: 20 }), (secret, cuts) => {
			const text = `${secret.slice(0, -1)}Z${secret.slice(0, 3)}Z`.repeat(5);
			expect(redact(text, [secret], cuts)).toBe(text);
		})
	);
});

test('F3: bytes that are no text come out as they were', () => {
	fc.assert(
		fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
			const redactor = createRedactor(['a-secret-that-is-not-there']);
			expect(Buffer.concat([redactor.push(Buffer.from(bytes)), redactor.end()])).toEqual(Buffer.from(bytes));
		})
	);
});

test('F3: live output does not wait: only what may be the beginning of a secret is held back', () => {
	const redactor = createRedactor(['hunter2-hunter2']);
	expect(redactor.push(Buffer.from('one line\n')).toString()).toBe('one line\n');
	expect(redactor.push(Buffer.from('password: hunter2-h')).toString()).toBe('password: ');
	expect(redactor.push(Buffer.from('all\n')).toString()).toBe('hunter2-hall\n');
	expect(redactor.push(Buffer.from('hunter2-')).toString()).toBe('');
	expect(redactor.push(Buffer.from('hunter2')).toString()).toBe(REDACTED);
	expect(redactor.push(Buffer.from('hunter2-\n\n\n')).toString()).toBe('hunter2-\n\n\n');
	expect(redactor.end().toString()).toBe('');
});

describe('F3: what is no stream', () => {
	const KEY = 'Key-AbCdEf.0123/XyZ';
	const { text, host, path, value } = createRedaction([KEY]);

	test.each<[string, string]>([
		[KEY.toLowerCase(), REDACTED],
		[`${KEY.toUpperCase()}.example:443`, `${REDACTED}.example:443`],
		['Key-AbC.dEf.0123/X.yZ.example:80', `${REDACTED}.example:80`],
		[`${Buffer.from(KEY).toString('base64').toLowerCase()}:443`, `${REDACTED}:443`],
		['api.example.org:443', 'api.example.org:443']
	])('the host %s is %s: upper and lower case are one, and dots may divide it', (given, shown) => {
		expect(host(given)).toBe(shown);
	});

	test.each<[string, string]>([
		[`out/${KEY}.txt`, `out/${REDACTED}.txt`],
		['Key/-AbCdEf/.0123/XyZ/b', `${REDACTED}/b`],
		['k/e/y', 'k/e/y'],
		['größe/key.txt', 'größe/key.txt']
	])('the path %s is %s: folders may divide it', (given, shown) => {
		expect(path(given)).toBe(shown);
	});

	test('data: keys, numbers, neighbours in a list; two keys stay two', () => {
		const all = createRedaction([KEY, '90218347']);
		const given = {
			[KEY]: 1,
			a: { [`${KEY}!`]: 90218347, b: 90218348 },
			c: ['x', 'Key-AbCdE', 'f.0123/XyZ', 'y'],
			d: null
		};
		expect(all.value(given)).toEqual({
			...{ [REDACTED]: 1, a: { [`${REDACTED}!`]: REDACTED, b: 90218348 } },
			...{ c: ['x', REDACTED, REDACTED, 'y'], d: null }
		});
		expect(createRedaction(['one-secret', 'two-secret']).value({ 'one-secret': 1, 'two-secret': 2 })).toEqual({
			[REDACTED]: 1,
			[`${REDACTED} (2)`]: 2
		});
		expect(JSON.stringify(value(JSON.parse(`{"__proto__":{"a":"${KEY}"}}`)))).toBe(`{"__proto__":{"a":"${REDACTED}"}}`);
	});

	test('a short secret is not put together from the parts of a list, a path or a host', () => {
		const short = createRedaction(['1234567']);
		expect(short.value(['123', '4567'])).toEqual(['123', '4567']);
		expect(short.path('123/4567')).toBe('123/4567');
		expect(short.host('123.4567')).toBe('123.4567');
	});

	test('done twice it is as done once, and it is what the stream has', () => {
		const secret = fc.string({ minLength: 4, maxLength: 12, unit: fc.constantFrom('a', 'b', 'r', 'e', 'd', '[') });
		fc.assert(
			fc.property(fc.array(secret, { minLength: 1, maxLength: 3 }), fc.array(fc.nat(9)), (secrets, parts) => {
				const whole = parts.map((part) => secrets[part] ?? 'ab-').join('');
				const redaction = createRedaction(secrets);
				const once = redaction.text(whole);
				expect(redaction.text(once)).toBe(once);
				expect(once).toBe(redact(whole, secrets));
			})
		);
	});

	test('half of a surrogate pair and an empty list of secrets change nothing', () => {
		expect(text('a\ud800b')).toBe('a\ud800b');
		const none = createRedaction([]);
		expect([none.text(KEY), none.host(KEY), none.path(KEY), none.value([KEY])]).toEqual([KEY, KEY, KEY, [KEY]]);
	});
});
