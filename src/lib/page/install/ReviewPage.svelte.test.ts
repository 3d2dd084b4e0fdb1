import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { createFakeRegistry } from '../../../../tests/support/fake-registry.ts';
import {
	sampleDetail,
	sampleInstalled,
	sampleOrigin,
	sampleStaged,
	sampleStagedSkill
} from '../../../../tests/support/sample-skills.ts';
import { ApiError } from '../request.ts';
import type { StagedInstall, StagedSkill } from '../../shared/install.ts';
import type { SkillDetail, SkillFinding } from '../../shared/skills.ts';
import ReviewPage from './ReviewPage.svelte';
import { eventually } from '../../../../tests/support/eventually.ts';

const sameVersion = {
	skillId: 'installed/demo',
	version: '1.0.0',
	isSameVersion: true,
	isSameOrigin: false,
	digest: 'looked-at',
	isEdited: false
};
const diff = '--- scripts/x.sh\n+++ scripts/x.sh\n@@ -1 +1 @@\n-echo 1\n+echo 2\n';

const RISK: SkillFinding = {
	...{ severity: 'danger', kind: 'pipe-to-shell', message: 'Runs what it downloads.' },
	...{ file: 'scripts/x.sh', line: 1, excerpt: 'curl x | sh' }
};
const withScript = (more: Partial<StagedSkill> = {}) => sampleStagedSkill({ scripts: ['scripts/x.sh'], ...more });

async function setup(staged: StagedInstall = sampleStaged(), found: Partial<SkillDetail> = {}) {
	const client = createFakeRegistry();
	client.getStaged.mockResolvedValue(staged);
	client.getSkill.mockResolvedValue(sampleDetail(found));
	client.confirmStaged.mockResolvedValue({ installed: [sampleInstalled()], skipped: [] });
	const oninstalled = vi.fn();
	const ondiscarded = vi.fn();
	const screen = await render(ReviewPage, { client, id: 's1', oninstalled, ondiscarded });
	return { screen, client, oninstalled, ondiscarded };
}

