/** Creating and editing skills on the page (F1, F8): templates, live problems, conflicts, unsaved changes, export and import. */
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import type { Locator, Page } from '@playwright/test';
import type { SkillSummary } from '../../src/lib/shared/skills.ts';
import { expect, test } from './app.ts';
import { answers } from './played-model.ts';

const row = (page: Page, name: string): Locator => page.locator(`[data-testid=skill-row][data-name=${name}]`);
const code = (page: Page): Locator => page.getByTestId('code-editor');
const described = 'Greets people by name. Use when somebody asks for a greeting.';
const skillMd = (name: string, text: string, description = described) =>
	`---\nname: ${name}\ndescription: ${description}\n---\n\n${text}\n`;

async function make(page: Page, name: string, template: string): Promise<void> {
	await page.goto('/skills/new');
	await page.getByTestId('new-skill-name').fill(name);
	await page.getByTestId('new-skill-description').fill(described);
	await page.getByTestId(`template-${template}`).check();
	await page.getByTestId('create-skill').click();
	await expect(page).toHaveURL(new RegExp(`/skills/edit/${name}$`));
	await expect(code(page)).toContainText(new RegExp(`name: ${name}`));
}

test('F8: a skill is made from a template; a bad name and a long description are told while they are typed', async ({
	page,
	app
}) => {
	await page.goto('/skills');
	await page.getByTestId('new-skill-link').click();
	const create = page.getByTestId('create-skill');
	await page.getByTestId('new-skill-name').fill('My Greeter!');
	await expect(page.getByTestId('name-advice')).toContainText('only lowercase letters');
	await page.getByTestId('use-suggestion').click();
	await expect(page.getByTestId('new-skill-name')).toHaveValue('my-greeter');
	await expect(page.getByTestId('name-advice')).toHaveText('Looks good');
	await page.getByTestId('new-skill-name').fill('count-words');
	await expect(page.getByTestId('name-advice')).toContainText('already');
	await page.getByTestId('new-skill-name').fill('my-greeter');

	await page.getByTestId('new-skill-description').fill('word '.repeat(210));
	await expect(page.getByTestId('description-advice')).toContainText('Too long');
	await page.getByTestId('new-skill-description').fill('');
	await create.click();
	await expect(page.getByTestId('description-advice')).toHaveText('Say what it does and when to use it.');
	await expect(page.getByTestId('new-skill-description')).toBeFocused();
	await page.getByTestId('new-skill-description').fill(described);
	await page.getByTestId('template-script').check();
	// What was typed is there again after a look elsewhere.
	await page.goto('/skills');
	await page.getByTestId('new-skill-link').click();
	await expect(page.getByTestId('new-skill-description')).toHaveValue(described);
	await expect(page.getByTestId('template-script')).toBeChecked();
	await expect(page.getByTestId('template-preview')).toContainText('scripts/');
	await create.click();

	await expect(page).toHaveURL(/\/skills\/edit\/my-greeter$/);
	await expect(page.getByTestId('editor-check')).toContainText('No problems found');
	expect(await readFile(join(app.skillsDir, 'my-greeter/SKILL.md'), 'utf8')).toContain(described);
	await page.goto('/skills');
	await expect(row(page, 'my-greeter')).toHaveAttribute('data-status', 'ready');
});

test('F8, F9: from the name to a skill that has run in Demo mode are three clicks', async ({ page, app }) => {
	for (const template of ['script', 'tools']) {
		const name = `tried-${template}`;
		await page.goto('/skills');
		await page.getByTestId('new-skill-link').click();
		await page.getByTestId('new-skill-name').fill(name);
		await page.getByTestId('new-skill-description').fill(described);
		await page.getByTestId(`template-${template}`).check();
		await page.getByTestId('create-and-try').click();
		await expect(page.getByTestId('composer-input')).toHaveValue(`Use ${name} with “hello world”`);
		await page.getByTestId('send').click();
		const answer = answers(page).last();
		await expect(answer).toHaveAttribute('data-status', 'complete');
		await expect(answer).toContainText('hello world');
		if (template === 'script') await expect(answer).toContainText('This starter script repeats');
		await expect(answer.locator('[data-testid=step]').last()).toHaveAttribute('data-status', 'done');
		const { data } = (await (await page.request.get(`${app.url}/api/skills/executions`)).json()) as {
			data: { skillId: string; status: string }[];
		};
		expect(data.filter(({ skillId }) => skillId.includes(name)).map(({ status }) => status)).toEqual(['success']);
		await page.getByRole('button', { name: 'Edit script' }).last().click();
		await expect(page).toHaveURL(/\/skills\/edit\/.*\?file=scripts/);
	}
});

