/** Tools and items that not every server knows: what a refusal means, and what isn't sent again (F12). */
import type { ModelRequest, FunctionTool, ResponseItem } from '../../agent/model.ts';
import { excerpt, type Fault } from './faults.ts';
import { isObject, parseJson, type JsonObject } from '../../../shared/json.ts';
import { isOpenRouter } from '../../../shared/names.ts';

export interface RefusedTypes {
	/** Types of tools and items that the server refused for a model, as `model type`. */
	refusedTypes: Set<string>;
}

/** Both parts of an entry come from requests. */
const MAX_REFUSED = 1000;
/** So often only what a refusal names is left out; then everything that it may mean. */
const MAX_NAMED = 2;
const COMMON_ITEMS: ReadonlySet<string> = new Set(['message', 'reasoning', 'function_call', 'function_call_output']);

export interface Foreign {
	/** The types to leave out. */
	readonly refused: ReadonlySet<string>;
	/** Whether the server may take the request without what this refusal means, which `refused` then has. */
	leaveOut(fault: Fault): boolean;
	/** For a request that succeeded: keeps what was refused. Returns sentences for people. */
	remember(): string[];
}

/** Custom tools that are refused are sent as functions. */
export function createForeign(
	{ input, tools: own, hosted }: ModelRequest,
	{ url, model, facts }: { url: URL; model: string; facts: RefusedTypes }
): Foreign {
	const hasCustom = takesCustom(url, model) && own.some(({ custom }) => custom);
	const tools = new Set([...(hosted?.tools.map(({ type }) => type) ?? []), ...(hasCustom ? [CUSTOM] : [])]);
	const items = new Set(input.map(({ type }) => type).filter((type) => !COMMON_ITEMS.has(type)));
	const keyOf = (type: string) => `${model} ${type}`;
	const refused = new Set([...tools, ...items].filter((type) => facts.refusedTypes.has(keyOf(type))));
	const left = (types: ReadonlySet<string>) => [...types].filter((type) => !refused.has(type));
	let refusals = 0;

	/** Those that it names, else all tools or all items if it's about such. */
	const meantBy = ({ error: { status = 0, message } }: Fault): string[] => {
		if (!STATUSES.has(status) || !REFUSAL.test(message)) return [];
		const said = spaced(message);
		const named = left(new Set([...tools, ...items])).filter((type) => said.includes(spaced(bareType(type))));
		// Servers fail in many ways that say nothing of the request.
		if (status >= 500) return named;
		if (named.length > 0) return refusals < MAX_NAMED ? named : left(new Set([...tools, ...items]));
		if (ABOUT_TOOLS.test(message) && left(tools).length > 0) return left(tools);
		return ABOUT_ITEMS.test(message) ? left(items) : [];
	};

	return {
		refused,

		leaveOut(fault) {
			const meant = meantBy(fault);
			for (const type of meant) refused.add(type);
			refusals += 1;
			return meant.length > 0;
		},

		remember() {
			if (facts.refusedTypes.size > MAX_REFUSED) facts.refusedTypes.clear();
			for (const type of refused) facts.refusedTypes.add(keyOf(type));
			// As a function, it isn't left out.
			const leftOut = [...refused].filter((type) => type !== CUSTOM);
			return leftOut.map((type) =>
				tools.has(type)
					? `The tool ${excerpt(type, 100)} was left out: the model’s server doesn’t offer it.`
					: `Items of the type ${excerpt(type, 100)} were left out: the model’s server doesn’t take them.`
			);
		}
	};
}

const CUSTOM = 'custom';
const STATUSES: ReadonlySet<number> = new Set([400, 404, 415, 422, 500, 501]);
const REFUSAL =
	/\bnot (be |been )?(support|allow|permit|recogni|valid|available|offered|found)|\b(do|does|is|are)(n[’']t| not)\b|unsupported|unknown|invalid|unexpected|unrecogni[sz]ed|cannot|can[’']t|must be|expected|no endpoints/i;
/** The second sign or word keeps out “tools[0].name is missing”, which is the caller’s mistake. */
const ABOUT_TOOLS = /(?=.*\btools?\b)(?=.*(\b(types?|support\w*|hosted|built-?in)\b|function))/is;
const ABOUT_ITEMS = /\b(input|items?|types?)\b/i;

function spaced(text: string): string {
	return ` ${text
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, ' ')
		.trim()} `;
}

/** Without preview and version. */
function bareType(type: string): string {
	return type.replace(/(_use)?(_preview)?(_\d+)*$/, '');
}

/** Whether a value of `include` is about one of these tools, like `web_search_call.results` about `web_search_preview`. */
export function belongsTo(value: string, types: readonly string[]): boolean {
	return types.some((type) => value.startsWith(`${bareType(type)}_call`));
}

// Tools whose input is a text, on servers that have them; everywhere else here, and in the history, they are functions (F12).

/** OpenAI's models know them, and hold their text to its grammar. Other servers might ignore them without a word. */
export function takesCustom(url: URL, model: string): boolean {
	if (isOpenRouter(new URL('.', url).href)) return /^~?openai\//.test(model);
	return /(^|\.)(openai\.com|openai\.azure\.com)$/.test(url.hostname);
}

export function asCustomTool({ name, custom }: FunctionTool): object {
	return { type: 'custom', name, ...custom };
}

/** The calls of these tools, and their outputs, as the server made them. */
export function withCustomCalls(items: readonly ResponseItem[], names: ReadonlySet<string>): ResponseItem[] {
	const ids = new Set<unknown>();
	return items.map((item) => {
		const { type, call_id } = item;
		if (type === 'function_call' && names.has(String(item.name))) {
			ids.add(call_id);
			const args = parseJson(String(item.arguments));
			const input = isObject(args) && typeof args.input === 'string' ? args.input : String(item.arguments);
			return { type: 'custom_tool_call', call_id, name: item.name, input };
		}
		return type === 'function_call_output' && ids.has(call_id) ? { ...item, type: 'custom_tool_call_output' } : item;
	});
}

/** An event or a response with such calls as calls of functions. Their text comes whole, with the item. */
export function withFunctionCalls(event: JsonObject): JsonObject {
	const { item, output, response } = event;
	if (isObject(item) && item.type === 'custom_tool_call') return { ...event, item: asFunctionCall(item) };
	if (Array.isArray(output)) return { ...event, output: output.map(asFunctionCall) };
	return isObject(response) && Array.isArray(response.output)
		? { ...event, response: withFunctionCalls(response) }
		: event;
}

function asFunctionCall(item: unknown): unknown {
	if (!isObject(item) || item.type !== 'custom_tool_call') return item;
	const { call_id, name, input, status } = item;
	const isWhole = typeof input === 'string' && input !== '';
	return { type: 'function_call', call_id, name, status, arguments: isWhole ? JSON.stringify({ input }) : '' };
}
