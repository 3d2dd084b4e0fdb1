/** What a reply shows besides its text: steps in every state, output, files, skill details, usage, errors. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { FILE_FORMAT, FILE_VERSION } from '../../src/lib/shared/message-schema.ts';
import type { App } from '../support/app-process.ts';
import {
	call,
	gate,
	reasoning,
	response,
	startModelServer,
	status,
	text,
	type ModelServer
} from '../support/model-server.ts';
import { expect } from './app.ts';
import { answers, ask, questions, test as base } from './played-model.ts';

/** A model server with two models. */
const test = base.extend<object, { model: ModelServer }>({
	model: [
		// Playwright reads a fixture's dependencies from this pattern: none.
		// eslint-disable-next-line no-empty-pattern
		async ({}, use) => {
			const model = await startModelServer([], { models: [{ id: 'test/model' }, { id: 'test/other' }] });
			await use(model);
			await model.close();
		},
		{ scope: 'worker' }
	]
});

// With the default limit of 20 KB, the page would show all of it.
test.use({ appEnv: { SKILLS_MAX_OUTPUT_BYTES: '100000' } });

const step = (page: Page, tool: string): Locator => page.locator(`[data-testid=step][data-tool=${tool}]`);
const idOf = (page: Page): string => new URL(page.url()).pathname.replace('/c/', '');
const run = (skill: string, script: string, ...args: string[]) =>
	call('use_skill', { skill, script: `scripts/${script}`, args });

async function addSkill(page: Page, app: App, name: string, scripts: Record<string, string>): Promise<void> {
	await mkdir(join(app.skillsDir, name, 'scripts'), { recursive: true });
	const head = `---\nname: ${name}\ndescription: Tends the walruses of the harbour.\n---\n`;
	await writeFile(join(app.skillsDir, name, 'SKILL.md'), `${head}\nThe instructions are between us.\n`);
	for (const [path, script] of Object.entries(scripts)) {
		await writeFile(join(app.skillsDir, name, 'scripts', path), script);
	}
	const names = async () => (await page.request.get(`${app.url}/api/skills`)).text();
	await expect.poll(names).toContain(`"name":"${name}"`);
	await page.goto(app.url);
}

/** The frames of a call whose arguments pause midway until the gate opens. */
function slowCall(name: string, args: object, held: ReturnType<typeof gate>, at: number) {
	const json = JSON.stringify(args);
	const item = { type: 'function_call', id: 'slow', call_id: 'slow', name, arguments: '' };
	const delta = (part: string) => ({
		type: 'response.function_call_arguments.delta',
		output_index: 0,
		item_id: 'slow',
		delta: part
	});
	return async (exchange: Parameters<ReturnType<typeof response>>[0]): Promise<void> => {
		const frame = (event: object) => exchange.write(`data: ${JSON.stringify(event)}\n\n`);
		exchange.begin();
		await frame({ type: 'response.output_item.added', output_index: 0, item });
		await frame(delta(json.slice(0, at)));
		if (!(await exchange.wait(held))) return;
		await frame(delta(json.slice(at)));
		const done = { ...item, arguments: json };
		await frame({ type: 'response.function_call_arguments.done', output_index: 0, item_id: 'slow', arguments: json });
		await frame({ type: 'response.output_item.done', output_index: 0, item: done });
		await frame({ type: 'response.completed', response: { status: 'completed', output: [done] } });
		exchange.end();
	};
}

