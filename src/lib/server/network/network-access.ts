/** Network access of skills: requested domains, granted ones, and a proxy for each execution (D35). */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { domainToASCII } from 'node:url';
import { AppError } from '../../shared/errors.ts';
import { type NetworkSession, skillIdOf } from '../skills/run/execution-host.ts';
import type { Skill } from '../skills/types.ts';
import type { NetworkGrants } from '../store/skills/choices.ts';
import type { AddressGuardOptions } from './addresses.ts';
import { openProxy, type ProxyOptions } from './proxy.ts';

export interface NetworkAccessOptions extends AddressGuardOptions {
	grants: NetworkGrants;
	/** For the proxies’ sockets, in `net/`. */
	dataDir: string;
	/** `false`: no network for skills, whatever was granted. */
	isEnabled: boolean | null;
}

export interface NetworkAccess {
	/** null without a granted domain. */
	openNetwork(skill: Skill, executionId: string): Promise<NetworkSession | null>;
	/** Access to all public addresses, for an execution of a built-in skill. */
	openPublic(executionId: string): Promise<NetworkSession>;
	declared(skill: Skill): string[];
	/** Sentences about invalid declarations. */
	problems(skill: Skill): string[];
	/** Domains that a script reaches through the proxy. */
	reachable(skill: Skill): Promise<string[]>;
	/** Granted domains, also those no longer declared. */
	granted(skillId: string): Promise<string[]>;
	/** Replaces the granted domains. @throws AppError `invalid_input` for an invalid domain */
	grant(skillId: string, domains: readonly string[], now: string): Promise<void>;
}

/** The maximum of macOS is 104 with the final NUL; Linux has 108. */
const MAX_SOCKET_PATH = 103;

export function createNetworkAccess({ grants, dataDir, isEnabled, ...guard }: NetworkAccessOptions): NetworkAccess {
	const folder = join(dataDir, 'net');
	let swept: Promise<void> | undefined;
	/** Deletes leftovers of a killed server. */
	const sweep = () => (swept ??= rm(folder, { recursive: true, force: true }));

	const open = async (executionId: string, allows: ProxyOptions['allows']): Promise<NetworkSession> => {
		await sweep();
		const path = join(folder, executionId, 'proxy.sock');
		const isTooLong = Buffer.byteLength(path) > MAX_SOCKET_PATH;
		const own = isTooLong ? await mkdtemp(join(tmpdir(), 'net-')) : dirname(path);
		if (!isTooLong) {
			// Closed to other users.
			await mkdir(folder, { recursive: true, mode: 0o700 });
			await mkdir(own, { mode: 0o711 });
		}
		const proxy = await openProxy({ ...guard, socketPath: join(own, 'proxy.sock'), allows });
		// Containers mount this folder and run as another user.
		await chmod(own, 0o711);
		return {
			socket: proxy.socket,
			refused: () => proxy.refused(),
			async close() {
				await proxy.close();
				await rm(own, { recursive: true, force: true });
			}
		};
	};

	const access: NetworkAccess = {
		async openNetwork(skill, executionId) {
			const domains = await access.reachable(skill);
			if (domains.length === 0) return null;
			return open(executionId, (host, port) => domains.some((domain) => matches(domain, host, port)));
		},

		async reachable(skill) {
			const declared = access.declared(skill);
			if (isEnabled === false || declared.length === 0) return [];
			const granted = new Set(await access.granted(skillIdOf(skill)));
			return declared.filter((domain) => granted.has(domain));
		},

		openPublic: (executionId) => open(executionId, () => true),

		declared: (skill) => declarationOf(skill).domains,
		problems: (skill) => declarationOf(skill).problems,
		granted: (skillId) => grants.list(skillId),

		async grant(skillId, domains, now) {
			const parsed = domains.map(parseDomain);
			const bad = parsed.find(({ problem }) => problem !== undefined);
			if (bad?.problem !== undefined) throw new AppError('invalid_input', bad.problem);
			const names = parsed.flatMap(({ domain }) => domain ?? []);
			await grants.replace(skillId, names, now);
		}
	};
	return access;
}

