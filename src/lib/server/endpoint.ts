/**
 * `endpoint()`: what a `+server.ts` exports for a method. Who may, what is asked, what is answered and the handler stand
 * together there; the check of scopes, the description of the API (`openapi.ts`) and the types of the page's client follow
 * from it.
 */
import { json, type RequestEvent } from '@sveltejs/kit';
import type { z } from 'zod';
import type { ErrorCode } from '../shared/errors.ts';
import type { ApiScope } from '../shared/names.ts';
import { checkCaller, type Caller } from './access/caller.ts';
import type { App } from './app.ts';
import { errorResponseFor, logUnexpected, readJson, readQuery } from './http.ts';

/** In the order in which people read of them. */
export const TAGS = [
	'Skills',
	'Executions',
	'Cases and evals',
	'Install',
	'Versions',
	'Trash',
	'Chat',
	'Conversations',
	'Files',
	'API keys',
	'MCP servers',
	'Server',
	'Models'
] as const;

/** An answer that is no JSON: the handler makes the Response. */
export interface Content {
	/** Its media type. */
	type: string;
	description: string;
}

export function content(type: string, description: string): Content {
	return { type, description };
}

/** Server-sent events. */
export function events(description: string): Content {
	return content('text/event-stream', description);
}

/** The schema of a JSON body, whose description says what it is; another content; or null for nothing (204). */
type Answer = z.ZodType | Content | null;

/** One answer, or several that the request chooses from. */
export type Answers = Answer | readonly Answer[];

/** What a handler returns for such an answer. */
export type Returned<A extends Answers> = A extends readonly Answer[]
	? Returned<A[number]>
	: A extends z.ZodType
		? z.input<A>
		: A extends Content
			? Response
			: void;

/** What a handler is given: Kit's event, and what the endpoint says of it. */
export type Asked<Name extends string, Query extends z.ZodType, Body extends z.ZodType> = Omit<
	RequestEvent,
	'params'
> & {
	app: App;
	caller: Caller;
	params: Record<Name, string>;
	query: z.output<Query>;
	/** Reads and checks the body. @throws AppError too_large | invalid_input with the field named */
	body(): Promise<z.output<Body>>;
};

interface Handled<Name extends string, Query extends z.ZodType, Body extends z.ZodType, A extends Answers> {
	/** What an API key needs to do it; without it, only whoever manages the server may. */
	scope?: ApiScope;
	/** Parameters of the path, in words for people. */
	params?: Record<Name, string>;
	query?: Query;
	body?: Body;
	/** A body as somebody would send it, where the least that is needed says too little. */
	example?: NoInfer<z.input<Body>>;
	/** Of the body; 10 MB without it. */
	maxBytes?: number;
	/** Of a JSON answer; 200 without it. */
	status?: 200 | 201 | 202;
	answer: A;
	handler: (asked: Asked<Name, Query, Body>) => Promise<Returned<A>> | Returned<A>;
}

/** An endpoint of this API, as its description has it. */
export interface Described {
	/** Unique, and stable: generated clients name their functions by it. */
	id: string;
	tag: (typeof TAGS)[number];
	summary: string;
	/** More than a line, in Markdown. */
	description?: string;
	/** Bodies of other types than JSON, by media type. */
	otherBodies?: Record<string, { description: string; schema: Record<string, unknown> }>;
	/** Beside those that any endpoint of its kind can answer: see `errorsOf` in `openapi.ts`. */
	errors?: readonly ErrorCode[];
}

/** An endpoint that another document describes: the Responses API, AG-UI, MCP, A2A. */
interface Foreign {
	protocol: 'Responses API' | 'MCP' | 'A2A';
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

/** Any failure is answered in the words of the protocol that the path belongs to. */
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
			logUnexpected(error);
			return errorResponseFor(event.route?.id ?? event.url.pathname, error);
		}
	};
	return Object.assign(answer, { spec });
}

/** A door of a protocol, which a document of its own describes: who may, and what answers. */
export function door<Name extends string = never>(
	protocol: Foreign['protocol'],
	scope: ApiScope | undefined,
	handler: (asked: Asked<Name, z.ZodUndefined, z.ZodUndefined>) => Promise<Response>
): Endpoint<Name, z.ZodUndefined, z.ZodUndefined, Content> {
	return endpoint({ protocol, ...(scope && { scope }), answer: content('application/json', protocol), handler });
}

// Parameters of paths that many endpoints share.

export const OF_SKILL = {
	id: '`name`, `name@range`, `source/name` or `source/name@range`; for a broken skill `source/folder`. Slashes need no escaping.'
};
export const OF_CONVERSATION = { id: 'ID of the conversation: 1 to 128 letters, digits, - or _.' };
