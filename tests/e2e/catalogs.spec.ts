/** On the page: skills from both catalogs, a site and pasted text, each reviewed first; and a skill's evals. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { strToU8, zipSync } from 'fflate';
import {
	playedEnvironment,
	startGithub,
	startSkillsmp,
	startSkillssh,
	startWellKnown
} from '../support/catalog-servers.ts';
import { expect, test as base } from './app.ts';

const skillMd = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\n---\nRun scripts/go.sh.\n`;

/** One repository listed in both catalogs, and a separate site. */
const test = base.extend<object, { played: { env: Record<string, string>; site: string } }>({
	played: [
		// Playwright reads a fixture's dependencies from this pattern: none.
		// eslint-disable-next-line no-empty-pattern
		async ({}, use) => {
			const files = Object.fromEntries(
				['charts', 'tables'].flatMap((name) => [
					[`skills/${name}/SKILL.md`, skillMd(name)],
					[`skills/${name}/scripts/go.sh`, `echo ${name}\n`]
				])
			);
			const repos = { 'acme/tools': { defaultBranch: 'trunk', branches: { trunk: files } } };
			const github = await startGithub({ repos });
			const skillssh = await startSkillssh({
				skills: [{ skillId: 'charts', name: 'charts', installs: 1200, source: 'acme/tools' }],
				audits: { 'acme/tools': { charts: { ath: { risk: 'safe' } } } }
			});
			const skillsmp = await startSkillsmp({
				key: 'sk_live_skillsmp_for_this_test',
				skills: [
					{
						id: 'acme-tables',
						name: 'tables',
						author: 'acme',
						description: 'Does tables.',
						githubUrl: 'https://github.com/acme/tools/tree/trunk/skills/tables',
						stars: 77
					}
				]
			});
			const wellKnown = await startWellKnown({ skills: { notes: { text: skillMd('notes') } } });
			await use({ env: playedEnvironment({ github, skillssh, skillsmp, wellKnown }), site: wellKnown.url });
			await Promise.all([github, skillssh, skillsmp, wellKnown].map((server) => server.close()));
		},
		{ scope: 'worker' }
	],
	appOptions: async ({ played }, use) => use({ env: played.env })
});

async function installWhatIsShown(page: Page, name: string, ...says: string[]): Promise<void> {
	const staged = page.getByTestId('staged-skill');
	await expect(staged).toContainText(name);
	for (const text of says) await expect(staged).toContainText(text);
	await page.getByRole('button', { name: 'Install', exact: true }).click();
	await expect(page.getByTestId('install-result')).toContainText(`${name} is on.`);
	await page.goto('/skills');
	await expect(page.locator(`[data-testid=skill-row][data-name=${name}]`)).toBeVisible();
}

test('E8, E9, E23, E25: a skill that skills.sh finds is fetched whole, with what others say of it, and installed', async ({
	page
}) => {
	await page.goto('/skills/install');
	await page.getByTestId('source-catalogs').click();
	await page.getByLabel('Catalog', { exact: true }).selectOption('skillssh');
	await page.getByTestId('catalog-query').fill('charts');
	await page.getByTestId('catalog-search').click();
	await expect(page.getByTestId('catalog-skill')).toContainText('installs');
	await page.getByRole('button', { name: 'Review charts' }).click();
	await installWhatIsShown(page, 'charts', 'scripts/go.sh', 'safe');
});

test('E6, E7, E26: and one that SkillsMP finds', async ({ page }) => {
	await page.goto('/skills/install');
	await page.getByTestId('source-catalogs').click();
	await page.getByLabel('Catalog', { exact: true }).selectOption('skillsmp');
	await page.getByTestId('catalog-query').fill('tables');
	await page.getByTestId('catalog-search').click();
	await expect(page.getByTestId('catalog-skill')).toContainText('77 stars');
	await page.getByRole('button', { name: 'Review tables' }).click();
	await installWhatIsShown(page, 'tables', 'scripts/go.sh');
});

test('E27: and those of a site; a site that has none says so', async ({ page, played }) => {
	await page.goto('/skills/install');
	await page.getByTestId('source-site').click();
	await page.getByLabel('Website address').fill('http://127.0.0.1:9');
	await page.getByTestId('site-form').getByRole('button').click();
	await expect(page.getByTestId('staging-error')).toBeVisible();
	await page.getByLabel('Website address').fill(played.site);
	await page.getByTestId('site-form').getByRole('button').click();
	await installWhatIsShown(page, 'notes');
});

