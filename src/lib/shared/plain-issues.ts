/** Plain-English messages for zod: the field, and what it must be. */
import type { z } from 'zod';

const TYPES: Readonly<Record<string, string>> = {
	string: 'text',
	number: 'a number',
	int: 'a whole number',
	boolean: 'true or false',
	array: 'a list',
	tuple: 'a list',
	object: 'an object',
	record: 'an object',
	null: 'empty (null)',
	date: 'a date',
	nan: 'not a number',
	never: 'left out'
};
const FORMATS: Readonly<Record<string, string>> = {
	url: 'a web address',
	datetime: 'a date and time, such as 2026-01-31T12:00:00Z',
	date: 'a date, such as 2026-01-31',
	email: 'an email address',
	uuid: 'a UUID',
	base64: 'base64',
	json_string: 'JSON'
};

/** For `safeParse(value, { error: inPlainWords })`. Messages set in a schema take precedence. */
export function inPlainWords(issue: z.core.$ZodRawIssue): string {
	switch (issue.code) {
		case 'invalid_type':
			return issue.input === undefined ? 'is missing' : `must be ${typeInWords(issue.expected)}`;
		case 'invalid_value':
			return issue.input === undefined ? 'is missing' : `must be ${oneOf(issue.values.map(shown))}`;
		case 'invalid_format':
			return `must be ${FORMATS[issue.format] ?? 'in the right format'}`;
		case 'too_small':
			return sizeInWords(issue, issue.minimum, issue.inclusive === false ? 'more than' : 'at least');
		case 'too_big':
			return sizeInWords(issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most');
		case 'not_multiple_of':
			return `must be a multiple of ${issue.divisor}`;
		case 'unrecognized_keys':
			return `has an unknown field: ${issue.keys.map((key) => `“${key.slice(0, 100)}”`).join(', ')}`;
		case 'invalid_union':
			return issue.input === undefined ? 'is missing' : 'isn’t valid';
		default:
			return 'isn’t valid';
	}
}

/** An issue as a sentence starting with the field, or with `whole` without a field. */
export function sentenceOf(
	issue: z.core.$ZodIssue | undefined,
	whole: string,
	at: readonly PropertyKey[] = []
): { field: string; sentence: string } {
	const { path, message } = deepest(issue ? [issue] : []);
	const field = [...at, ...path].map(String).join('.') || whole;
	return { field, sentence: `${field} ${message.replace(/\.$/, '')}.` };
}

type Problem = Pick<z.core.$ZodIssue, 'path' | 'message'>;

/** For unions, the problem of the best-fitting alternative: the deepest one. */
export function deepest(issues: readonly z.core.$ZodIssue[]): Problem {
	const [first] = issues;
	if (!first) return { path: [], message: 'isn’t valid' };
	const { path, message } = first;
	if (first.code !== 'invalid_union') return { path, message };
	const inner = first.errors
		.filter((branch) => branch.length > 0)
		.map(deepest)
		.toSorted((a, b) => b.path.length - a.path.length)[0];
	if (inner && inner.path.length > 0) return { path: [...path, ...inner.path], message: inner.message };
	const expected = first.errors.flatMap(([issue]) =>
		issue?.code === 'invalid_type' ? [typeInWords(issue.expected)] : []
	);
	return { path, message: expected.length > 0 ? `must be ${[...new Set(expected)].join(' or ')}` : message };
}

function typeInWords(type: string): string {
	return TYPES[type] ?? type;
}

function sizeInWords(issue: { origin: string; input?: unknown }, size: number | bigint, than: string): string {
	const limit = `${than} ${size.toLocaleString('en')}`;
	const plural = Number(size) === 1 ? '' : 's';
	if (issue.origin === 'string') {
		if (issue.input === '' && than === 'at least') return 'must not be empty';
		return `must have ${limit} character${plural}`;
	}
	if (issue.origin === 'array' || issue.origin === 'set') return `must have ${limit} item${plural}`;
	return `must be ${limit}`;
}

function oneOf(values: readonly string[]): string {
	return values.length > 1 ? `one of ${values.join(', ')}` : (values[0] ?? 'another value');
}

function shown(value: unknown): string {
	return typeof value === 'string' ? `“${value}”` : String(value);
}
