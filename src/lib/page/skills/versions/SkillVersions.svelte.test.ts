import { describe, expect, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { createFakeRegistry } from '../../../../../tests/support/fake-registry.ts';
import {
	sampleDetail,
	sampleInstalled,
	sampleOrigin,
	sampleStaged
} from '../../../../../tests/support/sample-skills.ts';
import { ApiError } from '../../request.ts';
import type { SkillVersions as Versions } from '../../../shared/install.ts';
import type { SkillEdit } from '../../../shared/skills.ts';
import SkillEdits from './SkillEdits.svelte';
import SkillVersions from './SkillVersions.svelte';

const github = sampleOrigin({
	...{ provider: 'github', url: 'https://github.com/acme/tools', commit: 'c0ffee'.repeat(6), path: 'skills/demo' },
	source: { type: 'github', repository: 'acme/tools' }
});
const older = sampleInstalled({ id: 'i1', version: '1.0.0', origin: github, digest: 'd1' });
const newer = sampleInstalled({ id: 'i2', version: '1.1.0', origin: github, digest: 'd2' });
const kept = sampleInstalled({ id: 'i0', version: '1.0.0', state: 'kept', digest: 'd0' });

const versionsOf = (more: Partial<Versions> = {}): Versions => ({
	current: '1.1.0',
	pinned: null,
	versions: [
		{ version: '1.1.0', id: 'demo', mode: 'auto', installation: newer, isEdited: false },
		{ version: '1.0.0', id: 'installed/demo@1.0.0', mode: 'off', installation: older, isEdited: true },
		{ version: '1.0.0', id: null, mode: 'off', installation: kept, isEdited: false }
	],
	...more
});

async function setup(versions: Versions = versionsOf()) {
	const client = createFakeRegistry();
	client.getVersions.mockResolvedValue(versions);
	const onchange = vi.fn();
	const onstaged = vi.fn();
	const screen = await render(SkillVersions, { client, skillId: 'installed/demo', onchange, onstaged });
	const rows = screen.getByTestId('skill-version');
	return { screen, client, onchange, onstaged, rows };
}

describe('A40: the versions of a skill', () => {
	test('say which is in use, which are off or only kept, and where each came from', async () => {
		const { rows } = await setup();
		await expect.element(rows.nth(0).getByTestId('current-version')).toBeVisible();
		await expect.element(rows.nth(0)).toMatchTextContent(/From GitHub.*commit c0ffeec0ffee\b.*skills\/demo/s);
		await expect
			.element(rows.nth(0).getByRole('link', { name: 'https://github.com/acme/tools' }))
			.toHaveAttribute('rel', 'noopener noreferrer nofollow');
		await expect.element(rows.nth(1)).toMatchTextContent(/Off\s*Edited here/);
		await expect
			.element(rows.nth(1).getByRole('link', { name: /^1\.0\.0 of .*\(2\)$/ }))
			.toHaveAttribute('href', '/skills/installed/demo@1.0.0');
		await expect.element(rows.nth(2)).toMatchTextContent(/^1\.0\.0 of \w+ \d+.*Older\s/s);
	});

	test('are used at a click, with what that means before and after, and left to the newest again', async () => {
		const { screen, client, rows, onchange } = await setup();
		await expect.element(screen.getByTestId('versions-hint')).toMatchTextContent(/no version is lost/);
		client.useVersion.mockResolvedValueOnce(versionsOf({ current: '1.0.0', pinned: '1.0.0' }));
		await rows
			.nth(1)
			.getByRole('button', { name: /^Use version 1\.0\.0 of/ })
			.click();
		await expect
			.element(screen.getByTestId('versions-status'))
			.toMatchTextContent(/^Chats now use 1\.0\.0 of .*\(2\)\. It stays in use, even if there’s a newer one\.$/);
		expect(client.useVersion).toHaveBeenLastCalledWith('installed/demo', { installationId: 'i1' });
		expect(onchange).toHaveBeenCalledOnce();
		client.useVersion.mockResolvedValue(versionsOf());
		await screen.getByTestId('use-newest').click();
		expect(client.useVersion).toHaveBeenLastCalledWith('installed/demo', null);
		await expect.element(screen.getByTestId('versions-status')).toHaveTextContent('Chats now use 1.1.0.');
		await screen.getByRole('button', { name: 'Pin version 1.1.0' }).click();
		expect(client.useVersion).toHaveBeenLastCalledWith('installed/demo', { version: '1.1.0' });
	});

	test('one with a broken SKILL.md says so, and is used only after a warning', async () => {
		const [newest, ...others] = versionsOf().versions;
		const { client, rows, screen } = await setup(
			versionsOf({
				versions: [newest!, ...others.map((each) => ({ ...each, problem: 'name is missing', lines: null }))]
			})
		);
		client.useVersion.mockResolvedValue(versionsOf());
		await expect.element(rows.nth(1).getByTestId('version-problem')).toBeVisible();
		await rows.nth(1).getByTestId('use-version').click();
		await expect.element(screen.getByTestId('version-warning')).toMatchTextContent(/name is missing/);
		expect(client.useVersion).not.toHaveBeenCalled();
		await screen.getByTestId('version-anyway').click();
		await expect.poll(() => client.useVersion.mock.calls.length).toBe(1);
	});

	test('one that was off is off again after Undo, and the version before is in use as it was', async () => {
		const { screen, client, rows } = await setup();
		client.useVersion.mockResolvedValueOnce(versionsOf({ current: '1.0.0', pinned: '1.0.0' }));
		await rows.nth(1).getByTestId('use-version').click();
		const [undo, list] = [screen.getByTestId('undo-version').element(), rows.nth(0).element()];
		expect(undo.compareDocumentPosition(list) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
		client.changeSkill.mockResolvedValueOnce(sampleDetail());
		client.useVersion.mockResolvedValueOnce(versionsOf());
		await screen.getByTestId('undo-version').click();
		expect(client.changeSkill).toHaveBeenLastCalledWith('installed/demo@1.0.0', { mode: 'off' });
		expect(client.useVersion).toHaveBeenLastCalledWith('installed/demo', null);
		await expect.element(rows.nth(0).getByTestId('current-version')).toBeVisible();
	});

	test('one that took a place gives it back after Undo; a refusal says why and changes nothing', async () => {
		const current = { version: '1.0.0', id: 'demo', mode: 'auto' as const, installation: older, isEdited: false };
		const replaced = { ...current, id: null, installation: kept };
		const before = versionsOf({ current: '1.0.0', versions: [current, replaced] });
		const after = versionsOf({
			current: '1.0.0',
			versions: [
				{ ...current, id: null },
				{ ...replaced, id: 'demo' }
			]
		});
		const { screen, client, rows, onchange } = await setup(before);
		client.useVersion.mockRejectedValueOnce(new ApiError('unavailable', 'Its files are gone.'));
		await rows.nth(1).getByTestId('use-version').click();
		await expect.element(screen.getByTestId('versions-error')).toMatchTextContent(/files are gone/);
		await expect.element(screen.getByTestId('undo-version')).not.toBeInTheDocument();
		expect(onchange).not.toHaveBeenCalled();
		client.useVersion.mockResolvedValueOnce(after);
		await rows.nth(1).getByTestId('use-version').click();
		await expect
			.element(screen.getByTestId('versions-status'))
			.toMatchTextContent(/Chats now use the version of \w+ \d+, .*\(1\)\.$/);
		await expect.element(rows.nth(0)).toMatchTextContent(/^Version of .*\(2\)\s*Newer/s);
		await expect.element(rows.nth(1)).toMatchTextContent(/^Version of .*\(1\)\s*In use/s);
		expect(client.useVersion).toHaveBeenLastCalledWith('installed/demo', { installationId: 'i0' });
		client.useVersion.mockResolvedValueOnce(before);
		await screen.getByTestId('undo-version').click();
		expect(client.useVersion).toHaveBeenLastCalledWith('installed/demo', { installationId: 'i1' });
		await expect.element(rows.nth(0).getByTestId('current-version')).toBeVisible();
		await expect.element(screen.getByTestId('undo-version')).not.toBeInTheDocument();
	});

	test('each is compared with the one in use, also one that was replaced', async () => {
		const { screen, client, rows } = await setup();
		client.compareVersion.mockResolvedValueOnce([
			{ path: 'a.md', kind: 'changed', diff: '--- a.md\n+++ a.md\n-now\n+then' }
		]);
		await rows.nth(2).getByTestId('compare-version').click();
		expect(client.compareVersion).toHaveBeenLastCalledWith('installed/demo', 'i0');
		await expect.element(rows.nth(2).getByTestId('skill-change')).toMatchTextContent(/then/);
		await expect
			.element(rows.nth(2).getByTestId('compared-sides'))
			.toMatchTextContent(/^Red: only in 1\.1\.0, in use now\. Green: only in 1\.0\.0 of .*, which is older\.$/);
		client.compareVersion.mockResolvedValueOnce([]);
		await rows.nth(1).getByTestId('compare-version').click();
		await expect.element(rows.nth(1)).toMatchTextContent(/same as those in use/);
		await rows.nth(1).getByTestId('compare-version').click();
		await expect.element(screen.getByTestId('version-changes')).not.toBeInTheDocument();
	});

	test('say what each changed, and which has the same files as the one in use', async () => {
		const file = (path: string, sha256: string) => ({ path, bytes: 1, sha256 });
		const installed = (id: string, digest: string, script: string) => ({
			...{ version: '1.0.0', id: id === 'i3' ? 'demo' : null, mode: 'auto' as const, isEdited: false },
			installation: sampleInstalled({ id, digest, files: [file('SKILL.md', 'a'), file('scripts/a.mjs', script)] })
		});
		const copy = { ...installed('i4', 'd3', 'c'), id: null };
		const { rows } = await setup(
			versionsOf({
				current: '1.0.0',
				versions: [copy, installed('i3', 'd3', 'c'), installed('i2', 'd2', 'b')]
			})
		);
		await expect.element(rows.nth(0).getByTestId('same-files')).toHaveTextContent('Same files as the version in use');
		await expect.element(rows.nth(0).getByTestId('version-age')).not.toBeInTheDocument();
		await expect.element(rows.nth(1).getByTestId('changed-files')).toHaveTextContent('1 file changed: scripts/a.mjs');
		await expect.element(rows.nth(2).getByTestId('version-age')).toHaveTextContent('Older');
		await expect.element(rows.nth(2).getByTestId('changed-files')).not.toBeInTheDocument();
	});

	test('one saved from a draft is told beside what it was made from, not beside the one that came between', async () => {
		const file = (sha256: string) => [{ path: 'SKILL.md', bytes: 1, sha256 }];
		const entry = (id: string, sha256: string, base?: string) => ({
			...{ version: '1.0.0', id: id === 'i3' ? 'demo' : null, mode: 'auto' as const, isEdited: false },
			installation: sampleInstalled({
				...{ id, digest: sha256, files: file(sha256) },
				...(base !== undefined && { origin: sampleOrigin({ provider: 'draft', base }) })
			})
		});
		const versions = [entry('i3', 'c', 'i1'), entry('i2', 'c2'), entry('i1', 'a')];
		const { rows } = await setup(versionsOf({ current: '1.0.0', versions }));
		await expect
			.element(rows.nth(0).getByTestId('changed-files'))
			.toMatchTextContent(/^1 file changed since the version of .*: SKILL\.md$/);
	});

	test('the same files again aren’t called newer: they say what they are the same as', async () => {
		const entry = (id: string, digest: string) => ({
			...{ version: '1.0.0', id: id === 'i2' ? 'demo' : null, mode: 'auto' as const, isEdited: false },
			installation: sampleInstalled({ id, digest })
		});
		const { rows } = await setup(
			versionsOf({ current: '1.0.0', versions: [entry('i3', 'a'), entry('i2', 'b'), entry('i1', 'a')] })
		);
		await expect.element(rows.nth(0).getByTestId('same-files')).toMatchTextContent(/^Same files as the version of/);
		await expect.element(rows.nth(0).getByTestId('version-age')).not.toBeInTheDocument();
		await expect.element(rows.nth(2).getByTestId('version-age')).toHaveTextContent('Older');
	});

	test('1.0.0 is shown where the SKILL.md says it', async () => {
		const local = { version: '1.0.0', id: 'demo', mode: 'on' as const, installation: null, isEdited: false };
		const { screen } = await setup(versionsOf({ current: '1.0.0', versions: [{ ...local, statesVersion: true }] }));
		await expect
			.element(screen.getByTestId('versions-hint'))
			.toHaveTextContent('One version, 1.0.0, in the skills folder.');
	});

	test('one saved from a draft says so, and what it was made from is updated by a newer copy', async () => {
		const draft = sampleInstalled({ id: 'i2', digest: 'other', origin: sampleOrigin({ provider: 'draft' }) });
		const saved = { version: '1.0.0', id: 'demo', mode: 'auto' as const, installation: draft, isEdited: false };
		const { rows, screen } = await setup(
			versionsOf({ current: '1.0.0', versions: [saved, { ...saved, id: null, installation: kept }] })
		);
		await expect.element(rows.nth(0).getByTestId('origin')).toHaveTextContent('Saved from a draft');
		await expect.element(screen.getByTestId('no-source')).toMatchTextContent(/came from a zip file/);
	});

	test('E28: one from a zip says where it came from and how it is updated, and offers no check', async () => {
		const uploaded = { version: '1.0.0', id: 'demo', mode: 'auto' as const, installation: kept, isEdited: false };
		const { screen } = await setup(versionsOf({ current: '1.0.0', versions: [uploaded] }));
		await expect
			.element(screen.getByTestId('no-source'))
			.toMatchTextContent(/came from a zip file.*install a newer copy/);
		await expect.element(screen.getByTestId('check-update')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('versions-hint')).toMatchTextContent(/only version so far/);
	});

	test('E28: an update is asked for, fetched and looked at before anything is placed', async () => {
		const { screen, client, onstaged } = await setup();
		client.listOutdated.mockResolvedValueOnce([
			{
				skillId: 'installed/demo',
				name: 'demo',
				version: '1.1.0',
				state: 'outdated',
				message: 'There is a newer commit.'
			}
		]);
		await screen.getByTestId('check-update').click();
		await expect.element(screen.getByTestId('versions-status')).toHaveTextContent('There is a newer commit.');
		await expect.element(screen.getByTestId('fetch-update')).toHaveTextContent('Review update');
		client.stageUpdate.mockResolvedValueOnce(sampleStaged({ id: 'u1' }));
		await screen.getByTestId('fetch-update').click();
		expect(onstaged).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ id: 'u1' }));
	});

	test('of a skill in a folder of its own offer neither going back nor an update', async () => {
		const { screen, rows } = await setup(
			versionsOf({
				versions: [{ version: '1.0.0', id: 'demo', mode: 'on', installation: null, isEdited: false }],
				current: '1.0.0'
			})
		);
		await expect.element(screen.getByTestId('versions-hint')).toHaveTextContent('One version, in the skills folder.');
		await expect.element(rows).not.toBeVisible();
		await expect.element(screen.getByTestId('use-version')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('check-update')).not.toBeInTheDocument();
	});
});

