/** Skills named like parts of URLs, invalid names and broken skills: the id from the list works in every call and page. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startApp, type App } from '../support/app-process.ts';
import type { SkillDetail, SkillSummary } from '../../src/lib/shared/skills.ts';
import { expect, test } from '@playwright/test';

/** Path segments below `/api/skills` and `/skills`. */
const WORDS = [
	...['cases', 'check', 'diagnostics', 'edit', 'evals', 'events', 'executions', 'export', 'file', 'install'],
	...['marketplace', 'new', 'outdated', 'reload', 'rollback', 'run', 'score', 'scores', 'secrets', 'skillssh'],
	...['staged', 'trash', 'update', 'updates', 'versions']
];
/** Folders with a path segment as their name, or inside one. */
const BROKEN = ['broken/cases', 'broken/evals/torn', 'plainly torn', 'bro\\ken', 'br\u202eoken'];

let app: App;
let from: string;
test.beforeAll(async () => {
	from = await mkdtemp(join(tmpdir(), 'skill-ids-'));
	const put = async (path: string, text: string) => {
		await mkdir(dirname(join(from, path)), { recursive: true });
		await writeFile(join(from, path), text);
	};
	for (const word of WORDS) {
		await put(`${word}/SKILL.md`, `---\nname: ${word}\ndescription: Is named ${word}.\n---\nText of ${word}.`);
		await put(`${word}/scripts/say.sh`, `echo "${word} says it"\n`);
	}
	for (const folder of BROKEN) await put(`${folder}/SKILL.md`, 'No front matter.');
	app = await startApp({ skillsFrom: from });
});
test.afterAll(async () => {
	await app.stop();
	await rm(from, { recursive: true, force: true });
});

async function ask<Answer = unknown>(method: string, path: string, body?: unknown) {
	const headers: Record<string, string> = method === 'GET' ? {} : { 'content-type': 'application/json' };
	const response = await fetch(app.url + path, {
		method,
		headers,
		...(body === undefined ? {} : { body: JSON.stringify(body) })
	});
	const text = await response.text();
	const isJson = response.headers.get('content-type')?.includes('json') ?? false;
	return { status: response.status, text, body: (isJson ? JSON.parse(text) : null) as Answer };
}

const addressOf = (id: string) => `/api/skills/${id.split('/').map(encodeURIComponent).join('/')}`;
const listed = async () => (await ask<{ data: SkillSummary[] }>('GET', '/api/skills?limit=200')).body.data;

test('E2, E3: every call works for a skill whose name is a word of an address, by the id that the list gives', async () => {
	test.slow();
	const all = await listed();
	for (const word of WORDS) {
		const id = all.find(({ name }) => name === word)?.id ?? 'is not listed';
		const at = addressOf(id);
		const statuses: Record<string, number> = {};
		const call = async <Answer>(method: string, path: string, body?: unknown) => {
			const answer = await ask<Answer>(method, path === '/executions' ? '/api/skills/executions' : at + path, body);
			statuses[`${method} ${path}`] = answer.status;
			return answer;
		};
		expect((await call<SkillDetail>('GET', '')).body).toMatchObject({ id, name: word, status: 'ready' });
		expect((await call<SkillDetail>('PUT', '', { mode: 'on' })).body).toMatchObject({ id, mode: 'on' });
		const file = (await call<{ text: string; digest: string }>('GET', '/file?path=SKILL.md')).body;
		expect(file.text).toContain(`Text of ${word}.`);
		await call('POST', '/check', { text: file.text });
		await call('PUT', '/file', { path: 'note.txt', text: 'x', digest: null });
		await call('DELETE', '/file?path=note.txt');
		expect((await call<{ id: string }>('GET', '/diagnostics')).body).toMatchObject({ id, name: word });
		await call('GET', '/secrets');
		await call('GET', '/versions');
		await call('GET', '/export');
		await call('GET', '/evals');
		const ran = await call<{ result: { stdout: string } }>('POST', '/executions', {
			skillName: id,
			script: 'scripts/say.sh'
		});
		expect(ran.body.result.stdout).toBe(`${word} says it\n`);
		const made = await call<{ id: string }>('POST', '/cases', {
			...{ title: 'says it', script: 'scripts/say.sh', args: [] },
			expect: { contains: [word] }
		});
		await call('GET', '/cases');
		const again = await call<{ isPassed: boolean }>('POST', `/cases/${made.body.id}/run`, {});
		expect(again.body.isPassed).toBe(true);
		await call('DELETE', `/cases/${made.body.id}`);
		const failed = Object.entries(statuses).filter(([, status]) => status >= 300);
		expect([word, failed]).toEqual([word, []]);
		// These calls don't apply: nothing was installed, and no other endpoint answers instead.
		const refusals = [await ask('POST', `${at}/rollback`, {}), await ask('POST', `${at}/update`, {})];
		for (const { status, text } of refusals)
			expect([word, status, text]).toEqual([word, 409, expect.stringContaining(word) as unknown]);
	}
	expect((await ask('GET', '/api/skills/executions')).body).toMatchObject({ page: 1 });
	expect((await ask('GET', '/api/skills/trash')).body).toEqual({ data: [] });
	expect((await ask('POST', '/api/skills/reload', {})).body).toMatchObject({ revision: expect.any(String) as unknown });
});

