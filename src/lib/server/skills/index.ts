/** The library, importable as `openrouter-skills`. */
export {
	createToolNames,
	extractToolCalls,
	toAnthropicTools,
	toChatTools,
	toGeminiTools,
	toToolResult
} from './adapters.ts';
export type { AnthropicTool, ChatTool, ExtractedCall, GeminiTool, ToolFormat, ToolNames } from './adapters.ts';
export { AUTO_MAX_SKILLS, AUTO_MIN_SCORE, pickAutoSkills, scoreAutoSkill } from './omniroute-score.ts';
export type { OmnirouteScore, OmnirouteSignals, ScoredSkill, ScoreRequest } from './omniroute-score.ts';
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
