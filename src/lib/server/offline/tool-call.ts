/** Makes the arguments of a function tool out of a message, by its JSON Schema. */
import type { FunctionTool } from '../agent/model.ts';
import { asArray, asObject, isObject, parseJson } from '../../shared/json.ts';
import { stem } from '../skills/find/scores.ts';
import { type Filled, fillSlots } from './fill.ts';
import type { FillContext, Found } from './filling.ts';
import { isDomain, isFileName, kindOfWords, makeSlot, type Slot, type SlotOptions, slotWords } from './slots.ts';

export interface FilledTool extends Filled {
	arguments: Record<string, unknown>;
}

interface Property {
	slot: Slot;
	type: string;
	schema: Record<string, unknown>;
}

export function fillTool(tool: FunctionTool, context: FillContext): FilledTool {
	const properties = readProperties(tool);
	const filled = fillSlots(
		properties.filter(({ type }) => isText(type)).map(({ slot }) => slot),
		context
	);
	const values: [string, unknown][] = [];
	const missing = [...filled.missing];
	for (const { slot, type, schema } of properties) {
		const found = filled.found.get(slot);
		const value = isText(type) ? found && typed(found, type) : readOther(type, slot, schema, context);
		if (value !== undefined) values.push([slot.name, value]);
		else if (slot.isRequired && !missing.includes(slot)) missing.push(slot);
	}
	return { ...filled, missing, arguments: Object.fromEntries(values) };
}

function readProperties({ parameters }: FunctionTool): Property[] {
	const required = new Set(asArray(asObject(parameters).required));
	// An optional property is named by its key, as an option is by its flag; where all are, they are what the tool is for.
	const isNamed = (name: string) => required.size > 0 && !required.has(name);
	return Object.entries(asObject(asObject(parameters).properties)).map(([name, value]) => {
		const schema = firstVariant(asObject(value));
		const type = typeOf(schema);
		const choices = asArray(schema.enum).filter((choice) => typeof choice === 'string' || typeof choice === 'number');
		const slot = makeSlot(name, {
			choices: choices.map(String),
			isRequired: required.has(name),
			flag: isNamed(name) ? `--${slotWords(name).join('-')}` : null,
			isRepeated: type === 'array',
			kind: kindOfProperty(name, type, schema)
		});
		return { slot, type, schema };
	});
}

function kindOfProperty(name: string, type: string, schema: Record<string, unknown>): Slot['kind'] | undefined {
	if (type === 'number' || type === 'integer') return 'number';
	if (schema.format === 'uri' || schema.format === 'url') return 'url';
	if (schema.format === 'email') return 'email';
	if (schema.format === 'date' || schema.format === 'date-time') return 'date';
	const byName = kindOfWords(slotWords(name));
	if (byName !== null && byName !== 'number') return byName;
	const words = slotWords(typeof schema.description === 'string' ? schema.description.slice(0, 200) : '');
	const byDescription = words.map((word) => kindOfWords([word])).find((kind) => kind !== null && kind !== 'number');
	return byDescription ?? (byName === 'number' || slotWords(name).length === 0 ? 'text' : undefined);
}

function firstVariant(schema: Record<string, unknown>): Record<string, unknown> {
	const variants = [...asArray(schema.anyOf), ...asArray(schema.oneOf)].filter(isObject);
	return schema.type === undefined ? { ...schema, ...variants.find(({ type }) => type !== 'null') } : schema;
}

function typeOf({ type }: Record<string, unknown>): string {
	const first: unknown = Array.isArray(type) ? type.find((one) => one !== 'null') : type;
	return typeof first === 'string' ? first : 'string';
}

function isText(type: string): boolean {
	return type === 'string' || type === 'number' || type === 'integer';
}

function typed({ value }: Found, type: string): unknown {
	if (type === 'string') return value;
	const number = Number(value.replace(',', '.'));
	if (!Number.isFinite(number)) return undefined;
	return type === 'integer' ? Math.round(number) : number;
}

function readOther(type: string, slot: Slot, schema: Record<string, unknown>, context: FillContext): unknown {
	const { question } = context;
	if (type === 'boolean') return readBoolean(slot, context);
	const given = question.payload && parseJson(question.payload.value);
	if (type === 'array')
		return Array.isArray(given) ? (given as unknown[]) : readList(slot, asObject(schema.items), context);
	return type === 'object' && isObject(given) ? given : undefined;
}

/** True when its name occurs; a required one that does not occur is false. */
function readBoolean(slot: Slot, { question }: FillContext): boolean | undefined {
	const asked = slot.words.filter((word) => !/^(is|has|use|with|include|enable|should)$/.test(word)).map(stem);
	const places = asked.map((part) => question.words.findIndex((word) => word.stem === part && !word.isQuoted));
	if (asked.length === 0 || places.includes(-1)) return slot.isRequired ? false : undefined;
	const before = question.words[Math.min(...places) - 1]?.lower ?? '';
	return !/^(no|not|without|don['’]?t|never)$/.test(before);
}

function readList(slot: Slot, items: Record<string, unknown>, context: FillContext): unknown[] | undefined {
	const { words } = context.question;
	const isNamed = slot.words.some((word) => words.some((said) => said.stem === stem(word)));
	const list = slot.isRequired || isNamed ? listItems(slot, items, context) : [];
	return list.length > 0 ? list : undefined;
}

function listItems(slot: Slot, items: Record<string, unknown>, context: FillContext): unknown[] {
	const { numbers, words, quotes, payload } = context.question;
	const type = typeOf(items);
	if (type === 'number' || type === 'integer') return numbers.map(({ value }) => Number(value)).filter(Number.isFinite);
	const choices = asArray(items.enum).filter((choice) => typeof choice === 'string');
	if (choices.length > 0)
		return choices.filter((choice) => words.some((word) => word.stem === stem(choice.toLowerCase())));
	if (slot.kind === 'file') return firstFound({ ...slot, flag: null }, context)?.values ?? [];
	if (quotes.length > 0) return quotes.map((quote) => quote.value);
	const text = payload?.value ?? firstFound({ ...slot, kind: 'text', isRequired: true }, context)?.value ?? '';
	return text
		.split(/[,;\n]|\band\b/)
		.map((part) => part.trim())
		.filter((part) => part !== '');
}

function firstFound(slot: Slot, context: FillContext): Found | undefined {
	return fillSlots([slot], context).found.get(slot);
}

// Tells placeholders from literal text in one argument of a documented command.

/** Literal text, or a placeholder within an argument. */
export type TemplatePart = string | Slot;

const FIXED_CAPITALS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'UTF-8', 'ASCII', 'UTF8', 'OK']);

