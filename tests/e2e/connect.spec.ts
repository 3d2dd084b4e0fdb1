/** The Connect page: creates a key, copies snippets that work unchanged, and revokes the key. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { expect, test } from './app.ts';

const TOKEN = 'the-token-of-this-test-0123456789';
const run = promisify(execFile);

test.use({ appOptions: { env: { ADMIN_TOKEN: TOKEN } }, permissions: ['clipboard-read', 'clipboard-write'] });

test.beforeEach(async ({ page }) => {
	await page.goto('/connect');
	await page.getByLabel('Token').fill(TOKEN);
	await page.keyboard.press('Enter');
	await expect(page).toHaveURL('/connect');
});

/** What the button copies. */
async function copy(page: Page, client: string, snippet: string): Promise<string> {
	await page.getByTestId(`client-${client}`).click();
	const block = page.getByTestId(`panel-${client}`).getByTestId(`snippet-${snippet}`);
	await block.getByRole('button', { name: /^Copy:/ }).click();
	await expect(block.getByRole('button', { name: 'Copied' })).toBeVisible();
	return page.evaluate(() => navigator.clipboard.readText());
}

async function makeKey(page: Page, name: string): Promise<string> {
	await page.getByTestId('another-key').click();
	await page.getByTestId('key-name').fill(name);
	await page.getByTestId('create-key').click();
	const key = await page.getByTestId('fresh-key-text').textContent();
	expect(key).toMatch(/^ors_[\w-]{43}$/);
	return key ?? '';
}

test('F12: a key is made, opens the server for a program, is listed with its last use, and is refused once revoked', async ({
	page,
	app
}) => {
	const key = await makeKey(page, 'Editor');
	const call = (path: string): Promise<Response> =>
		fetch(app.url + path, { headers: { authorization: `Bearer ${key}` } });
	expect((await call('/v1/models')).status).toBe(200);
	expect((await call('/api/skills')).status).toBe(200);
	expect((await call('/api/keys')).status).toBe(403);

	await page.reload();
	const row = page.getByTestId('key-row').filter({ hasText: 'Editor' });
	await expect(row).toContainText('Last used');
	expect(await page.content()).not.toContain(key);
	await row.getByRole('button', { name: 'Delete Editor' }).click();
	await page.getByTestId('confirm-delete').click();
	await expect(page.getByTestId('revoked-keys')).toContainText('1 deleted key');
	for (const path of ['/v1/models', '/api/skills']) expect((await call(path)).status, path).toBe(401);
});

test('F12, F13, E16: the settings that are copied work as they stand: curl, and each protocol’s own client', async ({
	page
}, testInfo) => {
	test.slow();
	await makeKey(page, 'Programs');
	const { stdout: listed } = await run('sh', ['-c', await copy(page, 'curl', 'list')]);
	expect((JSON.parse(listed) as { total: number }).total).toBeGreaterThan(5);
	const { stdout: counted } = await run('sh', ['-c', await copy(page, 'curl', 'run')]);
	expect(JSON.parse(counted)).toMatchObject({ execution: { status: 'success' } });
	expect(counted).toMatch(/words[\\":\s]+4/);
	const { stdout: answered } = await run('sh', ['-c', await copy(page, 'curl', 'ask')]);
	expect(answered).toMatch(/\b4\b/);

	// Inside the project, so they can import its packages.
	await mkdir(testInfo.outputDir, { recursive: true });
	const programs = [
		['openai', 'js'],
		['ai-sdk', 'js'],
		['openrouter', 'sdk'],
		['openrouter', 'agent'],
		['ag-ui', 'js'],
		['a2a', 'js']
	] as const;
	for (const [client, snippet] of programs) {
		const program = join(testInfo.outputDir, `${client}-${snippet}.mjs`);
		await writeFile(program, await copy(page, client, snippet));
		const { stdout } = await run(process.execPath, [program]);
		expect(stdout, `${client} ${snippet}`).toMatch(/\b4\b/);
	}
});

test('F12: it is reached from the sidebar and the palette, and its programs by keyboard and address', async ({
	page
}) => {
	await page.goto('/');
	await page.getByTestId('connect-link').click();
	await expect(page.getByTestId('connect-page')).toBeVisible();
	await page.getByTestId('client-claude-code').focus();
	await page.keyboard.press('Tab');
	await page.keyboard.press('Enter');
	await expect(page).toHaveURL('/connect#codex');
	await page.reload();
	await expect(page.getByTestId('snippet-codex')).toContainText(`${new URL(page.url()).origin}/mcp`);

	await page.goto('/');
	await expect(page.getByTestId('composer-input')).toBeVisible();
	await page.keyboard.press('Control+k');
	await page.getByTestId('palette-input').fill('connect');
	await page.keyboard.press('Enter');
	await expect(page.getByTestId('connect-page')).toBeVisible();
});

test('UI 11: the first request of the API page runs as it is copied, and an endpoint answers on the page', async ({
	page
}) => {
	await page.goto('/docs/api');
	await page.getByTestId('create-client-key').click();
	await expect(page.getByTestId('fresh-key')).toBeVisible();
	await page.getByRole('button', { name: 'Copy your first request' }).click();
	const { stdout } = await run('sh', ['-c', await page.evaluate(() => navigator.clipboard.readText())]);
	expect((JSON.parse(stdout) as { data: unknown[] }).data).toHaveLength(3);

	await page.getByTestId('find-endpoint').fill('get /api/health');
	await page.getByText('/api/health', { exact: true }).click();
	await page.getByTestId('send').click();
	await expect(page.getByTestId('reply')).toContainText('"status": "ok"');
	// A link to an endpoint opens it.
	await page.goto('/connect');
	await page.goto('/docs/api#listSkills');
	await expect(page.locator('#listSkills')).toHaveAttribute('open', '');
	await expect(page.locator('#listSkills')).toBeInViewport();
});
