/** `npm start` and the other scripts work on every system Node runs on. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import mutation from '../bench/mutation.vitest.ts';
import stryker from '../bench/stryker.config.js';
import { BALANCERS } from './support/balancer.ts';
import { TEST_PACKAGES } from './support/sandbox-packages.ts';

const root = join(import.meta.dirname, '..');
const { scripts, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
	scripts: Record<string, string>;
	devDependencies: Record<string, string>;
};

/** Commands that packages install (on Windows as `.cmd`); most have the package's name. */
const COMMANDS = ['svelte-kit', 'playwright', 'stryker', ...Object.keys(devDependencies)];

describe('the scripts of package.json need no POSIX shell: on Windows npm runs them in cmd.exe', () => {
	test.each(Object.entries(scripts))('npm run %s: %s', (_, script) => {
		// `&&` is the only operator both shells share: no quotes, variables, globs, pipes or redirections.
		expect(script).toMatch(/^[\w ./:=%@-]+( && [\w ./:=%@-]+)*$/);
		for (const command of script.split(' && ')) {
			// A program npm finds: no shell builtin (`exec`), assignment or Unix program.
			expect(['node', 'npm', ...COMMANDS]).toContain(command.split(' ')[0]);
		}
	});
});

test('npm start refuses options that a clone doesn’t have, and says what to do', () => {
	const started = spawnSync(process.execPath, ['server.js', '--skills', 'mine'], { cwd: root, encoding: 'utf8' });
	expect(started.status).toBe(1);
	expect(started.stderr).toContain('“PORT=4000 npm start”: “--skills” isn’t known.');
});

test('CI runs on Linux, macOS and Windows, with files and scripts that are there', () => {
	const text = readFileSync(join(root, '.github/workflows/ci.yml'), 'utf8');
	const { jobs } = load(text) as { jobs: Record<string, { steps: { run?: string }[] }> };
	for (const system of ['ubuntu-latest', 'macos-latest', 'windows-latest']) expect(text).toContain(system);
	const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
	const files = commands.flatMap((command) => command.split(' ')).filter((word) => /^[\w.]+\/[\w./-]+$/.test(word));
	expect(files.length).toBeGreaterThan(3);
	for (const file of files) expect(existsSync(join(root, file)), file).toBe(true);
	for (const [, name = ''] of commands.join('\n').matchAll(/npm run (\S+)/g)) expect(scripts).toHaveProperty([name]);
});

test('.ci/run installs all that tests need of a machine', () => {
	const installs = readFileSync(join(root, '.ci/run'), 'utf8').match(/apt-get install .*/g) ?? [];
	expect(installs.flatMap((line) => line.split(' '))).toEqual(
		expect.arrayContaining([...TEST_PACKAGES, ...BALANCERS, 'pgbouncer', 'postgresql', 'chromium'])
	);
});

test('npm run test:mutation breaks files that are there, and asks tests that are there', () => {
	const tests = mutation.test?.include ?? [];
	const files = [...stryker.mutate, ...tests];
	expect(tests.length).toBeGreaterThan(10);
	for (const file of files) expect(existsSync(join(root, file.replace('/*.test.ts', ''))), file).toBe(true);
});
