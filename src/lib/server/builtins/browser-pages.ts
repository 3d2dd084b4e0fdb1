/** The pages that conversations have open: one each, a few at once, none for longer than it is used (FEATURES D31). */
import type { BrowserPage } from './browser-page.ts';

export interface BrowserPages {
	/** The page of this conversation; null when it has none. */
	get(key: string): BrowserPage | null;
	/** Its page, opened when it has none. */
	open(key: string): Promise<BrowserPage>;
	close(key: string): Promise<void>;
	closeAll(): Promise<void>;
}

const IDLE_MS = 5 * 60 * 1000;
const MAX_PAGES = 4;

interface Entry {
	page: BrowserPage;
	idle: NodeJS.Timeout;
}

export function createBrowserPages(start: () => Promise<BrowserPage>, idleMs = IDLE_MS): BrowserPages {
	/** The longest unused first. */
	const entries = new Map<string, Entry>();
	const opening = new Map<string, Promise<BrowserPage>>();
	let lastStart: Promise<unknown> = Promise.resolve();

	async function close(key: string): Promise<void> {
		const entry = entries.get(key);
		if (!entry) return;
		entries.delete(key);
		clearTimeout(entry.idle);
		await entry.page.close();
	}

	function keep(key: string, page: BrowserPage): BrowserPage {
		clearTimeout(entries.get(key)?.idle);
		entries.delete(key);
		const idle = setTimeout(() => void close(key), idleMs);
		idle.unref();
		entries.set(key, { page, idle });
		return page;
	}

	function get(key: string): BrowserPage | null {
		const page = entries.get(key)?.page;
		if (page?.isOpen) return keep(key, page);
		void close(key);
		return null;
	}

	/** One after the other: of several at once each would find room for itself. */
	function startFor(key: string): Promise<BrowserPage> {
		const started = lastStart.then(async () => {
			const [oldest] = entries.keys();
			if (entries.size >= MAX_PAGES && oldest !== undefined) await close(oldest);
			return keep(key, await start());
		});
		lastStart = started.catch(() => undefined);
		return started;
	}

	return {
		get,
		async open(key) {
			const known = get(key) ?? opening.get(key);
			if (known) return known;
			const page = startFor(key).finally(() => opening.delete(key));
			opening.set(key, page);
			return page;
		},
		close,
		async closeAll() {
			await Promise.allSettled(opening.values());
			await Promise.all([...entries.keys()].map(close));
		}
	};
}
