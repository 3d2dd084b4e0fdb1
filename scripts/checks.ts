/** The checks: format, lint, types, unused code, architecture; all at once, one line each. */

import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { root, runTool } from './run-tool.ts';

export interface CheckResult {
	name: string;
	isPassed: boolean;
}

const cache = join(root, 'node_modules/.cache');

export interface Check {
	name: string;
	/** See `runTool`. */
	tool: string;
	args: string[];
}

export const CHECKS: readonly Check[] = [
	{ name: 'types', tool: 'svelte-check', args: ['--tsconfig', './tsconfig.json', '--fail-on-warnings'] },
	{ name: 'lint', tool: 'eslint', args: ['.', '--max-warnings=0', '--cache', `--cache-location=${cache}/eslint/`] },
	{ name: 'architecture', tool: 'vitest', args: ['run', 'tests/architecture.test.ts', '--project=node'] },
	{ name: 'unused', tool: 'knip', args: ['--no-progress', '--no-config-hints'] },
	{
		name: 'format',
		tool: 'prettier',
		args: ['--check', '.', '--log-level=warn', '--cache', `--cache-location=${cache}/prettier/cache`]
	}
];

/** Prints a line for each check as it ends, with the output of those that failed. */
export async function runChecks(checks: readonly Check[] = CHECKS): Promise<CheckResult[]> {
	// First and alone: the others read the types that it writes.
	const sync = await runCheck({ name: 'sync', tool: '@sveltejs/kit:svelte-kit', args: ['sync'] });
	return [sync, ...(await Promise.all(checks.map(runCheck)))];
}

async function runCheck({ name, tool, args }: Check): Promise<CheckResult> {
	const startedAt = performance.now();
	const { exitCode, output } = await runTool(tool, args);
	const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
	const isPassed = exitCode === 0;
	console.log(`${isPassed ? '✓' : '✗'} ${name} (${seconds} s)`);
	if (!isPassed) console.log(`${output.trimEnd()}\n`);
	return { name, isPassed };
}
