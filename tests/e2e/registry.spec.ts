/** Skill management on the page: install, review, trust, run, save a case, update, roll back, remove, undo, repair, turn off. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { playedEnvironment, startGithub, type PlayedGithub } from '../support/catalog-servers.ts';
import { zipOf } from '../support/zip-writer.ts';
import { besideScreen } from '../support/beside-screen.ts';
import { expect, test as base } from './app.ts';

const skillMd = (name: string, version: string, text = 'Run scripts/say.mjs.') =>
	`---\nname: ${name}\ndescription: Says what it is given, word by word.\nmetadata:\n  version: "${version}"\n---\n${text}\n`;
const sayMjs = (word: string) => `console.log(${JSON.stringify(word)}, process.argv.slice(2).join(' '));\n`;

/** A repository with one skill in a folder; the test changes its branch. */
const test = base.extend<object, { github: PlayedGithub }>({
	github: [
		// Playwright reads a fixture's dependencies from this pattern: none.
		// eslint-disable-next-line no-empty-pattern
		async ({}, use) => {
			const files = {
				'README.md': 'Tools.\n',
				'skills/echoer/SKILL.md': skillMd('echoer', '1.0.0'),
				'skills/echoer/scripts/say.mjs': sayMjs('first')
			};
			const github = await startGithub({
				repos: { 'acme/tools': { defaultBranch: 'trunk', branches: { trunk: files } } }
			});
			await use(github);
			await github.close();
		},
		{ scope: 'worker' }
	],
	appOptions: async ({ github }, use) => use({ env: playedEnvironment({ github }) })
});

const row = (page: Page, name: string): Locator => page.locator(`[data-testid=skill-row][data-name=${name}]`);
const version = (page: Page, number: string): Locator =>
	page.locator(`[data-testid=skill-version][data-version="${number}"]`);

async function runCountWords(page: Page, url: string): Promise<void> {
	await page.goto(`${url}/skills/count-words#run`);
	await page.getByTestId('run-form').getByRole('textbox', { name: 'TEXT' }).fill('two words');
	await page.getByTestId('run-button').click();
}

async function stageFromGithub(page: Page, url: string): Promise<void> {
	await page.goto(`${url}/skills/install`);
	await page.getByTestId('source-github').click();
	await page.getByLabel('Repository').fill('acme/tools');
	await page.getByRole('textbox', { name: 'Folder' }).fill('skills/echoer');
	await page.getByTestId('github-form').getByRole('button').click();
	await expect(page.getByTestId('staged-skill')).toBeVisible();
}

