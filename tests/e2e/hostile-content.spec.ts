/** Content from models, scripts, files and skills is shown but can't act: it runs no code and sends no requests by itself. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { call, text } from '../support/model-server.ts';
import { expect } from './app.ts';
import {
	HOSTILE_COUNT,
	HOSTILE_DIAGRAMS,
	HOSTILE_MATHS,
	HOSTILE_NAMES,
	HOSTILE_PAGE,
	HOSTILE_SVG,
	HOSTILE_TEXTS
} from './hostile-content.ts';
import { ask, expectHarmless, test } from './hostile-watch.ts';

/** Leaves out texts that are hostile only by their length. */
const BRIEF_TEXTS = HOSTILE_TEXTS.filter(({ length }) => length < 1500);

const answers = (page: Page) => page.locator('[data-testid=message][data-role=assistant]');

test('SECURITY What people see: nothing that a model writes runs, loads or leads to code', async ({
	page,
	app,
	model,
	quiet
}) => {
	test.slow();
	expect(HOSTILE_COUNT).toBeGreaterThanOrEqual(100);
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
		JSON.stringify({ texts: BRIEF_TEXTS, names: HOSTILE_NAMES, svg: HOSTILE_SVG, html: HOSTILE_PAGE })
	);
	await writeFile(
		join(dir, 'scripts/show.mjs'),
		`import { readFileSync, writeFileSync } from 'node:fs';
const { texts, names, svg, html } = JSON.parse(readFileSync(process.env.SKILL_DIR + '/payloads.json', 'utf8'));
for (const text of texts) console.log(text);
console.error(texts[0]);
for (const name of names) writeFileSync(name, name.endsWith('.html') ? html : texts.join('\\n'));
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
	await expect(page.getByTestId('file-preview').filter({ hasText: 'Reading' })).toHaveCount(0);
	await expect(page.getByTestId('file-preview').first()).toContainText('window.pwned');
	await expectHarmless(page, '[data-testid=messages]');
	await expect(page.getByTestId('messages')).toContainText('report⟨U+202E⟩fdp.exe');
	await clickEverything(page);
	await page.getByRole('button', { name: 'picture.svg' }).first().click();
	await expect(page.getByTestId('image-dialog')).toBeVisible();
	await expectHarmless(page, '[data-testid=image-dialog]');
	await page.keyboard.press('Escape');
	const conversation = page.url();

	// Opened outside our page, it can't do more either.
	const frame = page.getByTestId('file-preview').locator('iframe');
	await page.goto(new URL((await frame.getAttribute('src')) ?? '', app.url).href);
	await expect(page.getByRole('heading', { name: 'The page' })).toBeVisible();
	expect(await page.evaluate(() => ['pwned' in window, window.origin])).toEqual([false, 'null']);

	await page.goto(`${app.url}/skills/executions`);
	await expect(page.getByTestId('execution')).toHaveCount(1);
	await expectHarmless(page, 'table');
	await page.getByTestId('execution-link').click();
	await expect(page.getByTestId('execution-output')).toContainText('window.pwned');
	await expectHarmless(page, '[data-testid=execution-page]');
	await page.goto(conversation);
	await expect(page.getByTestId('file-card')).toHaveCount(HOSTILE_NAMES.length + 1);
	expect(quiet.seen).toEqual([]);
});

/** Clicks everything a careless user might click in a previewed page. */
async function clickEverything(page: Page): Promise<void> {
	const address = page.url();
	const frame = page.getByTestId('file-preview').frameLocator('iframe');
	await expect(frame.getByRole('heading', { name: 'The page' })).toBeVisible();
	for (const id of ['top', 'blank', 'code']) await frame.locator(`#${id}`).click();
	await frame.getByRole('button', { name: 'Send' }).click();
	await expect(frame.getByRole('heading', { name: 'The page' })).toBeVisible();
	await frame.locator('#self').click();
	await expect(frame.getByRole('heading', { name: 'The page' })).toHaveCount(0);
	expect(page.url()).toBe(address);
	expect(page.context().pages()).toHaveLength(1);
}

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
	for (const name of HOSTILE_NAMES) await writeFile(join(app.skillsDir, 'said-4', name), HOSTILE_PAGE);
	await mkdir(join(app.skillsDir, 'said-4', '<img src=x onerror=window.pwned=1>'));
	await writeFile(join(app.skillsDir, 'said-4', '<img src=x onerror=window.pwned=1>', 'a.svg'), HOSTILE_SVG);
	await page.goto(`${app.url}/skills`);
	await expect(page.locator('[data-testid=skill-row][data-name=said-8]')).toBeVisible();
	await expectHarmless(page, '[data-testid=skills-page]');
	for (const number of [0, 4, 8]) {
		await page.goto(`${app.url}/skills/said-${number}`);
		await expect(page.getByTestId('skill-name')).toContainText(`said-${number}`);
		await expectHarmless(page, '[data-testid=skill-page]');
		await page.getByTestId('tab-instructions').click();
		await expect(page.getByTestId('panel-instructions').getByTestId('markdown')).toBeVisible();
		await expectHarmless(page, '[data-testid=skill-page]');
		await page.getByTestId('tab-files').click();
		const list = page.getByTestId('toggle-files');
		for (const file of await page.getByTestId('skill-file').getByRole('button').all()) {
			// It closes above the file that was chosen.
			if ((await list.getAttribute('aria-expanded')) === 'false') await list.click();
			await file.click();
			await expectHarmless(page, '[data-testid=skill-page]');
		}
		await page.getByTestId('tab-overview').click();
		const folded = page.getByTestId('calm-findings').locator('summary');
		if (await folded.isVisible()) await folded.click();
		await expect(page.getByTestId('finding').or(page.getByTestId('no-findings')).first()).toBeVisible();
		await expectHarmless(page, '[data-testid=skill-page]');
	}
	expect(quiet.seen).toEqual([]);
});

