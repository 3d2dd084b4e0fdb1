/** Programs that the command line starts: a newer Node, and the browser. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Manifest {
	bin?: string | Record<string, string>;
	optionalDependencies?: Record<string, string>;
}

/** The server uses `node:sqlite` and runs on Node 24 or newer. */
const NEEDED = 24;

/**
 * Returns false if this Node can run the app. Otherwise runs the same command with the Node that npm installed with the
 * package, forwards signals, and resolves with true when it has exited.
 * @throws Error if there is no such Node
 */
export async function runOnNewerNode(root: string): Promise<boolean> {
	const { node: version } = process.versions;
	if (Number.parseInt(version) >= NEEDED) return false;
	const advice = `Install Node ${NEEDED} or newer, or install this package without --omit=optional: then it brings its own.`;
	const node = findOwnNode(root);
	if (!node) throw new Error(`Node ${version} is too old. ${advice}`);
	// If this process is killed, it can't forward anything: the child notices by itself.
	const end = pathToFileURL(join(root, 'scripts/end-with-npm.js')).href;
	const child = spawn(node, ['--import', end, ...process.argv.slice(1)], { stdio: 'inherit' });
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
	return new Promise((done, fail) => {
		child.once('error', (error) => fail(new Error(`Couldn’t start ${node} (${error.message}). ${advice}`)));
		child.once('exit', (code, signal) => {
			process.exitCode = code ?? 128 + (signal ? constants.signals[signal] : 0);
			done(true);
		});
	});
}

/** npm installs only the Node package for this machine. */
function findOwnNode(root: string): string | null {
	const { resolve } = createRequire(join(root, 'package.json'));
	const { optionalDependencies = {} } = read(join(root, 'package.json'));
	for (const name of Object.keys(optionalDependencies).filter((each) => each.startsWith('node-'))) {
		try {
			const manifest = resolve(`${name}/package.json`);
			const { bin } = read(manifest);
			const path = typeof bin === 'string' ? bin : bin?.node;
			if (path !== undefined && existsSync(join(dirname(manifest), path))) return join(dirname(manifest), path);
		} catch {
			// Not installed: it's for another system.
		}
	}
	return null;
}

function read(path: string): Manifest {
	return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
}

/** Never throws: without a browser, it tells the user the address. */
export function openBrowser(url: string): void {
	const opener: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
		darwin: ['open'],
		win32: ['rundll32', 'url.dll,FileProtocolHandler']
	};
	const [file, ...args] = opener[process.platform] ?? ['xdg-open'];
	const refused = () => process.stderr.write(`Couldn’t open a browser. Open ${url} yourself.\n`);
	const child = spawn(file, [...args, url], { stdio: 'ignore', detached: true });
	child.once('error', refused).once('exit', (code) => code !== 0 && refused());
	child.unref();
}
