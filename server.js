// Starts the app: builds it when needed, listens, says where, and stops cleanly.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));
/** For what is left to do when the runs have had their time: scripts get 2 s to clean up, then the database is closed. */
const END_MS = 5_000;
/** A second signal within this time is the same one. */
const AGAIN_MS = 1_000;
if (Number(process.versions.node.split('.')[0]) < 24) {
	console.error(`Node ${process.versions.node} is too old. Start with "npm start": it brings Node 24.`);
	process.exit(1);
}
if (existsSync('.env')) process.loadEnvFile('.env');

buildIfStale();

// Our own doors check host, origin and size; the adapter only has to take the request as it is.
process.env.BODY_SIZE_LIMIT = 'Infinity';
process.env.PROTOCOL_HEADER = 'x-app-protocol';
const { handler } = await import(new URL('build/handler.js', import.meta.url).href).catch((error) => {
	console.error(`The app could not start: ${error.message}`);
	process.exit(1);
});

const server = createServer((request, response) => {
	request.headers['x-app-protocol'] = 'http';
	// The adapter takes a request without a content type to have no body: an upload would become an empty file.
	request.headers['content-type'] ??= 'application/octet-stream';
	handler(request, response, () => {
		response.statusCode = 404;
		response.end('Not found');
	});
});
server.on('error', (error) => {
	const port = process.env.PORT || 3000;
	const isTaken = /** @type {NodeJS.ErrnoException} */ (error).code === 'EADDRINUSE';
	console.error(isTaken ? `Port ${port} is in use. Set PORT to another one, or stop what uses it.` : error.message);
	process.exit(1);
});
server.listen(Number(process.env.PORT || 3000), process.env.HOST || '127.0.0.1', () => void announce());

async function announce() {
	const address = /** @type {import('node:net').AddressInfo} */ (server.address());
	const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
	const url = `http://${host}:${address.port}`;
	const health = await fetch(`${url}/api/health`).then((response) => response.json());
	const { model, skills } = health;
	console.log(`Listening on ${url}`);
	console.log(
		`Model: ${model.offline ? 'built-in responder (no language model; set OPENROUTER_API_KEY for one)' : model.id}`
	);
	console.log(`Skills: ${skills.ready} ready${skills.broken ? `, ${skills.broken} broken` : ''}`);
}

/** @type {number | undefined} */
let stoppingSince;
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
	process.on(signal, () => void stop(signal));
}

/** Lets the runs end, then ends what they started and the connections; nothing is left that keeps the process alive. */
async function stop(/** @type {string} */ signal) {
	if (stoppingSince !== undefined) {
		// npm passes on the Ctrl+C that the terminal has sent already. Later than that somebody has waited long enough.
		if (performance.now() - stoppingSince > AGAIN_MS) emitShutdown('now');
		return;
	}
	stoppingSince = performance.now();
	setTimeout(() => process.exit(1), Number(process.env.SHUTDOWN_TIMEOUT_MS || 10_000) + END_MS).unref();
	// Requests are answered meanwhile: pages see their runs end, and new runs are refused with a reason.
	const work = emitShutdown(signal);
	for (const result of await Promise.allSettled(work)) {
		if (result.status === 'rejected') console.error(`Not everything could be ended cleanly: ${result.reason}`);
	}
	server.close();
	// The last events are still on their way to open pages.
	setTimeout(() => server.closeAllConnections(), 300);
}

/** Tells the app, and returns what is to be waited for. */
function emitShutdown(/** @type {string} */ reason) {
	/** @type {Promise<void>[]} */
	const work = [];
	const waitFor = (/** @type {Promise<void>} */ promise) => work.push(promise);
	process.emit(
		/** @type {never} */ ('sveltekit:shutdown'),
		/** @type {never} */ (reason),
		/** @type {never} */ (waitFor)
	);
	return work;
}

function buildIfStale() {
	const built = existsSync(`${root}build/handler.js`) ? statSync(`${root}build/handler.js`).mtimeMs : 0;
	const sources = ['src', 'static', 'package.json', 'svelte.config.js', 'vite.config.ts'];
	if (sources.every((source) => newest(`${root}${source}`) <= built)) return;
	console.log('Building the app; this takes a few seconds and happens after an update only …');
	const vite = `${root}node_modules/vite/bin/vite.js`;
	const { status, stdout, stderr } = spawnSync(process.execPath, [vite, 'build'], { cwd: root, encoding: 'utf8' });
	if (status === 0) return;
	// Bundlers talk a lot; a newcomer has to read it only when the build failed.
	console.error(`${stdout}\n${stderr}\nThe app could not be built; the lines above say why.`);
	process.exit(status ?? 1);
}

/** @param {string} path @returns {number} */
function newest(path) {
	const entry = statSync(path);
	if (!entry.isDirectory()) return entry.mtimeMs;
	return Math.max(0, ...readdirSync(path).map((name) => newest(`${path}/${name}`)));
}