test('E20, E30, F6, E4: a zip is looked at, installed, trusted, run, kept as a case, removed and brought back', async ({
	page,
	app
}) => {
	const buffer = zipOf([
		{ name: 'sayer/SKILL.md', content: skillMd('sayer', '1.2.0') },
		{ name: 'sayer/scripts/say.mjs', content: sayMjs('said') }
	]);
	await page.goto(`${app.url}/skills`);
	await page.getByTestId('install-link').click();
	await page.getByTestId('zip-input').setInputFiles({ name: 'sayer.zip', mimeType: 'application/zip', buffer });
	await expect(page.getByTestId('staged-skill')).toContainText('sayer');
	await page.reload();
	await expect(page.getByTestId('origin')).toHaveText(/From a zip file\s*sayer\.zip/);
	await expect(page.getByTestId('staged-skill')).toContainText('version 1.2.0');
	await expect(page.locator('[data-testid=skill-file][data-path="scripts/say.mjs"]')).toBeVisible();
	await page.getByTestId('confirm-install').click();
	await page.getByTestId('installed-link').click();

	await expect(page.getByTestId('skill-name')).toHaveText('sayer');
	await expect(page.getByTestId('trust')).toHaveAttribute('data-state', 'untrusted');
	await expect(page.getByTestId('skill-mode')).toHaveValue('auto');
	await page.getByTestId('give-trust').click();
	await expect(page.getByTestId('trust')).toHaveAttribute('data-state', 'trusted');

	await page.getByTestId('tab-run').click();
	await page.getByTestId('run-text').fill('one\ntwo');
	await page.getByTestId('run-button').click();
	await expect(page.getByTestId('execution-output').first()).toContainText('said one two');
	await page.getByTestId('keep-case').click();
	await page.getByLabel('Title').fill('Says both');
	await page.getByLabel('Expected output').fill('said one two');
	await page.getByTestId('save-case').click();
	await expect(page.getByTestId('skill-case')).toContainText('Says both');
	await page.getByTestId('run-all-cases').click();
	await expect(page.getByTestId('case-result')).toHaveText('Passed');

	await page.getByTestId('skill-menu').click();
	await page.getByTestId('remove-skill').click();
	await expect(page.getByTestId('undo-bar')).toBeVisible();
	await page.getByTestId('undo-removal').click();
	await page.getByTestId('tab-overview').click();
	await expect(page.getByTestId('trust')).toHaveAttribute('data-state', 'trusted');
	await page.getByTestId('skill-menu').click();
	await page.getByTestId('remove-skill').click();
	await expect(page.getByTestId('undo-bar')).toBeVisible();
	await page.goto(`${app.url}/skills`);
	await expect(row(page, 'count-words')).toBeVisible();
	await expect(row(page, 'sayer')).toHaveCount(0);
	await page.getByTestId('skills-menu').click();
	await page.getByTestId('trash-link').click();
	const restore = page.getByRole('button', { name: 'Restore sayer' });
	await restore.click();
	await expect(restore).toHaveCount(0);
	await page.goto(`${app.url}/skills`);
	await page.getByTestId('skill-filter').selectOption('installed');
	await expect(row(page, 'sayer')).toBeVisible();
	await row(page, 'sayer').getByTestId('row-mode').selectOption('off');
	await page.reload();
	await page.getByTestId('skill-filter').selectOption('installed');
	await expect(row(page, 'sayer').getByTestId('row-mode')).toHaveValue('off');
});

test('E28, A40: a skill of a repository is installed, updated after a look at the difference, and rolled back', async ({
	page,
	app,
	github
}) => {
	await stageFromGithub(page, app.url);
	await expect(page.getByTestId('origin')).toContainText(github.commitOf('acme/tools').slice(0, 12));
	await page.getByTestId('confirm-install').click();
	await page.getByTestId('installed-link').click();
	await page.getByTestId('tab-versions').click();
	await page.getByTestId('check-update').click();
	await expect(page.getByTestId('versions-status')).not.toHaveText(/…|^$/);

	github.repos['acme/tools'] = {
		defaultBranch: 'trunk',
		branches: {
			trunk: {
				'skills/echoer/SKILL.md': skillMd('echoer', '1.1.0'),
				'skills/echoer/scripts/say.mjs': sayMjs('second')
			}
		}
	};
	await page.goto(`${app.url}/skills/updates`);
	await page.getByRole('button', { name: 'Review update of echoer' }).click();
	await expect(page.getByTestId('installed-already')).toContainText('Version 1.0.0 is installed');
	await expect(page.locator('[data-testid=skill-change][data-path="scripts/say.mjs"]')).toContainText(
		'+console.log("second"'
	);
	await page.getByTestId('confirm-install').click();
	await expect(page.getByTestId('install-result')).toBeVisible();

	await page.goto(`${app.url}/skills/echoer#versions`);
	await expect(version(page, '1.1.0').getByTestId('current-version')).toBeVisible();
	await version(page, '1.0.0').getByTestId('compare-version').click();
	await expect(page.locator('[data-testid=skill-change][data-path="scripts/say.mjs"]')).toContainText(
		'+console.log("first"'
	);
	await version(page, '1.0.0').getByTestId('use-version').click();
	await expect(version(page, '1.0.0').getByTestId('current-version')).toBeVisible();
	await expect(page.getByTestId('versions-status')).toContainText('Chats now use 1.0.0.');
	await page.getByTestId('undo-version').click();
	await expect(version(page, '1.1.0').getByTestId('current-version')).toBeVisible();
	await expect(version(page, '1.0.0').getByTestId('use-version')).toBeVisible();
});

