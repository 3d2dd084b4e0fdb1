import { readFile } from 'node:fs/promises';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from './app.ts';

test('the words of a sentence are counted by a skill, step by step', async ({ page, app }) => {
	await page.goto(app.url);
	await page.getByTestId('composer-input').fill('How many words are in: the quick brown fox');
	await page.keyboard.press('Enter');

	const answer = page.locator('[data-testid=message][data-role=assistant]');
	await expect(answer).toHaveAttribute('data-status', 'complete');
	await answer.getByTestId('step-fold').click();
	const load = page.locator('[data-testid=step][data-tool=load_skill]');
	await expect(load).toContainText('Loaded skill count-words');
	const tool = page.locator('[data-testid=step][data-tool=count_words]');
	await expect(tool).toHaveAttribute('data-status', 'done');
	await tool.getByTestId('step-toggle').click();
	await expect(tool).toContainText('the quick brown fox');
	await expect(answer.getByTestId('markdown').last()).toContainText(/words\W+4/i);
});

test('a dropped sales.csv is summarised by region, with its chart shown and downloadable', async ({ page, app }) => {
	// A script draws the chart, which takes a while on a busy machine.
	test.slow();
	await page.goto(app.url);
	const csv = await readFile(new URL('../fixtures/sales.csv', import.meta.url), 'utf8');
	const transfer = await page.evaluateHandle((text) => {
		const data = new DataTransfer();
		data.items.add(new File([text], 'sales.csv', { type: 'text/csv' }));
		return data;
	}, csv);
	await page.getByTestId('composer').dispatchEvent('dragenter', { dataTransfer: transfer });
	await page.getByTestId('composer').dispatchEvent('drop', { dataTransfer: transfer });
	await expect(page.locator('[data-testid=attachment][data-state=ready]')).toContainText('sales.csv');
	await page.getByTestId('composer-input').fill('summarise sales.csv by region');
	await page.getByTestId('send').click();

	const answer = page.locator('[data-testid=message][data-role=assistant]');
	await expect(answer).toHaveAttribute('data-status', 'complete', { timeout: 30_000 });
	await answer.getByTestId('step-fold').click();
	await expect(page.locator('[data-testid=step][data-tool=load_skill]')).toContainText('data-analysis');
	const step = page.locator('[data-testid=step][data-tool=use_skill]');
	await expect(step).toHaveAttribute('data-status', 'done');
	await expect(step).toContainText('scripts/analyze_csv.mjs');
	const text = answer.getByTestId('markdown').last();
	for (const sum of ['4,072.35', '3,786.7', '3,191.4', '2,222.6', '30.7 %']) {
		await expect(text).toContainText(sum);
	}
	await expect(step.getByTestId('terminal-output')).toHaveCount(0);
	await step.getByTestId('step-toggle').click();
	await expect(step.getByTestId('terminal-output')).toContainText('Reading');
	await expect(step.getByTestId('exit-badge')).toContainText('exit 0');
	const chart = page.locator('[data-testid=file-card][data-path$=".svg"]');
	await expect(chart).toBeVisible();
	const width = () => chart.locator('img').evaluate((image) => (image as HTMLImageElement).naturalWidth);
	await expect.poll(width).toBeGreaterThan(0);
	const [download] = await Promise.all([page.waitForEvent('download'), chart.locator('a[download]').first().click()]);
	const saved = await readFile(await download.path(), 'utf8');
	expect(saved).toContain('<svg');
	expect(saved).toContain('North');
});

