import { sveltekit } from '@sveltejs/kit/vite';
import tailwindcss from '@tailwindcss/vite';
import { existsSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';

export default defineConfig(({ command }) => {
	// The development server reads .env as server.js does. Tests must not: a key in it would call a real model.
	if (command === 'serve' && !process.env.VITEST && existsSync('.env')) process.loadEnvFile('.env');
	return {
		plugins: [tailwindcss(), sveltekit(), webSockets()],
		server: { host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) }
	};
});

/** The development server has a WebSocket of its own; those of the API go to the app, once a first request has started it. */
function webSockets(): Plugin {
	return {
		name: 'web-sockets-of-the-app',
		apply: 'serve',
		configureServer({ httpServer }) {
			httpServer?.on('upgrade', (request, socket, head) => {
				if (!request.url?.startsWith('/v1/')) return;
				if (globalThis.openrouterSkillsUpgrade) globalThis.openrouterSkillsUpgrade(request, socket, head);
				else socket.destroy();
			});
		}
	};
}
