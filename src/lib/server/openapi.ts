/** Generates the OpenAPI 3.1 description from the endpoints (DESIGN §5). */
import { z } from 'zod';
import * as chat from '../shared/api.ts';
import { type ErrorCode, STATUS_BY_CODE } from '../shared/errors.ts';
import * as install from '../shared/install.ts';
import * as mcpServers from '../shared/mcp-servers.ts';
import * as messages from '../shared/message-schema.ts';
import * as models from '../shared/models.ts';
import * as settings from '../shared/settings.ts';
import * as skillFiles from '../shared/skills.ts';
import * as skills from '../shared/skills.ts';
import * as tryOut from '../shared/try-out.ts';
import { type Described, type Endpoint, type Spec, TAGS } from './endpoint.ts';

export type OpenApiDocument = {
	openapi: '3.1.0';
	info: { title: string; version: string; description: string };
	servers: { url: string }[];
	tags: { name: string }[];
	security: Record<string, never[]>[];
	/** By path, then by method. */
	paths: Record<string, Record<string, Record<string, unknown>>>;
	components: Record<string, Record<string, unknown>>;
};

export interface Placed {
	/** With parameters in braces: `/api/runs/{id}`. */
	path: string;
	method: string;
	spec: Spec;
}

/** The endpoints of these modules; `file` is relative to the folder of `route`, as from a glob. */
export function endpointsOf(
	route: string,
	modules: readonly (readonly [file: string, module: Record<string, unknown>])[]
): Placed[] {
	return modules.flatMap(([file, module]) => {
		const path = new URL(file, `http://server${route}/`).pathname.replace(/\/%2Bserver.ts$|\/\+server.ts$/, '');
		return Object.entries(module).flatMap(([method, value]) => {
			const spec = (value as Partial<Endpoint>).spec;
			return spec ? [{ path: decodeURI(path).replaceAll(/\[(?:\.\.\.)?(\w+)\]/g, '{$1}'), method, spec }] : [];
		});
	});
}

const DESCRIPTION =
	'**Keys.** Send an API key as `Authorization: Bearer ors_…`. A program sees only what it made itself. ' +
	'ADMIN_TOKEN, sent the same way, may do everything; so may a browser that has logged in.\n\n' +
	'**Answers and runs.** A “run” is one start of a script or tool. What the model does for one message is an “answer”; ' +
	'AG-UI calls that a run, so its ID is a `runId` and its path is `/api/runs`.\n\n' +
	'**Errors.** Errors are `{"error": {"code", "message", "hint"?, "details"?}}`; if a field is wrong, `message` starts ' +
	'with its name.\n\n' +
	'**Bodies.** JSON of at most 10 MB and 100 levels; unknown fields are refused.';

const MEANINGS: Record<ErrorCode, string> = {
	invalid_input: 'Something in the request is wrong.',
	unauthorized: 'The token or API key is missing, wrong or deleted.',
	forbidden: 'Not allowed: another site, an unknown host, files nobody trusts, or more than this API key may do.',
	not_found: 'Not found.',
	method_not_allowed: 'This address has no such method; `allow` lists the ones it has.',
	conflict: 'Not possible in the current state.',
	too_large: 'The body is too large.',
	unsupported_media_type: 'The body has the wrong type.',
	rate_limited: 'Too many wrong tokens or keys; `retry-after` says how long to wait.',
	internal: 'Something went wrong on the server.',
	storage_full: 'The disk is full.',
	unavailable: 'Turned off, or not available right now.'
};

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Named schemas are described once. */
const NAMED = z.registry<{ id: string }>();
for (const module of [chat, install, mcpServers, messages, models, settings, skillFiles, skills, tryOut]) {
	for (const [name, schema] of Object.entries(module)) {
		if (schema instanceof z.ZodObject) NAMED.add(schema, { id: name.charAt(0).toUpperCase() + name.slice(1) });
	}
}

/** `url` is the address the client used. */
export function createOpenApiDocument(endpoints: readonly Placed[], version: string, url: string): OpenApiDocument {
	const described = endpoints.flatMap(({ spec, ...place }) => ('id' in spec ? [{ ...place, spec }] : []));
	described.sort(
		(a, b) =>
			TAGS.indexOf(a.spec.tag) - TAGS.indexOf(b.spec.tag) ||
			(a.path < b.path ? -1 : a.path > b.path ? 1 : METHODS.indexOf(a.method) - METHODS.indexOf(b.method))
	);
	const paths: OpenApiDocument['paths'] = {};
	const schemas: Record<string, unknown> = { Error: errorSchema() };
	for (const { path, method, spec } of described) {
		paths[path] = { ...paths[path], [method.toLowerCase()]: describe({ path, method, spec }, schemas) };
	}
	return {
		openapi: '3.1.0',
		info: { title: 'OpenRouter Skills', version, description: DESCRIPTION },
		servers: [{ url }],
		tags: TAGS.map((name) => ({ name })),
		security: [{ token: [] }, { session: [] }, {}],
		paths,
		components: {
			securitySchemes: {
				token: { type: 'http', scheme: 'bearer' },
				session: { type: 'apiKey', in: 'cookie', name: 'openrouter-skills-session' }
			},
			schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
			responses: Object.fromEntries(
				Object.entries(MEANINGS).map(([code, description]) => {
					const schema = { $ref: '#/components/schemas/Error' };
					return [code, { description, content: { 'application/json': { schema } } }];
				})
			)
		}
	};
}

