/** Expectations of an answer: some are checked by code, the others are sentences for a judge (F16). */
import { z } from 'zod';
import { isObject, type JsonObject, parseJson } from '../../shared/json.ts';
import { inPlainWords, sentenceOf } from '../../shared/plain-issues.ts';
import { inTime } from '../skills/read/manifest.ts';

/** Checks of a text; names are of tools, scripts or skills. */
const TEXT_CHECKS = [
	'equals',
	'contains',
	'notContains',
	'regex',
	'file',
	'toolCalled',
	'skillLoaded',
	'skillNotLoaded'
] as const;
export const CHECKS = [...TEXT_CHECKS, 'json', 'exitCode'] as const;
/** Other names for them. */
const ALIASES: Readonly<Record<string, (typeof CHECKS)[number]>> = { exact: 'equals', jsonSchema: 'json' };

/** A check done by code. */
export type Check =
	| { kind: (typeof TEXT_CHECKS)[number]; value: string }
	/** JSON Schema of the value in the reply. */
	| { kind: 'json'; schema: JsonObject }
	/** Of the last run of this script, or of any; -1 if it never started or a signal ended it. */
	| { kind: 'exitCode'; code: number; script: string | null };

export interface Expectation {
	/** Text for people. */
	text: string;
	/** null for a sentence. */
	check: Check | null;
}

/** Facts about an answer. */
export interface Observed {
	/** The model's whole text. */
	text: string;
	loaded: readonly string[];
	/** Tools and scripts that were called, by all their names. */
	called: ReadonlySet<string>;
	/** Scripts and tools that have ended, in order. */
	exits: readonly { names: readonly string[]; exitCode: number }[];
	/** Created or changed files, relative to the working directory. */
	files: readonly string[];
}

export interface Verdict {
	text: string;
	isMet: boolean | null;
	reason: string;
}

/** Time limit of a regular expression, which may never end. */
const REGEX_TIMEOUT_MS = 250;
const MAX_SCHEMA_TEXT = 200;

/**
 * Reads a text, `contains: …` and the like, or an object with one of these keys. `name` is the skill's, for
 * `skillLoaded: true` and its opposite. @throws Error with a sentence
 */
export function readExpectation(given: unknown, name: string): Expectation {
	if (typeof given === 'string') return readText(given);
	if (!isObject(given)) throw new Error('must be text, or an object that says what to check.');
	const entry = Object.fromEntries(Object.entries(given).map(([key, value]) => [ALIASES[key] ?? key, value]));
	const kinds = CHECKS.filter((kind) => entry[kind] !== undefined);
	const said = [entry.text, entry.description, entry.rubric].find((text) => typeof text === 'string');
	if (kinds.length === 0 && said) return readText(said);
	const [kind] = kinds;
	if (kind === undefined || kinds.length > 1) {
		throw new Error(`must have one of these keys: ${CHECKS.join(', ')}, rubric.`);
	}
	const value = kind.startsWith('skill') && entry[kind] === true ? name : entry[kind];
	return { ...checked(kind, value, entry), ...(said ? { text: said } : {}) };
}

function readText(given: string): Expectation {
	const text = given.trim();
	if (text === '') throw new Error('must not be empty.');
	const [, word = '', value] = /^(\w+):\s*([^]+)$/.exec(text) ?? [];
	const kind = CHECKS.find((check) => check === (ALIASES[word] ?? word));
	if (kind === undefined || !value) return { text, check: null };
	if (kind !== 'json' && kind !== 'exitCode') return checked(kind, value);
	const parsed = parseJson(value);
	// Else a sentence that begins like one.
	return parsed === undefined ? { text, check: null } : checked(kind, parsed);
}

function checked(kind: (typeof CHECKS)[number], value: unknown, { script }: Record<string, unknown> = {}): Expectation {
	if (kind === 'json') return checkedJson(value);
	if (kind === 'exitCode') {
		if (!Number.isInteger(value)) throw new Error('exitCode must be a whole number, such as 0.');
		const of = typeof script === 'string' ? script : null;
		const text = `exitCode: ${String(value)}${of === null ? '' : ` of ${of}`}`;
		return { text, check: { kind, code: value as number, script: of } };
	}
	if (typeof value !== 'string' || value === '') throw new Error(`${kind} must be text.`);
	if (kind === 'regex') new RegExp(value);
	return { text: `${kind}: ${value}`, check: { kind, value } };
}

function checkedJson(value: unknown): Expectation {
	if (!isObject(value)) throw new Error('json must be a JSON Schema: an object such as { "type": "object" }.');
	const written = JSON.stringify(value);
	try {
		toValidator(value);
	} catch (cause) {
		throw new Error(`json must be a JSON Schema: ${(cause as Error).message}`, { cause });
	}
	const text = `json: ${written.length > MAX_SCHEMA_TEXT ? `${written.slice(0, MAX_SCHEMA_TEXT - 1)}…` : written}`;
	return { text, check: { kind: 'json', schema: value } };
}

