/** Opens a page in its own Chromium, whose only network access is a guarded proxy (D31). */
import { createLine } from '../../shared/in-turn.ts';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { BrowserContext, BrowserType, Page } from 'playwright-core';
import type { NetworkSession } from '../skills/run/execution-host.ts';

export interface BrowserPage {
	page: Page;
	/** Refused connections so far: `host:port`. */
	refused(): string[];
	readonly isOpen: boolean;
	/** Closes the browser and its proxy, and deletes its files. */
	close(): Promise<void>;
}

/** Only the proxy resolves names, so that it connects to the address it checked. WebRTC and local hosts can’t bypass it. */
const ARGUMENTS = [
	'--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
	'--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
	'--disable-quic',
	'--disable-gpu',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync'
];
const ACTION_TIMEOUT_MS = 15_000;
const START_TIMEOUT_MS = 30_000;

/** @throws Error if Chromium can’t be started */
export async function openBrowserPage(
	playwright: BrowserType,
	chromium: Chromium,
	network: NetworkSession
): Promise<BrowserPage> {
	const home = await mkdtemp(join(tmpdir(), 'browser-'));
	const relay = await openLoopbackRelay(network.socket);
	const cleanUp = async () => {
		await relay.close();
		await network.close();
		await rm(home, { recursive: true, force: true, maxRetries: 3 });
	};
	try {
		const browser = await playwright.launch({
			executablePath: chromium.executablePath,
			args: [...new Set([...(chromium.args ?? []), ...ARGUMENTS])],
			// Without the server’s own variables.
			env: { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8', ...chromium.env },
			proxy: { server: `http://127.0.0.1:${relay.port}`, bypass: '<-loopback>' },
			// Chromium’s sandbox doesn’t work as root.
			chromiumSandbox: process.platform !== 'linux' || process.getuid?.() !== 0,
			handleSIGHUP: false,
			handleSIGINT: false,
			handleSIGTERM: false,
			timeout: START_TIMEOUT_MS
		});
		const closed = new Promise<void>((resolve) => browser.once('disconnected', () => resolve()));
		void closed.then(cleanUp);
		const context = await browser.newContext({ acceptDownloads: false, serviceWorkers: 'block', permissions: [] });
		const page = await preparePage(context);
		return {
			page,
			refused: () => network.refused(),
			get isOpen() {
				return browser.isConnected() && !page.isClosed();
			},
			async close() {
				await browser.close();
				await closed;
			}
		};
	} catch (error) {
		await cleanUp();
		throw error;
	}
}

async function preparePage(context: BrowserContext): Promise<Page> {
	context.setDefaultTimeout(ACTION_TIMEOUT_MS);
	await context.route('**/*', (route) => {
		const isWeb = /^https?:$/.test(new URL(route.request().url()).protocol);
		return isWeb ? route.continue() : route.abort('blockedbyclient');
	});
	const page = await context.newPage();
	// One page per conversation: popups are closed.
	context.on('page', (other) => void other.close());
	return page;
}

// Open pages: one per conversation, a few at once, closed when idle (D31).

const IDLE_MS = 5 * 60 * 1000;
const MAX_PAGES = 4;

interface Entry {
	page: BrowserPage;
	idle: NodeJS.Timeout;
}

export function createBrowserPages(start: () => Promise<BrowserPage>) {
	/** Least recently used first. */
	const entries = new Map<string, Entry>();
	const opening = new Map<string, Promise<BrowserPage>>();
	const inTurn = createLine();

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
		const idle = setTimeout(() => void close(key), IDLE_MS);
		idle.unref();
		entries.set(key, { page, idle });
		return page;
	}

	/** The conversation’s page; null without one. */
	function get(key: string): BrowserPage | null {
		const page = entries.get(key)?.page;
		if (page?.isOpen) return keep(key, page);
		void close(key);
		return null;
	}

	/** One at a time, so that concurrent starts can’t exceed the maximum. */
	function startFor(key: string): Promise<BrowserPage> {
		return inTurn(async () => {
			const [oldest] = entries.keys();
			if (entries.size >= MAX_PAGES && oldest !== undefined) await close(oldest);
			return keep(key, await start());
		});
	}

	return {
		get,
		/** The conversation’s page, opened if needed. */
		async open(key: string): Promise<BrowserPage> {
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

// Forwards a local port to a unix socket, for programs without support for those.

/** @throws Error without a free port */
async function openLoopbackRelay(socketPath: string) {
	const sockets = new Set<Socket>();
	const own = (socket: Socket) => {
		sockets.add(socket);
		socket.on('close', () => sockets.delete(socket));
		return socket;
	};
	const server = createServer({ allowHalfOpen: true }, (near) => {
		const far = own(connect({ path: socketPath, allowHalfOpen: true }));
		own(near).pipe(far).pipe(near);
		near.on('error', () => far.destroy());
		far.on('error', () => near.destroy());
		near.on('close', () => far.destroy());
		far.on('close', () => near.destroySoon());
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		port: (server.address() as AddressInfo).port,
		async close() {
			const closed = once(server, 'close');
			server.close();
			for (const socket of sockets) socket.destroy();
			await closed;
		}
	};
}

// Finds a Chromium: the operator’s, Playwright’s, or the system’s (D31).

export interface Chromium {
	/** Absolute path. */
	executablePath: string;
	args?: readonly string[];
	/** In addition to PATH, HOME and LANG. */
	env?: Readonly<Record<string, string>>;
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const ELSEWHERE = [
	'/snap/bin/chromium',
	'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
	'/Applications/Chromium.app/Contents/MacOS/Chromium',
	'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'
];

/** `own` is the path of Playwright’s. Returns null if none exists, or if CHROMIUM_PATH names a missing file. */
export function findChromium(
	environment: Readonly<Record<string, string | undefined>>,
	own: string | null
): Chromium | null {
	const chosen = environment.CHROMIUM_PATH;
	const folders = [...(environment.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'].filter(Boolean);
	const onPath = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
	const candidates = chosen ? [chosen] : [...(own ? [own] : []), ...onPath, ...ELSEWHERE];
	const executablePath = candidates.find((path) => existsSync(path));
	return executablePath ? { executablePath } : null;
}
