/** The message box with the real server: commands, skills and files by name, pasting, and keys (F7). */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import type { App } from '../support/app-process.ts';
import { call, gate, status, text } from '../support/model-server.ts';
import { expect } from './app.ts';
import { answers, ask, questions, test } from './played-model.ts';

const box = (page: Page): Locator => page.getByTestId('composer-input');
const offers = (page: Page): Locator => page.getByTestId('completion');
const files = (page: Page): Locator => page.getByTestId('attachment');

/** A skill whose instructions contain this word and whose script waits for a workspace file that never comes. */
async function addSkill(page: Page, app: App, name: string, word: string): Promise<void> {
	await mkdir(join(app.skillsDir, name, 'scripts'), { recursive: true });
	const skill = `---\nname: ${name}\ndescription: Knows the word of ${name}.\n---\n\nThe word is ${word}.\n`;
	await writeFile(join(app.skillsDir, name, 'SKILL.md'), skill);
	await writeFile(join(app.skillsDir, name, 'scripts/wait.sh'), 'echo "begun: $*"; exec sleep 600\n');
	const names = async () => (await page.request.get(`${app.url}/api/skills`)).text();
	await expect.poll(names).toContain(`"name":"${name}"`);
}

async function finish(page: Page, count: number): Promise<void> {
	await expect(answers(page)).toHaveCount(count);
	await expect(answers(page).last()).toHaveAttribute('data-status', 'complete');
}

/** Pastes into the box, like a browser. */
async function paste(
	page: Page,
	what: { text?: string; base64?: string; name?: string; type?: string }
): Promise<void> {
	await box(page).evaluate((element, { text = '', base64, name = '', type = '' }) => {
		const data = new DataTransfer();
		if (text !== '') data.setData('text/plain', text);
		if (base64 !== undefined) {
			const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
			data.items.add(new File([bytes], name, { type }));
		}
		element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
	}, what);
}

/** Pastes a file with this text. */
async function bring(page: Page, name: string, content: string): Promise<void> {
	await paste(page, { base64: Buffer.from(content).toString('base64'), name, type: 'text/csv' });
}

test('F5, F7: the same file again is the one that is there; a changed one stands beside it', async ({
	page,
	app,
	model
}) => {
	model.push(text('One.'), text('Two.'));
	await page.goto(app.url);
	await bring(page, 'hh.csv', 'a,b\n1,2\n');
	await expect(files(page)).toHaveAttribute('data-state', 'ready');
	await box(page).fill('one');
	await box(page).press('Enter');
	await finish(page, 1);
	await bring(page, 'hh.csv', 'a,b\n1,2\n');
	await expect(files(page)).toHaveAttribute('data-path', 'hh.csv');
	await bring(page, 'hh.csv', 'a,b\n1,3\n');
	await expect(files(page)).toHaveCount(2);
	await expect(files(page).last()).toHaveAttribute('data-path', 'hh (2).csv');
	await expect(files(page).last()).toHaveAttribute('data-state', 'ready');
	await box(page).fill('two');
	await box(page).press('Enter');
	await finish(page, 2);
	await bring(page, 'hh.csv', 'a,b\n1,3\n');
	await expect(files(page)).toHaveAttribute('data-path', 'hh (2).csv');
});

