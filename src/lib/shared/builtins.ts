/** Names of the skills that this server brings itself (FEATURES D27–D31). */
export const BUILTIN_NAMES = [
	'file_read',
	'file_write',
	'http_request',
	'web_search',
	'eval_code',
	'execute_command',
	'browser'
] as const;

/** Other names by which models know them: with OmniRoute's prefix, and with a version behind `@`. */
export function builtinNameOf(name: string): string | null {
	const bare = name.replace(/@\d+\.\d+\.\d+$/, '').replace(/^omniroute_/, '');
	return BUILTIN_NAMES.find((known) => known === bare) ?? null;
}

/** Is it a name that tools of this server may have: of a built-in skill, or of an MCP server's tool? No skill's tool has it. */
export function isServerTool(name: string): boolean {
	return name.startsWith('mcp__') || builtinNameOf(name) !== null;
}

/** Is it a built-in skill that asks for consent? It names itself as its script, which no other skill of that name does. */
export function isBuiltinCall({ skill, script }: { skill: string; script: string }): boolean {
	return skill === script && builtinNameOf(skill) !== null;
}
