/** What is under way, for log lines and spans: the request, the run and the span, across all that they wait for. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

/** As in OpenTelemetry. */
export interface SpanPlace {
	/** 32 hexadecimal digits. */
	traceId: string;
	/** 16 hexadecimal digits. */
	spanId: string;
	/** 1: it is recorded. */
	traceFlags: number;
	/** It is the caller’s. */
	isRemote?: boolean;
}

export interface Scope {
	requestId?: string;
	runId?: string;
	/** The span whose children others become. */
	span?: SpanPlace;
	/** The model’s server may be told of the span. */
	isModelRequest?: boolean;
}

export interface Scopes {
	current(): Scope;
	/** Runs it with these facts added. */
	run<Result>(facts: Scope, work: () => Result): Result;
	/** Runs it without any: what it starts belongs to nothing that is under way. */
	apart<Result>(work: () => Result): Result;
	/** Takes each event with these facts added. */
	within<Event>(facts: Scope, events: AsyncIterable<Event>): AsyncIterable<Event>;
}

export function createScopes(): Scopes {
	const storage = new AsyncLocalStorage<Scope>();
	const none: Scope = {};
	const current = () => storage.getStore() ?? none;
	const run = <Result>(facts: Scope, work: () => Result) => storage.run({ ...current(), ...facts }, work);
	return {
		current,
		run,
		apart: (work) => storage.run(none, work),
		within(facts, events) {
			const scope = { ...current(), ...facts };
			return {
				[Symbol.asyncIterator]() {
					const iterator = events[Symbol.asyncIterator]();
					const next = () => iterator.next();
					const end = async () => (await iterator.return?.()) ?? { done: true as const, value: undefined };
					// Only what is called in a scope is in it, and a generator goes on in the one of each call.
					return { next: () => storage.run(scope, next), return: () => storage.run(scope, end) };
				}
			};
		}
	};
}

const REQUEST_ID = /^[\w.:@/+=-]{1,128}$/;

/** The id that a proxy or a client gave the request, if it is well-formed, else a new one. */
export function requestIdOf(given: string | null): string {
	return given !== null && REQUEST_ID.test(given) ? given : randomUUID();
}

/** Reads a `traceparent` (W3C Trace Context); undefined if it isn’t valid. */
export function readTraceparent(header: string | null): SpanPlace | undefined {
	const match = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(
		header?.trim() ?? ''
	);
	const [, version, traceId, spanId, flags, more] = match ?? [];
	if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
	// Later versions may add to it, the first one can’t.
	if (version === '00' && more !== undefined) return undefined;
	return { traceId, spanId, traceFlags: parseInt(flags, 16) & 1, isRemote: true };
}

export function traceparentOf({ traceId, spanId, traceFlags }: SpanPlace): string {
	return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