test('F8, F9: a number in the question of a new skill reaches its script in Demo mode', async ({ page }) => {
	await page.goto('/skills/new');
	await page.getByTestId('new-skill-name').fill('roman-numerals');
	await page.getByTestId('new-skill-description').fill('Writes Roman numerals. Use when someone asks for them.');
	await page.getByTestId('new-skill-example').fill('What is 1987 in Roman numerals?');
	await expect(page.getByTestId('takes-number')).toBeChecked();
	await page.getByTestId('create-and-try').click();
	await expect(page.getByTestId('composer-input')).toHaveValue('What is 1987 in Roman numerals?');
	await page.getByTestId('send').click();
	const answer = answers(page).last();
	await expect(answer).toHaveAttribute('data-status', 'complete');
	await expect(answer).toContainText('repeats what it’s given: 1987');
});

test('F1, F8: a problem is shown at its line, put right by one click and saved; unsaved words survive a reload', async ({
	page,
	app
}) => {
	await make(page, 'unsaved-one', 'instructions');
	const file = join(app.skillsDir, 'unsaved-one/SKILL.md');
	const before = await readFile(file, 'utf8');
	await code(page).fill(skillMd('Wrong_Name', 'Say hello.'));
	await expect(page.getByTestId('editor-status')).toContainText('Unsaved changes');
	await expect(page).toHaveTitle(/^● Edit unsaved-one/);
	const issue = page.getByTestId('editor-issue').filter({ hasText: 'name' }).first();
	await expect(issue).toBeVisible();
	await expect(code(page).locator('.cm-lintRange-error').first()).toHaveText('name: Wrong_Name');
	page.on('dialog', (dialog) => void dialog.accept());
	await page.reload();
	await expect(page.getByTestId('restored-note')).toBeVisible();
	await expect(code(page)).toContainText(/Wrong_Name/);
	expect(await readFile(file, 'utf8')).toBe(before);

	await issue.getByTestId('issue-fix').click();
	await expect(code(page)).toContainText(/name: unsaved-one/);
	await expect(page.getByTestId('editor-check')).toContainText('No problems found');
	await code(page).press('Control+s');
	await expect(page.getByTestId('editor-status')).toHaveText('Saved');
	await expect(page).toHaveTitle(/^Edit unsaved-one/);
	expect(await readFile(file, 'utf8')).toContain('Say hello.');
	await page.reload();
	await expect(code(page)).toContainText(/Say hello\./);
	await expect(page.getByTestId('restored-note')).toHaveCount(0);

	// Leaving asks nothing: the changes are still there afterwards.
	await code(page).fill(skillMd('unsaved-one', 'Say goodbye.'));
	await page.getByTestId('settings-link').click();
	await expect(page).toHaveURL(/\/settings$/);
	await expect(page.getByTestId('toast')).toContainText('Not saved: SKILL.md. What you typed is kept in this browser.');
	await page.getByRole('button', { name: 'Back to editor' }).click();
	await expect(page).toHaveURL(/\/skills\/edit\//);
	await expect(code(page)).toContainText(/Say goodbye\./);
	await page.getByTestId('settings-link').click();
	await expect(page).toHaveURL(/\/settings$/);
	await page.goto('/skills/edit/unsaved-one');
	await expect(page.getByTestId('restored-note')).toBeVisible();
	await expect(code(page)).toContainText(/Say goodbye\./);
	await page.getByTestId('revert-file').click();
	await expect(code(page)).toContainText(/Say hello\./);
	await expect(page.getByTestId('save-file')).toBeDisabled();
});

test('F1: a script is run as it is typed, beside it, and nothing is saved; its colors need no exception from the policy', async ({
	page,
	app
}) => {
	const refused: string[] = [];
	page.on('console', (message) => {
		if (/Content Security Policy/.test(message.text())) refused.push(message.text());
	});
	await make(page, 'typed-one', 'script');
	await page.locator('nav [data-path^="scripts/"]').click();
	const keyword = code(page).locator('span').first();
	await expect(keyword).toBeVisible();
	await code(page).fill('console.log(6 * 7); // typed');
	const colour = (text: string) =>
		code(page)
			.locator('span', { hasText: text })
			.last()
			.evaluate((span) => getComputedStyle(span).color);
	await expect.poll(async () => (await colour('// typed')) === (await colour('7'))).toBe(false);
	await code(page).press('Control+Enter');
	const panel = page.getByTestId('run-panel');
	await panel.getByRole('textbox', { name: 'TEXT' }).fill('hello');
	await page.getByTestId('run-button').click();
	await expect(panel.getByTestId('execution')).toHaveAttribute('data-status', 'success');
	await expect(panel).toContainText('42');
	expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
	expect(await readFile(join(app.skillsDir, 'typed-one/SKILL.md'), 'utf8')).toContain('typed-one');
	await page.getByTestId('revert-file').click();
	await page.getByTestId('run-button').click();
	await expect(panel).not.toContainText('42');
	expect(refused).toEqual([]);
});

test('F6: a run that failed leads to its line; there it’s mended and run again as it was, and a link leads back to the form', async ({
	page,
	app
}) => {
	await make(page, 'mended-one', 'script');
	const [script = ''] = await readdir(join(app.skillsDir, 'mended-one/scripts'));
	const lines = ['const [word] = process.argv.slice(2);', "throw new Error('No luck');", 'console.log(word);'];
	await writeFile(join(app.skillsDir, 'mended-one/scripts', script), lines.join('\n'));
	await page.goto('/skills/mended-one#run');
	await page.getByRole('textbox', { name: 'Text required' }).fill('hello');
	await page.getByTestId('run-button').click();
	await page.getByRole('link', { name: 'Edit line 2' }).click();
	await expect(code(page).locator('.cm-askedLine')).toContainText('No luck');
	await code(page).fill([lines[0], lines[2]].join('\n'));
	await page.getByTestId('run-file').click();
	const panel = page.getByTestId('run-panel');
	await expect(panel.getByTestId('execution-output')).toHaveText('hello\n');
	await page.getByTestId('save-file').click();
	await expect(page.getByTestId('editor-status')).toHaveText('Saved');
	await page.getByRole('link', { name: 'Back to Run tab' }).click();
	await expect(page.getByRole('textbox', { name: 'Text required' })).toHaveValue('hello');
	await expect(page.getByTestId('execution-output')).toHaveText('hello\n');
	await page.getByRole('link', { name: 'Open run' }).click();
	await expect(page.getByTestId('execution-replay')).toBeVisible();
	await page.goBack();
	await expect(page.getByRole('textbox', { name: 'Text required' })).toHaveValue('hello');
	await expect(page.getByTestId('execution-output')).toHaveText('hello\n');
});

test('F1: a file of nearly 2 MB is drawn as far as it is seen, and searched as a whole', async ({ page, app }) => {
	await make(page, 'large-one', 'instructions');
	const lines = Array.from({ length: 60_000 }, (_, index) => `line ${index} of a large file`);
	await writeFile(join(app.skillsDir, 'large-one/large.py'), lines.join('\n'));
	await page.goto('/skills/edit/large-one?file=large.py');
	await expect(code(page)).toContainText('line 0 of');
	expect(await code(page).locator('.cm-line').count()).toBeLessThan(500);
	await page.getByTestId('find-in-file').click();
	await page.getByRole('textbox', { name: 'Find' }).pressSequentially('line 59998 of');
	await page.keyboard.press('Enter');
	await expect(code(page)).toContainText('line 59999 of');
});

test('F8: the Files tab colors code, links to a line, and opens the editor there; the first key moves nothing', async ({
	page,
	context,
	app
}) => {
	await make(page, 'seen-one', 'script');
	const script = join(app.skillsDir, 'seen-one/scripts/long.mjs');
	const lines = Array.from({ length: 120 }, (_, index) => `const line${index + 1} = 'text';`);
	await writeFile(script, lines.join('\n'));
	await page.goto('/skills/seen-one?file=scripts%2Flong.mjs#files');
	const viewer = page.getByTestId('file-viewer');
	const colour = (text: string) =>
		viewer
			.getByText(text, { exact: true })
			.first()
			.evaluate((span) => getComputedStyle(span).color);
	await expect.poll(async () => (await colour('const')) === (await colour(`'text'`))).toBe(false);
	await viewer.getByTestId('line-numbers').click({ position: { x: 8, y: 10 + 20 * 2 + 5 } });
	await expect(page).toHaveURL(/\?file=scripts%2Flong\.mjs#L3$/);
	await expect(viewer.getByTestId('marked-line')).toHaveAttribute('data-line', '3');
	// By keyboard, too.
	const link = viewer.getByTestId('line-link');
	await viewer.getByRole('region').focus();
	await page.keyboard.press('Tab');
	await expect(link).toBeFocused();
	await page.keyboard.press('End');
	await page.keyboard.press('ArrowUp');
	await expect(link).toHaveAttribute('href', '#L119');
	await expect(link).toBeInViewport();
	await page.keyboard.press('Enter');
	await expect(page).toHaveURL(/#L119$/);
	await expect(viewer.getByTestId('marked-line')).toHaveAttribute('data-line', '119');
	const [download] = await Promise.all([page.waitForEvent('download'), viewer.getByTestId('download-file').click()]);
	expect(download.suggestedFilename()).toBe('long.mjs');
	expect(await readFile(await download.path(), 'utf8')).toBe(lines.join('\n'));
	const other = await context.newPage();
	await other.goto('/skills/seen-one?file=scripts%2Flong.mjs#L100');
	await expect(other.getByTestId('marked-line')).toBeInViewport();
	await expect(other.getByTestId('marked-line')).toHaveAttribute('data-line', '100');
	await other.getByTestId('edit-file').click();
	// The page's own address of the skill, where the line stays.
	await expect(other).toHaveURL(/edit\/seen-one\?file=scripts%2Flong\.mjs&line=100$/);
	await expect(code(other).locator('.cm-askedLine')).toHaveText(/^const line100 /);
	await expect(code(other).locator('.cm-askedLine')).toBeInViewport();

	for (const width of [1280, 390]) {
		await other.setViewportSize({ width, height: 800 });
		const places = () =>
			Promise.all(
				['save-file', 'revert-file', 'run-file', 'code-place'].map((id) => other.getByTestId(id).boundingBox())
			);
		const before = await places();
		await code(other).focus();
		await other.keyboard.type('x');
		await expect(other.getByTestId('editor-status')).toContainText('Unsaved changes');
		expect(await places()).toEqual(before);
		expect(new Set(before.slice(0, 3).map((box) => box?.y)).size).toBe(1);
		await other.getByTestId('revert-file').click();
	}
});

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('F8: the Files tab shows pictures and drawings, and any file can be downloaded by itself', async ({
	page,
	app
}) => {
	await make(page, 'drawn-one', 'instructions');
	const folder = join(app.skillsDir, 'drawn-one');
	const bytes = Buffer.from([0, 1, 2, 255]);
	await writeFile(join(folder, 'dot.png'), Buffer.from(PIXEL, 'base64'));
	await writeFile(join(folder, 'data.bin'), bytes);
	const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>drawn</text></svg>';
	await writeFile(join(folder, 'sketch.svg'), svg);
	await page.goto('/skills/drawn-one?file=dot.png#files');
	const viewer = page.getByTestId('file-viewer');
	const picture = viewer.getByRole('img', { name: 'Preview of dot.png' });
	await expect.poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1);
	const files = page.getByRole('navigation', { name: 'Files' });
	// Above the file, which has the whole width, and closed while one is asked for.
	await expect(files).toBeHidden();
	await page.getByTestId('toggle-files').click();
	await expect(files).toHaveCount(1);
	const width = async (part: typeof viewer) => (await part.boundingBox())?.width ?? 0;
	expect(await width(viewer)).toBeGreaterThan(await width(files));
	await files.locator('[data-path="data.bin"]').click();
	await expect(viewer).toContainText('There is no preview of this file');
	const [download] = await Promise.all([page.waitForEvent('download'), viewer.getByTestId('download-file').click()]);
	expect(download.suggestedFilename()).toBe('data.bin');
	expect(await readFile(await download.path())).toEqual(bytes);
	// It closed, so that what was chosen is in sight.
	await page.getByTestId('toggle-files').click();
	await files.locator('[data-path="sketch.svg"]').click();
	const drawing = viewer.getByRole('img', { name: 'Preview of sketch.svg' });
	await expect.poll(() => drawing.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(9);
	await viewer.getByTestId('preview-file').click();
	await expect(viewer.getByTestId('file-text')).toHaveText(svg);
	await page.getByTestId('toggle-files').click();
	await expect(files).toBeVisible();
	await page.setViewportSize({ width: 390, height: 800 });
	await files.locator('[data-path="dot.png"]').click();
	await expect(files).toBeHidden();
	await expect(picture).toBeVisible();
	// With room for both, they stand side by side.
	await page.setViewportSize({ width: 1700, height: 800 });
	await expect(files).toBeVisible();
	await expect(page.getByTestId('toggle-files')).toBeHidden();
});

test('F8: two tabs that change one file say so, and none loses what it has', async ({ page, context, app }) => {
	await make(page, 'twice-open', 'instructions');
	const other = await context.newPage();
	await other.goto('/skills/edit/twice-open');
	await code(other).fill(skillMd('twice-open', 'Of the other tab.'));
	await code(page).fill(skillMd('twice-open', 'Of this tab.'));
	await expect(other.getByTestId('elsewhere-note')).toBeVisible();
	await page.getByTestId('save-file').click();
	await expect(page.getByTestId('editor-status')).toHaveText('Saved');
	await expect(other.getByTestId('elsewhere-note')).toHaveCount(0);
	other.on('dialog', (dialog) => void dialog.accept());
	await other.reload();
	await expect(other.getByTestId('editor-conflict')).toContainText('Of this tab.');
	await expect(other.getByTestId('editor-conflict')).toContainText('Of the other tab.');
	await other.getByTestId('keep-mine').click();
	await expect(other.getByTestId('editor-status')).toHaveText('Saved');
	expect(await readFile(join(app.skillsDir, 'twice-open/SKILL.md'), 'utf8')).toContain('Of the other tab.');
});

test('F1: a name that breaks the rules is loud when it’s saved; the addresses follow the skill to its new name and back', async ({
	page
}) => {
	await make(page, 'low-tide', 'script');
	await code(page).fill(skillMd('Low Tide BIG', 'Text.'));
	await expect(page.getByTestId('rename-note')).toContainText('It gets a new address; where it came from');
	await page.getByTestId('save-file').click();
	await expect(page.getByTestId('saved-broken')).toBeVisible();
	await expect(page.getByTestId('editor-issue').first()).toContainText('must have only lowercase letters');
	await expect(page).toHaveURL(/\/skills\/edit\/Low-Tide-BIG\?file=SKILL\.md$/);
	await expect(page.getByTestId('editor-status')).toHaveText('Saved');
	await page.reload();
	await expect(code(page)).toContainText('Low Tide BIG');
	await page.goto('/skills/Low-Tide-BIG#doctor');
	await page.getByTestId('doctor-fix-all').click();
	await page.getByTestId('doctor-write').click();
	await expect(page).toHaveURL(/\/skills\/low-tide#doctor$/);
	await expect(page.getByTestId('skill-name')).toHaveText('low-tide');
	await expect(row(page, 'low-tide').locator('[aria-current=page]')).toHaveCount(1);
	await expect(page.getByTestId('skill-load-error')).toHaveCount(0);
});

test('F8: unsaved text of another file keeps its mark, is told of on leaving, and the address follows the open file', async ({
	page
}) => {
	await make(page, 'two-files', 'script');
	const script = page.locator('nav [data-path^="scripts/"][data-testid=skill-file]').first();
	await script.getByRole('button').click();
	await expect(page).toHaveURL(/\/skills\/edit\/two-files\?file=scripts%2F/);
	await code(page).fill('console.log("typed");\n');
	await expect(script).toContainText('●');
	await page.locator('nav [data-path="SKILL.md"]').getByRole('button').click();
	await expect(code(page)).toContainText('two-files');
	await expect(page).toHaveURL(/\?file=SKILL\.md$/);
	await expect(script).toContainText('●');
	await page.getByRole('link', { name: 'Back to skill' }).click();
	await expect(page.getByTestId('toast')).toContainText(/Not saved: scripts\/\S+\./);
	await page.getByRole('button', { name: 'Back to editor' }).click();
	await script.getByRole('button').click();
	await page.getByTestId('save-file').click();
	await expect(script).not.toContainText('●');
	await page.getByRole('link', { name: 'Back to skill' }).click();
	await expect(page).toHaveURL(/\/skills\/two-files$/);
});

test('E4: “Undo” of a deleted skill goes once it’s restored from the trash', async ({ page }) => {
	await make(page, 'gone-and-back', 'instructions');
	await page.goto('/skills');
	await row(page, 'gone-and-back').getByTestId('row-menu').click();
	await page.getByTestId('menu-remove').click();
	const toast = page.getByTestId('toast').filter({ hasText: 'Deleted “gone-and-back”' });
	await expect(toast).toBeVisible();
	await page.getByTestId('skills-menu').click();
	await page.getByTestId('trash-link').click();
	await page.getByRole('button', { name: 'Restore gone-and-back' }).click();
	await expect(page.getByTestId('trash-status')).toContainText('Restored gone-and-back.');
	await expect(toast).toHaveCount(0);
});

/** Replaces the file atomically, as editors do. */
async function replaceFile(file: string, text: string): Promise<void> {
	await writeFile(`${file}.part`, text);
	await rename(`${file}.part`, file);
}

test('F8: a file that somebody else has changed meanwhile is not written over before both were seen', async ({
	page,
	app
}) => {
	await make(page, 'shared-one', 'instructions');
	const file = join(app.skillsDir, 'shared-one/SKILL.md');
	await code(page).fill(skillMd('shared-one', 'Written here.'));
	await replaceFile(file, skillMd('shared-one', 'Written elsewhere.'));
	await page.getByTestId('save-file').click();
	const conflict = page.getByTestId('editor-conflict');
	await expect(conflict).toContainText('Written here.');
	await expect(conflict).toContainText('Written elsewhere.');
	expect(await readFile(file, 'utf8')).toContain('Written elsewhere.');
	await page.getByTestId('take-theirs').click();
	await expect(conflict).toHaveCount(0);
	await expect(code(page)).toContainText(/Written elsewhere\./);

	await code(page).fill(skillMd('shared-one', 'Written here again.'));
	await replaceFile(file, skillMd('shared-one', 'Written elsewhere again.'));
	await page.getByTestId('save-file').click();
	await page.getByTestId('keep-mine').click();
	await expect(page.getByTestId('editor-status')).toHaveText('Saved');
	await expect(conflict).toHaveCount(0);
	expect(await readFile(file, 'utf8')).toContain('Written here again.');
});

test('F8: a skill is saved as a zip, and installed again from it as it was', async ({ page, app }) => {
	await make(page, 'traveller', 'script');
	const folder = join(app.skillsDir, 'traveller');
	await code(page).fill(skillMd('traveller', 'Says where it has been.'));
	await page.getByTestId('save-file').click();
	await expect(page.getByTestId('editor-status')).toHaveText('Saved');
	await page.goto('/skills/traveller');
	await page.getByTestId('skill-menu').click();
	const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('export-skill').click()]);
	expect(download.suggestedFilename()).toMatch(/^traveller.*\.zip$/);
	const buffer = await readFile(await download.path());

	await page.goto('/skills');
	await expect(row(page, 'traveller')).toBeVisible();
	await rm(folder, { recursive: true });
	await expect(row(page, 'traveller')).toHaveCount(0);
	await page.getByTestId('install-link').click();
	await page.getByTestId('zip-input').setInputFiles({ name: 'traveller.zip', mimeType: 'application/zip', buffer });
	await expect(page.getByTestId('staged-skill')).toContainText('traveller');
	await page.getByTestId('confirm-install').click();
	await page.getByTestId('installed-link').click();
	await expect(page.getByTestId('skill-name')).toHaveText('traveller');
	await page.getByTestId('tab-instructions').click();
	await expect(page.getByTestId('skill-instructions')).toContainText('Says where it has been.');
});

test('F8: a save that breaks an installed skill says so, and is undone', async ({ page, app }) => {
	await make(page, 'wanderer', 'script');
	const buffer = await (await page.request.get('/api/skills/wanderer/export')).body();
	await rm(join(app.skillsDir, 'wanderer'), { recursive: true });
	await page.goto('/skills');
	await expect(row(page, 'wanderer')).toHaveCount(0);
	await page.getByTestId('install-link').click();
	await page.getByTestId('zip-input').setInputFiles({ name: 'wanderer.zip', mimeType: 'application/zip', buffer });
	await page.getByTestId('confirm-install').click();
	await page.getByTestId('installed-link').click();
	await expect(page.getByTestId('skill-name')).toHaveText('wanderer');
	await page.goto('/skills/edit/wanderer');
	await code(page).fill('---\nname: wanderer\n---\n\nText.\n');
	await page.keyboard.press('Control+s');
	await expect(page).toHaveURL(/\/skills\/edit\/installed\/wanderer@1\.0\.0\?file=SKILL\.md$/);
	await expect(page.getByTestId('saved-broken')).toBeVisible();
	await expect(page.getByTestId('editor-issue').first()).toContainText('is missing');
	await expect(page.getByTestId('editor-status')).toHaveText('Saved');
	await page.getByTestId('undo-save').click();
	await expect(page.getByTestId('editor-status')).toHaveText('Undone');
	await expect(page).toHaveURL(/\/skills\/edit\/wanderer\?file=SKILL\.md$/);
	await expect(page.getByTestId('undo-save')).toHaveText('Redo');
});

test('B6: the list switches a skill on, off and back to automatic, and says so after a reload', async ({
	page,
	app
}) => {
	await page.goto('/skills');
	const skill = row(page, 'count-words');
	const mode = async () => {
		const { data } = (await (await page.request.get(`${app.url}/api/skills`)).json()) as { data: SkillSummary[] };
		return data.find(({ name }) => name === 'count-words')?.mode;
	};
	for (const wanted of ['on', 'auto', 'off'] as const) {
		await skill.getByTestId('row-mode').selectOption(wanted);
		await expect.poll(mode).toBe(wanted);
		await expect(skill.getByTestId('row-mode')).toHaveValue(wanted);
	}
	await page.reload();
	await expect(skill.getByTestId('row-mode')).toHaveValue('off');
	await skill.getByTestId('row-mode').selectOption('auto');
	await expect.poll(mode).toBe('auto');
});
