/** Converts failures of a model server to messages for people: what happened, what to do, and when to try again. */
import { parseRetryAfterMs } from '../../../shared/errors.ts';
import { plainLine } from '../../../shared/characters.ts';
import { UNREACHABLE } from '../../../shared/errors.ts';
import type { ModelError, ModelErrorCode } from '../../agent/model.ts';
import { StatusError } from '../openrouter.ts';
import { BodyTooLargeError, FrameTooLargeError, Interruption } from './connection.ts';
import { asModelId } from '../../../shared/names.ts';
import { asNumber, asObject, asText, isObject, parseJson, type JsonObject } from '../../../shared/json.ts';
import { setTimeout as delay } from 'node:timers/promises';

export interface ErrorContext {
	model: string;
	/** Host and port; never the whole URL. */
	host: string;
	hasKey: boolean;
}

export interface Fault {
	error: ModelError;
	/** The message without the advice. */
	summary: string;
	isRetryable: boolean;
}

export interface FaultFacts {
	status?: number;
	retryAfterMs?: number;
	/** The server's own message. */
	said?: string;
	fallbacks?: string[];
	isRetryable?: boolean;
	/** Replaces the code's usual sentence. */
	summary?: string;
	advice?: string;
}

export function makeFault(code: ModelErrorCode, context: ErrorContext, facts: FaultFacts = {}): Fault {
	const [usualSummary, usualAdvice] = sentences(code, context, facts.status);
	const summary = facts.summary ?? usualSummary;
	const said = facts.said ? `It said: "${excerpt(facts.said)}".` : '';
	const others = facts.fallbacks?.length ? `Available now: ${excerpt(facts.fallbacks.join(', '))}.` : '';
	const { asked, advice } = waitOf(code, facts, usualAdvice);
	const message = [summary, said, asked, advice, others].filter((part) => part !== '').join(' ');
	const { status, retryAfterMs, fallbacks, isRetryable = false } = facts;
	return { error: { code, message, status, retryAfterMs, fallbacks }, summary, isRetryable };
}

/** Asks the person to wait if the server wants a longer wait than we do ourselves. */
function waitOf(code: ModelErrorCode, facts: FaultFacts, usual: string): { asked: string; advice: string } {
	const { retryAfterMs = 0, advice = usual } = facts;
	if (retryAfterMs <= MAX_RETRY_DELAY_MS) return { asked: '', advice };
	const asked = `Wait ${durationInWords(retryAfterMs)}.`;
	const isPassing = code === 'rate_limited' || code === 'provider_error';
	return { asked, advice: isPassing ? 'Then try again, or choose another model.' : advice };
}

/** Rounded up, in the largest unit with a value of at least 2. */
function durationInWords(ms: number): string {
	const units = [
		['days', 86_400_000],
		['hours', 3_600_000],
		['minutes', 60_000]
	] as const;
	const [name, size] = units.find(([, unit]) => ms >= 2 * unit) ?? (['seconds', 1000] as const);
	return `${Math.ceil(ms / size)} ${name}`;
}

/** Shortens foreign text to one line, without markup, control and invisible characters. */
export function excerpt(text: string, maxLength = 300): string {
	const line = text
		.slice(0, 20_000)
		.replace(/<(style|script)\b.*?<\/\1>/gis, ' ')
		.replace(/<[^<>]*>/g, ' ');
	const shown = plainLine(line);
	return shown.length > maxLength ? `${shown.slice(0, maxLength).toWellFormed().trimEnd()}…` : shown;
}