test('F1: a broken skill is read by the id that the list gives, wherever it lies', async () => {
	const broken = (await listed()).filter(({ status }) => status === 'broken');
	expect(broken).toHaveLength(BROKEN.length);
	for (const { id, diagnostics } of broken) {
		const { status, body } = await ask<SkillDetail>('GET', addressOf(id));
		expect([id, status]).toEqual([id, 200]);
		expect(body).toMatchObject({ id, status: 'broken', diagnostics, files: [{ path: 'SKILL.md' }] });
		const parts = ['/diagnostics', '/file?path=SKILL.md', '/export'];
		for (const path of parts)
			expect([id, path, (await ask('GET', addressOf(id) + path)).status]).toEqual([id, path, 200]);
		expect([id, (await ask('PUT', addressOf(id), { mode: 'off' })).status]).toEqual([id, 409]);
	}
});

test('E2: the pages of such skills are theirs', async ({ page }) => {
	for (const word of ['install', 'new', 'edit', 'trash', 'cases']) {
		await page.goto(`${app.url}/skills/~${word}`);
		await expect(page.getByTestId('skill-name')).toHaveText(word);
	}
	await page.goto(`${app.url}/skills/edit/~install`);
	await expect(page.getByTestId('code-editor')).toContainText(/Text of install\./);
	const torn = (await listed()).find(({ name, status }) => name === 'cases' && status === 'broken');
	await page.goto(`${app.url}/skills/${torn?.id ?? ''}`);
	await expect(page.getByTestId('skill-name')).toHaveText('cases');
});

test('E4: such a skill is removed and comes back', async () => {
	const id = (await listed()).find(({ name }) => name === 'trash')?.id ?? '';
	const removed = await ask<{ id: string }>('DELETE', addressOf(id));
	expect(removed.status).toBe(200);
	expect((await ask('POST', `/api/skills/trash/${removed.body.id}`)).status).toBe(200);
	expect((await ask('GET', addressOf(id))).status).toBe(200);
});

test('F1, E3: a skill has one address: its old names, its source and its version lead there, to the editor, too', async ({
	page
}) => {
	const id = 'scores';
	let at = '~scores';
	for (const name of ['points', 'marks']) {
		const { body } = await ask<{ text: string; digest: string }>('GET', `/api/skills/${at}/file?path=SKILL.md`);
		const text = body.text.replace(/^name: .*$/m, `name: ${name}`);
		const change = { path: 'SKILL.md', text, digest: body.digest };
		at = (await ask<{ skill: string }>('PUT', `/api/skills/${at}/file`, change)).body.skill;
		// Two saves of a file that follow each other at once would be one edit.
		await ask('PUT', `/api/skills/${at}/file`, { path: `${name}.txt`, text: 'x', digest: null });
	}
	expect(at).toBe('marks');
	const { skillId } = (await ask<SkillDetail>('GET', '/api/skills/marks')).body;
	const source = skillId.slice(0, skillId.lastIndexOf('/'));
	for (const old of [
		'points',
		`~${id}`,
		`${source}/points`,
		skillId,
		`${skillId}@1.0.0`,
		'marks@1.0.0',
		'marks%401.0.0'
	]) {
		await page.goto(`${app.url}/skills/${old}#files`);
		await expect(page, old).toHaveURL(`${app.url}/skills/marks#files`);
		await expect(page.getByTestId('tab-files')).toHaveAttribute('data-state', 'active');
	}
	await page.goto(`${app.url}/skills/edit/points?file=scripts%2Fsay.sh`);
	await expect(page).toHaveURL(`${app.url}/skills/edit/marks?file=scripts%2Fsay.sh`);
	await expect(page.getByTestId('code-editor')).toContainText('says it');
	// Nothing is changed by a name that it had.
	expect((await ask('PUT', '/api/skills/points', { mode: 'off' })).status).toBe(404);
	// Another skill that has the name now is meant by it.
	await ask('POST', '/api/skills', { name: 'points', description: 'Is another.', template: 'instructions' });
	expect((await ask<SkillDetail>('GET', '/api/skills/points')).body.name).toBe('points');
});
