/** The skill `browser`: opens a page, reads it, clicks, types and takes screenshots. Off by default (D31). */
import { createRequire } from 'node:module';
import { stripVTControlCharacters } from 'node:util';
import type { BrowserType, Page } from 'playwright-core';
import type { NetworkSession } from '../skills/run/execution-host.ts';
import { type BrowserPage, type Chromium, createBrowserPages, openBrowserPage } from './browser-page.ts';
import { defineBuiltin, type Builtin, type BuiltinContext, type BuiltinOutcome } from './builtin.ts';
import { checkWorkspacePath, writeInRoom, writeWhole } from './file-tools.ts';
import { callerKey, createTurns, type Turns } from '../skills/turns.ts';
import { SkillError } from '../skills/types.ts';
import type { WorkspaceRooms } from '../workspace-rooms.ts';

export interface BrowserOptions {
	isEnabled: boolean;
	/** `own` is the path of Playwright’s. */
	findChromium(own: string | null): Chromium | null | Promise<Chromium | null>;
	/** Opens the guarded proxy to public addresses; closed with the page. */
	openNetwork(id: string): Promise<NetworkSession>;
	/** Queue shared with the scripts of skills. Default: no waiting. */
	turns?: Turns | undefined;
	rooms: WorkspaceRooms;
	maxChars: number;
}

type Arguments = { action: string } & Partial<Record<'url' | 'selector' | 'text' | 'path', string>>;

const SWITCHED_OFF =
	'The browser is off on this server. Whoever runs it can turn it on with SKILLS_BROWSER_ENABLED=true. It needs Chromium.';
/** A variable, so that the bundler leaves it out; loaded when first needed. */
const PACKAGE = 'playwright-core';
/** A failed `import` is cached until the next start; `require` tries again. */
const load = createRequire(import.meta.url);
const MAX_PICTURE_BYTES = 20 * 1024 * 1024;
const OPEN_TIMEOUT_MS = 30_000;
const NEEDED: Record<string, readonly (keyof Arguments)[]> = {
	open: ['url'],
	text: [],
	click: ['selector'],
	type: ['selector', 'text'],
	screenshot: ['path'],
	close: []
};

export function createBrowser({
	isEnabled,
	findChromium,
	openNetwork,
	turns = createTurns(),
	rooms,
	maxChars
}: BrowserOptions): Builtin {
	let count = 0;
	const pages = createBrowserPages(async () => {
		const playwright = loadPlaywright();
		const chromium = await findChromium(ownPath(playwright));
		if (!chromium) {
			const hint = 'Install Chromium (“npx playwright install chromium”), or set CHROMIUM_PATH to an installed one.';
			throw new SkillError('MissingDependency', 'Chromium isn’t installed on this computer.', hint);
		}
		count += 1;
		return openBrowserPage(playwright, chromium, await openNetwork(`browser-${count}`));
	});
	return defineBuiltin({
		name: 'browser',
		description:
			'Use a web page in a real browser: open an address, read the text, click, type, take a screenshot into the working directory. Selectors are CSS, or “text=Words on a button”.',
		tags: ['browser', 'website', 'web page', 'webpage', 'screenshot', 'click on'],
		lane: 'builtin:browser',
		asksFirst: true,
		sandbox: 'direct',
		properties: {
			action: { type: 'string', enum: Object.keys(NEEDED), description: 'What to do. Start with “open”.' },
			url: { type: 'string', maxLength: 8192, description: 'For “open”: http or https.' },
			selector: { type: 'string', maxLength: 2000, description: 'For “click” and “type”.' },
			text: { type: 'string', maxLength: 100_000, description: 'For “type”: the text to enter.' },
			path: { type: 'string', description: 'For “screenshot”: a .png in the working directory.' }
		},
		required: ['action'],
		unavailable: () => (isEnabled ? null : SWITCHED_OFF),
		close: () => pages.closeAll(),
		async run(args, context) {
			const asked = args as Arguments;
			const missing = NEEDED[asked.action]?.find((name) => !asked[name]);
			if (missing) throw new SkillError('InvalidArgs', `“${asked.action}” needs “${missing}”.`);
			if (asked.action === 'close') {
				await pages.close(context.workspace);
				return { ok: true, value: { closed: true }, sandbox: 'direct' };
			}
			if (asked.url !== undefined) checkAddress(asked.url);
			const turn = { caller: callerKey(context.caller), lane: null, signal: context.signal };
			const onAbort = () => void pages.close(context.workspace);
			context.signal.addEventListener('abort', onAbort, { once: true });
			try {
				return await turns.run(turn, () => use(asked, context));
			} finally {
				context.signal.removeEventListener('abort', onAbort);
			}
		}
	});

	async function use(asked: Arguments, context: BuiltinContext): Promise<BuiltinOutcome> {
		const open = asked.action === 'open' ? await pages.open(context.workspace) : pages.get(context.workspace);
		if (!open) throw new SkillError('InvalidArgs', 'No page is open.', 'Start with the action “open”.');
		// If stopped while the page was opening, there was nothing to close yet.
		if (context.signal.aborted) await pages.close(context.workspace);
		context.signal.throwIfAborted();
		const before = open.refused().length;
		try {
			const outcome = await act(open, asked, context, { rooms, maxChars });
			return { ...outcome, refused: open.refused().slice(before) };
		} catch (error) {
			throw error instanceof SkillError ? error : new SkillError('ExecutionFailed', sentenceOf(error));
		}
	}
}

