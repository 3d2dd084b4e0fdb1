/** Checks that an address is on the public internet (SECURITY, outbound requests). */
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';

/**
 * Whether this is a unicast address of the public internet, judged by its bytes. Refuses private, loopback, link-local,
 * shared, reserved, documentation and multicast addresses, and every form of an IPv4 address inside an IPv6 one.
 * @param address 4 or 16 bytes, or their text for `node:net`; anything else is refused
 */
export function isGlobalUnicast(address: Uint8Array | string): boolean {
	const bytes = typeof address === 'string' ? bytesOf(address) : address;
	if (bytes?.length === 4) return !IPV4_NOT_GLOBAL.some((block) => contains(block, bytes));
	if (bytes?.length === 16) {
		return contains(IPV6_GLOBAL, bytes) && !IPV6_NOT_GLOBAL.some((block) => contains(block, bytes));
	}
	return false;
}

/** Parses a dotted IPv4 address, or an IPv6 address without a zone; null for anything else. */
export function bytesOf(text: string): Uint8Array | null {
	return text.includes(':') ? ipv6Of(text) : ipv4Of(text);
}

interface Block {
	bytes: Uint8Array;
	bits: number;
}

function block(text: string): Block {
	const [address = '', bits] = text.split('/');
	const bytes = bytesOf(address);
	if (!bytes) throw new Error(`“${text}” isn’t an address range.`);
	return { bytes, bits: Number(bits) };
}

const IPV4_NOT_GLOBAL = [
	'0.0.0.0/8',
	'10.0.0.0/8',
	'100.64.0.0/10',
	'127.0.0.0/8',
	'169.254.0.0/16',
	'172.16.0.0/12',
	// IETF protocols, including DS-Lite and NAT64 discovery.
	'192.0.0.0/24',
	'192.0.2.0/24',
	// AS112, then the former 6to4 relays.
	'192.31.196.0/24',
	'192.52.193.0/24',
	'192.88.99.0/24',
	'192.168.0.0/16',
	'192.175.48.0/24',
	'198.18.0.0/15',
	'198.51.100.0/24',
	'203.0.113.0/24',
	// Azure’s metadata service, in public address space.
	'168.63.129.16/32',
	'224.0.0.0/4',
	'240.0.0.0/4'
].map(block);

/** All allocated space. Mapped, compatible, NAT64, ULA, link-local, site-local and multicast addresses are outside. */
const IPV6_GLOBAL = block('2000::/3');

const IPV6_NOT_GLOBAL = [
	// IETF protocols: Teredo, benchmarking, ORCHID, ORCHIDv2, drones, AS112.
	'2001::/23',
	'2001:db8::/32',
	// 6to4, which embeds IPv4 addresses.
	'2002::/16',
	'2620:4f:8000::/48',
	// The former 6bone.
	'3ffe::/16',
	'3fff::/20'
].map(block);

function contains({ bytes: network, bits }: Block, address: Uint8Array): boolean {
	return network.every((byte, index) => {
		const rest = Math.min(8, Math.max(0, bits - index * 8));
		const mask = (0xff << (8 - rest)) & 0xff;
		return ((address[index] ?? 0) & mask) === (byte & mask);
	});
}

function ipv4Of(text: string): Uint8Array | null {
	const parts = text.split('.');
	if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) return null;
	return Uint8Array.from(parts, Number);
}

function ipv6Of(text: string): Uint8Array | null {
	const groups = groupsOf(text);
	if (!groups) return null;
	return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function groupsOf(text: string): number[] | null {
	const halves = text.split('::');
	if (halves.length > 2) return null;
	const [head, tail] = halves.map((half, index) => partsOf(half, index === halves.length - 1));
	if (!head || tail === null) return null;
	if (!tail) return head.length === 8 ? head : null;
	const missing = 8 - head.length - tail.length;
	return missing > 0 ? [...head, ...Array<number>(missing).fill(0), ...tail] : null;
}

/** `isLast`: the last two groups may be an IPv4 address. */
function partsOf(text: string, isLast: boolean): number[] | null {
	if (text === '') return [];
	const parts = text.split(':');
	const groups: number[] = [];
	for (const [index, part] of parts.entries()) {
		const v4 = isLast && index === parts.length - 1 ? ipv4Of(part) : null;
		if (v4) {
			const [a = 0, b = 0, c = 0, d = 0] = v4;
			groups.push((a << 8) | b, (c << 8) | d);
		} else if (/^[0-9a-f]{1,4}$/i.test(part)) {
			groups.push(parseInt(part, 16));
		} else {
			return null;
		}
	}
	return groups;
}

// Resolves a name once and connects to the checked addresses, which prevents DNS rebinding.

export interface AddressGuardOptions {
	/** All addresses of a host name; rejects if there is none. Default: the system’s resolver. */
	resolve?: (host: string) => Promise<string[]>;
	/** Default: `isGlobalUnicast`. */
	isAllowed?: (address: string) => boolean;
}

export interface AddressGuard {
	/** Checks a host that is an address, which sockets don’t look up. @throws NetworkError `blocked-address` */
	check(host: string): void;
	/** For `net.connect`; fails with a NetworkError `blocked-address` or `unreachable`. */
	lookup: LookupFunction;
}

/** Stateless. */
export function createAddressGuard({
	resolve = resolveAll,
	isAllowed = isGlobalUnicast
}: AddressGuardOptions = {}): AddressGuard {
	const refuse = (host: string) =>
		new NetworkError('blocked-address', `${host} isn’t on the public internet, so access is blocked.`);

	async function addressesOf(host: string): Promise<string[]> {
		const addresses = await resolve(host).catch((cause: unknown) => {
			throw new NetworkError('unreachable', `Couldn’t find the address of ${host}.`, { cause });
		});
		if (addresses.length === 0) throw new NetworkError('unreachable', `Couldn’t find the address of ${host}.`);
		// All of them, because the socket may try any.
		if (!addresses.every((address) => isIP(address) > 0 && isAllowed(address))) throw refuse(host);
		return addresses;
	}

	return {
		check(host) {
			const bare = host.replace(/^\[(.*)\]$/, '$1');
			// “%” starts a zone, which is a local interface.
			if (bare.includes('%') || (isIP(bare) > 0 && !isAllowed(bare))) throw refuse(host);
		},
		lookup(host, options, callback) {
			addressesOf(host).then(
				(addresses) => {
					const answers = addresses.map((address) => ({ address, family: isIP(address) }));
					const [first] = answers;
					if (options.all) callback(null, answers);
					else callback(null, first?.address ?? '', first?.family);
				},
				(error: NodeJS.ErrnoException) => callback(error, [])
			);
		}
	};
}

async function resolveAll(host: string): Promise<string[]> {
	const answers = await systemLookup(host, { all: true });
	return answers.map(({ address }) => address);
}

export type NetworkErrorCode =
	/** Wrong scheme, a user name, or invalid. */
	| 'bad-url'
	/** A header or method that isn’t allowed. */
	| 'bad-request'
	/** The host or one of its addresses isn’t public. */
	| 'blocked-address'
	/** Unknown host, or no connection. */
	| 'unreachable'
	/** The response isn’t HTTP, or can’t be decompressed. */
	| 'bad-response'
	| 'timeout'
	| 'aborted';

/** Its message is a sentence for people and models. */
export class NetworkError extends Error {
	readonly code: NetworkErrorCode;

	constructor(code: NetworkErrorCode, message: string, options?: ErrorOptions) {
		super(message, options);
		this.name = 'NetworkError';
		this.code = code;
	}
}
