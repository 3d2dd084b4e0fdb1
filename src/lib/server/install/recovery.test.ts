import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { githubOrigin, openRig, skillOf, type InstallRig } from './install-rig.suite.ts';

let rig: InstallRig;
const NOW = '2026-01-01T00:00:00.000Z';

beforeEach(async () => (rig = await openRig()));
afterEach(() => rig.remove());

/** Restarts on what this process left behind. */
async function restart(): Promise<void> {
	await rig.close();
	rig = await openRig({ dataDir: rig.dataDir });
}

/** Two installs of one version: the first is kept, the second in use. */
async function replaced() {
	await rig.put(skillOf('pdf', { body: 'Old.' }));
	await rig.put(skillOf('pdf', { body: 'New.' }), { conflict: 'overwrite' });
	const [now, before] = await rig.store.skillInstalls.list();
	if (!now || !before) throw new Error('there are not two');
	return { now, before, place: now.dir, kept: join(rig.dataDir, 'kept') };
}

const states = async () => (await rig.store.skillInstalls.list()).map(({ state }) => state);

it('E20: what was staged is gone after a start', async () => {
	await rig.stage(skillOf('pdf'));
	const { id } = await rig.stage(skillOf('docx'));
	await mkdir(join(rig.dataDir, 'staging', 'left'), { recursive: true });
	await restart();
	expect(await rig.list('staging')).toEqual([]);
	await expect(rig.installer.staged(id)).rejects.toThrow();
});

it('E20: a record whose folder was not placed yet is taken back', async () => {
	await rig.put(skillOf('pdf'));
	const [row] = await rig.store.skillInstalls.list();
	await rig.store.skillInstalls.move(row?.id ?? '', { state: 'placing', dir: row?.dir ?? '' }, NOW);
	await rm(row?.dir ?? '', { recursive: true });
	await restart();
	expect(await rig.store.skillInstalls.list()).toEqual([]);
	expect(rig.identities()).toEqual([]);
});

it('E20: a folder that was placed becomes active, and another skill’s secrets do not stay', async () => {
	await rig.put(skillOf('pdf'), {}, githubOrigin('acme/skills'));
	const [row] = await rig.store.skillInstalls.list();
	await rig.store.skillInstalls.move(row?.id ?? '', { state: 'placing', dir: row?.dir ?? '' }, NOW);
	await rig.store.secrets.put('installed/pdf', { name: 'TOKEN', iv: 'a', tag: 'b', ciphertext: 'c' }, NOW);
	await restart();
	expect(await states()).toEqual(['active']);
	expect(rig.identities()).toEqual(['pdf@1.0.0']);
	expect(await rig.store.secrets.list('installed/pdf')).toEqual([]);
});

it('E20: a folder that somebody put in the place of a new skill stays, and nothing is recorded', async () => {
	const place = rig.places.placeOf('system', 'pdf', '1.0.0');
	await mkdir(place, { recursive: true });
	await writeFile(join(place, 'mine.txt'), 'x');
	await expect(rig.put(skillOf('pdf'))).rejects.toMatchObject({ code: 'conflict' });
	await restart();
	expect(await rig.store.skillInstalls.list()).toEqual([]);
	expect(await rig.list('skills')).toContain('pdf@1.0.0/mine.txt');
});

it('E28: interrupted when the old one was put aside and the new one not placed: the old one serves again', async () => {
	const { now, before, place, kept } = await replaced();
	// As in the middle of a replacement: the old one's record changes last.
	await rig.store.skillInstalls.move(now.id, { state: 'placing', dir: place }, NOW);
	await rig.store.skillInstalls.move(before.id, { state: 'active', dir: place }, NOW);
	await rm(place, { recursive: true });
	await restart();
	expect(rig.skill('pdf').body).toBe('Old.');
	expect(await states()).toEqual(['active']);
	expect(await rig.list('kept')).toEqual([]);
	expect(kept).toContain(rig.dataDir);
});

it('E28: interrupted when the new one was placed: it is finished', async () => {
	const { now, before, place } = await replaced();
	await rig.store.skillInstalls.move(now.id, { state: 'placing', dir: place }, NOW);
	await rig.store.skillInstalls.move(before.id, { state: 'active', dir: place }, NOW);
	await restart();
	expect(rig.skill('pdf').body).toBe('New.');
	expect(await states()).toEqual(['active', 'kept']);
});

it('E28: interrupted before anything was moved: all is as it was', async () => {
	const { now, before, place, kept } = await replaced();
	// A kept version was about to be swapped in.
	await rig.store.skillInstalls.move(before.id, { state: 'placing', dir: place }, NOW);
	await restart();
	expect(rig.skill('pdf').body).toBe('New.');
	expect(await rig.store.skillInstalls.get(before.id)).toMatchObject({ state: 'kept', dir: join(kept, before.id) });
	expect(await rig.store.skillInstalls.get(now.id)).toMatchObject({ state: 'active', dir: place });
});

it('E4: a removal that was interrupted before and after its folder was moved', async () => {
	await rig.put(skillOf('pdf'));
	const [row] = await rig.store.skillInstalls.list();
	const trash = {
		...{ id: 't1', skillId: 'installed/pdf', name: 'pdf', version: '1.0.0', installId: row?.id ?? null },
		...{ path: row?.dir ?? '', stored: join(rig.dataDir, 'trash', 't1'), removedAt: new Date().toISOString() }
	};
	await rig.store.skillTrash.add(trash);
	await restart();
	expect(await rig.installer.trash()).toEqual([]);
	expect(await states()).toEqual(['active']);

	await rig.store.skillTrash.add(trash);
	await mkdir(join(rig.dataDir, 'trash'), { recursive: true });
	await rename(trash.path, trash.stored);
	await restart();
	expect(await states()).toEqual(['trashed']);
	await rig.installer.restore('t1');
	expect(rig.identities()).toEqual(['pdf@1.0.0']);

	// Restored, but not recorded yet.
	await rig.store.skillTrash.add(trash);
	await rig.store.skillInstalls.move(row?.id ?? '', { state: 'trashed', dir: trash.stored }, NOW);
	await restart();
	expect(await states()).toEqual(['active']);
	expect(await rig.installer.trash()).toEqual([]);
});

it('E28: records of folders that somebody removed by hand go, and so do folders that no record knows of', async () => {
	await replaced();
	await rm(join(rig.dataDir, 'skills'), { recursive: true });
	await mkdir(join(rig.dataDir, 'kept', 'stray'), { recursive: true });
	await restart();
	expect(await states()).toEqual(['kept']);
	expect((await rig.list('kept')).filter((path) => !path.includes('/'))).toHaveLength(1);
	expect(JSON.parse(await readFile(join(rig.dataDir, 'skills-lock.json'), 'utf8'))).toMatchObject({ skills: {} });
});
