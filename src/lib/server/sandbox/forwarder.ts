/**
 * The way from a network namespace without a network to a proxy on a unix socket (FEATURES D35).
 *
 * Programs know proxies as `http://host:port`, so a small Node program listens on 127.0.0.1 inside the namespace, pipes
 * each connection to the socket, and runs the real program as its child with `HTTP_PROXY` and its kin set. The child has
 * its standard streams, its group and its folder; its exit code or signal becomes that of the forwarder. It costs a
 * Node start, so a backend uses it only for a program with a `proxySocket`.
 */

/** What a process is started with. */
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
	 * Passes SIGTERM, SIGINT and SIGHUP on to the program. For where only the first process is signalled, as `docker kill`
	 * does; where the group is signalled the program has had it already.
	 */
	passSignals?: boolean;
}

/**
 * Wraps a program so that it finds the proxy of `socket` in its environment.
 *
 * - **process**: `unshare --net` brings a loopback that is *down*, and 127.0.0.1 answers ENETUNREACH. The forwarder raises
 *   it (`ip`, or perl where there is none), for which it must be uid 0 of the user namespace (`--map-root-user`). A
 *   backend that gives up its capabilities before runs the `RAISE_LOOPBACK` commands first. Without a namespace of its
 *   own the program is merely told of the proxy.
 * - **bubblewrap**: `--unshare-net` brings loopback up by itself. Bind the socket's *file* (its folder is 0700, closed to
 *   the user inside; connecting works through a read-only mount too) before the user is given up, give that path, and let
 *   node's file be seen.
 * - **container**: with `--network none` loopback is up. Mount the socket's file, give the image's own node, and
 *   `passSignals` since only the first process is signalled. An image without node cannot have a network.
 *
 * RLIMIT_AS must be the one for Node (4 GB), and NPROC must leave room for its dozen threads, whatever the program is.
 */
export function wrapWithForwarder(
	{ file, args, env }: ForwardedProgram,
	{ node, socket, passSignals = false }: ForwarderOptions
): ForwardedProgram {
	const own = ['--max-old-space-size=64', '--v8-pool-size=1', '--eval', FORWARDER, '--'];
	return { file: node, args: [...own, socket, passSignals ? 'pass' : 'keep', file, ...args], env };
}

/** Command lines that bring loopback up in a new network namespace; the first that the machine has will do. */
export const RAISE_LOOPBACK: readonly (readonly [string, ...string[]])[] = [
	['/sbin/ip', 'link', 'set', 'lo', 'up'],
	['/usr/bin/ip', 'link', 'set', 'lo', 'up'],
	// SIOCSIFFLAGS with IFF_UP; Debian's base system has perl where it lacks ip.
	[
		'/usr/bin/perl',
		'-e',
		'socket(my $s, 2, 2, 0) or exit 1; my $r = pack("a16 s x22", "lo", 1); ioctl($s, 0x8914, $r) or exit 1'
	]
];

/** CommonJS, without a backslash or a backtick: it is an argument of `node --eval`. Arguments: socket, pass or keep, file, args. */
const FORWARDER = `'use strict';
const net = require('node:net');
const { spawn, spawnSync } = require('node:child_process');
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
server.listen(0, '127.0.0.1', () => reach(false));

function reach(isRaised) {
	const { port } = server.address();
	const probe = net.connect(port, '127.0.0.1');
	probe.on('connect', () => probe.destroy());
	probe.on('close', (hasFailed) => hasFailed || run(proxyAt(port)));
	probe.on('error', (error) => {
		if (isRaised) return run({}, error);
		${JSON.stringify(RAISE_LOOPBACK)}.some(([file, ...args]) => spawnSync(file, args, { env: {} }).status === 0);
		reach(true);
	});
}

function proxyAt(port) {
	const url = 'http://127.0.0.1:' + port;
	const env = { NO_PROXY: '', no_proxy: '', NODE_USE_ENV_PROXY: '1' };
	for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) env[name] = env[name.toLowerCase()] = url;
	return env;
}

function run(proxy, error) {
	if (error) console.error('The network of this program could not be opened: ' + error.message);
	// Before it starts: it may be up, and its end be asked for, before spawn has returned.
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
		// The first process of a namespace is not ended by its own signals.
		setTimeout(() => process.exit(128 + signals[signal]), 100);
	});
}
`;
