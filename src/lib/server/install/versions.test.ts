import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import { CHOICE, githubOrigin, openRig, skillOf, type InstallRig } from './install-rig.suite.ts';
import type { SourceFetcher } from './catalog-installer.ts';

let rig: InstallRig;
let sources: SourceFetcher;
const signal = new AbortController().signal;
const unavailable = new AppError('unavailable', 'GitHub does not answer.');

beforeEach(async () => {
	sources = { fetch: () => Promise.reject(unavailable), revisionOf: () => Promise.reject(unavailable) };
	rig = await openRig({
		sources: {
			fetch: (...args) => sources.fetch(...args),
			revisionOf: (...args) => sources.revisionOf(...args)
		}
	});
});
afterEach(() => rig.remove());

it('A38: a version that is not there, and a roll-back to nothing, are refused', async () => {
	await rig.put(skillOf('pdf'));
	const pdf = rig.skill('pdf');
	await expect(rig.installer.use(pdf, { version: '9.9.9' })).rejects.toMatchObject({ code: 'not_found' });
	await expect(rig.installer.use(pdf, { installationId: 'x' })).rejects.toMatchObject({ code: 'not_found' });
	await expect(rig.installer.rollback(pdf)).rejects.toMatchObject({ code: 'conflict' });
	expect(await rig.installer.versions(pdf)).toMatchObject({ current: '1.0.0', pinned: null });
});

it('A38: an installation of another skill is none of this one', async () => {
	await rig.put(skillOf('pdf'));
	const { installed } = await rig.put(skillOf('docx'));
	const use = { installationId: installed[0]?.id ?? '' };
	await expect(rig.installer.use(rig.skill('pdf'), use)).rejects.toMatchObject({ code: 'not_found' });
});

it('A38: versions lie side by side: the newest that is on is in use, until another is chosen', async () => {
	await rig.put(skillOf('pdf', { version: '1.9.0' }));
	await rig.put(skillOf('pdf', { version: '1.10.0' }));
	const pdf = rig.skill('pdf', '1.9.0');
	expect(await rig.installer.versions(pdf)).toMatchObject({
		current: '1.10.0',
		pinned: null,
		versions: [
			{ version: '1.10.0', id: 'installed/pdf@1.10.0', mode: 'auto', installation: { state: 'active' } },
			{ version: '1.9.0', id: 'installed/pdf@1.9.0', mode: 'auto', installation: { state: 'active' } }
		]
	});
	expect(await rig.installer.use(pdf, { version: '1.9.0' })).toMatchObject({ current: '1.9.0', pinned: '1.9.0' });
	expect(await rig.installer.use(pdf, null)).toMatchObject({ current: '1.10.0', pinned: null });
	await rig.modes.setEnabled(rig.skill('pdf', '1.10.0'), false);
	expect(await rig.installer.versions(pdf)).toMatchObject({ current: '1.9.0' });
	// Choosing it enables it.
	expect(await rig.installer.use(pdf, { version: '1.10.0' })).toMatchObject({ current: '1.10.0' });
});

it('A38: a new version that lands off leaves the old one in use', async () => {
	await rig.put(skillOf('pdf'));
	await rig.put(skillOf('pdf', { version: '2.0.0' }), { enabled: false });
	expect(await rig.installer.versions(rig.skill('pdf'))).toMatchObject({ current: '1.0.0' });
	await rig.installer.use(rig.skill('pdf'), { version: '2.0.0' });
	expect(await rig.installer.rollback(rig.skill('pdf'))).toMatchObject({ current: '1.0.0', pinned: '1.0.0' });
});

it('A38: each version says how many lines it changed, and what breaks its SKILL.md', async () => {
	await rig.put(skillOf('pdf', { body: 'Good.' }));
	await rig.put(skillOf('pdf', { body: 'Good.\nBetter.' }), { conflict: 'overwrite' });
	const pdf = rig.skill('pdf');
	const read = async () =>
		(await rig.installer.versions(pdf)).versions.map(({ lines, problem }) => ({ lines, problem }));
	expect(await read()).toEqual([{ lines: { added: 1, removed: 0 } }, {}]);
	await writeFile(join(pdf.dir, 'SKILL.md'), 'no front matter');
	const [edited, first] = await read();
	expect(edited).toEqual({ problem: expect.stringContaining('SKILL.md') as string });
	expect(first).toEqual({});
});

it('E28: a replaced installation is swapped in again, byte for byte, and the other is kept', async () => {
	await rig.put(skillOf('pdf', { body: 'Good.' }));
	await rig.put(skillOf('pdf', { body: 'Bad.' }), { conflict: 'overwrite' });
	const back = await rig.installer.rollback(rig.skill('pdf'));
	expect(rig.skill('pdf').body).toBe('Good.');
	expect(back.versions.map(({ installation }) => installation?.state)).toEqual(['kept', 'active']);
	const kept = back.versions[0]?.installation?.id ?? '';
	expect(await readFile(join(rig.dataDir, 'kept', kept, 'SKILL.md'), 'utf8')).toContain('Bad.');
	await rig.installer.use(rig.skill('pdf'), { installationId: kept });
	expect(rig.skill('pdf').body).toBe('Bad.');
	expect((await rig.store.skillInstalls.list()).filter(({ state }) => state === 'active')).toHaveLength(1);
});

it('E28: whoever goes back to a replaced installation gets the next update; only a newer version needs a pin', async () => {
	await rig.put(skillOf('pdf', { body: 'Good.' }));
	await rig.put(skillOf('pdf', { body: 'Bad.' }), { conflict: 'overwrite' });
	expect(await rig.installer.rollback(rig.skill('pdf'))).toMatchObject({ current: '1.0.0', pinned: null });
	await rig.put(skillOf('pdf', { version: '2.0.0' }));
	const { current, versions } = await rig.installer.versions(rig.skill('pdf'));
	expect(current).toBe('2.0.0');
	const older = versions.find(({ version, id }) => version === '1.0.0' && id !== null);
	const use = { installationId: older?.installation?.id ?? '' };
	expect(await rig.installer.use(rig.skill('pdf'), use)).toMatchObject({ current: '1.0.0', pinned: '1.0.0' });
});

