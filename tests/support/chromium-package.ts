/** Unpacks the Chromium inside the npm package `@sparticuz/chromium` and adds what the machine lacks. */

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

export interface UnpackedChromium {
	executablePath: string;
	/** Variables that make it start and show text here; empty if the machine has the libraries and fonts. */
	env: Record<string, string>;
}

export interface UnpackOptions {
	/** Folder for `chromium-<version>`. Default: inside node_modules, so `npm ci` clears it. */
	cacheFolder?: string;
	/** Where to look for fonts. Default: the system's and the user's. */
	fontFolders?: string[];
}

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const packageEntry = require.resolve('@sparticuz/chromium');
const packageRoot = join(dirname(packageEntry), '..');
const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** Idempotent; two processes may call it at once. Throws the error of the unpacking or of the browser's start. */
export async function unpackChromium(options: UnpackOptions = {}): Promise<UnpackedChromium> {
	const cacheFolder = options.cacheFolder ?? join(projectRoot, 'node_modules/.cache/openrouter-skills');
	const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
	const folder = join(cacheFolder, `chromium-${version}`);
	if (!existsSync(folder)) await unpackInto(folder);

	const executablePath = join(folder, 'chromium');
	const env = {
		...(await libraryVariables(executablePath, join(folder, 'al2023/lib'))),
		...(await fontVariables(folder, options.fontFolders))
	};
	return { executablePath, env };
}

/** The folder gets its name only when it's complete, so nobody finds half a browser. */
async function unpackInto(folder: string): Promise<void> {
	await mkdir(dirname(folder), { recursive: true });
	const staging = await mkdtemp(`${folder}-unpacking-`);
	try {
		// The package unpacks into the platform's temp folder; only a separate process can have its own.
		const script = `
			import { inflate } from ${JSON.stringify(pathToFileURL(packageEntry).href)};
			await Promise.all(process.argv.slice(1).map((archive) => inflate(archive)));`;
		const archives = ['chromium.br', 'fonts.tar.br', 'al2023.tar.br'].map((name) => join(packageRoot, 'bin', name));
		await run(process.execPath, ['--input-type=module', '--eval', script, ...archives], {
			env: { ...process.env, TMPDIR: staging }
		});
		await writeFile(join(staging, 'fonts.conf'), fontsConf(join(folder, 'fonts'), join(folder, 'fontconfig')));
		await rename(staging, folder);
	} catch (error) {
		await rm(staging, { recursive: true, force: true });
		// Another process finished first; its folder is just as good.
		if (!existsSync(folder)) throw error;
	}
}

/** Starts the browser to see if its libraries (mainly NSS) are there: only the loader knows. */
async function libraryVariables(executablePath: string, libraries: string): Promise<Record<string, string>> {
	const inherited = process.env.LD_LIBRARY_PATH;
	const withOurs = { LD_LIBRARY_PATH: inherited ? `${libraries}:${inherited}` : libraries };
	try {
		await run(executablePath, ['--version']);
		return {};
	} catch (error) {
		if (!String(error).includes('error while loading shared libraries')) throw error;
	}
	await run(executablePath, ['--version'], { env: { ...process.env, ...withOurs } });
	return withOurs;
}

async function fontVariables(folder: string, fontFolders = systemFontFolders()): Promise<Record<string, string>> {
	for (const fontFolder of fontFolders) if (await hasFont(fontFolder)) return {};
	// Without any font, text has no size, and Playwright calls it invisible.
	return { FONTCONFIG_FILE: join(folder, 'fonts.conf') };
}

function systemFontFolders(): string[] {
	const home = homedir();
	return ['/usr/share/fonts', '/usr/local/share/fonts', join(home, '.fonts'), join(home, '.local/share/fonts')];
}

async function hasFont(folder: string): Promise<boolean> {
	if (!existsSync(folder)) return false;
	const names = await readdir(folder, { recursive: true });
	return names.some((name) => /\.(ttf|otf|ttc|woff2?)$/i.test(name));
}

function fontsConf(fonts: string, cache: string): string {
	const generic = ['sans-serif', 'serif', 'monospace', 'system-ui'].map(
		(name) => `<alias><family>${name}</family><prefer><family>Open Sans</family></prefer></alias>`
	);
	return [
		'<?xml version="1.0"?>',
		'<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">',
		`<fontconfig><dir>${xmlText(fonts)}</dir><cachedir>${xmlText(cache)}</cachedir>`,
		...generic,
		'</fontconfig>',
		''
	].join('\n');
}

function xmlText(text: string): string {
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