function sentences(code: ModelErrorCode, context: ErrorContext, status?: number): [string, string] {
	const { model, host } = context;
	const by = status === undefined ? '' : ` (${status})`;
	switch (code) {
		case 'unauthorized':
			return context.hasKey
				? [`${host} rejected the API key${by}.`, 'Check the key in the settings, or OPENROUTER_API_KEY.']
				: [`${host} needs an API key${by}.`, 'Add one in the settings, or as OPENROUTER_API_KEY.'];
		case 'insufficient_credits':
			return [`Your account at ${host} has no credits left for ${model}${by}.`, 'Add credits, or choose a free model.'];
		case 'moderation':
			return [
				`${host} refused this request to ${model}${by}, because of moderation or a limit of your key.`,
				'Rephrase it, or choose another model.'
			];
		case 'model_not_found':
			return [
				`${host} couldn’t find ${model}${by}.`,
				'Choose another model, or check that the base URL is a server with the Responses API.'
			];
		case 'context_length_exceeded':
			return [
				`This conversation is too long for ${model}${by}.`,
				'Start a new conversation, or choose a model with a larger context.'
			];
		case 'rate_limited':
			return [`${host} has reached its request limit for ${model}${by}.`, 'Wait a moment, or choose another model.'];
		case 'provider_error':
			return status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 409
				? [`${host} rejected the request${by}.`, 'Choose another model, or check the base URL.']
				: [`The server of ${model} failed${by}.`, 'Try again, or choose another model.'];
		case 'timeout':
			return [`${host} stopped responding.`, 'Try again, or choose another model.'];
		case 'unreachable':
			return [
				`Couldn’t connect to ${host}.`,
				host === 'openrouter.ai'
					? 'Check your network, then try again.'
					: 'Check that the server is running, the base URL and your network.'
			];
		case 'stream_truncated':
			return ['The reply ended too early.', 'What arrived was saved. Try again.'];
		case 'empty_response':
			return [`${model} sent an empty reply.`, 'Try again, or choose another model.'];
		case 'aborted':
			return ['The reply was stopped.', 'Send a message to continue.'];
		default:
			return code satisfies never;
	}
}

export interface NetworkContext extends ErrorContext {
	idleTimeoutMs: number;
	/** Whether the response had started. */
	hasAnswered: boolean;
	/** Whether any of it was shown. */
	hasShown: boolean;
}

/** Connection errors that may go away. */
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