it('E28: any version is compared with the one in use, also one that was edited or only kept', async () => {
	await rig.put(skillOf('pdf', { body: 'First.' }));
	await rig.put(skillOf('pdf', { body: 'Second.' }), { conflict: 'overwrite' });
	await rig.put(skillOf('pdf', { version: '2.0.0', body: 'Third.' }));
	const pdf = rig.skill('pdf', '2.0.0');
	await writeFile(join(pdf.dir, 'mine.md'), 'Mine.\n');
	const { versions } = await rig.installer.versions(pdf);
	const kept = versions.find(({ id }) => id === null)?.installation?.id ?? '';
	const shown = async (wanted: string) =>
		(await rig.installer.compare(pdf, wanted)).map(({ path, diff }) => `${path}: ${diff ?? ''}`).join('\n');
	expect(await shown('1.0.0')).toMatch(
		/mine\.md: .*-Mine\..*SKILL\.md: .*-Third\.\n\+Second\.|SKILL\.md: .*-Third\.\n\+Second\..*mine\.md: .*-Mine\./s
	);
	expect(await shown(kept)).toContain('+First.');
	expect(await rig.installer.compare(pdf, '2.0.0')).toEqual([]);
	await expect(rig.installer.compare(pdf, '9.9.9')).rejects.toMatchObject({ code: 'not_found' });
	await rig.put(skillOf('docx'));
	const other = (await rig.installer.versions(rig.skill('docx'))).versions[0]?.installation?.id ?? '';
	await expect(rig.installer.compare(pdf, other)).rejects.toMatchObject({ code: 'not_found' });
	await rm(join(rig.dataDir, 'kept'), { recursive: true });
	await expect(rig.installer.compare(pdf, kept)).rejects.toMatchObject({ code: 'unavailable' });
});

it('E28: when what is kept is gone from the disk, what is in use stays', async () => {
	await rig.put(skillOf('pdf', { body: 'Old.' }));
	await rig.put(skillOf('pdf', { body: 'Now.' }), { conflict: 'overwrite' });
	await rm(join(rig.dataDir, 'kept'), { recursive: true });
	await expect(rig.installer.rollback(rig.skill('pdf'))).rejects.toMatchObject({ code: 'unavailable' });
	expect(rig.skill('pdf').body).toBe('Now.');
	const rows = await rig.store.skillInstalls.list();
	expect(rows.map(({ state }) => state)).toEqual(['active', 'kept']);
});

it('E28: outdated asks each source, and one that fails fails alone', async () => {
	await rig.put(skillOf('fresh'), {}, githubOrigin('acme/fresh', '1'.repeat(40)));
	await rig.put(skillOf('stale'), {}, githubOrigin('acme/stale', '2'.repeat(40)));
	await rig.put(skillOf('silent'), {}, githubOrigin('acme/silent'));
	await rig.put(skillOf('uploaded'));
	sources.revisionOf = ({ url }) =>
		url?.endsWith('silent') ? Promise.reject(unavailable) : Promise.resolve('1'.repeat(40));
	expect(await rig.installer.outdated(signal)).toMatchObject([
		{ skillId: 'installed/fresh', state: 'current' },
		{ skillId: 'installed/silent', state: 'unknown', message: 'GitHub does not answer.' },
		{ skillId: 'installed/stale', state: 'outdated' },
		{ skillId: 'installed/uploaded', state: 'uploaded' }
	]);
});

it('E28: an update is fetched from where the skill came from and shown; when that fails the last good version serves', async () => {
	const origin = githubOrigin('acme/skills');
	await rig.put(skillOf('pdf', { folder: 'skills/pdf', body: 'Old.' }), {}, origin);
	await expect(rig.installer.stageUpdate(rig.skill('pdf'), signal)).rejects.toMatchObject({ code: 'unavailable' });
	expect(rig.skill('pdf').body).toBe('Old.');
	expect(await rig.list('staging')).toEqual([]);

	sources.fetch = async (source, into) => {
		expect(source).toEqual(origin.source);
		const files = {
			...skillOf('pdf', { folder: 'skills/pdf', version: '1.1.0', body: 'New.' }),
			...skillOf('other', { folder: 'skills/other' })
		};
		for (const [path, text] of Object.entries(files)) await into.add(path, Buffer.from(text));
		return { folders: null, originOf: (path) => ({ ...origin, path, revision: 'b'.repeat(40) }), notes: [] };
	};
	const { id, skills } = await rig.installer.stageUpdate(rig.skill('pdf'), signal);
	expect(skills).toMatchObject([{ name: 'pdf', version: '1.1.0', installed: { isSameOrigin: true } }]);
	expect(skills[0]?.changes?.[0]?.diff).toContain('+New.');
	await rig.installer.confirm(id, CHOICE);
	expect(await rig.installer.versions(rig.skill('pdf'))).toMatchObject({ current: '1.1.0' });
	expect(rig.identities()).toEqual(['pdf@1.0.0', 'pdf@1.1.0']);
	expect(await rig.installer.rollback(rig.skill('pdf'))).toMatchObject({ current: '1.0.0' });
});

it('E28: what was uploaded cannot be fetched again', async () => {
	await rig.put(skillOf('pdf'));
	await expect(rig.installer.stageUpdate(rig.skill('pdf'), signal)).rejects.toMatchObject({ code: 'conflict' });
});
