/** One document's words for the operations: its tools, its calls, its answers (FEATURES C11, F10). */
import type { CallArguments, OperationResult, SkillOperation } from '../operations.ts';
import type { Skill, SkillErrorType, ToolDefinition } from '../types.ts';

export type DialectName = 'openrouter' | 'full' | 'drover' | 'agent-zero' | 'omniroute';

export interface SkillFailure {
	type: SkillErrorType;
	message: string;
	hint?: string | undefined;
}

export interface Dialect {
	/** The tools to offer for these skills. */
	tools(skills: readonly Skill[]): ToolDefinition[];
	/** What a call asks for; null when the tool is not of this dialect. @throws SkillError InvalidArgs */
	read(name: string, args: CallArguments, skills: readonly Skill[]): SkillOperation | null;
	/** What the model reads. */
	render(result: OperationResult): string;
	renderFailure(failure: SkillFailure): string;
}
