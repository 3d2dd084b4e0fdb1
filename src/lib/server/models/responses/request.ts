/** Builds a request of the Responses API. */
import { hash } from 'node:crypto';
import { isOpenRouter, type WebTool } from '../../../shared/names.ts';
import { withoutHidden, withoutHiddenIn } from '../../../shared/characters.ts';
import type { ModelRequest, ResponseItem } from '../../agent/model.ts';
import { asObject } from '../../../shared/json.ts';
import type { ModelRouting } from '../../../shared/models.ts';
import { asCustomTool, takesCustom, withCustomCalls, belongsTo } from './foreign.ts';
import { sanitiseInput } from './items.ts';

/** OpenRouter rejects longer ones. */
const MAX_SESSION_ID = 256;

export interface RequestOptions {
	apiKey: string | undefined;
	appTitle: string | undefined;
	referer: string | undefined;
}

/** `{base}/responses`, keeping the base's query. Throws a plain `Error` unless it's an http(s) URL without credentials. */
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

/** `{base}/{path}`, keeping the base's query. Throws like `responsesUrl`. */
export function siblingUrl(baseUrl: string, path: string): URL {
	const url = responsesUrl(baseUrl);
	return new URL(`${path}${url.search}`, url);
}

export function requestHeaders({ apiKey, appTitle, referer }: RequestOptions): Record<string, string> {
	const headers: Record<string, string> = {
		accept: 'text/event-stream',
		// A compressed stream is delayed until a block is full.
		'accept-encoding': 'identity',
		'content-type': 'application/json'
	};
	if (apiKey) headers.authorization = `Bearer ${apiKey}`;
	if (referer && isHeaderText(referer)) headers['http-referer'] = referer;
	if (appTitle && isHeaderText(appTitle)) headers['x-openrouter-title'] = appTitle;
	return headers;
}

/** Whether the text is a valid header value. For an invalid one `fetch` throws an error that quotes it. */
export function isHeaderText(text: string): boolean {
	return /^[\x20-\x7e]+$/.test(text);
}

/**
 * What makes OpenRouter's providers cache the prompt: Anthropic and Alibaba only do when asked, OpenAI finds its cache by the
 * key, the others need nothing. Other servers might refuse the unknown fields. Nothing for a request without a session: nobody
 * will send its beginning again, and writing to a cache costs.
 */
export function cacheFields(model: string, url: URL, sessionId: string): Record<string, unknown> {
	const isServing = url.hostname === 'openrouter.ai' || url.hostname.endsWith('.openrouter.ai');
	if (!isServing || sessionId === '') return {};
	const [, vendor] = /^~?([^/]+)\//.exec(model) ?? [];
	if (vendor === 'anthropic' || vendor === 'alibaba' || vendor === 'qwen')
		return { cache_control: { type: 'ephemeral' } };
	return vendor === 'openai' ? { prompt_cache_key: cacheKeyOf(sessionId) } : {};
}

/**
 * The end of what all chats have in common, marked: in these caches, tools stand before instructions. `cache_control` marks the
 * end of the request, which a compaction and a new chat don't share.
 */
function markedInstructions(text: string): ResponseItem {
	const content = [{ type: 'input_text', text, prompt_cache_breakpoint: { mode: 'explicit' } }];
	return { type: 'message', role: 'system', content };
}

/** OpenAI takes 64 characters at most. */
function cacheKeyOf(sessionId: string): string {
	return sessionId.length <= 64 ? sessionId : hash('sha256', sessionId);
}

/** OpenRouter's fields for routing. */
export function routingFields(model: string, fallbacks: readonly string[], routing: ModelRouting): object {
	const { sort, zdr, only, ignore } = routing;
	const provider = {
		...(sort && { sort }),
		...(zdr && { zdr }),
		...(only?.length && { only }),
		...(ignore?.length && { ignore })
	};
	return {
		...(fallbacks.length > 0 && { models: [model, ...fallbacks] }),
		...(Object.keys(provider).length > 0 && { provider })
	};
}

/** Whether the id stands for a choice among models. */
export function isRouter(model: string): boolean {
	return /^(openrouter\/|~)/.test(model);
}

/**
 * Leaves out what only a fallback understands, like reasoning, whose signatures another model rejects. Behind a router, the model that answered
 * last is expected to answer.
 */
