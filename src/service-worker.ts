/// <reference types="@sveltejs/kit" />
/// <reference lib="esnext" />
/// <reference lib="webworker" />
/**
 * Makes the page installable: caches this build's files and shows an offline page while the server is unreachable. API answers
 * are never cached and pages always come from the server, so a new version appears at once. Content shared by other apps waits
 * here for the page; it isn't sent to any server until the user continues with it.
 */
import { build, files, version } from '$service-worker';
import { SHARED_CACHE } from './lib/shared/names.ts';

const worker = self as unknown as ServiceWorkerGlobalScope;

const CACHE = `app-${version}`;
const OFFLINE = '/offline.html';
/** For the offline page and the first paint; the rest of the build is cached on first use. */
const SHELL = files.filter((path) => /^\/(offline\.|start\.js|favicon)/.test(path));
const BUILD = new Set(build);
const SHELL_PATHS = new Set(SHELL);
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
	// These names contain a hash, so the cached file is the same as the server's.
	if (BUILD.has(pathname)) event.respondWith(fromCache(request));
	else if (request.mode === 'navigate') event.respondWith(page(event));
	else if (SHELL_PATHS.has(pathname)) event.respondWith(fromServer(request));
});

/** A form on another site can post here too. So nothing is sent anywhere, and nothing is kept if the origin says it's foreign. */
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
		// Not a form, or more than the browser has room for: the page reports that nothing arrived.
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

/** Deletes the caches of other versions and leftovers in this one. */
async function removeOld(): Promise<void> {
	for (const name of await caches.keys()) if (name !== CACHE && name !== SHARED_CACHE) await caches.delete(name);
	const cache = await caches.open(CACHE);
	for (const { url } of await cache.keys()) {
		const { pathname } = new URL(url);
		if (!BUILD.has(pathname) && !SHELL_PATHS.has(pathname)) await cache.delete(url);
	}
}
