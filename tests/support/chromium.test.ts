import { chromium as playwrightChromium } from '@playwright/test';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { unpackChromium } from './chromium-package.ts';
import { findChromium, findSecondChromium } from './chromium.ts';

let folder: string;

beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'openrouter-skills-chromium-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe('findChromium', () => {
	test('takes CHROMIUM_PATH before any other', async () => {
		const environment = { CHROMIUM_PATH: process.execPath, EXTRA: 'kept' };
		const found = await findChromium({ environment, installed: [import.meta.filename] });
		expect(found.executablePath).toBe(process.execPath);
		expect(found.env).toEqual(environment);
	});

	test('refuses a CHROMIUM_PATH that names no file, and says which', async () => {
		const missing = join(folder, 'missing');
		await expect(findChromium({ environment: { CHROMIUM_PATH: missing } })).rejects.toThrow(missing);
	});

	test('takes the one that comes with npm ci before any that the machine has', async () => {
		const bundled = () => Promise.resolve({ executablePath: import.meta.filename, env: { FONTS: 'ours' } });
		const found = await findChromium({ environment: { EXTRA: 'kept' }, bundled, installed: [process.execPath] });
		expect(found.executablePath).toBe(import.meta.filename);
		expect(found.env).toEqual({ EXTRA: 'kept', FONTS: 'ours' });
	});

	test('takes the first installed one that exists where none comes with npm ci, or it does not start', async () => {
		const installed = [join(folder, 'missing'), process.execPath];
		for (const bundled of [() => Promise.resolve(null), () => Promise.reject(new Error('no loader'))]) {
			const found = await findChromium({ environment: {}, bundled, installed });
			expect(found.executablePath).toBe(process.execPath);
		}
	});

	test('says what to do where there is none at all, and why the one of npm ci does not start', async () => {
		const cause = new Error('no loader');
		const none = findChromium({ environment: {}, bundled: () => Promise.reject(cause), installed: [] });
		await expect(none).rejects.toThrow(
			expect.objectContaining({ message: expect.stringContaining('CHROMIUM_PATH'), cause })
		);
	});

	test('a second one is another than the first, under whatever name', async () => {
		const alias = join(folder, 'alias');
		await symlink(process.execPath, alias);
		const bundled = () => Promise.resolve({ executablePath: process.execPath, env: {} });
		const options = { environment: {}, bundled };
		expect(await findSecondChromium({ ...options, installed: [join(folder, 'missing'), alias] })).toBeNull();
		const installed = [alias, import.meta.filename];
		expect(await findSecondChromium({ ...options, installed })).toBe(import.meta.filename);
	});

	test('finds one on this machine that starts and shows text', async () => {
		const browser = await playwrightChromium.launch(await findChromium());
		try {
			const page = await browser.newPage();
			await page.setContent('<p>text</p>');
			expect(await page.getByText('text').isVisible()).toBe(true);
		} finally {
			await browser.close();
		}
	});
});

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('unpackChromium', () => {
	test('called twice at once unpacks one whole browser, which shows text on a machine without fonts', async () => {
		const options = { cacheFolder: folder, fontFolders: [] };
		const [first, second] = await Promise.all([unpackChromium(options), unpackChromium(options)]);
		expect(second).toEqual(first);
		expect(await readdir(folder)).toEqual([expect.stringMatching(/^chromium-[\d.]+$/)]);
		expect(await readFile(first.env.FONTCONFIG_FILE!, 'utf8')).toContain('Open Sans');

		const browser = await playwrightChromium.launch({
			executablePath: first.executablePath,
			args: ['--no-sandbox', '--disable-gpu'],
			env: { PATH: process.env.PATH!, HOME: folder, ...first.env }
		});
		try {
			const page = await browser.newPage();
			await page.setContent('<span>text</span>');
			expect((await page.locator('span').boundingBox())?.width).toBeGreaterThan(0);
		} finally {
			await browser.close();
		}
	}, 60_000);
});