test('F9: of two skills that fit, one is chosen by a click, also after a reload; the other is no skill of the chat', async ({
	page,
	context,
	app
}) => {
	for (const name of ['adds-columns', 'sums-columns']) {
		await mkdir(join(app.skillsDir, name), { recursive: true });
		await writeFile(
			join(app.skillsDir, name, 'SKILL.md'),
			`---\nname: ${name}\ndescription: Add up the tides of a harbour log.\n---\n\nAdd up the tides:\n\n\`\`\`\nadd.sh FILE\n\`\`\`\n`
		);
		await writeFile(join(app.skillsDir, name, 'add.sh'), `#!/bin/sh\necho "${name} read $1"\n`, { mode: 0o755 });
	}
	await page.goto(app.url);
	await expect(async () => {
		const { data } = (await (await page.request.get(`${app.url}/api/skills`)).json()) as { data: { name: string }[] };
		expect(data.map(({ name }) => name)).toContain('sums-columns');
	}).toPass();
	await page.getByTestId('file-input').setInputFiles({
		...{ name: 'harbour.csv', mimeType: 'text/csv', buffer: Buffer.from('tide,height\nlow,1\nhigh,4\n') }
	});
	await expect(page.locator('[data-testid=attachment][data-state=ready]')).toContainText('harbour.csv');
	await page.getByTestId('composer-input').fill('add up the tides');
	await page.keyboard.press('Enter');
	const answers = page.getByTestId('offered-answers').getByRole('button');
	await expect(answers).toHaveText(['adds-columns', 'sums-columns', 'Never mind']);
	await expect(page.getByTestId('skill-chips')).toHaveCount(0);
	await expect(page).toHaveURL(/\/c\//);
	await page.getByTestId('composer-input').fill('a draft that stays');
	const other = await context.newPage();
	await other.goto(page.url());
	await expect(other.getByTestId('offered-answers').getByRole('button')).toHaveCount(3);

	await page.reload();
	await expect(answers).toHaveText(['adds-columns', 'sums-columns', 'Never mind']);
	await answers.nth(1).focus();
	await page.keyboard.press('Enter');
	await expect(page.getByText('sums-columns read harbour.csv')).toBeVisible();
	await expect(page.locator('[data-testid=message][data-role=user]').last()).toContainText('sums-columns');
	await expect(page.getByTestId('skill-chips').getByRole('listitem')).toHaveText([/sums-columns/]);
	await expect(answers).toHaveCount(0);
	await expect(other.getByText('sums-columns read harbour.csv')).toBeVisible();
	await expect(other.getByTestId('offered-answers')).toHaveCount(0);
	await expect(page.getByTestId('composer-input')).toHaveValue('a draft that stays');
});

test('F16: an answer, or its run, becomes an eval of the skill it used, with its question and its file', async ({
	page,
	app
}) => {
	const folder = join(app.skillsDir, 'adds-tides');
	await mkdir(folder, { recursive: true });
	const head = 'name: adds-tides\ndescription: Add up the tides of a harbour log.';
	await writeFile(join(folder, 'SKILL.md'), `---\n${head}\n---\n\nAdd up the tides:\n\n\`\`\`\nadd.sh FILE\n\`\`\`\n`);
	await writeFile(join(folder, 'add.sh'), '#!/bin/sh\necho "read $1"\n', { mode: 0o755 });
	await page.goto(app.url);
	await expect(async () => {
		expect(await (await page.request.get(`${app.url}/api/skills`)).text()).toContain('"adds-tides"');
	}).toPass();
	const text = 'tide,height\nlow,1\nhigh,4\n';
	await page
		.getByTestId('file-input')
		.setInputFiles({ name: 'harbour.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
	await expect(page.locator('[data-testid=attachment][data-state=ready]')).toContainText('harbour.csv');
	await page.getByTestId('composer-input').fill('use adds-tides to add up the tides of harbour.csv');
	await page.keyboard.press('Enter');
	const answer = page.locator('[data-testid=message][data-role=assistant]');
	await expect(answer).toHaveAttribute('data-status', 'complete');
	await answer.getByTestId('answer-menu').click();
	await page.getByRole('menuitem', { name: 'Add to evals' }).click();

	await expect(page).toHaveURL(/\/skills\/adds-tides#evals/);
	const prompt = page.getByTestId('eval-prompt');
	const question = prompt.getByLabel('What someone would ask');
	await expect(question).toHaveValue('use adds-tides to add up the tides of harbour.csv');
	await expect(prompt.getByLabel('Files it gets')).toHaveValue('evals/files/harbour.csv');
	// What the answer must hold is for the person to say: what was answered stands beside it.
	await expect(prompt.getByTestId('begun-answer')).toContainText('read harbour.csv');
	const check = prompt.getByTestId('eval-expectation').last().getByRole('textbox');
	await expect(check).toBeFocused();
	await page.keyboard.type('read');
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await expect(page.getByTestId('eval-case')).toContainText('add up the tides');
	await expect(page).toHaveURL(/#evals$/);
	expect(await readFile(join(folder, 'evals/files/harbour.csv'), 'utf8')).toBe(text);
	const { evals } = JSON.parse(await readFile(join(folder, 'evals/evals.json'), 'utf8')) as { evals: unknown };
	expect(evals).toEqual([
		{
			prompt: 'use adds-tides to add up the tides of harbour.csv',
			files: ['evals/files/harbour.csv'],
			expectations: ['skillLoaded: adds-tides', 'toolCalled: add.sh', 'contains: read']
		}
	]);

	// Its run leads to the same one, which isn’t added twice.
	await page.goto(`${app.url}/skills/executions?skill=adds-tides`);
	await page
		.getByRole('link', { name: /add\.sh/ })
		.first()
		.click();
	await page.getByTestId('add-to-evals').click();
	await expect(page.getByTestId('eval-prompt')).toHaveCount(1);
});

test('a folder copied into skills/ is listed and usable at once; a broken one is listed with the reason', async ({
	page,
	app
}) => {
	await page.goto(`${app.url}/skills`);
	await expect(page.locator('[data-testid=skill-row][data-name=count-words]')).toBeVisible();
	const source = join(app.dataDir, 'shout-text');
	await mkdir(join(source, 'scripts'), { recursive: true });
	const body = '# Use\n\nTo shout a text:\n\n```\nscripts/shout.sh "TEXT"\n```\n';
	await writeFile(
		join(source, 'SKILL.md'),
		`---\nname: shout-text\ndescription: Shout a text in capitals.\n---\n\n${body}`
	);
	await writeFile(join(source, 'scripts/shout.sh'), 'echo "${1^^}!"\n');
	await cp(source, join(app.skillsDir, 'shout-text'), { recursive: true });
	await mkdir(join(app.skillsDir, 'half-done'));
	await writeFile(join(app.skillsDir, 'half-done/SKILL.md'), '---\nname: half-done\n');

	await expect(page.locator('[data-testid=skill-row][data-name=shout-text]')).toBeVisible();
	const broken = page.locator('[data-testid=skill-row][data-name=half-done]');
	await expect(broken).toHaveAttribute('data-status', 'broken');
	await expect(broken).toContainText('no closing ---');

	await page.goto(app.url);
	await page.getByTestId('composer-input').fill('Shout: hello there');
	await page.keyboard.press('Enter');
	await expect(page.locator('[data-testid=message][data-role=assistant]')).toContainText('HELLO THERE!');
});

test('a reload shows the same conversation', async ({ page, app }) => {
	await page.goto(app.url);
	await page.getByTestId('composer-input').fill('How many words are in: one two three');
	await page.keyboard.press('Enter');
	const answer = page.locator('[data-testid=message][data-role=assistant]');
	await expect(answer).toHaveAttribute('data-status', 'complete');
	// Wait for the last thing to appear under the answer, and for the URL to reload.
	await expect(answer.getByTestId('answer-menu')).toBeVisible();
	await expect(page).toHaveURL(/\/c\//);
	const before = await answer.innerText();
	await page.reload();
	await expect(answer).toHaveAttribute('data-status', 'complete');
	await expect.poll(() => answer.innerText()).toBe(before);
});
