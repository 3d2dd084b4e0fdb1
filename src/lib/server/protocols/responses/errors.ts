/** Errors of the Responses API: `{error: {message, type, code, param}}` with a status (F12). */
import { AppError, type ErrorCode } from '../../../shared/errors.ts';

export interface ApiErrorBody {
	error: { message: string; type: string; code: string | null; param: string | null };
}

/** A refused request or a failed response. */
export class ApiError extends Error {
	override readonly name = 'ApiError';
	readonly status: number;
	readonly code: string | null;
	/** The wrong parameter, like `input[0].content`. */
	readonly param: string | null;

	constructor(
		status: number,
		message: string,
		{ code = null, param = null, cause }: { code?: string | null; param?: string | null; cause?: unknown } = {}
	) {
		super(message, { cause });
		this.status = status;
		this.code = code;
		this.param = param;
	}

	/** OpenAI's error types. */
	get type(): string {
		if (this.status === 401) return 'authentication_error';
		if (this.status === 403) return 'permission_error';
		if (this.status === 429) return 'rate_limit_error';
		return this.status < 500 ? 'invalid_request_error' : 'server_error';
	}

	toBody(): ApiErrorBody {
		const { message, type, code, param } = this;
		return { error: { message, type, code, param } };
	}
}

const CODES: Partial<Record<ErrorCode, string>> = {
	invalid_input: 'invalid_value',
	unauthorized: 'invalid_api_key',
	rate_limited: 'rate_limit_exceeded',
	internal: 'server_error'
};

/** A 400 about one parameter. */
export function badParameter(param: string, message: string, code = 'invalid_value'): ApiError {
	return new ApiError(400, message, { code, param });
}

export function missing(param: string): ApiError {
	return badParameter(param, `Missing required parameter: '${param}'.`, 'missing_required_parameter');
}

/** Converts any error to an ApiError. Hides the message of an unexpected one. */
export function toApiError(error: unknown): ApiError {
	if (error instanceof ApiError) return error;
	if (!(error instanceof AppError)) {
		return new ApiError(500, 'Something went wrong on the server. See its log for details.', { code: 'server_error' });
	}
	const { code, status, message, hint, details } = error;
	const field = (details as { field?: unknown } | undefined)?.field;
	return new ApiError(status, hint === undefined ? message : `${message} ${hint}`, {
		code: CODES[code] ?? code,
		param: typeof field === 'string' && field !== 'body' ? field : null,
		cause: error
	});
}

/** Status and code by a run's error. `unauthorized` is 502, because it's about our key for the model's server. */
const OUTCOMES: Record<string, { status: number; code: string }> = {
	unauthorized: { status: 502, code: 'upstream_unauthorized' },
	insufficient_credits: { status: 402, code: 'insufficient_credits' },
	moderation: { status: 400, code: 'content_filter' },
	model_not_found: { status: 404, code: 'model_not_found' },
	context_length_exceeded: { status: 400, code: 'context_length_exceeded' },
	rate_limited: { status: 429, code: 'rate_limit_exceeded' },
	timeout: { status: 504, code: 'timeout' },
	internal: { status: 500, code: 'server_error' },
	repeated_call: { status: 500, code: 'repeated_call' },
	interrupted: { status: 503, code: 'interrupted' }
};

/** Converts a run's error (`RUN_ERROR`). */
export function runFailure(code: string | undefined, message: string): ApiError {
	// Accepts an API code as well, so a converted failure can be converted again.
	const known = Object.values(OUTCOMES).find((each) => each.code === code);
	const outcome = known ?? OUTCOMES[code ?? 'internal'] ?? { status: 502, code: code ?? 'server_error' };
	return new ApiError(outcome.status, message, {
		code: outcome.code,
		param: outcome.code === 'model_not_found' ? 'model' : null
	});
}
