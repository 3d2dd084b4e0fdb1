/** Deleted skills are removed for good after thirty days, when the app starts (E4, E22). */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../support/folder.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type { TrashedSkill } from '../../src/lib/shared/install.ts';
import * as one from '../../src/routes/api/skills/[...id]/+server.ts';
import * as trash from '../../src/routes/api/skills/trash/+server.ts';
import * as restored from '../../src/routes/api/skills/trash/[id]/+server.ts';
import { serveRoutes, type RouteServer } from '../support/route-server.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const root = emptyFolder();
let app: App;
let server: RouteServer;

afterEach(async () => {
	await stop();
});

async function start(): Promise<void> {
	const folders = { DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills') };
	app = await createApp(loadConfig({ ...folders, SKILLS_SANDBOX: 'process' }));
	server = await serveRoutes(app, {
		'/api/skills/trash': trash,
		'/api/skills/trash/[id]': restored,
		'/api/skills/[id]': one
	});
}
async function stop(): Promise<void> {
	await server.close();
	await app.close();
}
async function listTrash(): Promise<TrashedSkill[]> {
	const response = await fetch(`${server.url}/api/skills/trash`);
	return ((await response.json()) as { data: TrashedSkill[] }).data;
}

/** Deletes skills over HTTP, then backdates the deletion. */
async function removeSome(ages: Record<string, number>): Promise<void> {
	for (const name of Object.keys(ages)) {
		const folder = join(root, 'skills', name);
		await putFile(folder, 'SKILL.md', `---\nname: ${name}\ndescription: A skill.\n---\nText.`);
	}
	await start();
	for (const name of Object.keys(ages)) {
		const response = await fetch(`${server.url}/api/skills/${name}`, { method: 'DELETE' });
		expect(response.ok).toBe(true);
	}
	await stop();
	const database = new DatabaseSync(join(root, 'data/app.sqlite'));
	const age = database.prepare('update skill_trash set removed_at = ? where name = ?');
	for (const [name, ms] of Object.entries(ages)) age.run(new Date(Date.now() - ms).toISOString(), name);
	database.close();
}
const kept = () => readdir(join(root, 'data/trash'));

test('E4: at a start what was removed thirty days ago goes for good, and what was twenty-nine days ago stays and comes back', async () => {
	await removeSome({ older: 31 * DAY_MS, old: 30 * DAY_MS, young: 29 * DAY_MS, younger: 30 * DAY_MS - 30 * MINUTE_MS });
	expect(await kept()).toHaveLength(4);
	await start();
	// This happens before anyone asks for the list.
	const left = await kept();
	expect(left).toHaveLength(2);
	const listed = await listTrash();
	expect(listed.map(({ name }) => name).toSorted()).toEqual(['young', 'younger']);
	expect(listed.map(({ id }) => id).toSorted()).toEqual(left.toSorted());
	const young = listed.find(({ name }) => name === 'young');
	const back = await fetch(`${server.url}/api/skills/trash/${young?.id}`, { method: 'POST' });
	expect(back.ok).toBe(true);
	expect(await readdir(join(root, 'skills'))).toEqual(['young']);
});
