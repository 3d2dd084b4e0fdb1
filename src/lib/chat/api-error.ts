/** A request that failed, in words for people: the server's own where it said some. */
import type { ErrorBody, ErrorCode } from '../shared/errors.ts';

/** `unreachable`: no answer at all, so the request may or may not have been carried out. */
export type ApiErrorCode = ErrorCode | 'unreachable';

export class ApiError extends Error {
	override readonly name = 'ApiError';
	readonly code: ApiErrorCode;
	readonly hint: string | undefined;
	/** What it says beside, to be read by programs. */
	readonly details: unknown;

	constructor(
		code: ApiErrorCode,
		message: string,
		options: { hint?: string; details?: unknown; cause?: unknown } = {}
	) {
		super(message, { cause: options.cause });
		this.code = code;
		this.hint = options.hint;
		this.details = options.details;
	}
}

export function unreachable(cause?: unknown): ApiError {
	return new ApiError('unreachable', 'The server did not answer.', {
		hint: 'Check that it is still running, then try again.',
		cause
	});
}

/** Reads the body of a failed request; anything that is not ours (a proxy's page, say) becomes a sentence with the status. */
export function errorFromBody(status: number, text: string): ApiError {
	const error = parseError(text);
	if (!error) return new ApiError('internal', `The server answered with status ${status}.`);
	const { code, message, hint, details } = error;
	return new ApiError(code, message, hint === undefined ? { details } : { hint, details });
}

/** What to send as `approve` with the same request, to allow this once what it would run; null where that allows nothing. */
export function digestToAllow({ details }: { details?: unknown }): string | null {
	const { error, digest } = (details ?? {}) as { error?: unknown; digest?: unknown };
	const canBeAllowed = error === 'ApprovalRequired' || error === 'MissingSecret';
	return canBeAllowed && typeof digest === 'string' ? digest : null;
}

/** Any failure as an `ApiError`, for the places that show one. */
export function asApiError(error: unknown): ApiError {
	return error instanceof ApiError ? error : new ApiError('internal', String(error), { cause: error });
}

function parseError(text: string): ErrorBody['error'] | null {
	try {
		const body = JSON.parse(text) as Partial<ErrorBody> | null;
		return typeof body?.error?.message === 'string' ? body.error : null;
	} catch {
		return null;
	}
}
