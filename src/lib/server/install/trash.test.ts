import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { emptyFolder, putFile } from '../../../../tests/support/folder.ts';
import { createSkillEdits } from '../skill-admin/skill-edits.ts';
import { githubOrigin, openRig, skillOf, type InstallRig } from './install-rig.suite.ts';

let rig: InstallRig;
const local = emptyFolder();
let time: number;

beforeEach(async () => {
	time = Date.UTC(2026, 0, 1);
	rig = await openRig({ roots: [{ path: local, source: 'local' }], now: () => time });
});
afterEach(async () => {
	await rig.remove();
});

async function writeLocal(name: string, dir = join(local, name)): Promise<void> {
	await putFile(dir, 'SKILL.md', skillOf(name, { folder: '' })['SKILL.md'] ?? '');
	await rig.registry.reload();
}

it('E22: a root itself, a link, and what a link leads to are not removed', async () => {
	const elsewhere = await mkdtemp(join(tmpdir(), 'elsewhere-'));
	try {
		await writeLocal('linked', join(elsewhere, 'linked'));
		await symlink(join(elsewhere, 'linked'), join(local, 'linked'));
		await symlink(elsewhere, join(local, 'away'));
		await rig.registry.reload();
		const linked = rig.skill('linked');
		await expect(rig.installer.remove(linked)).rejects.toMatchObject({ code: 'conflict' });
		const through = { ...linked, dir: join(local, 'away', 'linked') };
		await expect(rig.installer.remove(through)).rejects.toMatchObject({ code: 'conflict' });
		await expect(rig.installer.remove({ ...linked, dir: local })).rejects.toMatchObject({ code: 'conflict' });
		await expect(rig.installer.remove({ ...linked, dir: elsewhere })).rejects.toMatchObject({ code: 'conflict' });
		expect(await readFile(join(elsewhere, 'linked', 'SKILL.md'), 'utf8')).toContain('linked');
		expect(await rig.installer.trash()).toEqual([]);
	} finally {
		await rm(elsewhere, { recursive: true });
	}
});

it('E4: what is not there any more is told so, and so are ids that are none', async () => {
	await writeLocal('pdf');
	const pdf = rig.skill('pdf');
	await rig.installer.remove(pdf);
	await expect(rig.installer.remove(pdf)).rejects.toMatchObject({ code: 'not_found' });
	await expect(rig.installer.restore('none')).rejects.toMatchObject({ code: 'not_found' });
	await expect(rig.installer.purge('none')).rejects.toMatchObject({ code: 'not_found' });
});

it('E4, E22: a skill of a configured folder goes into the trash and comes back as it was', async () => {
	await writeLocal('pdf');
	const trashed = await rig.installer.remove(rig.skill('pdf'));
	expect(trashed).toMatchObject({
		skillId: 'local/pdf',
		name: 'pdf',
		version: '1.0.0',
		path: join(local, 'pdf'),
		removedAt: '2026-01-01T00:00:00.000Z',
		expiresAt: '2026-01-31T00:00:00.000Z'
	});
	expect(rig.identities()).toEqual([]);
	expect(await rig.installer.trash()).toEqual([trashed]);
	expect(await rig.installer.restore(trashed.id)).toEqual({ skillId: 'local/pdf', name: 'pdf', version: '1.0.0' });
	expect(rig.identities()).toEqual(['pdf@1.0.0']);
	expect(await rig.installer.trash()).toEqual([]);
	expect(await rig.list('trash')).toEqual([]);
});

it('E4: a broken skill can be removed and restored as well', async () => {
	await mkdir(join(local, 'bad'));
	await writeFile(join(local, 'bad', 'SKILL.md'), 'no front matter');
	await rig.registry.reload();
	const [bad] = rig.registry.snapshot().broken;
	if (!bad) throw new Error('it is not broken');
	const { id } = await rig.installer.remove(bad);
	expect(rig.registry.snapshot().broken).toEqual([]);
	await rig.installer.restore(id);
	expect(rig.registry.snapshot().broken).toHaveLength(1);
});

it('F1, E4: what was kept of edits goes into the trash with the skill, comes back, and is deleted with it', async () => {
	const { editsOf } = rig.places;
	const edits = createSkillEdits(editsOf);
	await writeLocal('pdf');
	const dir = join(local, 'pdf');
	await edits.keep(dir, [{ path: 'a.md', before: null, after: 'a'.repeat(64) }]);
	const kept = await edits.list(dir);
	const { id } = await rig.installer.remove(rig.skill('pdf'));
	// Another skill with this name must not get them.
	expect(await edits.list(dir)).toEqual([]);
	await rig.installer.restore(id);
	expect(await edits.list(dir)).toEqual(kept);
	const again = await rig.installer.remove(rig.skill('pdf'));
	await rig.installer.purge(again.id);
	expect(await readdir(dirname(editsOf(dir)))).toEqual([]);
});

