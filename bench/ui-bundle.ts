/** Builds the page that `bench:ui` measures: the app's own components, as the app is built, in a folder of its own. */
import { svelte } from '@sveltejs/vite-plugin-svelte';
import tailwindcss from '@tailwindcss/vite';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { build } from 'vite';

export interface Bundle {
	/** What a path of the page leads to; null when there is no such file. */
	read: (path: string) => { body: Buffer | string; type: string } | null;
	remove: () => Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
	'.js': 'text/javascript',
	'.css': 'text/css',
	'.woff2': 'font/woff2'
};
const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>bench</title>
<link rel="stylesheet" href="/page.css"><body><script type="module" src="/page.js"></script></body></html>`;

export async function bundlePage(): Promise<Bundle> {
	const folder = await mkdtemp(join(tmpdir(), 'openrouter-skills-bench-'));
	const root = join(import.meta.dirname, '..');
	await build({
		root,
		configFile: false,
		publicDir: false,
		logLevel: 'warn',
		plugins: [tailwindcss(), svelte({ configFile: false, emitCss: true })],
		resolve: { alias: { $lib: join(root, 'src/lib') } },
		worker: { format: 'es' },
		build: {
			outDir: folder,
			emptyOutDir: true,
			cssCodeSplit: false,
			chunkSizeWarningLimit: Infinity,
			rolldownOptions: {
				input: { page: join(import.meta.dirname, 'ui-page.svelte.ts') },
				output: {
					entryFileNames: '[name].js',
					assetFileNames: (asset) =>
						asset.names.some((name) => name.endsWith('.css')) ? 'page.css' : 'assets/[name]-[hash][extname]'
				},
				preserveEntrySignatures: false
			}
		}
	});
	return {
		read(path) {
			if (path === '/') return { body: PAGE, type: 'text/html' };
			const file = join(folder, normalize(path));
			return existsSync(file)
				? { body: readFileSync(file), type: TYPES[extname(file)] ?? 'application/octet-stream' }
				: null;
		},
		remove: () => rm(folder, { recursive: true, force: true })
	};
}
