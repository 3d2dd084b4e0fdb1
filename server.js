// Starts the app: listens, says where, and stops cleanly. In a clone it builds first, when needed.
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import nodeModule from 'node:module';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** In the package, this file and its imports are bundled into dist/bin. */
const isClone = existsSync(new URL('src', import.meta.url));
const root = fileURLToPath(new URL(isClone ? '.' : '../..', import.meta.url));
/** For what is left to do when the runs have had their time: scripts get 2 s to clean up, then the database is closed. */
const END_MS = 5_000;
/**
 * Sockets that listen on the one port: of each, Node takes one connection in a turn of its loop, so that with a single
 * one newcomers wait for as many turns as there are others before them. Only Linux divides connections among several.
 */
const DOORS = process.platform === 'linux' ? 16 : 1;
/** A second signal within this time is the same one. */
const AGAIN_MS = 1_000;
/** Without PORT, the first free one of these is used. */
const PORTS = Array.from({ length: 10 }, (_, index) => 3000 + index);
if (Number(process.versions.node.split('.')[0]) < 24) {
	console.error(`Node ${process.versions.node} is too old. Start with "npm start": it brings Node 24.`);
	process.exit(1);
}
// Better than to start without what somebody asked for.
if (isClone && process.argv.length > 2) {
	console.error(
		`In a clone, settings stand in .env or before the command, as in “PORT=4000 npm start”: “${process.argv[2]}” isn’t known.`
	);
	process.exit(1);
}
// Wherever it is started from: .env, the data and the skills are the project's, and a path in a setting begins there.
process.chdir(root);
if (existsSync('.env')) process.loadEnvFile('.env');

// A quarter of the start is compiling, which need not be done each time.
nodeModule.enableCompileCache(`${root}node_modules/.cache/compiled`);

// Before anything else: a server that others would reach without a login must not even begin to listen.
const { loadConfig } = await import('./src/lib/server/config.ts');
const { securityHeaders } = await import('./src/lib/server/access/door.ts');
const { lingerAfter } = await import('./src/lib/server/linger.ts');
const { createLog, logUnexpected } = await import('./src/lib/server/log.ts');
const config = orExit(() => loadConfig(process.env));
const log = createLog(undefined, config.log);

if (isClone) await (await import('./scripts/build.ts')).buildIfStale();

// Our own doors check host, origin and size; the adapter only has to take the request as it is.
process.env.BODY_SIZE_LIMIT = 'Infinity';
process.env.PROTOCOL_HEADER = 'x-app-protocol';
// With these the adapter would believe what a client says of itself.
for (const name of ['ORIGIN', 'HOST_HEADER', 'PORT_HEADER', 'ADDRESS_HEADER'])
	Reflect.deleteProperty(process.env, name);
const { handler } = await import(pathToFileURL(`${root}build/handler.js`).href).catch((error) => {
	console.error(`Couldn’t start the app: ${error.message}`);
	process.exit(1);
});

/** Set here as well as by the app: the adapter serves files, and answers what it cannot read, before it asks the app. */
const headers = securityHeaders(config.publicOrigin);
const server = createServer(
	{
		maxHeaderSize: 16_384,
		// Refused all the same, but with our headers.
		requireHostHeader: false,
		// Who sends a head byte by byte only wants to keep a connection; an upload may take its time, but not for ever.
		headersTimeout: 10_000,
		requestTimeout: 3_600_000,
		connectionsCheckingInterval: 2_000,
		// Who would rather have HTTP/2 gets HTTP/1.1 as before.
		shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket'
	},
	(request, response) => void answer(request, response)
);
server.on('checkExpectation', (request, response) => void answer(request, response));
server.on('upgrade', (request, socket, head) => {
	if (globalThis.openrouterSkillsUpgrade) globalThis.openrouterSkillsUpgrade(request, socket, head);
	else socket.destroy();
});
// Of silence: event streams send something every 15 seconds, and no request works for longer.
server.setTimeout(600_000);

/** No request may end the process, whatever becomes of it. */
async function answer(
	/** @type {import('node:http').IncomingMessage} */ request,
	/** @type {import('node:http').ServerResponse} */ response
) {
	lingerAfter(request, response);
	// A file of the page that is gone, e.g. during an update, would end the process.
	response.on('pipe', (file) =>
		file.on('error', (/** @type {Error} */ error) => {
			logUnexpected(log, error);
			response.destroy();
		})
	);
	try {
		for (const [name, value] of headers) response.setHeader(name, value);
		request.headers['x-app-protocol'] = 'http';
		// The adapter takes a request without a content type to have no body: an upload would become an empty file.
		request.headers['content-type'] ??= 'application/octet-stream';
		// The server of static files throws for ranges that make no sense, in the middle of its answer.
		if (!request.url?.startsWith('/api/')) delete request.headers.range;
		await handler(request, response, () => {
			response.statusCode = 404;
			response.end('Not found');
		});
	} catch (error) {
		logUnexpected(log, error);
		if (response.headersSent) return response.destroy();
		response.statusCode = 500;
		response.end('Something went wrong on the server.');
	}
}

