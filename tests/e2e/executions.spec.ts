/** The list of executions, running a script by hand, and built-in skills (E10, E13, F6, B6, D27). */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Health } from '../../src/lib/shared/api.ts';
import type { SkillExecution, SkillExecutionList } from '../../src/lib/shared/try-out.ts';
import type { SkillList } from '../../src/lib/shared/skills.ts';
import type { App } from '../support/app-process.ts';
import { call, text } from '../support/model-server.ts';
import { besideScreen } from '../support/beside-screen.ts';
import { processesWith } from '../support/processes.ts';
import { expect } from './app.ts';
import { answers, ask, test } from './played-model.ts';

async function read<Answer>(app: App, path: string): Promise<Answer> {
	return (await (await fetch(`${app.url}${path}`)).json()) as Answer;
}

const sandboxOf = async (app: App) => (await read<Health>(app, '/api/health')).sandbox.name;
const rows = (page: Page) => page.getByTestId('execution');
const row = (page: Page, name: string) => page.locator(`[data-testid=skill-row][data-name=${name}]`);

/** Starts one over the API. */
async function execute(app: App, body: unknown) {
	const headers = { 'content-type': 'application/json' };
	const answer = await fetch(`${app.url}/api/skills/executions`, {
		method: 'POST',
		headers,
		body: JSON.stringify(body)
	});
	return {
		status: answer.status,
		body: (await answer.json()) as { execution: SkillExecution; error?: { code: string } }
	};
}

/** Told from those of other tests. */
const sleep = `sleep 600.${process.pid}`;

/** An extra skill with a script that runs until it's stopped. */
async function addSleeper(page: Page, app: App): Promise<void> {
	const folder = join(app.skillsDir, 'sleeper');
	await mkdir(join(folder, 'scripts'), { recursive: true });
	await writeFile(join(folder, 'scripts/sleep.sh'), `echo begun; exec ${sleep}\n`);
	await writeFile(join(folder, 'SKILL.md'), '---\nname: sleeper\ndescription: Sleeps.\n---\nRun scripts/sleep.sh.\n');
	await page.goto(`${app.url}/skills`);
	await expect(row(page, 'sleeper')).toBeVisible();
}

test('E13: a script that ran in a chat is on the page of executions, with what it was and what came of it', async ({
	page,
	app,
	model
}) => {
	await page.goto(app.url);
	const script = 'scripts/count.mjs';
	model.push(call('use_skill', { skill: 'count-words', script, args: ['two words'] }), text('Counted.'));
	await ask(page, 'count');
	await expect(answers(page)).toContainText('Counted.');
	const conversation = page.url();

	await page.getByTestId('executions-link').click();
	await expect(rows(page)).toHaveCount(1);
	await expect(rows(page)).toHaveAttribute('data-status', 'success');
	await rows(page).getByTestId('execution-link').click();
	const detail = page.getByTestId('execution-page');
	await expect(detail).toContainText(`${script} "two words"`);
	await expect(detail.getByTestId('execution-output')).toContainText('2');
	await expect(detail).toContainText('skills/count-words');
	await expect(detail).toContainText(await sandboxOf(app));
	await page.getByRole('link', { name: 'Open chat' }).click();
	await expect(page).toHaveURL(conversation);
	await expect(answers(page)).toContainText('Counted.');
});

test('F6: a script and a tool run by hand from the page of the skill, whose executions are found from there', async ({
	page,
	app
}) => {
	await page.goto(`${app.url}/skills/count-words`);
	await expect(page.getByTestId('trust')).toContainText('in one of your skills folders');
	await page.getByTestId('tab-run').click();
	await page.getByTestId('run-what').selectOption({ label: 'scripts/count.mjs' });
	await page.getByTestId('toggle-json').click();
	await page.getByTestId('run-text').fill('three short words');
	await page.getByTestId('run-button').press('Enter');
	await expect(page.getByTestId('run-status')).toHaveText('Succeeded.');
	await expect(page.getByTestId('execution-output')).toContainText('3');

	await page.getByTestId('run-what').selectOption({ label: 'count_words (tool)' });
	await page.getByTestId('toggle-json').click();
	await expect(page.getByTestId('run-text')).toHaveValue('{\n  "text": ""\n}');
	await page.getByTestId('run-text').fill('{"text": ');
	await page.getByTestId('run-button').click();
	await expect(page.getByTestId('run-error')).toContainText('The input isn’t valid JSON');
	await page.getByTestId('run-text').fill('{"text": "one two three four"}');
	await page.getByTestId('run-button').click();
	await expect(page.getByTestId('execution-output')).toContainText('"words"');

	await page.getByTestId('tab-overview').click();
	await page.getByTestId('skill-executions-link').click();
	await expect(page.getByRole('button', { name: /Skill: count-words/ })).toBeVisible();
	await expect(rows(page).first()).toContainText('count_words');
	const { data } = await read<SkillExecutionList>(app, '/api/skills/executions?skill=count-words');
	expect(data[0]).toMatchObject({ tool: 'count_words', input: '{"text":"one two three four"}' });
	expect(data[1]).toMatchObject({ script: 'scripts/count.mjs', argv: ['three short words'] });
	// Everything run from one page shares a folder.
	expect(data[0]?.sessionId).toBe(data[1]?.sessionId);
	expect(data[0]?.conversationId).toBe(data[0]?.sessionId);
});

