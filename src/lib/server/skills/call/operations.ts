/** What can be done with skills, whatever words a call was made in: the middle between dialects and effects (FEATURES C11, F10). */
import type { FoundSkill } from '../find/scores.ts';
import { SkillError, type Skill, type SkillExecutionResult } from '../types.ts';
import { isObject } from '../../../shared/json.ts';

export type SkillOperation =
	| { kind: 'list' }
	| { kind: 'search'; query: string }
	/** `offset`, here and below, counts bytes: of long instructions a piece is handed out at a time. */
	| { kind: 'load'; skill: string; offset?: number | undefined }
	/** Without a path: what there is to read. `limit` counts bytes too. */
	| { kind: 'read'; skill: string; path: string | null; offset?: number; limit?: number }
	| { kind: 'run'; skill: string; script: string; args: unknown; argStyle: unknown; timeoutMs?: number }
	| { kind: 'tool'; skill: string; tool: string; args: Record<string, unknown> };

export type OperationResult =
	| { kind: 'list'; skills: readonly Skill[] }
	| { kind: 'search'; query: string; found: readonly FoundSkill[] }
	/** `isKnown`: these very instructions were handed out in this conversation before. */
	| { kind: 'load'; skill: Skill; offset: number; isKnown: boolean }
	| { kind: 'files'; skill: Skill }
	| { kind: 'read'; skill: Skill; path: string; page: FilePage }
	| { kind: 'run' | 'tool'; skill: Skill; result: SkillExecutionResult };

/** A piece of a file, counted in bytes. */
export interface FilePage {
	text: string;
	offset: number;
	/** null at the end of the file. */
	nextOffset: number | null;
	totalBytes: number;
}

/** A JSON object, as a model's arguments must be. */
export type CallArguments = Readonly<Record<string, unknown>>;

/** @throws SkillError InvalidArgs naming the field */
export function textArgument(args: CallArguments, field: string, what: string, hint?: string): string {
	const value = args[field];
	if (typeof value === 'string') return value;
	throw new SkillError('InvalidArgs', `“${field}” must be ${what}.`, hint);
}

/** @throws SkillError InvalidArgs naming the field */
export function numberArgument(args: CallArguments, field: string): number | undefined {
	const value = args[field];
	if (value === undefined || value === null) return undefined;
	const number = typeof value === 'string' ? Number(value) : value;
	if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number;
	throw new SkillError('InvalidArgs', `“${field}” must be a whole number, 0 or more.`);
}

/** @throws SkillError InvalidArgs naming the field */
export function recordArgument(args: CallArguments, field: string): Record<string, unknown> {
	const value = args[field];
	if (value === undefined || value === null) return {};
	if (isObject(value)) return value;
	throw new SkillError('InvalidArgs', `“${field}” must be an object.`);
}
