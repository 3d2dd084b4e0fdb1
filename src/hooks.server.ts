import type { Handle, HandleServerError, ServerInit } from '@sveltejs/kit';
import { AppError } from '$lib/shared/errors.ts';
import { createApp, type App } from '$lib/server/app.ts';
import { loadConfig } from '$lib/server/config.ts';
import { checkDoor } from '$lib/server/doors.ts';
import { errorResponse } from '$lib/server/http.ts';

// The development server loads this module anew after a change; the old app must let go of its files first.
const kept = globalThis as typeof globalThis & { openrouterSkills?: Promise<App> | undefined };

export const init: ServerInit = async () => {
	const old = kept.openrouterSkills;
	kept.openrouterSkills = (async () => {
		await (await old?.catch(() => undefined))?.close();
		return createApp(loadConfig(process.env));
	})();
	if (!old) process.on('sveltekit:shutdown', shutDown);
	await kept.openrouterSkills;
};

/** `server.js` waits for what it is given here: runs get their time and their last event, and scripts are ended. */
function shutDown(reason: string, waitFor?: (work: Promise<void>) => void): void {
	const closing = kept.openrouterSkills?.then(async (app) => {
		// Asked again, by somebody who does not want to wait: the first call goes on from here.
		if (reason === 'now') return app.runner.close();
		await app.runner.close(app.config.shutdownTimeoutMs);
		await app.close();
	});
	if (closing) waitFor?.(closing);
}

export const handle: Handle = async ({ event, resolve }) => {
	try {
		checkDoor({ method: event.request.method, path: event.url.pathname, headers: event.request.headers });
	} catch (error) {
		return errorResponse(error);
	}
	const app = await kept.openrouterSkills;
	if (!app) throw new Error('the app was not created');
	event.locals.app = app;
	if (event.url.pathname.startsWith('/api/') && event.route.id === null) {
		return errorResponse(new AppError('not_found', `There is no ${event.url.pathname}.`));
	}
	const response = await resolve(event);
	response.headers.set('x-content-type-options', 'nosniff');
	response.headers.set('referrer-policy', 'no-referrer');
	return response;
};

export const handleError: HandleServerError = ({ error, event, status }) => {
	if (status !== 404) process.stderr.write(`${JSON.stringify({ path: event.url.pathname, error: String(error) })}\n`);
	return { message: status === 404 ? 'There is no such page.' : 'Something went wrong in the server.' };
};
