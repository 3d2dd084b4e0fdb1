/** The files panel of a chat: list, view, compare, download and use files again (F5). */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { unzipSync } from 'fflate';
import type { App } from '../support/app-process.ts';
import { call, text } from '../support/model-server.ts';
import { expect } from './app.ts';
import { answers, ask, test } from './played-model.ts';

const panel = (page: Page) => page.getByTestId('files-panel');
const row = (page: Page, path: string) => page.locator(`[data-testid=file-row][data-path="${path}"]`);
const run = (script: string) => call('use_skill', { skill: 'file-maker', script: `scripts/${script}`, args: [] });

/** A skill with scripts that write these files. */
async function addSkill(page: Page, app: App, scripts: Record<string, string>): Promise<void> {
	const dir = join(app.skillsDir, 'file-maker');
	await mkdir(join(dir, 'scripts'), { recursive: true });
	await writeFile(join(dir, 'SKILL.md'), '---\nname: file-maker\ndescription: Makes files.\n---\nRun a script.\n');
	for (const [path, script] of Object.entries(scripts)) await writeFile(join(dir, 'scripts', path), script);
	const names = async () => (await page.request.get(`${app.url}/api/skills`)).text();
	await expect.poll(names).toContain('"name":"file-maker"');
	await page.goto(app.url);
}

async function expectAccessible(page: Page): Promise<void> {
	const { violations } = await new AxeBuilder({ page }).analyze();
	expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
}

test('F5: files open beside the conversation, have versions that are compared, come in one zip, and go into the next message', async ({
	page,
	app,
	model
}) => {
	await page.setViewportSize({ width: 1280, height: 800 });
	await addSkill(page, app, {
		'one.sh': `printf 'name,age\\nWally,12\\n' > people.csv; printf 'alpha\\nbeta\\n' > notes.txt\n`,
		'two.sh': `printf 'alpha\\ngamma\\n' > notes.txt\n`
	});
	model.push(run('one.sh'), text('Made.'));
	await ask(page, 'make files');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await expect(page.getByTestId('files-button')).toHaveAccessibleName('Files 2');
	model.push(run('two.sh'), text('Changed.'));
	await ask(page, 'change one');
	await expect(answers(page)).toHaveCount(2);
	await expect(answers(page).last()).toHaveAttribute('data-status', 'complete');

	// Opened from the header: focus moves to the panel, and Escape returns it.
	await page.getByTestId('files-button').click();
	await expect(page.getByRole('complementary', { name: 'Files' })).toBeFocused();
	await expect(row(page, 'notes.txt')).toContainText('2 versions');
	await expectAccessible(page);
	await page.keyboard.press('Escape');
	await expect(panel(page)).toHaveCount(0);
	await expect(page.getByTestId('files-button')).toBeFocused();

	// Opened from a file in a reply.
	const card = page.locator('[data-testid=file-card][data-path="notes.txt"]').last();
	await card.getByTestId('open-file').click();
	await expect(panel(page).getByTestId('file-text')).toHaveText('alpha\ngamma');
	await panel(page).getByLabel('Version').selectOption({ index: 1 });
	await expect(panel(page).getByTestId('file-text')).toHaveText('alpha\nbeta');
	await panel(page).getByLabel('Compare with').selectOption({ index: 1 });
	await expect(panel(page).getByTestId('file-diff')).toContainText('-beta');
	await expect(panel(page).getByTestId('file-diff')).toContainText('+gamma');
	await expectAccessible(page);
	await page.getByTestId('all-files').click();

	const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('download-all').click()]);
	expect(download.suggestedFilename()).toBe('files.zip');
	const zip = unzipSync(await readFile(await download.path()));
	expect(Object.keys(zip).toSorted()).toEqual(['notes.txt', 'people.csv']);
	expect(new TextDecoder().decode(zip['notes.txt'])).toBe('alpha\ngamma\n');

	// With the mouse from the panel and from a reply, with the keyboard from the panel; each file is added once.
	await row(page, 'people.csv').dragTo(page.getByTestId('composer-input'));
	await expect(page.getByTestId('attachment')).toHaveCount(1);
	await card.locator('span').first().dragTo(page.getByTestId('composer-input'));
	await expect(page.getByTestId('attachment')).toHaveCount(2);
	await row(page, 'people.csv').getByTestId('use-file').press('Enter');
	await expect(page.getByTestId('attachment')).toHaveCount(2);
	model.push(text('Seen.'));
	await page.getByTestId('composer-input').fill('look at them');
	await page.getByTestId('composer-input').press('Enter');
	await expect(page.getByTestId('message-file')).toHaveText([/people\.csv/, /notes\.txt/]);
	await expect(answers(page)).toHaveCount(3);
	await expect(answers(page).last()).toHaveAttribute('data-status', 'complete');
});

