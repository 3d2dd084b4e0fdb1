/** Finds the Chromium for Playwright and for Vitest's browser project on any machine, even a bare one. */

import { chromium as playwrightChromium } from '@playwright/test';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { unpackChromium, type UnpackedChromium } from './chromium-package.ts';

/** For Playwright's `launchOptions`. */
export interface Chromium {
	/** Absolute path. */
	executablePath: string;
	args: string[];
	/** The browser's whole environment: this process's, plus what its libraries and fonts need. */
	env: Record<string, string>;
}

export interface FindChromiumOptions {
	/** Source of `CHROMIUM_PATH` and `PATH`. Default: `process.env`. */
	environment?: NodeJS.ProcessEnv;
	/** The one from `npm ci`; null if there is none. Default: unpacked from its package, on Linux x64. */
	bundled?: () => Promise<UnpackedChromium | null>;
	/** Absolute paths to try after the bundled one, in order. Default: Playwright's own, then the system's. */
	installed?: string[];
}

const ARGS = [
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync'
];

const SYSTEM_NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

const SYSTEM_PATHS = [
	'/snap/bin/chromium',
	'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
	'/Applications/Chromium.app/Contents/MacOS/Chromium',
	'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
	'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe'
];

/**
 * Order: `CHROMIUM_PATH`, the one from `npm ci`, Playwright's own, the system's. Installed browsers come last, because
 * a fresh clone runs the same tests everywhere only if it uses the same browser.
 * Throws if `CHROMIUM_PATH` names no file, or if there is none at all.
 */
export async function findChromium(options: FindChromiumOptions = {}): Promise<Chromium> {
	const environment = options.environment ?? process.env;
	const chosen = environment.CHROMIUM_PATH;
	if (chosen) {
		if (!existsSync(chosen)) throw new Error(`CHROMIUM_PATH names no file: ${chosen}`);
		return { executablePath: chosen, args: launchArgs(), env: defined(environment) };
	}

	const bundled = await (options.bundled ?? unpackBundled)().catch((error: Error) => error);
	if (bundled && !(bundled instanceof Error)) {
		return {
			executablePath: bundled.executablePath,
			args: launchArgs(),
			env: { ...defined(environment), ...bundled.env }
		};
	}

	const [executablePath] = installedPaths(options);
	if (executablePath) return { executablePath, args: launchArgs(), env: defined(environment) };
	throw new Error(
		`No Chromium for ${process.platform} ${process.arch}: run "npx playwright install chromium", or set CHROMIUM_PATH.`,
		{ cause: bundled }
	);
}

/** A different Chromium on this machine than `findChromium` picks, to run the same tests in; null if there is none. */
export async function findSecondChromium(options: FindChromiumOptions = {}): Promise<string | null> {
	const { executablePath } = await findChromium(options);
	const first = realpathSync(executablePath);
	return installedPaths(options).find((path) => realpathSync(path) !== first) ?? null;
}

/** Those that exist. */
function installedPaths({ environment = process.env, installed }: FindChromiumOptions): string[] {
	const paths = installed ?? [playwrightChromium.executablePath(), ...systemPaths(environment)];
	return paths.filter((path) => existsSync(path));
}

async function unpackBundled(): Promise<UnpackedChromium | null> {
	return process.platform === 'linux' && process.arch === 'x64' ? unpackChromium() : null;
}

function systemPaths(environment: NodeJS.ProcessEnv): string[] {
	// Standard folders besides PATH, which is often short in cron jobs and CI.
	const folders = [...(environment.PATH ?? '').split(':'), '/usr/bin', '/usr/local/bin'].filter(Boolean);
	return [...folders.flatMap((folder) => SYSTEM_NAMES.map((name) => join(folder, name))), ...SYSTEM_PATHS];
}

function launchArgs(): string[] {
	// Chromium refuses to sandbox itself as root.
	return process.getuid?.() === 0 ? ['--no-sandbox', ...ARGS] : ARGS;
}

function defined(environment: NodeJS.ProcessEnv): Record<string, string> {
	return Object.fromEntries(
		Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined)
	);
}
