import { readFileSync } from 'node:fs';
import adapter from '@sveltejs/adapter-node';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

/** @type {import('@sveltejs/kit').Config} */
export default {
	kit: {
		version: { name: version },
		adapter: adapter({ precompress: true }),
		// Host, origin and content type are checked by our own door (hooks.server.ts) on every request,
		// which also covers JSON; Kit's own check knows form content types only and would refuse raw uploads.
		csrf: { trustedOrigins: ['*'] },
		csp: {
			mode: 'auto',
			directives: {
				'default-src': ['none'],
				'script-src': ['self'],
				'style-src': ['self'],
				'style-src-attr': ['unsafe-inline'],
				'img-src': ['self', 'data:', 'blob:'],
				// KaTeX has fonts that are small enough to stand in its styles.
				'font-src': ['self', 'data:'],
				'media-src': ['self', 'blob:'],
				'connect-src': ['self'],
				'worker-src': ['self'],
				'manifest-src': ['self'],
				// Diagrams are drawn in a frame of ours that has no origin (routes/frames/diagram).
				'frame-src': ['self'],
				'object-src': ['none'],
				'base-uri': ['none'],
				'form-action': ['self'],
				'frame-ancestors': ['none']
			}
		},
		typescript: {
			config(config) {
				// Node runs these files as they are, so imports carry their .ts ending.
				config.include.push('../scripts/**/*.ts', '../bench/**/*.ts', '../tests/**/*.ts', '../*.config.ts');
				return config;
			}
		}
	}
};
