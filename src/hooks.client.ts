import type { HandleClientError } from '@sveltejs/kit';

/** The error page says what is to be said; an address that does not exist is nobody's error. */
export const handleError: HandleClientError = ({ error, status, message }) => {
	if (status >= 500) console.error(error);
	return { message };
};
