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
export { AUTO_MAX_SKILLS, AUTO_MIN_SCORE, pickAutoSkills, scoreAutoSkill } from './find/scores.ts';
export type { OmnirouteScore, OmnirouteSignals, ScoredSkill, ScoreRequest } from './find/scores.ts';
export { applyFixes, diagnose, type DiagnosedIssue, type Diagnosis, type FixRequest } from './doctor/doctor.ts';
export { createGateway } from './hosts/gateway.ts';
export type { Gateway, GatewayOptions, GatewayTurn, HostResult, InjectedRequest } from './hosts/gateway.ts';
export type { ExecutedCall, GatewayTool } from './hosts/gateway.ts';
export { runGateway, type GatewayResult, type GatewayStop, type RunGatewayOptions } from './hosts/gateway.ts';
export { createSkillsProvider, type SkillsProvider, type SkillsProviderOptions } from './provider.ts';
export { parseAllowedTools, parseSkill, parseSkillFile, type ParseOptions } from './parser.ts';
export { scanSkillDirs, type ScanSkillDirsOptions } from './read/scanner.ts';
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
export { defineSkill, type SkillDefinition } from './provider.ts';
export type { NativeContext, NativeHandler } from './run/handlers.ts';
export { renderCatalog, type CatalogFormat, type CatalogOptions } from './prompt.ts';
export { scoreSkill, searchSkills, type FoundSkill, type SkillScore, type SkillSignals } from './find/scores.ts';
export { createSkillIndex, createSkillIndexInSlices } from './find/skill-index.ts';
export type { ExplainedSkill, RankedSkill, SkillIndex, SkillSignal } from './find/skill-index.ts';
export type { SdkTool } from './hosts/adapters.ts';
export { findEnvelope, readEnvelope, type ToolEnvelope } from './call/dialects/agent-zero.ts';
export type { DialectName } from './call/dialects/openrouter.ts';
export { findSkill, parseReference, versionsOf, type SkillReference } from './registry/references.ts';
export { listTree, readSkillFile } from './read/files.ts';
export { createSkillModes, type SkillMode, type SkillModes } from './registry/visibility.ts';
export type { SkillRegistry, SkillSnapshot } from './registry/registry.ts';
export type { SkillSession } from './call/session.ts';
export type { ToolPreview, Workshop } from './make/workshop.ts';
export { SkillError, SkillLoadError } from './types.ts';
export type {
	BrokenSkill,
	Skill,
	SkillErrorType,
	SkillEvent,
	MadeFile,
	SkillExecutionResult,
	SkillIssue,
	SkillRoot,
	SkillSpec,
	SkillTool,
	ToolDefinition
} from './types.ts';