test('E20: what has waited too long or was discarded says so; the same again asks what shall become of it', async ({
	page,
	app
}) => {
	await stageFromGithub(page, app.url);
	const address = page.url();
	await page.getByTestId('discard-install').click();
	await expect(page.getByTestId('install-page')).toBeVisible();
	await page.goto(address);
	await expect(page.getByTestId('staged-error')).toContainText('This download is gone');
	await page.getByRole('link', { name: 'Install skills' }).click();
	await page.getByTestId('source-text').click();
	for (const text of [skillMd('pasted', '1.0.0', 'One.'), skillMd('pasted', '1.0.0', 'Two.')]) {
		await page.goto(`${app.url}/skills/install`);
		await page.getByTestId('source-text').click();
		await page.getByLabel('SKILL.md').fill(text);
		await page.getByTestId('text-form').getByRole('button').click();
		await expect(page.getByTestId('staged-skill')).toBeVisible();
		if (text.includes('Two')) await page.getByTestId('conflict-overwrite').check();
		await page.getByTestId('confirm-install').click();
		await expect(page.getByTestId('install-result')).toContainText('pasted is on');
	}
});

test('E20: a zip of a skill that was edited since shows what it would take out, and is undone with the edits back', async ({
	page,
	app
}) => {
	const buffer = zipOf([{ name: 'mine/SKILL.md', content: skillMd('mine', '1.0.0', 'As it came.') }]);
	const upload = async () => {
		await page.goto(`${app.url}/skills/install`);
		await page.getByTestId('zip-input').setInputFiles({ name: 'mine.zip', mimeType: 'application/zip', buffer });
		await expect(page.getByTestId('staged-skill')).toBeVisible();
	};
	const file = `${app.url}/api/skills/installed/mine/file`;
	const read = async () => (await (await page.request.get(`${file}?path=SKILL.md`)).json()) as { digest: string };
	await upload();
	await page.getByTestId('confirm-install').click();
	await expect(page.getByTestId('install-result')).toBeVisible();
	const text = skillMd('mine', '1.0.0', 'As I want it.');
	const data = { path: 'SKILL.md', text, digest: (await read()).digest };
	expect((await page.request.put(file, { data })).status()).toBe(200);

	await upload();
	await expect(page.getByTestId('installed-already')).toContainText('edited since');
	await expect(page.getByTestId('skill-change')).toContainText('-As I want it.');
	await page.getByTestId('conflict-overwrite').check();
	await page.getByTestId('confirm-install').click();
	await expect(page.getByTestId('replaced')).toContainText('kept as an earlier version');
	expect(await read()).toMatchObject({ text: skillMd('mine', '1.0.0', 'As it came.') });
	await page.getByTestId('undo-replace').click();
	await expect(page.getByTestId('replaced')).toContainText('as it was before');
	expect(await read()).toMatchObject({ text });
});

test('F1: a broken skill has a page with what is wrong, and is put right from there', async ({ page, app }) => {
	const folder = join(app.skillsDir, 'torn');
	await mkdir(folder, { recursive: true });
	await writeFile(join(folder, 'SKILL.md'), '---\nname: torn\ndescription: Use when: asked\n---\nDo it.\n');
	await page.goto(`${app.url}/skills`);
	await row(page, 'torn').getByTestId('row-note').click();
	await expect(page.getByTestId('doctor')).toBeVisible();
	await page.getByTestId('doctor-fix-all').click();
	await page.getByTestId('doctor-write').click();
	await expect(page.getByTestId('doctor-done')).toBeVisible();
	await page.goto(`${app.url}/skills`);
	await expect(row(page, 'torn')).toHaveAttribute('data-status', 'ready');
	await expect(row(page, 'torn').getByTestId('row-note')).toHaveCount(0);
});