test('B6: the skills of the server stand below those of folders and count for themselves; one that is off stays off', async ({
	page,
	app
}) => {
	await page.goto(`${app.url}/skills`);
	const folders = (await read<Health>(app, '/api/health')).skills.ready;
	await expect(page.getByTestId('show-to-review')).toHaveCount(0);
	await expect(page.getByTestId('skill-count')).toHaveText(String(folders));
	await expect(page.getByTestId('sandbox-note')).toContainText('Scripts run ');
	const builtins = page.getByTestId('builtin-skills').getByTestId('skill-row');
	await expect(builtins).toHaveCount(7);
	await expect(row(page, 'file_read').getByTestId('row-note')).toHaveCount(0);
	await expect(row(page, 'browser')).toContainText('Not set up');
	const list = await read<SkillList>(app, '/api/skills?limit=200');
	expect(list.total).toBe(folders + 7);
	expect(list.data.slice(folders).every(({ trust }) => trust === 'builtin')).toBe(true);

	await page.getByTestId('skill-search').fill('file_write');
	await expect(builtins).toHaveCount(1);
	await expect(page.getByTestId('no-skills')).toHaveCount(0);
	await row(page, 'file_write').getByTestId('skill-link').click();
	await expect(page.getByTestId('skill-name')).toHaveText('file_write');
	await page.getByTestId('run-form').getByRole('textbox', { name: 'path' }).fill('note.txt');
	await page.getByTestId('run-form').getByRole('textbox', { name: 'content' }).fill('kept');
	await page.getByTestId('run-button').click();
	await expect(page.getByTestId('execution')).toContainText('note.txt 4 B');

	await page.getByTestId('skill-mode').selectOption('off');
	await expect(page.getByTestId('skill-mode')).toBeEnabled();
	await page.reload();
	await expect(page.getByTestId('skill-mode')).toHaveValue('off');
	await page.getByTestId('run-form').getByRole('textbox', { name: 'path' }).fill('note.txt');
	await page.getByTestId('run-form').getByRole('textbox', { name: 'content' }).fill('kept');
	await page.getByTestId('run-button').click();
	await expect(page.getByTestId('run-error')).toContainText('“file_write” is off');
	await page.goto(`${app.url}/skills`);
	await expect(row(page, 'file_write').getByTestId('row-mode')).toHaveValue('off');
	const refused = await execute(app, { skillName: 'file_write', input: { path: 'a', content: 'b' } });
	expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
});

test('E10: what runs can be ended from the page of executions', async ({ page, app, context }) => {
	await addSleeper(page, app);
	await page.goto(`${app.url}/skills/sleeper#run`);
	await page.getByTestId('run-button').click();
	await expect(page.getByTestId('run-button')).toBeDisabled();
	await expect.poll(() => processesWith(sleep).length).toBeGreaterThan(0);
	const other = await context.newPage();
	await other.goto(`${app.url}/skills/executions?skill=sleeper`);
	await expect(rows(other)).toHaveAttribute('data-status', 'running');
	await rows(other).getByTestId('end-execution').click();
	await expect(rows(other)).toHaveAttribute('data-status', 'error');
	await rows(other).getByTestId('execution-link').click();
	await expect(other.getByTestId('execution')).toContainText('was stopped by whoever runs the server');
	await expect(page.getByTestId('execution')).toContainText('was stopped by whoever runs the server');
	await expect(page.getByTestId('execution-output')).toContainText('begun');
	const [ended] = (await read<SkillExecutionList>(app, '/api/skills/executions?skill=sleeper')).data;
	const again = await fetch(`${app.url}/api/skills/executions/${ended?.id}`, { method: 'DELETE' });
	expect(again.status).toBe(404);
	await expect.poll(async () => (await read<Health>(app, '/api/health')).sandbox.running).toBe(0);
});

test('E10: a run is found by a part of its arguments, and the address keeps the search', async ({ page, app }) => {
	for (const args of [['the quick fox'], ['a slow fox'], ['--token', 'abc-secret']])
		await execute(app, { skillName: 'count-words', script: 'scripts/count.mjs', args });
	await page.goto(`${app.url}/skills/executions`);
	const foxes = rows(page).filter({ hasText: ' fox' });
	await expect(foxes).toHaveCount(2);
	await expect(page.getByText('abc-secret')).toHaveCount(0);
	await page.getByTestId('run-search').pressSequentially('QUICK fox ');
	await expect(rows(page)).toHaveCount(1);
	await expect(page.getByTestId('run-search')).toHaveValue('QUICK fox ');
	await expect(page).toHaveURL(`${app.url}/skills/executions?text=QUICK+fox`);
	await page.reload();
	await expect(rows(page)).toContainText('"the quick fox"');
	await page.getByTestId('run-search').fill('nothing');
	await page.getByTestId('show-all-runs').click();
	await expect(foxes).toHaveCount(2);
	await expect(page.getByTestId('run-search')).toHaveValue('');
});

