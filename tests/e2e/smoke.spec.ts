import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../support/app-process.ts';
import { expect, test } from './app.ts';

const root = join(import.meta.dirname, '../..');

test('the first page opens with its title and without an error in the console', async ({ page }) => {
	const problems: string[] = [];
	page.on('console', (message) => {
		if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
	});
	page.on('pageerror', (error) => problems.push(String(error)));
	page.on('response', (response) => {
		if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
	});

	await page.goto('/');

	await expect(page).toHaveTitle('OpenRouter Skills');
	await page.waitForLoadState('networkidle');
	expect(problems).toEqual([]);
});

test('started from another folder, it has its own pages and skills, and a path in a setting begins in its own folder', async () => {
	const elsewhere = await mkdtemp(join(tmpdir(), 'openrouter-skills-elsewhere-'));
	const data = `test-results/elsewhere-${randomUUID()}`;
	const app = await startApp({
		command: [process.execPath, join(root, 'server.js')],
		cwd: elsewhere,
		env: { DATA_DIR: `./${data}`, SKILLS_DIRS: '', HOME: elsewhere }
	});
	try {
		expect((await fetch(app.url)).status).toBe(200);
		const { skills } = (await (await fetch(`${app.url}/api/skills`)).json()) as { skills: { name: string }[] };
		expect(skills.map(({ name }) => name)).toContain('count-words');
		expect(await readdir(join(root, data))).not.toEqual([]);
	} finally {
		await app.stop();
		await rm(join(root, data), { recursive: true, force: true });
	}
	// Nothing was created in the current folder.
	expect(await readdir(elsewhere)).toEqual([]);
	await rm(elsewhere, { recursive: true });
});
