/** The library, importable as `openrouter-skills`. */
export {
	createToolNames,
	extractToolCalls,
	toAnthropicTools,
	toChatTools,
	toGeminiTools,
	toToolResult
} from './hosts/adapters.ts';
export type { AnthropicTool, ChatTool, ExtractedCall, GeminiTool, ToolFormat, ToolNames } from './hosts/adapters.ts';
export { AUTO_MAX_SKILLS, AUTO_MIN_SCORE, pickAutoSkills, scoreAutoSkill } from './find/omniroute-score.ts';
export type { OmnirouteScore, OmnirouteSignals, ScoredSkill, ScoreRequest } from './find/omniroute-score.ts';
export { applyFixes, diagnose } from './doctor/doctor.ts';
export type { DiagnosedIssue, Diagnosis, FixRequest } from './doctor/doctor.ts';
export { createGateway } from './hosts/gateway.ts';
export type { Gateway, GatewayOptions, GatewayTurn, HostResult, InjectedRequest } from './hosts/gateway.ts';
export type { ExecutedCall, GatewayTool } from './hosts/gateway.ts';
export { runGateway } from './hosts/gateway-loop.ts';
export type { GatewayResult, GatewayStop, RunGatewayOptions } from './hosts/gateway-loop.ts';
export { createSkillsProvider } from './provider.ts';
export type { SkillsProvider, SkillsProviderOptions } from './provider.ts';
export { parseAllowedTools, parseSkill, parseSkillFile } from './parser.ts';
export type { ParseOptions } from './parser.ts';
export { scanSkillDirs } from './read/scanner.ts';
export type { ScanSkillDirsOptions } from './read/scanner.ts';
export {
	createSkillRegistry,
	listSkillResources,
	readSkillResource,
	renderSkillsBlock,
	skillLoadTool,
	skillResourceTool
} from './hosts/drover.ts';
export type { SkillResources, SpecRegistry, ToolDef } from './hosts/drover.ts';
export type {
	ExecutionCaller,
	ExecutionEnd,
	ExecutionHost,
	ExecutionRecorder,
	ExecutionStart,
	NetworkSession
} from './run/execution-host.ts';
export { defineSkill } from './make/define-skill.ts';
export type { SkillDefinition } from './make/define-skill.ts';
export type { NativeContext, NativeHandler } from './run/handlers.ts';
export { renderCatalog } from './prompt.ts';
export type { CatalogFormat, CatalogOptions } from './prompt.ts';
export { scoreSkill } from './find/scores.ts';
export type { SkillScore, SkillSignals } from './find/scores.ts';
export { createSkillIndex, createSkillIndexInSlices } from './find/skill-index.ts';
export type { ExplainedSkill, RankedSkill, SkillIndex, SkillSignal } from './find/skill-index.ts';
export type { SdkTool } from './hosts/adapters.ts';
export { findEnvelope, readEnvelope } from './call/dialects/agent-zero.ts';
export type { ToolEnvelope } from './call/dialects/agent-zero.ts';
export type { DialectName } from './call/dialects/openrouter.ts';
export { findSkill, parseReference, versionsOf } from './registry/references.ts';
export type { SkillReference } from './registry/references.ts';
export { readSkillFile } from './read/files.ts';
export { listTree } from './read/files.ts';
export { searchSkills } from './find/scores.ts';
export type { FoundSkill } from './find/scores.ts';
export { createSkillModes } from './registry/visibility.ts';
export type { SkillMode, SkillModes } from './registry/visibility.ts';
export type { SkillRegistry, SkillSnapshot } from './registry/registry.ts';
export type { SkillSession } from './call/session.ts';
export type { ToolPreview, Workshop } from './make/workshop.ts';
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