test('F5: on a narrow screen the files lie over the conversation, and one that is used leads back to the message', async ({
	page,
	app,
	model
}) => {
	await page.setViewportSize({ width: 390, height: 844 });
	await addSkill(page, app, { 'one.sh': `printf 'plain words' > notes.txt\n` });
	model.push(run('one.sh'), text('Made.'));
	await ask(page, 'make a file');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await page.getByTestId('files-button').click();
	await expect(page.getByTestId('files-sheet')).toBeVisible();
	await expectAccessible(page);
	await row(page, 'notes.txt').getByRole('button').first().click();
	await expect(panel(page).getByTestId('file-text')).toHaveText('plain words');
	await expectAccessible(page);
	await page.keyboard.press('Escape');
	await expect(panel(page)).toHaveCount(0);
	await page.getByTestId('files-button').click();
	await row(page, 'notes.txt').getByTestId('use-file').click();
	await expect(panel(page)).toHaveCount(0);
	await expect(page.getByTestId('attachment')).toHaveAttribute('data-path', 'notes.txt');
	await expect(page.getByTestId('composer-input')).toBeFocused();
	// After a deletion the list stays open, with the notice and its Undo over it.
	await page.getByTestId('files-button').click();
	await row(page, 'notes.txt').getByRole('button').first().click();
	await page.getByTestId('delete-file').click();
	await expect(row(page, 'notes.txt')).toHaveCount(0);
	await expect(panel(page).getByTestId('all-files')).toHaveCount(0);
	await expectAccessible(page);
	await page.getByTestId('files-sheet').getByTestId('toast-action').click();
	await expect(row(page, 'notes.txt')).toBeVisible();
	// Beside the list it's deleted from, the notice goes on when the sheet is closed.
	await row(page, 'notes.txt').getByTestId('delete-file').click();
	await page.getByTestId('close-files').click();
	await page.getByTestId('toast-action').click();
	await page.getByTestId('files-button').click();
	await expect(row(page, 'notes.txt')).toBeVisible();
});

const PAGE = `<h1>Made</h1><script>
const { dataset } = document.documentElement;
dataset.origin = origin;
try { parent.document.title = 'pwned'; } catch { dataset.parent = 'refused'; }
fetch('/api/health').then(() => (dataset.fetch = 'came'), () => (dataset.fetch = 'refused'));
</script>`;

