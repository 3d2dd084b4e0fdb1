/** A model's arguments → what a process is given: argv, environment, standard input; pure (FEATURES D2–D4). */
import { SkillError } from './types.ts';

/** `positional`: values in order; `named`: `--key value`; `env`: variables alone; `json`: the object on standard input. */
export type ArgStyle = 'positional' | 'named' | 'env' | 'json';

export interface ScriptInput {
	argv: string[];
	/** `SKILL_ARG_<KEY>` of every key of an object, whatever the style (D4). */
	env: Record<string, string>;
	/** For standard input, which is closed without it. */
	input?: string;
}

const STYLES = ['positional', 'named', 'env', 'json'] as const satisfies ArgStyle[];

/**
 * `args` is a list of texts (S0), or an object whose style says how it is passed (S2). Numbers and booleans are
 * written as JSON writes them, so are lists and objects inside an object; null leaves a key out.
 * @throws SkillError InvalidArgs, with the fault named
 */
export function readScriptArguments(args: unknown, style?: unknown): ScriptInput {
	if (args === undefined || args === null) return { argv: [], env: {}, ...(style === 'json' ? { input: '{}' } : {}) };
	if (Array.isArray(args))
		return { argv: args.map((value: unknown, index) => textOf(value, `args[${index}]`)), env: {} };
	if (typeof args !== 'object') throw new SkillError('InvalidArgs', '“args” must be a list of texts, or an object.');
	const chosen = readStyle(style);
	const entries = Object.entries(args).filter(([, value]) => value !== null && value !== undefined);
	const values = entries.map(([key, value]): [string, string] => [key, textOf(value, `args.${key}`, true)]);
	const env = Object.fromEntries(values.map(([key, text]) => [variableOf(key), text]));
	switch (chosen) {
		case 'positional':
			return { argv: values.map(([, text]) => text), env };
		case 'named':
			return { argv: entries.flatMap(([key, value]) => namedArguments(key, value)), env };
		case 'env':
			return { argv: [], env };
		case 'json':
			return { argv: [], env, input: JSON.stringify(args) };
	}
}

function readStyle(style: unknown): ArgStyle {
	if (style === undefined || style === null) return 'positional';
	const known = STYLES.find((each) => each === style);
	if (known) return known;
	throw new SkillError(
		'InvalidArgs',
		`“arg_style” must be one of ${STYLES.join(', ')}; it was ${JSON.stringify(style)}.`
	);
}

/** `--key value`; a list repeats the key. */
function namedArguments(key: string, value: unknown): string[] {
	if (!/^[A-Za-z0-9_][\w.-]*$/.test(key)) {
		throw new SkillError('InvalidArgs', `“${key.slice(0, 50)}” cannot be the name of an option.`);
	}
	const values: unknown[] = Array.isArray(value) ? value : [value];
	return values.flatMap((each) => [`--${key}`, textOf(each, `args.${key}`, true)]);
}

/** `input-pdf` → `SKILL_ARG_INPUT_PDF`. */
function variableOf(key: string): string {
	return `SKILL_ARG_${key.toUpperCase().replace(/[^A-Z0-9_]/g, '_')}`;
}

function textOf(value: unknown, field: string, allowsObjects = false): string {
	const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
	if (!isPlain && !(allowsObjects && typeof value === 'object')) {
		throw new SkillError('InvalidArgs', `“${field}” must be a text.`, 'Give each argument as one item of the list.');
	}
	const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
	if (text.includes('\0')) throw new SkillError('InvalidArgs', `“${field}” holds a NUL character.`);
	return text;
}
