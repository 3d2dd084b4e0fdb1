/** A caller's tools: whatever the caller runs is a function for the model, and becomes what it was in the model's calls. The rest is its server's (F12). */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { isObject, parseJson } from '../../../shared/json.ts';
import { BUILT_IN_MODEL } from '../../../shared/names.ts';
import type { FunctionTool, HostedTool, ModelRequest, ResponseItem, ToolChoice } from '../../agent/model.ts';
import { badParameter } from './errors.ts';

const toolName = z
	.string()
	.min(1)
	.max(128)
	.regex(/^[^\s\p{C}]+$/u, 'must have no spaces or control characters');
const namespace = toolName.nullish();

/** Some servers' ids carry what they need to know. */
export const callId = z.string().min(1).max(4096);
/** Of an item, a part of its content, or a tool. */
export const kind = z.string().min(1).max(100);

/** What has another type than these is taken as it is. */
export function others(...types: string[]) {
	const isKnown = new Set(types);
	return z.looseObject({ type: kind }).refine(({ type }) => !isKnown.has(type), { abort: true });
}

/** Loose, because a request's items are kept as they were sent. */
const functionTool = z.looseObject({
	type: z.literal('function'),
	name: toolName,
	description: z.string().nullish(),
	parameters: z.record(z.string(), z.unknown()).nullish(),
	strict: z.boolean().nullish()
});
const customTool = z.looseObject({
	type: z.literal('custom'),
	name: toolName,
	description: z.string().nullish(),
	format: z.looseObject({ type: z.string() }).nullish()
});
const toolDefinition = z.discriminatedUnion('type', [functionTool, customTool]);
const callerTool = z.union([
	z.discriminatedUnion('type', [
		functionTool,
		customTool,
		z.looseObject({
			type: z.literal('namespace'),
			name: toolName,
			description: z.string().nullish(),
			tools: z.array(toolDefinition)
		})
	]),
	others('function', 'custom', 'namespace').transform((tool) => ({ type: 'hosted' as const, tool }))
]);
export const callerTools = z.array(callerTool).max(5000);

type ToolDefinition = z.output<typeof toolDefinition>;
/** `hosted`: one of the model's server. */
export type CallerTool = z.output<typeof callerTool>;

/** Chooses a tool by type and name, or a type of tools that the model's server has. */
const chosenTool = z.looseObject({ type: kind, name: z.string().max(200).nullish(), namespace });
const toolChoiceValue = z.enum(['none', 'auto', 'required']);
export const toolChoice = z.union([
	toolChoiceValue,
	z.discriminatedUnion('type', [
		z.object({ type: z.literal('function'), name: toolName, namespace }),
		z.object({ type: z.literal('custom'), name: toolName, namespace }),
		z.object({
			type: z.literal('allowed_tools'),
			tools: z.array(chosenTool).min(1).max(1000),
			mode: toolChoiceValue.default('auto')
		})
	]),
	others('function', 'custom', 'allowed_tools').transform((tool) => ({ type: 'hosted' as const, tool }))
]);

const aboutItem = { id: z.string().nullish(), status: z.string().nullish() };
/** Calls of a caller's tools, and the tools that its own search has found. */
export const callItems = [
	z.object({
		...{ ...aboutItem, type: z.literal('function_call'), call_id: callId },
		...{ name: toolName, namespace, arguments: z.string() }
	}),
	z.object({
		...{ ...aboutItem, type: z.literal('custom_tool_call'), call_id: callId },
		...{ name: toolName, namespace, input: z.string() }
	}),
	z.looseObject({ type: z.literal('tool_search_call'), call_id: callId.nullish(), arguments: z.unknown() }),
	z.looseObject({ type: z.literal('tool_search_output'), call_id: callId.nullish(), tools: callerTools })
] as const;
const callItem = z.discriminatedUnion('type', callItems);

/** A tool that the caller runs, by its own name for it. */
export interface OwnTool {
	/** `custom`: its input is a text. `tool_search`: it finds further tools. */
	kind: 'function' | 'custom' | 'tool_search';
	name: string;
	namespace: string | null;
	/** As the model gets it. */
	definition: FunctionTool;
}

export interface CallerTools {
	/** By the model's name for it. */
	own: ReadonlyMap<string, OwnTool>;
	/** Tools of the model's server. */
	hosted: readonly HostedTool[];
}

/** Every model takes such a name. */
const PLAIN_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const SEARCH = 'tool_search';
const TEXT_INPUT = {
	type: 'object',
	properties: { input: { type: 'string' } },
	required: ['input'],
	additionalProperties: false
};