async function act(
	open: BrowserPage,
	{ action, url = '', selector = '', text = '', path = '' }: Arguments,
	context: BuiltinContext,
	{ rooms, maxChars }: Pick<BrowserOptions, 'rooms' | 'maxChars'>
): Promise<BuiltinOutcome> {
	const { page } = open;
	switch (action) {
		case 'open': {
			const response = await page
				.goto(url, { waitUntil: 'domcontentloaded', timeout: OPEN_TIMEOUT_MS })
				.catch((error: unknown) => {
					throw refusalOf(open, url) ?? error;
				});
			const refusal = refusalOf(open, page.url());
			if (refusal) throw refusal;
			return read(page, maxChars, { status: response?.status() ?? null });
		}
		case 'click':
			await page.locator(selector).first().click();
			await page.waitForLoadState('domcontentloaded');
			return read(page, maxChars);
		case 'type':
			await page.locator(selector).first().fill(text);
			return read(page, maxChars);
		case 'screenshot': {
			const name = checkWorkspacePath(path);
			if (!/\.png$/i.test(name)) throw new SkillError('InvalidArgs', 'The path must end with “.png”.');
			const picture = await page.screenshot({ type: 'png' });
			const { workspace, signal } = context;
			const bytes = await writeInRoom(workspace, { rooms, path: name, bytes: picture.length }, () =>
				writeWhole(workspace, picture, { path: name, maxBytes: MAX_PICTURE_BYTES, signal })
			);
			const files = [{ path: name, bytes }];
			return { ok: true, value: { url: page.url(), path: name, bytes }, files, sandbox: 'direct' };
		}
		default:
			return read(page, maxChars);
	}
}

async function read(page: Page, maxChars: number, more: Record<string, unknown> = {}): Promise<BuiltinOutcome> {
	const text = await page.locator('body').innerText();
	const facts = { url: page.url(), title: await page.title(), ...more };
	const shown = { text: text.slice(0, maxChars), truncated: text.length > maxChars };
	return { ok: true, value: { ...facts, ...shown }, sandbox: 'direct' };
}

/** @throws SkillError unless it is a web address */
function checkAddress(text: string): void {
	const url = URL.parse(text);
	if (!url || !/^https?:$/.test(url.protocol)) {
		throw new SkillError('InvalidArgs', `“${text.slice(0, 200)}” isn’t an http or https address.`);
	}
	if (url.username || url.password) {
		throw new SkillError('InvalidArgs', 'Addresses with a user name or password can’t be opened.');
	}
}

/** For a refused host the proxy answers itself, so its page must not be shown as the site’s. */
function refusalOf(open: BrowserPage, address: string): SkillError | null {
	const url = URL.parse(address);
	if (!url) return null;
	const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
	const port = url.port || (url.protocol === 'https:' ? '443' : '80');
	if (!open.refused().includes(`${host}:${port}`)) return null;
	return new SkillError('InvalidArgs', `${url.host} isn’t on the public internet, so access is blocked.`);
}

/** The first line of Playwright’s error, without colours. */
function sentenceOf(error: unknown): string {
	const text = error instanceof Error ? error.message : String(error);
	return stripVTControlCharacters(text.split('\n')[0] ?? '').slice(0, 500);
}

function loadPlaywright(): BrowserType {
	try {
		const { chromium } = load(PACKAGE) as { chromium: BrowserType };
		return chromium;
	} catch (error) {
		const hint = 'Whoever runs the server can install it with “npm install playwright-core”.';
		throw new SkillError('MissingDependency', `Couldn’t load Playwright: ${sentenceOf(error)}`, hint);
	}
}

function ownPath(playwright: BrowserType): string | null {
	try {
		return playwright.executablePath();
	} catch {
		// Playwright has none for this system.
		return null;
	}
}
