/** Finds the Chromium that Playwright and Vitest's browser project run in, on any machine, a bare one too. */

import { chromium as playwrightChromium } from '@playwright/test';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { unpackChromium, type UnpackedChromium } from './chromium-package.ts';

/** What Playwright's `launchOptions` take. */
export interface Chromium {
	/** Absolute path of the program. */
	executablePath: string;
	args: string[];
	/** The whole environment of the browser: this process's, with what its libraries and fonts need. */
	env: Record<string, string>;
}

export interface FindChromiumOptions {
	/** Where `CHROMIUM_PATH` and `PATH` are read. Default: `process.env`. */
	environment?: NodeJS.ProcessEnv;
	/** The one that `npm ci` brings; null where there is none. Default: unpacked from its package, on Linux on x64. */
	bundled?: () => Promise<UnpackedChromium | null>;
	/** Absolute paths tried in this order after the bundled one. Default: Playwright's own, then the system's. */
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
 * In this order: `CHROMIUM_PATH`, the one that `npm ci` brings, Playwright's own, the system's. A fresh clone runs the
 * same tests everywhere only in the same browser, so what happens to be installed comes last.
 * Throws when `CHROMIUM_PATH` names no file, and when there is none at all.
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

/** Another one of this machine than `findChromium` takes, to run the same tests in; null where there is none. */
export async function findSecondChromium(options: FindChromiumOptions = {}): Promise<string | null> {
	const { executablePath } = await findChromium(options);
	const first = realpathSync(executablePath);
	return installedPaths(options).find((path) => realpathSync(path) !== first) ?? null;
}

/** Those that are there. */
function installedPaths({ environment = process.env, installed }: FindChromiumOptions): string[] {
	const paths = installed ?? [playwrightChromium.executablePath(), ...systemPaths(environment)];
	return paths.filter((path) => existsSync(path));
}

async function unpackBundled(): Promise<UnpackedChromium | null> {
	return process.platform === 'linux' && process.arch === 'x64' ? unpackChromium() : null;
}

function systemPaths(environment: NodeJS.ProcessEnv): string[] {
	// Standard folders besides PATH: a cron job or a CI runner may come with a short one.
	const folders = [...(environment.PATH ?? '').split(':'), '/usr/bin', '/usr/local/bin'].filter(Boolean);
	return [...folders.flatMap((folder) => SYSTEM_NAMES.map((name) => join(folder, name))), ...SYSTEM_PATHS];
}

function launchArgs(): string[] {
	// Chromium refuses its own sandbox to root.
	return process.getuid?.() === 0 ? ['--no-sandbox', ...ARGS] : ARGS;
}

function defined(environment: NodeJS.ProcessEnv): Record<string, string> {
	return Object.fromEntries(
		Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined)
	);
}
