import fc from 'fast-check';
import { isIP } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createAddressGuard, isGlobalUnicast } from './addresses.ts';

/** The first, the last and a middle address of every IPv4 block that isn't public. */
const IPV4_REFUSED = `
0.0.0.0 0.0.0.1 0.1.2.3 0.255.255.255
10.0.0.0 10.0.0.1 10.1.2.3 10.255.255.255
100.64.0.0 100.64.0.1 100.100.100.200 100.127.255.255
127.0.0.0 127.0.0.1 127.0.0.53 127.0.1.1 127.1.2.3 127.255.255.255
169.254.0.0 169.254.0.1 169.254.169.254 169.254.170.2 169.254.169.253 169.254.255.255
172.16.0.0 172.16.0.1 172.17.0.1 172.20.10.1 172.31.255.255
192.0.0.0 192.0.0.1 192.0.0.8 192.0.0.9 192.0.0.170 192.0.0.171 192.0.0.192 192.0.0.255
192.0.2.0 192.0.2.1 192.0.2.255
192.31.196.1 192.52.193.1 192.175.48.1
192.88.99.0 192.88.99.1 192.88.99.255
192.168.0.0 192.168.0.1 192.168.1.1 192.168.99.100 192.168.255.255
198.18.0.0 198.18.0.1 198.19.0.1 198.19.255.255
198.51.100.0 198.51.100.1 198.51.100.255
203.0.113.0 203.0.113.1 203.0.113.255
168.63.129.16
224.0.0.0 224.0.0.1 224.0.0.251 232.1.1.1 233.252.0.1 239.255.255.250 239.255.255.255
240.0.0.0 240.0.0.1 250.1.2.3 254.255.255.255 255.0.0.0 255.255.255.0 255.255.255.254 255.255.255.255`;

/** Addresses next to those blocks, and well-known servers. */
const IPV4_ALLOWED = `
1.0.0.0 1.1.1.1 8.8.8.8 9.9.9.9 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255
128.0.0.0 140.82.112.3 151.101.1.69 168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0
191.255.255.255 192.0.1.0 192.0.1.255 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0
198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255`;

const IPV6_REFUSED = `
:: ::1 ::2 ::ffff 0:0:0:0:0:0:0:0 0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:0000:0000:0001
::127.0.0.1 ::10.0.0.1 ::8.8.8.8 ::808:808 ::7f00:1 ::169.254.169.254 ::1:0:0
::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:7f00:0001 ::FFFF:127.0.0.1 0:0:0:0:0:ffff:127.0.0.1 ::ffff:10.0.0.1
::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::ffff:192.168.0.1 ::ffff:0.0.0.0 ::ffff:0:0 ::ffff:8.8.8.8 ::ffff:808:808
::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8 ::fffe:127.0.0.1
64:ff9b:: 64:ff9b::1 64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254
64:ff9b:1:: 64:ff9b:1::1 64:ff9b:1:ffff:ffff:ffff:ffff:ffff 64:ff9b:1::7f00:1 64:ff9a::1 64:ff9c::1
100:: 100::1 100::ffff 100:0:0:1::1 100:0:0:0:ffff:ffff:ffff:ffff 200::1 400::1 800::1 1000::1 1fff:ffff::1
2001:: 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:0:7f00:1:: 2001:0:ffff:ffff:ffff:ffff:ffff:ffff
2001:1::1 2001:1::2 2001:1::3 2001:2:: 2001:2::1 2001:2:0:ffff::1 2001:3::1 2001:4:112::1
2001:10:: 2001:10::1 2001:1f:ffff::1 2001:20:: 2001:20::1 2001:2f::1 2001:30::1 2001:3f::1 2001:1ff::1
2001:db8:: 2001:db8::1 2001:0db8:85a3:0000:0000:8a2e:0370:7334 2001:DB8:ffff:ffff::1
2002:: 2002::1 2002:7f00:1:: 2002:7f00:0001::1 2002:a00:1::1 2002:a9fe:a9fe::1 2002:c0a8:1::1 2002:808:808::1 2002:ffff::1
2620:4f:8000::1 3ffe::1 3ffe:ffff::1 3fff:: 3fff::1 3fff:fff:ffff::1
4000:: 4000::1 5f00:: 5f00::1 6000::1 8000::1 a000::1 c000::1 e000::1 f000::1 f800::1
fc00:: fc00::1 fcff::1 fd00:: fd00::1 fd00:ec2::254 fd12:3456:789a:1::1 fdff:ffff::1 fe00::1 fe7f::1
fe80:: fe80::1 fe80::a9fe:a9fe fe80:1::1 fe90::1 fea0::1 feb0::1 febf::1 febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff
fec0:: fec0::1 fed0::1 fef0::1 feff::1 feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
ff00:: ff00::1 ff01::1 ff02::1 ff02::2 ff02::fb ff02::1:ff00:1 ff05::1:3 ff0e::1 ff3e::1 ffff::1
ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff`;

