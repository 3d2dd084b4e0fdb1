/** Python packages, by pip: wheels only, so no code of a package runs while it is installed, unless that is allowed (D46). */
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { LockedPackage, PackageLock } from '../../shared/packages.ts';
import type { Package } from '../skills/needs/packages.ts';
import type { ForeignPython } from '../trust/preflight.ts';
import {
	hasProxy,
	hostOf,
	PackagesError,
	type Program,
	RAN_CODE,
	runInstaller,
	runProgram,
	type Work
} from './program.ts';

export interface PipOptions {
	/** A mirror, or a `file:` folder of wheels; null for pip’s own configuration. */
	indexUrl: string | null;
	/** More hosts that it may reach. */
	hosts: readonly string[];
	/** Packages without a wheel for this computer may be built, which runs their code outside any sandbox. */
	mayBuild: boolean;
	/** The server’s Python; null without one. */
	findPython(): Promise<{ file: string; args: string[] } | null>;
	/** null: this computer. */
	target(): Promise<ForeignPython | null>;
	env: Readonly<Record<string, string>>;
	quietMs: number;
	/** Of pip, unless it may build. */
	maxMemoryBytes: number;
}

export type Found = Partial<Pick<PackageLock, 'python' | 'javascript'>> & Pick<PackageLock, 'packages'>;

const DEFAULT_HOSTS = ['pypi.org', 'files.pythonhosted.org'];
/** Without `-vv`, it doesn’t say that an index didn’t answer. */
const ALWAYS = ['--no-input', '--no-color', '--disable-pip-version-check', '--progress-bar=off', '--retries=1', '-vv'];
/** What would lead elsewhere, if an index is set here. */
const OTHER_INDEX = /^PIP_(INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|CONSTRAINT|REQUIREMENT|CONFIG_FILE)$/i;
/**
 * pip with no other program, and with bounded memory: a little packed metadata can hold gigabytes. “Only wheels” isn’t enough: metadata may lead to an archive, a folder or a repository,
 * which pip would build even so. What it asks the system (musl’s loader, the version of macOS, a keyring) isn’t a package’s.
 */
const aloneWith = (maxMemoryBytes: number) => `
import os, runpy, sys
try:
    import resource
    most = ${maxMemoryBytes}
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
except (ImportError, ValueError, OSError):
    pass
def guard(event, args):
    if event == 'subprocess.Popen':
        name = os.path.basename(os.fsdecode(args[0] or ''))
        if name == 'keyring' or name.startswith('ld-musl-') or list(args[1])[1:2] == ['-sS']:
            return
    if event in ('subprocess.Popen', 'os.system', 'os.exec', 'os.posix_spawn', 'os.spawn', 'os.startfile', 'pty.spawn'):
        raise PermissionError('${RAN_CODE}')
sys.addaudithook(guard)
runpy.run_module('pip', run_name='__main__', alter_sys=True)
`;
const HAS_PIP = 'import importlib.util, sys; sys.exit(importlib.util.find_spec("pip") is None)';
const DESCRIBE = 'import sys, platform; print("%d.%d" % sys.version_info[:2], sys.platform, platform.machine())';
const SIZE_MS = 5000;
const SIZES_AT_ONCE = 8;

