/** Endpoints by route, as types only: none of their code reaches the page. */
import type { z } from 'zod';
import type { Answers, Endpoint } from '$lib/server/endpoint.ts';

/* eslint-disable @typescript-eslint/consistent-type-imports -- a module as a whole, by its name */
/** A test compares this with the routes. */
export interface Endpoints {
	'/api/account/sign-in': typeof import('./api/account/sign-in/+server.ts');
	'/api/account/sign-in/complete': typeof import('./api/account/sign-in/complete/+server.ts');
	'/api/agent/capabilities': typeof import('./api/agent/capabilities/+server.ts');
	'/api/chat': typeof import('./api/chat/+server.ts');
	'/api/conversations': typeof import('./api/conversations/+server.ts');
	'/api/conversations/[id]': typeof import('./api/conversations/[id]/+server.ts');
	'/api/conversations/[id]/approvals/[interrupt]': typeof import('./api/conversations/[id]/approvals/[interrupt]/+server.ts');
	'/api/conversations/[id]/events': typeof import('./api/conversations/[id]/events/+server.ts');
	'/api/conversations/[id]/example': typeof import('./api/conversations/[id]/example/+server.ts');
	'/api/conversations/[id]/export': typeof import('./api/conversations/[id]/export/+server.ts');
	'/api/conversations/[id]/files': typeof import('./api/conversations/[id]/files/+server.ts');
	'/api/conversations/[id]/files/[...path]': typeof import('./api/conversations/[id]/files/[...path]/+server.ts');
	'/api/conversations/[id]/fork': typeof import('./api/conversations/[id]/fork/+server.ts');
	'/api/conversations/[id]/messages': typeof import('./api/conversations/[id]/messages/+server.ts');
	'/api/conversations/[id]/messages/[message]': typeof import('./api/conversations/[id]/messages/[message]/+server.ts');
	'/api/conversations/[id]/questions/[question]': typeof import('./api/conversations/[id]/questions/[question]/+server.ts');
	'/api/conversations/[id]/queue': typeof import('./api/conversations/[id]/queue/+server.ts');
	'/api/conversations/[id]/queue/[message]': typeof import('./api/conversations/[id]/queue/[message]/+server.ts');
	'/api/conversations/[id]/queue/[message]/send': typeof import('./api/conversations/[id]/queue/[message]/send/+server.ts');
	'/api/conversations/[id]/skills': typeof import('./api/conversations/[id]/skills/+server.ts');
	'/api/conversations/[id]/skills/[...name]': typeof import('./api/conversations/[id]/skills/[...name]/+server.ts');
	'/api/conversations/[id]/tools': typeof import('./api/conversations/[id]/tools/+server.ts');
	'/api/conversations/[id]/tools/[tool]': typeof import('./api/conversations/[id]/tools/[tool]/+server.ts');
	'/api/conversations/import': typeof import('./api/conversations/import/+server.ts');
	'/api/conversations/trash': typeof import('./api/conversations/trash/+server.ts');
	'/api/conversations/trash/[id]': typeof import('./api/conversations/trash/[id]/+server.ts');
	'/api/health': typeof import('./api/health/+server.ts');
	'/api/keys': typeof import('./api/keys/+server.ts');
	'/api/keys/[id]': typeof import('./api/keys/[id]/+server.ts');
	'/api/mcp-registry': typeof import('./api/mcp-registry/+server.ts');
	'/api/mcp-servers': typeof import('./api/mcp-servers/+server.ts');
	'/api/mcp-servers/[name]': typeof import('./api/mcp-servers/[name]/+server.ts');
	'/api/mcp-servers/[name]/reconnect': typeof import('./api/mcp-servers/[name]/reconnect/+server.ts');
	'/api/mcp-servers/[name]/sign-in': typeof import('./api/mcp-servers/[name]/sign-in/+server.ts');
	'/api/mcp-servers/[name]/sign-in/complete': typeof import('./api/mcp-servers/[name]/sign-in/complete/+server.ts');
	'/api/models': typeof import('./api/models/+server.ts');
	'/api/models/check': typeof import('./api/models/check/+server.ts');
	'/api/models/local': typeof import('./api/models/local/+server.ts');
	'/api/openapi.json': typeof import('./api/openapi.json/+server.ts');
	'/api/runs/[id]': typeof import('./api/runs/[id]/+server.ts');
	'/api/runs/[id]/events': typeof import('./api/runs/[id]/events/+server.ts');
	'/api/runs/[id]/offer': typeof import('./api/runs/[id]/offer/+server.ts');
	'/api/session': typeof import('./api/session/+server.ts');
	'/api/settings': typeof import('./api/settings/+server.ts');
	'/api/skills': typeof import('./api/skills/+server.ts');
	'/api/skills/[...id]': typeof import('./api/skills/[...id]/+server.ts');
	'/api/skills/[...id]/cases': typeof import('./api/skills/[...id]/cases/+server.ts');
	'/api/skills/[...id]/cases/[case]': typeof import('./api/skills/[...id]/cases/[case]/+server.ts');
	'/api/skills/[...id]/cases/[case]/run': typeof import('./api/skills/[...id]/cases/[case]/run/+server.ts');
	'/api/skills/[...id]/check': typeof import('./api/skills/[...id]/check/+server.ts');
	'/api/skills/[...id]/diagnostics': typeof import('./api/skills/[...id]/diagnostics/+server.ts');
	'/api/skills/[...id]/edits': typeof import('./api/skills/[...id]/edits/+server.ts');
	'/api/skills/[...id]/edits/[edit]': typeof import('./api/skills/[...id]/edits/[edit]/+server.ts');
	'/api/skills/[...id]/evals': typeof import('./api/skills/[...id]/evals/+server.ts');
	'/api/skills/[...id]/evals/[run]': typeof import('./api/skills/[...id]/evals/[run]/+server.ts');
	'/api/skills/[...id]/evals/[run]/export': typeof import('./api/skills/[...id]/evals/[run]/export/+server.ts');
	'/api/skills/[...id]/evals/import': typeof import('./api/skills/[...id]/evals/import/+server.ts');
	'/api/skills/[...id]/export': typeof import('./api/skills/[...id]/export/+server.ts');
	'/api/skills/[...id]/file': typeof import('./api/skills/[...id]/file/+server.ts');
	'/api/skills/[...id]/health': typeof import('./api/skills/[...id]/health/+server.ts');
	'/api/skills/[...id]/packages': typeof import('./api/skills/[...id]/packages/+server.ts');
	'/api/skills/[...id]/rollback': typeof import('./api/skills/[...id]/rollback/+server.ts');
	'/api/skills/[...id]/secrets': typeof import('./api/skills/[...id]/secrets/+server.ts');
	'/api/skills/[...id]/update': typeof import('./api/skills/[...id]/update/+server.ts');
	'/api/skills/[...id]/versions': typeof import('./api/skills/[...id]/versions/+server.ts');
	'/api/skills/[...id]/versions/[version]': typeof import('./api/skills/[...id]/versions/[version]/+server.ts');
	'/api/skills/drafts': typeof import('./api/skills/drafts/+server.ts');
	'/api/skills/drafts/[draft]': typeof import('./api/skills/drafts/[draft]/+server.ts');
	'/api/skills/drafts/[draft]/improve': typeof import('./api/skills/drafts/[draft]/improve/+server.ts');
	'/api/skills/drafts/[draft]/review': typeof import('./api/skills/drafts/[draft]/review/+server.ts');
	'/api/skills/drafts/[draft]/save': typeof import('./api/skills/drafts/[draft]/save/+server.ts');
	'/api/skills/drafts/[draft]/stop': typeof import('./api/skills/drafts/[draft]/stop/+server.ts');
	'/api/skills/drafts/[draft]/trial': typeof import('./api/skills/drafts/[draft]/trial/+server.ts');
	'/api/skills/events': typeof import('./api/skills/events/+server.ts');
	'/api/skills/executions': typeof import('./api/skills/executions/+server.ts');
	'/api/skills/executions/[id]': typeof import('./api/skills/executions/[id]/+server.ts');
	'/api/skills/executions/export': typeof import('./api/skills/executions/export/+server.ts');
	'/api/skills/install': typeof import('./api/skills/install/+server.ts');
	'/api/skills/install/staged': typeof import('./api/skills/install/staged/+server.ts');
	'/api/skills/install/staged/[id]': typeof import('./api/skills/install/staged/[id]/+server.ts');
	'/api/skills/marketplace': typeof import('./api/skills/marketplace/+server.ts');
	'/api/skills/marketplace/install': typeof import('./api/skills/marketplace/install/+server.ts');
	'/api/skills/outdated': typeof import('./api/skills/outdated/+server.ts');
	'/api/skills/reload': typeof import('./api/skills/reload/+server.ts');
	'/api/skills/score': typeof import('./api/skills/score/+server.ts');
	'/api/skills/skillssh': typeof import('./api/skills/skillssh/+server.ts');
	'/api/skills/skillssh/install': typeof import('./api/skills/skillssh/install/+server.ts');
	'/api/skills/trash': typeof import('./api/skills/trash/+server.ts');
	'/api/skills/trash/[id]': typeof import('./api/skills/trash/[id]/+server.ts');
}
/* eslint-enable @typescript-eslint/consistent-type-imports */