function withoutOthersItems(input: readonly ResponseItem[], model: string): ResponseItem[] {
	const last = input.findLast(({ answered_by }) => answered_by !== undefined);
	const expected = isRouter(model) ? last?.answered_by : model;
	return input.filter(({ answered_by }) => (answered_by ?? expected) === expected);
}

/**
 * The JSON body, with a repaired history. `extra`: fields that the request's own options may replace. `refused`: types of tools and
 * items that the server doesn't take.
 */
export function requestBody(
	model: string,
	url: URL,
	request: ModelRequest,
	extra: object = {},
	refused: ReadonlySet<string> = new Set()
): string {
	const { instructions, input, toolChoice, sessionId, effort, options } = request;
	const hosted = (request.hosted?.tools ?? []).filter(({ type }) => !refused.has(type));
	const types = hosted.map(({ type }) => type);
	const { choice = null, include: wanted = [] } = request.hosted ?? {};
	const isServing = isOpenRouter(new URL('.', url).href);
	const takes = takesCustom(url, model) && !refused.has('custom');
	const texts = new Set(takes ? request.tools.filter(({ custom }) => custom).map(({ name }) => name) : []);
	const own = withoutHiddenIn(request.tools).map((tool) => {
		const { custom: _text, ...others } = tool;
		return texts.has(tool.name) ? asCustomTool(tool) : { ...others, strict: tool.strict ?? null };
	});
	const isText = typeof toolChoice === 'object' && texts.has(toolChoice.name);
	const chosen = isText ? { ...toolChoice, type: 'custom' } : toolChoice;
	// Before the others, which grow.
	const tools = [...(isServing ? (request.web ?? []).map(serverTool) : []), ...hosted, ...own];
	const { reasoning, parallel_tool_calls = true, include, ...others } = options ?? {};
	const system = withoutHidden(instructions);
	const isMarked = 'cache_control' in extra && system !== '';
	const history = withCustomCalls(sanitiseInput(withoutOthersItems(input, model)), texts)
		.filter(({ type }) => (!type.startsWith('openrouter:') || isServing) && !refused.has(type))
		.map(withoutHiddenText);
	// A caller's own preferences don't undo that providers must keep no data.
	const provider = { ...asObject(asObject(extra).provider), ...asObject(others.provider) };
	return toJson({
		...extra,
		...others,
		provider: Object.keys(provider).length > 0 ? provider : undefined,
		model,
		stream: true,
		session_id: takesSessionId(url) && sessionId !== '' ? sessionId.slice(0, MAX_SESSION_ID) : undefined,
		instructions: isMarked ? undefined : system,
		input: isMarked ? [markedInstructions(system), ...history] : history,
		include: [
			'reasoning.encrypted_content',
			...(Array.isArray(include) ? include : []),
			...wanted.filter((value) => belongsTo(value, types))
		],
		reasoning: effort || reasoning ? { effort, ...asObject(reasoning) } : undefined,
		...(tools.length > 0
			? {
					tools,
					tool_choice: choice && types.includes(choice.type) ? choice : chosen,
					parallel_tool_calls
				}
			: {})
	});
}

/** A tool that OpenRouter runs itself. */
function serverTool(tool: WebTool): object {
	if (tool === 'search') return { type: 'openrouter:web_search' };
	if (tool === 'fetch') return { type: 'openrouter:web_fetch' };
	const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
	return { type: 'openrouter:datetime', parameters: { timezone: timeZone } };
}

/** Removes invisible characters, except from the model's own items, and our extra fields. */
function withoutHiddenText({
	headline: _ours,
	answered_by: _too,
	found_tools: _tools,
	...item
}: ResponseItem): ResponseItem {
	if (item.type === 'function_call_output') return { ...item, output: withoutHiddenIn(item.output) };
	const isOurs = item.type === 'message' || item.type === undefined;
	return isOurs && item.role !== 'assistant' ? { ...item, content: withoutHiddenIn(item.content) } : item;
}

/** Replaces lone surrogates, which a stopped reply may end in and for which servers reject the request. */
function toJson(value: object): string {
	const json = JSON.stringify(value);
	// Only lone surrogates (or text that looks like them) are escaped like this, so the slow path is rare.
	if (!/\\ud[89a-f]/.test(json)) return json;
	return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'string' ? inner.toWellFormed() : inner));
}

/** OpenAI rejects unknown fields with 400; other servers ignore them. */
function takesSessionId(url: URL): boolean {
	return !/(^|\.)(openai\.com|openai\.azure\.com)$/.test(url.hostname);
}
