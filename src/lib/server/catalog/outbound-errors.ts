/** What the status of a catalog's answer means for whoever wants to install something. */
import { AppError } from '../../shared/errors.ts';
import type { SafeResponse } from '../network/safe-fetch.ts';

type Answer = Pick<SafeResponse, 'status' | 'headers' | 'body'>;

/** For an answer that is not 200. */
export function refusalOf(
	answer: Answer,
	{ service, what, hintIfMissing }: { service: string; what: string; hintIfMissing?: string },
	url: URL
): AppError {
	const { status } = answer;
	if (isRateLimit(answer)) return rateLimit(answer, service);
	// 409 is GitHub's answer for a repository without a commit, 422 for a name that means none.
	if (status === 404 || status === 410 || status === 409 || status === 422) {
		return new AppError('not_found', `${service} has no ${what}.`, { hint: hintIfMissing, details: { status } });
	}
	if (status === 401 || status === 403) {
		return new AppError('forbidden', `${service} does not show ${what} to us.`, {
			hint: `It answered with status ${status}. Is a key set for ${url.host}, and may it see this?`,
			details: { status }
		});
	}
	return new AppError('unavailable', `${service} answered with status ${status}.`, {
		hint: status >= 500 ? 'Try again later.' : 'Try again; if it stays so, its interface has changed.',
		details: { status }
	});
}

function isRateLimit({ status, headers }: Answer): boolean {
	const isExhausted = headers['x-ratelimit-remaining'] === '0' || headers['retry-after'] !== undefined;
	return status === 429 || (status === 403 && isExhausted);
}

function rateLimit({ headers }: Answer, service: string): AppError {
	const until = resetOf(headers);
	const when = until ? `again from ${until.toISOString()}` : 'again later';
	const key = service === 'GitHub' ? ' With GITHUB_TOKEN set, GitHub allows more.' : '';
	return new AppError('unavailable', `${service} takes no more requests for now; it does ${when}.`, {
		hint: `Try again then.${key}`,
		details: { status: 429, ...(until ? { retryAt: until.toISOString() } : {}) }
	});
}

/** `retry-after` in seconds or as a date, else `x-ratelimit-reset` in seconds since 1970. */
function resetOf(headers: Answer['headers']): Date | null {
	const after = headers['retry-after'];
	const reset = Number(headers['x-ratelimit-reset']);
	const seconds = Number(after);
	const time =
		after === undefined ? reset * 1000 : Number.isFinite(seconds) ? Date.now() + seconds * 1000 : Date.parse(after);
	// A date that is none, or beyond what a date can be.
	return Number.isFinite(time) && time > 0 && time < 8.64e15 ? new Date(time) : null;
}
