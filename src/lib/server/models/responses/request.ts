/** The request of the Responses API that asks a model for its next turn (MODEL-WIRE "Request"). */
import { withoutHidden, withoutHiddenIn } from '../../../shared/characters.ts';
import type { ModelRequest, ResponseItem } from '../../agent/model.ts';
import { asObject } from '../../../shared/json.ts';
import { sanitiseInput } from './input.ts';

/** OpenRouter refuses longer ones. */
const MAX_SESSION_ID = 256;

export interface RequestOptions {
	apiKey: string | undefined;
	appTitle: string | undefined;
	referer: string | undefined;
}

/**
 * `{base}/responses`, a query of the base kept. Throws a plain `Error` that names the value unless it is an http(s)
 * address without credentials.
 */
export function responsesUrl(baseUrl: string): URL {
	const url = URL.parse(baseUrl);
	if (url && (url.username !== '' || url.password !== '')) {
		throw new Error(`The address of the model server can’t include a user or password (host ${url.host})`);
	}
	if (!url || !/^https?:$/.test(url.protocol)) {
		throw new Error(`The address of the model server must start with http:// or https://, not be "${baseUrl}"`);
	}
	url.pathname = `${url.pathname.replace(/\/+$/, '')}/responses`;
	url.hash = '';
	return url;
}

/** `{base}/{path}`, a query of the base kept: `models`, `key`. Throws as `responsesUrl` does. */
export function siblingUrl(baseUrl: string, path: string): URL {
	const url = responsesUrl(baseUrl);
	return new URL(`${path}${url.search}`, url);
}

export function requestHeaders({ apiKey, appTitle, referer }: RequestOptions): Record<string, string> {
	const headers: Record<string, string> = {
		accept: 'text/event-stream',
		// Compressed streams are held back until a block is full.
		'accept-encoding': 'identity',
		'content-type': 'application/json'
	};
	if (apiKey) headers.authorization = `Bearer ${apiKey}`;
	if (referer && isHeaderText(referer)) headers['http-referer'] = referer;
	if (appTitle && isHeaderText(appTitle)) headers['x-openrouter-title'] = appTitle;
	return headers;
}

/** True when the text can be a header's value: `fetch` throws, quoting the value, for one that cannot. */
export function isHeaderText(text: string): boolean {
	return /^[\x20-\x7e]+$/.test(text);
}

/** The JSON body, history sanitised. */
export function requestBody(model: string, url: URL, request: ModelRequest): string {
	const { instructions, input, tools, toolChoice, sessionId, effort, options } = request;
	const { reasoning, parallel_tool_calls = true, include, ...others } = options ?? {};
	return toJson({
		...others,
		model,
		stream: true,
		session_id: takesSessionId(url) && sessionId !== '' ? sessionId.slice(0, MAX_SESSION_ID) : undefined,
		instructions: withoutHidden(instructions),
		input: sanitiseInput(input).map(withoutHiddenText),
		include: ['reasoning.encrypted_content', ...(Array.isArray(include) ? include : [])],
		reasoning: effort || reasoning ? { effort, ...asObject(reasoning) } : undefined,
		...(tools.length > 0
			? {
					tools: withoutHiddenIn(tools).map((tool) => ({ ...tool, strict: tool.strict ?? null })),
					tool_choice: toolChoice,
					parallel_tool_calls
				}
			: {})
	});
}

/** What others say: results, messages. What the model said itself is sent as it came, but for what no server knows. */
function withoutHiddenText({ headline: _ours, ...item }: ResponseItem): ResponseItem {
	if (item.type === 'function_call_output') return { ...item, output: withoutHiddenIn(item.output) };
	const isOurs = item.type === 'message' || item.type === undefined;
	return isOurs && item.role !== 'assistant' ? { ...item, content: withoutHiddenIn(item.content) } : item;
}

/** Half a character, as a stopped answer may end in, makes servers refuse the whole request. */
function toJson(value: object): string {
	const json = JSON.stringify(value);
	// Nothing but lone surrogates is escaped like this, or text that looks the same: only these pay twice.
	if (!/\\ud[89a-f]/.test(json)) return json;
	return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'string' ? inner.toWellFormed() : inner));
}

/** OpenAI answers 400 to fields that it does not know; every other server ignores them. */
function takesSessionId(url: URL): boolean {
	return !/(^|\.)(openai\.com|openai\.azure\.com)$/.test(url.hostname);
}