/** A placeholder by its written name: `city`, `a|b`. */
export function namedSlot(name: string, options: SlotOptions = {}): Slot {
	const choices = name.includes('|')
		? name
				.split('|')
				.map((choice) => choice.trim())
				.filter((choice) => choice !== '')
		: [];
	return makeSlot(name, { ...options, choices });
}

/** An unquoted piece of an argument: `--channel=CHANNEL_ID`, `WxH`, `a|b`, `800`, `data.csv`, `send`. */
export function readLiteral(literal: string, isWhole: boolean): TemplatePart[] {
	const [, flag, value] = (isWhole ? /^(--?[A-Za-z][\w-]*=)(.+)$/.exec(literal) : null) ?? [];
	if (flag !== undefined && value !== undefined) return [flag, ...readLiteral(value, false)];
	if (literal.startsWith('-') && !/\d/.test(literal)) {
		const ways = literal.split('|');
		return [ways.find((way) => way.startsWith('--')) ?? ways[0] ?? literal];
	}

	const isRepeated = /(?:\.{3}|…)$/.test(literal);
	const word = literal.replace(/(?:\.{3}|…)$/, '');
	const product = /^([A-Z]{1,12})x([A-Z]{1,12})$/.exec(word);
	if (product?.[1] !== undefined && product[2] !== undefined) return [makeSlot(product[1]), 'x', makeSlot(product[2])];
	if (isPlaceholder(word)) {
		const isCode = word.length === 3 && makeSlot(word).kind === 'word';
		return [makeSlot(word, { isRepeated, example: isCode ? word : null })];
	}
	if (/^[\w.-]+(\|[\w.-]+)+$/.test(word)) return [namedSlot(word)];
	return [exampleSlot(word) ?? literal];
}

/** A literal that only shows what could stand there; null when it is meant as it stands. */
function exampleSlot(word: string): Slot | null {
	if (/^https?:\/\//i.test(word) || isDomain(word)) return makeSlot('URL', { example: word });
	if (/^\d+([.,]\d+)?$/.test(word)) return makeSlot('NUMBER', { example: word });
	if (/^path\/to\//.test(word) || (/\.[A-Za-z]\w*$/.test(word) && isFileName(word))) {
		const kind = /(^|\/)(out|output|result|dest|new)[\w-]*\.\w+$/i.test(word) ? 'output' : 'file';
		return makeSlot(kind.toUpperCase(), {
			example: word,
			kind,
			fallback: kind === 'output' ? (word.split('/').at(-1) ?? null) : null
		});
	}
	const hasShape = /\d/.test(word) && /^[\w#.:/@+-]+$/.test(word);
	return hasShape ? makeSlot('VALUE', { example: word, fallback: word, kind: 'word' }) : null;
}

/** A quoted argument: prose shows a text; placeholders in it, also within JSON, are filled in place. */
export function readQuoted(content: string): TemplatePart[] {
	if (isPlaceholder(content)) return [makeSlot(content)];
	const angle = /^<([^<>]{1,60})>$/.exec(content)?.[1] ?? /^\{([\w .-]{1,40})\}$/.exec(content)?.[1];
	if (angle !== undefined) return [namedSlot(angle)];
	if (/^[{[]/.test(content.trim())) return readJsonText(content);
	if (isFileName(content) || /^https?:\/\//.test(content) || /^\d+$/.test(content))
		return [exampleSlot(content) ?? content];
	return /\p{L}{2}/u.test(content) && !/[%$\\]/.test(content) ? [makeSlot('TEXT', { example: content })] : [content];
}

/** `{"text": "TEXT", "n": N}`: only values are placeholders. */
function readJsonText(content: string): TemplatePart[] {
	const pieces = content.split(/("(?:<[^<>"]{1,60}>|[A-Z][A-Z0-9_]{1,40})"|:\s*[A-Z][A-Z0-9_]{0,40}\b)/);
	return pieces.flatMap((piece, index): TemplatePart[] => {
		if (index % 2 === 0) return piece === '' ? [] : [piece];
		if (piece.startsWith('"')) return ['"', makeSlot(piece.replace(/["<>]/g, '')), '"'];
		return [':', makeSlot(piece.replace(/^:\s*/, ''))];
	});
}

/** Capitals alone, such as `FILE` or `CHANNEL_ID`; one letter alone is one too. */
function isPlaceholder(word: string): boolean {
	if (word.length > 60 || FIXED_CAPITALS.has(word) || !/^[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)*$/.test(word)) return false;
	return word.length === 1 || /[A-Z][^A-Z]*[A-Z]/.test(word);
}
