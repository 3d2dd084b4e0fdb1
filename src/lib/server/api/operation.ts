/** One operation of the API, as the table of operations has it. */
import type { z } from 'zod';
import type { ErrorCode } from '../../shared/errors.ts';

export interface Operation {
	/** Unique, and stable: generated clients name their functions by it. */
	id: string;
	method: 'get' | 'post' | 'put' | 'patch' | 'delete';
	/** With the parameters of the route in braces: `/api/runs/{id}`. */
	path: string;
	tag: string;
	summary: string;
	/** More than a line, in Markdown. */
	description?: string;
	query?: z.ZodObject | readonly z.ZodObject[];
	/** The schema of a JSON body, or what other bodies are by their media type. */
	body?: z.ZodType;
	otherBodies?: Record<string, { description: string; schema: Record<string, unknown> }>;
	success: readonly Success[];
	/** Beside those that any operation of its kind can answer: see `errorsOf`. */
	errors?: readonly ErrorCode[];
}

export interface Success {
	status: 200 | 201 | 202 | 204;
	description: string;
	/** `application/json` without it; what has status 204 has none. */
	type?: string;
}

/** What an operation with such parts can answer when it fails. */
export function errorsOf({ method, path, query, body, otherBodies, errors = [] }: Operation): ErrorCode[] {
	const codes = new Set<ErrorCode>(['unauthorized', 'forbidden', 'rate_limited', 'internal', ...errors]);
	if (query ?? body ?? otherBodies) codes.add('invalid_input');
	if (body ?? otherBodies) for (const code of ['too_large', 'unsupported_media_type'] as const) codes.add(code);
	if (path.includes('{')) codes.add('not_found');
	if (method !== 'get') for (const code of ['storage_full', 'unavailable'] as const) codes.add(code);
	return [...codes];
}

/** A success with a JSON body. */
export function ok(description: string, status: Success['status'] = 200): Success[] {
	return [{ status, description }];
}

/** A success without a body. */
export const DONE: readonly Success[] = [{ status: 204, description: 'Done.' }];

/** Server-sent events. */
export function events(description: string): Success {
	return { status: 200, description, type: 'text/event-stream' };
}
