/** The description of the whole API as OpenAPI 3.1, from the schemas that requests are checked with (DESIGN §5). */
import { z } from 'zod';
import { type ErrorCode, STATUS_BY_CODE } from '../../shared/errors.ts';
import { CONVERSATION_OPERATIONS } from './conversations.ts';
import { INSTALL_OPERATIONS } from './install.ts';
import { errorsOf, type Operation, type Success } from './operation.ts';
import { SERVER_OPERATIONS } from './server.ts';
import { SKILL_OPERATIONS } from './skills.ts';

export interface OpenApiDocument {
	openapi: '3.1.0';
	info: { title: string; version: string; description: string };
	servers: { url: string }[];
	tags: { name: string }[];
	security: Record<string, never[]>[];
	/** By path, then by method. */
	paths: Record<string, Record<string, Record<string, unknown>>>;
	components: Record<string, Record<string, unknown>>;
}

export const OPERATIONS: readonly Operation[] = [
	...SKILL_OPERATIONS,
	...INSTALL_OPERATIONS,
	...CONVERSATION_OPERATIONS,
	...SERVER_OPERATIONS
];

const DESCRIPTION =
	'Errors are `{"error": {"code", "message", "hint"?, "details"?}}`; of what was wrong, `message` begins with the name ' +
	'of the field. A server with ADMIN_TOKEN wants it as a bearer token, or the cookie of a browser that has logged in. ' +
	'Programs send an API key in its place, and see what was made with it. ' +
	'Bodies are JSON of at most 10 MB and 100 levels; unknown keys are refused.';

const MEANINGS: Record<ErrorCode, string> = {
	invalid_input: 'Something in the request is not right.',
	unauthorized: 'The token or API key is missing, wrong or revoked.',
	forbidden:
		'Not allowed: another site, a host that is not served, files that nobody has trusted, or more than an API key may.',
	not_found: 'There is nothing of this name.',
	method_not_allowed: 'The address has no such method; `allow` says which it has.',
	conflict: 'Not as things are now.',
	too_large: 'Larger than what is taken.',
	unsupported_media_type: 'A body of another type is wanted.',
	rate_limited: 'Too many wrong tokens or keys; `retry-after` says how long to wait.',
	internal: 'A mistake in the server.',
	storage_full: 'The disk is full.',
	unavailable: 'Switched off, or not there for a moment.'
};

/** `url` is the address that the server was asked by. */
export function createOpenApiDocument(version: string, url: string): OpenApiDocument {
	const paths: OpenApiDocument['paths'] = {};
	for (const operation of OPERATIONS) {
		paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
	}
	return {
		openapi: '3.1.0',
		info: { title: 'openrouter-skills', version, description: DESCRIPTION },
		servers: [{ url }],
		tags: [...new Set(OPERATIONS.map(({ tag }) => tag))].map((name) => ({ name })),
		security: [{ token: [] }, { session: [] }, {}],
		paths,
		components: {
			securitySchemes: {
				token: { type: 'http', scheme: 'bearer' },
				session: { type: 'apiKey', in: 'cookie', name: 'openrouter-skills-session' }
			},
			schemas: { Error: errorSchema() },
			responses: Object.fromEntries(
				Object.entries(MEANINGS).map(([code, description]) => {
					const schema = { $ref: '#/components/schemas/Error' };
					return [code, { description, content: { 'application/json': { schema } } }];
				})
			)
		}
	};
}

function describe(operation: Operation): Record<string, unknown> {
	const { id, tag, summary, description, success } = operation;
	const parameters = [...pathParameters(operation), ...queryParameters(operation)];
	const body = bodyOf(operation);
	return {
		operationId: id,
		tags: [tag],
		summary,
		...(description === undefined ? {} : { description }),
		...(parameters.length === 0 ? {} : { parameters }),
		...(body === null ? {} : { requestBody: body }),
		responses: {
			...successes(success),
			...Object.fromEntries(
				errorsOf(operation)
					.sort((a, b) => STATUS_BY_CODE[a] - STATUS_BY_CODE[b])
					.map((code) => [String(STATUS_BY_CODE[code]), { $ref: `#/components/responses/${code}` }])
			)
		}
	};
}

