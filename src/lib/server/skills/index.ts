/** The library, importable as `openrouter-skills`. */
export { createSkillsProvider } from './provider.ts';
export type { SkillsProvider, SkillsProviderOptions } from './provider.ts';
export { parseAllowedTools, parseSkill, parseSkillFile } from './parser.ts';
export type { ParseOptions } from './parser.ts';
export { SkillLoadError } from './types.ts';
export type {
	BrokenSkill,
	Skill,
	SkillErrorType,
	SkillEvent,
	SkillExecutionResult,
	SkillIssue,
	SkillSpec,
	SkillTool,
	ToolDefinition
} from './types.ts';
