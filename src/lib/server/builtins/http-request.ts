/** The skill `http_request`: one request to a public address, without credentials (FEATURES D28). */
import { isUtf8 } from 'node:buffer';
import { NetworkError } from '../network/addresses.ts';
import type { SafeFetch } from '../network/safe-fetch.ts';
import { SkillError, type SkillErrorType } from '../skills/types.ts';
import { type Builtin, defineBuiltin } from './builtin.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 60_000;

/** Headers with credentials, and those that control the connection. */
const BLOCKED: ReadonlySet<string> = new Set(
	`host connection content-length cookie set-cookie authorization proxy-authorization cookie2 set-cookie2
	transfer-encoding te trailer upgrade expect keep-alive`.split(/\s+/)
);

const HEADER_VALUE = { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] };

export function createHttpRequest({ fetch, maxBytes }: { fetch: SafeFetch; maxBytes: number }): Builtin {
	return defineBuiltin({
		name: 'http_request',
		description:
			'Send one HTTP request to a public address and read the response. Redirects are not followed; the response has their location.',
		tags: ['http://', 'https://', 'rest api', 'web api', 'endpoint', 'curl'],
		lane: null,
		asksFirst: true,
		sandbox: 'direct',
		properties: {
			url: { type: 'string', minLength: 1, maxLength: 8192, description: 'http or https.' },
			method: { type: 'string', enum: METHODS, description: 'Default: GET.' },
			headers: {
				type: 'object',
				additionalProperties: HEADER_VALUE,
				description: 'Cookies and authorization aren’t allowed.'
			},
			body: { type: 'string', description: 'Text to send.' },
			timeoutMs: { type: 'integer', minimum: 1, maximum: MAX_TIMEOUT_MS, description: 'Default: 10000.' }
		},
		required: ['url'],
		async run(args, { signal }) {
			const { url, method = 'GET', headers = {}, body, timeoutMs = DEFAULT_TIMEOUT_MS } = args as unknown as Arguments;
			if (body !== undefined && (method === 'GET' || method === 'HEAD')) {
				throw new SkillError('InvalidArgs', `A ${method} request can’t have a body.`, 'Use POST, PUT or PATCH.');
			}
			const sent = checkHeaders(headers);
			const response = await fetch(url, { method, headers: sent, body, timeoutMs, maxBytes, signal }).catch(asOutcome);
			const { status, statusText, truncated, finalUrl } = response;
			const { 'set-cookie': _cookies, ...received } = response.headers;
			return {
				ok: true,
				value: {
					status,
					statusText,
					url: finalUrl,
					headers: received,
					...readableBody(response.body, received['content-type'], truncated),
					bytes: response.body.length,
					truncated
				},
				sandbox: 'direct'
			};
		}
	});
}

interface Arguments {
	url: string;
	method?: string;
	headers?: Record<string, string | string[]>;
	body?: string;
	timeoutMs?: number;
}

/** @throws SkillError for a forbidden or invalid header */
function checkHeaders(headers: Record<string, string | string[]>): Record<string, string> {
	const sent = Object.entries(headers).map(([name, value]) => {
		const text = Array.isArray(value) ? value.join(', ') : value;
		if (BLOCKED.has(name.trim().toLowerCase()) || /^(proxy|sec)-/i.test(name.trim())) {
			const hint = 'Leave it out. For sites that need a login, use a skill with its own secret.';
			throw new SkillError('InvalidArgs', `The header “${name}” can’t be set.`, hint);
		}
		if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(text)) {
			throw new SkillError('InvalidArgs', `“${name.slice(0, 100)}” isn’t a valid header.`);
		}
		return [name, text] as const;
	});
	return Object.fromEntries(sent);
}

/** Turns a NetworkError into a SkillError. @throws SkillError; other errors unchanged */
export function asOutcome(error: unknown): never {
	if (!(error instanceof NetworkError)) throw error;
	const type: SkillErrorType =
		error.code === 'timeout'
			? 'ExecutionTimeout'
			: error.code === 'bad-url' || error.code === 'bad-request' || error.code === 'blocked-address'
				? 'InvalidArgs'
				: 'ExecutionFailed';
	throw new SkillError(type, error.message);
}

// Response bodies for models: text by its charset, else base64 (FEATURES D28).

const TEXT_TYPES =
	/^(text\/|application\/(json|xml|javascript|ecmascript|yaml|x-yaml|toml|sql|graphql|x-ndjson|x-www-form-urlencoded)$)|[+](json|xml|yaml)$/;

/** If `truncated`, drops a character that was cut. */
function readableBody(body: Buffer, contentType: string | undefined, truncated: boolean) {
	const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
	const charset = parameters.map((each) => /^\s*charset\s*=\s*"?([^"\s]+)/.exec(each)?.[1]).find(Boolean);
	const isText = TEXT_TYPES.test(type.trim()) || (charset !== undefined && type.trim() !== 'application/octet-stream');
	const isPlain = type.trim() === '' && isUtf8(body) && !body.includes(0);
	const decoder = isText || isPlain ? decoderOf(charset ?? charsetOfMark(body)) : null;
	if (!decoder) return { body: body.toString('base64'), encoding: 'base64' };
	return { body: decoder.decode(body, { stream: truncated }), encoding: 'utf8' };
}

/** Falls back to UTF-8 with replacement characters for an unknown charset. */
function decoderOf(charset: string): TextDecoder {
	try {
		return new TextDecoder(charset);
	} catch (error) {
		if (error instanceof RangeError) return new TextDecoder();
		throw error;
	}
}

function charsetOfMark(body: Buffer): string {
	const mark = body.subarray(0, 2).toString('hex');
	return mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8';
}
