/** JSON Schema in the part of it that Gemini takes: it refuses a whole request over one word that it does not know (FEATURES B11). */

type Schema = Record<string, unknown>;

const KEYWORDS = new Set([
	...['type', 'format', 'title', 'description', 'nullable', 'enum', 'items', 'properties', 'required', 'anyOf'],
	...['minItems', 'maxItems', 'minProperties', 'maxProperties', 'minLength', 'maxLength', 'minimum', 'maximum'],
	...['pattern', 'example', 'default', 'propertyOrdering']
]);
const FORMATS = new Set(['date-time', 'enum', 'float', 'double', 'int32', 'int64']);

/** What cannot be said is left out: the arguments are checked against the whole schema when the call comes. */
export function toGeminiSchema(schema: Schema): Schema {
	const said = Object.fromEntries(Object.entries(withKnownWords(schema)).filter(([key]) => KEYWORDS.has(key)));
	const { properties, required, items, anyOf, enum: values, format } = said;
	const shape = recordOf(properties);
	if (shape) said.properties = Object.fromEntries(Object.entries(shape).map(([name, each]) => [name, inner(each)]));
	// A name that is required must be a property, and an empty list is none.
	if (Array.isArray(required))
		said.required = required.filter((name) => shape !== null && Object.hasOwn(shape, String(name)));
	if (Array.isArray(required) && !shape) delete said.required;
	if (items !== undefined) said.items = inner(items);
	else if (said.type === 'array') said.items = { type: 'string' };
	if (Array.isArray(anyOf)) said.anyOf = anyOf.map(inner);
	if (values !== undefined && !isTexts(values)) delete said.enum;
	if (format !== undefined && !FORMATS.has(String(format))) delete said.format;
	return said;
}

/** The same in words that Gemini has: one type, and `anyOf` and `enum` for their kin. */
function withKnownWords({ type, oneOf, const: only, ...schema }: Schema): Schema {
	const types = Array.isArray(type) ? (type as unknown[]).filter((each) => each !== 'null') : [type];
	return {
		...(types.length === 1 && types[0] !== undefined ? { type: types[0] } : {}),
		...(types.length > 1 ? { anyOf: types.map((each) => ({ type: each })) } : {}),
		...(Array.isArray(type) && type.includes('null') ? { nullable: true } : {}),
		...(oneOf === undefined ? {} : { anyOf: oneOf }),
		...(only === undefined ? {} : { enum: [only] }),
		...schema
	};
}

function inner(schema: unknown): unknown {
	const record = recordOf(schema);
	return record ? toGeminiSchema(record) : {};
}

function isTexts(values: unknown): boolean {
	return Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === 'string');
}

function recordOf(value: unknown): Schema | null {
	return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : null;
}
