/** Checks that an address is on the public internet (SECURITY, outbound requests). */
import { lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Ranges that aren’t public, though some look so. */
const NOT_GLOBAL = blockList(
	'0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16 224.0.0.0/4 240.0.0.0/4',
	// IETF protocols, including DS-Lite and NAT64 discovery; documentation; benchmarking.
	'192.0.0.0/24 192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 198.18.0.0/15',
	// AS112, then the former 6to4 relays.
	'192.31.196.0/24 192.52.193.0/24 192.175.48.0/24 192.88.99.0/24',
	// Azure’s metadata service, in public address space.
	'168.63.129.16/32',
	// IETF protocols: Teredo, benchmarking, ORCHID, ORCHIDv2, drones, AS112; documentation.
	'2001::/23 2620:4f:8000::/48 2001:db8::/32 3fff::/20',
	// 6to4, which embeds IPv4 addresses; the former 6bone.
	'2002::/16 3ffe::/16'
);
/** All allocated space. Mapped, compatible, NAT64, ULA, link-local, site-local and multicast addresses are outside. */
const IPV6_GLOBAL = blockList('2000::/3');

function blockList(...ranges: string[]): BlockList {
	const list = new BlockList();
	for (const range of ranges.join(' ').split(' ')) {
		const [address = '', bits] = range.split('/');
		list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
	}
	return list;
}

/**
 * Whether this is a unicast address of the public internet, whatever its spelling. Refuses private, loopback, link-local,
 * shared, reserved, documentation and multicast addresses, and every form of an IPv4 address inside an IPv6 one.
 */
export function isGlobalUnicast(address: string): boolean {
	// “%” starts a zone, which is a local interface.
	if (address.includes('%')) return false;
	if (isIP(address) === 4) return !NOT_GLOBAL.check(address, 'ipv4');
	return isIP(address) === 6 && IPV6_GLOBAL.check(address, 'ipv6') && !NOT_GLOBAL.check(address, 'ipv6');
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
