/** Why a model's server has not answered what was asked of it beside answers: a sentence, and what to do. */
import { BodyTooLargeError } from './connection.ts';
import { makeFault, type ErrorContext } from './faults.ts';
import { networkFault } from './network-faults.ts';
import { StatusError } from './openrouter.ts';

export interface ProblemContext {
	baseUrl: string;
	hasKey: boolean;
	timeoutMs: number;
}

/** Holds nothing of what the server said, nor of the key. */
export function problemOf(error: unknown, { baseUrl, hasKey, timeoutMs }: ProblemContext): string {
	const context: ErrorContext = { model: 'any model', host: URL.parse(baseUrl)?.host ?? 'The server', hasKey };
	if (error instanceof StatusError) return statusProblem(error.status, context);
	if (!isOfNetwork(error)) {
		return `${context.host} answered with something else than was asked for. Check the base URL: its server must speak the Responses API.`;
	}
	const facts = { ...context, idleTimeoutMs: timeoutMs, hasAnswered: false, hasShown: false };
	return networkFault(error, facts).error.message;
}

function statusProblem(status: number, context: ErrorContext): string {
	const { host, hasKey } = context;
	switch (status) {
		case 401:
			return makeFault('unauthorized', context, { status }).error.message;
		case 402:
			return `The account at ${host} has no credits left (402). Add credits there, or choose a free model.`;
		case 403:
			return hasKey
				? `${host} does not let this key ask that (403). Look at the key’s limits there, or make a new one.`
				: `${host} refuses to answer without a key (403).`;
		case 404:
			return `${host} has no list of models at this address (404). Check the base URL.`;
		case 429:
			return `${host} takes no more requests now (429). Wait a little, and try again.`;
		default:
			return status >= 500
				? `${host} failed (${status}). Try again in a moment.`
				: `${host} did not accept the request (${status}). Check the base URL.`;
	}
}

/** What `fetch` and our own limits throw. */
function isOfNetwork(error: unknown): boolean {
	const name = error instanceof Error ? error.name : '';
	return name === 'Interruption' || name === 'TypeError' || error instanceof BodyTooLargeError || hasCode(error);
}

function hasCode(error: unknown): boolean {
	return error instanceof Error && ('code' in error || error.cause instanceof Error);
}