/** By status; what may be answered in several types has one description for them all. */
function successes(success: readonly Success[]): Record<string, unknown> {
	const responses: Record<string, { description: string; content?: Record<string, unknown> }> = {};
	for (const { status, description, type = 'application/json' } of success) {
		const before = responses[status];
		const content = status === 204 ? {} : { content: { ...before?.content, [type]: {} } };
		responses[status] = { description: before ? `${before.description} ${description}` : description, ...content };
	}
	return responses;
}

function bodyOf({ body, otherBodies = {} }: Operation): Record<string, unknown> | null {
	const content: Record<string, unknown> = body ? { 'application/json': { schema: schemaOf(body) } } : {};
	for (const [type, { schema, description }] of Object.entries(otherBodies)) {
		content[type] = { schema: { ...schema, description } };
	}
	return Object.keys(content).length === 0 ? null : { required: true, content };
}

/** What a client may send: before defaults are filled in. */
function schemaOf(schema: z.ZodType): Record<string, unknown> {
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

// Parameters of operations in paths and queries, as OpenAPI has them.

interface Parameter {
	name: string;
	in: 'path' | 'query';
	required: boolean;
	description?: string;
	schema: unknown;
}

const SKILL_ID =
	'A name, `name@range`, `source/name` or `source/name@range`; of one that is broken `source/folder`. The slash may ' +
	'stand as it is.';

/** Of a path; the first that its beginning fits. */
const IN_PATH: readonly [prefix: string, name: string, description: string][] = [
	['/api/skills/executions/', 'id', 'Of an execution.'],
	['/api/skills/install/staged/', 'id', 'Of what was staged.'],
	['/api/skills/trash/', 'id', 'Of what was removed.'],
	['/api/skills/', 'id', SKILL_ID],
	['/api/skills/', 'case', 'Of a case.'],
	['/api/skills/', 'run', 'Of a run of evals.'],
	['/api/keys/', 'id', 'Of a key.'],
	['/api/mcp-servers/', 'name', 'Of an MCP server: 1 to 32 of a–z, 0–9, - and _.'],
	['/api/runs/', 'id', 'Of a run.'],
	['/api/conversations/', 'id', 'Of a conversation: 1 to 128 letters, digits, hyphens or underscores.'],
	['/api/conversations/', 'message', 'Of a message.'],
	['/api/conversations/', 'interrupt', 'Of a question.'],
	['/api/conversations/', 'name', 'Of a skill.'],
	['/api/conversations/', 'path', 'Relative to the workspace; slashes may stand as they are.']
];

const IN_QUERY: Record<string, string> = {
	path: 'Of a file, relative to the skill’s folder, with slashes.',
	q: 'Words to look for.',
	archived: '`true`: those that are archived, in place of those that are not.',
	page: 'From 1.',
	limit: 'How many, at most 200.',
	mode: 'Only those of this mode.',
	source: 'A provider, or the label of a folder.',
	status: 'Only those of this status.',
	apiKeyId: 'Of skills: what this key sees, its own and the system’s. Of executions: those of this key.',
	skill: '`source/name`, or a name.',
	conversationId: 'Only those of this conversation.',
	since: 'From this time on.',
	until: 'Before this time.',
	format: 'What the file is.',
	before: 'Id of a message.',
	after: 'Number of the last event that is known.'
};

function pathParameters({ path }: Operation): Parameter[] {
	return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
		const known = IN_PATH.find(([prefix, parameter]) => parameter === name && path.startsWith(prefix));
		return {
			name,
			in: 'path',
			required: true,
			...withDescription(known?.[2]),
			schema: { type: 'string', minLength: 1 }
		};
	});
}

function queryParameters({ query = [] }: Operation): Parameter[] {
	return [query].flat().flatMap((schema) => {
		const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' });
		return Object.entries(properties).map(([name, property]): Parameter => ({
			name,
			in: 'query',
			required: required.includes(name),
			...withDescription(IN_QUERY[name]),
			schema: property
		}));
	});
}

function withDescription(description: string | undefined): { description?: string } {
	return description === undefined ? {} : { description };
}