test('SECURITY What people see: formulas and diagrams lead nowhere, load nothing and end', async ({
	page,
	app,
	model,
	quiet
}) => {
	test.slow();
	const maths = HOSTILE_MATHS.flatMap((formula) => [`$$${formula}$$`, `Inline $${formula}$.`]);
	const diagrams = HOSTILE_DIAGRAMS.map((diagram) => `\`\`\`mermaid\n${diagram}\n\`\`\``);
	model.push(text([...maths, ...diagrams, 'The end.'].join('\n\n')));
	await page.goto(app.url);
	await ask(page, 'draw');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await expect(page.locator('.katex').first()).toBeAttached();
	const drawn = page.getByTestId('diagram');
	await expect(drawn).toHaveCount(HOSTILE_DIAGRAMS.length);
	for (const diagram of await drawn.all()) {
		await diagram.scrollIntoViewIfNeeded();
		await expect(diagram).toHaveAttribute('data-phase', /^(drawn|failed)$/, { timeout: 30_000 });
		if ((await diagram.getAttribute('data-phase')) === 'failed') continue;
		const nodes = diagram.frameLocator('iframe').locator('g.node, g.clickable, a');
		for (const node of await nodes.all()) await node.dispatchEvent('click');
	}
	for (const frame of page.frames().slice(1)) {
		expect(await frame.evaluate(() => ['pwned' in window, window.origin])).toEqual([false, 'null']);
		expect(frame.url()).toBe(`${app.url}/frames/diagram`);
	}
	await expect(page.locator('[data-testid=diagram][data-phase=drawn]')).not.toHaveCount(0, { timeout: 60_000 });
	await expectHarmless(page, '[data-testid=messages]');
	// No formula covers the page, whatever its size.
	await expect(page.getByTestId('composer-input')).toBeInViewport();
	await page.getByTestId('composer-input').click();
	expect(quiet.seen).toEqual([]);
});
