/** Errors that a caller can act on: a code, a sentence, perhaps a hint. One table maps a code to its HTTP status. */

export const STATUS_BY_CODE = {
	invalid_input: 400,
	unauthorized: 401,
	forbidden: 403,
	not_found: 404,
	method_not_allowed: 405,
	conflict: 409,
	too_large: 413,
	unsupported_media_type: 415,
	rate_limited: 429,
	internal: 500,
	storage_full: 507,
	unavailable: 503
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof STATUS_BY_CODE;

/** The JSON body of every failed request (DESIGN §5). */
export interface ErrorBody {
	error: { code: ErrorCode; message: string; hint?: string; details?: unknown };
}

/** Expected failure: `message` says what happened, to what, and what to do. */
export class AppError extends Error {
	override readonly name = 'AppError';
	readonly code: ErrorCode;
	readonly hint: string | undefined;
	readonly details: unknown;

	constructor(code: ErrorCode, message: string, options: { cause?: unknown; hint?: string; details?: unknown } = {}) {
		super(message, { cause: options.cause });
		this.code = code;
		this.hint = options.hint;
		this.details = options.details;
	}

	get status(): number {
		return STATUS_BY_CODE[this.code];
	}

	toBody(): ErrorBody {
		return {
			error: {
				code: this.code,
				message: this.message,
				...(this.hint === undefined ? {} : { hint: this.hint }),
				...(this.details === undefined ? {} : { details: this.details })
			}
		};
	}
}
