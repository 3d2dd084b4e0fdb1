/** Every page, in both themes, wide and narrow: accessible, no overflow, no policy violations, small download. */
import { AxeBuilder } from '@axe-core/playwright';
import type { Page, Request } from '@playwright/test';
import { besideScreen } from '../support/beside-screen.ts';
import { expect, test } from './app.ts';

const LOOKS = [
	{ theme: 'light', width: 1280, height: 800 },
	{ theme: 'dark', width: 390, height: 844 }
] as const;

/** Pages that only need the bundled skills, and an element shown when they're ready. */
const PAGES = [
	['/', '[data-testid=composer-input]'],
	['/skills', '[data-testid=skills-page]'],
	['/skills/count-words', '[data-testid=skill-page]'],
	['/skills/new', 'form'],
	['/skills/install', '[data-testid=install-page]'],
	['/skills/drafts', '[data-testid=drafts-page]'],
	['/trash', '[data-testid=trash-page]'],
	['/skills/scores', '[data-testid=scores-page]'],
	['/skills/updates', '[data-testid=updates-page] [data-testid=check-updates]:enabled'],
	['/skills/executions', '[data-testid=executions-page]'],
	['/settings', '[data-testid=settings-page] [data-testid=connect]:enabled'],
	['/connect', '[data-testid=connect-page] [data-testid=snippet-claude-code]'],
	['/account/callback', '[data-testid=sign-in-error]'],
	['/settings/mcp/office', '[data-testid=mcp-sign-in-error]'],
	['/docs/api', '[data-testid=api-page] [data-testid=operation]'],
	['/docs/api#changeSettings', '[data-testid=api-page] [data-testid=send]'],
	['/c/there-is-none', '[data-testid=load-error]'],
	['/nowhere', 'h1']
] as const;

for (const [path, ready] of PAGES) {
	test(`UI 8: ${path} is accessible and fits, light and wide, dark and narrow`, async ({ page }) => {
		const problems = watch(page);
		await page.goto(path);
		for (const { theme, width, height } of LOOKS) {
			// With reduced motion, the new colours apply at once.
			await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
			await page.setViewportSize({ width, height });
			await expect(page.locator(ready).first()).toBeVisible();
			await expectAccessible(page);
		}
		expect(problems).toEqual([]);
	});
}

test('UI 8: a tab is called what its page is, and /runs leads to the runs', async ({ page }) => {
	for (const [path, title] of [
		['/skills', 'Skills'],
		['/skills/skills/count-words', 'count-words · Skills'],
		['/skills/edit/count-words', 'Edit count-words'],
		['/runs?skill=count-words', 'Runs']
	] as const) {
		await page.goto(path);
		await expect(page).toHaveTitle(`${title} · OpenRouter Skills`);
	}
	await expect(page).toHaveURL(/\/skills\/executions\?skill=count-words$/);
});

for (const { theme, width, height } of LOOKS) {
	test.describe(`${theme}, ${width} pixels`, () => {
		test.use({ viewport: { width, height }, colorScheme: theme });

		test('UI 8: a conversation with its steps open is accessible and fits', async ({ page }) => {
			const problems = watch(page);
			await page.goto('/');
			await page.getByTestId('composer-input').fill('Count the words of "the quick brown fox"');
			await page.getByTestId('send').click();
			await expect(page.locator('[data-role=assistant][data-status=complete]')).toBeVisible();
			for (const toggle of ['step-fold', 'step-toggle']) {
				const closed = page.locator(`[data-testid=${toggle}][aria-expanded=false]`);
				while ((await closed.count()) > 0) await closed.first().click();
			}
			await expectAccessible(page);
			expect(problems).toEqual([]);
		});

		test('UI 8: the palette, the shortcuts and the list of models are accessible and fit', async ({ page }) => {
			await page.goto('/');
			await expect(page.getByTestId('composer-input')).toBeVisible();
			await page.keyboard.press('Control+k');
			await expect(page.getByTestId('palette')).toBeVisible();
			await expectAccessible(page);
			await page.keyboard.press('Escape');
			await page.keyboard.press('Control+/');
			await expect(page.getByTestId('shortcuts-dialog')).toBeVisible();
			await expectAccessible(page);
			await page.keyboard.press('Escape');
			await page.getByTestId('model-chip').click();
			await expect(page.getByTestId('model-panel')).toBeVisible();
			await expectAccessible(page);
		});
	});
}

