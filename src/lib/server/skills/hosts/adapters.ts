/** Converts tools and calls for Chat Completions, Anthropic Messages and Gemini (B10–B12, D39). */
import { z } from 'zod';
import type { ToolDefinition } from '../types.ts';
import { asArray, asRecord, isObject } from '../../../shared/json.ts';

/** Wire formats of calls, recognised by shape, never by the model's name (B12). */
export type ToolFormat = 'responses' | 'chat' | 'anthropic' | 'gemini';

export interface ChatTool {
	type: 'function';
	function: { name: string; description: string; parameters: Record<string, unknown> };
}

export interface AnthropicTool {
	name: string;
	description: string;
	input_schema: Record<string, unknown>;
}

/** One entry of a Gemini request's `tools`. */
export interface GeminiTool {
	/** A function without parameters has no `parameters`. */
	functionDeclarations: { name: string; description: string; parameters?: Record<string, unknown> }[];
}

export interface ExtractedCall {
	format: ToolFormat;
	/** The call's id; `<name>_<index>` if Gemini sent none. */
	id: string;
	name: string;
	arguments: Record<string, unknown>;
	/** What is wrong with the arguments, which are `{}` then. */
	problem?: string;
}

/** Chat Completions: nested under `function`. */
export function toChatTools(tools: readonly ToolDefinition[]): ChatTool[] {
	return tools.map(({ name, description, parameters }) => ({
		type: 'function',
		function: { name, description, parameters }
	}));
}

/** Anthropic Messages: `input_schema`. */
export function toAnthropicTools(tools: readonly ToolDefinition[]): AnthropicTool[] {
	return tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));
}

/** Gemini `generateContent`: one entry with all functions, in the subset of JSON Schema that Gemini supports. */
export function toGeminiTools(tools: readonly ToolDefinition[]): GeminiTool[] {
	if (tools.length === 0) return [];
	const functionDeclarations = tools.map(({ name, description, parameters }) => {
		const schema = toGeminiSchema(parameters);
		const takesNothing = Object.keys(asRecord(schema.properties) ?? {}).length === 0;
		return { name, description, parameters: takesNothing ? undefined : schema };
	});
	return [{ functionDeclarations }];
}

/**
 * The tool calls of a complete response: Responses `output` items, Chat `choices[].message.tool_calls` (or at the
 * root), Anthropic `tool_use` blocks, Gemini `functionCall` parts. Anything else has none. Never throws.
 */
export function extractToolCalls(response: unknown): ExtractedCall[] {
	const body = asRecord(response);
	if (!body) return [];
	return [
		...recordsIn(body.output)
			.filter(({ type }) => type === 'function_call')
			.map((item) => textCall('responses', item.call_id ?? item.id, item.name, item.arguments)),
		...[...recordsIn(body.choices).map((choice) => asRecord(choice.message)), body]
			.flatMap((message) => recordsIn(message?.tool_calls))
			.flatMap((call) => {
				const called = asRecord(call.function);
				return called ? [textCall('chat', call.id, called.name, called.arguments)] : [];
			}),
		...recordsIn(body.content)
			.filter(({ type }) => type === 'tool_use')
			.map((block) => valueCall('anthropic', block.id, block.name, block.input)),
		...geminiCalls(body).map(({ id, name, args }, index) =>
			valueCall('gemini', id ?? `${textOf(name)}_${index}`, name, args)
		)
	].filter(({ name }) => name !== '');
}

/** Formats a call's output to send back: an input item, a message or a content block, in the call's own format. */
export function toToolResult(call: ExtractedCall, output: string, isError = false): Record<string, unknown> {
	switch (call.format) {
		case 'responses':
			return { type: 'function_call_output', call_id: call.id, output };
		case 'chat':
			return { role: 'tool', tool_call_id: call.id, content: output };
		case 'anthropic':
			return { type: 'tool_result', tool_use_id: call.id, content: output, ...(isError && { is_error: true }) };
		case 'gemini':
			return {
				functionResponse: { id: call.id, name: call.name, response: { [isError ? 'error' : 'output']: output } }
			};
	}
}

/** Maps names to valid ones (1 to 64 letters, digits, `_` and `-`; Gemini's don't start with a digit or `-`) and back. */
export interface ToolNames {
	/** `fetch@1.2.0` → `fetch__1_2_0`. */
	toWire(name: string): string;
	/** The original name; an unknown name stays as it is. */
	fromWire(wireName: string): string;
}

/** Gives each name a unique, readable alias (B10). */
export function createToolNames(names: readonly string[]): ToolNames {
	const byName = new Map<string, string>();
	const byWire = new Map<string, string>();
	for (const name of names) {
		if (byName.has(name)) continue;
		const base =
			name
				.replace('@', '__')
				.replace(/[^A-Za-z0-9_-]/g, '_')
				.replace(/^(?=[0-9-])/, '_')
				.slice(0, 64) || 'tool';
		let wire = base;
		for (let count = 2; byWire.has(wire); count += 1) wire = `${base.slice(0, 63 - String(count).length)}_${count}`;
		byName.set(name, wire);
		byWire.set(wire, name);
	}
	return { toWire: (name) => byName.get(name) ?? name, fromWire: (wire) => byWire.get(wire) ?? wire };
}

function geminiCalls(body: Record<string, unknown>): Record<string, unknown>[] {
	const parts = recordsIn(body.candidates).flatMap((candidate) => recordsIn(asRecord(candidate.content)?.parts));
	const calls = recordsIn(parts.map((part) => part.functionCall));
	// The official client repeats the calls at the root; they count once.
	return calls.length > 0 ? calls : recordsIn(body.functionCalls);
}