/** The model's name for a tool. Two names that only differ in signs that models don't take stay two. */
function modelName(name: string, namespace?: string | null): string {
	const whole = namespace ? `${namespace}${namespace.endsWith('__') ? '' : '__'}${name}` : name;
	if (PLAIN_NAME.test(whole)) return whole;
	return `${whole.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 55)}_${hash('sha256', whole).slice(0, 8)}`;
}

/** `input`: the whole conversation, which can bring tools along. @throws ApiError for two tools of one name */
export function readTools(tools: readonly CallerTool[], input: readonly ResponseItem[]): CallerTools {
	const own = new Map<string, OwnTool>();
	for (const tool of tools.flatMap(ownTools)) {
		const { name } = tool.definition;
		if (own.has(name)) throw badParameter('tools', `tools has two tools named “${name}”.`);
		own.set(name, tool);
	}
	const found = foundIn(input);
	// The newest comes last, and may have been found several times.
	for (const tool of found.flatMap(ownTools)) own.set(tool.definition.name, tool);
	const hosted = [...tools, ...found].flatMap((tool) => (tool.type === 'hosted' ? [tool.tool] : []));
	return { own, hosted: hosted.filter((tool) => !isSearch(tool)) };
}

function ownTools(tool: CallerTool): OwnTool[] {
	if (tool.type === 'hosted') return isSearch(tool.tool) ? [searchTool(tool.tool)] : [];
	if (tool.type === 'namespace') return tool.tools.map((each) => ownTool(each, tool.name));
	return [ownTool(tool, null)];
}

function ownTool(tool: ToolDefinition, namespace: string | null): OwnTool {
	const { type: kind, name } = tool;
	const about = { type: 'function' as const, name: modelName(name, namespace) };
	const description = tool.description ?? '';
	if (tool.type === 'custom') {
		const definition = { ...about, description: describeInput(description, tool.format), parameters: TEXT_INPUT };
		const custom = { description, ...(tool.format && { format: tool.format }) };
		return { kind, name, namespace, definition: { ...definition, custom } };
	}
	const parameters = tool.parameters ?? { type: 'object', properties: {} };
	const strict = typeof tool.strict === 'boolean' ? tool.strict : undefined;
	return { kind, name, namespace, definition: { ...about, description, parameters, strict } };
}

function describeInput(description: string, format: Record<string, unknown> | null | undefined): string {
	const told = [description, 'Put the whole text into `input`.'];
	if (typeof format?.definition === 'string') {
		told.push(`That text must match this ${String(format.syntax ?? '')} grammar:\n${format.definition}`);
	}
	return told.filter((each) => each !== '').join('\n\n');
}

/** Whether the caller does the search itself. */
function isSearch({ type, execution }: HostedTool): boolean {
	return type === SEARCH && execution === 'client';
}

function searchTool({ description, parameters }: HostedTool): OwnTool {
	const definition = {
		type: 'function' as const,
		name: SEARCH,
		description: typeof description === 'string' ? description : 'Finds further tools.',
		parameters: isObject(parameters)
			? parameters
			: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }
	};
	return { kind: 'tool_search', name: SEARCH, namespace: null, definition };
}

function foundIn(input: readonly ResponseItem[]): CallerTool[] {
	return input.flatMap(({ found_tools: found }) => (Array.isArray(found) ? (found as CallerTool[]) : []));
}

/** How one response may use them. */
export interface ToolUse {
	toolChoice: ToolChoice;
	/** Names of the allowed tools, of any kind but hosted; null: all. */
	only: string[] | null;
	hosted: ModelRequest['hosted'];
	/** Sentences on what is left out. */
	leftOut: string[];
}

/** Tools that the skill system always provides. */
const SKILL_TOOLS: ReadonlySet<string> = new Set([
	'load_skill',
	'use_skill',
	'list_skills',
	'search_skills',
	'read_skill_file'
]);