test('UI 4: steps are seen while they are written and while they run; folded, the failed one stays, and can be mended', async ({
	page,
	app,
	model
}) => {
	// A long test that runs scripts.
	test.slow();
	await addSkill(page, app, 'walrus-keeper', {
		'feed.sh': [
			`printf '\\033[31mred herring\\033[0m\\n'`,
			`printf 'fed 10%%\\rfed 50%%\\rfed 100%%\\n'`,
			'until [ -e go.txt ]; do sleep 0.05; done',
			'echo "all are fed"\n'
		].join('\n'),
		'weigh.sh': 'echo "on the scales"; echo "the scales broke" >&2; exit 1\n'
	});
	const [written, seen, said] = [gate(), gate(), gate()];
	model.push(
		call('load_skill', { skill: 'walrus-keeper' }),
		slowCall('use_skill', { skill: 'walrus-keeper', script: 'scripts/feed.sh', args: ['Wally', 'Wilma'] }, written, 75),
		run('walrus-keeper', 'weigh.sh', 'Wally', '9 tons'),
		text(seen, 'They are fed, ', said, 'and too heavy.')
	);
	await ask(page, 'feed the walruses');
	const feeding = step(page, 'use_skill').first();
	await expect(feeding).toHaveAttribute('data-status', 'preparing');
	await expect(feeding.getByTestId('step-writing')).toContainText('scripts/feed.sh');
	await page.waitForURL(/\/c\//);
	written.open();

	await expect(feeding).toHaveAttribute('data-status', 'running');
	await expect(feeding.getByTestId('terminal-output')).toContainText('fed 100%');
	await expect(feeding.getByTestId('terminal-output')).not.toContainText('all are fed');
	await feeding.getByTestId('step-toggle').click();
	await expect(feeding.getByTestId('terminal-command')).toContainText('scripts/feed.sh Wally Wilma');
	const output = feeding.getByTestId('terminal-output');
	await expect(output).not.toContainText('50%');
	const red = output.getByText('red herring');
	const colour = (element: Locator) => element.evaluate((node) => getComputedStyle(node).color);
	expect(await colour(red)).not.toBe(await colour(output));
	const go = await page.request.put(`${app.url}/api/conversations/${idOf(page)}/files/go.txt`, { data: 'go' });
	expect(go.ok()).toBe(true);

	await expect(output).toContainText('all are fed');
	await expect(feeding).toHaveAttribute('data-status', 'done');
	await expect(feeding.getByTestId('exit-badge')).toContainText('exit 0');
	const failed = step(page, 'use_skill').last();
	await expect(failed).toHaveAttribute('data-status', 'failed');
	// They fold once the answer begins.
	seen.open();
	await expect(answers(page)).toContainText('They are fed,');
	await expect(page.getByTestId('step-fold')).toContainText(/Used 1 skill · 3 steps · 1 failed/);
	await expect(page.getByTestId('step')).toHaveCount(1);
	await expect(failed.getByTestId('terminal-output')).toContainText('the scales broke');
	await expect(failed.getByTestId('step-error')).toContainText('the scales broke');
	said.open();
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');

	await failed.getByTestId('ask-to-fix').click();
	await expect(page.getByTestId('composer-input')).toBeFocused();
	await expect(page.getByTestId('composer-input')).toHaveValue(/failed: [^]*the scales broke/);
	await expect(questions(page)).toHaveCount(1);
	await page.getByTestId('composer-input').fill('');

	// Shows what was loaded, without the text for the model.
	await page.getByTestId('step-fold').click();
	const loading = step(page, 'load_skill');
	await expect(page.getByTestId('step')).toHaveCount(3);
	await loading.getByTestId('step-toggle').click();
	await expect(loading.getByTestId('step-body')).toContainText('walrus-keeper/SKILL.md');
	await expect(loading.getByTestId('step-body')).toContainText(/about \d+ tokens/);
	await expect(loading).not.toContainText('between us');
	await page.reload();
	await expect(page.getByTestId('step-fold')).toContainText('3 steps · 1 failed');
	await expect(page.getByTestId('step')).toHaveCount(1);
	await failed.getByTestId('run-again').click();
	await expect(failed.getByTestId('failed-again')).toHaveText(/^Ran again, .*: failed\. Open first run$/);
	await expect(failed.getByTestId('step-error')).toHaveText(/the scales broke/);
	await expect(failed.getByTestId('terminal-command')).toContainText('scripts/weigh.sh Wally "9 tons"');
});

test('F8: Edit skill of a failed step opens the file that broke at its line, in view, and leads back to the chat', async ({
	page,
	app,
	model
}) => {
	// The script calls a helper of the skill, which breaks far below.
	await addSkill(page, app, 'walrus-breaker', {
		'break.mjs': `import { weigh } from './lib.mjs';\nweigh();\n`,
		'lib.mjs': `export function weigh() {\n${'\t// walrus\n'.repeat(150)}\tthrow new Error('the scales broke');\n}\n`
	});
	model.push(run('walrus-breaker', 'break.mjs'), text('It broke.'));
	await ask(page, 'weigh the walrus');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	const chat = page.url();
	const failed = step(page, 'use_skill');
	await expect(failed).toHaveAttribute('data-status', 'failed');
	await failed.getByRole('link', { name: 'Edit line 152' }).click();
	await expect(page).toHaveURL(/\/skills\/edit\/.*walrus-breaker\?file=scripts%2Flib\.mjs&chat=.+&line=152&run=.+$/);
	const broken = page.getByTestId('code-editor').locator('.cm-askedLine');
	await expect(broken).toHaveText(`throw new Error('the scales broke');`);
	await expect(broken).toBeInViewport();
	await page.getByTestId('back-to-place').click();
	await expect(page).toHaveURL(chat);
});

test('D13: a variable that a script lacks is set in its step, and the script runs again', async ({
	page,
	app,
	model
}) => {
	await addSkill(page, app, 'walrus-caller', {
		'call.sh': 'echo "calling with ${WALRUS_TOKEN:?set it}"\n'
	});
	model.push(run('walrus-caller', 'call.sh'), text('It lacks a token.'));
	await ask(page, 'call the walrus');
	const failed = step(page, 'use_skill');
	await expect(failed.getByTestId('step-error')).toHaveText(
		'The script needs the variable WALRUS_TOKEN, which isn’t set.'
	);
	await failed.getByRole('button', { name: 'Set WALRUS_TOKEN' }).click();
	await failed.getByLabel('WALRUS_TOKEN', { exact: true }).fill('hush-hush');
	await failed.getByTestId('save-secrets').click();
	await expect(failed.getByTestId('execution')).toContainText('calling with [redacted]');
	await expect(page.locator('body')).not.toContainText('hush-hush');
});

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('UI 4: of much output the ends are shown, and all when asked; files are cards that show what is in them', async ({
	page,
	app,
	model
}) => {
	await addSkill(page, app, 'file-maker', {
		'count.sh': 'seq 1 8000\n',
		'make.sh': [
			`printf 'name,age\\nWilma,9\\nWally,12\\n' > table.csv`,
			`printf '<h1>Hello page</h1><script>document.title = "ran"</script>' > page.html`,
			`printf 'plain words' > notes.txt`,
			`printf '${PIXEL}' | base64 -d > dot.png`,
			`printf '\\000\\001' > data.bin\n`
		].join('\n')
	});
	model.push(run('file-maker', 'count.sh'), run('file-maker', 'make.sh'), text('Made.'));
	await ask(page, 'count, and make files');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await page.getByTestId('step-fold').click();
	const counting = step(page, 'use_skill').first();
	await counting.getByTestId('step-toggle').click();
	const output = counting.getByTestId('terminal-output');
	await expect(output).toContainText('7999');
	await expect(output).not.toContainText('4000');
	await counting.getByTestId('show-all').click();
	await expect(output).toContainText('4000');
	await expect(counting.getByTestId('show-all')).toHaveCount(0);

	const card = (path: string) => page.locator(`[data-testid=file-card][data-path="${path}"]`);
	await expect(page.getByTestId('file-card')).toHaveCount(5);
	const picture = card('dot.png').locator('img');
	await expect.poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1);
	await card('table.csv').getByRole('button', { name: 'Preview table.csv' }).click();
	const cells = card('table.csv').locator('tbody tr td:last-child');
	await expect(cells).toHaveText(['9', '12']);
	await card('table.csv').getByRole('button', { name: 'name' }).click();
	await expect(cells).toHaveText(['12', '9']);
	await card('page.html').getByRole('button', { name: 'Preview page.html' }).click();
	const frame = card('page.html').locator('iframe');
	await expect(frame).toHaveAttribute('sandbox', '');
	await expect(frame.contentFrame().getByRole('heading')).toHaveText('Hello page');
	await card('notes.txt').getByRole('button', { name: 'Preview notes.txt' }).click();
	await expect(card('notes.txt').getByTestId('file-text')).toHaveText('plain words');
	await expect(card('data.bin').getByRole('button', { name: /^Preview/ })).toHaveCount(0);
	const [download] = await Promise.all([
		page.waitForEvent('download'),
		card('data.bin').getByRole('link', { name: 'Download data.bin' }).click()
	]);
	expect(download.suggestedFilename()).toBe('data.bin');
	await expect(page).not.toHaveTitle(/ran/);
});

