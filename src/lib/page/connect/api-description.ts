/** The server's OpenAPI 3.1 description, prepared for the page. Pure. */

export interface ApiDescription {
	info: { description: string };
	servers: { url: string }[];
	tags: { name: string }[];
	paths: Record<string, Record<string, ApiOperation>>;
	components: { schemas: Record<string, JsonSchema>; responses: Record<string, { description: string }> };
}

export interface ApiOperation {
	operationId: string;
	tags: string[];
	summary: string;
	description?: string;
	parameters?: ApiParameter[];
	requestBody?: { content: Record<string, { schema: JsonSchema; example?: unknown }> };
	responses: Record<string, { description?: string; $ref?: string; content?: Record<string, { schema?: JsonSchema }> }>;
}

interface ApiParameter {
	name: string;
	in: 'path' | 'query';
	required: boolean;
	description?: string;
	schema: JsonSchema;
}

export type JsonSchema = Record<string, unknown>;

export interface ListedOperation extends ApiOperation {
	method: string;
	path: string;
}

/** Tags in document order, each with its operations. */
export function operationsByTag({ tags, paths }: ApiDescription): { tag: string; operations: ListedOperation[] }[] {
	const all = Object.entries(paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() }))
	);
	return tags.map(({ name }) => ({ tag: name, operations: all.filter((operation) => operation.tags.includes(name)) }));
}

/** Values of a request: parameters by name (empty ones are left out), and a body. */
export interface Filled {
	parameters: Record<string, string>;
	/** Null for none, or for a file. */
	body: string | null;
}

/** The required values only. */
export function leastOf({ method, parameters = [], requestBody }: ListedOperation): Filled {
	const required = parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
	const json = requestBody?.content['application/json'];
	const hasBody = json !== undefined || (!requestBody && method !== 'GET' && method !== 'DELETE');
	return {
		parameters: Object.fromEntries(required.map(({ name, schema: asked }) => [name, String(exampleOf(asked))])),
		body: hasBody ? JSON.stringify(json ? (json.example ?? exampleOf(json.schema)) : {}, null, 2) : null
	};
}

/** Media type of a file body; null for other bodies. */
export function fileTypeOf({ requestBody }: ListedOperation): string | null {
	const types = Object.keys(requestBody?.content ?? {});
	return types.includes('application/json') ? null : (types[0] ?? null);
}

/** Required parameters without a value. */
export function missingOf({ parameters = [] }: ListedOperation, filled: Filled): string[] {
	const needed = parameters.filter(({ required, name }) => required && !filled.parameters[name]?.trim());
	return needed.map(({ name }) => name);
}

/** Path and query; path parameters without a value keep their name. */
export function pathOf({ path, parameters = [] }: ListedOperation, filled: Filled): string {
	const query = parameters.filter((parameter) => parameter.in === 'query' && filled.parameters[parameter.name]?.trim());
	const search = query
		.map(({ name }) => `${name}=${encodeURIComponent(filled.parameters[name]?.trim() ?? '')}`)
		.join('&');
	const place = path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) =>
		// Ids and paths may contain slashes.
		encodeURIComponent(filled.parameters[name]?.trim() || name).replaceAll('%2F', '/')
	);
	return `${place}${search && `?${search}`}`;
}

