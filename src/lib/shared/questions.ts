/** What people are asked: by an MCP server in a form (E36), by Demo mode in the text of an answer (F9). */
import { z } from 'zod';
import { withoutHidden } from './characters.ts';
import { AppError } from './errors.ts';
import type { QuestionField } from './message-schema.ts';

/** Of one form, and of one choice. */
export const MAX_FIELDS = 30;
export const MAX_OPTIONS = 100;
const MAX_TEXT = 10_000;

const value = z.union([z.string().max(MAX_TEXT), z.number(), z.boolean(), z.array(z.string().max(MAX_TEXT)).max(100)]);
export type FieldValue = z.infer<typeof value>;

/** `content` of a form that is accepted, by the names of its fields. */
export const questionReply = z.strictObject({
	action: z.enum(['accept', 'decline', 'cancel']),
	content: z.record(z.string().max(200), value).optional(),
	/** Also later ones of this kind in the chat. */
	forChat: z.boolean().optional()
});
export type QuestionReply = z.infer<typeof questionReply>;

const FORMATS = {
	email: z.email(),
	uri: z.url(),
	date: z.iso.date(),
	'date-time': z.iso.datetime({ offset: true })
};

/**
 * The values of the fields that are there, and no others.
 * @throws AppError `invalid_input` with a sentence about the first that doesn't fit; `details.field` is its name
 */
export function readContent(
	fields: readonly QuestionField[],
	given: Readonly<Record<string, FieldValue>>
): Record<string, FieldValue> {
	const entries = fields.flatMap((field): [string, FieldValue][] => {
		const { name, title, isRequired } = field;
		const found = Object.hasOwn(given, name) ? given[name] : undefined;
		const isEmpty = found === undefined || found === '' || (Array.isArray(found) && found.length === 0);
		if (isEmpty && !isRequired) return [];
		const problem = found === undefined || isEmpty ? 'is missing' : problemOf(field, found);
		if (problem !== null || found === undefined) {
			throw new AppError('invalid_input', `“${title}” ${problem}.`, { details: { field: name } });
		}
		return [[name, found]];
	});
	return Object.fromEntries(entries);
}

function problemOf({ type, format, min, max, options = [] }: QuestionField, found: FieldValue): string | null {
	const isOption = (each: unknown) => options.some((option) => option.value === each);
	switch (type) {
		case 'text': {
			if (typeof found !== 'string') return 'must be a text';
			const length = [...found].length;
			if (min !== undefined && length < min) return `must have at least ${min} characters`;
			if (max !== undefined && length > max) return `must have at most ${max} characters`;
			if (format && !FORMATS[format].safeParse(found).success) return `isn’t a valid ${WORDS[format]}`;
			return null;
		}
		case 'number':
		case 'integer':
			if (typeof found !== 'number' || !Number.isFinite(found)) return 'must be a number';
			if (type === 'integer' && !Number.isInteger(found)) return 'must be a whole number';
			if (min !== undefined && found < min) return `must be at least ${min}`;
			if (max !== undefined && found > max) return `must be at most ${max}`;
			return null;
		case 'boolean':
			return typeof found === 'boolean' ? null : 'must be yes or no';
		case 'choice':
			return isOption(found) ? null : 'isn’t one of the choices';
		case 'choices':
			if (!Array.isArray(found) || !found.every(isOption)) return 'isn’t among the choices';
			if (min !== undefined && found.length < min) return `needs at least ${min} choices`;
			if (max !== undefined && found.length > max) return `allows at most ${max} choices`;
			return null;
		default:
			return type satisfies never;
	}
}

const WORDS = { email: 'email address', uri: 'web address', date: 'date', 'date-time': 'date and time' };

/** Words of fields that shouldn’t be asked for in a form. */
const SECRET =
	/passw|passphrase|\bpin\b|secret|token|api.?key|private.?key|credential|card.?number|\bcvv\b|\botp\b|(recovery|seed|security|verification|one.?time).?(code|phrase|word)/i;

export function looksSecret({ name, title, description = '' }: QuestionField): boolean {
	return SECRET.test(`${name.replaceAll(/[_-]/g, ' ')} ${title} ${description}`);
}

// Demo mode asks in plain text, which every client can show. The page makes buttons of it.

/** Closes each question: by it the next message is known to be the answer. */
export const ASKED = '*No script has run for this yet.*';
const INSTEAD = /^I used \*\*.+\*\*: it fits best\. /;

