import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matches, parseDomain, parseDomains } from './hosts.ts';

describe('D35: the domains that a skill declares', () => {
	test.each([
		'*',
		'*.',
		'*.*',
		'*.org',
		'**.example.org',
		'a.*.example.org',
		'*example.org',
		'localhost',
		'localhost:3000',
		'org',
		'.',
		'..',
		'.example.org',
		'example..org',
		'127.0.0.1',
		'127.1',
		'0x7f.1',
		'2130706433',
		'10.0.0.1:80',
		'*.0.0.1',
		'[::1]',
		'[::1]:80',
		'::1',
		'fd00:ec2::254',
		'1.2.3.4.5',
		'https://example.org',
		'example.org/path',
		'//example.org',
		'user@example.org',
		'example.org:',
		'example.org:0',
		'example.org:65536',
		'example.org:-1',
		'example.org:8x',
		'example.org:1e3',
		'example.org:+80',
		'example.org:0x50',
		'example.org:000080',
		'a.b.123',
		'example.09.',
		'example.org:80:80',
		'example.org:*',
		'exa%6dple.org',
		'example.org\0.evil.test',
		'-a.example.org',
		'a-.example.org',
		`${'a'.repeat(64)}.org`,
		`${'a.'.repeat(130)}org`,
		'example.org?x',
		'example.org#x',
		'ex\\ample.org'
	])('%j is refused with a sentence that names it', (text) => {
		const { domain, problem } = parseDomain(text);
		expect(domain).toBeUndefined();
		expect(problem).toContain(`Can’t grant “${text.slice(0, 100)}”: `);
	});

	test.each([
		['api.example.org', 'api.example.org'],
		['API.Example.ORG', 'api.example.org'],
		['example.org.', 'example.org'],
		['*.example.org', '*.example.org'],
		['*.Example.org:8443', '*.example.org:8443'],
		['example.org:0443', 'example.org:443'],
		['bücher.example', 'xn--bcher-kva.example'],
		['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
		['_dmarc.example.org', '_dmarc.example.org'],
		['a1.example.org', 'a1.example.org']
	])('%j becomes %j, which stays as it is', (text, domain) => {
		expect(parseDomain(text)).toEqual({ domain });
		expect(parseDomain(domain)).toEqual({ domain });
	});

	test.each([
		['https://example.org', 'enter only the host, without scheme and path'],
		['user@example.org', 'enter only the host, without a user name'],
		['*', 'name the domains one by one'],
		['[::1]', 'enter a host name, not an IP address'],
		['fd00:ec2::254', 'enter a host name, not an IP address'],
		['10.0.0.1:80', 'enter a host name, not an IP address'],
		['0x7f.1', 'enter a host name, not an IP address'],
		['a.12', 'it isn’t a host name'],
		['example.org:65536', 'a port must be a number from 1 to 65535'],
		['example.org?x', 'it isn’t a host name'],
		['*.org', 'add at least two parts after the star'],
		['org', 'a host name has at least two parts']
	])('the sentence about %j says why: %s', (text, reason) => {
		expect(parseDomain(text)).toEqual({ problem: `Can’t grant “${text}”: ${reason}.` });
	});

	test('the first and the last port, the longest name and labels with digits can be granted', () => {
		const longest = `${'a'.repeat(61)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}`;
		expect(longest).toHaveLength(253);
		for (const domain of ['a.example:1', 'a.example:65535', longest, '1.example', '12.a1', 'a.1b', '*.a.example:1']) {
			expect(parseDomain(domain)).toEqual({ domain });
		}
		expect(parseDomain(`a${longest}`)).toHaveProperty('problem');
	});

	test('a text or a list; each once, bad ones reported, the rest kept', () => {
		const expected = { domains: ['a.example', 'b.example:81'], problems: [expect.stringContaining('“localhost”')] };
		expect(parseDomains(' a.example, localhost\n A.example  b.example:81 ')).toEqual(expected);
		expect(parseDomains(['a.example', 'localhost', 'A.example', '', 'b.example:81'])).toEqual(expected);
		expect(parseDomains([null, 7, {}, ['x.example', 'y.example']]).domains).toEqual([]);
		for (const nothing of [undefined, null, 7, true, {}, '', ' , ']) {
			expect(parseDomains(nothing)).toEqual({ domains: [], problems: [] });
		}
	});

	test('more than a hundred are cut, and said so', () => {
		const { domains, problems } = parseDomains(Array.from({ length: 200 }, (_, i) => `h${i}.example`));
		expect([domains.length, problems]).toEqual([100, ['Only the first 100 domains are used.']]);
	});

	test('whatever is kept is kept again in the same form', () => {
		fc.assert(
			fc.property(fc.oneof(fc.string(), fc.domain(), fc.webAuthority()), (text) => {
				const { domain } = parseDomain(text);
				if (domain !== undefined) expect(parseDomain(domain)).toEqual({ domain });
			})
		);
	});
});

describe('D35: what a granted domain opens', () => {
	test.each([
		['example.org', 'example.org', 443],
		['example.org', 'example.org', 80],
		['example.org', 'EXAMPLE.org', 443],
		['example.org', 'example.org.', 443],
		['*.example.org', 'a.example.org', 443],
		['*.example.org', 'a.b.example.org', 443],
		['example.org:8443', 'example.org', 8443],
		['*.example.org:22', 'git.example.org', 22]
	])('%s opens %s:%i', (domain, host, port) => {
		expect(matches(domain, host, port)).toBe(true);
	});

	test.each([
		['example.org', 'www.example.org', 443],
		['example.org', 'notexample.org', 443],
		['example.org', 'example.org.evil.test', 443],
		['example.org', 'example.or', 443],
		['example.org', 'exampleXorg', 443],
		['example.org', 'example.org', 22],
		['example.org', 'example.org', 8443],
		['example.org', 'example.org..', 443],
		['example.org', '', 443],
		['*.example.org', 'example.org', 443],
		['*.example.org', '.example.org', 443],
		['*.example.org', 'notexample.org', 443],
		['*.example.org', 'a.example.org', 8080],
		['example.org:8443', 'example.org', 443],
		['example.org:8443', 'example.org', 80]
	])('%s does not open %s:%i', (domain, host, port) => {
		expect(matches(domain, host, port)).toBe(false);
	});
});
