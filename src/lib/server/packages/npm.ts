/** JavaScript packages, by npm: without install scripts, so no code of a package runs while it is installed (D46). */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { LockedPackage, PackageLock } from '../../shared/packages.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import type { Package } from '../skills/needs/packages.ts';
import { programsOnPath } from '../skills/run/interpreters.ts';
import type { ForeignPython } from '../trust/preflight.ts';
import { type Found, noInstaller, sizesOf } from './pip.ts';
import { hasProxy, hostOf, PackagesError, type Program, runInstaller, runProgram, type Work } from './program.ts';

export interface NpmOptions {
	/** null for npm’s own configuration. */
	registry: string | null;
	/** More hosts that it may reach. */
	hosts: readonly string[];
	/** null: this computer. */
	target(): Promise<ForeignPython | null>;
	env: Readonly<Record<string, string>>;
	/** The npm that started the server, as `npm_execpath`. */
	ownNpm: string | undefined;
	quietMs: number;
}

const ALWAYS = [
	'--ignore-scripts',
	'--no-audit',
	'--no-fund',
	'--no-update-notifier',
	'--fetch-retries=1',
	'--fetch-retry-mintimeout=1000',
	'--loglevel=error',
	// A package from a repository would be built here.
	'--git=false'
];

export function createNpm({ registry, hosts, target, env, ownNpm, quietMs }: NpmOptions) {
	const index = registry === null ? 'the JavaScript package registry' : hostOf(registry);
	// Its own cache of compiled code would stay in the folder.
	const base = { name: 'npm' as const, env: { ...env, NODE_DISABLE_COMPILE_CACHE: '1' }, index, quietMs };

	const open = async (folder: string, work: Work): Promise<Program> => {
		const onPath = await programsOnPath('npm', env.PATH ?? '').next();
		const command = onPath.value ? [onPath.value] : ownNpm ? [process.execPath, ownNpm] : null;
		if (!command) throw noInstaller('npm', 'npm');
		if (hasProxy(env)) return { ...base, command, hosts: null };
		if (registry !== null) return { ...base, command, hosts: [hostOf(registry), ...hosts] };
		const quiet = { ...work, onProgress: () => undefined };
		const { output } = await runProgram([...command, 'config', 'ls', '-l', '--json'], {
			...base,
			cwd: folder,
			work: quiet
		});
		return { ...base, command, hosts: configuredHosts(output, hosts) };
	};

	const run = async (args: readonly string[], folder: string, work: Work): Promise<Program> => {
		const program = await open(folder, work);
		const elsewhere = await target();
		const cpu = elsewhere?.machine === 'aarch64' ? 'arm64' : 'x64';
		const system = elsewhere ? ['--os=linux', `--cpu=${cpu}`, `--libc=${elsewhere.libc}`] : [];
		const from = registry === null ? [] : [`--registry=${registry}`];
		await runInstaller(program, [...args, `--prefix=${folder}`, ...ALWAYS, ...system, ...from], folder, work);
		return program;
	};

	const system = async (): Promise<string | undefined> => {
		const elsewhere = await target();
		return elsewhere ? `${elsewhere.libc} ${elsewhere.machine}` : undefined;
	};

	return {
		/** What packages are made for, if it isn’t this computer. */
		system,

		/** Finds exact versions, with hashes and sizes. `folder` is empty. @throws PackagesError */
		async lookUp(wanted: readonly Package[], folder: string, work: Work): Promise<Found> {
			work.onProgress({ text: 'Looking up JavaScript packages' });
			// Without a prototype, since there is a package “constructor”.
			const dependencies = Object.create(null) as Record<string, string>;
			for (const { name, requirement } of wanted) dependencies[name] ??= requirement.slice(name.length + 1) || '*';
			await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
			// npm’s settings may leave addresses out of its lock; here they tell the source.
			const { hosts: allowed } = await run(
				['install', '--package-lock-only', '--no-omit-lockfile-registry-resolved'],
				folder,
				work
			);
			const lock = npmLock.parse(JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')));
			const urls: string[] = [];
			const packages: LockedPackage[] = [];
			for (const [path, entry] of Object.entries(lock.packages)) {
				// Some come inside another package.
				if (path === '' || entry.inBundle) continue;
				const place = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
				// Another package’s metadata may give it the name of one that people know.
				const { name = place, version = '', resolved = '', integrity } = entry;
				if (!/^https?:/.test(resolved) || integrity === undefined) throw notOfTheRegistry(name, resolved);
				urls.push(resolved);
				packages.push({ ecosystem: 'javascript', name, version, hash: integrity, from: hostOf(resolved), bytes: null });
				// Another machine has another mirror; the hash says that it is the same.
				delete entry.resolved;
			}
			const sizes = await sizesOf(urls, allowed);
			return {
				javascript: { dependencies, packages: lock.packages, system: await system() },
				packages: packages.map((each, at) => ({ ...each, bytes: sizes[at] ?? null }))
			};
		},

		/** Leaves `folder/node_modules` and `folder/register.cjs`. @throws PackagesError */
		async install(
			{ dependencies, packages }: NonNullable<PackageLock['javascript']>,
			folder: string,
			work: Work
		): Promise<void> {
			await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
			const lock = { lockfileVersion: 3, requires: true, packages };
			await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
			work.onProgress({ text: 'Downloading JavaScript packages' });
			await run(['ci'], folder, work);
			await writeFile(join(folder, 'register.cjs'), REGISTER);
			for (const name of ['package.json', 'package-lock.json']) await rm(join(folder, name), { force: true });
		}
	};
}

const npmLock = z.object({
	packages: z.record(
		z.string(),
		z.looseObject({
			/** If its folder has another one. */
			name: z.string().optional(),
			version: z.string().optional(),
			resolved: z.string().optional(),
			integrity: z.string().optional(),
			inBundle: z.boolean().optional()
		})
	)
});

/** Hosts in what `npm config ls` says; null if a proxy is set there. */
function configuredHosts(settings: string, more: readonly string[]): string[] | null {
	const json = parseJson(settings);
	const config = isObject(json) ? json : {};
	if (config.proxy || config['https-proxy']) return null;
	const urls = Object.entries(config).filter(([name]) => name === 'registry' || name.endsWith(':registry'));
	const found = urls.flatMap(([, url]) => (typeof url === 'string' && URL.canParse(url) ? [hostOf(url)] : []));
	return [...found, ...more];
}

function notOfTheRegistry(name: string, resolved: string): PackagesError {
	const where = resolved.split(':', 1)[0] || 'an unknown place';
	const message = `${name.slice(0, 100)} isn’t from the registry but from ${where}:, which can’t be checked.`;
	return new PackagesError('Failed', message, 'Use a version that is in the registry.');
}

/**
 * A skill runs from a folder of its own, so its `import` wouldn’t look here. What the skill brings itself comes first.
 * `require` looks by NODE_PATH; `import` doesn’t.
 */
const REGISTER = `'use strict';
const nodeModule = require('node:module');
const { pathToFileURL } = require('node:url');
process.env.NODE_PATH = require('node:path').join(__dirname, 'node_modules');
nodeModule.Module._initPaths();
const parentURL = pathToFileURL(__filename).href;
nodeModule.registerHooks?.({
	resolve(specifier, context, next) {
		try {
			return next(specifier, context);
		} catch (error) {
			if (error?.code !== 'ERR_MODULE_NOT_FOUND' || /^[./]|:/.test(specifier)) throw error;
			try {
				return next(specifier, { ...context, parentURL });
			} catch {
				throw error;
			}
		}
	}
});
`;
