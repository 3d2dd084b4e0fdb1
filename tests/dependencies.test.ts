/** No dependency may run code while it's being installed. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gte } from 'semver';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const manifest = readJson('package.json') as { allowScripts?: Record<string, boolean> };
const lock = readJson('package-lock.json') as {
	packages: Record<
		string,
		{ hasInstallScript?: boolean; resolved?: string; version?: string; integrity?: string; inBundle?: boolean }
	>;
};
const installed = Object.entries(lock.packages).filter(([path]) => path.startsWith('node_modules/'));

function readJson(name: string): unknown {
	return JSON.parse(readFileSync(join(root, name), 'utf8'));
}

/** `node_modules/a/node_modules/@b/c` gives `@b/c`. */
function nameOf(path: string): string {
	return path.split('node_modules/').at(-1) ?? path;
}

test('SECURITY The server: every package with an install script is known, and its script is not run', () => {
	const names = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
	expect(new Set(names)).toEqual(new Set(Object.keys(manifest.allowScripts ?? {})));
	expect(Object.values(manifest.allowScripts ?? {}).filter((isAllowed) => isAllowed)).toEqual([]);
});

test('SECURITY The server: every package is what the lock file says, byte for byte', () => {
	expect(installed.length).toBeGreaterThan(100);
	// Packages bundled inside another are covered by that one's entry.
	const unproved = installed.filter(
		([, { integrity, inBundle }]) => !inBundle && !/^sha(256|384|512)-/.test(integrity ?? '')
	);
	expect(unproved.map(([path]) => path)).toEqual([]);
	const elsewhere = installed.filter(([, { resolved }]) => resolved !== undefined && !resolved.startsWith('https://'));
	expect(elsewhere.map(([path]) => path)).toEqual([]);
});

test.each([
	['@sveltejs/kit', '2.70.2'],
	['svelte', '5.55.7'],
	['devalue', '5.8.1']
])('SECURITY The server: %s is %s or newer, for the holes that were closed in it', (name, floor) => {
	const versions = installed.filter(([path]) => nameOf(path) === name).map(([, { version }]) => version ?? '');
	expect(versions).not.toEqual([]);
	expect(versions.filter((version) => !gte(version, floor))).toEqual([]);
});
