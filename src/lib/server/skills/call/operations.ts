/** Operations on skills, independent of a dialect (C11, F10). */
import type { FoundSkill } from '../find/scores.ts';
import { SkillError, type Skill, type SkillExecutionResult } from '../types.ts';
import { isObject } from '../../../shared/json.ts';

export type SkillOperation =
	| { kind: 'list' }
	| { kind: 'search'; query: string }
	/** `offset` and `limit`, here and below, count bytes: long instructions come in pages. */
	| { kind: 'load'; skill: string; offset?: number | undefined }
	/** Lists the files if `path` is null. */
	| { kind: 'read'; skill: string; path: string | null; offset?: number; limit?: number }
	| { kind: 'run'; skill: string; script: string; args: unknown; argStyle: unknown; timeoutMs?: number }
	| { kind: 'tool'; skill: string; tool: string; args: Record<string, unknown> };

export type OperationResult =
	| { kind: 'list'; skills: readonly Skill[] }
	| { kind: 'search'; query: string; found: readonly FoundSkill[] }
	/** `isKnown`: the conversation already has these instructions. `lack`: a sentence about skills that it names and can't have. */
	| { kind: 'load'; skill: Skill; offset: number; isKnown: boolean; lack: string | null }
	| { kind: 'files'; skill: Skill }
	| { kind: 'read'; skill: Skill; path: string; page: FilePage }
	| { kind: 'run' | 'tool'; skill: Skill; result: SkillExecutionResult };

/** A page of a file, in bytes. */
export interface FilePage {
	text: string;
	offset: number;
	/** null at the end of the file. */
	nextOffset: number | null;
	totalBytes: number;
}

/** A model's arguments: a JSON object. */
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
