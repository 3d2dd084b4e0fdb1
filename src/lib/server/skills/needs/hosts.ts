/** Hosts of a skill: those it asks for in `metadata.network`, and those its code names, as a proposal (D35, A18). Pure. */
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import type { SkillSpec } from '../types.ts';

/** `metadata.network`, as text or list; a top-level key `metadata.network` works too. */
export function declaredDomains({ metadata, extra }: Pick<SkillSpec, 'metadata' | 'extra'>): DeclaredDomains {
	return parseDomains(metadata.network ?? extra['metadata.network']);
}

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

/** Whether a granted `domain` allows `host`, which may have a port. */
export function covers(domain: string, host: string): boolean {
	const [name = '', port] = host.split(':');
	return domain === host || matches(domain, name, port === undefined ? 443 : Number(port));
}

// Hosts that code names.

/** Nobody's, namespaces, schemas, licences and documentation: never a reason for a grant. */
const NOT_REACHED = new RegExp(
	`(^|\\.)(${[
		'localhost|local|internal|test|invalid|example|onion|lan',
		'w3\\.org|openxmlformats\\.org|purl\\.(?:oclc\\.)?org|xmlsoap\\.org|oasis-open\\.org|json-schema\\.org|schemastore\\.org',
		'schema\\.org|spdx\\.org|opensource\\.org|creativecommons\\.org|gnu\\.org|readthedocs\\.(io|org)|stackoverflow\\.com'
	].join(
		'|'
	)})$|^(www\\.)?(github|gitlab|apache|mozilla|python|nodejs)\\.(com|org)$|^(schemas?|docs?|developers?|help|support|ns)\\.`
);

/** Stand for another in help and instructions, but code that connects to one means it. */
const EXAMPLE = /(^|\.)example\.(com|net|org)$/;
/** Before an address: a call that connects to it, or a constant with it. */
const IS_REACHED =
	/(?:\b(?:urlopen|urlretrieve|[Rr]equest|fetch|get|post|put|patch|delete|head|axios)\(\s{0,40}(?:["'`][A-Z]{3,7}["'`],\s{0,40})?|^[ \t]{0,40}(?:(?:export|const|let|var)[ \t]+){0,2}[\w.]{1,80}(?:: ?\w{1,40})?[ \t]=[ \t])[rbf]{0,2}["'`](?![\s\S])|\b(?:curl|wget)\b[^\n|;&]{0,200}(?![\s\S])/m;
const BEFORE = 300;

/** Clients that have their host in them. */
const CLIENT_HOSTS = new Map(
	(
		'openai=api.openai.com anthropic=api.anthropic.com @anthropic-ai/sdk=api.anthropic.com ' +
		'google-genai=generativelanguage.googleapis.com @google/genai=generativelanguage.googleapis.com ' +
		'slack-sdk=slack.com @slack/web-api=slack.com notion-client=api.notion.com @notionhq/client=api.notion.com ' +
		'discord-py=discord.com discord.js=discord.com python-telegram-bot=api.telegram.org stripe=api.stripe.com ' +
		'pygithub=api.github.com octokit=api.github.com @octokit/rest=api.github.com replicate=api.replicate.com ' +
		'huggingface-hub=huggingface.co google-generativeai=generativelanguage.googleapis.com ' +
		'@google/generative-ai=generativelanguage.googleapis.com groq=api.groq.com groq-sdk=api.groq.com ' +
		'mistralai=api.mistral.ai @mistralai/mistralai=api.mistral.ai cohere=api.cohere.com elevenlabs=api.elevenlabs.io ' +
		'tavily-python=api.tavily.com @tavily/core=api.tavily.com exa-py=api.exa.ai firecrawl-py=api.firecrawl.dev ' +
		'@mendable/firecrawl-js=api.firecrawl.dev resend=api.resend.com sendgrid=api.sendgrid.com ' +
		'@sendgrid/mail=api.sendgrid.com boto3=*.amazonaws.com @aws-sdk/client-s3=*.amazonaws.com twilio=api.twilio.com arxiv=export.arxiv.org yt-dlp=www.youtube.com youtube-transcript-api=www.youtube.com wikipedia=en.wikipedia.org'
	)
		.split(' ')
		.map((pair) => pair.split('=') as [string, string])
);

/** Where a package’s client connects to, if that’s known. */
export function hostsOfClient(packageName: string): string[] {
	const host = CLIENT_HOSTS.get(packageName);
	return host === undefined ? [] : [host];
}

/** Hosts in addresses and connections of code without comments, as they can be granted; in `isScript`, also examples it connects to. */
export function hostsInCode(code: string, isScript = true): string[] {
	const patterns = [
		// An address that is put together (`https://${x}.example.org`) names no host; one in brackets (`Bot/1 (+https://…)`) says who asks.
		/(?<!\(\+?)\b(?:https?|wss?):\/\/([A-Za-z0-9.-]{3,253}(?::\d{1,5})?)(?![\w.:@${%-])/g,
		/\bHTTPS?Connection\(\s{0,40}["']([A-Za-z0-9.-]{3,253})["']/g,
		/\b(?:hostname|host)["']?\s{0,8}[:=]\s{0,8}["'`]([A-Za-z0-9.-]{3,253})["'`]/g,
		/\b(?:curl|wget)\b[^\n|;&]{0,200}?[ \t]["']?([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,4}\.[a-z]{2,24})[/?]/g
	];
	return patterns
		.flatMap((pattern) => Array.from(code.matchAll(pattern)))
		.flatMap(({ 1: name = '', index }) => {
			const { domain } = parseDomain(name.replace(/:(80|443)$/, ''));
			const host = domain?.replace(/:.*/, '');
			if (domain === undefined || host === undefined) return [];
			if (EXAMPLE.test(host))
				return isScript && IS_REACHED.test(code.slice(Math.max(0, index - BEFORE), index)) ? [domain] : [];
			return NOT_REACHED.test(host) ? [] : [domain];
		});
}
