/** What it means when a request, or the reading of its answer, throws. */
import { BodyTooLargeError, Interruption } from './connection.ts';
import { makeFault, type ErrorContext, type Fault } from './faults.ts';
import { FrameTooLargeError } from './sse.ts';

export interface NetworkContext extends ErrorContext {
	idleTimeoutMs: number;
	/** Whether the server had begun to answer. */
	hasAnswered: boolean;
	/** Whether people have seen any of it. */
	hasShown: boolean;
}

/** Broken or refused connections that may work a moment later. */
const PASSING = new Set([
	'ECONNREFUSED',
	'ECONNRESET',
	'ECONNABORTED',
	'EPIPE',
	'ETIMEDOUT',
	'EHOSTUNREACH',
	'ENETUNREACH',
	'EAI_AGAIN',
	'UND_ERR_SOCKET',
	'UND_ERR_CONNECT_TIMEOUT'
]);

/** Never quotes the error's own text: `fetch` puts header values into it. */
export function networkFault(error: unknown, context: NetworkContext): Fault {
	if (error instanceof Interruption && error.reason === 'aborted') return makeFault('aborted', context);
	const code = systemCodeOf(error);
	if (error instanceof Interruption || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
		const seconds = Math.ceil(context.idleTimeoutMs / 1000);
		return makeFault('timeout', context, {
			summary: `${context.host} sent nothing for ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
			advice: 'Try again; if the model is slow to start, wait until it is loaded, or choose another one.'
		});
	}
	if (error instanceof FrameTooLargeError || error instanceof BodyTooLargeError) {
		return makeFault('provider_error', context, { summary: `${context.host} sent more than can be read.` });
	}
	if (context.hasAnswered) {
		return makeFault('stream_truncated', context, {
			summary: `The connection to ${context.host} broke before the answer's end${inBrackets(code)}.`,
			advice: context.hasShown ? undefined : 'Try again, or choose another model.',
			isRetryable: true
		});
	}
	return makeFault('unreachable', context, {
		summary: `${context.host} could not be reached${inBrackets(code)}.`,
		isRetryable: code !== undefined && PASSING.has(code)
	});
}

/** The system's code of an error, or of what caused it. */
function systemCodeOf(error: unknown): string | undefined {
	for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
		if ('code' in cause && typeof cause.code === 'string') return cause.code;
	}
	return undefined;
}

/** Codes of the system can be looked up; those of the HTTP client say nothing to anybody. */
function inBrackets(code: string | undefined): string {
	return code === undefined || code.startsWith('UND_') ? '' : ` (${code})`;
}