describe('E20: what was fetched, before it is installed', () => {
	test('shows origin, files, scripts, findings, notes and what others say, as text without what would forge it', async () => {
		const { screen } = await setup(
			sampleStaged({
				notes: ['A link was left out: a\u202eb'],
				skills: [
					sampleStagedSkill({
						origin: sampleOrigin({ provider: 'github', url: 'javascript:alert(1)', commit: 'abcdef0123456789' }),
						files: [{ path: 'scripts/x.sh', bytes: 5, text: '<b>x</b>' }],
						scripts: ['scripts/x.sh'],
						findings: [RISK],
						audit: [{ by: 'Socket', risk: 'low' }]
					})
				]
			})
		);
		const skill = screen.getByTestId('staged-skill');
		await expect.element(skill).toMatchTextContent(/From GitHub.*commit abcdef012345/s);
		await expect.element(screen.getByTestId('staged-note')).toHaveTextContent('A link was left out: a⟨U+202E⟩b');
		await expect.element(skill.getByTestId('audit')).toHaveTextContent('Socket: low');
		await expect.element(skill.getByTestId('finding')).toMatchTextContent(/Runs what it downloads/);
		await expect.element(skill.getByTestId('verdict')).toHaveTextContent('1 risk: runs what it downloads.');
		await expect.element(screen.getByTestId('confirm-install')).not.toHaveClass('primary');
		await skill.getByTestId('skill-file').getByText('scripts/x.sh').click();
		await expect.element(skill.getByText('<b>x</b>')).toBeVisible();
		expect(skill.element().querySelector('a')).toBeNull();
	});

	test('D46, F3: once installed, what it still needs is listed there, each with what puts it right', async () => {
		const skill = sampleStagedSkill({
			scripts: ['scripts/x.py'],
			needs: {
				binaries: [],
				hosts: [{ name: 'api.a.io', isDeclared: true, from: ['metadata.network'], isGranted: false }],
				variables: [
					{ name: 'A_KEY', isDeclared: true, isOptional: false, from: ['metadata.env'], isSet: false, setBy: null },
					{ name: 'B_KEY', isDeclared: true, isOptional: true, from: ['metadata.env'], isSet: false, setBy: null }
				],
				skills: [{ name: 'not-here', isDeclared: true, from: ['metadata.requires'], state: 'missing' }],
				packages: [
					{
						...{ ecosystem: 'python', name: 'lxml', requirement: 'lxml', isDeclared: true },
						...{ from: ['requirements.txt'], isFound: false }
					}
				]
			}
		});
		const { screen, client } = await setup(sampleStaged({ skills: [skill] }));
		client.getSkill.mockRejectedValue(new ApiError('unavailable', 'Busy.'));
		await screen.getByTestId('confirm-install').click();
		const open = screen.getByTestId('open-needs');
		await expect.element(open).toMatchTextContent(/lxml\s*not installed.*Hosts it wants to reach: api\.a\.io\./s);
		await expect
			.element(open.getByRole('link', { name: 'Allow hosts' }))
			.toHaveAttribute('href', '/skills/installed/demo@1.0.0');
		await expect.element(open.getByRole('link', { name: 'Find not-here in catalogs' })).toBeVisible();
		await expect.element(open.getByLabelText('A_KEY', { exact: true })).toBeVisible();
		expect(open.element().textContent).not.toContain('B_KEY');
		const after = sampleDetail();
		client.getSkill.mockResolvedValue({
			...after,
			needs: { ...after.needs, packages: (skill.needs?.packages ?? []).map((each) => ({ ...each, isFound: true })) }
		});
		await screen.getByRole('button', { name: 'Install packages…' }).click();
		await screen.getByTestId('install-packages').click();
		await expect.element(screen.getByTestId('packages-installed')).toBeVisible();
		expect(client.installPackages).toHaveBeenCalledExactlyOnceWith(sampleInstalled().skillId, 'd1');
		await expect.element(screen.getByTestId('look-up-packages')).not.toBeInTheDocument();
	});

	test('lands switched on and everybody’s, asking before each script; then it is tried in a chat', async () => {
		const { screen, client, oninstalled } = await setup(sampleStaged({ skills: [withScript()] }));
		await screen.getByTestId('confirm-install').click();
		expect(client.confirmStaged).toHaveBeenCalledExactlyOnceWith('s1', {
			...{ paths: ['demo'], conflict: 'fail', apiKeyId: 'system', enabled: true }
		});
		expect(client.changeSkill).not.toHaveBeenCalled();
		await expect.element(screen.getByTestId('installed-link')).toHaveAttribute('href', '/skills/installed/demo@1.0.0');
		await expect
			.element(screen.getByTestId('install-result'))
			.toMatchTextContent(/^demo is on\..*Scripts ask each time/s);
		await expect.element(screen.getByTestId('try-installed')).toHaveAttribute('href', '/?example=demo');
		await expect.element(screen.getByTestId('try-installed')).toHaveClass('primary');
		expect(oninstalled).toHaveBeenCalledOnce();
	});

	test('F4: is installed and trusted in one step as it was looked at; what is refused is said, and it asks', async () => {
		const { screen, client } = await setup(sampleStaged({ skills: [withScript()] }));
		await expect.element(screen.getByTestId('install-and-trust')).not.toHaveClass('primary');
		client.changeSkill.mockResolvedValueOnce(sampleDetail());
		await screen.getByTestId('install-and-trust').click();
		expect(client.changeSkill).toHaveBeenLastCalledWith('installed/demo@1.0.0', {
			trust: { digest: sampleInstalled().digest, isTrusted: true }
		});
		await expect.element(screen.getByTestId('install-result')).toMatchTextContent(/Trusted/);
		await screen.unmount();
		const second = await setup(sampleStaged({ skills: [withScript()] }));
		second.client.changeSkill.mockRejectedValueOnce(new ApiError('conflict', 'The files have changed.'));
		await second.screen.getByTestId('install-and-trust').click();
		await expect.element(second.screen.getByTestId('trust-error')).toMatchTextContent(/have changed/);
		await expect.element(second.screen.getByTestId('install-result')).toMatchTextContent(/Scripts ask each time/);
	});

	test('F4: one with risks cannot be trusted along the way, is not ticked beside others, and says them to the end', async () => {
		const risky = withScript({ path: 'risky', name: 'risky', digest: 'c'.repeat(64), findings: [RISK] });
		const { screen, client } = await setup(sampleStaged({ skills: [withScript(), risky] }));
		await expect.element(screen.getByRole('checkbox', { name: 'Install demo' })).toBeChecked();
		await expect.element(screen.getByRole('checkbox', { name: 'Install risky' })).not.toBeChecked();
		await expect.element(screen.getByTestId('risk-count')).toHaveTextContent('1 risk');
		await expect.element(screen.getByTestId('install-and-trust')).toBeVisible();
		await expect.element(screen.getByTestId('confirm-install')).toHaveTextContent('Install demo');
		await screen.getByRole('checkbox', { name: 'Install risky' }).click();
		await expect.element(screen.getByTestId('install-and-trust')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('trust-later')).toBeVisible();
		const installed = sampleInstalled({ name: 'risky', skillId: 'installed/risky', digest: risky.digest });
		client.confirmStaged.mockResolvedValue({ installed: [sampleInstalled(), { ...installed, id: 'i2' }], skipped: [] });
		await screen.getByTestId('confirm-install').click();
		await expect.element(screen.getByTestId('installed-risks')).toHaveTextContent('1 risk');
		await expect
			.element(screen.getByTestId('installed-risks'))
			.toHaveAttribute('href', '/skills/installed/risky@1.0.0#trust');
	});

	test('what is there already is not ticked, and what was left out is said at the end', async () => {
		const there = { ...withScript(), path: 'there', name: 'there', digest: 'd'.repeat(64) };
		const { screen, client } = await setup(
			sampleStaged({ skills: [withScript(), { ...there, installed: sameVersion, changes: null }] })
		);
		await expect.element(screen.getByRole('checkbox', { name: 'Install there' })).not.toBeChecked();
		await expect.element(screen.getByTestId('conflict-choice')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('installed-already').getByRole('link')).toBeVisible();
		await screen.getByTestId('confirm-install').click();
		expect(client.confirmStaged).toHaveBeenCalledExactlyOnceWith('s1', expect.objectContaining({ paths: ['demo'] }));
		await expect.element(screen.getByTestId('skipped')).toHaveTextContent('Not installed: there.');
	});

	test('F5: what other servers don’t have yet is said at the end', async () => {
		const { screen, client } = await setup();
		client.confirmStaged.mockResolvedValue({ installed: [sampleInstalled()], skipped: [], hint: 'Here only so far.' });
		await screen.getByTestId('confirm-install').click();
		await expect.element(screen.getByTestId('unkept')).toHaveTextContent('Here only so far.');
	});

	test('shows what its tools take before anybody trusts them', async () => {
		const properties = { text: { type: 'string', description: 'What to count' }, limit: { type: 'integer' } };
		const tool = sampleStagedSkill({
			...{ tools: ['count'], toolDescriptions: { count: 'Counts words.' } },
			inputSchemas: { count: { type: 'object', properties, required: ['text'] } }
		});
		const { screen } = await setup(sampleStaged({ skills: [tool] }));
		await expect
			.element(screen.getByTestId('ability'))
			.toMatchTextContent(/count Counts words\. text What to count string, required\s*limit integer/);
	});

	test('names the scripts that are called, not what they import', async () => {
		const staged = sampleStagedSkill({ scripts: ['lib/table.mjs', 'scripts/chart.mjs'] });
		const { screen } = await setup(sampleStaged({ skills: [staged] }));
		await expect.element(screen.getByTestId('ability')).toMatchTextContent(/^\s*Scripts\s*scripts\/chart\.mjs\s*$/);
	});

	test('is installed in part; what is broken cannot be chosen and says why', async () => {
		const broken = sampleStagedSkill({ path: 'torn', name: 'torn', version: null, status: 'broken' });
		const problem = { severity: 'error', field: 'description', message: 'Is missing.' } as const;
		const { screen, client } = await setup(
			sampleStaged({
				skills: [
					sampleStagedSkill(),
					sampleStagedSkill({ path: 'other', name: 'other' }),
					{ ...broken, diagnostics: [problem] }
				]
			})
		);
		await expect.element(screen.getByTestId('staged-summary')).toMatchTextContent(/2 of 3 skills chosen/);
		await expect.element(screen.getByRole('checkbox', { name: 'Install torn' })).toBeDisabled();
		await expect.element(screen.getByTestId('diagnostic')).toMatchTextContent(/Is missing/);
		await screen.getByRole('checkbox', { name: 'Install demo' }).click();
		await screen.getByText('Options').click();
		await screen.getByTestId('stays-off').click();
		await screen.getByLabelText('Available to').fill(' key-7 ');
		await screen.getByTestId('confirm-install').click();
		expect(client.confirmStaged).toHaveBeenCalledExactlyOnceWith('s1', {
			...{ paths: ['other'], conflict: 'fail', apiKeyId: 'key-7', enabled: false }
		});
		await expect.element(screen.getByTestId('install-result')).toMatchTextContent(/^Installed\. Turn it on/);
		await expect.element(screen.getByTestId('try-installed')).not.toBeInTheDocument();
	});

	test('F3: what a chosen skill names is offered when it isn’t ticked, and said when it is nowhere', async () => {
		const need = { isDeclared: true, from: ['metadata.requires'] };
		const needs = {
			...{ binaries: [], packages: [], hosts: [], variables: [] },
			skills: [
				{ ...need, name: 'other', state: 'beside' as const },
				{ ...need, name: 'not-here', state: 'missing' as const }
			]
		};
		const circle = { ...needs, skills: [{ ...need, name: 'demo', state: 'beside' as const }] };
		const { screen, client } = await setup(
			sampleStaged({
				skills: [
					sampleStagedSkill({ needs }),
					sampleStagedSkill({ path: 'other', name: 'other', needs: circle, findings: [RISK] })
				]
			})
		);
		const lacking = screen.getByTestId('also-needs');
		await expect.element(lacking.first()).toMatchTextContent(/demo also needs other\./);
		await expect.element(lacking.last()).toMatchTextContent(/not-here, which is neither here nor in your library/);
		await expect
			.element(lacking.last().getByRole('link'))
			.toHaveAttribute('href', '/skills/install?find=not-here#catalogs');
		await screen.getByRole('button', { name: 'Add other' }).click();
		await expect.element(screen.getByRole('checkbox', { name: 'Install other' })).toBeChecked();
		await expect.element(lacking).toHaveLength(1);
		await screen.getByTestId('confirm-install').click();
		expect(client.confirmStaged.mock.calls[0]?.[1]).toMatchObject({ paths: ['demo', 'other'] });
	});

	test('F4: the button that installs is in sight however much there is to read', async () => {
		const files = Array.from({ length: 8 }, (_, at) => ({ path: `${at}.md`, bytes: 9, text: 'text' }));
		const skills = Array.from({ length: 6 }, (_, at) => sampleStagedSkill({ path: `${at}`, name: `s-${at}`, files }));
		const { screen } = await setup(sampleStaged({ skills }));
		const { container } = screen;
		container.style.cssText = 'height: 400px; overflow-y: auto';
		await expect.element(screen.getByTestId('confirm-install')).toBeVisible();
		expect(container.scrollHeight).toBeGreaterThan(800);
		const bottomOf = (element: Element) => element.getBoundingClientRect().bottom;
		expect(bottomOf(screen.getByTestId('confirm-install').element())).toBeLessThan(bottomOf(container));
	});

	test('F4: so it is where one is there already, and what it does is said beside it', async () => {
		const changes = [{ path: 'scripts/x.sh', kind: 'changed', diff: `${diff}\n${'+line\n'.repeat(80)}` } as const];
		const { screen } = await setup(sampleStaged({ skills: [withScript({ installed: sameVersion, changes })] }));
		screen.container.style.cssText = 'height: 500px; overflow-y: auto';
		const replace = screen.getByRole('button', { name: 'Replace', exact: true });
		await expect.element(replace).toBeInViewport();
		await expect.element(replace).toHaveClass('primary');
		await expect.element(screen.getByTestId('conflict-overwrite')).toBeInViewport();
		await expect.element(screen.getByTestId('install-and-trust')).toHaveTextContent('Replace and trust');
		await expect
			.element(screen.getByTestId('confirm-form'))
			.toMatchTextContent(/Replace: scripts ask before each run\. Replace and trust: they run without asking/);
	});

	test('with nothing chosen cannot be installed', async () => {
		const { screen } = await setup();
		// The only one is what is to be installed: there is nothing to tick.
		await expect.element(screen.getByTestId('confirm-install')).toBeEnabled();
		await expect.element(screen.getByRole('checkbox')).not.toBeInTheDocument();
		await screen.unmount();
		const other = sampleStagedSkill({ path: 'other', name: 'other' });
		const { screen: both } = await setup(sampleStaged({ skills: [sampleStagedSkill(), other] }));
		await both.getByRole('checkbox', { name: 'Install demo' }).click();
		await both.getByRole('checkbox', { name: 'Install other' }).click();
		await expect.element(both.getByTestId('confirm-install')).toBeDisabled();
	});

	test('that is there in the same version shows what differs and replaces it at a click, with Undo', async () => {
		const changes = [{ path: 'scripts/x.sh', kind: 'changed', diff } as const];
		const { screen, client, oninstalled } = await setup(
			sampleStaged({ skills: [withScript({ installed: sameVersion, changes })] })
		);
		await expect.element(screen.getByTestId('installed-already')).toMatchTextContent(/check that it’s the same skill/);
		await expect.element(screen.getByText('+echo 2')).toBeVisible();
		await expect.element(screen.getByTestId('conflict-overwrite')).toBeChecked();
		await screen.getByRole('button', { name: 'Replace', exact: true }).click();
		expect(client.confirmStaged.mock.calls[0]?.[1]).toMatchObject({ conflict: 'overwrite' });
		client.rollBack.mockRejectedValueOnce(new ApiError('unavailable', 'Busy.'));
		await screen.getByTestId('undo-replace').click();
		await expect.element(screen.getByTestId('trust-error')).toMatchTextContent(/Busy/);
		client.rollBack.mockResolvedValueOnce({ current: '1.0.0', pinned: null, versions: [] });
		await screen.getByTestId('undo-replace').click();
		expect(client.rollBack).toHaveBeenLastCalledWith('installed/demo');
		await expect.element(screen.getByTestId('replaced')).toMatchTextContent(/as it was before/);
		await expect.element(screen.getByTestId('undo-replace')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('install-result')).not.toMatchTextContent(/is on|Scripts ask/);
		expect(oninstalled.mock.calls).toEqual([['Done'], ['Undone']]);
	});

	test('that was edited since it was installed says what becomes of the edits', async () => {
		const changes = [{ path: 'scripts/x.sh', kind: 'changed', diff } as const];
		const edited = { ...sameVersion, isEdited: true };
		const { screen } = await setup(sampleStaged({ skills: [sampleStagedSkill({ installed: edited, changes })] }));
		await expect
			.element(screen.getByTestId('installed-already'))
			.toMatchTextContent(/edited since.*kept as an earlier/s);
		await expect.element(screen.getByTestId('installed-already')).toHaveClass('bg-warn-tint');
		await screen.unmount();
		const older = { ...edited, isSameVersion: false };
		const beside = await setup(sampleStaged({ skills: [sampleStagedSkill({ installed: older, changes })] }));
		await expect
			.element(beside.screen.getByTestId('installed-already'))
			.toMatchTextContent(/added beside it, without the edits/);
	});

	test('of another place or beside others asks whether it replaces the one of its name', async () => {
		const installed = sameVersion;
		const origin = sampleOrigin({ provider: 'github', source: { type: 'github', repository: 'acme/tools' } });
		const { screen } = await setup(sampleStaged({ skills: [sampleStagedSkill({ installed, changes: [], origin })] }));
		await expect.element(screen.getByTestId('conflict-choice')).toBeVisible();
		await expect.element(screen.getByTestId('confirm-install')).toBeDisabled();
		await screen.unmount();
		const other = sampleStagedSkill({ path: 'other', name: 'other' });
		const two = await setup(sampleStaged({ skills: [sampleStagedSkill({ installed, changes: [] }), other] }));
		await expect.element(two.screen.getByTestId('conflict-choice')).toBeVisible();
		await expect.element(two.screen.getByTestId('confirm-install')).toBeDisabled();
		await two.screen.getByTestId('to-choice').click();
		await expect.element(two.screen.getByTestId('conflict-overwrite')).toHaveFocus();
	});

	test('whose installed one is edited meanwhile isn’t replaced: what changes now is shown, and then it can be', async () => {
		const changes = [{ path: 'scripts/x.sh', kind: 'changed', diff } as const];
		const shown = sampleStagedSkill({ installed: sameVersion, changes });
		const { screen, client } = await setup(sampleStaged({ skills: [shown] }));
		const mine = {
			path: 'mine.md',
			kind: 'removed',
			diff: '--- mine.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-My words\n'
		} as const;
		const now = { ...shown, installed: { ...sameVersion, digest: 'edited' }, changes: [...changes, mine] };
		client.getStaged.mockResolvedValue(sampleStaged({ skills: [now] }));
		client.confirmStaged.mockRejectedValueOnce(new ApiError('conflict', '“demo” was changed after you opened this.'));
		await screen.getByTestId('conflict-overwrite').click();
		await screen.getByTestId('confirm-install').click();
		expect(client.confirmStaged.mock.calls[0]?.[1]).toMatchObject({ compared: { [shown.path]: 'looked-at' } });
		await expect.element(screen.getByText('-My words')).toBeVisible();
		await expect.element(screen.getByTestId('confirm-error')).toMatchTextContent(/was changed after/);
		await screen.getByTestId('confirm-install').click();
		expect(client.confirmStaged.mock.calls[1]?.[1]).toMatchObject({ compared: { [shown.path]: 'edited' } });
		await expect.element(screen.getByTestId('install-result')).toBeVisible();
	});

	test('A38: beside a pinned version says that chats still use that one, and offers the new one', async () => {
		const older = { ...sameVersion, version: '0.9.0', isSameVersion: false };
		const { screen, client } = await setup(sampleStaged({ skills: [sampleStagedSkill({ installed: older })] }));
		client.getVersions.mockResolvedValue({ current: '0.9.0', pinned: '0.9.0', versions: [] });
		await screen.getByRole('checkbox', { name: 'Install demo' }).click();
		await screen.getByTestId('confirm-install').click();
		const note = screen.getByTestId('other-in-use');
		await expect.element(note).toMatchTextContent(/Chats still use 0\.9\.0, which is pinned\./);
		client.useVersion.mockResolvedValueOnce({ current: '1.0.0', pinned: null, versions: [] });
		await screen.getByTestId('use-installed').click();
		expect(client.useVersion).toHaveBeenLastCalledWith('installed/demo', { installationId: sampleInstalled().id });
		await expect.element(note).toMatchTextContent(/Chats now use 1\.0\.0\./);
		await expect.element(screen.getByTestId('use-installed')).not.toBeInTheDocument();
	});

	test('that is there with the same files and off is turned on here', async () => {
		const skill = sampleStagedSkill({ installed: sameVersion, changes: null });
		const { screen, client } = await setup(sampleStaged({ skills: [skill] }), { mode: 'off' });
		const note = screen.getByTestId('installed-already');
		await expect.element(note).toMatchTextContent(/You already have this skill, with the same files\.\s+It’s off/);
		client.changeSkill.mockResolvedValueOnce(sampleDetail({ mode: 'auto' }));
		await screen.getByTestId('turn-on-there').click();
		expect(client.changeSkill).toHaveBeenCalledWith(sameVersion.skillId, { mode: 'auto' });
		await expect.element(screen.getByTestId('try-there')).toBeVisible();
		await expect.element(note).toMatchTextContent(/There’s nothing to install/);
	});

	test('says what was installed does, and asks its example with one click', async () => {
		const example = { title: 'Two', prompt: 'How many words?', files: ['a.txt'] };
		const skill = withScript({ description: 'Counts words. Use when asked.' });
		const { screen } = await setup(sampleStaged({ skills: [skill] }), { example });
		await screen.getByTestId('confirm-install').click();
		await expect.element(screen.getByTestId('installed-about')).toHaveTextContent('Counts words.');
		const ask = screen.getByTestId('try-installed');
		await expect.element(ask).toHaveAttribute('href', '/?example=demo');
		await expect.element(ask).toMatchTextContent(/“How many words\?”\s*with a\.txt/);
	});

	test('that is there with the same files leads to it instead of asking', async () => {
		const skill = sampleStagedSkill({ installed: sameVersion, changes: null });
		const { screen } = await setup(sampleStaged({ skills: [skill] }));
		await expect.element(screen.getByTestId('try-there')).toHaveAttribute('href', '/?example=demo');
		await expect
			.element(screen.getByTestId('glance'))
			.toMatchTextContent(/^\s*No risks found\.\s*Instructions only: it runs nothing\.\s*$/);
		await expect.element(screen.getByTestId('confirm-install')).not.toBeVisible();
	});

	test('F4: what it runs, reaches and needs is said in a line each, and the rest is folded', async () => {
		const needs = {
			...{ packages: [], skills: [] },
			binaries: [{ name: 'ffmpeg', isDeclared: true, isFound: false, from: ['compatibility'] }],
			hosts: [{ name: 'api.a.io', isDeclared: true, from: ['metadata.network'], isGranted: false }],
			variables: [
				{ name: 'A_KEY', isDeclared: true, isOptional: false, from: ['metadata.env'], isSet: false, setBy: null }
			]
		};
		const warned = { ...RISK, severity: 'warning' as const };
		const { screen } = await setup(sampleStaged({ skills: [withScript({ needs, findings: [warned] })] }));
		await expect
			.element(screen.getByTestId('glance'))
			.toMatchTextContent(
				/No serious risks found\..*Runs, if you allow it: scripts\/x\.sh.*reach api\.a\.io.*from you A_KEY.*here yet: ffmpeg/s
			);
		await expect.element(screen.getByTestId('finding')).not.toBeVisible();
		await screen.getByText(/^Security check/).click();
		await expect.element(screen.getByTestId('finding')).toBeVisible();
	});

	test('that came beside another one meanwhile asks then, and keeps what was said before', async () => {
		const { screen, client } = await setup();
		await screen.getByText('Options').click();
		await screen.getByTestId('stays-off').click();
		client.confirmStaged.mockRejectedValueOnce(new ApiError('conflict', '“demo” 1.0.0 is already installed.'));
		await screen.getByTestId('confirm-install').click();
		await expect.element(screen.getByTestId('confirm-error')).toMatchTextContent(/is already installed/);
		await screen.getByTestId('conflict-rename').click();
		await screen.getByTestId('confirm-install').click();
		expect(client.confirmStaged.mock.calls[1]?.[1]).toMatchObject({ conflict: 'rename', enabled: false });
	});

	test('kept beside the one that was there says so, and how its scripts run', async () => {
		const { screen, client } = await setup(
			sampleStaged({ skills: [withScript({ installed: sameVersion, changes: [] })] })
		);
		client.confirmStaged.mockResolvedValue({
			installed: [sampleInstalled({ name: 'demo-2', skillId: 'installed/demo-2', digest: 'e'.repeat(64) })],
			skipped: []
		});
		await screen.getByTestId('conflict-rename').click();
		await screen.getByTestId('confirm-install').click();
		await expect
			.element(screen.getByTestId('kept-both'))
			.toHaveTextContent('Both are kept: the one you had is still demo, the new one is demo-2. Chats can use either.');
		await expect.element(screen.getByTestId('installed-skill')).toMatchTextContent(/Scripts ask each time/);
		await expect.element(screen.getByTestId('skipped')).not.toBeInTheDocument();
	});

	test('is discarded, also when it is gone already', async () => {
		const { screen, client, ondiscarded } = await setup();
		client.discardStaged.mockRejectedValueOnce(new ApiError('unavailable', 'The disk is full.'));
		await screen.getByTestId('discard-install').click();
		await expect.element(screen.getByTestId('confirm-error')).toMatchTextContent(/The disk is full/);
		expect(ondiscarded).not.toHaveBeenCalled();
		client.discardStaged.mockRejectedValueOnce(new ApiError('not_found', 'Gone.'));
		await screen.getByTestId('discard-install').click();
		await eventually(() => expect(ondiscarded).toHaveBeenCalledOnce());
		expect(client.confirmStaged).not.toHaveBeenCalled();
	});

	test('that has waited too long says so and leads back', async () => {
		const client = createFakeRegistry();
		const screen = await render(ReviewPage, { client, id: 's1', ondiscarded: vi.fn() });
		await expect.element(screen.getByTestId('staged-error')).toMatchTextContent(/This download is gone/);
		await expect
			.element(screen.getByRole('link', { name: 'Install skills' }))
			.toHaveAttribute('href', '/skills/install');
	});

	test('fits into 390 pixels', async () => {
		const frame = document.createElement('div');
		frame.style.width = '390px';
		document.body.append(frame);
		const long = 'x'.repeat(300);
		const client = createFakeRegistry();
		const installed = { ...sameVersion, version: long };
		client.getStaged.mockResolvedValue(
			sampleStaged({
				notes: [long],
				skills: [sampleStagedSkill({ name: long, description: long, version: long, installed, scripts: [long] })]
			})
		);
		const screen = await render(ReviewPage, { client, id: 's1', ondiscarded: vi.fn() }, { baseElement: frame });
		await expect.element(screen.getByTestId('confirm-form')).toBeVisible();
		expect(frame.scrollWidth).toBeLessThanOrEqual(390);
		frame.remove();
	});
});
