/** One look-up, checked, and the connection goes to what was checked: so that a name which changes its address gains nothing. */
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isGlobalUnicast } from './addresses.ts';
import { NetworkError } from './network-error.ts';

export interface AddressGuardOptions {
	/** Every address of a name; without it the system's resolver. Rejects when there is none. */
	resolve?: (host: string) => Promise<string[]>;
	/** May this address be connected to? Without it global unicast alone. */
	isAllowed?: (address: string) => boolean;
}

export interface AddressGuard {
	/** For hosts that are addresses: a socket does not look those up. @throws NetworkError `blocked-address` */
	check(host: string): void;
	/** For `net.connect` and what is built on it; it fails with a NetworkError `blocked-address` or `unreachable`. */
	lookup: LookupFunction;
}

/** One for each connection or many: it keeps nothing. */
export function createAddressGuard({
	resolve = resolveAll,
	isAllowed = isGlobalUnicast
}: AddressGuardOptions = {}): AddressGuard {
	const refuse = (host: string) =>
		new NetworkError('blocked-address', `${host} is not on the public internet, so it may not be reached.`);

	async function addressesOf(host: string): Promise<string[]> {
		const addresses = await resolve(host).catch((cause: unknown) => {
			throw new NetworkError('unreachable', `No address is known for ${host}.`, { cause });
		});
		if (addresses.length === 0) throw new NetworkError('unreachable', `No address is known for ${host}.`);
		// All of them: the socket may try any, and a name with one private address is no public name.
		if (!addresses.every((address) => isIP(address) > 0 && isAllowed(address))) throw refuse(host);
		return addresses;
	}

	return {
		check(host) {
			const bare = host.replace(/^\[(.*)\]$/, '$1');
			// “%” begins a zone: an interface of this machine.
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