test('F7: each command of the box does what it says, and nothing of it is sent', async ({ page, app, model }) => {
	// A long test.
	test.slow();
	const held = gate();
	model.push(text('Done.'), text('Slow ', held));
	await page.goto(app.url);
	await ask(page, 'before the commands');
	await finish(page, 1);
	await page.waitForURL(/\/c\//);
	const { href } = new URL(page.url());
	const run = async (name: string): Promise<void> => {
		await box(page).pressSequentially(`/${name}`);
		await expect(offers(page).first()).toContainText(`/${name}`);
		await page.keyboard.press('Enter');
		await expect(page.getByTestId('completions')).toHaveCount(0);
	};

	await run('rename');
	await page.keyboard.type('after the command');
	await page.keyboard.press('Enter');
	await expect(page.getByTestId('chat-title')).toHaveText('after the command');
	for (const [name, ending] of [
		['export', /\.md$/],
		['export-json', /\.json$/]
	] as const) {
		const [download] = await Promise.all([page.waitForEvent('download'), run(name)]);
		expect(download.suggestedFilename()).toMatch(ending);
	}
	await run('model');
	await expect(page.getByTestId('model-panel')).toBeVisible();
	await page.keyboard.press('Escape');
	await expect(page.getByTestId('model-panel')).toBeHidden();
	await run('help');
	await expect(page.getByTestId('shortcuts-dialog')).toBeVisible();
	await page.keyboard.press('Escape');

	await box(page).fill('a thought that goes\n');
	await run('clear');
	await expect(box(page)).toHaveValue('');
	await page.getByTestId('toast').filter({ hasText: 'Draft cleared' }).getByTestId('toast-action').click();
	await expect(box(page)).toHaveValue(/a thought that goes/);
	await box(page).fill('');

	await ask(page, 'a slow one');
	await expect(answers(page).last()).toContainText('Slow');
	await run('stop');
	await expect(answers(page).last()).toHaveAttribute('data-status', 'cancelled');
	await run('skills');
	await expect(page).toHaveURL(/\/skills$/);
	await page.goto(href);
	await expect(questions(page)).toHaveText([/before the commands/, /a slow one/]);
	await run('new');
	await expect(page).toHaveURL(/\/$/);
	await expect(questions(page)).toHaveCount(0);
	// Only commands that make sense: a new chat has nothing to export.
	await box(page).pressSequentially('/exp');
	await expect(offers(page).filter({ hasText: '/export' })).toHaveCount(0);
});

test('F7: a skill chosen by keyboard goes with each message until it is unpinned; a loaded one until it is unloaded', async ({
	page,
	app,
	model
}) => {
	await addSkill(page, app, 'word-keeper', 'XYZZY');
	await addSkill(page, app, 'other-keeper', 'PLUGH');
	model.push(text('I know it.'), text('I know it no more.'));
	await page.goto(app.url);
	await box(page).pressSequentially('please $keep');
	await expect(offers(page)).toHaveCount(2);
	while (!(await offers(page).and(page.locator('[data-active=true]')).innerText()).includes('word-keeper')) {
		await page.keyboard.press('ArrowDown');
	}
	await page.keyboard.press('Enter');
	const chip = page.locator('[data-testid=skill-chip][data-name=word-keeper]');
	await expect(chip).toHaveAttribute('data-state', 'pending');
	await expect(box(page)).toHaveValue('please ');
	await box(page).pressSequentially('tell me');
	const number = model.requests.length + 1;
	await page.keyboard.press('Enter');
	const instructions = async (of: number): Promise<string> => String((await model.received(of)).body.instructions);
	expect(await instructions(number)).toContain('The word is XYZZY.');
	expect(await instructions(number)).not.toContain('PLUGH');
	await finish(page, 1);
	await expect(chip).toHaveAttribute('data-state', 'pinned');
	await page.waitForURL(/\/c\//);
	await page.reload();
	await expect(chip).toHaveAttribute('data-state', 'pinned');

	await chip.getByTestId('skill-menu').click();
	await page.getByTestId('skill-unpin').click();
	await expect(chip).toHaveCount(0);
	await ask(page, 'and now?');
	expect(await instructions(number + 1)).not.toContain('XYZZY');
	await finish(page, 2);

	model.push(call('load_skill', { skill: 'other-keeper' }), text('Loaded.'), text('Gone.'));
	await ask(page, 'load it');
	await finish(page, 3);
	const loaded = page.locator('[data-testid=skill-chip][data-name=other-keeper]');
	await expect(loaded).toHaveAttribute('data-state', 'loaded');
	await expect(loaded).toContainText(/\d/);
	expect(JSON.stringify((await model.received(number + 3)).body)).toContain('PLUGH');
	await loaded.getByTestId('skill-menu').click();
	await page.getByTestId('skill-unload').click();
	await expect(loaded).toHaveCount(0);
	await ask(page, 'and that?');
	expect(JSON.stringify((await model.received(number + 4)).body)).not.toContain('PLUGH');
	await finish(page, 4);
});

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('F7: what is pasted or named by @ goes as a file; Backspace takes the last one away', async ({
	page,
	app,
	model
}) => {
	model.push(text('Read.'), text('Again.'));
	await page.goto(app.url);
	await box(page).fill('about this:');
	const long = `A long story. ${'word '.repeat(1200)}The end.`;
	await paste(page, { text: long });
	await expect(files(page)).toHaveAttribute('data-state', 'ready');
	await expect(files(page)).toContainText('Pasted text.txt');
	await expect(box(page)).toHaveValue('about this:');
	await page.getByTestId('paste-as-text').click();
	await expect(files(page)).toHaveCount(0);
	expect(await box(page).inputValue()).toContain('A long story.');
	expect(await box(page).inputValue()).toContain('The end.');
	await box(page).fill('');

	await paste(page, { text: long });
	await paste(page, { base64: PIXEL, name: 'image.png', type: 'image/png' });
	await expect(files(page)).toHaveCount(2);
	await expect(files(page).nth(1)).toHaveAttribute('data-path', 'image.png');
	for (const index of [0, 1]) await expect(files(page).nth(index)).toHaveAttribute('data-state', 'ready');
	const picture = files(page).getByTestId('attachment-picture');
	await expect.poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1);
	// Everything, files included, is still there after a reload.
	await page.reload();
	await expect(files(page)).toHaveCount(2);
	await box(page).focus();
	await page.keyboard.press('Backspace');
	await expect(files(page)).toHaveCount(1);
	const number = model.requests.length + 1;
	await ask(page, 'read it');
	await finish(page, 1);
	await expect(questions(page).getByTestId('message-file')).toHaveText([/Pasted text/]);
	expect(JSON.stringify((await model.received(number)).body)).toContain('Pasted text');

	await box(page).pressSequentially('once more @past');
	await expect(offers(page)).toHaveText([/Pasted text/]);
	await page.keyboard.press('Tab');
	await expect(files(page)).toHaveCount(1);
	await expect(box(page)).toHaveValue(/^once more Pasted text/);
	await page.keyboard.press('Enter');
	await finish(page, 2);
	await expect(questions(page).last().getByTestId('message-file')).toHaveCount(1);
});

test('UI 5: Up edits the last message, Escape stops: at once, and only when pressed twice while a script runs', async ({
	page,
	app,
	model
}) => {
	await addSkill(page, app, 'patient-one', 'WAIT');
	await page.goto(app.url);
	model.push(text('To the first.'), text('To the other.'));
	await ask(page, 'the frist');
	await finish(page, 1);
	await page.keyboard.press('ArrowUp');
	await expect(page.getByTestId('edit-input')).toBeFocused();
	await expect(page.getByTestId('edit-input')).toHaveValue('the frist');
	await page.getByTestId('edit-input').fill('the first');
	await page.keyboard.press('Enter');
	await expect(answers(page)).toContainText('To the other.');
	await expect(questions(page).getByTestId('branch-position')).toHaveText('2 / 2');
	await finish(page, 1);

	model.push(text('Never ', gate()));
	await ask(page, 'talk');
	await expect(answers(page).last()).toContainText('Never');
	await page.keyboard.press('Escape');
	await expect(answers(page).last()).toHaveAttribute('data-status', 'cancelled');

	model.push(call('use_skill', { skill: 'patient-one', script: 'scripts/wait.sh', args: ['now'] }));
	await ask(page, 'run');
	await expect(page.getByTestId('terminal-output')).toContainText('begun: now');
	await page.keyboard.press('Escape');
	await expect(page.getByTestId('stop-note')).toContainText('Press Esc again');
	await expect(answers(page).last()).toHaveAttribute('data-status', 'running');
	await page.keyboard.press('Escape');
	await expect(answers(page).last()).toHaveAttribute('data-status', 'cancelled');
	await expect(page.getByTestId('step').last()).toHaveAttribute('data-status', 'cancelled');
});

test('UI 5: what could not be sent is in the box again; what the model failed at is asked again by Retry', async ({
	page,
	app,
	model
}) => {
	await page.goto(app.url);
	await page.route('**/api/chat', (route) => route.abort());
	await ask(page, 'precious words');
	await expect(page.getByTestId('send-error')).toBeVisible();
	await expect(box(page)).toHaveValue('precious words');
	await expect(questions(page)).toHaveCount(0);
	await page.unroute('**/api/chat');

	model.push(status(400, { error: { code: 400, message: 'Not like this' } }));
	await page.keyboard.press('Enter');
	await expect(page.getByTestId('send-error')).toHaveCount(0);
	await expect(page.getByTestId('message-error')).toBeVisible();
	await expect(box(page)).toHaveValue('');
	await expect(questions(page)).toContainText('precious words');
	model.push(text('Like this, then.'));
	const number = model.requests.length + 1;
	await page.keyboard.press('ArrowUp');
	await expect(page.getByTestId('edit-input')).toHaveValue('precious words');
	await page.keyboard.press('Enter');
	expect(JSON.stringify((await model.received(number)).body.input)).toContain('precious words');
	await expect(answers(page)).toContainText('Like this, then.');
});

test('F7: a skill’s page begins a chat with it; a key that picks a word of an input method sends nothing', async ({
	page,
	app,
	model
}) => {
	await addSkill(page, app, 'from-its-page', 'FROTZ');
	await page.goto(`${app.url}/skills/from-its-page`);
	await page.getByTestId('chat-with-skill').click();
	const chip = page.locator('[data-testid=skill-chip][data-name=from-its-page]');
	await expect(chip).toHaveAttribute('data-state', 'pending');
	// Left as it is, it's no draft: neither here nor with an example's text.
	for (const query of ['skill=from-its-page', 'skill=from-its-page&q=An+example']) {
		await page.goto(`${app.url}/?${query}`);
		await expect(chip).toBeVisible();
		await page.getByRole('link', { name: /^Skills/ }).click();
		await expect(page.getByTestId('skills-page')).toBeVisible();
		await page.getByTestId('new-chat').click();
		await expect(box(page)).toHaveValue('');
		await expect(chip).toHaveCount(0);
	}
	await page.goto(`${app.url}/skills/from-its-page`);
	await page.getByTestId('chat-with-skill').click();
	await expect(chip).toHaveAttribute('data-state', 'pending');
	await expect(box(page)).toBeFocused();
	await box(page).fill('ni hao');
	await box(page).evaluate((element) => {
		const key = { key: 'Enter', bubbles: true, cancelable: true };
		element.dispatchEvent(new CompositionEvent('compositionstart', { bubbles: true }));
		element.dispatchEvent(new KeyboardEvent('keydown', { ...key, isComposing: true }));
		element.dispatchEvent(new CompositionEvent('compositionend', { bubbles: true }));
		element.dispatchEvent(new KeyboardEvent('keydown', { ...key, keyCode: 229 }));
	});
	await expect(box(page)).toHaveValue('ni hao');
	await expect(questions(page)).toHaveCount(0);
	model.push(text('Hello.'));
	const number = model.requests.length + 1;
	await page.keyboard.press('Enter');
	expect(String((await model.received(number)).body.instructions)).toContain('The word is FROTZ.');
	await finish(page, 1);
	await expect(chip).toHaveAttribute('data-state', 'pinned');
	await expect(page).toHaveURL(/\/c\//);

	await page.goto(`${app.url}/?skill=there-is-none`);
	await expect(page.getByTestId('toast').filter({ hasText: 'there-is-none' })).toBeVisible();
	await expect(page.getByTestId('skill-chip')).toHaveCount(0);
});
