/** Evals, as the page and the server read them alike: what is expected of an answer, and the figures of a run (F16). */
import { z } from 'zod';
import { isObject, type JsonObject, parseJson } from './json.ts';
import type { EvalAnswer, EvalFigures, EvalResult, EvalRun } from './try-out.ts';

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
/** Checks of a whole number. */
const NUMBER_CHECKS = ['exitCode', 'maxSteps'] as const;
export const CHECKS = [...TEXT_CHECKS, 'json', ...NUMBER_CHECKS] as const;
export type CheckName = (typeof CHECKS)[number];
/** Other names for them. */
const ALIASES: Readonly<Record<string, CheckName>> = {
	exact: 'equals',
	jsonSchema: 'json',
	max_steps: 'maxSteps'
};

/** The check that a key or word names; undefined if none. */
export function checkNamed(word: string): CheckName | undefined {
	const alias = Object.hasOwn(ALIASES, word) ? ALIASES[word] : undefined;
	return alias ?? CHECKS.find((check) => check === word);
}

export function isNumberCheck(check: CheckName): check is (typeof NUMBER_CHECKS)[number] {
	return NUMBER_CHECKS.some((each) => each === check);
}

/** The check and the text after it of `contains: 2`; null for a sentence, as `json: it is valid` is. */
export function checkIn(text: string): { kind: CheckName; value: string } | null {
	const [, word = '', value = ''] = /^(\w+):\s*([^]+)$/.exec(text.trim()) ?? [];
	const kind = checkNamed(word);
	if (kind === undefined) return null;
	const isJson = kind === 'json' || isNumberCheck(kind);
	return isJson && parseJson(value) === undefined ? null : { kind, value };
}

/** A check done by code. */
export type Check =
	| { kind: (typeof TEXT_CHECKS)[number]; value: string }
	/** JSON Schema of the value in the reply. */
	| { kind: 'json'; schema: JsonObject }
	/** Of the last run of this script, or of any; -1 if it never started or a signal ended it. */
	| { kind: 'exitCode'; code: number; script: string | null }
	/** The most calls of the model, at least 1. */
	| { kind: 'maxSteps'; steps: number };

export interface Expectation {
	/** Text for people. */
	text: string;
	/** null for a sentence. */
	check: Check | null;
}

const MAX_SCHEMA_TEXT = 200;

/**
 * Reads a text, `contains: …` and the like, or an object with one of these keys. `name` is the skill's, for
 * `skillLoaded: true` and its opposite. @throws Error with a sentence
 */
export function readExpectation(given: unknown, name: string): Expectation {
	if (typeof given === 'string') return readText(given);
	if (!isObject(given)) throw new Error('must be text, or an object that says what to check.');
	const entry = Object.fromEntries(Object.entries(given).map(([key, value]) => [checkNamed(key) ?? key, value]));
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
	const found = checkIn(text);
	if (!found) return { text, check: null };
	const { kind, value } = found;
	return checked(kind, kind === 'json' || isNumberCheck(kind) ? parseJson(value) : value);
}

function checked(kind: CheckName, value: unknown, { script }: Record<string, unknown> = {}): Expectation {
	if (kind === 'json') return checkedJson(value);
	if (kind === 'exitCode') {
		if (!Number.isInteger(value)) throw new Error('exitCode must be a whole number, such as 0.');
		const of = typeof script === 'string' ? script : null;
		const text = `exitCode: ${String(value)}${of === null ? '' : ` of ${of}`}`;
		return { text, check: { kind, code: value as number, script: of } };
	}
	if (kind === 'maxSteps') {
		if (!Number.isInteger(value) || (value as number) < 1) {
			throw new Error('maxSteps must be a whole number, 1 or more.');
		}
		return { text: `maxSteps: ${String(value)}`, check: { kind, steps: value as number } };
	}
	if (typeof value !== 'string' || value === '') throw new Error(`${kind} must be text.`);
	if (kind === 'regex') checkPattern(value);
	return { text: `${kind}: ${value}`, check: { kind, value } };
}

