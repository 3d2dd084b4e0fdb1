/** Skill tools as the objects that `tool()` of `@openrouter/sdk` and `@openrouter/agent` makes (FEATURES B17). */
import { z } from 'zod';
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

/** The schema of a tool is one of an object; z.fromJSONSchema only promises a schema. */
function objectSchema(parameters: Record<string, unknown>): z.ZodObject {
	const schema = z.fromJSONSchema(parameters as Parameters<typeof z.fromJSONSchema>[0]);
	return schema instanceof z.ZodObject ? schema : z.looseObject({});
}
