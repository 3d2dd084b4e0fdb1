/** Contract tests for the memory of trusted skills, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { at, type Bench } from './fixtures.suite.ts';
import type { TrustedSkill, TrustedSkills } from '../skills/choices.ts';

const skill = (digest: string, version = '1.0.0'): TrustedSkill => ({
	version,
	digest,
	files: [
		{ path: 'SKILL.md', sha256: 'a'.repeat(64), text: '# “Hi” \0 \ud800' },
		{ path: 'odd \n name.bin', sha256: 'b'.repeat(64), text: null }
	],
	trustedAt: at(1)
});

export function testTrustedSkills(bench: () => Bench): void {
	describe('F4: trusted skills', () => {
		let trusted: TrustedSkills;
		beforeEach(async () => {
			await bench().db.deleteFrom('trusted_versions').execute();
			trusted = bench().store.trustedSkills;
		});

		test('a skill that nobody trusted is null, and nothing to remove', async () => {
			expect(await trusted.get('installed/nobody', '1.0.0')).toBeNull();
			expect(await trusted.remove('installed/nobody')).toBe(false);
			expect(await trusted.digests()).toEqual(new Map());
		});

		test('the texts come back as they were, NUL and half characters included', async () => {
			await trusted.put('installed/demo', skill('1'));
			expect(await trusted.get('installed/demo', '1.0.0')).toEqual(skill('1'));
		});

		test('only the newest trust of a version counts; others of the name are others', async () => {
			await trusted.put('installed/demo', skill('1'));
			await trusted.put('installed/demo', { ...skill('2'), files: [] });
			await trusted.put('other/demo', skill('3'));
			expect(await trusted.get('installed/demo', '1.0.0')).toEqual({ ...skill('2'), files: [] });
			expect(await trusted.digests()).toEqual(
				new Map([
					['installed/demo', ['2']],
					['other/demo', ['3']]
				])
			);
		});

		test('each version is trusted by itself; a new one is compared with what was trusted last', async () => {
			await trusted.put('installed/demo', skill('1'));
			await trusted.put('installed/demo', { ...skill('2', '2.0.0'), trustedAt: at(2) });
			expect(await trusted.digestsOf('installed/demo')).toEqual(['1', '2']);
			expect(await trusted.get('installed/demo', '1.0.0')).toMatchObject({ digest: '1' });
			expect(await trusted.get('installed/demo', '3.0.0')).toMatchObject({ digest: '2', version: '2.0.0' });
			expect(await trusted.remove('installed/demo', { version: '2.0.0', digest: 'x' })).toBe(true);
			expect(await trusted.remove('installed/demo', { version: 'x', digest: '1' })).toBe(true);
			expect(await trusted.digestsOf('installed/demo')).toEqual([]);
		});

		test('what was withdrawn is gone', async () => {
			await trusted.put('installed/demo', skill('1'));
			expect(await trusted.remove('installed/demo')).toBe(true);
			expect(await trusted.get('installed/demo', '1.0.0')).toBeNull();
		});
	});
}