server.on('clientError', (/** @type {NodeJS.ErrnoException} */ error, socket) => {
	// What has been written may be the beginning of another answer.
	if (!socket.writable || /** @type {import('node:net').Socket} */ (socket).bytesWritten > 0) return socket.destroy();
	const status = {
		HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
		ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout'
	}[error.code ?? ''];
	const lines = [...headers, ['connection', 'close'], ['content-length', '0']].map(
		([name, value]) => `${name}: ${value}`
	);
	socket.end([`HTTP/1.1 ${status ?? '400 Bad Request'}`, ...lines, '', ''].join('\r\n'));
});
/** All that listen; the others hand over what they are given to the first. */
const doors = [
	server,
	...Array.from({ length: DOORS - 1 }, () =>
		createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) => void server.emit('connection', socket))
	)
];
await open().catch((/** @type {NodeJS.ErrnoException} */ error) => {
	const taken = process.env.PORT ? `Port ${process.env.PORT} is` : `Ports ${PORTS[0]} to ${PORTS.at(-1)} are`;
	console.error(
		error.code === 'EADDRINUSE'
			? `${taken} already in use. Set PORT to another port, or stop the program that uses it.`
			: error.message
	);
	process.exit(1);
});
// One that cannot take a connection for the moment goes on listening.
for (const door of doors)
	door.on('error', (error) => log.error({ error: error.message }, 'couldn’t accept a connection'));
/** @type {number | undefined} */
let stoppingSince;
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
	process.on(signal, () => void stop(signal));
}
// The window was closed, or npm is gone: often it comes with one of the others, and never in order to hurry.
process.on('SIGHUP', () => stoppingSince === undefined && void stop('SIGHUP'));

/** The command line imports this file to start the app. */
export const url = await announce();
// The command line opens the browser meanwhile.
void loadRoutes().then(
	() => log.debug?.({}, 'all pages are loaded'),
	(error) => log.error({ error: error.message }, 'couldn’t load all pages')
);

/**
 * Loads every page and endpoint before anybody asks for it: Kit remembers an import that failed, so that one which found
 * no file descriptor left would fail until the next start. The first answer needn't wait for that.
 */
async function loadRoutes() {
	const chunks = `${root}build/server/chunks`;
	const paths = ['entries', 'nodes'].flatMap((folder) =>
		readdirSync(join(chunks, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(chunks, folder, path))
	);
	for (const path of paths.filter((path) => path.endsWith('.js'))) {
		await import(pathToFileURL(path).href);
		// Requests are answered in between.
		await setImmediate();
	}
	// Now, and not at an end that may be a crash.
	nodeModule.flushCompileCache();
}

async function open() {
	const { host } = config;
	const port = await freePort(process.env.PORT ? [Number(process.env.PORT)] : PORTS);
	for (const each of doors) await listening(each, { port, host, reusePort: DOORS > 1 });
}

/** Sockets that share a port would share it with another server too, so it must be free. @param {number[]} ports */
async function freePort(ports) {
	for (const wanted of ports) {
		const alone = createTcpServer();
		try {
			const { port } = await listening(alone, { port: wanted, host: config.host });
			await new Promise((resolve) => alone.close(resolve));
			return port;
		} catch (error) {
			const isTaken = /** @type {NodeJS.ErrnoException} */ (error).code === 'EADDRINUSE';
			if (!isTaken || wanted === ports.at(-1)) throw error;
		}
	}
	throw new Error('no ports given');
}

/** @param {import('node:net').Server} door @param {import('node:net').ListenOptions} options @returns {Promise<import('node:net').AddressInfo>} */
async function listening(door, options) {
	door.listen(options);
	await once(door, 'listening');
	return /** @type {import('node:net').AddressInfo} */ (door.address());
}

async function announce() {
	const address = /** @type {import('node:net').AddressInfo} */ (server.address());
	const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
	const url = `http://${host}:${address.port}`;
	/** @type {Record<string, string>} */
	const credentials = config.adminToken ? { authorization: `Bearer ${config.adminToken}` } : {};
	const response = await fetch(`${url}/api/health`, { headers: credentials });
	if (!response.ok) {
		log.error({ url, status: response.status }, `Listening on ${url}, but /api/health failed`);
		return url;
	}
	const { model, sandbox, skills } = await response.json();
	if (config.log.format === 'json') {
		log.info({ url, model: model.id, sandbox: sandbox.name, skills }, `Listening on ${url}`);
		return url;
	}
	console.log(`Listening on ${url}`);
	console.log(`Model: ${model.offline ? 'Demo mode (no AI model; set OPENROUTER_API_KEY to connect one)' : model.id}`);
	console.log(
		`Scripts run in: ${sandbox.name}${sandbox.isolation.files ? '' : ' (scripts can read files on this computer)'}`
	);
	console.log(`Skills: ${skills.ready} ready${skills.broken ? `, ${skills.broken} broken` : ''}`);
	return url;
}

/** Lets the runs end, then ends what they started and the connections; nothing is left that keeps the process alive. */
async function stop(/** @type {string} */ signal) {
	if (stoppingSince !== undefined) {
		// npm passes on the Ctrl+C that the terminal has sent already. Later than that somebody has waited long enough.
		if (performance.now() - stoppingSince > AGAIN_MS) emitShutdown('now');
		return;
	}
	stoppingSince = performance.now();
	const { shutdownDelayMs, shutdownTimeoutMs } = config;
	setTimeout(() => process.exit(1), shutdownDelayMs + shutdownTimeoutMs + END_MS).unref();
	// Requests are answered meanwhile: pages see their runs end, and new runs are refused with a reason.
	const work = emitShutdown(signal);
	for (const result of await Promise.allSettled(work)) {
		if (result.status === 'rejected') log.error({ error: String(result.reason) }, 'not everything stopped cleanly');
	}
	for (const door of doors) door.close();
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

/** @template Result @param {() => Result} load @returns {Result} */
function orExit(load) {
	try {
		return load();
	} catch (error) {
		console.error(`Couldn’t start the app: ${/** @type {Error} */ (error).message}`);
		process.exit(1);
	}
}