test('E10: by API alone: an answer with the record, bad requests with their reasons', async ({ app }) => {
	const made = await execute(app, {
		skillName: 'count-words',
		script: 'scripts/count.mjs',
		args: ['a b'],
		apiKeyId: 'k'
	});
	expect(made).toMatchObject({ status: 201, body: { execution: { status: 'success', apiKeyId: 'k' } } });
	const { id } = made.body.execution;
	expect(await read(app, `/api/skills/executions/${id}`)).toEqual(made.body.execution);
	expect((await read<SkillExecutionList>(app, '/api/skills/executions?apiKeyId=k')).data).toEqual([
		made.body.execution
	]);
	for (const [body, status] of [
		[{ skillName: 'ghost', script: 'x.sh' }, 404],
		[{ skillName: 'count-words' }, 400],
		[{ skillName: 'count-words', script: 'a', tool: 'b' }, 400],
		[{ skillName: 'count-words', tool: 'count_words', input: { text: 7 } }, 400],
		[{ script: 'x.sh' }, 400]
	] as const)
		expect((await execute(app, body)).status, JSON.stringify(body)).toBe(status);
	expect((await fetch(`${app.url}/api/skills/executions/ghost`)).status).toBe(404);
	expect((await fetch(`${app.url}/api/skills/executions?status=nonsense`)).status).toBe(400);
});

test('UI: the pages fit into 390 px, in the dark', async ({ page, app }) => {
	await page.setViewportSize({ width: 390, height: 800 });
	await page.emulateMedia({ colorScheme: 'dark' });
	for (const path of ['/skills', '/skills/executions', '/skills/count-words', '/skills/builtin/file_read']) {
		await page.goto(`${app.url}${path}`);
		await expect(page.getByRole('heading').first()).toBeAttached();
		await page.waitForLoadState('networkidle');
		const overflow = await besideScreen(page);
		expect(overflow, path).toBeLessThanOrEqual(0);
	}
});

test('UI: the list of runs comes without moving what is there already', async ({ page, app }) => {
	for (let run = 0; run < 3; run++) {
		const { status } = await execute(app, {
			skillName: 'count-words',
			script: 'scripts/count.mjs',
			args: ['two words']
		});
		expect(status).toBe(201);
	}
	await page.addInitScript(() => {
		const moved = window as unknown as { moved: number };
		moved.moved = 0;
		new PerformanceObserver((list) => {
			for (const entry of list.getEntries()) moved.moved += (entry as unknown as { value: number }).value;
		}).observe({ type: 'layout-shift', buffered: true });
	});
	for (const width of [1280, 390]) {
		await page.setViewportSize({ width, height: 800 });
		for (const path of ['/skills/executions', '/skills/executions?skill=count-words']) {
			await page.goto(`${app.url}${path}`);
			await expect(rows(page).nth(2)).toBeVisible();
			await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))));
			expect(await page.evaluate('moved'), `${path} at ${width} px`).toBeLessThanOrEqual(0.02);
		}
	}
});

test('F12: the runs of a program are found by the name of its key, from the key and from the list', async ({
	page,
	app
}) => {
	const headers = { 'content-type': 'application/json' };
	const made = await fetch(`${app.url}/api/keys`, {
		method: 'POST',
		headers,
		body: JSON.stringify({ name: 'Codex', scopes: ['read', 'execute'] })
	});
	const { id, key } = (await made.json()) as { id: string; key: string };
	const body = JSON.stringify({ skillName: 'count-words', script: 'scripts/count.mjs', args: ['by a program'] });
	const run = (extra: Record<string, string>) =>
		fetch(`${app.url}/api/skills/executions`, { method: 'POST', headers: { ...headers, ...extra }, body });
	expect((await run({ authorization: `Bearer ${key}` })).status).toBe(201);
	expect((await run({})).status).toBe(201);

	await page.goto(`${app.url}/connect#keys`);
	await page.getByRole('link', { name: 'Runs of Codex' }).click();
	await expect(page).toHaveURL(`${app.url}/skills/executions?apiKeyId=${id}`);
	await expect(rows(page)).toHaveCount(1);
	await expect(rows(page).getByTestId('execution-source')).toHaveText('Codex');
	await page.reload();
	await expect(rows(page)).toHaveCount(1);
	await page.getByRole('button', { name: 'Key: Codex' }).click();
	await expect(rows(page)).not.toHaveCount(1);

	await page.getByTestId('more-filters').click();
	await page.getByLabel('API key').fill('codex');
	await page.getByLabel('API key').press('Enter');
	await expect(rows(page)).toHaveCount(1);
	await page.getByTestId('execution-link').click();
	await expect(page.getByTestId('execution-page')).toContainText(`API key “Codex” (${id})`);
	await page.getByTestId('runs-of-key').click();
	await expect(rows(page)).toHaveCount(1);
});
