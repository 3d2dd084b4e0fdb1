/** Contract tests for the record of installations, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { at, type Bench } from './fixtures.suite.ts';
import type { InstallRecord, SkillInstalls } from '../skills/installs.ts';

const record = (id: string, part: Partial<InstallRecord> = {}): InstallRecord => ({
	id,
	skillId: 'installed/demo',
	name: 'demo',
	version: '1.0.0',
	owner: 'system',
	state: 'active',
	dir: `/data/skills/demo@1.0.0`,
	origin: {
		provider: 'github',
		source: { type: 'github', repository: 'owner/repository', ref: 'main' },
		url: 'https://github.com/owner/repository',
		commit: 'c'.repeat(40),
		path: 'skills/“demo”',
		revision: null
	},
	digest: 'd'.repeat(64),
	files: [{ path: 'SKILL.md', bytes: 12, sha256: 'a'.repeat(64) }],
	computedHash: 'e'.repeat(64),
	installedAt: at(1),
	...part
});

export function testSkillInstalls(bench: () => Bench): void {
	describe('E28: installations of skills', () => {
		let installs: SkillInstalls;
		beforeEach(async () => {
			await bench().db.deleteFrom('skill_installs').execute();
			installs = bench().store.skillInstalls;
		});

		test('one that does not exist is null, and nothing to move or to remove', async () => {
			expect(await installs.get('ghost')).toBeNull();
			await installs.move('ghost', { state: 'kept', dir: '/x' }, at(2));
			await installs.remove('ghost');
			expect(await installs.list()).toEqual([]);
		});

		test('E29: all that is known of where it came from comes back as it was', async () => {
			await installs.add(record('i1'), at(1));
			expect(await installs.get('i1')).toEqual(record('i1'));
		});

		test('an id is taken once; of a version one is active, however many were before it', async () => {
			await installs.add(record('i1'), at(1));
			await expect(installs.add(record('i1', { version: '2.0.0' }), at(2))).rejects.toThrow();
			await expect(installs.add(record('i2'), at(2))).rejects.toThrow();
			await installs.add(record('i3', { state: 'placing' }), at(2));
			await expect(installs.move('i3', { state: 'active', dir: '/x' }, at(3))).rejects.toThrow();
			expect(await installs.get('i3')).toMatchObject({ state: 'placing' });
			await installs.move('i1', { state: 'kept', dir: '/data/kept/i1' }, at(3));
			await installs.move('i3', { state: 'active', dir: '/data/skills/demo@1.0.0' }, at(4));
			expect(await installs.get('i1')).toEqual(record('i1', { state: 'kept', dir: '/data/kept/i1' }));
			expect(await installs.get('i3')).toMatchObject({ state: 'active', installedAt: at(1) });
		});

		test('no other state is taken', async () => {
			await expect(installs.add(record('i1', { state: 'half' as 'kept' }), at(1))).rejects.toThrow();
			expect(await installs.list()).toEqual([]);
		});

		test('A41: of the same name and version each owner has its own', async () => {
			await installs.add(record('i1'), at(1));
			const own = record('i2', { owner: 'key-1', skillId: 'key.abc/demo', dir: '/data/owned/key.abc/demo@1.0.0' });
			await installs.add(own, at(1));
			expect(await installs.list('key.abc/demo')).toEqual([own]);
		});

		test('the newest installation comes first, of a skill or of all; what was removed is gone', async () => {
			await installs.add(record('i1'), at(1));
			await installs.add(record('i3', { version: '3.0.0', installedAt: at(3) }), at(3));
			await installs.add(record('i2', { version: '2.0.0', installedAt: at(2) }), at(2));
			await installs.add(record('o1', { skillId: 'installed/other', name: 'other', installedAt: at(4) }), at(4));
			const ids = async (skillId?: string) => (await installs.list(skillId)).map(({ id }) => id).join(' ');
			expect(await ids('installed/demo')).toBe('i3 i2 i1');
			expect(await ids()).toBe('o1 i3 i2 i1');
			await installs.remove('i3');
			expect(await ids('installed/demo')).toBe('i2 i1');
		});
	});
}