/** Of several skills that fitted, one was used; by it the next message may name another one. */
export function insteadText(used: string, others: readonly string[]): string {
	return `I used **${used}**: it fits best. To use another skill, reply ${others.map((name) => `“${name}”`).join(' or ')}.`;
}

/** Does the text end in something to choose from, or in a question? */
export function isAsking(text: string): boolean {
	return text.includes(ASKED) || INSTEAD.test(text.split('\n\n').at(-1) ?? '');
}

/** Is the text nothing but a question back: no script has run, and nothing is answered? */
export function isAskedBack(text: string): boolean {
	return text.trimEnd().endsWith(ASKED);
}

/** Opens what Demo mode says where it can do nothing. */
export const UNFIT = 'No skill clearly fits your message.';

/** Closes what Demo mode says of a poem or a translation. */
export const ONLY_SCRIPTS = 'it only runs the scripts of skills.';

const UNUSABLE =
	/^\*\*([a-z0-9-]+)\*\* (?:is|would fit, but it’s) (?:off|broken|in the Trash|(not among your skills)(?:. Similar: (.*))?)\b.*\.$/gm;

/**
 * What Demo mode says of a skill that was meant, or would have fitted; `why`: `off`, `broken: …`, `in the Trash` or `not among
 * your skills. Similar: …`. The page makes a link of it.
 */
export function unusableLine({ name, why }: { name: string; why: string }, verb = 'is'): string {
	return `**${name}** ${verb} ${why}.`;
}

/** What can’t be used: skills, and names that none has, with skills of similar names. */
export function unusableIn(text: string): { name: string; isUnknown: boolean; similar: string[] }[] {
	return [...text.matchAll(UNUSABLE)].map(([, name = '', unknown, similar]) => ({
		name,
		isUnknown: unknown !== undefined,
		similar: similar?.split(', ') ?? []
	}));
}

/** Neither does it answer where no skill fits, or the one that was meant can’t be used. */
export function isUnanswered(text: string): boolean {
	return isAskedBack(text) || text.includes(UNFIT) || text.includes(ONLY_SCRIPTS) || unusableIn(text).length > 0;
}

/** What an answer of Demo mode says of a failure besides what the page shows in the failed step: which other skill there is. */
export function besideStep(text: string): string {
	if (!/^`[^`\n]+` failed[.:]/.test(text)) return text;
	const last = text.split('\n\n').at(-1) ?? '';
	return INSTEAD.test(last) ? last : '';
}

/** Before a list of what can be asked next, of Demo mode or in what a script prints. */
export const NEXT = 'You can ask for:';

export interface OfferedAnswers {
	/** The text up to the list of the answers. */
	before: string;
	/** As a person would write them, without what nobody sees; empty where there are none. */
	answers: string[];
	/** What is said of each: ` – Counts words.`; else ''. */
	about: string[];
	/** The text after the list, without the sentence on how to reply. */
	after: string;
}

/** What an answer of Demo mode offers to choose from. */
export function offeredIn(text: string): OfferedAnswers {
	const paragraphs = text.split('\n\n');
	const isQuestion = paragraphs.at(-1) === ASKED;
	const isNext = (each: string, at: number) => each.startsWith('- ') && paragraphs[at - 1]?.endsWith(NEXT);
	const list = paragraphs.findLastIndex(isQuestion ? (each) => each.startsWith('1. ') : isNext);
	if (list >= 0) {
		const lines = (paragraphs[list] ?? '').trimEnd().split('\n');
		const read = lines.map((line) => withoutHidden(line.replace(/^(\d+\.|-) /, '')));
		const parts = read.map((line) => /^(\*\*|`+ ?)(.+?) ?\1( – .*)?$/.exec(line) ?? ['', '', line]);
		return {
			before: paragraphs.slice(0, list).join('\n\n'),
			answers: parts.map(([, , answer = '']) => answer),
			about: parts.map(([, , , about = '']) => about),
			after: paragraphs
				.slice(list + 1)
				.filter((each) => each !== ASKED && !each.startsWith('Reply with '))
				.join('\n\n')
		};
	}
	const closing = (isQuestion ? paragraphs.at(-2) : paragraphs.findLast((each) => INSTEAD.test(each))) ?? '';
	const [, replies = ''] = /\breply (“[^”]+”(?: or “[^”]+”)*)\.$/.exec(closing) ?? [];
	const answers = [...replies.matchAll(/“([^”]+)”/g)].map(([, reply = '']) => withoutHidden(reply));
	return { before: text, answers, about: answers.map(() => ''), after: '' };
}
