/** Parses tools.json; pure. Skips bad entries with a reason and loads the rest (D15–D17). */
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import type { SkillIssue, SkillTool } from '../types.ts';
import { lineOf, type Violate } from './fields.ts';
import { isBuiltInTool, type IsReserved } from './tool-names.ts';
import { asObject, isObject } from '../../../shared/json.ts';
import { inPlainWords } from '../../../shared/plain-issues.ts';

export const TOOLS_FILE = 'tools.json';

const MAX_TOOLS = 64;
/** Blocks the server meanwhile. */
const MAX_CHECK_MS = 1000;

/** A tool's parameter; other keys are JSON Schema. */
export const toolParameter = z.looseObject({
	type: z.enum(['string', 'number', 'integer', 'boolean', 'object', 'array']),
	description: z.string().optional(),
	enum: z.array(z.unknown()).optional(),
	optional: z.boolean().optional()
});

export const toolEntry = z.looseObject({
	name: z
		.string()
		.regex(/^[a-z][a-z0-9_]*$/, 'must have only lowercase letters, digits and underscores')
		.max(64),
	description: z.string().trim().min(1),
	script: z.string().min(1).optional(),
	handler: z.string().min(1).max(256).optional(),
	idempotent: z.boolean().optional(),
	parameters: z.record(z.string(), toolParameter).default({}),
	/** JSON Schema of the result, for people only; not checked. */
	output: z.record(z.string(), z.unknown()).optional()
});

/** Parses a tools.json (S4 §5). `scriptFault` returns what is wrong with a script's path, or null. */
export function parseManifest(
	text: string,
	isReserved: IsReserved = isBuiltInTool,
	scriptFault: (script: string) => string | null = () => null
): { tools: SkillTool[]; issues: SkillIssue[] } {
	const json = text.replace(/^\uFEFF/, '');
	let entries: unknown;
	try {
		entries = JSON.parse(json);
	} catch (error) {
		const issue = bad('', `isn’t valid JSON: ${(error as Error).message}`);
		return { tools: [], issues: [{ ...issue, line: faultyLine(json) }] };
	}
	if (!Array.isArray(entries)) return { tools: [], issues: [bad('', 'must be an array, even for one tool')] };
	const tools: SkillTool[] = [];
	const issues: SkillIssue[] = [];
	entries.slice(0, MAX_TOOLS).forEach((value: unknown, index) => {
		const parsed = toolEntry.safeParse(value, { error: inPlainWords });
		if (!parsed.success) {
			const first = parsed.error.issues[0];
			const path = first?.path ?? [];
			// The most common mistake, for which the schema's message doesn't help.
			if (path[0] === 'parameters' && isWholeSchema(value)) {
				const message = 'must list the parameters by name, without “type”, “properties” and “required”';
				issues.push(bad(`[${index}.parameters]`, message));
			} else {
				issues.push(bad(`[${[index, ...path].join('.')}]`, first?.message ?? 'isn’t a tool'));
			}
		} else if (tools.some((tool) => tool.name === parsed.data.name)) {
			issues.push(bad(`[${index}.name]`, `“${parsed.data.name}” appears twice, so only the first is used`));
		} else {
			try {
				const tool = toTool(parsed.data);
				toValidator(tool); // report a bad schema here instead of at every call
				tools.push(tool);
				for (const key of Object.keys(parsed.data)) {
					if (key in toolEntry.shape) continue;
					const fields = Object.keys(toolEntry.shape).join(', ');
					issues.push(bad(`[${index}.${key}]`, `is ignored. The fields of a tool are ${fields}`));
				}
				const wrong = tool.script === undefined ? null : scriptFault(tool.script);
				if (wrong !== null) issues.push(bad(`[${index}.script]`, wrong));
				if (isReserved(tool.name)) {
					const message = `“${tool.name}” is a built-in tool, so this one is called with its skill’s name in front. Rename it`;
					issues.push(bad(`[${index}.name]`, message));
				}
			} catch (error) {
				issues.push(bad(`[${index}.parameters]`, `can’t be used: ${(error as Error).message}`));
			}
		}
	});
	if (entries.length > MAX_TOOLS) {
		issues.push(bad(`[${MAX_TOOLS}]`, `has ${entries.length} tools, but only the first ${MAX_TOOLS} are used`));
	}
	if (issues.length === 0) return { tools, issues };
	const lines = linesOfEntries(json);
	return { tools, issues: issues.map((issue) => ({ ...issue, line: lineOfField(issue.field, lines) })) };
}

/** True if the parameters are a JSON Schema of an object, as in most other formats. */
function isWholeSchema(value: unknown): boolean {
	return isObject(value) && isObject(value.parameters) && value.parameters.type === 'object';
}

function toTool({ name, description, script, handler, idempotent, parameters }: z.infer<typeof toolEntry>): SkillTool {
	const properties: Record<string, unknown> = {};
	const required: string[] = [];
	for (const [key, schema] of Object.entries(parameters)) {
		if (key === '__workDir') continue; // D19: the runtime's own key
		properties[key] = withoutOptional(schema);
		if (!schema.optional) required.push(key);
	}
	return {
		name,
		description,
		...(script ? { script } : {}),
		...(handler && !script ? { handler } : {}),
		...(idempotent ? { isIdempotent: true } : {}),
		inputSchema: { type: 'object', properties, required, additionalProperties: false }
	};
}

/** Removes `optional`, which isn't JSON Schema, except as the name of a property. */
function withoutOptional(schema: unknown): unknown {
	if (!isObject(schema)) return schema;
	const { optional: _optional, ...rest } = schema;
	if (isObject(rest.properties)) {
		const inner = Object.entries(rest.properties).map(([key, value]) => [key, withoutOptional(value)] as const);
		rest.properties = Object.fromEntries(inner);
	}
	if ('items' in rest) rest.items = withoutOptional(rest.items);
	return rest;
}