test.describe('while it loads', () => {
	test.beforeEach(({ page }) =>
		page.addInitScript(() => {
			const shifts: { value: number; moved: string[] }[] = [];
			Object.assign(window, { shifts });
			const placeOf = ({ x, y, width, height }: DOMRectReadOnly): string =>
				[x, y, width, height].map(Math.round).join(' ');
			new PerformanceObserver((list) => {
				for (const entry of list.getEntries() as unknown as LayoutShift[]) {
					if (entry.hadRecentInput) continue;
					const moved = entry.sources.map(({ node, previousRect, currentRect }) => {
						const what = node instanceof Element ? node.outerHTML.slice(0, 120) : 'text';
						return `${placeOf(previousRect)} → ${placeOf(currentRect)} ${what}`;
					});
					shifts.push({ value: entry.value, moved });
				}
			}).observe({ type: 'layout-shift', buffered: true });
		})
	);

	for (const [path, ready] of [...PAGES, ['/settings#mcp-servers', '[data-testid=mcp-none]']] as const) {
		test(`PERF: nothing on ${path} moves, wide and narrow`, async ({ page }) => {
			for (const [index, { width, height }] of LOOKS.entries()) {
				await page.setViewportSize({ width, height });
				// Once with nothing in the browser's cache, once with everything.
				await (index === 0 ? page.goto(path) : page.reload());
				await expect(page.locator(ready).first()).toBeVisible();
				await expectStill(page);
			}
		});
	}

	for (const { width, height } of LOOKS) {
		test(`PERF: nothing moves while the first example is answered, ${width} pixels wide`, async ({ page }) => {
			await page.setViewportSize({ width, height });
			await page.goto('/');
			// By a script: what moves within half a second of a real click doesn't count, which on a fast machine is all of it.
			await page.getByTestId('example').filter({ hasText: 'Chart revenue by region' }).dispatchEvent('click');
			await expect(page.locator('[data-role=assistant][data-status=complete]')).toBeVisible();
			await expectStill(page);
		});

		test(`PERF: nothing in a conversation with steps and in the runs moves, ${width} pixels wide`, async ({ page }) => {
			await page.setViewportSize({ width, height });
			await page.goto('/');
			await page.getByTestId('composer-input').fill('Count the words of "the quick brown fox"');
			await page.getByTestId('send').click();
			const answer = page.locator('[data-role=assistant][data-status=complete]');
			await expect(answer).toBeVisible();
			await expect(page).toHaveURL(/\/c\//);
			await page.reload();
			await expect(answer).toBeVisible();
			await expectStill(page);
			await page.goto('/skills/executions');
			await expect(page.getByTestId('execution').first()).toBeVisible();
			await expectStill(page);
			await page.getByTestId('execution-link').first().click();
			await expect(page.getByTestId('execution-output')).toBeVisible();
			await page.reload();
			await expect(page.getByTestId('execution-output')).toBeVisible();
			await expectStill(page);
		});
	}
});

test('PERF: the first page needs at most 25 requests and 150 KB of compressed scripts', async ({ page }) => {
	const requests: Request[] = [];
	page.on('requestfinished', (request) => requests.push(request));
	await page.goto('/');
	await expect(page.getByTestId('example').first()).toBeVisible();
	await page.waitForLoadState('networkidle');
	const scripts = requests.filter((request) => request.resourceType() === 'script');
	const sizes = await Promise.all(scripts.map(async (request) => (await request.sizes()).responseBodySize));
	const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
	expect(scripts.length).toBeGreaterThan(3);
	expect(total).toBeLessThan(150_000);
	expect(requests.length, requests.map((request) => request.url()).join('\n')).toBeLessThanOrEqual(25);
});

test('UI 10.4: the page of all parts is for developers: this server has none', async ({ page }) => {
	const response = await page.goto('/dev/parts');
	expect(response?.status()).toBe(404);
	await expect(page.getByTestId('parts')).toHaveCount(0);
});

interface LayoutShift {
	value: number;
	hadRecentInput: boolean;
	sources: { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[];
}

/** Layout shifts since the page loaded, except after user input. */
async function expectStill(page: Page): Promise<void> {
	await page.waitForLoadState('networkidle');
	const shifts = await page.evaluate(
		() => (window as unknown as { shifts: { value: number; moved: string[] }[] }).shifts
	);
	const sum = shifts.reduce((all, { value }) => all + value, 0);
	expect(sum, JSON.stringify(shifts, null, 1)).toBeLessThan(0.02);
}

/** Browser complaints: blocked scripts and styles, errors, failed loads. */
function watch(page: Page): string[] {
	const problems: string[] = [];
	page.on('console', (message) => {
		// A 404 is the server's answer, which the page shows.
		if (message.type() === 'error' && !message.text().includes('404')) problems.push(message.text());
	});
	page.on('pageerror', (error) => problems.push(String(error)));
	return problems;
}

async function expectAccessible(page: Page): Promise<void> {
	// A new size is drawn in the next frame, and the sidebar of a narrow page leaves with a transition.
	const moving = () =>
		page.evaluate(async () => {
			await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
			const running = document.getAnimations().filter(({ playState }) => playState === 'running');
			return running.filter(({ timeline }) => timeline === document.timeline).length;
		});
	await expect.poll(moving).toBe(0);
	// In the page alone, as it has no frames, and without a list of all that is well: each look takes a third of the time.
	expect(page.frames()).toHaveLength(1);
	const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
	const { violations } = await axe.analyze();
	const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join('\n  ')}`);
	expect(found).toEqual([]);
	expect(await besideScreen(page)).toBe(0);
}
