import type { HandleClientError } from '@sveltejs/kit';

/** Why code of the page did not come: another version of the server has other files, and without a network there are none. */
const missing = new WeakSet<Error>();
addEventListener('vite:preloadError', ({ payload }) => missing.add(payload));

/** The error page says what is to be said; an address that does not exist is nobody's error. */
export const handleError: HandleClientError = ({ error, status, message }) => {
	const isMissingPart = error instanceof Error && missing.has(error);
	if (status >= 500 && !isMissingPart) console.error(error);
	return { message, isMissingPart };
};