/** Checks a call's arguments; returns what is wrong in a sentence, or null (D16). */
export function checkArguments(tool: SkillTool, args: Record<string, unknown>): string | null {
	// A null prototype, so that inherited keys (`constructor`) aren't arguments.
	const own: unknown = Object.setPrototypeOf({ ...args }, null);
	const check = () => toValidator(tool).safeParse(own, { error: inPlainWords });
	// The time limit needs file descriptors, and Node crashes if none are left.
	const result = /"pattern/.test(JSON.stringify(tool.inputSchema)) ? inTime(check, MAX_CHECK_MS) : check();
	if (result === null) return `A pattern in ${TOOLS_FILE} takes too long to check these arguments. Send shorter ones`;
	if (result.success) return null;
	return result.error.issues
		.slice(0, 5)
		.map((issue) => `${issue.path.join('.') || tool.name} ${issue.message}`)
		.join('; ');
}

/** Runs a check; null if it takes too long, because a pattern may never end. */
export function inTime<T>(check: () => T, timeout: number): T | null {
	try {
		return runInNewContext('check()', { check }, { timeout }) as T;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null;
		throw error;
	}
}

function toValidator(tool: SkillTool) {
	return z.fromJSONSchema(tool.inputSchema as Parameters<typeof z.fromJSONSchema>[0]);
}

/** `place` is the position in the list: `[2.name]`. */
function bad(place: string, message: string): SkillIssue {
	return { field: `${TOOLS_FILE}${place}`, message, severity: 'warning', file: TOOLS_FILE, line: 1 };
}

/** The first line that can't be valid JSON; the last if the text just ends too early. */
function faultyLine(text: string): number {
	const lines = text.trimEnd().split('\n');
	let [low, high] = [1, lines.length];
	while (low < high) {
		const middle = Math.floor((low + high) / 2);
		if (isFaulty(`${lines.slice(0, middle).join('\n')}\n`)) high = middle;
		else low = middle + 1;
	}
	return low;
}

function isFaulty(beginning: string): boolean {
	try {
		JSON.parse(beginning);
		return false;
	} catch (error) {
		// Anything missing at the end may follow on the next line.
		const { message } = error as Error;
		const place = /at position (\d+)/.exec(message)?.[1];
		return message !== 'Unexpected end of JSON input' && Number(place ?? -1) !== beginning.length;
	}
}

interface EntryLines {
	line: number;
	/** Lines of top-level keys. */
	keys: Map<string, number>;
}

/** Line numbers of each entry of a JSON array and of its keys; `text` must be valid JSON. */
function linesOfEntries(text: string): EntryLines[] {
	const entries: EntryLines[] = [];
	let line = 1;
	let depth = 0;
	for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[[\]{},]|\n|[^\s"[\]{},]+/g)) {
		if (token === '\n') {
			line += 1;
			continue;
		}
		if (depth === 1 && token !== ',' && token !== ']') entries.push({ line, keys: new Map() });
		// Only keys end with a colon.
		if (depth === 2 && token.endsWith(':')) {
			const key = JSON.parse(token.replace(/\s*:$/, '')) as string;
			entries.at(-1)?.keys.set(key, line);
		}
		if (token === '[' || token === '{') depth += 1;
		else if (token === ']' || token === '}') depth -= 1;
		else line += token.split('\n').length - 1;
	}
	return entries;
}

function lineOfField(field: string, lines: readonly EntryLines[]): number {
	const [, index = '', key = ''] = /\[(\d+)(?:\.([^.\]]*))?/.exec(field) ?? [];
	const entry = lines[Number(index)];
	return entry?.keys.get(key) ?? entry?.line ?? 1;
}

// Tools a skill requests: the standard's field and other clients' names for it (A14, A15, A17); pure.

/** What other clients call `allowed-tools`. */
const ALIASES = ['allowed_tools', 'tools'];

/** Splits an `allowed-tools` value on spaces and commas outside parentheses: `Bash(git:*)` is one token (A15). */
export function parseAllowedTools(raw: string | undefined): readonly string[] {
	const tokens: string[] = [];
	let token = '';
	let depth = 0;
	for (const character of raw ?? '') {
		if (character === '(') depth += 1;
		if (character === ')' && depth > 0) depth -= 1;
		if (depth === 0 && /[\s,]/.test(character)) {
			if (token) tokens.push(token);
			token = '';
		} else {
			token += character;
		}
	}
	if (token) tokens.push(token);
	return tokens;
}

/**
 * The requested tools as text. With `withAliases`, a missing `allowed-tools` is replaced by `allowed_tools` or `tools`,
 * top-level or in `metadata`, with a warning.
 */
export function readAllowedTools(
	data: Readonly<Record<string, unknown>>,
	withAliases: boolean,
	violate: Violate
): string | undefined {
	const own = 'allowed-tools';
	if (own in data) {
		const requested = asText(data[own]);
		if (requested === undefined) violate(own, 'must be text or a list of tool names');
		return requested || undefined;
	}
	if (!withAliases) return undefined;
	const places = [['', data] as const, ['metadata.', asObject(data.metadata)] as const];
	for (const [prefix, map] of places) {
		for (const alias of ALIASES) {
			const requested = asText(map[alias]);
			if (requested) {
				violate(own, `is missing, so “${prefix}${alias}” is used`, { fix: lineOf(own, requested), at: prefix + alias });
				return requested;
			}
			if (requested === undefined && !prefix && alias in map) violate(alias, 'must be text or a list of tool names');
		}
	}
	return undefined;
}

function asText(value: unknown): string | undefined {
	if (typeof value === 'string') return value.trim();
	return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join(' ') : undefined;
}
