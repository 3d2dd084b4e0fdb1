/** `npm run check:changed` and `npm run test:changed`: what changed since the last commit alone, and the tests near it. */
import { execFileSync } from 'node:child_process';
import { glob, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { importsOf } from '../tests/support/source-rules.ts';
import { runChecks } from './checks.ts';
import { root, runTool } from './run-tool.ts';

const cache = join(root, 'node_modules/.cache');
const files = changedFiles();
if (files.length === 0) {
	console.log('No changes since the last commit.');
} else {
	const isPassed = process.argv[2] === 'test' ? await testChanged() : await checkChanged();
	if (!isPassed) process.exitCode = 1;
}

/** Types of everything, read anew only where something changed; the rest of the checks look at these files alone. */
async function checkChanged(): Promise<boolean> {
	const code = files.filter((file) => /\.(ts|js|mjs|svelte)$/.test(file));
	const results = await runChecks([
		{
			name: 'types',
			tool: 'svelte-check',
			args: ['--incremental', '--tsconfig', './tsconfig.json', '--fail-on-warnings']
		},
		{ name: 'format', tool: 'prettier', args: ['--check', '--ignore-unknown', '--log-level=warn', ...files] },
		...(code.length === 0
			? []
			: [
					{
						name: 'lint',
						tool: 'eslint',
						args: ['--max-warnings=0', '--no-warn-ignored', '--cache', `--cache-location=${cache}/eslint/`, ...code]
					},
					{ name: 'architecture', tool: 'vitest', args: ['run', 'tests/architecture.test.ts', '--project=node'] }
				])
	]);
	return results.every((result) => result.isPassed);
}

/** The tests that import what changed, and those that stand beside it or beside what imports it. */
async function testChanged(): Promise<boolean> {
	const tests = await nearTests();
	if (tests.length === 0) {
		console.log('No unit tests for these changes.');
		return true;
	}
	const { exitCode } = await runTool('vitest', ['run', '--project=node', '--project=browser', ...tests], {
		isShown: true
	});
	if (files.some((file) => /^src\/(lib\/page|routes)\//.test(file)))
		console.log('What a person sees: npx playwright test tests/e2e/<part>.spec.ts');
	return exitCode === 0;
}

async function nearTests(): Promise<string[]> {
	const imports = new Map<string, string[]>();
	for await (const file of glob('{src,tests,scripts,bench}/**/*.{ts,svelte}', { cwd: root })) {
		const path = file.replaceAll('\\', '/');
		const found = importsOf(path, await readFile(join(root, path), 'utf8'));
		imports.set(
			path,
			found.map((specifier) => pathOf(path, specifier)).filter((target) => target !== null)
		);
	}
	const changed = new Set(files);
	const users = [...imports]
		.filter(([, targets]) => targets.some((target) => changed.has(target)))
		.map(([file]) => file);
	const stems = new Set([...files, ...users].map(stemOf));
	const isTest = (file: string) => /\.test\.ts$/.test(file);
	return [...imports.keys()].filter(
		(file) => isTest(file) && (users.includes(file) || stems.has(stemOf(file)) || changed.has(file))
	);
}

/** From the project's root; null for a package. */
function pathOf(file: string, specifier: string): string | null {
	if (specifier.startsWith('$lib/')) return posix.join('src/lib', specifier.slice('$lib/'.length));
	return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : null;
}

/** `a/b.svelte.test.ts` → `a/b`. */
function stemOf(file: string): string {
	return file.replace(/(\.svelte)?(\.test)?\.(ts|svelte)$/, '');
}

/** Of the last commit's tree, those that are other now or new; from the project's root. */
function changedFiles(): string[] {
	const list = (...args: string[]): string[] => {
		return execFileSync('git', [...args, '-z'], { cwd: root, encoding: 'utf8' })
			.split('\0')
			.filter(Boolean);
	};
	const edited = list('diff', 'HEAD', '--name-only', '--diff-filter=d', '--relative');
	return [...new Set([...edited, ...list('ls-files', '--others', '--exclude-standard')])];
}
