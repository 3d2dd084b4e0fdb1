/** `static/start.js`, which `src/app.html` loads before the first paint. */
import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const script = read('static/start.js');

/** As much of the DOM as the script needs. */
const HTMLElement = function () {} as unknown as new () => object;

function start(getItem: () => string | null) {
	const root: { dataset: Record<string, string> } = { dataset: {} };
	const note = { hidden: true };
	const listeners: Record<string, (event: unknown) => void> = {};
	const context = createContext({
		document: { documentElement: root, getElementById: (id: string) => (id === 'not-started' ? note : null) },
		localStorage: { getItem },
		addEventListener: (name: string, listener: (event: unknown) => void) => (listeners[name] = listener),
		...{ HTMLElement, DOMException }
	});
	runInContext(script, context);
	return { root, note, listeners };
}

describe('the theme', () => {
	test.each([
		['dark', 'dark'],
		['light', 'light'],
		[null, undefined],
		['system', undefined],
		['"><script>', undefined]
	])('%j is there when the script has run', (stored, theme) => {
		expect(start(() => stored).root.dataset.theme).toBe(theme);
	});

	test('is the system’s where the browser keeps nothing', () => {
		const { root } = start(() => {
			throw new DOMException('denied', 'SecurityError');
		});
		expect(root.dataset).toEqual({});
	});

	test.each(['src/app.html', 'src/error.html', 'static/offline.html'])(
		'comes before everything that paints in %s: the script waits for nothing',
		(path) => {
			const html = read(path);
			const at = html.search(/<script src="(%sveltekit\.assets%)?\/start\.js"><\/script>/);
			expect(at).toBeGreaterThan(0);
			for (const paints of ['%sveltekit.head%', 'rel="stylesheet"', '<body']) {
				const place = html.indexOf(paints);
				if (place !== -1) expect(place).toBeGreaterThan(at);
			}
		}
	);
});

describe('a page that does not start', () => {
	test('says so when a file of it cannot be loaded', () => {
		const { note, listeners } = start(() => null);
		listeners.error?.({ target: new HTMLElement() });
		expect(note.hidden).toBe(false);
	});

	test('says so when an import fails, but not once it has started', () => {
		const { root, note, listeners } = start(() => null);
		root.dataset.started = '';
		listeners.unhandledrejection?.({});
		expect(note.hidden).toBe(true);
		delete root.dataset.started;
		listeners.unhandledrejection?.({});
		expect(note.hidden).toBe(false);
	});
});

test('nothing is inline: the policy would not run it', () => {
	for (const path of ['src/app.html', 'src/error.html', 'static/offline.html']) {
		expect(read(path)).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=/);
	}
});

test('the manifest names icons that are there', () => {
	const { icons, start_url } = JSON.parse(read('static/manifest.webmanifest')) as {
		icons: { src: string; sizes: string; type: string }[];
		start_url: string;
	};
	expect(start_url).toBe('/');
	for (const { src, sizes, type } of icons) {
		const file = readFileSync(new URL(`../static${src}`, import.meta.url));
		if (type !== 'image/png') continue;
		const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
		expect(`${width}x${height}`).toBe(sizes);
	}
});
