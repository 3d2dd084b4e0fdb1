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
export { applyFixes, diagnose } from './doctor.ts';
export type { DiagnosedIssue, Diagnosis, FixRequest } from './doctor.ts';
export { createGateway } from './gateway.ts';
export type { Gateway, GatewayOptions, GatewayTurn, HostResult, InjectedRequest } from './gateway.ts';
export type { ExecutedCall, GatewayTool } from './gateway-calls.ts';
export { runGateway } from './gateway-loop.ts';
export type { GatewayResult, GatewayStop, RunGatewayOptions } from './gateway-loop.ts';
export { createSkillsProvider } from './provider.ts';
export type { SkillsProvider, SkillsProviderOptions } from './provider.ts';
export { parseAllowedTools, parseSkill, parseSkillFile } from './parser.ts';
export type { ParseOptions } from './parser.ts';
export { scanSkillDirs } from './scan-skill-dirs.ts';
export type { ScanSkillDirsOptions } from './scan-skill-dirs.ts';
export {
	createSkillRegistry,
	listSkillResources,
	readSkillResource,
	renderSkillsBlock,
	skillLoadTool,
	skillResourceTool
} from './drover.ts';
export type { SkillResources, SpecRegistry, ToolDef } from './drover.ts';
export type {
	ExecutionCaller,
	ExecutionEnd,
	ExecutionHost,
	ExecutionRecorder,
	ExecutionStart,
	NetworkSession
} from './execution-host.ts';
export { defineSkill } from './define-skill.ts';
export type { SkillDefinition } from './define-skill.ts';
export type { NativeContext, NativeHandler } from './native-handlers.ts';
export { renderCatalog } from './catalog.ts';
export type { CatalogFormat, CatalogOptions } from './catalog.ts';
export { scoreSkill } from './search.ts';
export type { SkillScore, SkillSignals } from './search.ts';
export { createSkillIndex, createSkillIndexInSlices } from './skill-index.ts';
export type { ExplainedSkill, RankedSkill, SkillIndex, SkillSignal } from './skill-index.ts';
export type { SdkTool } from './sdk-tools.ts';
export { findEnvelope, readEnvelope } from './dialects/envelope.ts';
export type { ToolEnvelope } from './dialects/envelope.ts';
export type { DialectName } from './dialects/dialect.ts';
export { findSkill, parseReference, versionsOf } from './references.ts';
export type { SkillReference } from './references.ts';
export { readSkillFile } from './read-file.ts';
export { listTree } from './resources.ts';
export { searchSkills } from './skill-search.ts';
export type { FoundSkill } from './skill-search.ts';
export { createSkillModes } from './visibility.ts';
export type { SkillMode, SkillModes } from './visibility.ts';
export type { SkillRegistry, SkillSnapshot } from './registry.ts';
export type { SkillSession } from './session.ts';
export type { ToolPreview, Workshop } from './workshop.ts';
export { SkillError, SkillLoadError } from './types.ts';
export type {
	BrokenSkill,
	Skill,
	SkillErrorType,
	SkillEvent,
	SkillExecutionResult,
	SkillIssue,
	SkillRoot,
	SkillSpec,
	SkillTool,
	ToolDefinition
} from './types.ts';