describe('F1: the edits of a skill', () => {
	const edit = {
		id: 'e1',
		editedAt: '2026-01-02T03:04:05Z',
		isReturn: false,
		isDraft: false,
		files: [
			{ path: 'SKILL.md', kind: 'changed' as const },
			{ path: 'a.md', kind: 'added' as const }
		],
		lines: { added: 3, removed: 1 }
	};
	const rendered = async (more: Partial<SkillEdit> = {}) => {
		const client = createFakeRegistry();
		client.listEdits.mockResolvedValueOnce([{ ...edit, ...more }]);
		client.compareEdit.mockResolvedValue([{ path: 'a.md', kind: 'changed', diff: '--- a.md\n+++ a.md\n-old\n+new' }]);
		const onreturned = vi.fn();
		return { client, onreturned, screen: await render(SkillEdits, { client, id: 'demo@1.0.0', onreturned }) };
	};

	test('say before which the skill was broken; going back there is asked about', async () => {
		const { client, screen } = await rendered({ problem: 'name is missing' });
		client.returnToEdit.mockResolvedValue({ skill: 'demo' });
		const rows = screen.getByTestId('skill-edit');
		await expect.element(rows.nth(0)).toMatchTextContent(/Current\s*Broken before this edit/);
		await screen.getByRole('button', { name: /^Go back to before/ }).click();
		await expect
			.element(screen.getByTestId('version-warning'))
			.toMatchTextContent(/What was there before this edit has a problem: name is missing\./);
		await screen.getByRole('button', { name: 'Cancel' }).click();
		await expect.element(screen.getByTestId('version-warning')).not.toBeInTheDocument();
		expect(client.returnToEdit).not.toHaveBeenCalled();
		await screen.getByRole('button', { name: /^Go back to before/ }).click();
		await screen.getByTestId('version-anyway').click();
		await expect.poll(() => client.returnToEdit.mock.calls).toEqual([['demo@1.0.0', 'e1']]);
	});

	test('ask before going back renames the skill', async () => {
		const { client, screen } = await rendered({ name: 'shout-text' });
		client.returnToEdit.mockResolvedValue({ skill: 'shout-text' });
		await screen.getByRole('button', { name: /^Go back to before/ }).click();
		await expect
			.element(screen.getByTestId('version-warning'))
			.toMatchTextContent(/^\s*What was there before this edit is called “shout-text”\. Going back renames the skill/);
		expect(client.returnToEdit).not.toHaveBeenCalled();
		await screen.getByRole('button', { name: 'Go back and rename' }).click();
		await expect.poll(() => client.returnToEdit.mock.calls).toEqual([['demo@1.0.0', 'e1']]);
	});

	test('say what in a SKILL.md changed, where that is known', async () => {
		const parts = ['description', 'instructions'];
		const { screen } = await rendered({ files: [{ path: 'SKILL.md', kind: 'changed', parts }] });
		await expect
			.element(screen.getByTestId('skill-edit').first())
			.toMatchTextContent(/^\s*Changed the description and instructions in SKILL\.md\s/);
	});

	test('name the files, how much changed and when; a new file that is empty has no box', async () => {
		const { client, screen } = await rendered();
		client.compareEdit.mockResolvedValue([{ path: 'b.md', kind: 'added', diff: '--- b.md\n+++ b.md\n' }]);
		await expect
			.element(screen.getByTestId('skill-edit').first())
			.toMatchTextContent(/^\s*Changed SKILL\.md, added a\.md\s*\+3 −1\s*Current\s*Edited ·\s+\w/);
		const exact = new Date(edit.editedAt).toLocaleString();
		await expect.element(screen.getByTitle(exact)).toBeVisible();
		await screen.getByRole('button', { name: /changes: / }).click();
		await expect.element(screen.getByTestId('skill-change')).toMatchTextContent(/b\.md\s*new, empty\s*$/);
		await expect.element(screen.getByRole('region', { name: /^Difference of/ })).not.toBeInTheDocument();
	});

	test('show and hide what each did', async () => {
		const { client, screen } = await rendered();
		const button = screen.getByRole('button', { name: /changes: / });
		await button.click();
		expect(client.compareEdit).toHaveBeenCalledExactlyOnceWith('demo@1.0.0', 'e1');
		await expect.element(screen.getByTestId('skill-change')).toMatchTextContent(/new/);
		await button.click();
		await expect.element(screen.getByTestId('skill-change')).not.toBeInTheDocument();
	});

	test.each([390, 1280])('stay inside their cards at %i pixels, however long a changed line is', async (width) => {
		await page.viewport(width, 800);
		const { screen, client } = await rendered();
		const line = `+ ${'word '.repeat(80)}`;
		client.listEdits.mockResolvedValueOnce([
			{ ...edit, id: 'e2' },
			{ ...edit, line }
		]);
		await screen.rerender({ digest: 'now' });
		await expect.element(screen.getByTestId('edit-line')).toBeVisible();
		const { scrollWidth, clientWidth } = document.documentElement;
		expect(scrollWidth).toBeLessThanOrEqual(clientWidth);
		for (const row of screen.getByTestId('skill-edit').elements()) {
			expect(row.scrollWidth).toBeLessThanOrEqual(row.clientWidth);
		}
		for (const button of screen.getByRole('button', { name: /^Go back to before/ }).elements()) {
			expect(button.getBoundingClientRect().right).toBeLessThan(width);
		}
	});

	test('are the newest ten at first, then all; without any, a page may show nothing', async () => {
		const client = createFakeRegistry();
		client.listEdits.mockResolvedValueOnce(Array.from({ length: 12 }, (_, index) => ({ ...edit, id: `e${index}` })));
		const screen = await render(SkillEdits, { client, id: 'demo@1.0.0', onreturned: vi.fn() });
		await expect.element(screen.getByTestId('all-edits')).toHaveTextContent('Show all 12');
		expect(screen.getByTestId('skill-edit').elements()).toHaveLength(10);
		await screen.getByTestId('all-edits').click();
		await expect.poll(() => screen.getByTestId('skill-edit').elements().length).toBe(12);
		await expect.element(screen.getByTestId('all-edits')).not.toBeInTheDocument();
		client.listEdits.mockResolvedValueOnce([]);
		const empty = await render(SkillEdits, { client, id: 'demo@2.0.0', isShownEmpty: false, onreturned: vi.fn() });
		await expect.element(empty.getByTestId('skill-edits').last()).not.toBeVisible();
	});

	test('tell rows apart by their first line, before which edit a return went, and a save that was undone', async () => {
		const { screen, client } = await rendered();
		const made = (id: string, more: Partial<SkillEdit>) => ({ ...edit, id, ...more });
		client.listEdits.mockResolvedValueOnce([
			made('e10', { isReturn: true, backTo: 'e9' }),
			made('e9', { isReturn: true, backTo: 'e8' }),
			made('e8', { isReturn: true, backTo: 'e7' }),
			made('e7', { isReturn: true, backTo: 'e1' }),
			made('e6', { isReturn: true }),
			made('e5', { isUndo: true }),
			made('e4', { isUndo: true }),
			made('e3', { isUndo: true }),
			made('e2', { line: '+ echo 2' }),
			made('e1', {})
		]);
		await screen.rerender({ digest: 'now' });
		const rows = screen.getByTestId('skill-edit');
		await expect.element(rows.nth(0)).toMatchTextContent(/Undid going back ·/);
		await expect.element(rows.nth(1)).toMatchTextContent(/Redid going back ·/);
		await expect.element(rows.nth(2)).toMatchTextContent(/Undid going back ·/);
		await expect.element(rows.nth(3)).toMatchTextContent(/Went back to before “Changed SKILL.md, added a.md” · /);
		await expect.element(rows.nth(4)).toMatchTextContent(/Went back to an earlier state ·/);
		await expect.element(rows.nth(5)).toMatchTextContent(/Undid the edit ·/);
		await expect.element(rows.nth(6)).toMatchTextContent(/Redid the edit ·/);
		await expect.element(rows.nth(7)).toMatchTextContent(/Undid the edit ·/);
		await expect.element(rows.nth(8).getByTestId('edit-line')).toHaveTextContent('+ echo 2');
		await expect.element(rows.nth(9).getByTestId('edit-line')).not.toBeInTheDocument();
	});

	test('have seconds in their time where two are of the same minute', async () => {
		const { screen, client } = await rendered();
		const [minute, before] = [new Date(), new Date()];
		minute.setSeconds(0, 0);
		before.setSeconds(-30, 0);
		const second = new Date(minute.getTime() + 7000);
		client.listEdits.mockResolvedValueOnce(
			[second, minute, before].map((at, index) => ({ ...edit, id: `e${index}`, editedAt: at.toISOString() }))
		);
		await screen.rerender({ digest: 'now' });
		const times = screen.getByTestId('skill-edit').getByRole('time');
		await expect.element(times.nth(0)).toMatchTextContent(/:\d\d:07/);
		await expect.element(times.nth(1)).toMatchTextContent(/:\d\d:00/);
		await expect.element(times.nth(2)).toMatchTextContent(/^[^:]*:\d\d\s*[AP]?M?$/);
	});

	test('lead back to before them, and the list is read again: going back is an edit, too, to undo and redo', async () => {
		const { client, onreturned, screen } = await rendered();
		client.returnToEdit.mockResolvedValue({ skill: 'renamed' });
		client.listEdits.mockResolvedValueOnce([{ ...edit, id: 'e2', isReturn: true }, edit]);
		await screen.getByRole('button', { name: /^Go back to before/ }).click();
		await expect
			.element(screen.getByTestId('edit-returned'))
			.toMatchTextContent(/^\s*Went back to before “Changed SKILL.md, added a.md”\.\s*Undo/);
		expect(onreturned).toHaveBeenCalledExactlyOnceWith('renamed');
		await expect.element(screen.getByText(/Went back to an earlier state · /)).toBeVisible();
		const undone = { ...edit, id: 'e3', isReturn: true };
		client.listEdits.mockResolvedValueOnce([undone, { ...edit, id: 'e2', isReturn: true }, edit]);
		await screen.getByRole('button', { name: 'Undo' }).click();
		expect(client.returnToEdit).toHaveBeenLastCalledWith('demo@1.0.0', 'e2');
		await expect.element(screen.getByTestId('edit-returned')).toMatchTextContent(/Undone\.\s*Redo/);
		client.listEdits.mockResolvedValueOnce([{ ...undone, id: 'e4' }, undone, edit]);
		await screen.getByRole('button', { name: 'Redo' }).click();
		expect(client.returnToEdit).toHaveBeenLastCalledWith('demo@1.0.0', 'e3');
		await expect
			.element(screen.getByTestId('edit-returned'))
			.toMatchTextContent(/Went back to before “Changed .*”\.\s*Undo/);
	});

	test('are those of the files that are in use: once they’re others, the list is read again', async () => {
		const { client, screen } = await rendered();
		await expect.element(screen.getByTestId('skill-edit').first()).toBeVisible();
		client.listEdits.mockResolvedValueOnce([]);
		await screen.rerender({ digest: 'of another version' });
		await expect.element(screen.getByTestId('skill-edits')).toMatchTextContent(/No edits of this version yet/);
		await expect.element(screen.getByTestId('edits-elsewhere')).not.toBeInTheDocument();
		await screen.rerender({ hasOtherVersions: true });
		await expect.element(screen.getByTestId('edits-elsewhere')).toMatchTextContent(/stay with it/);
	});

	test('say why there is no way back', async () => {
		const { client, onreturned, screen } = await rendered();
		client.returnToEdit.mockRejectedValue(new ApiError('conflict', '“a.md” is a link.'));
		await screen.getByRole('button', { name: /^Go back to before/ }).click();
		await expect.element(screen.getByTestId('edits-error')).toMatchTextContent(/is a link/);
		expect(onreturned).not.toHaveBeenCalled();
	});
});
