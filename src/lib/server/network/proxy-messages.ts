/** What a proxy reads from a request and writes to its client. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

export interface Target {
	/** Lower case, without brackets and last dot. */
	host: string;
	port: number;
}

export interface UrlTarget extends Target {
	url: URL;
}

/** About one connection, not about what is asked for. */
const HOP_HEADERS = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'];

/** Of `host:port`, as CONNECT names it. */
export function targetOfAuthority(authority: string): Target | null {
	const { host, port } = /^(?<host>[^\s/?#@\\]+):(?<port>\d{1,5})$/.exec(authority)?.groups ?? {};
	const url = host ? URL.parse(`http://${host}/`) : null;
	// A port within the host would be a second one.
	if (!url || url.port || Number(port) < 1 || Number(port) > 65_535) return null;
	return { host: bareHost(url), port: Number(port) };
}

/** Of an address that begins with `http://`, as plain requests name it. */
export function targetOfUrl(text: string): UrlTarget | null {
	const url = /^http:\/\//i.test(text) ? URL.parse(text) : null;
	if (!url || url.username || url.password) return null;
	return { host: bareHost(url), port: Number(url.port || 80), url };
}

function bareHost({ hostname }: URL): string {
	return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

/** Without the headers that are about one connection. */
export function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
	const named = headers.connection?.toLowerCase().split(/\s*,\s*/) ?? [];
	return Object.fromEntries(
		Object.entries(headers).filter(
			([name]) => !HOP_HEADERS.includes(name) && !name.startsWith('proxy-') && !named.includes(name)
		)
	);
}

const REASONS: Readonly<Record<number, string>> = { 400: 'Bad Request', 403: 'Forbidden', 502: 'Bad Gateway' };

/** A whole response, for a bare socket. */
export function answer(status: number, sentence: string): string {
	const body = `${sentence}\n`;
	return [
		`HTTP/1.1 ${status} ${REASONS[status]}`,
		'Content-Type: text/plain; charset=utf-8',
		`Content-Length: ${Buffer.byteLength(body)}`,
		'Connection: close',
		'',
		body
	].join('\r\n');
}

export function reply(response: ServerResponse, status: number, sentence: string): void {
	if (response.headersSent) return;
	response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
	response.end(`${sentence}\n`);
}
