/** Tells an authorization server that tokens are no longer used (RFC 7009, E36). */
import type {
	OAuthDiscoveryState,
	StoredOAuthClientInformation,
	StoredOAuthTokens
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { plainLine } from '../../shared/characters.ts';

export interface Revocable {
	/** The MCP server's address. */
	url: string;
	client?: StoredOAuthClientInformation;
	tokens?: StoredOAuthTokens;
	discovery?: OAuthDiscoveryState;
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const MAX_REASON = 300;
const methods = z.array(z.string()).optional();
/** Of the metadata of an authorization server, or of an OpenID provider. */
const revocationFacts = z.object({
	revocation_endpoint: z.string(),
	revocation_endpoint_auth_methods_supported: methods,
	token_endpoint_auth_methods_supported: methods
});

/**
 * Null if it's done, or can't be: there are no tokens, or the server has no such endpoint. Otherwise a sentence that says
 * why not, after `timeoutMs` at most. Never rejects.
 */
export async function revoke(
	{ url, client, tokens, discovery }: Revocable,
	{ fetchWithin, timeoutMs }: { fetchWithin: (limit: AbortSignal) => Fetch; timeoutMs: number }
): Promise<string | null> {
	if (!tokens || !client) return null;
	const limit = AbortSignal.timeout(timeoutMs);
	const fetchFn = fetchWithin(limit);
	let host = new URL(url).host;
	try {
		const { assertSecureTokenEndpoint, discoverOAuthServerInfo, selectClientAuthMethod } =
			await import('@modelcontextprotocol/client');
		const metadata =
			discovery?.authorizationServerMetadata ??
			(await discoverOAuthServerInfo(url, { fetchFn })).authorizationServerMetadata;
		const { data: facts } = revocationFacts.safeParse(metadata);
		if (!facts) return null;
		const endpoint = assertSecureTokenEndpoint(facts.revocation_endpoint);
		({ host } = endpoint);
		const { revocation_endpoint_auth_methods_supported: own, token_endpoint_auth_methods_supported: usual } = facts;
		const method = selectClientAuthMethod(client, own ?? usual ?? []);
		const ask = (token: string, hint: string) =>
			fetchFn(endpoint, { method: 'POST', ...requestOf({ token, token_type_hint: hint }, client, method) });
		const { refresh_token: renewal, access_token: access } = tokens;
		// With the first, most servers revoke both; not all of them take the second.
		const answers = [await ask(renewal ?? access, renewal ? 'refresh_token' : 'access_token')];
		if (renewal && answers[0]?.ok) await ask(access, 'access_token').catch(() => undefined);
		return answers[0]?.ok ? null : sentence(host, `status ${answers[0]?.status}`);
	} catch (error) {
		const seconds = `no answer within ${timeoutMs / 1000} s`;
		return sentence(host, limit.aborted ? seconds : error instanceof Error ? error.message : String(error));
	}
}

function sentence(host: string, reason: string): string {
	const why = plainLine(reason).slice(0, MAX_REASON);
	return `${host} didn’t revoke the access (${why}). Remove it in your account there.`;
}

function requestOf(
	fields: Record<string, string>,
	client: StoredOAuthClientInformation,
	method: string
): { headers: Record<string, string>; body: string } {
	const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
	const form = new URLSearchParams(fields);
	const secret = 'client_secret' in client ? (client.client_secret ?? '') : '';
	if (method === 'client_secret_basic') {
		const credentials = Buffer.from(`${client.client_id}:${secret}`).toString('base64');
		return { headers: { ...headers, authorization: `Basic ${credentials}` }, body: form.toString() };
	}
	form.set('client_id', client.client_id);
	if (method === 'client_secret_post') form.set('client_secret', secret);
	return { headers, body: form.toString() };
}
