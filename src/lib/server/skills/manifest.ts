/** tools.json → tools and issues; pure. A bad entry is left out with a reason, the rest load (FEATURES D15–D17). */
import { z } from 'zod';
import { isBuiltInTool, type IsReserved } from './tool-names.ts';
import type { SkillIssue, SkillTool } from './types.ts';

const MAX_TOOLS = 64;

const parameter = z.looseObject({
	type: z.enum(['string', 'number', 'integer', 'boolean', 'object', 'array']),
	description: z.string().optional(),
	enum: z.array(z.unknown()).optional(),
	optional: z.boolean().optional()
});

const entry = z.looseObject({
	name: z
		.string()
		.regex(/^[a-z][a-z0-9_]*$/, 'must be lower-case letters, digits and underscores')
		.max(64),
	description: z.string().trim().min(1),
	script: z.string().min(1).optional(),
	handler: z.string().min(1).max(256).optional(),
	parameters: z.record(z.string(), parameter).default({})
});

/** Reads the text of a tools.json (S4 §5). A tool whose name is reserved is kept, with a warning: it is called by its skill's name too. */
export function parseManifest(
	text: string,
	isReserved: IsReserved = isBuiltInTool
): { tools: SkillTool[]; issues: SkillIssue[] } {
	let entries: unknown;
	try {
		entries = JSON.parse(text.replace(/^\uFEFF/, ''));
	} catch (error) {
		return { tools: [], issues: [bad('tools.json', `is not valid JSON: ${(error as Error).message}`)] };
	}
	if (!Array.isArray(entries)) return { tools: [], issues: [bad('tools.json', 'must be an array, even for one tool')] };
	const tools: SkillTool[] = [];
	const issues: SkillIssue[] = [];
	entries.slice(0, MAX_TOOLS).forEach((value: unknown, index) => {
		const parsed = entry.safeParse(value);
		if (!parsed.success) {
			const first = parsed.error.issues[0];
			const path = [index, ...(first?.path ?? [])].join('.');
			issues.push(bad(`tools.json[${path}]`, first?.message ?? 'is not a tool'));
		} else if (tools.some((tool) => tool.name === parsed.data.name)) {
			issues.push(bad(`tools.json[${index}.name]`, `“${parsed.data.name}” stands twice; the first is used`));
		} else {
			try {
				const tool = toTool(parsed.data);
				toValidator(tool); // a schema that cannot be checked is better said once, here, than at every call
				tools.push(tool);
				if (isReserved(tool.name)) {
					const message = `“${tool.name}” is a built-in tool\u2019s name: this one is called with its skill\u2019s name in front. Rename it`;
					issues.push(bad(`tools.json[${index}.name]`, message));
				}
			} catch (error) {
				issues.push(bad(`tools.json[${index}.parameters]`, `cannot be checked: ${(error as Error).message}`));
			}
		}
	});
	if (entries.length > MAX_TOOLS) {
		issues.push(bad(`tools.json[${MAX_TOOLS}]`, `only the first ${MAX_TOOLS} of ${entries.length} tools are used`));
	}
	return { tools, issues };
}

function toTool({ name, description, script, handler, parameters }: z.infer<typeof entry>): SkillTool {
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
	const result = toValidator(tool).safeParse(own);
	if (result.success) return null;
	return result.error.issues
		.slice(0, 5)
		.map((issue) => `${issue.path.join('.') || tool.name}: ${issue.message}`)
		.join('; ');
}

function toValidator(tool: SkillTool) {
	return z.fromJSONSchema(tool.inputSchema as Parameters<typeof z.fromJSONSchema>[0]);
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bad(field: string, message: string): SkillIssue {
	return { field, message, severity: 'warning' };
}