const IPV6_ALLOWED = `
2000::1 2001:200::1 2001:4860:4860::8888 2001:500:88:200::8 2001:db7::1 2001:db9::1 2003::1 2400:cb00::1
2600:1f18::1 2606:4700:4700::1111 2620:4f:7fff::1 2620:4f:8001::1 2620:fe::fe 2a00:1450:4001:81c::200e 2a03:2880::1
2c0f:f248::1 3ffd::1 3fff:1000::1`;

/** Strings that look like addresses but aren't, or have a zone. */
const NO_ADDRESS = [
	'',
	' ',
	'.',
	':',
	':::',
	'1',
	'127.1',
	'1.2.3',
	'1.2.3.4.5',
	'8.8.8.8 ',
	' 8.8.8.8',
	'8.8.8.8\n',
	'8.8.8.08',
	'08.8.8.8',
	'0x8.8.8.8',
	'8.8.8.256',
	'8.8.8.-1',
	'8.8.8.1e0',
	'8.8.8.',
	'.8.8.8.8',
	'8.8.8.8.',
	'8.8.8.8/32',
	'8.8.8.8:80',
	'134744072',
	'2606:4700',
	'2606:4700:4700::1111::1',
	'2606:4700:4700:0:0:0:0:0:1111',
	'2606:4700:4700::11111',
	'2606:4700:4700::1111%eth0',
	'fe80::1%1',
	'[2606:4700:4700::1111]',
	'2606:4700::g',
	'2606:4700::1.2.3',
	'2606:4700:1.2.3.4::',
	':2606:4700::1',
	'1:2:3:4:5:6:7::8:9',
	'example.org',
	'８.8.8.8',
	'٨.8.8.8'
];

const words = (text: string) => text.trim().split(/\s+/);

describe('SECURITY: an address counts by its bytes', () => {
	test.each(words(IPV4_REFUSED))('%s is not the public internet', (address) => {
		expect(isIP(address)).toBe(4);
		expect(isGlobalUnicast(address)).toBe(false);
	});
	test.each(words(IPV6_REFUSED))('%s is not the public internet', (address) => {
		expect(isIP(address)).toBe(6);
		expect(isGlobalUnicast(address)).toBe(false);
	});
	test.each(words(`${IPV4_ALLOWED} ${IPV6_ALLOWED}`))('%s is', (address) => {
		expect(isIP(address)).not.toBe(0);
		expect(isGlobalUnicast(address)).toBe(true);
	});
	test.each(NO_ADDRESS)('%j is no address', (text) => {
		expect(isGlobalUnicast(text)).toBe(false);
	});

	test('every spelling of an address counts the same', () => {
		fc.assert(
			fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), ([, ...rest]) => {
				const bytes = [0x20, ...rest];
				const groups = Array.from({ length: 8 }, (_, i) => ((bytes[i * 2]! << 8) | bytes[i * 2 + 1]!).toString(16));
				const plain = groups.join(':');
				const short = new URL(`http://[${plain}]/`).hostname.slice(1, -1);
				const mixed = `${groups.slice(0, 6).join(':')}:${bytes.slice(12).join('.')}`;
				const padded = groups.map((group) => group.padStart(4, '0')).join(':');
				const verdicts = [plain, short, mixed, padded, plain.toUpperCase()].map(isGlobalUnicast);
				expect(new Set(verdicts).size).toBe(1);
			})
		);
	});

	test('an IPv4 address inside an IPv6 one is refused, whatever it is', () => {
		const hex = (a: number, b: number) => ((a << 8) | b).toString(16);
		fc.assert(
			fc.property(fc.uint8Array({ minLength: 4, maxLength: 4 }), ([a = 0, b = 0, c = 0, d = 0]) => {
				const v4 = `${a}.${b}.${c}.${d}`;
				const groups = `${hex(a, b)}:${hex(c, d)}`;
				for (const text of [`::${v4}`, `::ffff:${v4}`, `64:ff9b::${v4}`, `64:ff9b:1::${v4}`, `2002:${groups}::1`]) {
					expect(isGlobalUnicast(text)).toBe(false);
				}
				expect(isGlobalUnicast(`2001:0:${groups}::1`)).toBe(false);
			})
		);
	});
});