interface DescribedEndpoint {
	path: string;
	method: string;
	spec: Spec & Described;
}

function describe(endpoint: DescribedEndpoint, schemas: Record<string, unknown>): Record<string, unknown> {
	const { id, tag, summary, description } = endpoint.spec;
	const parameters = parametersOf(endpoint);
	const body = bodyOf(endpoint);
	return {
		operationId: id,
		tags: [tag],
		summary,
		...(description === undefined ? {} : { description }),
		...(parameters.length === 0 ? {} : { parameters }),
		...(body === null ? {} : { requestBody: body }),
		responses: {
			...answersOf(endpoint, schemas),
			...Object.fromEntries(
				errorsOf(endpoint)
					.sort((a, b) => STATUS_BY_CODE[a] - STATUS_BY_CODE[b])
					.map((code) => [String(STATUS_BY_CODE[code]), { $ref: `#/components/responses/${code}` }])
			)
		}
	};
}

function errorsOf({ path, method, spec }: DescribedEndpoint): ErrorCode[] {
	const { query, body, otherBodies, errors = [] } = spec;
	const codes = new Set<ErrorCode>(['unauthorized', 'forbidden', 'rate_limited', 'internal', ...errors]);
	if (query ?? body ?? otherBodies) codes.add('invalid_input');
	if (body ?? otherBodies) for (const code of ['too_large', 'unsupported_media_type'] as const) codes.add(code);
	if (path.includes('{')) codes.add('not_found');
	if (method !== 'GET') for (const code of ['storage_full', 'unavailable'] as const) codes.add(code);
	return [...codes];
}

/** By status; alternatives share a description. */
function answersOf({ spec }: DescribedEndpoint, schemas: Record<string, unknown>): Record<string, unknown> {
	const responses: Record<string, { description: string; content?: Record<string, unknown> }> = {};
	for (const answer of [spec.answer].flat()) {
		const isJson = answer instanceof z.ZodType;
		const status = answer === null ? 204 : isJson ? (spec.status ?? 200) : 200;
		const description = answer?.description ?? 'Done.';
		const before = responses[status];
		const content = answer && {
			...before?.content,
			[isJson ? 'application/json' : answer.type]: isJson ? { schema: answeredSchema(answer, schemas) } : {}
		};
		responses[status] = {
			description: before ? `${before.description} ${description}` : description,
			...(content && { content })
		};
	}
	return responses;
}

/** Schema of an answer; moves named schemas in it to `schemas`. */
function answeredSchema(schema: z.ZodType, schemas: Record<string, unknown>): unknown {
	const {
		$schema: _dialect,
		$defs = {},
		description: _said,
		...rest
	} = z.toJSONSchema(schema, {
		metadata: NAMED,
		unrepresentable: 'any',
		// Newer servers may add fields, which must not break generated clients.
		override: ({ jsonSchema }) => {
			if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
		}
	});
	const moved = (value: unknown): unknown =>
		JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'));
	for (const [name, definition] of Object.entries($defs)) {
		const { id: _id, ...named } = definition as Record<string, unknown>;
		schemas[name] = moved(named);
	}
	const { id, ...inner } = rest as Record<string, unknown>;
	if (typeof id !== 'string') return moved(inner);
	schemas[id] = moved(inner);
	return { $ref: `#/components/schemas/${id}` };
}

function bodyOf({ spec: { body, example, otherBodies = {} } }: DescribedEndpoint): Record<string, unknown> | null {
	const content: Record<string, unknown> = body
		? { 'application/json': { schema: askedSchema(body), ...(example !== undefined && { example }) } }
		: {};
	for (const [type, { schema, description }] of Object.entries(otherBodies)) {
		content[type] = { schema: { ...schema, description } };
	}
	return Object.keys(content).length === 0 ? null : { required: true, content };
}

/** Schema of a request, before defaults. */
function askedSchema(schema: z.ZodType): Record<string, unknown> {
	const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
	return rest;
}

function errorSchema(): Record<string, unknown> {
	const text = { type: 'string' };
	const code = { type: 'string', enum: Object.keys(STATUS_BY_CODE) };
	const error = {
		type: 'object',
		properties: { code, message: text, hint: text, details: {} },
		required: ['code', 'message']
	};
	return { type: 'object', properties: { error }, required: ['error'] };
}

function parametersOf({ path, spec: { params = {}, query } }: DescribedEndpoint): Record<string, unknown>[] {
	const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
		name,
		in: 'path',
		required: true,
		description: params[name],
		schema: { type: 'string', minLength: 1 }
	}));
	const { properties = {}, required = [] } = query ? z.toJSONSchema(query, { io: 'input' }) : {};
	const inQuery = Object.entries(properties).map(([name, property]) => {
		const { description, ...schema } = property as { description?: string };
		return { name, in: 'query', required: required.includes(name), description, schema };
	});
	return [...inPath, ...inQuery];
}
