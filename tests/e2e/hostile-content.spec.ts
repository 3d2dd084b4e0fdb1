/** What models, scripts, files and skills say is shown, and does nothing: no code runs, no request leaves the page by itself. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { call, startModelServer, text, type ModelServer } from '../support/model-server.ts';
import { expect, test as base } from './app.ts';
import { HOSTILE_NAMES, HOSTILE_SVG, HOSTILE_TEXTS } from './hostile-content.ts';

const test = base.extend<{ quiet: Watch }, { model: ModelServer }>({
	model: [
		// Playwright reads the fixtures that this one needs from the pattern: none.
		// eslint-disable-next-line no-empty-pattern
		async ({}, use) => {
			const model = await startModelServer();
			await use(model);
			await model.close();
		},
		{ scope: 'worker' }
	],
	appOptions: async ({ model }, use) => {
		await use({
			env: { OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'sk-or-v1-test', OPENROUTER_MODEL: 'test/model' }
		});
	},
	/** Says at the end of a test what a page did that it should not have. */
	quiet: async ({ page, app }, use) => {
		const watch = watchPage(page, app.url);
		await use(watch);
		expect(watch.seen).toEqual([]);
	}
});

interface Watch {
	seen: string[];
}

/** What would be danger inside of what a page shows of others' texts. */
const DANGEROUS =
	// A frame without an origin is what diagrams are drawn in; what it shows cannot reach the page.
	'script, iframe:not([sandbox="allow-scripts"]), object, embed, form, link, meta, base, style, video, audio, svg script, [srcdoc], [style*="url("], ' +
	'a[href^="javascript" i], a[href^="data" i], a[href^="vbscript" i], a[href^="file" i], ' +
	'[onload], [onerror], [onclick], [onfocus], [ontoggle], [onbegin], [onmouseover], [onstart]';

function watchPage(page: Page, url: string): Watch {
	const seen: string[] = [];
	page.on('dialog', async (dialog) => {
		seen.push(`a dialog: ${dialog.message()}`);
		await dialog.dismiss();
	});
	page.on('request', (request) => {
		const address = request.url();
		if (!address.startsWith(url) && !/^(data|blob):/.test(address)) seen.push(`a request: ${address}`);
	});
	page.on('framenavigated', (frame) => {
		if (!frame.url().startsWith(url) && frame.url() !== 'about:blank') seen.push(`a page: ${frame.url()}`);
	});
	page.on('popup', (popup) => seen.push(`a window: ${popup.url()}`));
	return { seen };
}

async function expectHarmless(page: Page, region: string): Promise<void> {
	expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
	expect(await page.locator(region).locator(DANGEROUS).count()).toBe(0);
}

async function ask(page: Page, question: string): Promise<void> {
	await page.getByTestId('composer-input').fill(question);
	await page.keyboard.press('Enter');
}
const answers = (page: Page) => page.locator('[data-testid=message][data-role=assistant]');

test('SECURITY What people see: nothing that a model writes runs, loads or leads to code', async ({
	page,
	app,
	model,
	quiet
}) => {
	test.slow();
	expect(HOSTILE_TEXTS.length).toBeGreaterThanOrEqual(60);
	await page.goto(app.url);
	const bundles: string[] = [];
	for (let start = 0; start < HOSTILE_TEXTS.length; start += 15) {
		bundles.push(
			HOSTILE_TEXTS.slice(start, start + 15)
				.map((payload, index) => `Part ${start + index}.\n\n${payload}`)
				.join('\n\n')
		);
	}
	for (const [index, bundle] of bundles.entries()) {
		model.push(text(`${bundle}\n\n\`\`\`\n\`\`\`\n\nThe end of ${index}.`));
		await ask(page, `say ${index}`);
		await expect(answers(page)).toHaveCount(index + 1);
		await expect(answers(page).last()).toHaveAttribute('data-status', 'complete');
		await expectHarmless(page, '[data-testid=messages] [data-testid=markdown]');
	}
	await page.reload();
	await expect(answers(page)).toHaveCount(bundles.length);
	await expectHarmless(page, '[data-testid=messages] [data-testid=markdown]');
	expect(quiet.seen).toEqual([]);
});

