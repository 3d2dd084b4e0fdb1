/** The domains that a skill wants to reach, as its SKILL.md names them (FEATURES D35). */
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

export interface DeclaredDomains {
	/** As `matches` reads them; each once, in order, at most 100. */
	domains: string[];
	/** A sentence for each entry that cannot be used. */
	problems: string[];
}

/** Ports of a domain that names none. */
const DEFAULT_PORTS: readonly number[] = [80, 443];
const MAX_DOMAINS = 100;
const MAX_DOMAIN_CHARS = 253;

/** @param value a text of entries separated by spaces or commas, or a list of them; anything else declares nothing */
export function parseDomains(value: unknown): DeclaredDomains {
	const entries = typeof value === 'string' ? value.split(/[\s,]+/) : Array.isArray(value) ? (value as unknown[]) : [];
	const domains = new Set<string>();
	const problems: string[] = [];
	for (const entry of entries) {
		if (entry === '') continue;
		const { domain, problem } = parseDomain(String(entry));
		if (problem !== undefined) problems.push(problem);
		else if (domains.size < MAX_DOMAINS) domains.add(domain);
		else return { domains: [...domains], problems: [...problems, `Only the first ${MAX_DOMAINS} domains count.`] };
	}
	return { domains: [...domains], problems };
}

/** May `host` (as a client wrote it) be reached at `port` by one who was granted `domain`? */
export function matches(domain: string, host: string, port: number): boolean {
	const [name = '', granted] = domain.split(':');
	if (granted === undefined ? !DEFAULT_PORTS.includes(port) : Number(granted) !== port) return false;
	const asked = host.toLowerCase().replace(/\.$/, '');
	return name.startsWith('*.') ? asked.length > name.length - 1 && asked.endsWith(name.slice(1)) : asked === name;
}

type Parsed = { domain: string; problem?: undefined } | { domain?: undefined; problem: string };

/** One domain in the form that is kept: `example.org`, `*.example.org`, `example.org:8443`; lower case, in Punycode. */
export function parseDomain(text: string): Parsed {
	const shown = `“${text.slice(0, 100)}”`;
	const problem = (reason: string): Parsed => ({ problem: `${shown} cannot be granted: ${reason}.` });
	if (text.includes('/')) return problem('name the host alone, without scheme and path');
	if (text.includes('@')) return problem('name the host alone, without a user');
	const { star, rest, port } = /^(?<star>\*\.)?(?<rest>.*?)(?<port>:.*)?$/s.exec(text)?.groups ?? {};
	if (rest === '*') return problem('name the domains, not all of them');
	if (rest?.startsWith('[') || isIP(text) || isIP(rest ?? '')) return problem('name a host, not an address');
	if (port && !isPort(port.slice(1))) return problem('a port is a number from 1 to 65535');
	// `domainToASCII` decodes what is percent-encoded, and stops at “?”. Of what ends in a number it leaves an address, or nothing.
	if (/[^\w.\-\u0080-\u{10ffff}]/u.test(rest ?? '')) return problem('it is no name of a host');
	const name = domainToASCII(rest ?? '').replace(/\.$/, '');
	if (isIP(name)) return problem('name a host, not an address');
	if (!isName(name)) return problem('it is no name of a host');
	if (!name.includes('.'))
		return problem(star ? 'name at least two parts after the star' : 'a host has at least two parts');
	return { domain: `${star ?? ''}${name}${port ? `:${Number(port.slice(1))}` : ''}` };
}

function isPort(text: string): boolean {
	return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

function isName(name: string): boolean {
	const isLabel = (label: string) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label);
	return name.length <= MAX_DOMAIN_CHARS && name.split('.').every(isLabel);
}