export function createPip({ indexUrl, hosts, mayBuild, findPython, target, env, quietMs, maxMemoryBytes }: PipOptions) {
	const own = Object.entries(env).filter(([name]) => indexUrl === null || !OTHER_INDEX.test(name));
	const isFolder = indexUrl?.startsWith('file:') === true;
	const index = indexUrl === null ? 'the Python package index' : isFolder ? 'the folder of packages' : hostOf(indexUrl);
	const base = {
		name: 'pip' as const,
		env: { ...Object.fromEntries(own), ...(indexUrl !== null && { PIP_CONFIG_FILE: devNull }) },
		index,
		quietMs
	};

	const builds = async () => mayBuild && !(await target());

	/** pip of the server’s Python, else one of a new virtual environment (Debian has them apart). */
	const open = async (folder: string, work: Work): Promise<Program> => {
		const python = await findPython();
		if (!python) throw noInstaller('Python', 'python3');
		const ask = (command: string[]) =>
			runProgram(command, { ...base, cwd: folder, work: { ...work, onProgress: () => undefined } });
		let interpreter = [python.file, ...python.args];
		if ((await ask([...interpreter, '-c', HAS_PIP])).exitCode !== 0) {
			const made = await ask([...interpreter, '-m', 'venv', join(folder, 'venv')]);
			if (made.exitCode !== 0) throw noInstaller('pip', 'python3-pip');
			interpreter = [join(folder, 'venv/bin/python')];
		}
		const command = [...interpreter, ...((await builds()) ? ['-m', 'pip'] : ['-c', aloneWith(maxMemoryBytes)])];
		if (hasProxy(base.env)) return { ...base, command, hosts: null };
		if (indexUrl !== null) return { ...base, command, hosts: isFolder ? hosts : [hostOf(indexUrl), ...hosts] };
		const { output } = await ask([...command, 'config', 'list']);
		const isProxied = /^\S*\.proxy=/m.test(output);
		return { ...base, command, hosts: isProxied ? null : [...configuredHosts(output), ...hosts] };
	};

	const optionsFor = async (): Promise<string[]> => {
		const from = isFolder ? ['--no-index', '--find-links', fileURLToPath(indexUrl)] : ['--index-url', indexUrl ?? ''];
		const elsewhere = await target();
		const kinds = (await builds()) ? [] : ['--only-binary=:all:'];
		return [...ALWAYS, ...kinds, ...(indexUrl === null ? [] : from), ...platformOf(elsewhere)];
	};

	let known: Promise<PackageLock['python']> | undefined;
	const ask = async (): Promise<PackageLock['python']> => {
		const elsewhere = await target();
		if (elsewhere) return { version: elsewhere.version, system: `${elsewhere.libc} ${elsewhere.machine}` };
		const python = await findPython();
		if (!python) return null;
		const work = { signal: new AbortController().signal, onProgress: () => undefined, measure: async () => 0 };
		const command = [python.file, ...python.args, '-c', DESCRIBE];
		const { output } = await runProgram(command, { ...base, cwd: '/', work });
		const [version = '', ...system] = output.trim().split(/\s+/);
		return { version, system: system.join(' ') };
	};

	return {
		/** What packages are made for here; null without Python. Doesn’t change while the server runs. */
		async python(): Promise<PackageLock['python']> {
			known ??= ask();
			known.catch(() => (known = undefined));
			return known;
		},

		/** Finds exact versions, with hashes and sizes. `folder` is empty. @throws PackagesError */
		async lookUp(wanted: readonly Package[], folder: string, work: Work): Promise<Found> {
			const program = await open(folder, work);
			const report = join(folder, 'report.json');
			work.onProgress({ text: 'Looking up Python packages' });
			const how = ['install', '--dry-run', '--ignore-installed', '--report', report, '--target', join(folder, 'none')];
			// After `--`, nothing is an option.
			const names = wanted.map(({ requirement }) => requirement);
			await runInstaller(program, [...how, ...(await optionsFor()), '--', ...names], folder, {
				...work,
				onProgress: ({ text }) => {
					const [, name] = /^Collecting ([\w.-]+)/.exec(text) ?? [];
					if (name) work.onProgress({ text: `Looking up ${name}` });
				}
			});
			const { install, environment: found } = pipReport.parse(JSON.parse(await readFile(report, 'utf8')));
			const elsewhere = await target();
			const system = elsewhere
				? `${elsewhere.libc} ${elsewhere.machine}`
				: `${found.sys_platform} ${found.platform_machine}`;
			const sizes = await sizesOf(
				install.map(({ download_info: { url } }) => url),
				program.hosts
			);
			return {
				python: { version: elsewhere?.version ?? found.python_version, system },
				packages: install.map(({ metadata, download_info: { url, archive_info } }, at): LockedPackage => ({
					ecosystem: 'python',
					name: metadata.name.toLowerCase().replace(/[-_.]+/g, '-'),
					version: metadata.version,
					hash: `sha256-${archive_info.hashes.sha256}`,
					from: hostOf(url),
					bytes: sizes[at] ?? null
				}))
			};
		},

		/** Leaves `folder/python`. @throws PackagesError */
		async install(packages: readonly LockedPackage[], folder: string, work: Work): Promise<void> {
			const tools = join(folder, '.pip');
			await mkdir(tools);
			const program = await open(tools, work);
			const file = join(tools, 'requirements.txt');
			const lines = packages.map(({ name, version, hash }) => `${name}==${version} --hash=${hash.replace('-', ':')}\n`);
			await writeFile(file, lines.join(''));
			let done = 0;
			const onProgress: Work['onProgress'] = ({ text }) => {
				const [, name] = /^Collecting ([\w.-]+)/.exec(text) ?? [];
				if (name) work.onProgress({ text: `Downloading ${name}`, done: done++, of: packages.length });
				if (text.startsWith('Installing')) work.onProgress({ text: 'Unpacking Python packages' });
			};
			const how = ['install', '--no-deps', '--require-hashes', '--no-warn-script-location', '-r', file];
			const options = [...how, '--target', join(folder, 'python'), ...(await optionsFor())];
			await runInstaller(program, options, tools, { ...work, onProgress });
			await useAnyPython(join(folder, 'python/bin'));
			await rm(tools, { recursive: true, force: true });
		}
	};
}