/** Converts an error thrown by a request. Never quotes its message, in which `fetch` puts header values. */
export function networkFault(error: unknown, context: NetworkContext): Fault {
	if (error instanceof Interruption && error.reason === 'aborted') return makeFault('aborted', context);
	const code = systemCodeOf(error);
	if (error instanceof Interruption || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
		const seconds = Math.ceil(context.idleTimeoutMs / 1000);
		return makeFault('timeout', context, {
			summary: `${context.host} didn’t respond for ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
			advice: 'Try again. If the model is still loading, wait, or choose another one.'
		});
	}
	if (error instanceof FrameTooLargeError || error instanceof BodyTooLargeError) {
		return makeFault('provider_error', context, { summary: `${context.host} sent too much data.` });
	}
	if (context.hasAnswered) {
		return makeFault('stream_truncated', context, {
			summary: `The connection to ${context.host} broke during the reply${inBrackets(code)}.`,
			advice: context.hasShown ? undefined : 'Try again, or choose another model.',
			isRetryable: true
		});
	}
	return makeFault('unreachable', context, {
		summary: `Couldn’t connect to ${context.host}${code && UNREACHABLE[code] ? `: ${UNREACHABLE[code]}` : inBrackets(code)}.`,
		isRetryable: code !== undefined && PASSING.has(code)
	});
}

/** The system error code, of the error or one of its causes. */
function systemCodeOf(error: unknown): string | undefined {
	for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
		if ('code' in cause && typeof cause.code === 'string') return cause.code;
	}
	return undefined;
}

/** Leaves out the HTTP client's codes, which nobody can look up. */
function inBrackets(code: string | undefined): string {
	return code === undefined || code.startsWith('UND_') ? '' : ` (${code})`;
}

export interface ProblemContext {
	baseUrl: string;
	hasKey: boolean;
	timeoutMs: number;
}

/** Message for a failed request other than a reply (models, key, sign-in). Quotes neither the server nor the key. */
export function problemOf(error: unknown, { baseUrl, hasKey, timeoutMs }: ProblemContext): string {
	const context: ErrorContext = { model: 'any model', host: URL.parse(baseUrl)?.host ?? 'The server', hasKey };
	if (error instanceof StatusError) return statusProblem(error.status, context);
	if (!isNetworkError(error)) {
		return `${context.host} sent an unexpected response. Check that the base URL is a server with the Responses API.`;
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
			return `Your account at ${host} has no credits left (402). Add credits there, or choose a free model.`;
		case 403:
			return hasKey
				? `${host} doesn’t let this key do that (403). Check the key’s limits there, or create a new key.`
				: `${host} needs an API key (403).`;
		case 404:
			return `${host} has no list of models at this address (404). Check the base URL.`;
		case 429:
			return `${host} has reached its request limit (429). Wait a moment and try again.`;
		default:
			return status >= 500
				? `${host} failed (${status}). Try again in a moment.`
				: `${host} rejected the request (${status}). Check the base URL.`;
	}
}

/** Thrown by `fetch` or by our own limits. */
function isNetworkError(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	const isKnown = error instanceof BodyTooLargeError || ['Interruption', 'TypeError'].includes(error.name);
	return isKnown || 'code' in error || error.cause instanceof Error;
}

interface ErrorDetail {
	/** `error_type ?? metadata.error_type ?? code ?? type`, if it isn't a number. */
	kind?: string;
	status?: number;
	message?: string;
	retryAfterMs?: number;
	fallbacks: string[];
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

/** Temporary failures of the provider. */
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

/** For servers that have no code for it. */
const TOO_LONG = /context (length|window|size)|maximum context|too many tokens|prompt is too long/i;

/** Parses an error body or event in any of the shapes that servers send. */
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
		fallbacks: models.filter((model) => typeof model === 'string' && asModelId(model) === model).slice(0, 3)
	};
}

/** `http`: the response's own status and header. */
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
		fallbacks: detail.fallbacks.length > 0 ? detail.fallbacks : undefined,
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

/** OpenRouter's message is often only "Provider returned error"; the provider's own is in `raw`. */
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

/** An incomplete call isn't run, so the turn can't continue. */
export function openCallFault(reason: string | null, context: ErrorContext): Fault {
	const why = reason === null ? '' : ` (${excerpt(reason)})`;
	return makeFault('stream_truncated', context, { summary: `${context.model} stopped in the middle of a call${why}.` });
}

/** Retryable, because nothing was shown. */
export function unbegunFault(context: ErrorContext): Fault {
	return makeFault('stream_truncated', context, {
		summary: `${context.host} ended the reply before it started.`,
		advice: 'Try again, or choose another model.',
		isRetryable: true
	});
}

export function foreignFault(head: string, context: ErrorContext): Fault {
	const isText = !/[\0\ufffd]/.test(head);
	return makeFault('provider_error', context, {
		summary: `${context.host} sent something that isn’t a response of the Responses API.`,
		said: isText ? head : undefined,
		advice: 'Check the base URL.'
	});
}

export function emptyFault(reason: string | null, context: ErrorContext): Fault {
	if (reason === 'content_filter') return makeFault('moderation', context);
	if (reason === null) return makeFault('empty_response', context);
	const summary = `${context.model} sent an empty reply (${excerpt(reason)}).`;
	return makeFault('empty_response', context, { summary });
}

// Retry delays: backoff with jitter, `Retry-After`, and an abortable wait.

/** We don't wait longer than this; the person learns how long it would take. */
export const MAX_RETRY_DELAY_MS = 30_000;

/**
 * Delay before retry number `attempt` (from 1): doubles each time up to `MAX_RETRY_DELAY_MS`, with a random factor
 * between 0.5 and 1. `random` returns [0, 1).
 */
export function backoffDelayMs(attempt: number, baseMs: number, random: () => number = Math.random): number {
	const full = Math.min(MAX_RETRY_DELAY_MS, baseMs * 2 ** (attempt - 1));
	return Math.round(full * (0.5 + random() / 2));
}

/** True after the delay; false at once if the signal aborts. */
export function wait(delayMs: number, signal: AbortSignal): Promise<boolean> {
	return delay(delayMs, true, { signal }).catch(() => false);
}