test('F5, SECURITY: a page runs its scripts when it is told to, cut off from the app; a sound is played from any place', async ({
	page,
	app,
	model
}) => {
	await page.setViewportSize({ width: 1280, height: 800 });
	await addSkill(page, app, {
		'made.mjs': `import { writeFileSync } from 'node:fs';
const sound = Buffer.alloc(44 + 80_000, 128);
sound.write('RIFF', 0); sound.writeUInt32LE(36 + 80_000, 4); sound.write('WAVEfmt ', 8); sound.writeUInt32LE(16, 16);
sound.writeUInt16LE(1, 20); sound.writeUInt16LE(1, 22); sound.writeUInt32LE(8_000, 24); sound.writeUInt32LE(8_000, 28);
sound.writeUInt16LE(1, 32); sound.writeUInt16LE(8, 34); sound.write('data', 36); sound.writeUInt32LE(80_000, 40);
writeFileSync('tone.wav', sound);
writeFileSync('page.html', ${JSON.stringify(PAGE)});
`
	});
	model.push(run('made.mjs'), text('Made.'));
	await ask(page, 'make them');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await page.getByTestId('files-button').click();
	await row(page, 'page.html').getByRole('button').first().click();
	const root = panel(page).frameLocator('iframe').locator(':root');
	await expect(root).toContainText('Made');
	expect(await root.getAttribute('data-origin')).toBe(null);
	await panel(page).getByRole('button', { name: 'Allow scripts in this file' }).click();
	await expect(root).toHaveAttribute('data-fetch', 'refused');
	await expect(root).toHaveAttribute('data-origin', 'null');
	await expect(root).toHaveAttribute('data-parent', 'refused');
	await expectAccessible(page);

	await page.getByTestId('all-files').click();
	await row(page, 'tone.wav').getByRole('button').first().click();
	const sound = panel(page).locator('audio');
	await expect.poll(() => sound.evaluate((audio: HTMLAudioElement) => audio.duration)).toBe(10);
	await sound.evaluate((audio: HTMLAudioElement) => (audio.currentTime = 7));
	await expect.poll(() => sound.evaluate((audio: HTMLAudioElement) => audio.currentTime)).toBe(7);
	await expectAccessible(page);
});

/** Creates a chat with these files and opens it. */
async function openChat(page: Page, app: App, files: Record<string, Buffer | string>): Promise<void> {
	const made = await page.request.post(`${app.url}/api/conversations`, { data: { title: 'Files' } });
	const { id } = (await made.json()) as { id: string };
	const headers = { 'content-type': 'application/octet-stream' };
	for (const [path, data] of Object.entries(files)) {
		const put = await page.request.put(`${app.url}/api/conversations/${id}/files/${path}`, { data, headers });
		expect(put.ok()).toBe(true);
	}
	await page.goto(`${app.url}/c/${id}`);
}

test('F5: the panel of files is as wide as somebody wants it, by mouse and by keyboard, and stays so; on a phone it takes the page', async ({
	page,
	app
}) => {
	await page.setViewportSize({ width: 1280, height: 800 });
	await openChat(page, app, { 'notes.txt': 'alpha' });
	await page.getByTestId('files-button').click();
	const side = page.getByRole('complementary', { name: 'Files' });
	const handle = page.getByRole('separator', { name: 'Width of the chat' });
	const widthOf = async () => Math.round((await side.boundingBox())?.width ?? 0);
	await expect(side).toBeVisible();
	// A list needs no more room than its names.
	expect(await widthOf()).toBeLessThan(400);
	await expect(handle).toHaveCount(0);
	const openFile = () => side.getByTestId('file-row').getByRole('button', { name: 'notes.txt' }).first().click();
	await openFile();
	const preset = await widthOf();
	const box = await handle.boundingBox();
	await page.mouse.move((box?.x ?? 0) + 4, 400);
	await page.mouse.down();
	await page.mouse.move((box?.x ?? 0) - 96, 400);
	await page.mouse.up();
	expect(Math.abs((await widthOf()) - preset - 100)).toBeLessThanOrEqual(2);
	await handle.focus();
	await page.keyboard.press('Home');
	await expect(handle).toHaveAttribute('aria-valuenow', '35');
	await page.keyboard.press('ArrowRight');
	await expect(handle).toHaveAttribute('aria-valuenow', '37');
	const kept = await widthOf();
	await expectAccessible(page);
	await page.reload();
	await page.getByTestId('files-button').click();
	await openFile();
	await expect.poll(widthOf).toBe(kept);
	await handle.focus();
	await page.keyboard.press('Enter');
	await expect.poll(widthOf).toBe(preset);
	await page.setViewportSize({ width: 390, height: 844 });
	await expect(page.getByTestId('files-sheet')).toBeVisible();
	await expect(handle).toHaveCount(0);
});

