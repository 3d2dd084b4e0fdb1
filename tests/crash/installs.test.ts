/** E28: kills the server at each step of a change of installed skills, and looks for what people have. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SkillVersions, StagedInstall } from '../../src/lib/shared/install.ts';
import type { SkillEdit, SkillFileText } from '../../src/lib/shared/skills.ts';
import { startApp, type App } from '../support/app-process.ts';
import { sharedFolder } from '../support/folder.ts';
import { zipOf } from '../support/zip-writer.ts';

const folder = sharedFolder();
/** While this file is there, the server dies before as many steps as it says are done. */
const fuse = join(folder, 'fuse');
let app: App;

/** Steps: what changes a folder, or a row of installed skills. */
const BURN = `
import { existsSync, readFileSync } from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { StatementSync } from 'node:sqlite';
const fuse = ${JSON.stringify(fuse)};
let done = 0;
const step = () => {
	if (!existsSync(fuse)) return;
	done += 1;
	if (done === Number(readFileSync(fuse, 'utf8'))) process.kill(process.pid, 'SIGKILL');
};
for (const name of ['rename', 'rm']) {
	const real = files[name];
	files[name] = (...given) => (step(), real(...given));
}
syncBuiltinESMExports();
for (const name of ['run', 'all']) {
	const real = StatementSync.prototype[name];
	StatementSync.prototype[name] = function (...given) {
		if (/^(insert|update|delete).*skill_(installs|trash)/i.test(this.sourceSQL)) step();
		return real.apply(this, given);
	};
}
`;

beforeAll(async () => {
	const burn = join(folder, 'burn.mjs');
	await writeFile(burn, BURN);
	app = await startApp({ command: [process.execPath, '--import', burn, 'server.js'] });
}, 120_000);
afterAll(() => app?.stop());

async function call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
	const isZip = body instanceof Uint8Array;
	const response = await fetch(`${app.url}/api/skills/${path}`, {
		method,
		headers: { 'content-type': isZip ? 'application/zip' : 'application/json' },
		body: isZip ? new Uint8Array(body) : JSON.stringify(body)
	});
	if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
	return (response.status === 204 ? undefined : await response.json()) as Answer;
}

const textOf = (body: string) => `---\nname: keepsake\ndescription: What it does.\n---\n\n${body}\n`;
async function replaceBy(body: string): Promise<void> {
	const zip = zipOf([{ name: 'keepsake/SKILL.md', content: textOf(body) }]);
	const { id } = await call<StagedInstall>('POST', 'install/staged', zip);
	await call('POST', `install/staged/${id}`, { conflict: 'overwrite', enabled: true });
}
async function edit(): Promise<void> {
	const { text, digest } = await call<SkillFileText>('GET', 'keepsake/file?path=SKILL.md');
	await call('PUT', 'keepsake/file', { path: 'SKILL.md', text: `${text}Edited.\n`, digest });
}
const versions = () => call<SkillVersions>('GET', 'keepsake/versions');
const inUse = async () => (await call<SkillFileText>('GET', 'keepsake/file?path=SKILL.md')).text;
const editsInUse = async () => (await call<{ edits: SkillEdit[] }>('GET', 'keepsake/edits')).edits.length;
const keptIds = async () =>
	(await versions()).versions.flatMap(({ installation }) => (installation?.state === 'kept' ? [installation.id] : []));
const keptTexts = async () =>
	Promise.all((await keptIds()).map((id) => readFile(join(app.dataDir, 'kept', id, 'SKILL.md'), 'utf8')));

/** Does `work` with the server killed before step 1, 2, …, each time started again for `check`, until nothing kills it. */
async function atEachStep(work: (round: number) => Promise<void>, check: (round: number) => Promise<void>) {
	let rounds = 0;
	for (let isOver = false; !isOver;) {
		rounds += 1;
		await writeFile(fuse, String(rounds));
		isOver = await work(rounds).then(
			() => true,
			() => false
		);
		const isStillThere =
			app.exitCode() === null &&
			(await fetch(`${app.url}/api/skills`).then(
				() => true,
				() => false
			));
		expect(isStillThere).toBe(isOver);
		await rm(fuse);
		await app.restart({ signal: 'SIGKILL' });
		await check(rounds);
	}
	return rounds;
}

/** What the person has: the one in use, and each that can be used again. */
const texts = async () => [await inUse(), ...(await keptTexts())].sort();

test('E28: killed at any step of Use this version, both are there as they were edited, with their earlier edits', async () => {
	await replaceBy('First.');
	await edit();
	await replaceBy('Second.');
	await edit();
	const had = [`${textOf('First.')}Edited.\n`, `${textOf('Second.')}Edited.\n`].sort();
	const useOther = async () => {
		const [installationId] = await keptIds();
		await call('PUT', 'keepsake/versions', { use: { installationId } });
	};
	const rounds = await atEachStep(useOther, async () => {
		expect(await texts()).toEqual(had);
		expect(await editsInUse()).toBe(1);
	});
	expect(rounds).toBeGreaterThan(6);
	await useOther();
	expect(await editsInUse()).toBe(1);
}, 300_000);

test('E28: killed at any step of Replace, what was edited before is there, in use or kept, and only the new one has no edits', async () => {
	let before = await inUse();
	const rounds = await atEachStep(
		(round) => replaceBy(`Round ${round}.`),
		async () => {
			const now = await inUse();
			expect(await texts()).toContain(before);
			expect(await editsInUse()).toBe(now === before ? 1 : 0);
			if (now !== before) await edit();
			before = await inUse();
		}
	);
	expect(rounds).toBeGreaterThan(6);
}, 300_000);

test('E4: killed at any step of Remove and Restore, the skill is there or can be restored, with its earlier edits', async () => {
	const had = await inUse();
	const trash = async () => (await call<{ data: { id: string }[] }>('GET', 'trash')).data;
	const back = async () => {
		const [trashed] = await trash();
		if (trashed) await call('POST', `trash/${trashed.id}`);
		expect(await inUse()).toBe(had);
		expect(await editsInUse()).toBe(1);
	};
	const rounds = await atEachStep(async () => {
		await call('DELETE', 'keepsake');
		await back();
	}, back);
	expect(rounds).toBeGreaterThan(6);
}, 300_000);
