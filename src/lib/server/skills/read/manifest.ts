/** tools.json → tools and issues; pure. A bad entry is left out with a reason, the rest load (FEATURES D15–D17). */
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import type { SkillIssue, SkillTool } from '../types.ts';
import { lineOf, type Violate } from './fields.ts';
import { isBuiltInTool, type IsReserved } from './tool-names.ts';
import { isObject } from '../../../shared/json.ts';
import { inPlainWords } from '../../../shared/plain-issues.ts';

/** The file, from the skill's folder. */
export const TOOLS_FILE = 'tools.json';

const MAX_TOOLS = 64;
/** Nothing else goes on in the server meanwhile. */
const MAX_CHECK_MS = 1000;

/** A parameter of a tool; its other words are JSON Schema's. */
export const toolParameter = z.looseObject({
	type: z.enum(['string', 'number', 'integer', 'boolean', 'object', 'array']),
	description: z.string().optional(),
	enum: z.array(z.unknown()).optional(),
	optional: z.boolean().optional()
});

/** An entry of the file. */
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
	/** JSON Schema of what it returns, for people: nothing is held against it. */
	output: z.record(z.string(), z.unknown()).optional()
});

/**
 * Reads the text of a tools.json (S4 §5); `scriptFault` says what is wrong with the path of a script, if it can be told.
 * A tool whose name is reserved is kept, with a warning: it is called by its skill's name too.
 */
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
			// The commonest mistake, and what the schema says of it helps nobody.
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
				toValidator(tool); // a schema that cannot be checked is better said once, here, than at every call
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

/** Are its parameters a JSON Schema of an object, as most other formats have it? */
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

/** `optional` is the manifest's word, not one of JSON Schema; a property may well be named so. */
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

/** Checks the arguments of a call; a sentence says what is wrong with them, null that nothing is (D16). */
export function checkArguments(tool: SkillTool, args: Record<string, unknown>): string | null {
	// Without a prototype, what every object inherits (`constructor`) is not taken for an argument.
	const own: unknown = Object.setPrototypeOf({ ...args }, null);
	const check = () => toValidator(tool).safeParse(own, { error: inPlainWords });
	// The watch over the time needs file descriptors of its own, and ends the process where there are none.
	const result = /"pattern/.test(JSON.stringify(tool.inputSchema)) ? inTime(check) : check();
	if (result === null) return `A pattern in ${TOOLS_FILE} takes too long to check these arguments. Send shorter ones`;
	if (result.success) return null;
	return result.error.issues
		.slice(0, 5)
		.map((issue) => `${issue.path.join('.') || tool.name} ${issue.message}`)
		.join('; ');
}

/** What the check gives; null when it takes too long: a skill's pattern may try for ever. */
function inTime<T>(check: () => T): T | null {
	try {
		return runInNewContext('check()', { check }, { timeout: MAX_CHECK_MS }) as T;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null;
		throw error;
	}
}

function toValidator(tool: SkillTool) {
	return z.fromJSONSchema(tool.inputSchema as Parameters<typeof z.fromJSONSchema>[0]);
}

/** `place` is that in the list: `[2.name]`. */
function bad(place: string, message: string): SkillIssue {
	return { field: `${TOOLS_FILE}${place}`, message, severity: 'warning', file: TOOLS_FILE, line: 1 };
}

/** The first line that no JSON goes on with; the last where the text only ends too soon. */
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
		// What is missing at the end may stand on the next line.
		const { message } = error as Error;
		const place = /at position (\d+)/.exec(message)?.[1];
		return message !== 'Unexpected end of JSON input' && Number(place ?? -1) !== beginning.length;
	}
}

interface EntryLines {
	line: number;
	/** Of the keys at the top of the entry. */
	keys: Map<string, number>;
}

/** On which line each entry of a JSON array begins, and each of its keys stands; `text` is valid JSON. */
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
		// No other token takes a colon in.
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

// The tools that a skill asks for: the standard's field, and the names that other clients have for it (A14, A15, A17); pure.

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
 * The wish as text, a list joined by blanks. With `withAliases` and without an `allowed-tools`, `allowed_tools` or `tools`
 * is read in its place, at the top or in `metadata`, with a warning.
 */
export function readAllowedTools(
	data: Readonly<Record<string, unknown>>,
	withAliases: boolean,
	violate: Violate
): string | undefined {
	const own = 'allowed-tools';
	if (own in data) {
		const wish = asText(data[own]);
		if (wish === undefined) violate(own, 'must be text or a list of texts');
		return wish || undefined;
	}
	if (!withAliases) return undefined;
	const metadata = typeof data.metadata === 'object' && data.metadata !== null ? data.metadata : {};
	for (const [prefix, map] of [
		['', data],
		['metadata.', metadata as Record<string, unknown>]
	] as const) {
		for (const alias of ALIASES) {
			const wish = asText(map[alias]);
			if (wish) {
				violate(own, `is missing, so “${prefix}${alias}” is used`, { fix: lineOf(own, wish), at: prefix + alias });
				return wish;
			}
			if (wish === undefined && !prefix && alias in map) violate(alias, 'must be text or a list of texts');
		}
	}
	return undefined;
}

function asText(value: unknown): string | undefined {
	if (typeof value === 'string') return value.trim();
	return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join(' ') : undefined;
}
