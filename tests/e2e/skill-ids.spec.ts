/** Skills whose names are words of addresses, names that are none, and broken skills: by the id of the list, in every call and on their pages. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startApp, type App } from '../support/app-process.ts';
import type { SkillDetail, SkillSummary } from '../../src/lib/shared/skills.ts';
import { expect, test } from '@playwright/test';

/** Words of the addresses below `/api/skills` and `/skills`. */
const WORDS = [
	...['cases', 'check', 'diagnostics', 'edit', 'evals', 'events', 'executions', 'export', 'file', 'install'],
	...['marketplace', 'new', 'outdated', 'reload', 'rollback', 'run', 'score', 'scores', 'secrets', 'skillssh'],
	...['staged', 'trash', 'update', 'updates', 'versions']
];
/** Folders below one that is named like a word, or are one. */
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
	await expect(page.getByTestId('edit-page').locator('textarea')).toHaveValue(/Text of install\./);
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
