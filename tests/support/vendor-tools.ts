/** What vendors refuse in a request's tools, according to their docs and known responses. */
type Json = Record<string, unknown>;

/** One sentence for each thing the vendor would answer with 400. */
export function toolProblems(vendor: 'responses' | 'chat' | 'anthropic' | 'gemini', body: Json): string[] {
	const tools = body.tools;
	if (tools === undefined) return [];
	if (!Array.isArray(tools) || tools.length === 0) return ['tools must be a list with something in it'];
	const entries = tools as Json[];
	const declared = ((): { name: unknown; schema: unknown; wrong?: string }[] => {
		switch (vendor) {
			case 'responses':
				return entries.map(({ type, name, parameters }) => ({
					...{ name, schema: parameters },
					...(type === 'function' ? {} : { wrong: 'type must be function' })
				}));
			case 'chat':
				return entries.map((tool) => {
					const { name, parameters } = (tool.function ?? {}) as Json;
					return { name, schema: parameters, ...unknownKeys(tool, ['type', 'function']) };
				});
			case 'anthropic':
				return entries.map((tool) => ({
					...{ name: tool.name, schema: tool.input_schema },
					...unknownKeys(tool, ['name', 'description', 'input_schema', 'type', 'cache_control', 'strict'])
				}));
			case 'gemini':
				return entries.flatMap(({ functionDeclarations = [] }) =>
					(functionDeclarations as Json[]).map((tool) => ({
						...{ name: tool.name, schema: tool.parameters ?? tool.parametersJsonSchema },
						...unknownKeys(tool, ['name', 'description', 'parameters', 'parametersJsonSchema'])
					}))
				);
		}
	})();
	const names = declared.map(({ name }) => String(name));
	const pattern = vendor === 'gemini' ? /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/ : /^[a-zA-Z0-9_-]{1,64}$/;
	return [
		...names.filter((name) => !pattern.test(name)).map((name) => `tool name ${name}`),
		...names.filter((name, index) => names.indexOf(name) !== index).map((name) => `tool ${name} twice`),
		...declared.flatMap(({ wrong }) => (wrong ? [wrong] : [])),
		...declared.flatMap(({ name, schema }) =>
			(vendor === 'gemini' ? geminiProblems(schema, true) : schemaProblems(schema)).map(
				(problem) => `${String(name)}: ${problem}`
			)
		),
		...(vendor === 'gemini' && entries.filter((entry) => entry.functionDeclarations).length > 1
			? ['functions in more than one tool']
			: [])
	];
}

function unknownKeys(tool: Json, known: string[]): { wrong?: string } {
	const unknown = Object.keys(tool).filter((key) => !known.includes(key));
	return unknown.length > 0 ? { wrong: `unknown field ${unknown.join()}` } : {};
}

function schemaProblems(schema: unknown): string[] {
	const { type, ...rest } = (schema ?? {}) as Json;
	if (type !== 'object') return ['the schema must be of type object'];
	return ['oneOf', 'anyOf', 'allOf'].filter((key) => key in rest).map((key) => `${key} at the top`);
}

const GEMINI_KEYS = new Set([
	...['type', 'format', 'title', 'description', 'nullable', 'enum', 'items', 'properties', 'required', 'anyOf'],
	...['minItems', 'maxItems', 'minProperties', 'maxProperties', 'minLength', 'maxLength', 'minimum', 'maximum'],
	...['pattern', 'example', 'default', 'propertyOrdering']
]);

function geminiProblems(value: unknown, isTop = false): string[] {
	if (value === undefined) return [];
	const schema = value as Json;
	const { type, properties, required, items, anyOf } = schema;
	const names = Object.keys((properties ?? {}) as Json);
	const format =
		schema.format === undefined || /^(enum|date-time|float|double|int32|int64)$/.test(String(schema.format));
	return [
		...Object.keys(schema)
			.filter((key) => !GEMINI_KEYS.has(key))
			.map((key) => `Unknown name "${key}": Cannot find field.`),
		...(type === undefined || /^(object|array|string|number|integer|boolean)$/i.test(String(type))
			? []
			: [`type ${JSON.stringify(type)}`]),
		...(isTop && names.length === 0 ? ['parameters.properties: should be non-empty for OBJECT type'] : []),
		...((required ?? []) as string[]).filter((name) => !names.includes(name)).map((name) => `${name}: not defined`),
		...(/^array$/i.test(String(type)) && items === undefined ? ['items: missing field'] : []),
		...((schema.enum ?? []) as unknown[]).filter((each) => typeof each !== 'string').map(() => 'enum: not a text'),
		...(format ? [] : [`format ${String(schema.format)}`]),
		...Object.values((properties ?? {}) as Json).flatMap((each) => geminiProblems(each)),
		...geminiProblems(items),
		...((anyOf ?? []) as unknown[]).flatMap((each) => geminiProblems(each))
	];
}
