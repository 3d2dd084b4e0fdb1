/** What an answer should be like: what code can tell is told by code, the rest is a sentence for a judge (FEATURES F16). */
import { runInNewContext } from 'node:vm';

/** What code can look for; a name is of a tool, a script or a skill. */
export const CHECKS = ['contains', 'notContains', 'regex', 'file', 'toolCalled', 'skillLoaded'] as const;

export interface Expectation {
	/** As people read it. */
	text: string;
	/** null where it is a sentence. */
	check: { kind: (typeof CHECKS)[number]; value: string } | null;
}

/** What is known of an answer. */
export interface Observed {
	/** All that the model said. */
	text: string;
	loaded: readonly string[];
	/** Tools and scripts that were called, by every name they have. */
	called: ReadonlySet<string>;
	/** Made or changed, relative to the working directory. */
	files: readonly string[];
}

export interface Verdict {
	text: string;
	isMet: boolean | null;
	reason: string;
}

/** A regular expression that has found nothing by then is given up: it may never end. */
const REGEX_TIMEOUT_MS = 250;

/**
 * A text, `contains: …` and the like, or an object with one of these keys; `name` is the skill's, for `skillLoaded: true`.
 * @throws Error with a sentence
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

/** null for a sentence, which only a judge can tell. */
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
			const isMet = matches(value, seen.text);
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

/** null when it takes too long. */
function matches(pattern: string, text: string): boolean | null {
	try {
		return runInNewContext('new RegExp(pattern).test(text)', { pattern, text }, { timeout: REGEX_TIMEOUT_MS }) === true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null;
		throw error;
	}
}

function listed(what: string, names: readonly string[]): string {
	return `${what}: ${names.slice(0, 20).join(', ') || '(none)'}.`;
}
