/** Reads what an MCP server asks a person: limited and cleaned, because the server is untrusted (E36). */
import { z } from 'zod';
import type { Question, QuestionField } from '../../shared/message-schema.ts';
import { MAX_FIELDS, MAX_OPTIONS } from '../../shared/questions.ts';
import { withoutHidden } from '../../shared/characters.ts';
import { plainLine, plainText } from './listing.ts';

/** `server` is added by the caller. */
export type ServerQuestion = { message: string } & (
	{ fields: QuestionField[] } | { url: string } | { sample: NonNullable<Question['sample']> }
);

const MAX_MESSAGE = 4_000;
const MAX_WORDS = 500;
const MAX_NAME = 200;
const MAX_URL = 2_048;
/** Characters of a form, which is stored with the chat. */
const MAX_FORM = 100_000;

const choices = z
	.array(z.object({ const: z.string().max(MAX_WORDS), title: z.string() }))
	.min(1)
	.max(MAX_OPTIONS);
const values = z.array(z.string().max(MAX_WORDS)).min(1).max(MAX_OPTIONS);
const many = z.union([z.object({ enum: values }), z.object({ anyOf: choices })]);
const property = z.object({
	type: z.enum(['string', 'number', 'integer', 'boolean', 'array']),
	title: z.string().optional(),
	description: z.string().optional(),
	default: z.unknown().optional(),
	format: z.enum(['email', 'uri', 'date', 'date-time']).optional().catch(undefined),
	enum: values.optional(),
	enumNames: z.array(z.string()).optional(),
	oneOf: choices.optional(),
	items: many.optional(),
	minLength: z.number().optional(),
	maxLength: z.number().optional(),
	minimum: z.number().optional(),
	maximum: z.number().optional(),
	minItems: z.number().optional(),
	maxItems: z.number().optional()
});
const form = z.object({
	message: z.string(),
	mode: z.literal('form').optional(),
	requestedSchema: z.object({
		properties: z.record(z.string().min(1).max(MAX_NAME), property),
		required: z.array(z.string()).optional()
	})
});
const link = z.object({ message: z.string(), mode: z.literal('url'), url: z.string().max(MAX_URL) });

/** Null if it can't be shown to a person. */
export function readElicitation(params: unknown): ServerQuestion | null {
	if (fieldsOf(params) > MAX_FIELDS) return null;
	const asked = z.union([link, form]).safeParse(params);
	if (!asked.success) return null;
	const message = plainText(asked.data.message, MAX_MESSAGE);
	if ('url' in asked.data) {
		const url = URL.parse(asked.data.url);
		const isPage = url?.protocol === 'https:' || url?.protocol === 'http:';
		return isPage && url.username === '' && url.password === '' ? { message, url: url.href } : null;
	}
	const { properties, required = [] } = asked.data.requestedSchema;
	const fields = Object.entries(properties).map(([name, given]) => toField(name, given, required.includes(name)));
	return JSON.stringify(fields).length > MAX_FORM ? null : { message, fields };
}

/** Counted before anything is looked at. */
function fieldsOf(params: unknown): number {
	const { properties } = (params as { requestedSchema?: { properties?: object } } | undefined)?.requestedSchema ?? {};
	return Object.keys(properties ?? {}).length;
}

function toField(name: string, given: z.infer<typeof property>, isRequired: boolean): QuestionField {
	const field = {
		name,
		title: plainLine(given.title ?? name, MAX_WORDS) || 'Value',
		description: given.description === undefined ? undefined : plainText(given.description, MAX_WORDS),
		isRequired
	};
	const optionsOf = ({ values: plain = [], names = [] }: { values?: readonly string[]; names?: readonly string[] }) =>
		plain
			.map((value, index) => ({ value, title: plainLine(names[index] ?? value, MAX_WORDS) || value }))
			.filter(({ value }, index) => plain.indexOf(value) === index);
	const ofChoices = (list: z.infer<typeof choices>) =>
		optionsOf({ values: list.map((each) => each.const), names: list.map(({ title }) => title) });
	const { type, default: initial } = given;
	if (type === 'boolean') {
		return { ...field, type, initial: typeof initial === 'boolean' ? initial : undefined };
	}
	if (type === 'number' || type === 'integer') {
		const { minimum: min, maximum: max } = given;
		return { ...field, type, min, max, initial: typeof initial === 'number' ? initial : undefined };
	}
	if (type === 'array') {
		const { items, minItems: min, maxItems: max } = given;
		const options = !items ? [] : 'enum' in items ? optionsOf({ values: items.enum }) : ofChoices(items.anyOf);
		const known = Array.isArray(initial)
			? options.map(({ value }) => value).filter((each) => initial.includes(each))
			: [];
		return { ...field, type: 'choices', options, min, max, initial: known.length > 0 ? known : undefined };
	}
	const start = typeof initial === 'string' ? plainText(initial, MAX_MESSAGE) : undefined;
	if (given.oneOf || given.enum) {
		const options = given.oneOf ? ofChoices(given.oneOf) : optionsOf({ values: given.enum, names: given.enumNames });
		return {
			...field,
			type: 'choice',
			options,
			initial: options.some(({ value }) => value === start) ? start : undefined
		};
	}
	const { format, minLength: min, maxLength: max } = given;
	return { ...field, type: 'text', format, min, max, initial: start };
}

/** What a server wants to ask the model. */
export interface SampleRequest {
	instructions: string;
	messages: { role: 'user' | 'assistant'; text: string }[];
	maxTokens: number;
}

const MAX_MESSAGES = 50;
const MAX_PROMPT = 50_000;
const MOST_TOKENS = 4_096;

const textBlock = z.object({ type: z.literal('text'), text: z.string() });
const sampling = z.object({
	systemPrompt: z.string().optional(),
	messages: z
		.array(z.object({ role: z.enum(['user', 'assistant']), content: z.union([textBlock, z.array(textBlock)]) }))
		.min(1)
		.max(MAX_MESSAGES),
	maxTokens: z.number().int().min(1)
});

/** Null if it has more than text, or too much of it for a person to read. */
export function readSampling(params: unknown): SampleRequest | null {
	const asked = sampling.safeParse(params);
	if (!asked.success) return null;
	const { systemPrompt = '', messages, maxTokens } = asked.data;
	const textsOf = (content: (typeof messages)[number]['content']) => [content].flat().map(({ text }) => text);
	const request = {
		instructions: withoutHidden(systemPrompt),
		messages: messages.map(({ role, content }) => ({ role, text: withoutHidden(textsOf(content).join('\n')) })),
		maxTokens: Math.min(maxTokens, MOST_TOKENS)
	};
	return promptOf(request).length > MAX_PROMPT ? null : request;
}

/** All that the model is sent, for a person. */
export function promptOf({ instructions, messages }: SampleRequest): string {
	const isAlone = messages.length === 1 && instructions === '';
	const said = messages.map(({ role, text }) => (isAlone ? text : `[${role}]\n${text}`));
	return [...(instructions === '' ? [] : [`[instructions]\n${instructions}`]), ...said].join('\n\n');
}