test('F2, UI 6: a thought has a window; an answer tells what it cost, why these skills, and what another model says', async ({
	page,
	app,
	model
}) => {
	await addSkill(page, app, 'walrus-friend', { 'say.sh': 'echo friend\n' });
	const thinking = gate();
	const usage = {
		...{ input_tokens: 1200, input_tokens_details: { cached_tokens: 400 }, output_tokens: 34, total_tokens: 1234 },
		...{ output_tokens_details: { reasoning_tokens: 5 }, cost: 0.0123 }
	};
	model.push(
		[reasoning('A walrus ', thinking, 'is a friend.'), call('load_skill', { skill: 'walrus-friend' })],
		run('walrus-friend', 'say.sh'),
		response([text('A friend.')], { usage })
	);
	await ask(page, 'who tends the walruses?');
	const thought = page.getByTestId('reasoning').first();
	await expect(thought.getByRole('group')).toHaveText(/A walrus/);
	await expect(thought.getByRole('button')).toContainText('Thinking');
	thinking.open();
	await expect(thought.getByRole('button')).toContainText('Thought');
	await expect(thought.getByRole('group')).toHaveCount(0);
	await thought.getByRole('button').click();
	await expect(thought.getByRole('group')).toHaveText('A walrus is a friend.');
	await thought.getByRole('button').click();
	await expect(thought.getByRole('group')).toHaveCount(0);

	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await expect(page.getByTestId('usage')).toContainText(/in · .*out/);
	await page.getByTestId('answer-menu').click();
	await page.getByTestId('figures-toggle').click();
	const figures = page.getByTestId('answer-figures');
	await expect(figures).toContainText('test/model');
	await expect(figures).toContainText('Cached');
	await expect(figures).toContainText(/Time to first text\s*[\d.]+ s/);
	await expect(figures).toContainText('0.01');
	await page.getByTestId('answer-menu').click();
	await page.getByTestId('why-toggle').click();
	await expect(figures).toHaveCount(0);
	const row = page.locator('[data-testid=why-row][data-name=walrus-friend]');
	await expect(row).toContainText(/100%/);
	await expect(row.getByTestId('why-signals')).toContainText('walruses');
	await expect(row.getByTestId('why-loaded')).toHaveText('loaded');
	await expect(row.getByTestId('why-ran')).toContainText('scripts/say.sh');
	const other = page.locator('[data-testid=why-row][data-name=count-words]');
	await expect(other).toBeVisible();
	await page.getByTestId('why').locator('label').filter({ hasText: 'Loaded' }).click();
	await expect(other).toHaveCount(0);

	model.push(text('Said the other.'));
	await page.getByTestId('retry-with').click();
	await page.getByTestId('retry-model').filter({ hasText: 'test/other' }).click();
	await expect(answers(page)).toContainText('Said the other.');
	expect(model.requests.at(-1)?.body.model).toBe('test/other');
	await expect(answers(page).getByTestId('branch-position')).toHaveText('2 / 2');
	await page.getByTestId('branch-previous').click();
	await expect(answers(page)).toContainText('A friend.');
});

