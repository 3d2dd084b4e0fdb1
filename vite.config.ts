import { sveltekit } from '@sveltejs/kit/vite';
import tailwindcss from '@tailwindcss/vite';
import { existsSync } from 'node:fs';
import { defineConfig } from 'vite';

export default defineConfig(({ command }) => {
	// The development server reads .env as server.js does. Tests must not: a key in it would call a real model.
	if (command === 'serve' && !process.env.VITEST && existsSync('.env')) process.loadEnvFile('.env');
	return {
		plugins: [tailwindcss(), sveltekit()],
		server: { host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) }
	};
});