function checkPattern(pattern: string): void {
	try {
		new RegExp(pattern);
	} catch (cause) {
		const why = (cause as Error).message.replace(/^Invalid regular expression: /, '');
		throw new Error(`regex isn’t a regular expression: ${why.replace(/\.$/, '')}.`, { cause });
	}
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

/** @throws Error if it isn’t a JSON Schema */
export function toValidator(schema: JsonObject): z.ZodType {
	return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
}

/** Whether the skill itself should be loaded, by what is expected; null if that isn't said. */
export function shouldTrigger(expectations: readonly Expectation[], name: string): boolean | null {
	const said = (kind: Check['kind']) =>
		expectations.some(({ check }) => check?.kind === kind && 'value' in check && check.value === name);
	return said('skillLoaded') ? true : said('skillNotLoaded') ? false : null;
}

// Figures about the answers of a run, by side.

/** `skill`: the tested skill's name. */
export function figuresOf(
	results: readonly Pick<EvalResult, 'answers' | 'shouldTrigger'>[],
	side: string,
	skill: string
): EvalFigures {
	const of = (answers: readonly EvalAnswer[]) =>
		answers.filter((answer) => answer.side === side && answer.status !== 'cancelled');
	const answers = results.flatMap((result) => of(result.answers));
	const came = answers.filter(({ status }) => status === 'success');
	const judged = came
		.map(({ expectations }) => expectations.filter(({ isMet }) => isMet !== null))
		.filter((expectations) => expectations.length > 0);
	const all = judged.flat();
	const met = all.filter(({ isMet }) => isMet).length;
	const costs = came.flatMap(({ costUsd }) => costUsd ?? []);
	return {
		answers: answers.length,
		failed: answers.length - came.length,
		met,
		judged: all.length,
		// Over answers, because what is expected of one answer is met or missed together.
		passRate: all.length === 0 ? null : { value: met / all.length, ...wilson(met / all.length, judged.length) },
		costUsd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
		tokens: mean(came.flatMap(({ tokens }) => tokens ?? [])),
		durationMs: mean(came.map(({ durationMs }) => durationMs)),
		steps: mean(came.map(({ steps }) => steps)),
		trigger: triggerOf(
			results.flatMap(({ shouldTrigger, answers: given }) =>
				shouldTrigger === null
					? []
					: of(given).flatMap(({ status, loaded }) => (status === 'success' ? [{ shouldTrigger, loaded }] : []))
			),
			skill
		)
	};
}

/** Whether a run that isn't going on still lacks answers. */
export function canGoOn({ state, progress, sides }: Pick<EvalRun, 'state' | 'progress' | 'sides'>): boolean {
	return state !== 'running' && (progress.done < progress.total || sides.some(({ figures }) => figures.failed > 0));
}

function triggerOf(
	asked: readonly { shouldTrigger: boolean; loaded: readonly string[] }[],
	skill: string
): EvalFigures['trigger'] {
	if (asked.length === 0) return null;
	const wanted = asked.filter(({ shouldTrigger }) => shouldTrigger);
	const loaded = asked.filter((each) => each.loaded.includes(skill));
	const right = wanted.filter((each) => each.loaded.includes(skill)).length;
	const takers = wanted.filter((each) => !each.loaded.includes(skill)).flatMap((each) => each.loaded.slice(0, 1));
	const counts = new Map<string, number>();
	for (const taker of takers) counts.set(taker, (counts.get(taker) ?? 0) + 1);
	return {
		precision: loaded.length === 0 ? null : right / loaded.length,
		recall: wanted.length === 0 ? null : right / wanted.length,
		counts: {
			should: { answers: wanted.length, loaded: right },
			shouldNot: { answers: asked.length - wanted.length, loaded: loaded.length - right }
		},
		takenBy: [...counts].map(([name, count]) => ({ skill: name, count })).sort((a, b) => b.count - a.count)
	};
}

/** Precision and recall as people say them: `Used when it should be: 9 of 10`. All of each is right. Nothing that wasn’t asked. */
export function triggerWords(
	trigger: EvalFigures['trigger'] | undefined
): { label: string; value: string; isRight: boolean }[] {
	const [should, shouldNot] = ['Used when it should be', 'Left alone when it should be'];
	const { recall = null, counts } = trigger ?? {};
	if (!counts) {
		return recall === null ? [] : [{ label: should, value: `${Math.round(recall * 100)} %`, isRight: recall === 1 }];
	}
	return [
		{ label: should, total: counts.should.answers, right: counts.should.loaded },
		{ label: shouldNot, total: counts.shouldNot.answers, right: counts.shouldNot.answers - counts.shouldNot.loaded }
	].flatMap(({ label, total, right }) =>
		total === 0 ? [] : [{ label, value: `${right} of ${total}`, isRight: right === total }]
	);
}

/** For 95 %. */
const Z = 1.959964;

/** Wilson's score interval of a share among `count` observations. */
export function wilson(share: number, count: number): { low: number; high: number } {
	const spread = Z ** 2 / count;
	const centre = share + spread / 2;
	const margin = Z * Math.sqrt((share * (1 - share) + spread / 4) / count);
	const bounded = (bound: number) => Math.min(1, Math.max(0, bound / (1 + spread)));
	return { low: bounded(centre - margin), high: bounded(centre + margin) };
}

function mean(values: readonly number[]): number | null {
	return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** An answer as a person reads it, without the signs of bold text and code. */
export function withoutMarks(text: string): string {
	return text.replace(/\*\*|`/g, '');
}