function toValidator(schema: JsonObject): z.ZodType {
	return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
}

/** Checks an expectation; null for a sentence, which only a judge can check. */
export function look({ text, check }: Expectation, seen: Observed): Verdict | null {
	if (!check) return null;
	const told = (isSo: boolean, found: string, missing: string): Verdict => {
		return { text, isMet: /not/i.test(check.kind) ? !isSo : isSo, reason: isSo ? found : missing };
	};
	switch (check.kind) {
		case 'equals':
			return told(seen.text.trim() === check.value.trim(), 'The reply is this text.', 'The reply is another text.');
		case 'contains':
		case 'notContains': {
			const [found, missing] = ['The reply contains this text.', 'The reply doesn’t contain this text.'];
			return told(seen.text.includes(check.value), found, missing);
		}
		case 'regex': {
			const isMet = inTime(() => new RegExp(check.value).test(seen.text), REGEX_TIMEOUT_MS);
			if (isMet === null) return { text, isMet, reason: 'The regular expression took too long.' };
			return told(isMet, 'The reply matches.', 'The reply doesn’t match.');
		}
		case 'json':
			return { text, ...lookAtJson(check, seen.text) };
		case 'exitCode':
			return { text, ...lookAtExit(check, seen.exits) };
		case 'file': {
			const isMet = seen.files.includes(check.value);
			return told(isMet, 'It was created.', `It wasn’t created. ${listed('Files', seen.files)}`);
		}
		case 'toolCalled': {
			const isMet = seen.called.has(check.value);
			return told(isMet, 'It was called.', `It wasn’t called. ${listed('Calls', [...seen.called])}`);
		}
		case 'skillLoaded': {
			const isMet = seen.loaded.includes(check.value);
			return told(isMet, 'It was loaded.', `It wasn’t loaded. ${listed('Skills', seen.loaded)}`);
		}
		case 'skillNotLoaded':
			return told(seen.loaded.includes(check.value), 'It was loaded.', 'It wasn’t loaded.');
		default:
			return check satisfies never;
	}
}

function lookAtJson({ schema }: Extract<Check, { kind: 'json' }>, text: string): Pick<Verdict, 'isMet' | 'reason'> {
	const value = jsonIn(text);
	if (value === undefined) return { isMet: false, reason: 'The reply has no JSON.' };
	const result = inTime(() => toValidator(schema).safeParse(value, { error: inPlainWords }), REGEX_TIMEOUT_MS);
	if (result === null) return { isMet: null, reason: 'A pattern of the schema took too long.' };
	if (result.success) return { isMet: true, reason: 'The reply’s JSON is as described.' };
	return { isMet: false, reason: sentenceOf(result.error.issues[0], 'The JSON').sentence };
}

/** The whole text, else its last block of code that is JSON, else from the first bracket to the last of its kind. */
function jsonIn(text: string): unknown {
	const blocks = [...text.matchAll(/```\w*\s*\n([^]*?)```/g)].map(([, block = '']) => block).reverse();
	const spans = [/\{[^]*\}/, /\[[^]*\]/].map((shape) => shape.exec(text)).filter((found) => found !== null);
	const inside = spans.sort((a, b) => a.index - b.index).map(([span]) => span);
	for (const candidate of [text, ...blocks, ...inside]) {
		const value = parseJson(candidate.trim());
		if (value !== undefined) return value;
	}
	return undefined;
}

function lookAtExit(
	{ code, script }: Extract<Check, { kind: 'exitCode' }>,
	exits: Observed['exits']
): Pick<Verdict, 'isMet' | 'reason'> {
	const last = exits.findLast(({ names }) => script === null || names.includes(script));
	if (last) return { isMet: last.exitCode === code, reason: `It ended with exit code ${last.exitCode}.` };
	return {
		isMet: false,
		reason: `It didn’t run. ${listed(
			'Runs',
			exits.flatMap(({ names }) => names.slice(0, 1))
		)}`
	};
}

function listed(what: string, names: readonly string[]): string {
	return `${what}: ${names.slice(0, 20).join(', ') || '(none)'}.`;
}

/** Whether the skill itself should be loaded, by what is expected; null if that isn't said. */
export function shouldTrigger(expectations: readonly Expectation[], name: string): boolean | null {
	const said = (kind: Check['kind']) =>
		expectations.some(({ check }) => check?.kind === kind && 'value' in check && check.value === name);
	return said('skillLoaded') ? true : said('skillNotLoaded') ? false : null;
}
