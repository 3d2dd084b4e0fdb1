import { sveltekit } from '@sveltejs/kit/vite';
import tailwindcss from '@tailwindcss/vite';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { defineConfig, type Plugin } from 'vite';
import { lingerAfter } from './src/lib/server/linger.ts';

export default defineConfig(({ command }) => {
	// The development server reads .env as server.js does. Tests must not: a key in it would call a real model.
	if (command === 'serve' && !process.env.VITEST && existsSync('.env')) process.loadEnvFile('.env');
	return {
		plugins: [tailwindcss(), sveltekit(), startApp()],
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
