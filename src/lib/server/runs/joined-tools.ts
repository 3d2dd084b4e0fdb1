/** Several sources of tools as one: the server's own skills, and those of MCP servers (FEATURES E36). */
import type { FunctionTool } from '../agent/model.ts';
import type { BuiltinTools } from './skill-toolbox.ts';

/** Of one name the tool of the first source is offered and called. */
export function joinTools(sources: readonly BuiltinTools[]): BuiltinTools {
	const sourceOf = (name: string) => sources.find((source) => source.has(name));
	return {
		tools() {
			const offered = new Map<string, FunctionTool>();
			for (const tool of sources.flatMap((source) => source.tools())) {
				if (!offered.has(tool.name)) offered.set(tool.name, tool);
			}
			return [...offered.values()];
		},
		has: (name) => sourceOf(name) !== undefined,
		lane: (name) => sourceOf(name)?.lane(name) ?? null,
		approval: (name, args, earlier) => sourceOf(name)?.approval(name, args, earlier) ?? null,
		async call(name, args, context) {
			const source = sourceOf(name);
			if (source) return source.call(name, args, context);
			return { ok: false, output: JSON.stringify({ ok: false, error: 'UnknownTool' }) };
		}
	};
}
