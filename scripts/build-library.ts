/**
 * `npm run build:lib [-- folder]`: builds the library with types and the command line into dist/. The command line is
 * bundled, because Node runs no TypeScript in node_modules. `npm pack` adds `--with-app`, which builds the app if it's stale.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { glob, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'vite';
import { buildIfStale } from './build.ts';
import { root, runTool } from './run-tool.ts';

const { values, positionals } = parseArgs({ options: { 'with-app': { type: 'boolean' } }, allowPositionals: true });
const dist = resolve(positionals[0] ?? join(root, 'dist'));
const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
	dependencies: Record<string, string>;
};

await rm(dist, { recursive: true, force: true });
const tsc = [
	join(root, 'node_modules/typescript/bin/tsc'),
	'-p',
	join(root, 'tsconfig.library.json'),
	'--outDir',
	dist
];
const { status, stdout } = spawnSync(process.execPath, tsc, { encoding: 'utf8' });
if (status !== 0) {
	process.stderr.write(stdout);
	process.exit(1);
}
// Others import the skills alone.
for await (const path of glob('**/*.d.ts', { cwd: dist })) {
	if (!/^server[\\/](skills|sandbox)[\\/]/.test(path)) await rm(join(dist, path));
}

// The project's tsconfig.json extends a file that a fresh clone doesn't have yet.
if (!existsSync(join(root, '.svelte-kit/tsconfig.json'))) await runTool('@sveltejs/kit:svelte-kit', ['sync']);
const server = join(root, 'src/lib/server');
await build({
	configFile: false,
	logLevel: 'warn',
	root,
	// As in the app's own build: whatever isn't a dependency of the package must be bundled.
	ssr: { noExternal: true, external: Object.keys(dependencies) },
	build: {
		ssr: true,
		// Commands for skills run on Node 20, too.
		target: 'node20',
		outDir: join(dist, 'bin'),
		emptyOutDir: false,
		rolldownOptions: {
			input: {
				'openrouter-skills': join(server, 'cli/main.ts'),
				server: join(root, 'server.js'),
				runner: join(server, 'sandbox/launch/runner.ts')
			},
			output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' }
		}
	}
});
if (values['with-app']) await buildIfStale();
