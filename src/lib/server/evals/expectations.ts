/** Expectations of an answer: some are checked by code, the others are sentences for a judge (FEATURES F16). */
import { inTime } from '../skills/read/manifest.ts';

/** Checks done by code; names are of tools, scripts or skills. */
export const CHECKS = ['contains', 'notContains', 'regex', 'file', 'toolCalled', 'skillLoaded'] as const;

export interface Expectation {
	/** Text for people. */
	text: string;
	/** null for a sentence. */
	check: { kind: (typeof CHECKS)[number]; value: string } | null;
}

/** Facts about an answer. */
export interface Observed {
	/** The model's whole text. */
	text: string;
	loaded: readonly string[];
	/** Tools and scripts that were called, by all their names. */
	called: ReadonlySet<string>;
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

/**
 * Reads a text, `contains: …` and the like, or an object with one of these keys. `name` is the skill's, for
 * `skillLoaded: true`. @throws Error with a sentence
 */
export function readExpectation(given: unknown, name: string): Expectation {
	if (typeof given === 'string') return readText(given);
	if (typeof given !== 'object' || given === null)
		throw new Error('must be text, or an object that says what to check.');
	const entry = given as Record<string, unknown>;
	const kinds = CHECKS.filter((kind) => entry[kind] !== undefined);
	const said = [entry.text, entry.description].find((text) => typeof text === 'string');
	if (kinds.length === 0 && said) return readText(said);
	const [kind] = kinds;
	if (kind === undefined || kinds.length > 1) throw new Error(`must have one of these keys: ${CHECKS.join(', ')}.`);
	const value = kind === 'skillLoaded' && entry[kind] === true ? name : entry[kind];
	if (typeof value !== 'string' || value === '') throw new Error(`${kind} must be text.`);
	return { ...checked(kind, value), ...(said ? { text: said } : {}) };
}

function readText(given: string): Expectation {
	const text = given.trim();
	if (text === '') throw new Error('must not be empty.');
	const [, kind, value] = /^(\w+):\s*([^]+)$/.exec(text) ?? [];
	const known = CHECKS.find((check) => check === kind);
	return known && value ? checked(known, value) : { text, check: null };
}

function checked(kind: (typeof CHECKS)[number], value: string): Expectation {
	if (kind === 'regex') new RegExp(value);
	return { text: `${kind}: ${value}`, check: { kind, value } };
}

/** Checks an expectation; null for a sentence, which only a judge can check. */
export function look({ text, check }: Expectation, seen: Observed): Verdict | null {
	if (!check) return null;
	const { kind, value } = check;
	const told = (isMet: boolean, found: string, missing: string): Verdict => {
		return { text, isMet, reason: isMet === (kind !== 'notContains') ? found : missing };
	};
	switch (kind) {
		case 'contains':
			return told(seen.text.includes(value), 'The reply contains this text.', 'The reply doesn’t contain this text.');
		case 'notContains':
			return told(!seen.text.includes(value), 'The reply contains this text.', 'The reply doesn’t contain this text.');
		case 'regex': {
			const isMet = inTime(() => new RegExp(value).test(seen.text), REGEX_TIMEOUT_MS);
			if (isMet === null) return { text, isMet, reason: 'The regular expression took too long.' };
			return told(isMet, 'The reply matches.', 'The reply doesn’t match.');
		}
		case 'file':
			return told(seen.files.includes(value), 'It was created.', `It wasn’t created. ${listed('Files', seen.files)}`);
		case 'toolCalled':
			return told(seen.called.has(value), 'It was called.', `It wasn’t called. ${listed('Calls', [...seen.called])}`);
		case 'skillLoaded':
			return told(seen.loaded.includes(value), 'It was loaded.', `It wasn’t loaded. ${listed('Skills', seen.loaded)}`);
		default:
			return kind satisfies never;
	}
}

function listed(what: string, names: readonly string[]): string {
	return `${what}: ${names.slice(0, 20).join(', ') || '(none)'}.`;
}
