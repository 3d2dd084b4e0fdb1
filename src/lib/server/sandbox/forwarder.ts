/**
 * Connects a network namespace without a network to a proxy on a unix socket (D35).
 *
 * Programs expect proxies as `http://host:port`. So a small Node program listens on 127.0.0.1 inside the namespace, pipes
 * each connection to the socket, and runs the real program as its child with `HTTP_PROXY` and the like. The child inherits
 * its standard streams, process group and folder; its exit code or signal becomes the forwarder’s. This costs a start of
 * Node, so backends use it only for programs with a `proxySocket`.
 */

export interface ForwardedProgram {
	file: string;
	args: string[];
	env: Record<string, string>;
}

export interface ForwarderOptions {
	/** Absolute path of Node (20 or newer) as the process sees it. */
	node: string;
	/** Absolute path of the proxy's socket as the process sees it. */
	socket: string;
	/**
	 * Passes SIGTERM, SIGINT and SIGHUP on to the program. For `docker kill`, which signals only the first process; where
	 * the whole group is signalled, the program receives them anyway.
	 */
	passSignals?: boolean;
}

/**
 * Wraps a program so that it finds the proxy of `socket` in its environment.
 *
 * - **process**: the first process of the namespace has brought loopback up. Without a network namespace, the program
 *   only gets the variables.
 * - **bubblewrap**: `--unshare-net` brings loopback up. Bind the socket's *file* before dropping the user (its folder is
 *   0700; connecting works through a read-only mount too), pass that path, and make node's file visible.
 * - **container**: with `--network none` loopback is up. Mount the socket's file, pass the image's own node, and set
 *   `passSignals`, because only the first process is signalled. Network access needs an image with Node.
 *
 * RLIMIT_AS must be the one for Node (4 GB), and NPROC must allow its dozen threads, whatever the program is.
 */
export function wrapWithForwarder(
	{ file, args, env }: ForwardedProgram,
	{ node, socket, passSignals = false }: ForwarderOptions
): ForwardedProgram {
	const own = ['--max-old-space-size=64', '--v8-pool-size=1', '--eval', FORWARDER, '--'];
	return { file: node, args: [...own, socket, passSignals ? 'pass' : 'keep', file, ...args], env };
}

/** CommonJS without backslashes or backticks, for `node --eval`. Arguments: socket, pass or keep, file, args. */
const FORWARDER = `'use strict';
const net = require('node:net');
const { spawn } = require('node:child_process');
const { signals } = require('node:os').constants;
const [socket, mode, file, ...args] = process.argv.slice(1);

const server = net.createServer({ allowHalfOpen: true }, (near) => {
	const far = net.connect({ path: socket, allowHalfOpen: true });
	near.on('error', () => far.destroy()).pipe(far);
	far.on('error', () => near.destroy()).pipe(near);
	near.on('close', () => far.destroy());
	far.on('close', () => near.destroy());
});
server.on('error', (error) => server.listening || run({}, error));
server.listen(0, '127.0.0.1', () => {
	const { port } = server.address();
	const probe = net.connect(port, '127.0.0.1');
	probe.on('connect', () => probe.destroy());
	probe.on('close', (hasFailed) => hasFailed || run(proxyAt(port)));
	probe.on('error', (error) => run({}, error));
});

function proxyAt(port) {
	const url = 'http://127.0.0.1:' + port;
	const env = { NO_PROXY: '', no_proxy: '', NODE_USE_ENV_PROXY: '1' };
	for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) env[name] = env[name.toLowerCase()] = url;
	return env;
}

function run(proxy, error) {
	if (error) console.error('The network of this program could not be opened: ' + error.message);
	// Before spawn: a signal may arrive before it returns.
	for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
		process.on(signal, () => mode === 'pass' && child.kill(signal));
	}
	const child = spawn(file, args, { stdio: 'inherit', env: { ...process.env, ...proxy } });
	child.on('error', (error) => {
		console.error(file + ' could not be started: ' + error.message);
		process.exit(error.code === 'ENOENT' ? 127 : 126);
	});
	child.on('exit', (code, signal) => {
		if (!signal) process.exit(code);
		process.removeAllListeners(signal);
		process.kill(process.pid, signal);
		// The first process of a namespace survives its own signals.
		setTimeout(() => process.exit(128 + signals[signal]), 100);
	});
}
`;
