/** Parameters of operations in paths and queries, as OpenAPI has them. */
import { z } from 'zod';
import type { Operation } from './operation.ts';

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

export function pathParameters({ path }: Operation): Parameter[] {
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

export function queryParameters({ query = [] }: Operation): Parameter[] {
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
