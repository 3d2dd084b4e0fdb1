/** What of a skill can be run by hand, and how it is written down. Pure. */
import type { SkillDetail } from '../shared/skills.ts';

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
		throw new Error(`The input is no JSON: ${error instanceof Error ? error.message : String(error)}`, {
			cause: error
		});
	}
	if (typeof value !== 'object' || value === null || Array.isArray(value))
		throw new Error('The input must be a JSON object, such as {"text": "…"}.');
	return value as Record<string, unknown>;
}