/** As a POSIX shell command. */
export function curlOf(operation: ListedOperation, server: string, filled = leastOf(operation), key = ''): string {
	const { method } = operation;
	const fileType = fileTypeOf(operation);
	const parts = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(server + pathOf(operation, filled))}`];
	if (key) parts.push(`-H ${quoted(`authorization: Bearer ${key}`)}`);
	if (filled.body !== null) parts.push(`-H 'content-type: application/json'`, `-d ${quoted(oneLine(filled.body))}`);
	else if (fileType !== null) parts.push(`-H ${quoted(`content-type: ${fileType}`)}`, `--data-binary @file`);
	return parts.join(' \\\n  ');
}

function oneLine(json: string): string {
	try {
		return JSON.stringify(JSON.parse(json));
	} catch {
		// Being typed.
		return json;
	}
}

export interface ExampleOptions {
	/** For resolving `$ref`. */
	schemas?: Record<string, JsonSchema>;
	/** Includes optional properties and one item per list, as in a response. */
	isWhole?: boolean;
}

/** A value that fits the schema. */
export function exampleOf(schema: JsonSchema, options: ExampleOptions = {}): unknown {
	return exampleAt(schema, options, []);
}

/** `within`: names of the enclosing schemas, so that recursion ends. */
function exampleAt(schema: JsonSchema, options: ExampleOptions, within: readonly string[], called = ''): unknown {
	const name = typeof schema.$ref === 'string' ? (schema.$ref.split('/').at(-1) ?? '') : '';
	if (name) {
		const named = options.schemas?.[name];
		return named && !within.includes(name) ? exampleAt(named, options, [...within, name], called) : {};
	}
	if ('const' in schema) return schema.const;
	if ('default' in schema) return schema.default;
	if (Array.isArray(schema.enum)) return schema.enum[0];
	const [choice] = [schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? (list as JsonSchema[]) : []));
	if (choice) return exampleAt(choice, options, within, called);
	const type = Array.isArray(schema.type) ? (schema.type[0] as unknown) : schema.type;
	if (type === 'object') {
		const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
		const names = options.isWhole ? Object.keys(properties) : ((schema.required ?? []) as string[]);
		return Object.fromEntries(names.map((each) => [each, exampleAt(properties[each] ?? {}, options, within, each)]));
	}
	if (type === 'array') {
		const items = options.isWhole && within.length < 6 ? schema.items : undefined;
		const item = items ? exampleAt(items as JsonSchema, options, within, called.replace(/s$/, '')) : undefined;
		// A recursive item isn't expanded again.
		return item === undefined || isEmpty(item) ? [] : [item];
	}
	if (type === 'number' || type === 'integer') {
		return schema.minimum ?? (typeof schema.exclusiveMinimum === 'number' ? schema.exclusiveMinimum + 1 : 0);
	}
	if (type === 'boolean') return true;
	if (type === 'null') return null;
	return options.isWhole ? (KNOWN[called] ?? textOf(schema)) : textOf(schema);
}

function isEmpty(value: unknown): boolean {
	return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** Example texts by field name. */
const KNOWN: Record<string, string> = {
	...{ id: 'count-words', name: 'count-words', skill: 'count-words', skillName: 'count-words', tag: 'text' },
	...{ description: 'Counts words, lines and characters.', title: 'Count the words', text: 'the quick brown fox' },
	...{ version: '1.0.0', source: 'skills', path: 'report.pdf', script: 'scripts/count.mjs', model: 'openrouter/auto' },
	...{ message: 'Done.', createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z' },
	...{ startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:01Z', url: 'https://example.com' }
};

/** Texts that match the patterns of this API. */
const TEXTS = ['name', 'owner/repository', '1.0.0', 'NAME', '0'.repeat(64), '2026-01-01T00:00:00Z'];

function textOf({ pattern, minLength, format }: JsonSchema): string {
	if (format === 'uri') return 'http://127.0.0.1:8000/v1';
	const fitting = typeof pattern === 'string' ? TEXTS.find((text) => new RegExp(pattern, 'u').test(text)) : undefined;
	return fitting ?? '…'.repeat(typeof minLength === 'number' ? Math.max(1, minLength) : 1);
}

/** The type, choices or format in a few words. */
export function typeOf(schema: JsonSchema): string {
	if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
	const type = Array.isArray(schema.type) ? schema.type.join(' | ') : schema.type;
	return typeof type === 'string' ? (typeof schema.format === 'string' ? `${type} (${schema.format})` : type) : 'any';
}

function quoted(text: string): string {
	return `'${text.replaceAll("'", `'\\''`)}'`;
}