test('E7: and the text of a SKILL.md', async ({ page }) => {
	await page.goto('/skills/install');
	await page.getByTestId('source-text').click();
	await page.getByLabel('SKILL.md').fill(skillMd('pasted'));
	await page.getByTestId('text-form').getByRole('button').click();
	await installWhatIsShown(page, 'pasted');
});

test('F16: a skill’s evals are asked with and without it, and shown side by side and over time', async ({ page }) => {
	test.slow();
	await page.goto('/skills/count-words');
	await page.getByTestId('tab-evals').click();
	const run = page.getByTestId('eval-run');
	await page.getByTestId('start-evals').click();
	await expect(run).toHaveAttribute('data-state', 'done', { timeout: 60_000 });
	await expect(page.getByTestId('eval-result')).toHaveCount(2);
	await expect(page.getByTestId('pass-rates')).toContainText('100');
	await page.reload();
	await expect(run).toHaveAttribute('data-state', 'done');

	await page.getByTestId('start-evals').click();
	await expect(page.getByTestId('eval-row')).toHaveCount(2);
	await expect(run).toHaveAttribute('data-state', 'done', { timeout: 60_000 });
	await run.locator('summary').first().click();
	await expect(run.getByText('from an earlier run').first()).toBeVisible();
	await page.getByText('All runs (2)').click();
	await expect(page.getByRole('img', { name: /Pass rate of 2 runs. With the skill: 100 %/ })).toBeVisible();

	await page.getByTestId('export-evals').click();
	const download = page.waitForEvent('download');
	await page.getByRole('menuitem', { name: 'JUnit XML' }).click();
	expect((await download).suggestedFilename()).toBe('count-words-evals.junit.xml');

	await page.getByLabel('Is it used when it should be?').click();
	await page.getByTestId('start-evals').click();
	await expect(page.getByTestId('eval-trigger')).toContainText(/Used when it should be: (\d+) of \1/, {
		timeout: 60_000
	});
	await expect(page.getByTestId('eval-row')).toHaveCount(3);
});

test('F16: prompts are written with their checks in a form; results of skill-creator are imported and marked', async ({
	page,
	app
}) => {
	await page.goto('/skills/spreadsheets');
	await page.getByTestId('tab-evals').click();
	await page.getByTestId('edit-evals').click();
	const prompt = page.getByTestId('eval-prompt').first();
	const rows = prompt.getByTestId('eval-expectation');
	await prompt.locator('summary').first().click();
	await expect(rows.first()).toBeVisible();
	const before = await rows.count();
	await prompt.getByRole('button', { name: /^Add check to prompt/ }).click();
	const row = rows.nth(before);
	await row.getByLabel('What to check').selectOption('regex');
	await row.getByLabel('Regular expression').fill('([');
	await expect(row.getByTestId('expectation-problem')).toContainText('isn’t a regular expression');
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await expect(page.getByTestId('eval-prompts')).toBeVisible();
	await row.getByLabel('Regular expression').fill('\\d+ rows');
	await page.getByRole('button', { name: 'Save', exact: true }).click();
	await expect(page.getByTestId('undo-prompts')).toBeVisible();
	const file = JSON.parse(await readFile(join(app.skillsDir, 'spreadsheets/evals/evals.json'), 'utf8')) as {
		evals: { expectations: unknown[] }[];
	};
	expect(file.evals[0]?.expectations).toContain('regex: \\d+ rows');

	const grading = { expectations: [{ text: 'It has 3 rows', passed: true, evidence: 'Counted.' }], claims: [] };
	const zip = zipSync({
		'w/iteration-1/eval-1/with_skill/run-1/grading.json': strToU8(JSON.stringify(grading)),
		'w/iteration-2/eval-1/with_skill/run-1/grading.json': strToU8(JSON.stringify(grading)),
		'w/iteration-2/eval-1/without_skill/run-1/grading.json': strToU8('{"expectations": "none"}')
	});
	const chooser = page.getByTestId('import-evals-file');
	await chooser.setInputFiles({ name: 'results.zip', mimeType: 'application/zip', buffer: Buffer.from(zip) });
	await expect(page.getByTestId('evals-imported')).toContainText('Imported 2 runs');
	await expect(page.getByTestId('evals-imported')).toContainText('expectations must be a list');
	await expect(page.getByTestId('eval-progress')).toContainText('Imported from iteration-2: 1 answer');
	await expect(page.getByTestId('eval-row')).toContainText(['Imported', 'Imported']);
	await chooser.setInputFiles({
		name: 'benchmark.json',
		mimeType: 'application/json',
		buffer: Buffer.from('{"runs": []}')
	});
	await expect(page.getByTestId('evals-error')).toContainText('runs must have at least 1 item');
	await page.reload();
	await expect(page.getByTestId('eval-row')).toHaveCount(2);
});
