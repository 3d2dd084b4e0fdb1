/** One page of a Chromium of its own, whose only way out is a guarded proxy (FEATURES D31). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, BrowserType, Page } from 'playwright-core';
import type { NetworkSession } from '../skills/execution-host.ts';
import type { Chromium } from './chromium.ts';
import { openLoopbackRelay } from './loopback-relay.ts';

export interface BrowserPage {
	page: Page;
	/** Connections that were refused so far: `host:port`. */
	refused(): string[];
	readonly isOpen: boolean;
	/** Ends the browser, its proxy and all that it wrote. */
	close(): Promise<void>;
}

/**
 * Nothing looks names up but the proxy, which connects to the address that it checked; media streams have no way
 * around it; and no host of this machine is excepted from it.
 */
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

/** @throws Error when Chromium cannot be started */
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
			// None of the server's own variables.
			env: { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8', ...chromium.env },
			proxy: { server: `http://127.0.0.1:${relay.port}`, bypass: '<-loopback>' },
			// Chromium refuses its own sandbox to root.
			chromiumSandbox: process.platform !== 'linux' || process.getuid?.() !== 0,
			handleSIGHUP: false,
			handleSIGINT: false,
			handleSIGTERM: false,
			timeout: START_TIMEOUT_MS
		});
		const closed = new Promise<void>((resolve) => browser.once('disconnected', () => resolve()));
		void closed.then(cleanUp);
		const page = await preparePage(
			await browser.newContext({ acceptDownloads: false, serviceWorkers: 'block', permissions: [] })
		);
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
	// One page a conversation: what a site opens besides is closed.
	context.on('page', (other) => void other.close());
	return page;
}
