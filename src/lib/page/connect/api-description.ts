/** The server's description of its API (OpenAPI 3.1) as the page shows it. Pure. */

export interface ApiDescription {
	servers: { url: string }[];
	tags: { name: string }[];
	paths: Record<string, Record<string, ApiOperation>>;
	/** What answers are made of, by name. */
	components: { schemas: Record<string, JsonSchema> };
}

export interface ApiOperation {
	operationId: string;
	tags: string[];
	summary: string;
	description?: string;
	parameters?: ApiParameter[];
	requestBody?: { content: Record<string, { schema: JsonSchema }> };
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
	/** Upper case. */
	method: string;
	path: string;
}

/** Tags in their order, each with its operations in theirs. */
export function operationsByTag({ tags, paths }: ApiDescription): { tag: string; operations: ListedOperation[] }[] {
	const all = Object.entries(paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() }))
	);
	return tags.map(({ name }) => ({ tag: name, operations: all.filter((operation) => operation.tags.includes(name)) }));
}

/** The least that one has to send, as a line for a POSIX shell. */
export function curlOf({ method, path, parameters = [], requestBody }: ListedOperation, server: string): string {
	const query = parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
	const search = query.map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema)))}`).join('&');
	const url = `${server}${path.replace(/[{}]/g, '')}${search && `?${search}`}`;
	const schema = requestBody?.content['application/json']?.schema;
	const [otherType] = Object.keys(requestBody?.content ?? {});
	const parts = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`];
	if (schema) {
		parts.push(`-H 'content-type: application/json'`, `-d ${quoted(JSON.stringify(exampleOf(schema)))}`);
	} else if (otherType !== undefined) {
		parts.push(`-H ${quoted(`content-type: ${otherType}`)}`, `--data-binary @file`);
	} else if (method !== 'GET' && method !== 'DELETE') {
		parts.push(`-H 'content-type: application/json'`, `-d '{}'`);
	}
	return parts.join(' \\\n  ');
}

/** Something that fits a schema, with what is required and no more. */
export function exampleOf(schema: JsonSchema): unknown {
	if ('const' in schema) return schema.const;
	if ('default' in schema) return schema.default;
	if (Array.isArray(schema.enum)) return schema.enum[0];
	const [choice] = [schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? (list as JsonSchema[]) : []));
	if (choice) return exampleOf(choice);
	const type = Array.isArray(schema.type) ? (schema.type[0] as unknown) : schema.type;
	if (type === 'object') {
		const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
		const required = (schema.required ?? []) as string[];
		return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] ?? {})]));
	}
	if (type === 'array') return [];
	if (type === 'number' || type === 'integer') {
		return schema.minimum ?? (typeof schema.exclusiveMinimum === 'number' ? schema.exclusiveMinimum + 1 : 0);
	}
	if (type === 'boolean') return true;
	return type === 'null' ? null : textOf(schema);
}

/** What the patterns of this API ask for. */
const TEXTS = ['0'.repeat(64), 'owner/repository', '1.0.0', 'name', 'NAME', '2026-01-01T00:00:00Z'];

function textOf({ pattern, minLength, format }: JsonSchema): string {
	if (format === 'uri') return 'http://127.0.0.1:8000/v1';
	const fitting = typeof pattern === 'string' ? TEXTS.find((text) => new RegExp(pattern, 'u').test(text)) : undefined;
	return fitting ?? '…'.repeat(typeof minLength === 'number' ? Math.max(1, minLength) : 1);
}

/** A JSON type, a choice of values, or what else one needs to know in a word. */
export function typeOf(schema: JsonSchema): string {
	if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
	const type = Array.isArray(schema.type) ? schema.type.join(' | ') : schema.type;
	return typeof type === 'string' ? (typeof schema.format === 'string' ? `${type} (${schema.format})` : type) : 'any';
}

function quoted(text: string): string {
	return `'${text.replaceAll("'", `'\\''`)}'`;
}
