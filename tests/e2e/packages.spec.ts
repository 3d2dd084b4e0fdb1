/** A skill whose script lacks a package: from the failed step to a run that works, on the page and over REST. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import AxeBuilder from '@axe-core/playwright';
import { expect, test } from '@playwright/test';
import type { SkillPackagesState } from '../../src/lib/shared/packages.ts';
import { startApp, type App } from '../support/app-process.ts';
import { wheelFolder } from '../support/package-index.ts';
import { ask } from './played-model.ts';

let app: App;
let from: string;
test.beforeAll(async () => {
	from = await mkdtemp(join(tmpdir(), 'packages-'));
	for (const name of ['tiny-maker', 'other-maker']) {
		await mkdir(join(from, 'skills', name, 'scripts'), { recursive: true });
		const text = `---\nname: ${name}\ndescription: ${name === 'tiny-maker' ? 'Makes a tiny text with a library of its own' : 'Counts clouds over the sea'}.\n---\nRun scripts/make.py.`;
		await writeFile(join(from, 'skills', name, 'SKILL.md'), text);
		await writeFile(
			join(from, 'skills', name, 'scripts/make.py'),
			'import tiny_lib\nprint("made with", tiny_lib.VERSION)\nopen("made.txt", "w").write(tiny_lib.VERSION)\n'
		);
	}
	await wheelFolder(join(from, 'wheels'), [
		{ name: 'tiny-lib', version: '1.2.0', requires: ['helper'] },
		{ name: 'helper' }
	]);
	app = await startApp({
		skillsFrom: join(from, 'skills'),
		env: { SKILLS_PIP_INDEX_URL: pathToFileURL(join(from, 'wheels')).href }
	});
});
test.afterAll(async () => {
	await app.stop();
	await rm(from, { recursive: true, force: true });
});

test('D13, D46: a failed step offers the package it lacks; after one consent it is installed and the script runs again', async ({
	page
}) => {
	await page.goto(app.url);
	await ask(page, 'Use tiny-maker to run scripts/make.py');
	await page.getByRole('button', { name: 'Install tiny-lib' }).click();
	const proposed = page.getByTestId('packages-proposed');
	await expect(proposed.getByTestId('package')).toContainText(['helper', 'tiny-lib']);
	expect((await new AxeBuilder({ page }).include('[data-testid=packages-proposed]').analyze()).violations).toEqual([]);
	await proposed.getByRole('button', { name: 'Install 2 packages' }).click();
	await expect(page.getByText('made with 1.2.0').first()).toBeVisible();
	await expect(page.getByTestId('fixed')).toHaveText('Installed. Ran again: succeeded.');
	await expect(page.getByRole('button', { name: 'Install tiny-lib' })).toHaveCount(0);
	await expect(page.getByRole('link', { name: 'Download made.txt' })).toBeVisible();
	await expect(page.getByTestId('files-button')).toBeVisible();
	const downloading = page.waitForEvent('download');
	await page.getByRole('link', { name: 'Download made.txt' }).click();
	expect((await downloading).suggestedFilename()).toBe('made.txt');
	await page.reload();
	await expect(page.getByTestId('fixed')).toHaveText('Installed. Ran again: succeeded.');
	await page.getByTestId('answer-again').click();
	await expect(page.getByTestId('fixed')).toHaveCount(0);
	await expect(page.getByText('made with 1.2.0').first()).toBeVisible();

	await page.goto(`${app.url}/skills/tiny-maker`);
	await expect(page.getByTestId('packages-installed')).toHaveText(/2 packages installed/);
	await page.getByTestId('packages-installed').click();
	await page.getByRole('button', { name: 'Remove packages' }).click();
	await expect(page.getByTestId('look-up-packages')).toBeVisible();
});

test('D46, E2: over REST packages are looked up, shown, installed and removed', async ({ request }) => {
	const at = `${app.url}/api/skills/other-maker/packages`;
	const settled = async (): Promise<SkillPackagesState> => {
		let state: SkillPackagesState | undefined;
		await expect
			.poll(async () => (state = (await (await request.get(at)).json()) as SkillPackagesState).work, {
				timeout: 30_000
			})
			.toBeNull();
		return state as SkillPackagesState;
	};
	expect((await request.post(at, { data: { also: [{ ecosystem: 'python', name: '--evil' }] } })).status()).toBe(400);
	expect((await request.put(at, { data: { digest: 'a'.repeat(64) } })).status()).toBe(409);
	expect((await request.post(at, { data: {} })).status()).toBe(202);
	const { proposed, space } = await settled();
	expect(space).toMatchObject({ maxBytes: 2 ** 31 });
	expect(proposed?.packages).toMatchObject([
		{ name: 'helper', version: '1.0.0', from: 'file:' },
		{ name: 'tiny-lib', version: '1.2.0', from: 'file:' }
	]);
	expect((await request.put(at, { data: { digest: proposed?.digest } })).status()).toBe(202);
	expect((await settled()).installed).toMatchObject({ state: 'ready', digest: proposed?.digest });
	const run = await request.post(`${app.url}/api/skills/executions`, {
		data: { skillName: 'other-maker', script: 'scripts/make.py' }
	});
	expect(JSON.stringify(await run.json())).toContain('made with 1.2.0');
	expect((await (await request.delete(at)).json()) as SkillPackagesState).toMatchObject({ installed: null });
	const failed = await request.post(`${app.url}/api/skills/executions`, {
		data: { skillName: 'other-maker', script: 'scripts/make.py' }
	});
	expect(JSON.stringify(await failed.json())).toContain(
		'"missing":{"kind":"package","ecosystem":"python","name":"tiny-lib"'
	);
});
