/** Reads a skill's `evals/evals.json`, in skill-creator's format and similar ones (F16). */
import { basename } from 'node:path/posix';
import { z } from 'zod';
import { readSkillFile } from '../skills/read/files.ts';
import { type Skill, SkillError } from '../skills/types.ts';
import { inPlainWords, sentenceOf } from '../../shared/plain-issues.ts';
import { inTime } from '../skills/read/manifest.ts';

/** A prompt, with expectations of its answer. */
export interface EvalCase {
	id: string;
	prompt: string;
	/** Expected result, for people and the judge. */
	expected: string | null;
	/** Paths in the skill's folder; copied to the working directory without their folders. */
	files: string[];
	expectations: Expectation[];
}

const PATH = 'evals/evals.json';
const MAX_BYTES = 1024 * 1024;
const MAX_PROBLEMS = 5;

const text = (max: number) => z.string().min(1).max(max);
export const evalEntry = z.looseObject({
	id: z.union([text(200), z.number()]).optional(),
	prompt: text(100_000).optional(),
	/** Alias of `prompt`, from Anthropic's guide to skills. */
	query: text(100_000).optional(),
	expected_output: z.string().max(100_000).nullish(),
	files: z.array(text(1024)).max(50).nullish(),
	expectations: z.array(z.unknown()).max(50).nullish(),
	assertions: z.array(z.unknown()).max(50).nullish(),
	expected_behavior: z.array(z.unknown()).max(50).nullish()
});
const file = z.looseObject({ evals: z.array(evalEntry).max(200) });

/** `problem` says why the file can't be used; null if it can, or doesn't exist. Never throws for a skill's mistakes. */
export async function readEvals(
	skill: Pick<Skill, 'dir' | 'name'>
): Promise<{ cases: EvalCase[]; problem: string | null }> {
	const nothing = (problem: string | null) => ({ cases: [], problem });
	let content: string;
	try {
		const page = await readSkillFile(skill.dir, PATH, { limit: MAX_BYTES });
		if (page.totalBytes > MAX_BYTES) return nothing(`${PATH} is larger than 1 MB.`);
		content = page.text.replace(/^\uFEFF/, '');
	} catch (error) {
		if (!(error instanceof SkillError)) throw error;
		return nothing(error.type === 'FileNotFound' ? null : error.message);
	}
	let value: unknown;
	try {
		value = JSON.parse(content);
	} catch (error) {
		return nothing(`${PATH} isn’t valid JSON: ${(error as Error).message}`);
	}
	const parsed = file.safeParse(Array.isArray(value) ? { evals: value } : value, { error: inPlainWords });
	if (!parsed.success) {
		const issues = parsed.error.issues.map((issue) => sentenceOf(issue, 'the file').sentence);
		return nothing(sentences(issues));
	}
	const problems: string[] = [];
	const cases = parsed.data.evals.flatMap((each, index) => readCase(each, index, skill.name, problems));
	const ids = cases.map(({ id }) => id);
	const twice = ids.find((id, index) => ids.indexOf(id) !== index);
	if (twice !== undefined) problems.push(`Two of its evals have the id “${twice}”.`);
	return problems.length > 0 ? nothing(sentences(problems)) : { cases, problem: null };
}

function readCase(given: z.infer<typeof evalEntry>, index: number, name: string, problems: string[]): EvalCase[] {
	const { id = index + 1, prompt = given.query, expected_output: expected, files } = given;
	const at = `evals.${index}`;
	if (prompt === undefined) {
		problems.push(`${at}.prompt is missing.`);
		return [];
	}
	const names = (files ?? []).map((path) => basename(path));
	if (new Set(names).size < names.length) problems.push(`${at}.files: two have the same name.`);
	const expectations = (['expectations', 'assertions', 'expected_behavior'] as const).flatMap((key) =>
		(given[key] ?? []).flatMap((each, place) => {
			try {
				return [readExpectation(each, name)];
			} catch (error) {
				problems.push(`${at}.${key}.${place}: ${(error as Error).message}`);
				return [];
			}
		})
	);
	return [{ id: String(id), prompt, expected: expected || null, files: files ?? [], expectations }];
}

function sentences(problems: readonly string[]): string {
	const more = problems.length > MAX_PROBLEMS ? ` And ${problems.length - MAX_PROBLEMS} more.` : '';
	return `${PATH} can’t be used: ${problems.slice(0, MAX_PROBLEMS).join(' ')}${more}`;
}

// Expectations of an answer: some are checked by code, the others are sentences for a judge.

/** Checks done by code; names are of tools, scripts or skills. */
export const CHECKS = [
	'contains',
	'notContains',
	'regex',
	'file',
	'toolCalled',
	'skillLoaded',
	'skillNotLoaded'
] as const;

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
 * `skillLoaded: true` and its opposite. @throws Error with a sentence
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
	const value = kind.startsWith('skill') && entry[kind] === true ? name : entry[kind];
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
		return { text, isMet, reason: isMet === !/not/i.test(kind) ? found : missing };
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
		case 'skillNotLoaded':
			return told(!seen.loaded.includes(value), 'It was loaded.', 'It wasn’t loaded.');
		default:
			return kind satisfies never;
	}
}

function listed(what: string, names: readonly string[]): string {
	return `${what}: ${names.slice(0, 20).join(', ') || '(none)'}.`;
}