/** `metadata.network`, as text or list; a top-level key `metadata.network` works too. */
function declarationOf({ metadata, extra }: Skill): DeclaredDomains {
	return parseDomains(metadata.network ?? extra['metadata.network']);
}

// Domains requested in a SKILL.md (D35).

export interface DeclaredDomains {
	/** For `matches`: unique, in order, at most 100. */
	domains: string[];
	/** One sentence per invalid entry. */
	problems: string[];
}

/** For domains without a port. */
const DEFAULT_PORTS: readonly number[] = [80, 443];
const MAX_DOMAINS = 100;
const MAX_DOMAIN_CHARS = 253;

/** `value` is text with spaces or commas, or a list; anything else is ignored. */
export function parseDomains(value: unknown): DeclaredDomains {
	const entries = typeof value === 'string' ? value.split(/[\s,]+/) : Array.isArray(value) ? (value as unknown[]) : [];
	const domains = new Set<string>();
	const problems: string[] = [];
	for (const entry of entries) {
		if (entry === '') continue;
		const { domain, problem } = parseDomain(String(entry));
		if (problem !== undefined) problems.push(problem);
		else if (domains.size < MAX_DOMAINS) domains.add(domain);
		else return { domains: [...domains], problems: [...problems, `Only the first ${MAX_DOMAINS} domains are used.`] };
	}
	return { domains: [...domains], problems };
}

/** Whether a granted `domain` allows `host` at `port`. */
export function matches(domain: string, host: string, port: number): boolean {
	const [name = '', granted] = domain.split(':');
	if (granted === undefined ? !DEFAULT_PORTS.includes(port) : Number(granted) !== port) return false;
	const asked = host.toLowerCase().replace(/\.$/, '');
	return name.startsWith('*.') ? asked.length > name.length - 1 && asked.endsWith(name.slice(1)) : asked === name;
}

type Parsed = { domain: string; problem?: undefined } | { domain?: undefined; problem: string };

/** Normalises a domain to lower case and Punycode: `example.org`, `*.example.org`, `example.org:8443`. */
export function parseDomain(text: string): Parsed {
	const shown = `“${text.slice(0, 100)}”`;
	const problem = (reason: string): Parsed => ({ problem: `Can’t grant ${shown}: ${reason}.` });
	if (text.includes('/')) return problem('enter only the host, without scheme and path');
	if (text.includes('@')) return problem('enter only the host, without a user name');
	const { star, rest, port } = /^(?<star>\*\.)?(?<rest>.*?)(?<port>:.*)?$/s.exec(text)?.groups ?? {};
	if (rest === '*') return problem('name the domains one by one');
	if (rest?.startsWith('[') || isIP(text) || isIP(rest ?? '')) return problem('enter a host name, not an IP address');
	if (port && !isPort(port.slice(1))) return problem('a port must be a number from 1 to 65535');
	// `domainToASCII` decodes percent encoding, stops at “?”, and may turn a name that ends in a number into an address.
	if (/[^\w.\-\u0080-\u{10ffff}]/u.test(rest ?? '')) return problem('it isn’t a host name');
	const name = domainToASCII(rest ?? '').replace(/\.$/, '');
	if (isIP(name)) return problem('enter a host name, not an IP address');
	if (!isName(name)) return problem('it isn’t a host name');
	if (!name.includes('.')) {
		return problem(star ? 'add at least two parts after the star' : 'a host name has at least two parts');
	}
	return { domain: `${star ?? ''}${name}${port ? `:${Number(port.slice(1))}` : ''}` };
}

function isPort(text: string): boolean {
	return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

function isName(name: string): boolean {
	const isLabel = (label: string) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label);
	return name.length <= MAX_DOMAIN_CHARS && name.split('.').every(isLabel);
}
