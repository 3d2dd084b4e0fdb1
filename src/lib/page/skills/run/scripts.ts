/** What of a skill can be run by hand, and how it is written down. Pure. */
import type { SkillDetail } from '../../../shared/skills.ts';
import type { SkillExecution } from '../../../shared/try-out.ts';
import { cleanText } from '../../text/clean-text.ts';
import { skillPage } from '../skill-words.ts';

/** What lies in `scripts/` or at the top is meant to be run; deeper files are mostly parts of it. */
function mainScriptsFirst(scripts: readonly string[]): string[] {
	const isMain = (script: string): boolean => /^(scripts\/)?[^/]+$/.test(script);
	return scripts.toSorted((a, b) => Number(isMain(b)) - Number(isMain(a)));
}

export interface Runnable {
	kind: 'script' | 'tool';
	/** Path of the script, or name of the tool. */
	name: string;
}

export function runnablesOf({ scripts, tools }: Pick<SkillDetail, 'scripts' | 'tools'>): Runnable[] {
	return [
		...mainScriptsFirst(scripts).map((name): Runnable => ({ kind: 'script', name })),
		...tools.map((name): Runnable => ({ kind: 'tool', name }))
	];
}

/** The input of a tool to begin with: what its schema requires, empty. */
export function emptyInput(schema: Record<string, unknown> | undefined): string {
	const { properties, required } = schema ?? {};
	const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
	const types = (typeof properties === 'object' && properties !== null ? properties : {}) as Record<string, unknown>;
	return JSON.stringify(Object.fromEntries(names.map((name) => [name, emptyValue(types[name])])), null, 2);
}

const EMPTY_VALUES: Record<string, unknown> = {
	string: '',
	number: 0,
	integer: 0,
	boolean: false,
	array: [],
	object: {}
};

function emptyValue(schema: unknown): unknown {
	const { type, enum: choices, default: value } = (schema ?? {}) as Record<string, unknown>;
	if (value !== undefined) return value;
	if (Array.isArray(choices) && choices.length > 0) return choices[0] as unknown;
	return typeof type === 'string' ? (EMPTY_VALUES[type] ?? null) : null;
}

/** One thing a line: arguments, names. */
export function linesOf(text: string): string[] {
	return text.split('\n').filter((line) => line !== '');
}

/** @throws Error with a sentence for what is no JSON object */
export function readInput(text: string): Record<string, unknown> {
	let value: unknown;
	try {
		value = text.trim() === '' ? {} : JSON.parse(text);
	} catch (error) {
		throw new Error(`The input isn’t valid JSON: ${error instanceof Error ? error.message : String(error)}`, {
			cause: error
		});
	}
	if (typeof value !== 'object' || value === null || Array.isArray(value))
		throw new Error('The input must be a JSON object, such as {"text": "…"}.');
	return value as Record<string, unknown>;
}

// A run that was, in the form that runs by hand: by its id in an address, so that no address can say what is to be run. Pure.

/** How the form begins. */
export interface RunPreset {
	/** Into what `runnablesOf` gives. */
	index: number;
	/** Arguments one a line, or the input of a tool as JSON; null for what cannot be written so, or not be seen. */
	text: string | null;
}

const PREFIX = '#run?execution=';

/** The form on the page of a skill; with an execution, as that began. */
export function runPage(skillId: string, executionId?: string): string {
	return skillPage(skillId) + (executionId === undefined ? '#run' : PREFIX + encodeURIComponent(executionId));
}

/** The execution that an address names by its hash; null where it names none. */
export function executionOfHash(hash: string): string | null {
	if (!hash.startsWith(PREFIX)) return null;
	return new URLSearchParams(hash.slice('#run?'.length)).get('execution') || null;
}

/** Null for a run of another skill, and of what this one has no more. */
export function presetOf(
	execution: Pick<SkillExecution, 'skillId' | 'script' | 'tool' | 'argv' | 'input'>,
	skill: Pick<SkillDetail, 'skillId' | 'scripts' | 'tools'>
): RunPreset | null {
	const { tool, script } = execution;
	const index = runnablesOf(skill).findIndex(({ kind, name }) =>
		tool === null ? kind === 'script' && name === script : kind === 'tool' && name === tool
	);
	if (execution.skillId !== skill.skillId || index < 0) return null;
	const text = tool === null ? printLines(execution.argv) : printInput(execution.input);
	return { index, text: text === null || cleanText(text) === text ? text : null };
}

function printLines(args: readonly string[]): string | null {
	return args.some((arg) => arg === '' || arg.includes('\n')) ? null : args.join('\n');
}

/** The record may have cut off a long one. */
function printInput(input: string | null): string | null {
	try {
		return input === null ? null : JSON.stringify(JSON.parse(input), null, 2);
	} catch {
		return null;
	}
}