export type Route = keyof Endpoints;
export type Method<R extends Route> = Extract<keyof Endpoints[R], 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'>;

type At<R extends Route, M extends Method<R>> =
	Endpoints[R][M] extends Endpoint<infer Name, infer Query, infer Body, infer A>
		? { name: Name; query: Query; body: Body; answer: A }
		: never;

/** JSON of an answer; void if there is none. */
type Json<A extends Answers> = A extends readonly (infer One extends Answers)[]
	? Json<One>
	: A extends z.ZodType
		? z.output<A>
		: A extends null
			? void
			: never;

export type AnswerOf<R extends Route, M extends Method<R>> = Json<At<R, M>['answer']>;

/** What a call sends. */
export type Sent<R extends Route, M extends Method<R>> = (At<R, M>['name'] extends never
	? unknown
	: { params: Record<At<R, M>['name'], string> }) & {
	query?: z.input<At<R, M>['query']>;
	signal?: AbortSignal;
} & (At<R, M>['body'] extends z.ZodUndefined ? { body?: undefined } : { body: z.input<At<R, M>['body']> });

export type BodyOf<R extends Route, M extends Method<R>> = Sent<R, M>['body'];
export type QueryOf<R extends Route, M extends Method<R>> = NonNullable<Sent<R, M>['query']>;
