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
import type { StagedInstall } from '../../shared/install.ts';
import ReviewPage from './ReviewPage.svelte';
import { eventually } from '../../../../tests/support/eventually.ts';

const sameVersion = { skillId: 'installed/demo', version: '1.0.0', isSameVersion: true, isSameOrigin: false };
const diff = '--- scripts/x.sh\n+++ scripts/x.sh\n@@ -1 +1 @@\n-echo 1\n+echo 2\n';

async function setup(staged: StagedInstall = sampleStaged()) {
	const client = createFakeRegistry();
	client.getStaged.mockResolvedValue(staged);
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
						findings: [
							{
								...{ severity: 'danger', kind: 'pipe-to-shell', message: 'Runs what it downloads.' },
								...{ file: 'scripts/x.sh', line: 1, excerpt: 'curl x | sh' }
							}
						],
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

	test('lands switched off and everybody’s unless said otherwise; afterwards it leads to the page of that version', async () => {
		const { screen, client, oninstalled } = await setup();
		await screen.getByTestId('confirm-install').click();
		expect(client.confirmStaged).toHaveBeenCalledExactlyOnceWith('s1', {
			...{ paths: ['demo'], conflict: 'fail', apiKeyId: 'system', enabled: false }
		});
		await expect
			.element(screen.getByTestId('installed-link'))
			.toHaveAttribute('href', '/skills/installed/demo%401.0.0');
		await expect.element(screen.getByTestId('install-result')).toMatchTextContent(/^Installed\. Turn it on/);
		expect(oninstalled).toHaveBeenCalledOnce();
	});

	test('F4: is trusted and turned on in one step, then tried; what is refused is said', async () => {
		const { screen, client } = await setup();
		await screen.getByTestId('confirm-install').click();
		await expect.element(screen.getByTestId('try-installed')).not.toBeInTheDocument();
		client.changeSkill.mockRejectedValueOnce(new ApiError('conflict', 'The files have changed since you looked.'));
		await screen.getByTestId('trust-installed').click();
		await expect.element(screen.getByTestId('trust-error')).toMatchTextContent(/have changed since/);
		client.changeSkill.mockResolvedValueOnce(sampleDetail());
		await screen.getByTestId('trust-installed').click();
		expect(client.changeSkill).toHaveBeenLastCalledWith('installed/demo@1.0.0', {
			...{ enabled: true, trust: { digest: sampleInstalled().digest, isTrusted: true } }
		});
		await expect.element(screen.getByTestId('try-installed')).toHaveAttribute('href', '/?skill=demo');
		await expect.element(screen.getByTestId('install-result')).toMatchTextContent(/^demo is on\./);
	});

	test('F4: is turned on without trust, to be asked for each run', async () => {
		const { screen, client } = await setup();
		await screen.getByTestId('confirm-install').click();
		client.changeSkill.mockResolvedValueOnce(sampleDetail({ mode: 'auto' }));
		await screen.getByRole('button', { name: 'Turn on, ask each time' }).click();
		expect(client.changeSkill).toHaveBeenCalledExactlyOnceWith('installed/demo@1.0.0', { enabled: true });
		await expect.element(screen.getByTestId('install-result')).toMatchTextContent(/^demo is on\./);
		await expect.element(screen.getByTestId('try-installed')).toHaveAttribute('href', '/?skill=demo');
		await expect.element(screen.getByTestId('trust-installed')).not.toBeInTheDocument();
	});

	test('says how long it is kept, in words', async () => {
		vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-01T00:00:00Z') });
		try {
			const { screen } = await setup(sampleStaged({ expiresAt: '2026-01-01T00:58:40.000Z' }));
			await expect.element(screen.getByTestId('staged-summary')).toMatchTextContent(/Kept for 59 min\./);
			await screen.unmount();
			const later = await setup(sampleStaged({ expiresAt: '2026-01-01T01:00:00.000Z' }));
			await expect.element(later.screen.getByTestId('staged-summary')).toMatchTextContent(/Kept for 1 hour\./);
		} finally {
			vi.useRealTimers();
		}
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
		await expect.element(screen.getByTestId('staged-summary')).toMatchTextContent(/2 of 3 skills can be installed/);
		await expect.element(screen.getByRole('checkbox', { name: 'Install torn' })).toBeDisabled();
		await expect.element(screen.getByTestId('diagnostic')).toMatchTextContent(/Is missing/);
		await screen.getByRole('checkbox', { name: 'Install demo' }).click();
		await screen.getByText('Options').click();
		await screen.getByTestId('enable-at-once').click();
		await screen.getByLabelText('Owner').fill(' key-7 ');
		await screen.getByTestId('confirm-install').click();
		expect(client.confirmStaged).toHaveBeenCalledExactlyOnceWith('s1', {
			...{ paths: ['other'], conflict: 'fail', apiKeyId: 'key-7', enabled: true }
		});
	});

	test('with nothing chosen cannot be installed', async () => {
		const { screen } = await setup();
		await screen.getByRole('checkbox', { name: 'Install demo' }).click();
		await expect.element(screen.getByTestId('confirm-install')).toBeDisabled();
	});

	test('that is there in the same version shows what differs and asks what shall become of it', async () => {
		const changes = [{ path: 'scripts/x.sh', kind: 'changed', diff } as const];
		const { screen, client } = await setup(
			sampleStaged({ skills: [sampleStagedSkill({ installed: sameVersion, changes })] })
		);
		await expect.element(screen.getByTestId('installed-already')).toMatchTextContent(/only the name is the same/);
		await expect.element(screen.getByText('+echo 2')).toBeVisible();
		await expect.element(screen.getByTestId('confirm-install')).toBeDisabled();
		await screen.getByTestId('conflict-overwrite').click();
		await screen.getByTestId('confirm-install').click();
		expect(client.confirmStaged.mock.calls[0]?.[1]).toMatchObject({ conflict: 'overwrite' });
	});

	test('that came beside another one meanwhile asks then, and keeps what was said before', async () => {
		const { screen, client } = await setup();
		await screen.getByText('Options').click();
		await screen.getByTestId('enable-at-once').click();
		client.confirmStaged.mockRejectedValueOnce(new ApiError('conflict', '“demo” 1.0.0 is already installed.'));
		await screen.getByTestId('confirm-install').click();
		await expect.element(screen.getByTestId('confirm-error')).toMatchTextContent(/is already installed/);
		await screen.getByTestId('conflict-rename').click();
		await screen.getByTestId('confirm-install').click();
		expect(client.confirmStaged.mock.calls[1]?.[1]).toMatchObject({ conflict: 'rename', enabled: true });
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
				skills: [sampleStagedSkill({ ...{ name: long, description: long, version: long, installed }, scripts: [long] })]
			})
		);
		const screen = await render(ReviewPage, { client, id: 's1', ondiscarded: vi.fn() }, { baseElement: frame });
		await expect.element(screen.getByTestId('confirm-form')).toBeVisible();
		expect(frame.scrollWidth).toBeLessThanOrEqual(390);
		frame.remove();
	});
});
