import { sveltekit } from '@sveltejs/kit/vite';
import tailwindcss from '@tailwindcss/vite';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { defineConfig, type Plugin, type Rolldown } from 'vite';
import { lingerAfter } from './src/lib/server/linger.ts';

export default defineConfig(({ command, isSsrBuild }) => {
	// The development server reads .env as server.js does. Tests must not: a key in it would call a real model.
	if (command === 'serve' && !process.env.VITEST && existsSync('.env')) process.loadEnvFile('.env');
	return {
		plugins: [tailwindcss(), sveltekit(), startApp()],
		build: isSsrBuild
			? {}
			: {
					rolldownOptions: {
						output: { codeSplitting: { groups: [{ name: createFirstPageGroup(), debugName: 'first page' }] } }
					}
				},
		server: { host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) }
	};
});

/** Starts the app with the development server, which has a WebSocket of its own: those of the API go to the app. */
function startApp(): Plugin {
	return {
		name: 'start-the-app',
		apply: 'serve',
		configureServer({ httpServer, middlewares }) {
			middlewares.use((request, response, next) => {
				lingerAfter(request, response);
				next();
			});
			// A first request, so that what keeps the app from starting is said now and not to the first page.
			// Not by the server of tests in a browser, which has no app.
			if (!process.env.VITEST)
				httpServer?.once('listening', () => {
					const { address, family, port } = httpServer.address() as AddressInfo;
					const host = family === 'IPv6' ? `[${address}]` : address;
					void fetch(`http://${host}:${port}/api/health`).catch(() => undefined);
				});
			httpServer?.on('upgrade', (request, socket, head) => {
				if (!request.url?.startsWith('/v1/')) return;
				if (globalThis.openrouterSkillsUpgrade) globalThis.openrouterSkillsUpgrade(request, socket, head);
				else socket.destroy();
			});
		}
	};
}

/** What the first page loads before anybody does anything. */
const FIRST_PAGE = ['src/routes/+layout.svelte', 'src/routes/(chat)/+layout.svelte', 'src/routes/(chat)/+page.svelte'];

/**
 * All code of the first page in one file: by itself each set of pages that share something would get a file of its own, of
 * a few hundred bytes, and the first page fifty of them. What is imported when it is opened stays apart.
 */
function createFirstPageGroup(): Rolldown.CodeSplittingNameFunction {
	let wanted: Set<string> | undefined;
	return (id, context) => {
		wanted ??= reachable(
			FIRST_PAGE.map((path) => resolve(path)),
			(from) => context.getModuleInfo(from)?.importedIds ?? []
		);
		return wanted.has(id) ? 'first-page' : null;
	};
}

function reachable(from: readonly string[], next: (id: string) => readonly string[]): Set<string> {
	const found = new Set(from);
	// Also those that are added meanwhile.
	for (const id of found) for (const imported of next(id)) found.add(imported);
	return found;
}
