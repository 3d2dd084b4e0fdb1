/** Checks every request before its caller: known host, own origin, JSON body (SECURITY, *The server*). */
import { AppError, isLoopback } from '../../shared/errors.ts';
import { isProgramRoute } from './caller.ts';
import { clientAddress } from './login.ts';

export interface DoorSettings {
	host: string;
	/** The public address, if different. */
	publicOrigin: string | null;
}

export interface Knock {
	method: string;
	/** Kit’s route id, as in `/api/runs/[id]`; null without a route. Unlike the path, it has only one spelling. */
	route: string | null;
	headers: Headers;
}

const UPLOAD_ROUTE = '/api/conversations/[id]/files/[...path]';
/** Accepts an archive, or the files of a folder. */
const STAGE_ROUTE = '/api/skills/install/staged';
/** OpenAI’s clients send nothing here, and no content type, which `server.js` then fills in. */
const BODILESS_ROUTES: readonly (string | null)[] = ['/v1/responses/[id]/cancel'];
/** `/v1/files` takes a form, as OpenAI’s does. */
const FORM_ROUTE = '/v1/files';
const FORM = /^multipart\/form-data\s*(;|$)/i;
const UNTYPED = 'application/octet-stream';
const SKILL_UPLOAD = /^(application\/zip|multipart\/form-data)\s*(;|$)/i;
/** Accepts an archive of results. */
const EVALS_ROUTE = '/api/skills/[...id]/evals/import';
const ARCHIVE = /^application\/zip\s*(;|$)/i;
const HOST = /^(\[[\da-f:.]+\]|[a-z\d._-]+)(:\d{1,5})?$/i;
const IP_ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])$/i;
const WILDCARDS: readonly string[] = ['0.0.0.0', '::'];
const OTHER_SITE = 'Requests from other sites aren’t allowed.';

/** @throws AppError `forbidden` or `unsupported_media_type` */
export function checkDoor(knock: Knock, settings: DoorSettings): void {
	const { headers } = knock;
	const host = headers.get('host')?.toLowerCase() ?? '';
	if (!isServed(host, settings)) {
		throw new AppError('forbidden', `This server doesn’t answer for the host “${host.slice(0, 100)}”.`, {
			hint: isLoopback(settings.host)
				? 'Open it at 127.0.0.1 or localhost, or set PUBLIC_ORIGIN to the app’s public address.'
				: 'Set PUBLIC_ORIGIN to the app’s public address.'
		});
	}
	const origin = headers.get('origin');
	if (origin !== null && origin !== settings.publicOrigin && origin !== ownOrigin(headers, settings)) {
		throw new AppError('forbidden', OTHER_SITE);
	}
	if (!isFromHere(headers) && !isLinkToPage(knock)) throw new AppError('forbidden', OTHER_SITE);
	if (mustBeJson(knock) && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(headers.get('content-type') ?? '')) {
		throw new AppError('unsupported_media_type', 'Send JSON with content-type: application/json.');
	}
}

/** Host names must be known, because other sites can point theirs here (DNS rebinding). IP addresses are safe. */
function isServed(host: string, { host: listening, publicOrigin }: DoorSettings): boolean {
	const name = HOST.exec(host)?.[1];
	if (name === undefined) return false;
	if (publicOrigin !== null && isHostOf(publicOrigin, host)) return true;
	if (isLoopback(listening)) return isLoopback(name);
	if (WILDCARDS.includes(listening)) return isLoopback(name) || IP_ADDRESS.test(name);
	return name.replace(/^\[(.*)\]$/, '$1') === listening.toLowerCase();
}

/** The origin the client used, valid after `checkDoor`. */
export function ownOrigin(headers: Headers, { publicOrigin }: Pick<DoorSettings, 'publicOrigin'>): string {
	const host = headers.get('host')?.toLowerCase() ?? '';
	return publicOrigin !== null && isHostOf(publicOrigin, host) ? publicOrigin : `http://${host}`;
}

/** Some proxies include the default port. */
function isHostOf(origin: string, host: string): boolean {
	const url = new URL(origin);
	return host === url.host || host === `${url.hostname}:${url.protocol === 'https:' ? 443 : 80}`;
}

/** Programs and old browsers send no such header; another port of this host is `same-site`. */
function isFromHere(headers: Headers): boolean {
	const site = headers.get('sec-fetch-site');
	return site === null || site === 'same-origin' || site === 'none';
}

/** Other sites may only link to a page, as a top-level navigation. */
function isLinkToPage({ method, route, headers }: Knock): boolean {
	if (method !== 'GET' || isProgramRoute(route ?? '')) return false;
	return headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document';
}

/** Forms of other sites can’t send JSON, and scripts need a CORS preflight. */
function mustBeJson({ method, route, headers }: Knock): boolean {
	if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return false;
	if (method === 'PUT' && route === UPLOAD_ROUTE) return false;
	if (method === 'POST' && route === STAGE_ROUTE && SKILL_UPLOAD.test(headers.get('content-type') ?? '')) return false;
	if (method === 'POST' && route === EVALS_ROUTE && ARCHIVE.test(headers.get('content-type') ?? '')) return false;
	if (method === 'POST' && route === FORM_ROUTE && FORM.test(headers.get('content-type') ?? '')) return false;
	const isUntyped = (headers.get('content-type') ?? UNTYPED) === UNTYPED;
	const isBodiless = method === 'POST' && BODILESS_ROUTES.includes(route) && isUntyped;
	if (method !== 'DELETE' && !isBodiless) return true;
	return headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) !== 0;
}

// Default headers of every response.

/**
 * The policy is for responses that aren’t pages; pages and workspace files have their own. HSTS only with an https
 * `publicOrigin`, because it would lock out a host that is also served without TLS.
 */
export function securityHeaders(publicOrigin: string | null): [name: string, value: string][] {
	return [
		['x-content-type-options', 'nosniff'],
		['referrer-policy', 'no-referrer'],
		['x-frame-options', 'DENY'],
		['cross-origin-opener-policy', 'same-origin'],
		['cross-origin-resource-policy', 'same-origin'],
		['permissions-policy', NO_DEVICES],
		['content-security-policy', NOT_A_PAGE],
		...(publicOrigin?.startsWith('https:')
			? [['strict-transport-security', 'max-age=31536000'] as [string, string]]
			: [])
	];
}

const NO_DEVICES =
	`accelerometer camera display-capture geolocation gyroscope hid magnetometer microphone midi payment serial usb
	xr-spatial-tracking`
		.split(/\s+/)
		.map((name) => `${name}=()`)
		.join(', ');

const NOT_A_PAGE = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** @returns the client address for counting wrong tokens. @throws AppError forbidden | unsupported_media_type */
export function enter(
	knock: Knock & {
		/** Address of the connection; undefined once the client has hung up. */ connected: string | undefined;
	},
	settings: DoorSettings & { trustsProxy: boolean },
	{ isLoginNeeded }: { isLoginNeeded: boolean }
): string {
	checkDoor(knock, settings);
	const { connected = '', headers } = knock;
	// The development server may listen on an address that isn’t in the settings.
	if (!isLoginNeeded && !isLoopback(connected.replace(/^::ffff:/, ''))) {
		throw new AppError('forbidden', 'Without ADMIN_TOKEN, this server only answers this computer.');
	}
	return clientAddress(connected, headers.get('x-forwarded-for'), settings.trustsProxy);
}
