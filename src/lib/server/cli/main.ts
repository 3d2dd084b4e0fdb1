#!/usr/bin/env node
/** The program behind `npx openrouter-skills`: starts the app, or runs one command. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import nodeModule, { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { enterHome, type HomeFlags, INSTALL_FLAGS } from './home.ts';
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { pathToFileURL } from 'node:url';

const USAGE = `Usage: openrouter-skills [options]   start the app

  --port <number>     port to listen on (PORT); 0 picks a free one. Default: 3000, or the next free one
  --open              open the browser
  --data <folder>     folder for chats, settings and installed skills (DATA_DIR)
  --skills <folder>   folder of your own skills, which are trusted; may be given more than once
  --version, --help

Usage: openrouter-skills mcp             the skills for an MCP client, over standard input and output
       openrouter-skills acp             the agent for an editor (Agent Client Protocol), over standard input and output
       openrouter-skills worker          runs scripts for servers on other machines (SKILLS_RUN_ON=workers)
       openrouter-skills backup <file>   the data folder in one file; works while the app runs
       openrouter-skills restore <file>  the data folder from that file
       openrouter-skills install-packages <skill>…   the packages of skills; with --all, of every one; with --yes,
                                         without asking
  --data and --skills as above
`;
const OPTIONS = {
	port: { type: 'string' },
	open: { type: 'boolean', default: false },
	data: { type: 'string' },
	skills: { type: 'string', multiple: true },
	version: { type: 'boolean', short: 'v', default: false },
	help: { type: 'boolean', short: 'h', default: false }
} as const;
/** The server uses `node:sqlite` and runs on Node 24 or newer. */
const NEEDED = 24;
/** Exit code for wrong usage. */
const MISUSED = 2;

/** The package's folder: this program is in its `dist/bin`. */
const root = join(import.meta.dirname, '../..');
const [first = '', ...others] = process.argv.slice(2);

try {
	if (first === '' || first.startsWith('-')) await start(process.argv.slice(2));
	else if (['mcp', 'acp', 'worker', 'backup', 'restore'].includes(first)) await runOnHome(first, others);
	else if (first === 'install-packages') await installPackages(others);
	else await runOnSkills(process.argv.slice(2));
} catch (error) {
	const { message, code = '' } = error as NodeJS.ErrnoException;
	const isMisused = code.startsWith('ERR_PARSE_ARGS');
	// Node's message goes on with advice that doesn't fit here.
	const said = isMisused ? `${message.split(/\.(?:\s|$)|\n/, 1)[0]}. “--help” lists what there is.` : message;
	process.stderr.write(`${said}\n`);
	process.exitCode = isMisused ? MISUSED : 1;
}

async function start(args: string[]): Promise<void> {
	const { values } = parseArgs({ args, options: OPTIONS });
	if (values.help) {
		process.stdout.write(`${USAGE}\n`);
		return runOnSkills(['--help']);
	}
	if (values.version) {
		const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
		process.stdout.write(`${version}\n`);
		return;
	}
	if (values.port !== undefined && !(/^\d{1,5}$/.test(values.port) && Number(values.port) <= 65_535))
		throw new Error(`--port must be a number from 0 to 65535, but it’s “${values.port}”.`);
	await endWithNpm();
	if (await runOnNewerNode(root)) return;
	const found = values.skills ? [] : skillsIn('skills');
	if (values.port !== undefined) process.env.PORT = values.port;
	const dataDir = enterHome(values, root);
	const { url } = (await importOwn('server.js')) as { url: string };
	process.stdout.write(`Data: ${dataDir}\n`);
	if (found.length > 0)
		process.stdout.write(`The skills in ./skills aren’t used. To use and trust them, start with “--skills skills”.\n`);
	if (values.open) openBrowser(url);
}

async function runOnHome(command: string, args: string[]): Promise<void> {
	const { data, skills } = OPTIONS;
	const protocol = command === 'mcp' || command === 'acp' ? command : null;
	const takesFiles = command === 'backup' || command === 'restore';
	const { values, positionals } = parseArgs({ args, options: { data, skills }, allowPositionals: takesFiles });
	const files = positionals.map((file) => resolve(file));
	if (!(await isHome(values))) return;
	if (protocol !== null) await (await import('./serve-stdio.ts')).serveStdio(protocol);
	else if (command === 'worker') await (await import('./worker.ts')).runWorker();
	else (await import('./backup.ts')).runBackup(command, files, `openrouter-skills ${command} FILE`);
}

async function installPackages(args: string[]): Promise<void> {
	const { data, skills } = OPTIONS;
	const { values, positionals } = parseArgs({
		args,
		options: { data, skills, ...INSTALL_FLAGS },
		allowPositionals: true
	});
	const usage = 'openrouter-skills install-packages SKILL…, or --all; with --yes, without asking';
	if (values.help) return void process.stdout.write(`${usage}\n`);
	if (!(await isHome(values))) return;
	await (await import('./install-packages.ts')).runInstallPackages({ ...values, names: positionals, usage });
}

/** Whether this process goes on, in the app’s folder: an older Node has handed over to a newer one. */
async function isHome(flags: HomeFlags): Promise<boolean> {
	await endWithNpm();
	if (await runOnNewerNode(root)) return false;
	nodeModule.enableCompileCache(join(root, 'node_modules/.cache/compiled'));
	enterHome(flags, root);
	return true;
}

async function runOnSkills(args: string[]): Promise<void> {
	const [{ runCli }, { evalCommand }, { publishCommand }] = await Promise.all([
		import('../skills/cli/run-cli.ts'),
		import('./eval.ts'),
		import('./publish.ts')
	]);
	const tell = (line: string) => process.stderr.write(`${line}\n`);
	const { exitCode, stdout, stderr } = await runCli(args, {
		eval: evalCommand({ environment: process.env, tell }),
		publish: publishCommand
	});
	process.stdout.write(stdout);
	process.stderr.write(stderr);
	process.exitCode = exitCode;
}

/** npx only passes signals to its shell. */
async function endWithNpm(): Promise<void> {
	if (process.env.npm_command !== undefined) await importOwn('../../scripts/end-with-npm.js');
}

/** Imports a file of the package that isn't bundled into this program. */
function importOwn(path: string): Promise<unknown> {
	return import(/* @vite-ignore */ new URL(path, import.meta.url).href);
}

/** Names of the skills in a folder, relative to where the command was run. */
function skillsIn(folder: string): string[] {
	if (!existsSync(folder)) return [];
	return readdirSync(folder).filter((name) => existsSync(join(folder, name, 'SKILL.md')));
}

// Programs that the command line starts: a newer Node, and the browser.

interface Manifest {
	bin?: string | Record<string, string>;
	optionalDependencies?: Record<string, string>;
}

/**
 * Returns false if this Node can run the app. Otherwise runs the same command with the Node that npm installed with the
 * package, forwards signals, and resolves with true when it has exited.
 * @throws Error if there is no such Node
 */
async function runOnNewerNode(root: string): Promise<boolean> {
	const { node: version } = process.versions;
	if (Number.parseInt(version) >= NEEDED) return false;
	const advice = `Install Node ${NEEDED} or newer, or install this package without --omit=optional: then it brings its own.`;
	const node = findOwnNode(root);
	// A Node that would start itself again would never end.
	if (!node || realpathSync(node) === realpathSync(process.execPath))
		throw new Error(`Node ${version} is too old. ${advice}`);
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
function openBrowser(url: string): void {
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
