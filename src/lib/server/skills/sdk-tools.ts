/** Skill tools as the objects that `tool()` of `@openrouter/sdk` and `@openrouter/agent` makes (FEATURES B17). */
import { z } from 'zod';
import { isRecord } from './operations.ts';
import type { ToolDefinition } from './types.ts';

/** What `callModel` runs by itself. Made without the SDK, so that nobody has to install it. */
export interface SdkTool {
	type: 'function';
	function: {
		name: string;
		description: string;
		inputSchema: z.ZodObject;
		execute: (args: Record<string, unknown>) => Promise<unknown>;
	};
}

/** `call` gets the tool's name and its checked arguments; what it answers is what the model reads. */
export function createSdkTools(
	tools: readonly ToolDefinition[],
	call: (name: string, args: Record<string, unknown>) => Promise<unknown>
): SdkTool[] {
	return tools.map(({ name, description, parameters }) => ({
		type: 'function',
		function: { name, description, inputSchema: objectSchema(parameters), execute: (args) => call(name, args) }
	}));
}

/**
 * Zod cannot say all that JSON Schema can (`if`, `not`, patterns of other engines): what it cannot is any value here,
 * and is left to the check that comes before anything runs.
 */
function objectSchema(parameters: Record<string, unknown>): z.ZodObject {
	const whole = schemaOf(parameters);
	if (whole instanceof z.ZodObject) return whole;
	const { properties, required } = parameters;
	const names: unknown[] = Array.isArray(required) ? required : [];
	const shape = Object.entries(isRecord(properties) ? properties : {}).map(([name, property]) => {
		const schema = schemaOf(property) ?? described(property);
		return [name, names.includes(name) ? schema : schema.optional()] as const;
	});
	return z.looseObject(Object.fromEntries(shape));
}

/** Null when Zod has no words for it: it throws then, or takes it for what nothing fits. */
function schemaOf(value: unknown): z.ZodType | null {
	try {
		const schema = z.fromJSONSchema(value as Parameters<typeof z.fromJSONSchema>[0]);
		return schema instanceof z.ZodNever ? null : schema;
	} catch {
		return null;
	}
}

function described(property: unknown): z.ZodType {
	const description = isRecord(property) ? property.description : undefined;
	return typeof description === 'string' ? z.unknown().describe(description) : z.unknown();
}
