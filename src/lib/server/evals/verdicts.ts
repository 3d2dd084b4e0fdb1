/** Checks what code can check of an answer to an eval; the rest is for a judge (F16). */
import { type Check, type Expectation, toValidator, withoutMarks } from '../../shared/evals.ts';
import { between, parseJson } from '../../shared/json.ts';
import { inPlainWords, sentenceOf } from '../../shared/plain-issues.ts';
import { inTime } from '../skills/read/manifest.ts';

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
	/** Calls of the model. */
	steps: number;
}

export interface Verdict {
	text: string;
	isMet: boolean | null;
	reason: string;
}

/** Time limit of a regular expression, which may never end. */
const REGEX_TIMEOUT_MS = 250;

/** Checks an expectation; null for a sentence, which only a judge can check. */
export function look({ text, check }: Expectation, seen: Observed): Verdict | null {
	if (!check) return null;
	const told = (isSo: boolean, found: string, missing: string, isWanted = true): Verdict => {
		return { text, isMet: isSo === isWanted, reason: isSo ? found : missing };
	};
	switch (check.kind) {
		case 'equals':
			return told(seen.text.trim() === check.value.trim(), 'The reply is this text.', 'The reply is another text.');
		case 'contains':
		case 'notContains': {
			const [found, missing] = ['The reply contains this text.', 'The reply doesn’t contain this text.'];
			const isThere = [seen.text, withoutMarks(seen.text)].some((text) => text.includes(check.value));
			return told(isThere, found, missing, check.kind === 'contains');
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
		case 'maxSteps':
			return {
				text,
				isMet: seen.steps <= check.steps,
				reason: `It took ${seen.steps} step${seen.steps === 1 ? '' : 's'}.`
			};
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
			return told(seen.loaded.includes(check.value), 'It was loaded.', 'It wasn’t loaded.', false);
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
	const blocks = [...text.matchAll(/```\w*[ \t\r]*\n([^]*?)```/g)].map(([, block = '']) => block).reverse();
	const spans = [between(text, '{', '}'), between(text, '[', ']')].filter((span) => span !== null);
	const inside = spans.sort((a, b) => text.indexOf(a) - text.indexOf(b));
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
