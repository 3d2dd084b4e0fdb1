/** The library as others get it: built, packed, installed into an empty folder, run by the oldest Node at hand. */
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
	/** Version of the Node that programs run on, without the `v`. */
	readonly nodeVersion: string;
	/** Runs an ES module in the folder. @throws when it exits with another code than 0 */
	runModule(source: string): Promise<{ stdout: string; stderr: string }>;
	/** Runs a command in the folder, with that Node first in the PATH. */
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
	// Without npm's own variables, or an npm inside of an npm takes this project for its own.
	const inherited = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|VITEST)/.test(name));
	const env = { ...Object.fromEntries(inherited), PATH: [dirname(node.path), process.env.PATH].join(delimiter) };
	const runCommand: InstalledLibrary['runCommand'] = (command, args, settings = {}) =>
		run(command, args, { cwd: dir, env: { ...env, ...settings } });
	let programs = 0;
	try {
		await run(process.execPath, [join(ROOT, 'scripts/build-library.ts'), join(dir, 'built')], { cwd: ROOT });
		await writeFile(join(dir, 'package.json'), '{ "name": "program", "private": true, "type": "module" }\n');
		const { stdout } = await runCommand('npm', ['pack', '--silent', './built']);
		await rm(join(dir, 'built'), { recursive: true });
		await runCommand('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', `./${stdout.trim()}`]);
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

/** The ```js blocks of a document in the project's folder. */
export async function codeBlocks(document: string): Promise<string[]> {
	const text = await readFile(join(ROOT, document), 'utf8');
	return [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code ?? '');
}

/** Of those in the PATH and the one that runs this, the oldest that the library supports. */
async function oldestNode(): Promise<{ path: string; version: string }> {
	const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
	let oldest = { path: process.execPath, version: process.versions.node };
	for (const path of paths) {
		const version = await run(path, ['--version']).then(
			({ stdout }) => stdout.trim().slice(1),
			() => null
		);
		if (version !== null && isBefore(version, oldest.version) && !isBefore(version, '20.12.0'))
			oldest = { path, version };
	}
	return oldest;
}

function isBefore(version: string, other: string): boolean {
	return version.localeCompare(other, 'en', { numeric: true }) < 0;
}