const pipReport = z.object({
	install: z.array(
		z.object({
			metadata: z.object({ name: z.string(), version: z.string() }),
			download_info: z.object({
				url: z.string(),
				archive_info: z.object({ hashes: z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) }) })
			})
		})
	),
	environment: z.object({ python_version: z.string(), sys_platform: z.string(), platform_machine: z.string() })
});

/** Hosts in what `pip config list` says. */
function configuredHosts(settings: string): string[] {
	const lines = settings.split(/\r?\n/).filter((line) => /^\S*\.(index-url|extra-index-url|find-links)=/.test(line));
	const found = lines.flatMap((line) => line.match(/https?:\/\/[^\s'"\\]+/g) ?? []).map(hostOf);
	const hasOwnIndex = lines.some((line) => /\.index-url=/.test(line));
	return hasOwnIndex && !found.includes('pypi.org') ? found : [...found, ...DEFAULT_HOSTS];
}

/** The wheels that a container’s system takes. */
function platformOf(target: ForeignPython | null): string[] {
	if (!target) return [];
	const { version, libc, machine } = target;
	const kinds =
		libc === 'musl'
			? ['musllinux_1_2', 'musllinux_1_1']
			: ['manylinux_2_34', 'manylinux_2_28', 'manylinux_2_17', 'manylinux2014'];
	const abi = `cp${version.replace('.', '')}`;
	return [
		`--python-version=${version}`,
		'--implementation=cp',
		...[abi, 'abi3', 'none'].map((each) => `--abi=${each}`),
		...kinds.map((kind) => `--platform=${kind}_${machine}`)
	];
}

/** pip writes the server’s Python into programs; a sandbox may have another. */
async function useAnyPython(folder: string): Promise<void> {
	for (const name of await readdir(folder).catch(() => [])) {
		const file = join(folder, name);
		const bytes = await readFile(file).catch(() => null);
		const text = bytes?.toString('latin1') ?? '';
		const changed = text.replace(/^#![^\n]*python[^\n]*\n/, '#!/usr/bin/env python3\n');
		if (changed !== text) await writeFile(file, changed, 'latin1');
	}
}

/** Bytes to download of each, if the index says so; other hosts than these aren’t asked, and none where a proxy decides. */
export async function sizesOf(urls: readonly string[], hosts: readonly string[] | null): Promise<(number | null)[]> {
	const sizes: (number | null)[] = [];
	for (let at = 0; at < urls.length; at += SIZES_AT_ONCE) {
		const some = urls.slice(at, at + SIZES_AT_ONCE);
		sizes.push(...(await Promise.all(some.map((url) => sizeOf(url, hosts)))));
	}
	return sizes;
}

async function sizeOf(url: string, hosts: readonly string[] | null): Promise<number | null> {
	try {
		if (url.startsWith('file:')) return (await stat(fileURLToPath(url))).size;
		if (!hosts?.includes(hostOf(url))) return null;
		const signal = AbortSignal.timeout(SIZE_MS);
		const { headers, ok } = await fetch(url, { method: 'HEAD', redirect: 'error', signal });
		const length = ok ? headers.get('content-length') : null;
		return length === null ? null : Number(length);
	} catch {
		// Shown as unknown.
		return null;
	}
}

export function noInstaller(name: string, packageName: string): PackagesError {
	const message = `${name} isn’t installed on this machine, so packages can’t be installed.`;
	return new PackagesError('NoInstaller', message, `Whoever runs the server can install it: ${packageName}.`);
}