test('F1: once a broken skill is put right, by a fix or by going back, its page is the one of a skill that works', async ({
	page,
	app
}) => {
	const folder = join(app.skillsDir, 'cracked');
	await mkdir(folder, { recursive: true });
	await writeFile(
		join(folder, 'SKILL.md'),
		'---\nname: cracked\ndescription: x\nlicense: MIT\nlicense: ISC\n---\nDo it.\n'
	);
	await page.goto(`${app.url}/skills`);
	await row(page, 'cracked').getByTestId('skill-link').click();
	await page.getByTestId('doctor-fix-all').click();
	await page.getByTestId('doctor-write').click();
	await expect(page.getByTestId('toast')).toContainText('Fixed. You can use this skill now.');
	await expect(page).toHaveURL(/\/skills\/cracked$/);
	await expect(page.getByTestId('chat-with-skill')).toBeVisible();
	// The fix is an edit; going back breaks it, going forth mends it, and each time the page is the right one.
	await page.getByRole('tab', { name: 'Versions' }).click();
	await expect(page.getByTestId('edit-problem')).toHaveCount(1);
	await page.getByRole('button', { name: /^Go back to before/ }).click();
	await expect(page.getByTestId('version-warning')).toContainText('Chats can’t use it until that’s fixed');
	await page.getByTestId('version-anyway').click();
	await expect(page.getByTestId('doctor')).toBeVisible();
	await page
		.getByTestId('skill-edits')
		.getByRole('button', { name: /^Go back to before/ })
		.first()
		.click();
	await expect(page.getByTestId('chat-with-skill')).toBeVisible();
	await expect(page.getByTestId('doctor')).toHaveCount(0);
	await expect(page).toHaveURL(/\/skills\/cracked$/);
});

test('F1: a skill that an edit broke goes back to what worked, or gets the description back that it had last', async ({
	page,
	app
}) => {
	const folder = join(app.skillsDir, 'ebb');
	await mkdir(folder, { recursive: true });
	await writeFile(
		join(folder, 'SKILL.md'),
		'---\nname: ebb\ndescription: Tells the tide. Use for tides.\n---\n1. Run it with HH:MM.\n'
	);
	const breakIt = async (): Promise<void> => {
		const at = `${app.url}/api/skills/ebb/file`;
		const read = await page.request.get(`${at}?path=SKILL.md`);
		const { text, digest } = (await read.json()) as { text: string; digest: string };
		const data = { path: 'SKILL.md', text: text.replace(/description: .*\n/, ''), digest };
		expect((await page.request.put(at, { data })).ok()).toBe(true);
		await page.goto(`${app.url}/skills/ebb`);
	};
	await page.goto(`${app.url}/skills`);
	await expect(row(page, 'ebb')).toBeVisible();
	await breakIt();
	await page.getByTestId('restore-working').click();
	await expect(page.getByTestId('doctor-proposal')).toContainText('Tells the tide.');
	await page.getByTestId('doctor-write').click();
	await expect(page.getByTestId('chat-with-skill')).toBeVisible();
	await breakIt();
	// A chat that names it says so, and leads there.
	await page.goto(app.url);
	await page.getByTestId('composer-input').fill('Use ebb for 09:00');
	await page.keyboard.press('Enter');
	await expect(page.getByText('is broken: its description is missing.')).toBeVisible();
	await page.getByTestId('unusable-skill').click();
	await page.getByTestId('doctor-fix-all').click();
	await expect(page.getByTestId('doctor-proposal')).toContainText('The description is the last one it had');
	await page.getByTestId('doctor-write').click();
	await expect(page.getByTestId('toast')).toContainText('Fixed. You can use this skill now.');
	// So does one that names a skill in the Trash, or one that there never was.
	expect((await page.request.delete(`${app.url}/api/skills/ebb`)).ok()).toBe(true);
	await page.goto(app.url);
	await page.getByTestId('composer-input').fill('Use ebb for 09:00');
	await page.keyboard.press('Enter');
	await expect(page.getByText('is in the Trash.')).toBeVisible();
	await page.getByTestId('unusable-skill').click();
	await page.getByRole('button', { name: 'Restore' }).click();
	await expect(row(page, 'ebb')).toBeVisible();
	await page.goto(app.url);
	await page.getByTestId('composer-input').fill('Use ebb-flow to tell the tide');
	await page.keyboard.press('Enter');
	await expect(page.getByTestId('unusable-skill')).toHaveText('Open ebb');
	await page.getByTestId('install-unknown').click();
	await expect(page).toHaveURL(/\/skills\/install$/);
});