test('F5: a text of 50 MB and a table of a million rows open: only their beginning is read, which they say, and the rest can be saved', async ({
	page,
	app
}) => {
	await page.setViewportSize({ width: 1280, height: 800 });
	const lines = Buffer.from('a line of a long log file, as programs write them all day long\n'.repeat(800_000));
	const rows = Array.from({ length: 1_000_000 }, (_, index) => `${index},name ${index},${index * 3}`);
	await openChat(page, app, {
		'long.log': lines,
		'long.md': '# Title\n\n- item *one* `code`\n\n'.repeat(1_600_000),
		'one-line.txt': 'x'.repeat(50_000_000),
		'rows.csv': `id,name,amount\n${rows.join('\n')}\n`
	});
	const network = await page.context().newCDPSession(page);
	await network.send('Network.enable');
	let bytes = 0;
	network.on('Network.dataReceived', ({ dataLength }) => (bytes += dataLength));
	await page.getByTestId('files-button').click();
	for (const [path, said] of [
		['long.log', 'Preview cut off. Download the file to see the rest.'],
		['long.md', 'Preview cut off. Download the file to see the rest.'],
		['one-line.txt', 'Preview cut off. Download the file to see the rest.'],
		['rows.csv', /Only the first [\d,]{5,7} rows\. Download the file to see the rest\./]
	] as const) {
		bytes = 0;
		await row(page, path).getByRole('button').first().click();
		await expect(panel(page)).toContainText(said);
		if (path === 'long.md') {
			// They aren't all shown at once.
			const items = panel(page).getByRole('listitem');
			const first = await items.count();
			expect(first).toBeLessThan(1_500);
			await panel(page).getByRole('button', { name: 'Show more' }).click();
			await expect.poll(() => items.count()).toBeGreaterThan(first);
		}
		await expect(panel(page).getByRole('link', { name: `Download ${path}` })).toHaveAttribute('download', path);
		expect(bytes).toBeLessThan(8_000_000);
		await page.getByTestId('all-files').click();
	}
});

test('UI 4: toasts, the drop hint and dialogs are centred on the chat, beside the sidebar and the files', async ({
	page,
	app,
	model
}) => {
	await page.setViewportSize({ width: 1280, height: 800 });
	await addSkill(page, app, { 'one.sh': 'printf a > a.txt\n' });
	model.push(run('one.sh'), text('Made.'));
	await ask(page, 'make files');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	const middle = (selector: string) =>
		page.locator(selector).evaluate((element) => {
			const { left, width } = element.getBoundingClientRect();
			return Math.round(left + width / 2);
		});
	const chat = '[data-testid=chat]';
	for (const isOpen of [false, true]) {
		if (isOpen) await page.getByTestId('files-button').click();
		await expect(panel(page)).toHaveCount(isOpen ? 1 : 0);
		await page.evaluate(() => {
			const dataTransfer = new DataTransfer();
			dataTransfer.items.add(new File(['x'], 'x.txt'));
			dispatchEvent(new DragEvent('dragenter', { dataTransfer }));
		});
		await expect.poll(() => middle('[data-testid=drop-overlay] p')).toBe(await middle(chat));
		await page.evaluate(() => {
			const dataTransfer = new DataTransfer();
			dataTransfer.items.add(new File(['x'], 'x.txt'));
			dispatchEvent(new DragEvent('dragleave', { dataTransfer }));
		});
		await page.keyboard.press('Control+/');
		await expect.poll(() => middle('[data-testid=shortcuts-dialog]')).toBe(await middle(chat));
		await page.keyboard.press('Escape');
		await expect(page.getByTestId('shortcuts-dialog')).toHaveCount(0);
	}
	await row(page, 'a.txt').hover();
	await row(page, 'a.txt')
		.getByRole('button', { name: /Delete/ })
		.click();
	await expect.poll(() => middle('[data-testid=toast]')).toBe(await middle(chat));
});
