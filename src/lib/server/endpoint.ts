/**
 * `endpoint()`: what a `+server.ts` exports for a method, with scope, request, response and handler. The scope check, the
 * API description (`openapi.ts`) and the types of the page’s client are derived from it.
 */
import { json, type RequestEvent } from '@sveltejs/kit';
import type { z } from 'zod';
import type { ErrorCode } from '../shared/errors.ts';
import type { ApiScope } from '../shared/names.ts';
import { checkCaller, type Caller } from './access/caller.ts';
import type { App } from './app.ts';
import { errorResponseFor, isUnexpected, readJson, readQuery } from './http.ts';
import { logUnexpected } from './log.ts';

/** In the order of the API description. */
export const TAGS = [
	'Skills',
	'Runs',
	'Drafts',
	'Cases and evals',
	'Install',
	'Versions',
	'Trash',
	'Answers',
	'Conversations',
	'Files',
	'API keys',
	'MCP servers',
	'Server',
	'Models'
] as const;

/** A response other than JSON, created by the handler. */
export interface Content {
	type: string;
	description: string;
}

export function content(type: string, description: string): Content {
	return { type, description };
}

export function events(description: string): Content {
	return content('text/event-stream', description);
}

/** Schema of a JSON body with a description; other content; or null for none (204). */
type Answer = z.ZodType | Content | null;

export type Answers = Answer | readonly Answer[];

export type Returned<A extends Answers> = A extends readonly Answer[]
	? Returned<A[number]>
	: A extends z.ZodType
		? z.input<A>
		: A extends Content
			? Response
			: void;

export type Asked<Name extends string, Query extends z.ZodType, Body extends z.ZodType> = Omit<
	RequestEvent,
	'params'
> & {
	app: App;
	caller: Caller;
	params: Record<Name, string>;
	query: z.output<Query>;
	/** Reads and checks the body. @throws AppError too_large | invalid_input naming the field */
	body(): Promise<z.output<Body>>;
};

interface Handled<Name extends string, Query extends z.ZodType, Body extends z.ZodType, A extends Answers> {
	/** Required of API keys; without it, only the operator is allowed. */
	scope?: ApiScope;
	params?: Record<Name, string>;
	query?: Query;
	body?: Body;
	/** A realistic body, if the minimal one isn’t helpful. */
	example?: NoInfer<z.input<Body>>;
	/** Maximum size of the body. Default: 10 MB. */
	maxBytes?: number;
	/** Status of a JSON answer. Default: 200. */
	status?: 200 | 201 | 202;
	answer: A;
	handler: (asked: Asked<Name, Query, Body>) => Promise<Returned<A>> | Returned<A>;
}

export interface Described {
	/** Unique and stable: generated clients name functions by it. */
	id: string;
	tag: (typeof TAGS)[number];
	summary: string;
	/** Markdown. */
	description?: string;
	/** Bodies other than JSON, by media type. */
	otherBodies?: Record<string, { description: string; schema: Record<string, unknown> }>;
	/** In addition to the common ones: see `errorsOf` in `openapi.ts`. */
	errors?: readonly ErrorCode[];
}

/** An endpoint described by another document. */
interface Foreign {
	protocol:
		'Responses API' | 'Chat Completions' | 'MCP' | 'A2A' | 'Agent Skills discovery' | 'Health checks' | 'Prometheus';
}

export type Spec<
	Name extends string = string,
	Query extends z.ZodType = z.ZodType,
	Body extends z.ZodType = z.ZodType,
	A extends Answers = Answers
> = Handled<Name, Query, Body, A> & (Described | Foreign);

export interface Endpoint<
	Name extends string = string,
	Query extends z.ZodType = z.ZodType,
	Body extends z.ZodType = z.ZodType,
	A extends Answers = Answers
> {
	(event: RequestEvent): Promise<Response>;
	readonly spec: Spec<Name, Query, Body, A>;
}

/** Answers errors in the format of the path’s protocol. */
export function endpoint<
	const Name extends string = never,
	Query extends z.ZodType = z.ZodUndefined,
	Body extends z.ZodType = z.ZodUndefined,
	const A extends Answers = null
>(spec: Spec<Name, Query, Body, A>): Endpoint<Name, Query, Body, A> {
	const { scope, query, body, maxBytes, status = 200, handler } = spec;
	const answer = async (event: RequestEvent): Promise<Response> => {
		const { app, caller } = event.locals;
		try {
			checkCaller(caller, scope);
			const returned = await handler({
				...event,
				app,
				caller,
				params: event.params as Record<Name, string>,
				query: (query && readQuery(event.url, query)) as z.output<Query>,
				body: () => readJson(event.request, body as Body, { maxBytes })
			});
			if (returned instanceof Response) return returned;
			return returned === undefined ? new Response(null, { status: 204 }) : json(returned, { status });
		} catch (error) {
			if (isUnexpected(error)) logUnexpected(app.log, error, { route: event.route?.id });
			return errorResponseFor(event.route?.id ?? event.url.pathname, error);
		}
	};
	return Object.assign(answer, { spec });
}

type AskedAtDoor<Name extends string> = Asked<Name, z.ZodUndefined, z.ZodUndefined>;

/** An endpoint of a protocol that is described elsewhere. What it gives is sent as JSON, unless it’s a response. */
export function door<Name extends string = never>(
	protocol: Foreign['protocol'],
	scope: ApiScope | undefined,
	handler: (asked: AskedAtDoor<Name>) => Promise<unknown>
): Endpoint<Name, z.ZodUndefined, z.ZodUndefined, Content> {
	const answers = handler as (asked: AskedAtDoor<Name>) => Promise<Response>;
	return endpoint({
		protocol,
		...(scope && { scope }),
		answer: content('application/json', protocol),
		handler: answers
	});
}

// Shared descriptions of path parameters.

export const OF_SKILL = {
	id: '`name`, `name@range`, `source/name` or `source/name@range`; for a broken skill `source/folder`. Slashes need no escaping.'
};
export const OF_CONVERSATION = { id: 'ID of the conversation: 1 to 128 letters, digits, - or _.' };