function textCall(format: ToolFormat, id: unknown, name: unknown, text: unknown): ExtractedCall {
	if (typeof text !== 'string') return valueCall(format, id, name, text);
	if (text.trim() === '') return valueCall(format, id, name, {});
	try {
		return valueCall(format, id, name, JSON.parse(text) as unknown);
	} catch (error) {
		const problem = `The arguments aren’t valid JSON: ${(error as Error).message}`;
		return { ...valueCall(format, id, name, {}), problem };
	}
}

function valueCall(format: ToolFormat, id: unknown, name: unknown, value: unknown): ExtractedCall {
	const call = { format, id: textOf(id), name: typeof name === 'string' ? name : '' };
	const args = asRecord(value ?? {});
	if (args) return { ...call, arguments: args };
	return { ...call, arguments: {}, problem: 'The arguments must be a JSON object.' };
}

function textOf(value: unknown): string {
	return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The objects in a list; empty if it isn't a list. */
export function recordsIn(value: unknown): Record<string, unknown>[] {
	return asArray(value).filter(isObject);
}

// Skill tools as objects like those of `tool()` in `@openrouter/sdk` and `@openrouter/agent` (B17).

/** A tool that `callModel` runs by itself. Made without the SDK, so that nobody has to install it. */
export interface SdkTool {
	type: 'function';
	function: {
		name: string;
		description: string;
		inputSchema: z.ZodObject;
		execute: (args: Record<string, unknown>) => Promise<unknown>;
	};
}

/** `call` receives the tool's name and validated arguments; the model reads its answer. */
export function createSdkTools(
	tools: readonly ToolDefinition[],
	call: (name: string, args: Record<string, unknown>) => Promise<unknown>
): SdkTool[] {
	return tools.map(({ name, description, parameters }) => ({
		type: 'function',
		function: { name, description, inputSchema: objectSchema(parameters), execute: (args) => call(name, args) }
	}));
}

/** Whatever Zod doesn't support (`if`, `not`, some patterns) accepts any value here, and is checked before running. */
function objectSchema(parameters: Record<string, unknown>): z.ZodObject {
	const whole = schemaOf(parameters);
	if (whole instanceof z.ZodObject) return whole;
	const { properties, required } = parameters;
	const names: unknown[] = Array.isArray(required) ? required : [];
	const shape = Object.entries(isObject(properties) ? properties : {}).map(([name, property]) => {
		const schema = schemaOf(property) ?? described(property);
		return [name, names.includes(name) ? schema : schema.optional()] as const;
	});
	return z.looseObject(Object.fromEntries(shape));
}

/** null if Zod doesn't support the schema: it throws, or accepts nothing. */
function schemaOf(value: unknown): z.ZodType | null {
	try {
		const schema = z.fromJSONSchema(value as Parameters<typeof z.fromJSONSchema>[0]);
		return schema instanceof z.ZodNever ? null : schema;
	} catch {
		return null;
	}
}

function described(property: unknown): z.ZodType {
	const description = isObject(property) ? property.description : undefined;
	return typeof description === 'string' ? z.unknown().describe(description) : z.unknown();
}

// The subset of JSON Schema that Gemini supports: one unknown keyword fails the whole request (B11).

type Schema = Record<string, unknown>;

const KEYWORDS = new Set(
	(
		'type format title description nullable enum items properties required anyOf minItems maxItems minProperties ' +
		'maxProperties minLength maxLength minimum maximum pattern example default propertyOrdering'
	).split(' ')
);
const FORMATS = new Set(['date-time', 'enum', 'float', 'double', 'int32', 'int64']);

/** Drops unsupported parts: arguments are checked against the whole schema when a call comes. */
export function toGeminiSchema(schema: Schema): Schema {
	const said = Object.fromEntries(Object.entries(withKnownWords(schema)).filter(([key]) => KEYWORDS.has(key)));
	const { properties, required, items, anyOf, enum: values, format } = said;
	const shape = asRecord(properties);
	if (shape) said.properties = Object.fromEntries(Object.entries(shape).map(([name, each]) => [name, inner(each)]));
	// A list of names of properties; some schemas say "required": true of a property itself.
	if (Array.isArray(required) && shape) said.required = required.filter((name) => Object.hasOwn(shape, String(name)));
	else delete said.required;
	if (items !== undefined) said.items = inner(items);
	else if (said.type === 'array') said.items = { type: 'string' };
	if (Array.isArray(anyOf)) said.anyOf = anyOf.map(inner);
	if (values !== undefined && !isTexts(values)) delete said.enum;
	if (format !== undefined && !FORMATS.has(String(format))) delete said.format;
	return said;
}

/** Rewrites keywords for Gemini: one type, `anyOf` for `oneOf`, `enum` for `const`. */
function withKnownWords({ type, oneOf, const: only, ...schema }: Schema): Schema {
	const types = Array.isArray(type) ? (type as unknown[]).filter((each) => each !== 'null') : [type];
	return {
		...(types.length === 1 && types[0] !== undefined ? { type: types[0] } : {}),
		...(types.length > 1 ? { anyOf: types.map((each) => ({ type: each })) } : {}),
		...(Array.isArray(type) && type.includes('null') ? { nullable: true } : {}),
		...(oneOf === undefined ? {} : { anyOf: oneOf }),
		...(only === undefined ? {} : { enum: [only] }),
		...schema
	};
}

function inner(schema: unknown): unknown {
	const record = asRecord(schema);
	return record ? toGeminiSchema(record) : {};
}

function isTexts(values: unknown): boolean {
	return Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === 'string');
}
