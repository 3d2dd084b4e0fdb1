/** An MCP server that wants its users to sign in, and the authorization server it names, at one address. */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FixtureHttpServer, startFixtureHttp } from './mcp-fixture.ts';

export interface AuthorizedServer extends FixtureHttpServer {
	/** Names of the clients that registered. */
	clients: string[];
	/** Tokens that are good now. */
	tokens: Set<string>;
	/** What was asked of the token endpoint. */
	grants: URLSearchParams[];
	/** What was asked of the revocation endpoint, with the authorization it came with. */
	revocations: { form: URLSearchParams; authorization: string | undefined }[];
	/** How the revocation endpoint answers. `absent`: the metadata name none; `silent`: never. */
	revokes: 'yes' | 'absent' | 'silent' | 503;
	/** Given to clients that register; null: they get none. */
	secret: string | null;
	/** Metadata to answer with in place of the right ones, by path. */
	wrong: Map<string, object>;
	/** Forgets the clients that registered: their page says so, and nobody comes back from it. */
	forget(): void;
	/** May answer the token endpoint in its place, at once or later. */
	onToken: (form: URLSearchParams) => object | null | Promise<object | null>;
	/** Of everything that reaches it as an authorization server. */
	asked: { path: string; headers: IncomingMessage['headers'] }[];
	/** Ends all access tokens, and with `renewals` those for renewing, too. */
	expire(what?: 'renewals'): void;
}

/** Signs everybody in who comes to its page. `tokens` may be those of another one, which then accepts this one's. */
export async function startAuthorizedServer(tokens = new Set<string>()): Promise<AuthorizedServer> {
	const clients: string[] = [];
	const asked: AuthorizedServer['asked'] = [];
	const own: Pick<AuthorizedServer, 'onToken' | 'revokes' | 'secret'> = {
		onToken: () => null,
		revokes: 'yes',
		secret: null
	};
	const renewals = new Set<string>();
	const grants: URLSearchParams[] = [];
	const known = new Set<string>();
	const revocations: AuthorizedServer['revocations'] = [];
	const wrong = new Map<string, object>();
	const codes = new Map<string, { challenge: string; client: string; redirect: string }>();

	const issue = () => {
		const [access, renewal] = [`access-${randomUUID()}`, `renewal-${randomUUID()}`];
		tokens.add(access);
		renewals.add(renewal);
		return { access_token: access, refresh_token: renewal, token_type: 'Bearer', expires_in: 3600 };
	};
	const grant = (form: URLSearchParams): object | null => {
		grants.push(form);
		if (form.get('grant_type') === 'refresh_token')
			return renewals.delete(form.get('refresh_token') ?? '') ? issue() : null;
		const code = codes.get(form.get('code') ?? '');
		codes.delete(form.get('code') ?? '');
		const challenge = createHash('sha256')
			.update(form.get('code_verifier') ?? '')
			.digest('base64url');
		const isRight =
			code?.challenge === challenge &&
			code.client === form.get('client_id') &&
			code.redirect === form.get('redirect_uri');
		return isRight ? issue() : null;
	};

	const before = (request: IncomingMessage, response: ServerResponse): boolean => {
		const origin = `http://${request.headers.host}`;
		const { pathname, searchParams } = new URL(request.url ?? '/', origin);
		const json = (body: object, status = 200) => {
			response.writeHead(status, { 'content-type': 'application/json' });
			response.end(JSON.stringify(body));
			return true;
		};
		if (pathname !== '/mcp') asked.push({ path: pathname, headers: request.headers });
		const told = wrong.get(pathname);
		if (told) return json(told);
		if (pathname.startsWith('/.well-known/oauth-protected-resource')) {
			return json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
		}
		if (pathname === '/.well-known/oauth-authorization-server') {
			return json({
				issuer: origin,
				authorization_endpoint: `${origin}/authorize`,
				token_endpoint: `${origin}/token`,
				...(own.revokes === 'absent' ? {} : { revocation_endpoint: `${origin}/revoke` }),
				registration_endpoint: `${origin}/register`,
				response_types_supported: ['code'],
				grant_types_supported: ['authorization_code', 'refresh_token'],
				token_endpoint_auth_methods_supported: ['none'],
				code_challenge_methods_supported: ['S256'],
				authorization_response_iss_parameter_supported: true
			});
		}
		if (pathname === '/authorize') {
			const code = randomUUID();
			const redirect = searchParams.get('redirect_uri') ?? '';
			const [client, challenge] = [searchParams.get('client_id') ?? '', searchParams.get('code_challenge') ?? ''];
			if (!known.has(client)) return json({ error: 'invalid_client' }, 400);
			if (searchParams.get('code_challenge_method') !== 'S256') return json({ error: 'invalid_request' }, 400);
			codes.set(code, { challenge, client, redirect });
			const back = new URL(redirect);
			for (const [name, value] of [
				['code', code],
				['state', searchParams.get('state') ?? ''],
				['iss', origin]
			] as const)
				back.searchParams.set(name, value);
			response.writeHead(302, { location: back.href }).end();
			return true;
		}
		if (pathname === '/register' || pathname === '/token' || pathname === '/revoke') {
			const chunks: Buffer[] = [];
			request.on('data', (chunk: Buffer) => chunks.push(chunk));
			request.on('end', async () => {
				const text = Buffer.concat(chunks).toString();
				if (pathname === '/token') {
					const form = new URLSearchParams(text);
					const granted = (await own.onToken(form)) ?? grant(form);
					return json(granted ?? { error: 'invalid_grant' }, granted ? 200 : 400);
				}
				if (pathname === '/revoke') {
					const form = new URLSearchParams(text);
					revocations.push({ form, authorization: request.headers.authorization });
					if (own.revokes === 'silent') return;
					if (own.revokes !== 'yes') return json({ error: 'temporarily_unavailable' }, 503);
					for (const good of [tokens, renewals]) good.delete(form.get('token') ?? '');
					return json({});
				}
				const about = JSON.parse(text) as { client_name: string };
				clients.push(about.client_name);
				known.add(`client-${clients.length}`);
				const secret = own.secret === null ? {} : { client_secret: own.secret };
				return json({ ...about, ...secret, client_id: `client-${clients.length}` }, 201);
			});
			return true;
		}
		const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
		if (token !== undefined && tokens.has(token)) return false;
		response.writeHead(401, {
			'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
		});
		response.end();
		return true;
	};

	const expire = (what?: 'renewals') => {
		tokens.clear();
		if (what === 'renewals') renewals.clear();
	};
	const server = await startFixtureHttp(before);
	const forget = () => known.clear();
	return Object.assign(own, { ...server, clients, tokens, grants, revocations, wrong, asked, forget, expire });
}
