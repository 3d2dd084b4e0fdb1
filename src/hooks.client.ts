import type { HandleClientError } from '@sveltejs/kit';

/** Errors of page code that didn't load: another server version has other files, and offline there are none. */
const missing = new WeakSet<Error>();
addEventListener('vite:preloadError', ({ payload }) => missing.add(payload));

/** The error page shows these; a missing address isn't logged. */
export const handleError: HandleClientError = ({ error, status, message }) => {
	const isMissingPart = error instanceof Error && missing.has(error);
	if (status >= 500 && !isMissingPart) console.error(error);
	return { message, isMissingPart };
};
