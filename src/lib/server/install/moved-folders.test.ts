import { hash } from 'node:crypto';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { emptyFolder, putFile } from '../../../../tests/support/folder.ts';
import { createSkillEdits } from '../skill-admin/skill-edits.ts';
import { createSkillPlaces } from '../store/skills/places.ts';
import { renameOldEdits } from './install-context.ts';
import { openRig, skillOf, type InstallRig } from './install-rig.suite.ts';

const root = emptyFolder();
let rig: InstallRig;
const NOW = '2026-01-01T00:00:00.000Z';
const EDIT = [{ path: 'a.md', before: null, after: 'a'.repeat(64) }];
const openIn = async (folder: string) =>
	(rig = await openRig({
		dataDir: join(root, folder, 'data'),
		roots: [{ path: join(root, folder, 'local'), source: 'local' }]
	}));

beforeEach(async () => {
	await mkdir(join(root, 'old/data'), { recursive: true });
	await openIn('old');
});
afterEach(async () => {
	await rig.close();
});

async function writeLocal(name: string): Promise<void> {
	const [base] = rig.roots;
	const dir = join(base?.path ?? '', name);
	await putFile(dir, 'SKILL.md', skillOf(name, { folder: '' })['SKILL.md'] ?? '');
	await rig.registry.reload();
}

/** Both folders, with all that is in them. */
async function moveTo(folder: string): Promise<void> {
	await rig.close();
	await rename(join(root, 'old'), join(root, folder));
	await openIn(folder);
}

it('E4, E28, F14: a data folder that was moved finds what is installed, kept and removed, and it goes on as before', async () => {
	await rig.put(skillOf('pdf', { body: 'Old.' }));
	await rig.put(skillOf('pdf', { body: 'New.' }), { conflict: 'overwrite' });
	await rig.put(skillOf('own'), { apiKeyId: 'team-a' });
	await rig.put(skillOf('docx'));
	const trashed = await rig.installer.remove(rig.skill('docx'));
	for (const row of await rig.rows.skillInstalls.list()) expect(row.dir).not.toContain(root);

	await moveTo('new');
	expect(rig.logged).toEqual([]);
	expect(rig.identities()).toEqual(['own@1.0.0', 'pdf@1.0.0']);
	expect(rig.skill('pdf').body).toBe('New.');
	expect((await rig.installer.list()).map(({ name, state }) => `${name} ${state}`).sort()).toEqual([
		'own active',
		'pdf active',
		'pdf kept'
	]);
	await rig.installer.rollback(rig.skill('pdf'));
	expect(rig.skill('pdf').body).toBe('Old.');
	await rig.installer.restore(trashed.id);
	expect(rig.identities()).toEqual(['docx@1.0.0', 'own@1.0.0', 'pdf@1.0.0']);
	expect(await readFile(join(root, 'new/data/skills/docx@1.0.0/SKILL.md'), 'utf8')).toContain('docx');
});

it('E4, F1: skills and edits of a folder of skills are found where that folder is now', async () => {
	await writeLocal('mail');
	await writeLocal('pdf');
	await rig.put(skillOf('docx'));
	const edited = ['mail', 'docx'].map((name) => rig.skill(name).dir);
	for (const dir of edited) await createSkillEdits(rig.places.editsOf).keep(dir, EDIT);
	const { id } = await rig.installer.remove(rig.skill('pdf'));
	const [row] = await rig.rows.skillTrash.list();
	expect(row).toMatchObject({ path: '~local/pdf', stored: `trash/${id}` });

	await moveTo('new');
	for (const name of ['mail', 'docx']) {
		expect(await createSkillEdits(rig.places.editsOf).list(rig.skill(name).dir)).toMatchObject([
			{ files: [{ path: 'a.md' }] }
		]);
	}
	await rig.installer.restore(id);
	expect(rig.skill('pdf').dir).toBe(join(root, 'new/local/pdf'));
});

it('E4: rows of earlier versions have absolute paths, which work while their folder of skills is there', async () => {
	await writeLocal('pdf');
	await writeLocal('docx');
	const [pdf, docx] = [await rig.installer.remove(rig.skill('pdf')), await rig.installer.remove(rig.skill('docx'))];
	const elsewhere = join(root, 'elsewhere/docx');
	for (const [{ id }, path] of [
		[pdf, join(root, 'old/local/pdf')],
		[docx, elsewhere]
	] as const) {
		const row = await rig.rows.skillTrash.get(id);
		await rig.rows.skillTrash.remove(id);
		if (row) await rig.rows.skillTrash.add({ ...row, path });
	}
	await rig.installer.restore(pdf.id);
	expect(rig.skill('pdf').dir).toBe(join(root, 'old/local/pdf'));
	await expect(rig.installer.restore(docx.id)).rejects.toMatchObject({
		code: 'conflict',
		message: `“docx” was in ${elsewhere}, which is no folder of skills now.`
	});
	await rig.installer.purge(docx.id);
	expect(await rig.installer.trash()).toEqual([]);
});

it('F1: edits that an earlier version named by an absolute path are found', async () => {
	await writeLocal('mail');
	const { dir } = rig.skill('mail');
	await createSkillEdits(rig.places.editsOf).keep(dir, EDIT);
	const now = rig.places.editsOf(dir);
	await rename(now, join(dirname(now), hash('sha256', dir)));
	await renameOldEdits(rig.dataDir, rig.places, [dir]);
	expect(await createSkillEdits(rig.places.editsOf).list(dir)).toMatchObject([{ files: [{ path: 'a.md' }] }]);
});

it('E20: a row whose path leads out of the data folder counts for nothing, and what it names stays', async () => {
	await rig.put(skillOf('pdf'));
	const outside = join(root, 'old/outside');
	await mkdir(outside);
	const [row] = await rig.rows.skillInstalls.list();
	const trash = { skillId: 'local/x', name: 'x', version: null, path: '~local/x', installId: null, removedAt: NOW };
	for (const [index, dir] of [
		'../outside',
		outside,
		'~local',
		'~other/x',
		'skills/../../outside',
		'..',
		''
	].entries()) {
		if (row) await rig.rows.skillInstalls.add({ ...row, id: `bad-${index}`, state: 'kept', dir }, NOW);
		await rig.rows.skillTrash.add({ ...trash, id: `bad-${index}`, stored: dir });
		await rig.rows.skillTrash.add({ ...trash, id: `out-${index}`, path: dir, stored: `trash/out-${index}` });
	}
	await rig.close();
	await openIn('old');
	expect((await rig.installer.list()).map(({ state }) => state)).toEqual(['active']);
	await mkdir(join(root, 'old/data/trash/out-0'), { recursive: true });
	await rig.rows.skillTrash.add({ ...trash, id: 'out-0', path: '../outside', stored: 'trash/out-0' });
	await expect(rig.installer.purge('bad-0')).rejects.toMatchObject({ code: 'not_found' });
	await expect(rig.installer.restore('out-0')).rejects.toMatchObject({ code: 'conflict' });
	expect(await readFile(join(root, 'old/data/skills/pdf@1.0.0/SKILL.md'), 'utf8')).toContain('pdf');
	expect(createSkillPlaces('/data').fromRow('a\\..\\b')).toBeNull();
});