test('the Trash leads back to where one came from', async ({ page, app }) => {
	await page.goto(`${app.url}/skills`);
	await page.getByTestId('skills-menu').click();
	await page.getByTestId('trash-link').click();
	await page.getByRole('link', { name: 'Back to skills' }).click();
	await expect(page).toHaveURL(/\/skills$/);
});

test('E11: switched off in the settings nothing runs, and the page says why; switched on it does', async ({
	page,
	app
}) => {
	await page.goto(`${app.url}/settings`);
	// As it is shown before the settings are there, it can't be changed.
	await expect(page.getByTestId('skillsEnabled')).toBeEnabled();
	await page.getByTestId('skillsEnabled').uncheck();
	await expect(page.getByTestId('settings-status')).toHaveText('Saved');
	await page.goto(`${app.url}/skills/count-words#run`);
	await expect(page.getByTestId('run-obstacle')).toContainText('Skills are turned off on this server');
	await expect(page.getByTestId('run-button')).toBeDisabled();
	await page.goto(`${app.url}/skills`);
	await expect(row(page, 'count-words')).toBeVisible();
	await page.getByTestId('settings-link').click();
	await expect(page.getByTestId('skillsEnabled')).toBeEnabled();
	await page.getByTestId('skillsEnabled').check();
	await expect(page.getByTestId('settings-status')).toHaveText('Saved');
	await runCountWords(page, app.url);
	await expect(page.getByTestId('execution')).toBeVisible();
});

test('B7: the points of each skill for a text', async ({ page, app }) => {
	await page.goto(`${app.url}/skills/scores`);
	await page.getByTestId('score-text').fill('count the words of this sentence');
	await page.getByTestId('score-button').click();
	await expect(page.locator('[data-testid=score-row][data-name=count-words]')).toContainText('Yes');
});

test('E10, E29: executions are narrowed by skill and time, and written out as a file', async ({ page, app }) => {
	await runCountWords(page, app.url);
	await expect(page.getByTestId('execution')).toBeVisible();
	await page.goto(`${app.url}/skills/executions`);
	await page.getByTestId('more-filters').click();
	await page.getByLabel('From').fill('2020-01-01T00:00');
	await page.getByLabel('Skill', { exact: true }).fill('count-words');
	await page.getByTestId('apply-filters').click();
	await expect(page.getByTestId('execution').first()).toContainText('count-words');
	const download = page.waitForEvent('download');
	await page.getByTestId('export-menu').click();
	await page.getByTestId('export-csv').click();
	expect((await download).suggestedFilename()).toMatch(/\.csv$/);
	await page.getByLabel('To', { exact: true }).fill('2020-01-02T00:00');
	await page.getByTestId('apply-filters').click();
	await expect(page.getByTestId('execution')).toHaveCount(0);
});

test('F4: the parts of a skill are all in sight on a phone, with nothing to scroll sideways', async ({ page, app }) => {
	for (const width of [390, 360]) {
		await page.setViewportSize({ width, height: 800 });
		await page.goto(`${app.url}/skills/data-analysis`);
		const tabs = page.getByRole('tablist');
		await expect(tabs.getByRole('tab')).toHaveCount(6);
		await expect.poll(() => tabs.evaluate((list) => list.scrollWidth - list.clientWidth)).toBe(0);
	}
});

test('E17: the pages of the registry fit into 390 px, light and dark', async ({ page, app }) => {
	await page.setViewportSize({ width: 390, height: 800 });
	const pages = ['skills', 'install', 'trash', 'updates', 'scores', 'executions'].map((name) =>
		name === 'skills' ? '/skills' : `/skills/${name}`
	);
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		for (const path of [...pages, '/settings', '/skills/count-words']) {
			await page.goto(`${app.url}${path}`);
			await expect(page.getByRole('heading', { level: 1 })).toBeAttached();
			const overflow = await besideScreen(page);
			expect(overflow, path).toBeLessThanOrEqual(0);
		}
	}
});