test('UI 7: an answer that fails offers what helps against this failure', async ({ page, app, model }) => {
	await page.goto(app.url);
	const error = page.getByTestId('message-error').last();
	const fail = async (code: number, headers: Record<string, string> = {}): Promise<void> => {
		model.push(status(code, { error: { code, message: `No: ${code}` } }, headers));
		await ask(page, `fail with ${code}`);
		await expect(questions(page).last()).toContainText(`fail with ${code}`);
		await expect(answers(page).last()).toHaveAttribute('data-status', 'failed');
	};
	await fail(401);
	await expect(error).toContainText('unauthorized');
	await expect(error.getByTestId('open-settings')).toHaveAttribute('href', '/settings#account');
	await error.getByText('Details').click();
	await expect(error.getByTestId('error-detail')).toContainText('No: 401');
	await fail(402);
	await expect(error).toContainText('insufficient_credits');
	// A local server sells no credits.
	await expect(error.getByTestId('add-credits')).toHaveCount(0);
	await fail(404);
	await expect(error).toContainText('model_not_found');
	await error.getByTestId('switch-model').click();
	await expect(page.getByTestId('model-panel')).toBeVisible();
	await expect(page.getByTestId('model-search')).toBeFocused();
	await page.keyboard.press('Escape');
	await fail(429, { 'retry-after': '3000' });
	await expect(error).toContainText('rate_limited');
	await expect(error.getByTestId('retry')).toBeDisabled();
	await expect(error.getByTestId('retry')).toContainText('Retry in');
	await fail(413);
	await expect(error).toContainText('context_length_exceeded');
	await error.getByTestId('new-chat-instead').click();
	await expect(page).toHaveURL(/\/$/);
});