test('SECURITY What people see: nor what a script prints, what its files are called and what is in them', async ({
	page,
	app,
	model,
	quiet
}) => {
	const dir = join(app.skillsDir, 'hostile');
	await mkdir(join(dir, 'scripts'), { recursive: true });
	await writeFile(
		join(dir, 'payloads.json'),
		JSON.stringify({ texts: HOSTILE_TEXTS.slice(0, 68), names: HOSTILE_NAMES, svg: HOSTILE_SVG })
	);
	await writeFile(
		join(dir, 'scripts/show.mjs'),
		`import { readFileSync, writeFileSync } from 'node:fs';
const { texts, names, svg } = JSON.parse(readFileSync(process.env.SKILL_DIR + '/payloads.json', 'utf8'));
for (const text of texts) console.log(text);
console.error(texts[0]);
for (const name of names) writeFileSync(name, texts.join('\\n'));
writeFileSync('picture.svg', svg);
`
	);
	await writeFile(join(dir, 'SKILL.md'), '---\nname: hostile\ndescription: Shows things.\n---\nRun show.mjs.\n');
	await page.goto(`${app.url}/skills`);
	await expect(page.locator('[data-testid=skill-row][data-name=hostile]')).toBeVisible();

	model.push(
		call('use_skill', { skill: 'hostile', script: 'show.mjs', args: [HOSTILE_TEXTS[0] ?? ''] }),
		text('Done.')
	);
	await page.goto(app.url);
	await ask(page, 'show it');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	const step = page.locator('[data-testid=step][data-tool=use_skill]');
	await step.getByTestId('step-toggle').click();
	await expect(step.getByTestId('terminal-output')).toContainText('window.pwned');
	await expect(page.locator('[data-testid=file-card]')).toHaveCount(HOSTILE_NAMES.length + 1);
	for (const preview of await page.getByRole('button', { name: /^Preview / }).all()) await preview.click();
	await expect(page.getByTestId('file-preview').first()).toContainText('window.pwned');
	await expectHarmless(page, '[data-testid=messages]');
	// A name that turns the reading direction is shown with what does so, not as what it pretends to be.
	await expect(page.getByTestId('messages')).not.toContainText('\u202E');
	expect(quiet.seen).toEqual([]);
});

test('SECURITY What people see: nor what a skill says of itself, in lists, on its page and in its files', async ({
	page,
	app,
	quiet
}) => {
	const payload = (index: number) => JSON.stringify((HOSTILE_TEXTS[index] ?? '').replaceAll('\n', ' ').slice(0, 900));
	for (const [number, index] of [0, 2, 4, 19, 26, 37, 49, 65, 66].entries()) {
		const dir = join(app.skillsDir, `said-${number}`);
		await mkdir(dir, { recursive: true });
		const head = `name: said-${number}\ndescription: ${payload(index)}\nlicense: ${payload(index)}\nallowed-tools: ${payload(index)}`;
		await writeFile(join(dir, 'SKILL.md'), `---\n${head}\n---\n${HOSTILE_TEXTS[index] ?? ''}\n`);
		await writeFile(join(dir, 'notes.md'), HOSTILE_TEXTS.join('\n\n'));
	}
	await page.goto(`${app.url}/skills`);
	await expect(page.locator('[data-testid=skill-row][data-name=said-8]')).toBeVisible();
	await expectHarmless(page, '[data-testid=skills-page]');
	for (const number of [0, 4, 8]) {
		await page.goto(`${app.url}/skills/said-${number}`);
		await expect(page.getByTestId('skill-name')).toContainText(`said-${number}`);
		for (const file of await page.locator('summary').all()) await file.click();
		await expectHarmless(page, '[data-testid=skill-page] section[aria-label="Skill"]');
		expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
	}
	expect(quiet.seen).toEqual([]);
});