/** Ways to write addresses of this machine or its network that `URL` accepts. */
const HOSTS_REFUSED = words(`
127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0X7F000001 0x7f.1 0x7f.0.0.1 0177.0.0.1 0177.1 017700000001 0x7f.0x0.0x0.0x1
0 0.0 0x0 00 0.0.0.0 127.0.0.1. 127.1. 2130706433. 127.0.0.0x1 0000177.0.0.1 127.000.000.001
10.1 0xa.1 012.1 167772161 10.0.0.1. 172.1048577 2886729729 192.168.1 0xc0.0xa8.1 3232235521 0300.0250.0.1
169.254.169.254 169.254.43518 2852039166 0xa9fea9fe 0251.0376.0251.0376 0xa9.0xfe.0xa9.0xfe 169.0xfea9fe 025177524776
169.254.169.254. 100.100.100.200 0x64646464c8 %31%32%37.0.0.1 127%2e0%2e0%2e1 127。0。0。1 127．0．0．1 127｡0｡0｡1
１２７.0.0.1 ①②⑦.0.0.1 0ⅹ7f000001 ⓪.⓪.⓪.⓪ 169。254。169。254 255.255.255.255 4294967295 0xffffffff 224.1 240.1
[::1] [::] [0:0:0:0:0:0:0:1] [::127.0.0.1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:0:7F00:1] [0::1] [::0.0.0.1]
[64:ff9b::127.0.0.1] [2002:7f00:1::] [2001::1] [fd00:ec2::254] [fe80::1] [febf::1] [fec0::1] [ff02::1] [fc00::1]
[::ffff:169.254.169.254] [::ffff:8.8.8.8] [100::1] [2001:db8::1] [5f00::1]`);

describe('SECURITY: a host in a URL is judged as it is connected to', () => {
	const guard = createAddressGuard();
	const verdict = (host: string) => {
		const url = URL.parse(`http://${host}/`);
		if (!url) return 'no url';
		try {
			guard.check(url.hostname);
			return 'allowed';
		} catch (error) {
			return (error as { code: string }).code;
		}
	};

	test.each(HOSTS_REFUSED)('http://%s/ is refused', (host) => {
		expect(['blocked-address', 'no url']).toContain(verdict(host));
	});

	test.each(['8.8.8.8', '134744072', '0x08080808', '8.8.8.8.', '010.8.8.8', '[2606:4700:4700::1111]', '1.1'])(
		'http://%s/ is allowed',
		(host) => {
			expect(verdict(host)).toBe('allowed');
		}
	);

	test.each([
		'[fe80::1%25eth0]',
		'[::1%lo]',
		'[2606:4700:4700::1111%251]',
		'1.2.3.4.5',
		'256.1.1.1',
		'0x100000000',
		'a b',
		''
	])('http://%s/ is no URL, and its host no address that may be reached', (host) => {
		expect(verdict(host)).toBe('no url');
	});

	const answer = (addresses: string[], host = 'name.example') =>
		new Promise<string>((resolve) => {
			createAddressGuard({ resolve: () => Promise.resolve(addresses) }).lookup(host, { all: true }, (error, found) =>
				resolve(error ? (error.code ?? '') : JSON.stringify(found))
			);
		});

	test('one bad address among good ones refuses the name', async () => {
		expect(await answer(['8.8.8.8', '127.0.0.1'])).toBe('blocked-address');
		expect(await answer(['::1', '8.8.8.8'])).toBe('blocked-address');
		expect(await answer(['8.8.8.8', 'not an address'])).toBe('blocked-address');
		expect(await answer(['2606:4700:4700::1111', '::ffff:8.8.8.8'])).toBe('blocked-address');
		expect(await answer([])).toBe('unreachable');
		expect(JSON.parse(await answer(['8.8.8.8', '2606:4700:4700::1111']))).toEqual([
			{ address: '8.8.8.8', family: 4 },
			{ address: '2606:4700:4700::1111', family: 6 }
		]);
	});

	test('what is no address is refused, whatever addresses are allowed', async () => {
		const open = createAddressGuard({ resolve: async () => ['not an address'], isAllowed: () => true });
		const code = await new Promise((resolve) => open.lookup('name.example', {}, (error) => resolve(error?.code)));
		expect(code).toBe('blocked-address');
	});

	test('a socket that asks for one address gets the first; without a resolver the system is asked', async () => {
		const one = (options: Parameters<typeof createAddressGuard>[0], host: string) =>
			new Promise<unknown[]>((resolve) =>
				createAddressGuard(options).lookup(host, {}, (...found: unknown[]) => resolve(found))
			);
		const resolve = async () => ['8.8.8.8', '2606:4700:4700::1111'];
		expect(await one({ resolve }, 'name.example')).toEqual([null, '8.8.8.8', 4]);
		const [error, address] = await one({ isAllowed: () => true }, 'localhost');
		expect(error).toBeNull();
		expect(['127.0.0.1', '::1']).toContain(address);
	});

	test.each(['localhost', 'localhost.', 'LOCALHOST', 'ip6-localhost'])(
		'the system’s own answer for %s is refused or there is none',
		async (host) => {
			const code = await new Promise((resolve) => guard.lookup(host, {}, (error) => resolve(error?.code)));
			expect(['blocked-address', 'unreachable']).toContain(code);
		}
	);
});