test('PERF: of 500 messages the last ones are there at once, and those before when one scrolls up', async ({
	page,
	app
}) => {
	const createdAt = new Date().toISOString();
	const rest = { files: [], error: null, usage: null, limit: null, context: null, retry: null, createdAt };
	const messages = Array.from({ length: 500 }, (_, index) => ({
		...{ id: `m${index}`, parentId: index === 0 ? null : `m${index - 1}`, status: 'complete' },
		...{ role: index % 2 === 0 ? 'user' : 'assistant', ...rest },
		parts: [{ type: 'text', id: `p${index}`, text: `Message number ${index}.` }]
	}));
	const facts = { format: FILE_FORMAT, version: FILE_VERSION, title: 'Long', createdAt, exportedAt: createdAt };
	const answer = await page.request.post(`${app.url}/api/conversations/import`, {
		data: { ...facts, head: 'm499', messages }
	});
	const { id } = (await answer.json()) as { id: string };
	await page.goto(`${app.url}/c/${id}`);
	await expect(page.getByText('Message number 499.')).toBeInViewport();
	const shown = await page.getByTestId('message').count();
	expect(shown).toBeLessThan(200);
	await page.getByTestId('messages').hover();
	await page.mouse.wheel(0, -10_000);
	await expect.poll(() => page.getByTestId('message').count()).toBeGreaterThan(shown);
	await expect(page.getByText('Message number 499.')).toHaveCount(1);
});

test('F14: while the stream is broken the page says so; what came meanwhile is there when it is back', async ({
	page,
	app,
	model
}) => {
	await page.goto(app.url);
	await page.route('**/api/runs/*/events*', (route) => route.abort());
	model.push(text('Said in the dark.'));
	await ask(page, 'are you there?');
	await expect(page.getByTestId('connection-banner')).toContainText('Reconnecting');
	await page.unroute('**/api/runs/*/events*');
	await expect(answers(page)).toContainText('Said in the dark.');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await expect(page.getByTestId('connection-banner')).toHaveCount(0);
});

test.describe('on a touch screen', () => {
	test.use({ hasTouch: true });

	test('UI: a link in an answer says which host it leads to', async ({ page, app, model }) => {
		await page.goto(app.url);
		model.push(text('See [the docs](https://example.com/a).'));
		// On a touch screen, Enter inserts a line break.
		await page.getByTestId('composer-input').fill('where');
		await page.getByTestId('send').tap();
		const link = answers(page).getByRole('link');
		await expect(link).toBeVisible();
		expect(await link.evaluate((element) => getComputedStyle(element, '::after').content)).toContain('example.com');
	});
});
