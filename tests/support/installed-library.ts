/** The library as users get it: built, packed, installed into an empty folder, and run by the oldest available Node. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

export interface InstalledLibrary {
	/** Folder with node_modules and a copy of skills/. */
	readonly dir: string;
	/** Version of the Node that runs programs, without the `v`. */
	readonly nodeVersion: string;
	/** Runs an ES module in the folder. @throws if the exit code isn't 0 */
	runModule(source: string): Promise<{ stdout: string; stderr: string }>;
	/** Runs a command in the folder, with that Node first in PATH. */
	runCommand(
		command: string,
		args: string[],
		settings?: Record<string, string>
	): Promise<{ stdout: string; stderr: string }>;
	remove(): Promise<void>;
}

export async function installLibrary(): Promise<InstalledLibrary> {
	const dir = await mkdtemp(join(tmpdir(), 'library-'));
	const node = await oldestNode();
	const env = environmentOf(node);
	const runCommand: InstalledLibrary['runCommand'] = (command, args, settings = {}) =>
		run(command, args, { cwd: dir, env: { ...env, ...settings } });
	let programs = 0;
	try {
		// Packs without the app; tests/crash/package.test.ts covers the full package.
		await run(process.execPath, [join(ROOT, 'scripts/build-library.ts'), join(dir, 'built/dist')], { cwd: ROOT });
		for (const name of ['package.json', 'scripts/end-with-npm.js'])
			await cp(join(ROOT, name), join(dir, 'built', name));
		await writeFile(join(dir, 'package.json'), '{ "name": "program", "private": true, "type": "module" }\n');
		const { stdout } = await runCommand('npm', ['pack', '--silent', '--ignore-scripts', './built']);
		await rm(join(dir, 'built'), { recursive: true });
		const options = ['--omit=optional', '--prefer-offline', '--no-audit', '--no-fund'];
		await runCommand('npm', ['install', ...options, `./${stdout.trim()}`]);
		await cp(join(ROOT, 'skills'), join(dir, 'skills'), { recursive: true });
		await mkdir(join(dir, 'programs'));
	} catch (error) {
		await rm(dir, { recursive: true, force: true });
		throw error;
	}
	return {
		dir,
		nodeVersion: node.version,
		runCommand,
		async runModule(source) {
			const program = join(dir, 'programs', `${(programs += 1)}.mjs`);
			await writeFile(program, source);
			return run(node.path, [program], { cwd: dir, env });
		},
		remove: () => rm(dir, { recursive: true, force: true })
	};
}

/** The ```js blocks of one of the project's documents. */
export async function codeBlocks(document: string): Promise<string[]> {
	const text = await readFile(join(ROOT, document), 'utf8');
	return [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code ?? '');
}

/** Puts that Node first and drops npm's own variables: a nested npm would take this project for its own. */
export function environmentOf(node: { path: string }): Record<string, string> {
	const inherited = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|VITEST)/.test(name));
	return { ...Object.fromEntries(inherited), PATH: [dirname(node.path), process.env.PATH].join(delimiter) };
}

/** The oldest supported Node in PATH, or the current one. */
export async function oldestNode(): Promise<{ path: string; version: string }> {
	const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
	let oldest = { path: process.execPath, version: process.versions.node };
	for (const path of paths) {
		const version = await run(path, ['--version']).then(
			({ stdout }) => stdout.trim().slice(1),
			() => null
		);
		if (version !== null && isBefore(version, oldest.version) && !isBefore(version, '20.19.0'))
			oldest = { path, version };
	}
	return oldest;
}

function isBefore(version: string, other: string): boolean {
	return version.localeCompare(other, 'en', { numeric: true }) < 0;
}
