/** Gives an answer the form that the caller asked for: JSON by a schema, no longer than so many tokens. Pure. */
import type { ModelOptions } from '../../agent/model.ts';
import { asArray, asNumber, asObject, asText, type JsonObject } from '../json.ts';

export interface ShapedText {
	text: string;
	/** Why it is not whole; null when it is. */
	incompleteReason: string | null;
}

/** As everywhere in the built-in responder, four characters are about a token. */
const CHARACTERS_A_TOKEN = 4;
const MAX_DEPTH = 12;

export function shapeText(text: string, options: ModelOptions = {}): ShapedText {
	const format = asObject(asObject(options.text).format);
	const shaped = format.type === 'json_object' || format.type === 'json_schema' ? asJson(text, format) : text;
	const most = (asNumber(options.max_output_tokens) ?? Infinity) * CHARACTERS_A_TOKEN;
	if (shaped.length <= most) return { text: shaped, incompleteReason: null };
	return { text: shaped.slice(0, most).toWellFormed(), incompleteReason: 'max_output_tokens' };
}

function asJson(text: string, format: JsonObject): string {
	const schema = format.type === 'json_schema' ? asObject(format.schema) : {};
	const hasForm = Object.keys(schema).length > 0;
	return JSON.stringify(hasForm ? valueFor(schema, { text, root: schema, key: '' }, MAX_DEPTH) : { answer: text });
}

interface Context {
	text: string;
	/** Where references lead. */
	root: JsonObject;
	/** Name of the property that the value is for; '' for none. */
	key: string;
}

/** A value that the schema allows; figures are those that the text tells beside the property's name. */
function valueFor(given: unknown, context: Context, depth: number): unknown {
	const schema = resolve(asObject(given), context.root);
	if (depth <= 0) return null;
	if ('const' in schema) return schema.const;
	const choices = asArray(schema.enum);
	if (choices.length > 0) {
		const told = choices.find((choice) => typeof choice === 'string' && choice !== '' && context.text.includes(choice));
		return told ?? choices[0];
	}
	const [branch] = [...asArray(schema.anyOf), ...asArray(schema.oneOf), ...asArray(schema.allOf)];
	if (branch !== undefined) return valueFor(branch, context, depth - 1);
	switch (typeOf(schema)) {
		case 'object':
			return objectFor(schema, context, depth);
		case 'array': {
			const length = Math.min(asNumber(schema.minItems) ?? 0, 10);
			return Array.from({ length }, () => valueFor(schema.items, context, depth - 1));
		}
		case 'integer':
		case 'number':
			return numberFor(schema, context);
		case 'boolean':
			return false;
		case 'null':
			return null;
		default:
			return context.text.slice(0, asNumber(schema.maxLength) ?? undefined);
	}
}

function objectFor(schema: JsonObject, context: Context, depth: number): JsonObject {
	const properties = asObject(schema.properties);
	const required = asArray(schema.required).filter((key) => typeof key === 'string');
	const keys = required.length > 0 ? required : Object.keys(properties);
	return Object.fromEntries(keys.map((key) => [key, valueFor(properties[key], { ...context, key }, depth - 1)]));
}

function numberFor(schema: JsonObject, { text, key }: Context): number {
	const label = key.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim();
	const at = label === '' ? -1 : text.toLowerCase().indexOf(label.toLowerCase());
	const told = at < 0 ? null : /^[^\p{L}\d]{1,12}?(-?\d+(?:\.\d+)?)/u.exec(text.slice(at + label.length));
	const value = told ? Number(told[1]) : (asNumber(schema.minimum) ?? 0);
	return typeOf(schema) === 'integer' ? Math.trunc(value) : value;
}

function typeOf(schema: JsonObject): string {
	const types = Array.isArray(schema.type) ? schema.type : [schema.type];
	const type = types.find((each) => typeof each === 'string' && each !== 'null');
	return asText(type) ?? (schema.properties ? 'object' : 'string');
}

/** Follows one reference inside the document. */
function resolve(schema: JsonObject, root: JsonObject): JsonObject {
	const path = asText(schema.$ref)?.match(/^#\/(.+)$/)?.[1];
	if (path === undefined) return schema;
	return path.split('/').reduce<JsonObject>((value, key) => asObject(value[key.replaceAll('~1', '/')]), root);
}
