/** Reads the errors of model servers, in all the shapes they have, and tells which of ours each one is. */
import type { ModelErrorCode } from '../../agent/model.ts';
import { makeFault, type ErrorContext, type Fault } from './faults.ts';
import { asNumber, asObject, asText, isObject, parseJson, type JsonObject } from '../../../shared/json.ts';
import { parseRetryAfterMs } from './retry.ts';

/** The facts of an error body or frame, whichever of the known shapes it has. */
export interface ErrorDetail {
	/** `error_type ?? metadata.error_type ?? code ?? type`, where it is a word. */
	kind?: string;
	status?: number;
	message?: string;
	retryAfterMs?: number;
	otherModels: string[];
}

const CODE_BY_KIND = new Map<string, ModelErrorCode>(
	Object.entries({
		unauthorized: ['authentication', 'authentication_error', 'invalid_api_key', 'unauthorized', 'permission_denied'],
		insufficient_credits: ['payment_required', 'insufficient_credits', 'insufficient_quota', 'billing_error'],
		moderation: ['content_policy_violation', 'content_filter', 'moderation', 'refusal'],
		model_not_found: ['not_found', 'not_found_error', 'model_not_found'],
		context_length_exceeded: [
			'context_length_exceeded',
			'exceed_context_size_error',
			'max_tokens_exceeded',
			'token_limit_exceeded',
			'string_too_long',
			'string_above_max_length',
			'payload_too_large',
			'request_too_large'
		],
		rate_limited: ['rate_limit_exceeded', 'rate_limit_error', 'rate_limited', 'too_many_requests']
	} satisfies Partial<Record<ModelErrorCode, string[]>>).flatMap(([code, kinds]) =>
		kinds.map((kind) => [kind, code as ModelErrorCode] as const)
	)
);

const CODE_BY_STATUS = new Map<number, ModelErrorCode>([
	[401, 'unauthorized'],
	[402, 'insufficient_credits'],
	[403, 'moderation'],
	[404, 'model_not_found'],
	[413, 'context_length_exceeded'],
	[429, 'rate_limited']
]);

/** Failures of the provider that pass by themselves. */
const PASSING_KINDS = new Set([
	'server',
	'server_error',
	'internal_server_error',
	'internal_error',
	'api_error',
	'overloaded',
	'overloaded_error',
	'provider_overloaded',
	'provider_unavailable',
	'unavailable_error',
	'timeout'
]);

/** Servers that have no code for it say it in words. */
const TOO_LONG = /context (length|window|size)|maximum context|too many tokens|prompt is too long/i;

/** Reads an error out of any of the shapes of MODEL-WIRE "Errors". */
export function readErrorDetail(payload: unknown): ErrorDetail {
	const outer = asObject(payload);
	const response = asObject(outer.response);
	const given = response.error ?? outer.error ?? outer.detail;
	const error: JsonObject = isObject(given) ? given : isObject(outer.response) ? {} : outer;
	const metadata = asObject(error.metadata ?? outer.metadata);
	const code = error.code ?? outer.code;
	const kinds = [
		response.error_type,
		outer.error_type,
		error.error_type,
		metadata.error_type,
		code,
		error.type === 'error' || error === outer ? undefined : error.type
	];
	const availability = asObject(error.availability ?? outer.availability);
	const models = Array.isArray(availability.fallback_models) ? availability.fallback_models : [];
	return {
		kind: kinds.map(asText).find((kind) => kind !== undefined && !/^\d+$/.test(kind)),
		status: statusOf(code) ?? statusOf(error.status),
		message: messageOf(asText(error.message) ?? asText(given), metadata),
		retryAfterMs: parseRetryAfterMs(availability.retry_after ?? metadata.retry_after),
		otherModels: models.filter((model) => typeof model === 'string').slice(0, 3)
	};
}

/** The fault that a detail describes; `http` is what the response itself said. */
export function faultOf(
	detail: ErrorDetail,
	context: ErrorContext,
	http: { status?: number; retryAfter?: string | null } = {}
): Fault {
	const status = http.status ?? detail.status;
	const code = codeOf(detail, status);
	const retryAfterMs = maximum(parseRetryAfterMs(http.retryAfter), detail.retryAfterMs);
	const isPassing =
		status === 408 || status === 409 || (status !== undefined && status >= 500) || PASSING_KINDS.has(detail.kind ?? '');
	return makeFault(code, context, {
		status,
		retryAfterMs,
		said: detail.message,
		otherModels: detail.otherModels,
		isRetryable: code === 'rate_limited' || (code === 'provider_error' && isPassing)
	});
}

function codeOf(detail: ErrorDetail, status: number | undefined): ModelErrorCode {
	const byKind = CODE_BY_KIND.get(detail.kind ?? '');
	if (byKind) return byKind;
	const mayBeTooLong = status === undefined || status === 400 || status === 422 || status >= 500;
	if (mayBeTooLong && detail.message && TOO_LONG.test(detail.message)) return 'context_length_exceeded';
	return CODE_BY_STATUS.get(status ?? 0) ?? 'provider_error';
}

function statusOf(code: unknown): number | undefined {
	const status = asNumber(typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code);
	return status !== undefined && Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined;
}

/** OpenRouter's own message is often only "Provider returned error"; what the provider said is in `raw`. */
function messageOf(message: string | undefined, metadata: JsonObject): string | undefined {
	const raw = typeof metadata.raw === 'string' ? (parseJson(metadata.raw) ?? metadata.raw) : metadata.raw;
	const inner = asObject(asObject(raw).error);
	const reason = asText(raw) ?? asText(inner.message) ?? asText(asObject(raw).message);
	if (!reason || message?.includes(reason)) return message;
	return message ? `${message}: ${reason}` : reason;
}

function maximum(a: number | undefined, b: number | undefined): number | undefined {
	if (a === undefined || b === undefined) return a ?? b;
	return Math.max(a, b);
}