it('E4: nothing is restored over something else', async () => {
	await writeLocal('pdf');
	const { id } = await rig.installer.remove(rig.skill('pdf'));
	await writeLocal('pdf');
	await expect(rig.installer.restore(id)).rejects.toMatchObject({ code: 'conflict' });
	const { installed } = await rig.put(skillOf('docx', { body: 'First.' }));
	const trashed = await rig.installer.remove(rig.skill('docx'));
	await rig.put(skillOf('docx', { body: 'Second.' }));
	await expect(rig.installer.restore(trashed.id)).rejects.toMatchObject({ code: 'conflict' });
	expect(rig.skill('docx').body).toBe('Second.');
	expect(await rig.store.skillInstalls.get(installed[0]?.id ?? '')).toMatchObject({ state: 'trashed' });
});

it('E4: an installed skill comes back with its mode, trust and secrets; purging it forgets them all', async () => {
	await rig.put(skillOf('pdf'), { enabled: false }, githubOrigin('acme/skills'));
	const pdf = rig.skill('pdf');
	await rig.modes.setPin('installed/pdf', '1.0.0');
	const now = new Date(time).toISOString();
	await rig.store.secrets.put('installed/pdf', { name: 'TOKEN', iv: 'a', tag: 'b', ciphertext: 'c' }, now);
	await rig.store.trustedSkills.put('installed/pdf', { version: '1.0.0', digest: 'd', files: [], trustedAt: now });

	const { id } = await rig.installer.remove(pdf);
	expect(rig.modes.pinOf('installed/pdf')).toBe(null);
	expect(JSON.parse(await readFile(join(rig.dataDir, 'skills-lock.json'), 'utf8'))).toEqual({ version: 1, skills: {} });
	await rig.installer.restore(id);
	expect(rig.modes.modeOf(rig.skill('pdf'))).toBe('off');
	expect(await rig.store.secrets.list('installed/pdf')).toHaveLength(1);
	expect((await rig.installer.versions(pdf)).versions).toMatchObject([{ installation: { state: 'active' } }]);

	const again = await rig.installer.remove(rig.skill('pdf'));
	await rig.installer.purge(again.id);
	expect(await rig.list('trash')).toEqual([]);
	expect(await rig.list('staging')).toEqual([]);
	expect(await rig.store.skillInstalls.list()).toEqual([]);
	expect(await rig.store.secrets.list('installed/pdf')).toEqual([]);
	expect(await rig.store.trustedSkills.digestsOf('installed/pdf')).toEqual([]);
	expect(rig.modes.modeOf(pdf)).toBe('auto');
});

it('E4: of one version of several, the others keep what is known of them', async () => {
	await rig.put(skillOf('pdf'));
	await rig.put(skillOf('pdf', { version: '2.0.0' }));
	const now = new Date(time).toISOString();
	await rig.store.secrets.put('installed/pdf', { name: 'TOKEN', iv: 'a', tag: 'b', ciphertext: 'c' }, now);
	const { id } = await rig.installer.remove(rig.skill('pdf', '2.0.0'));
	expect(rig.identities()).toEqual(['pdf@1.0.0']);
	await rig.installer.purge(id);
	expect(await rig.store.secrets.list('installed/pdf')).toHaveLength(1);
});

it('E4: after thirty days it is deleted for good', async () => {
	await rig.put(skillOf('pdf'));
	await rig.installer.remove(rig.skill('pdf'));
	time += 30 * 86_400_000 - 1;
	expect(await rig.installer.trash()).toHaveLength(1);
	time += 1;
	expect(await rig.installer.trash()).toEqual([]);
	expect(await rig.list('trash')).toEqual([]);
	expect(await rig.store.skillInstalls.list()).toEqual([]);
});

it('E4: one that is too old and cannot be removed keeps nothing else from going, and goes the next time', async () => {
	await writeLocal('stuck');
	await writeLocal('old');
	const { id } = await rig.installer.remove(rig.skill('stuck'));
	await rig.installer.remove(rig.skill('old'));
	time += 31 * 24 * 60 * 60 * 1000;
	// Deleted skills are moved here first.
	const inTheWay = join(rig.dataDir, 'staging', id, 'in-the-way');
	await mkdir(inTheWay, { recursive: true });
	expect(await rig.installer.trash()).toMatchObject([{ name: 'stuck' }]);
	await rm(inTheWay, { recursive: true });
	expect(await rig.installer.trash()).toEqual([]);
});
