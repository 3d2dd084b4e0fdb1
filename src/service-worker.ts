/// <reference types="@sveltejs/kit" />
/// <reference lib="esnext" />
/// <reference lib="webworker" />
/**
 * Makes the page an app that can be installed: keeps the files of this build, and shows a page of its own while the server is
 * not reachable. Answers of the API are never kept, and pages always come from the server: a new version is there at once.
 * What other apps share waits here for the page: it reaches no server before somebody goes on with it.
 */
import { build, files, version } from '$service-worker';
import { SHARED_CACHE } from './lib/shared/names.ts';

const worker = self as unknown as ServiceWorkerGlobalScope;

const CACHE = `app-${version}`;
const OFFLINE = '/offline.html';
/** What the offline page and a first paint need; the rest of the build is kept when it is first used. */
const SHELL = files.filter((path) => /^\/(offline\.|start\.js|favicon)/.test(path));
const BUILD = new Set(build);
const SHELL_PATHS = new Set(SHELL);
/** As in the manifest. */
const SHARE = '/share';

worker.addEventListener('install', (event) => {
	event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(SHELL)));
});

worker.addEventListener('activate', (event) => {
	event.waitUntil(Promise.all([removeOld(), worker.registration.navigationPreload?.enable()]));
});

worker.addEventListener('fetch', (event) => {
	const { request } = event;
	const { origin, pathname } = new URL(request.url);
	if (request.method === 'POST' && pathname === SHARE) return event.respondWith(keepShared(request));
	if (request.method !== 'GET' || origin !== worker.location.origin || pathname.startsWith('/api/')) return;
	// The names of these have a digest in them: what is kept is what the server would send.
	if (BUILD.has(pathname)) event.respondWith(fromCache(request));
	else if (request.mode === 'navigate') event.respondWith(page(event));
	else if (SHELL_PATHS.has(pathname)) event.respondWith(fromServer(request));
});

/**
 * A form of another site can come here, too. So nothing of it is sent anywhere: it stands in the message box until somebody
 * uses that, or not even there where the site says its name.
 */
async function keepShared(request: Request): Promise<Response> {
	const from = request.headers.get('origin') ?? 'null';
	if (from !== 'null' && from !== worker.location.origin) return Response.redirect('/', 303);
	await caches.delete(SHARED_CACHE);
	try {
		const form = await request.formData();
		const cache = await caches.open(SHARED_CACHE);
		const words = ['title', 'text', 'url'].map((field) => form.get(field)).filter((value) => typeof value === 'string');
		await cache.put(SHARE, new Response([...new Set(words)].filter(Boolean).join('\n')));
		const shared = form.getAll('files').filter((value) => value instanceof File && value.name !== '') as File[];
		for (const [index, file] of shared.entries()) {
			await cache.put(`${SHARE}/${index}?name=${encodeURIComponent(file.name)}`, new Response(file));
		}
	} catch (error) {
		// No form, or more than the browser has room for: the page says that it did not arrive.
		await caches.delete(SHARED_CACHE);
		console.error(error);
	}
	return Response.redirect('/?shared=1', 303);
}

async function fromCache(request: Request): Promise<Response> {
	const cache = await caches.open(CACHE);
	const kept = await cache.match(request.url);
	if (kept) return kept;
	const response = await fetch(request);
	if (response.status === 200) await cache.put(request.url, response.clone());
	return response;
}

async function fromServer(request: Request): Promise<Response> {
	try {
		return await fetch(request);
	} catch (error) {
		const kept = await caches.match(request.url);
		if (kept) return kept;
		throw error;
	}
}

async function page(event: FetchEvent): Promise<Response> {
	try {
		const early = (await event.preloadResponse) as Response | undefined;
		return early ?? (await fetch(event.request));
	} catch (error) {
		const offline = await caches.match(OFFLINE);
		if (offline) return offline;
		throw error;
	}
}

/** Other versions, and of this one what is no part of it any more. */
async function removeOld(): Promise<void> {
	for (const name of await caches.keys()) if (name !== CACHE && name !== SHARED_CACHE) await caches.delete(name);
	const cache = await caches.open(CACHE);
	for (const { url } of await cache.keys()) {
		const { pathname } = new URL(url);
		if (!BUILD.has(pathname) && !SHELL_PATHS.has(pathname)) await cache.delete(url);
	}
}