/** Implements `allowed_tools` by removing other tools, which works with every server. @throws ApiError for a tool that isn't there */
export function chooseTools(
	{ own, hosted }: CallerTools,
	{ choice, include, model }: { choice: Choice | null; include: readonly string[]; model: string }
): ToolUse {
	// Demo mode has only functions.
	const isDemo = model === BUILT_IN_MODEL;
	const leftOut = isDemo ? hosted.map(({ type }) => `The tool ${type} was left out: Demo mode doesn’t offer it.`) : [];
	const use = (toolChoice: ToolChoice, more: { only?: string[]; tools?: HostedTool[]; choice?: HostedTool } = {}) => {
		const tools = isDemo ? [] : (more.tools ?? hosted);
		const passed = tools.length > 0 ? { tools, choice: more.choice ?? null, include } : undefined;
		return { toolChoice, only: more.only ?? null, hosted: passed, leftOut: [...new Set(leftOut)] };
	};
	if (choice === null || typeof choice === 'string') return use(choice ?? 'auto');
	if (choice.type === 'hosted') {
		const { tool } = choice;
		if (hosted.some(({ type }) => type === tool.type)) return use('auto', { choice: tool });
		if (own.get(SEARCH)?.kind === tool.type) return use({ type: 'function', name: SEARCH });
		throw notThere(tool.type);
	}
	if (choice.type === 'allowed_tools') {
		const { tools: allowed, mode } = choice;
		const tools = hosted.filter((tool) => allowed.some((each) => isSame(each, tool)));
		return use(mode, { only: allowed.flatMap((each) => namesOf(each, own)), tools });
	}
	const name = modelName(choice.name, choice.namespace);
	if (own.has(name) || SKILL_TOOLS.has(name)) return use({ type: 'function', name });
	throw notThere(choice.name);
}

type Choice = z.output<typeof toolChoice>;
type ChosenTool = z.output<typeof chosenTool>;

function notThere(name: string) {
	return badParameter('tool_choice', `Tool choice '${name}' not found in 'tools' parameter.`);
}

function isSame({ type, server_label }: ChosenTool, tool: HostedTool): boolean {
	return type === tool.type && (server_label === undefined || server_label === tool.server_label);
}

function namesOf({ type, name, namespace }: ChosenTool, own: CallerTools['own']): string[] {
	if (type === SEARCH) return [SEARCH];
	if (!name) return [];
	if (type === 'namespace') return [...own].flatMap(([key, tool]) => (tool.namespace === name ? [key] : []));
	return [modelName(name, namespace)];
}

/** The caller's tools for its own eyes, as Open Responses lists them. */
export function listed(tool: CallerTool): Record<string, unknown> {
	if (tool.type === 'hosted') return tool.tool;
	if (tool.type !== 'function') return tool;
	const { type, name, description = null, parameters = null, strict = null } = tool;
	return { type, name, description, parameters, strict };
}

/** As the caller sent it. */
export function sentTool(tool: CallerTool): Record<string, unknown> {
	return tool.type === 'hosted' ? tool.tool : tool;
}

/** Of an item that was kept as it was sent. */
export function toolsOf(sent: unknown): CallerTool[] {
	return callerTools.safeParse(sent).data ?? [];
}

/** What the model reads of tools that were found. */
function toolList(tools: readonly CallerTool[]): string {
	const found = tools.flatMap(ownTools).map(({ definition: { name, description } }) => ({ name, description }));
	return found.length === 0 ? 'No tools found.' : `You can call these tools now:\n${JSON.stringify(found)}`;
}

/** The text for a custom tool. Some models send it as it is, or under another name. */
export function textOfArguments(text: string): string {
	const value = parseJson(text);
	if (typeof value === 'string') return value;
	if (!isObject(value)) return text;
	const [only, ...others] = Object.values(value);
	if (typeof value.input === 'string') return value.input;
	return typeof only === 'string' && others.length === 0 ? only : text;
}

/** Whether the arguments are an object without its end, whose text the caller mustn't use. */
export function isCutOff(text: string): boolean {
	return /^\s*\{\s*"/.test(text) && parseJson(text) === undefined;
}

/** A call, or what a search has found, as a function's. A search by the model's server stays as it is. */
function asFunction(item: z.output<typeof callItem>): ResponseItem {
	if (item.type === 'tool_search_output') {
		const { call_id, tools } = item;
		if (item.execution === 'server' || !call_id) return item;
		return { type: 'function_call_output', call_id, output: toolList(tools), found_tools: tools };
	}
	if (item.type === 'tool_search_call') {
		const { call_id, arguments: args = {} } = item;
		if (item.execution === 'server' || !call_id) return item;
		return { type: 'function_call', call_id, name: SEARCH, arguments: JSON.stringify(args) };
	}
	const { call_id } = item;
	const text = item.type === 'custom_tool_call' ? JSON.stringify({ input: item.input }) : item.arguments;
	return { type: 'function_call', call_id, name: modelName(item.name, item.namespace), arguments: text };
}

/** The same for an item that was sent or returned; null if it's no call. */
export function readCall(item: Record<string, unknown>): ResponseItem | null {
	const { data } = callItem.safeParse(item);
	return data ? asFunction(data) : null;
}

/** Brings tools along and says nothing. */
export function noteOfTools(tools: readonly CallerTool[]): ResponseItem {
	return { type: 'message', role: 'user', content: [], told: {}, found_tools: tools };
}
