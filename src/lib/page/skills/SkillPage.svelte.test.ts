import { createRawSnippet } from 'svelte';
import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page } from 'vitest/browser';
import '../../../app.css';
import { createFakeClient } from '../../../../tests/support/fake-client.ts';
import { createFakeRegistry } from '../../../../tests/support/fake-registry.ts';
import { SAMPLE_DIGEST, sampleDetail, sampleDraft, samplePackages } from '../../../../tests/support/sample-skills.ts';
import { ApiError } from '../request.ts';
import type { Client } from '../server.ts';
import type { TrashedSkill } from '../../shared/install.ts';
import type { SkillDetail } from '../../shared/skills.ts';
import { answerEvalPage } from './skill-words.ts';
import SkillPage from './SkillPage.svelte';

function detailOf(more: Partial<SkillDetail> = {}): SkillDetail {
	return sampleDetail({
		files: [
			{ path: 'SKILL.md', bytes: 60, text: '---\nname: demo\n---\n# How\n\nSay *it*. <script>x</script>\n' },
			{ path: 'scripts/x.sh', bytes: 20, text: '<b>echo</b> \u202ehi' },
			{ path: 'logo.png', bytes: 2000, text: null }
		],
		findings: [
			{
				...{ severity: 'danger', kind: 'pipe-to-shell', message: 'Runs what it downloads.' },
				...{ file: 'scripts/x.sh', line: 3, excerpt: 'curl x | sh' }
			},
			{ severity: 'info', kind: 'network', message: 'Goes out.', file: 'a', line: 1, excerpt: 'fetch' }
		],
		needs: {
			...{ binaries: [], packages: [], variables: [], skills: [] },
			hosts: [
				{ name: 'example.org', isDeclared: true, from: ['metadata.network'], isGranted: true },
				{ name: '*.example.net', isDeclared: false, from: ['scripts/a.py'], isGranted: false }
			]
		},
		network: { declared: ['example.org'], granted: ['example.org'] },
		...more
	});
}

function clientOf(detail: SkillDetail = detailOf()) {
	return {
		// These tests never call the methods that aren't set below.
		...({} as Client),
		...createFakeRegistry(),
		...{ getDiagnosis: vi.fn(), fixSkill: vi.fn() },
		readFile: vi.fn(),
		getSkill: vi.fn(async (_id: string) => detail),
		changeSkill: vi.fn(async (_id: string, _patch: unknown) => detail),
		saveSecrets: vi.fn(async () => detail.needs),
		...samplePackages(),
		listExecutions: createFakeClient().listExecutions,
		// Asked for if another test has left a run of this skill in the tab.
		getExecution: vi.fn(() => Promise.reject(new Error('There is none.'))),
		runExecution: vi.fn(),
		startDraft: vi.fn<Client['startDraft']>()
	};
}

async function setup(detail: SkillDetail = detailOf(), hash = '') {
	const client = clientOf(detail);
	const onchange = vi.fn();
	const onremoved = vi.fn();
	const ontrusted = vi.fn<(skill: SkillDetail, undo: () => Promise<void>) => void>();
	const screen = await render(SkillPage, { client, id: 'demo', hash, onchange, onremoved, ontrusted });
	return { screen, client, onchange, onremoved, ontrusted };
}

describe('F4: the page of a skill', () => {
	test('Edit has a dot while text that was typed in the editor isn’t saved, and leads to it', async () => {
		const { source } = detailOf();
		const kept = JSON.stringify({ digest: 'd', text: 'typed' });
		const keys = [`skill-typed:${source}/demo:scripts/x.sh`, `skill-typed:${source}/other:SKILL.md`];
		for (const key of keys) localStorage.setItem(key, kept);
		try {
			const { screen } = await setup();
			const edit = screen.getByRole('link', { name: 'Edit. Not saved in the editor: scripts/x.sh' });
			await expect.element(edit).toHaveAttribute('href', '/skills/edit/demo?file=scripts%2Fx.sh');
			await expect.element(screen.getByTestId('typed-dot')).toBeVisible();
			localStorage.removeItem(keys[0] ?? '');
			const clean = await setup();
			await expect.element(clean.screen.getByRole('link', { name: 'Edit', exact: true })).toBeVisible();
		} finally {
			for (const key of keys) localStorage.removeItem(key);
		}
	});

	test('a script that SKILL.md names and that isn’t there is told with the instructions, too', async () => {
		const message = 'names scripts/run.mjs, but the skill has no such file';
		const diagnostics = [{ severity: 'warning' as const, field: '_', message, line: 7 }];
		const { screen } = await setup(detailOf({ diagnostics }), '#instructions');
		await expect.element(screen.getByTestId('diagnostic')).toMatchTextContent(/SKILL\.md:7\s+names scripts\/run\.mjs/);
	});

	test.each([
		[{ mode: 'off' as const, trust: 'trusted' as const }, '#run', 'off'],
		[{ trust: 'untrusted' as const }, '#evals', 'untrusted']
	])('E11, F16: what keeps it from running is said before anyone tries: %o', async (more, hash, obstacle) => {
		const { screen } = await setup(detailOf(more), hash);
		await expect.element(screen.getByTestId('run-obstacle')).toHaveAttribute('data-obstacle', obstacle);
	});

	test('F16: of a broken skill, an answer that was to become an eval is told to come later', async () => {
		const client = clientOf(detailOf({ status: 'broken' }));
		const broken = createRawSnippet(() => ({ render: () => '<p>Broken</p>' }));
		const hash = answerEvalPage('demo', { chat: 'c1', call: 't1' }).replace(/^[^#]*/, '');
		const screen = await render(SkillPage, { client, id: 'demo', hash, broken });
		await expect.element(screen.getByTestId('evals-later')).toMatchTextContent(/Fix it, then choose Add to evals/);
	});

	test('F8: says that there is a draft of it and leads to it, and another one can be begun', async () => {
		const client = clientOf();
		client.listDrafts.mockResolvedValue([sampleDraft({ id: 'other', base: 'installed/other' }), sampleDraft()]);
		client.startDraft.mockResolvedValue({ id: 'd2' } as Awaited<ReturnType<Client['startDraft']>>);
		const ondraft = vi.fn();
		const screen = await render(SkillPage, { client, id: 'demo', ondraft });
		await expect.element(screen.getByTestId('skill-draft')).toMatchTextContent(/Changed SKILL\.md \+3 −1/);
		await expect.element(screen.getByTestId('continue-draft')).toHaveAttribute('href', '/skills/drafts/d1');
		await screen.getByTestId('skill-menu').click();
		await expect.element(page.getByTestId('improve-skill')).toHaveTextContent('Continue draft');
		await page.getByTestId('new-draft').click();
		await expect.poll(() => ondraft.mock.calls).toEqual([['d2']]);
		expect(client.startDraft).toHaveBeenCalledExactlyOnceWith({ skill: 'installed/demo@1.0.0', another: true });
	});

	test('says what its row in the list says, when it is switched there', async () => {
		const { screen, client } = await setup(detailOf({ mode: 'auto' }));
		await screen.rerender({ revision: 'a' });
		await expect.element(screen.getByTestId('skill-mode')).toHaveValue('auto');
		client.getSkill.mockImplementation(async () => detailOf({ mode: 'off' }));
		await screen.rerender({ revision: 'b' });
		await expect.element(screen.getByTestId('skill-mode')).toHaveValue('off');
	});

	test('that is not trusted says what that means, what was found and where, and what is in it', async () => {
		const { screen } = await setup();
		await expect.element(screen.getByTestId('trust')).toHaveAttribute('data-state', 'untrusted');
		await expect.element(screen.getByTestId('hosts-to-allow')).toHaveTextContent('1 host to allow');
		await expect.element(screen.getByTestId('hosts-to-allow')).toHaveAttribute('href', '#network');
		await expect.element(screen.getByText(/Scripts ask before each run/)).toBeVisible();
		await expect.element(screen.getByTestId('look-at-findings')).toHaveTextContent('1 risk');
		await expect.element(screen.getByTestId('tab-overview')).toHaveTextContent('Overview 1: 1 risk');
		await screen.getByTestId('look-at-findings').click();
		await expect.element(screen.getByTestId('finding').first()).toBeVisible();
		const [first] = screen.getByTestId('finding').elements();
		expect(first?.textContent).toMatch(/Runs what it downloads\.\s*scripts\/x\.sh:3\s*curl x \| sh/);
		await screen.getByTestId('tab-files').click();
		await screen.getByRole('button', { name: /x\.sh/ }).click();
		// Shown as text, without the direction override.
		await expect.element(screen.getByTestId('file-text')).toHaveTextContent('<b>echo</b> ⟨U+202E⟩hi');
		await screen.getByText(/^\d files$/).click();
		await screen.getByRole('button', { name: /logo\.png/ }).click();
		await expect.element(screen.getByText(/There is no preview of this file/)).toBeVisible();
	});

	test('trusts the files that were looked at: with risks only after a dialog that names them', async () => {
		const { screen, client, onchange } = await setup();
		client.changeSkill.mockResolvedValue(detailOf({ trust: 'trusted' }));
		await screen.getByTestId('give-trust').click();
		await expect.element(page.getByTestId('risks-to-trust')).toHaveTextContent('Runs what it downloads (scripts/x.sh)');
		expect(client.changeSkill).not.toHaveBeenCalled();
		await page.getByTestId('confirm-delete').click();
		expect(client.changeSkill).toHaveBeenCalledExactlyOnceWith('installed/demo@1.0.0', {
			trust: { digest: SAMPLE_DIGEST, isTrusted: true }
		});
		await expect.element(screen.getByTestId('trust')).toHaveAttribute('data-state', 'trusted');
		expect(onchange).toHaveBeenCalledOnce();
		// The findings are still there.
		await expect.element(screen.getByTestId('look-at-findings')).toBeVisible();
		await screen.getByTestId('trust-menu').click();
		await page.getByTestId('withdraw-trust').click();
		expect(client.changeSkill).toHaveBeenLastCalledWith('installed/demo@1.0.0', {
			trust: { digest: SAMPLE_DIGEST, isTrusted: false }
		});
	});

	test('new trust can be taken back, with the mode from before, and the security check stays in view', async () => {
		const { screen, client, ontrusted } = await setup(detailOf({ findings: [], mode: 'off' }));
		client.changeSkill.mockResolvedValue(detailOf({ trust: 'trusted', mode: 'auto', findings: [] }));
		await screen.getByTestId('give-trust').click();
		await expect.element(screen.getByTestId('no-risks')).toHaveTextContent('No risks found.');
		expect(ontrusted).toHaveBeenCalledOnce();
		await ontrusted.mock.calls[0]?.[1]();
		expect(client.changeSkill).toHaveBeenLastCalledWith('installed/demo@1.0.0', {
			...{ trust: { digest: SAMPLE_DIGEST, isTrusted: false }, mode: 'off' }
		});
		await expect.element(screen.getByTestId('give-trust')).toBeVisible();
		client.changeSkill.mockRejectedValue(new ApiError('internal', 'No.'));
		await screen.getByTestId('give-trust').click();
		await expect.element(screen.getByTestId('skill-change-error')).toBeVisible();
		expect(ontrusted).toHaveBeenCalledOnce();
	});

	test('is trusted above every tab, also where evals need it, with one button and its risks named first', async () => {
		const { screen, client } = await setup(detailOf(), '#evals');
		await expect.element(screen.getByTestId('run-obstacle')).toBeVisible();
		await expect.poll(() => screen.getByRole('button', { name: /^Trust/ }).elements().length).toBe(1);
		await screen.getByTestId('give-trust').click();
		await expect.element(page.getByTestId('risks-to-trust')).toBeVisible();
		await page.getByTestId('confirm-delete').click();
		await expect
			.poll(() => client.changeSkill.mock.lastCall?.[1])
			.toEqual({
				trust: { digest: SAMPLE_DIGEST, isTrusted: true }
			});
	});

	test('has its facts in one line: what matters least gives way', async () => {
		await page.viewport(390, 700);
		const { screen } = await setup(detailOf({ version: `2.0.0-beta.${'1'.repeat(40)}`, provider: 'well-known' }));
		const facts = screen.getByTestId('skill-facts').element();
		expect(facts.getBoundingClientRect().height).toBeLessThan(20);
		const top = (each: Element | null) => each?.getBoundingClientRect().top ?? 0;
		// In any font, and the page may take its new width a frame later.
		await expect.poll(() => top(facts.lastElementChild) - top(facts.firstElementChild)).toBeGreaterThan(0);
	});

	test('says on every tab what is to be decided, in the overview what is settled; Try in chat has the focus then', async () => {
		const { screen, client } = await setup(detailOf({ findings: [] }));
		await screen.getByTestId('tab-instructions').click();
		await expect.element(screen.getByTestId('skill-description')).not.toBeVisible();
		client.changeSkill.mockResolvedValue(detailOf({ trust: 'trusted', mode: 'auto', findings: [] }));
		await screen.getByTestId('give-trust').click();
		await expect.element(screen.getByTestId('chat-with-skill')).toHaveFocus();
		await expect.element(screen.getByTestId('trust')).not.toBeVisible();
		await screen.getByTestId('tab-overview').click();
		await expect.element(screen.getByTestId('trust')).toBeVisible();
		await expect.element(screen.getByTestId('skill-description')).toBeVisible();
	});

	test('shows the files as they are now when they were others by the time of the click', async () => {
		const { screen, client, onchange } = await setup();
		client.changeSkill.mockRejectedValue(new ApiError('conflict', 'The files have changed since you looked.'));
		client.getSkill.mockResolvedValue(detailOf({ digest: 'b'.repeat(64) }));
		await screen.getByTestId('give-trust').click();
		await page.getByTestId('confirm-delete').click();
		await expect.element(screen.getByTestId('skill-change-error')).toMatchTextContent(/changed since you looked/);
		await screen.getByText('Details').click();
		await expect.element(screen.getByText('b'.repeat(64))).toBeVisible();
		expect(onchange).not.toHaveBeenCalled();
	});

	test('shows a change as a difference', async () => {
		const diff = '--- scripts/x.sh\n+++ scripts/x.sh\n@@ -1 +1 @@\n-echo 1\n+echo 2\n';
		const { screen } = await setup(
			detailOf({
				trust: 'changed',
				changes: [
					{ path: 'scripts/x.sh', kind: 'changed', diff },
					{ path: 'a.bin', kind: 'added', diff: null }
				]
			}),
			'#changes'
		);
		await expect.element(screen.getByText('-echo 1')).toBeVisible();
		await expect.element(screen.getByText('+echo 2')).toBeVisible();
		await expect.element(screen.getByText('new, no text or too long to be shown')).toBeVisible();
	});

	test('cannot be trusted when it cannot be looked at as a whole', async () => {
		const { screen } = await setup(detailOf({ digest: '' }));
		await expect.element(screen.getByText(/too large to be checked as a whole/)).toBeVisible();
		await expect.element(screen.getByTestId('give-trust')).not.toBeInTheDocument();
	});

	test('grants and withdraws hosts one by one, and sets the mode', async () => {
		const { screen, client } = await setup(detailOf(), '#network');
		await expect.element(screen.getByRole('checkbox', { name: 'example.org' })).toBeChecked();
		await screen.getByRole('checkbox', { name: '*.example.net' }).click();
		expect(client.changeSkill).toHaveBeenLastCalledWith('installed/demo@1.0.0', {
			network: ['example.org', '*.example.net']
		});
		await screen.getByRole('checkbox', { name: 'example.org' }).click();
		expect(client.changeSkill).toHaveBeenLastCalledWith('installed/demo@1.0.0', { network: [] });
		await screen.getByTestId('skill-mode').selectOptions('off');
		expect(client.changeSkill).toHaveBeenLastCalledWith('installed/demo@1.0.0', { mode: 'off' });
	});

	test('that is in the trash says so, and is restored there', async () => {
		const client = { ...clientOf(), restoreSkill: vi.fn(async () => detailOf()) as unknown as Client['restoreSkill'] };
		client.getSkill.mockRejectedValueOnce(new ApiError('not_found', 'There is no skill “demo”.'));
		client.listTrash.mockResolvedValue([{ id: 't1', skillId: 'installed/demo', name: 'demo' } as TrashedSkill]);
		const screen = await render(SkillPage, { client, id: 'demo' });
		await expect.element(screen.getByTestId('skill-load-error')).toMatchTextContent(/“demo” is in the Trash\./);
		await screen.getByTestId('restore-deleted').click();
		await expect.element(screen.getByTestId('skill-name')).toHaveTextContent('demo');
		expect(client.restoreSkill).toHaveBeenCalledExactlyOnceWith('t1');
	});

	test('that does not exist says so; one that could not be read can be asked for again', async () => {
		const client = clientOf();
		client.getSkill.mockRejectedValueOnce(new ApiError('not_found', 'There is no skill “demo”.'));
		const screen = await render(SkillPage, { client, id: 'demo' });
		await expect.element(screen.getByTestId('skill-load-error')).toMatchTextContent(/Skill not found/);
		client.getSkill.mockRejectedValueOnce(new ApiError('unavailable', 'The database is busy.'));
		await screen.rerender({ client, id: 'other' });
		await expect.element(screen.getByTestId('skill-load-error')).toMatchTextContent(/The database is busy/);
		client.getSkill.mockResolvedValueOnce(detailOf());
		await screen.getByRole('button', { name: 'Try again' }).click();
		await expect.element(screen.getByTestId('skill-name')).toHaveTextContent('demo');
	});

	test('that is being loaded says so', async () => {
		const client = clientOf();
		client.getSkill.mockReturnValue(new Promise<never>(() => {}));
		const screen = await render(SkillPage, { client, id: 'demo' });
		await expect.element(screen.getByTestId('skill-loading')).toBeVisible();
	});

	test('fits into 390 pixels', async () => {
		const frame = document.createElement('div');
		frame.style.width = '390px';
		document.body.append(frame);
		const long = 'x'.repeat(300);
		const detail = detailOf({ description: long, path: long, files: [{ path: long, bytes: 1, text: long }] });
		const client = clientOf(detail);
		const screen = await render(SkillPage, { client, id: 'demo' }, { baseElement: frame });
		await expect.element(screen.getByTestId('skill-facts')).toBeVisible();
		expect(frame.scrollWidth).toBeLessThanOrEqual(390);
		frame.remove();
	});
});

test('F4: a skill that is trusted for where it lies says so, and can be asked about each time', async () => {
	const { screen, client } = await setup(detailOf({ trust: 'trusted', isTrustedByPlace: true }));
	await expect.element(screen.getByTestId('trust')).toMatchTextContent(/in one of your skills folders/);
	await expect.element(screen.getByTestId('give-trust')).not.toBeInTheDocument();
	client.changeSkill.mockResolvedValue(detailOf());
	await screen.getByTestId('trust-menu').click();
	await page.getByTestId('withdraw-trust').click();
	await expect.element(screen.getByTestId('trust')).toHaveAttribute('data-state', 'untrusted');
});

test('F6: a script of a skill that nobody trusts runs here when it is allowed this once', async () => {
	const { screen, client } = await setup(detailOf(), '#run');
	const refused = { details: { error: 'NotTrusted', digest: 'd1' } };
	client.runExecution.mockRejectedValueOnce(new ApiError('forbidden', 'This skill isn’t trusted.', refused));
	await screen.getByTestId('run-button').click();
	await expect.element(screen.getByTestId('approval-why')).toMatchTextContent(/isn’t trusted/);
	await screen.getByTestId('approve-once').click();
	expect(client.runExecution).toHaveBeenLastCalledWith(expect.objectContaining({ approve: 'd1' }));
});

test('D27: a skill of the server says what it is, why it cannot be used and its mode, and has no empty sections', async () => {
	const { screen, client } = await setup(
		detailOf({
			...{ id: 'builtin/browser', skillId: 'builtin/browser', name: 'browser', source: 'builtin', path: '' },
			...{ trust: 'builtin', digest: '', files: [], findings: [], scripts: [], tools: ['browser'] },
			...{ network: { declared: [], granted: [] }, inputSchemas: { browser: {} } },
			diagnostics: [{ severity: 'warning', field: '_', message: 'No browser is installed.' }]
		})
	);
	await expect.element(screen.getByTestId('trust')).toMatchTextContent(/Built in/);
	await expect
		.element(screen.getByTestId('not-available'))
		.toHaveTextContent('Not available: No browser is installed.');
	const headings = screen.getByRole('heading', { level: 2 }).elements();
	expect(headings.map(({ textContent }) => textContent.trim())).toEqual(['browser']);
	await screen.getByTestId('skill-mode').selectOptions('off');
	expect(client.changeSkill).toHaveBeenLastCalledWith('builtin/browser', { mode: 'off' });
});

async function remove(screen: Awaited<ReturnType<typeof setup>>['screen']): Promise<void> {
	await screen.getByTestId('skill-menu').click();
	await page.getByTestId('remove-skill').click();
}

test('E4: a skill is removed by one click in its menu, and can be brought back right there', async () => {
	const { screen, client, onchange, onremoved } = await setup();
	const trashed = {
		...{ id: 't1', skillId: 'installed/demo', name: 'demo', version: '1.0.0', path: '/data/skills/demo' },
		...{ removedAt: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-31T00:00:00.000Z' }
	};
	client.removeSkill.mockRejectedValueOnce(new ApiError('conflict', 'It is being used.'));
	await remove(screen);
	await expect.element(screen.getByTestId('skill-change-error')).toMatchTextContent(/It is being used/);
	client.removeSkill.mockResolvedValueOnce(trashed);
	await remove(screen);
	expect(client.removeSkill).toHaveBeenLastCalledWith('installed/demo@1.0.0');
	await expect.element(screen.getByTestId('undo-bar')).toMatchTextContent(/demo is in the trash/);
	expect(onremoved).toHaveBeenCalledExactlyOnceWith('demo');
	await expect.element(screen.getByTestId('staying')).not.toBeInTheDocument();
	await expect.element(screen.getByTestId('trust')).not.toBeInTheDocument();
	client.restoreSkill.mockRejectedValueOnce(new ApiError('conflict', 'There is one of this name again.'));
	await screen.getByTestId('undo-removal').click();
	await expect.element(screen.getByTestId('removal-error')).toMatchTextContent(/one of this name again/);
	client.restoreSkill.mockResolvedValueOnce({ skillId: 'installed/demo', name: 'demo', version: '1.0.0' });
	await screen.getByTestId('undo-removal').click();
	await expect.element(screen.getByTestId('trust')).toBeVisible();
	expect(onchange).toHaveBeenCalledTimes(2);
});

test('E4: of several versions, what stays after one is removed is said', async () => {
	const { screen, client } = await setup();
	const stays = { version: '0.9.0', id: 'demo@0.9.0', mode: 'auto' as const, installation: null, isEdited: false };
	client.getVersions.mockResolvedValue({ current: '0.9.0', pinned: null, versions: [stays] });
	client.removeSkill.mockResolvedValueOnce({
		...{ id: 't1', skillId: 'installed/demo', name: 'demo', version: '1.0.0', path: '/data/skills/demo' },
		...{ removedAt: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-31T00:00:00.000Z' }
	});
	await remove(screen);
	await expect.element(screen.getByTestId('undo-bar')).toMatchTextContent(/demo 1\.0\.0 is in the trash/);
	await expect.element(screen.getByTestId('staying')).toMatchTextContent(/^Version 0\.9\.0 stays/);
	await expect
		.element(screen.getByRole('link', { name: 'open demo' }))
		.toHaveAttribute('href', '/skills/installed/demo');
});

test('E4: a list that hears of a removal before its answer is here takes nothing away', async () => {
	const { screen, client } = await setup();
	await screen.rerender({ revision: 'a' });
	await expect.element(screen.getByTestId('skill-menu')).toBeVisible();
	const answer = Promise.withResolvers<TrashedSkill>();
	client.removeSkill.mockReturnValueOnce(answer.promise);
	await remove(screen);
	client.getSkill.mockRejectedValue(new ApiError('not_found', 'There is no such skill.'));
	const reads = client.getSkill.mock.calls.length;
	await screen.rerender({ revision: 'b' });
	await expect.element(screen.getByTestId('trust')).toBeVisible();
	expect(client.getSkill).toHaveBeenCalledTimes(reads);
	answer.resolve({
		id: 't1',
		skillId: 'installed/demo',
		name: 'demo',
		version: '1.0.0',
		path: '/data/skills/demo',
		removedAt: '2026-01-01T00:00:00.000Z',
		expiresAt: '2026-01-31T00:00:00.000Z'
	});
	await expect.element(screen.getByTestId('undo-bar')).toMatchTextContent(/demo is in the trash/);
});

test('F1: what the doctor says stays when there is nothing left to put right', async () => {
	const problem = { severity: 'warning', field: 'name', message: 'Is in capitals.' } as const;
	const client = clientOf(detailOf({ diagnostics: [problem] }));
	client.getDiagnosis.mockResolvedValue({
		...{ id: 'demo', name: 'demo', status: 'ready', path: '/x/SKILL.md', issues: [], fixed: null, digest: '' }
	});
	const screen = await render(SkillPage, { client, id: 'demo', hash: '#doctor' });
	await expect.element(screen.getByTestId('doctor')).toBeVisible();
	client.changeSkill.mockResolvedValue(detailOf());
	await screen.getByTestId('skill-mode').selectOptions('on');
	await expect.element(screen.getByTestId('skill-mode')).toBeEnabled();
	await expect.element(screen.getByTestId('doctor')).toBeVisible();
});

test('F1: a fix that gives the skill another name leads to its new address', async () => {
	const problem = { severity: 'warning', field: 'name', message: 'Is in capitals.' } as const;
	const client = clientOf(detailOf({ diagnostics: [problem] }));
	const healthy = { name: 'x', status: 'ready', path: '/x/SKILL.md', issues: [], fixed: null, digest: '' } as const;
	const fixed = { before: 'a', after: 'b', diff: '' };
	client.getDiagnosis.mockResolvedValue({
		...{ ...healthy, id: 'demo', fixed, issues: [{ ...problem, fixId: 'name', diff: null }] }
	});
	client.fixSkill.mockResolvedValue({ ...healthy, id: 'other' });
	const onrenamed = vi.fn();
	const screen = await render(SkillPage, { client, id: 'demo', hash: '#doctor', onrenamed });
	await screen.getByTestId('doctor-fix-all').click();
	await screen.getByTestId('doctor-write').click();
	await expect.poll(() => onrenamed.mock.calls).toEqual([['other']]);
});

describe('the parts of a skill', () => {
	test('F16: are no runs of one that never ran', async () => {
		const never = { executions: 0, failures: 0, lastUsedAt: null };
		const { screen } = await setup(detailOf({ usage: never }));
		await expect.element(screen.getByTestId('skill-facts')).toMatchTextContent(/Not used yet/);
		await expect.element(screen.getByTestId('skill-usage')).not.toBeInTheDocument();
		await screen.unmount();
		const used = await setup(detailOf({ usage: { ...never, executions: 2 } }));
		await expect.element(used.screen.getByTestId('skill-usage')).toMatchTextContent(/^2 times\./);
	});

	test('are what was found, folded once it is trusted and nothing of it is serious', async () => {
		const findings = detailOf().findings.filter(({ severity }) => severity === 'info');
		const { screen } = await setup(detailOf({ trust: 'trusted', findings }));
		await expect.element(screen.getByTestId('finding')).not.toBeVisible();
		await screen.getByText('No serious risks found (1 to read)').click();
		await expect.element(screen.getByTestId('finding')).toBeVisible();
		await screen.unmount();
		const untrusted = await setup(detailOf({ trust: 'untrusted', findings }));
		await expect.element(untrusted.screen.getByTestId('finding')).toBeVisible();
	});

	test('are its instructions, read or as their source; markup in them is text', async () => {
		const { screen } = await setup(detailOf(), '#instructions');
		await expect.element(screen.getByTestId('markdown')).toMatchTextContent(/How\s*Say it\. <script>x<\/script>/);
		expect(screen.getByTestId('markdown').element().textContent).not.toContain('name: demo');
		await screen.getByRole('button', { name: 'Source' }).click();
		await expect.element(screen.getByTestId('file-text')).toMatchTextContent(/^--- name: demo/);
		// The front matter has the colours of YAML.
		await expect
			.poll(() => screen.container.querySelector('.code-type')?.textContent, { timeout: 20_000 })
			.toMatch(/^name/);
	});

	test('are its instructions: how long they are, the files they name, and a way to edit them', async () => {
		const text = '---\nname: demo\n---\nRun `node ./scripts/x.sh a`. Not xlogo.png.\n';
		const files = detailOf().files.map((file) => (file.path === 'SKILL.md' ? { ...file, text } : file));
		const { screen } = await setup(detailOf({ files }), '#instructions');
		await expect
			.element(screen.getByTestId('instructions-tokens'))
			.toHaveTextContent('About 11 tokens of instructions');
		await expect.element(screen.getByTestId('edit-instructions')).toHaveAttribute('href', '/skills/edit/demo');
		const links = screen.getByTestId('named-files').getByRole('link');
		await expect.element(links).toHaveLength(1);
		await expect.element(links).toHaveAttribute('href', expect.stringMatching(/\?file=scripts%2Fx\.sh#files$/));
	});

	test('are its files: a folder of many starts closed, and opens for the file that is open', async () => {
		await page.viewport(1280, 900);
		const many = Array.from({ length: 20 }, (_, at) => `lib/part-${at}.mjs`);
		const files = ['SKILL.md', 'scripts/x.sh', ...many].map((path) => ({ path, bytes: 1, text: 'x' }));
		const { screen } = await setup(detailOf({ files }), '#files');
		const list = screen.getByRole('navigation', { name: 'Files' });
		await expect.element(list.getByText('x.sh')).toBeVisible();
		await expect.element(list.getByText('part-7.mjs')).not.toBeVisible();
		await list.getByText('lib/').click();
		await list.getByText('part-7.mjs').click();
		await list.getByText('x.sh').click();
		// Closed only by hand.
		await expect.element(list.getByText('part-7.mjs')).toBeVisible();
		await screen.rerender({ file: 'lib/part-3.mjs' });
		await list.getByText('lib/').click();
		await expect.element(list.getByText('part-7.mjs')).not.toBeVisible();
		await screen.rerender({ file: 'lib/part-5.mjs' });
		await expect.element(list.getByText('part-5.mjs')).toBeVisible();
	});

	test('are its files: prose is wrapped, code has the numbers of its lines, and each can be the other way', async () => {
		await page.viewport(1280, 800);
		const { screen } = await setup(detailOf(), '#files');
		const [wrap, numbers] = [screen.getByTestId('wrap-lines'), screen.getByTestId('line-numbers')];
		await expect.element(wrap).toHaveAttribute('aria-pressed', 'true');
		await expect.element(numbers).not.toBeInTheDocument();
		await wrap.click();
		await expect.element(numbers).toBeVisible();
		await wrap.click();
		await expect.element(numbers).not.toBeInTheDocument();
		await screen.getByTestId('file-viewer').getByTestId('wrap-lines').click();
		await screen.getByRole('button', { name: /x\.sh/ }).click();
		await expect.element(wrap).toHaveAttribute('aria-pressed', 'false');
		await expect.element(numbers).toBeVisible();
	});

	test('are its files: the text is as high as the window allows, the list, too, and above a text it closes', async () => {
		await page.viewport(1280, 1000);
		const paths = Array.from({ length: 20 }, (_, index) => `scripts/part-${index}.mjs`);
		const files = paths.map((path) => ({ path, bytes: 900, text: 'go();\n'.repeat(150) }));
		const { screen } = await setup(detailOf({ files: [...detailOf().files, ...files] }), '#files');
		screen.container.style.cssText = 'container-type: inline-size; width: 620px';
		await screen.getByRole('button', { name: /part-0\.mjs/ }).click();
		const text = screen.getByRole('region', { name: 'Text of scripts/part-0.mjs' }).element();
		const list = screen.container.querySelector('nav[aria-label=Files]')!;
		await expect.poll(() => text.clientHeight).toBeGreaterThan(800);
		expect(list.clientHeight).toBe(0);
		await screen.getByTestId('toggle-files').click();
		await expect.poll(() => list.clientHeight).toBeGreaterThan(600);
		expect(list.scrollHeight).toBe(list.clientHeight);
		screen.container.style.width = '1000px';
		await expect.poll(() => list.clientHeight).toBeGreaterThan(600);
	});

	test('are those that the address asks for, and are asked of it', async () => {
		const client = clientOf();
		const ontab = vi.fn();
		const screen = await render(SkillPage, { client, id: 'demo', hash: '#secrets', ontab });
		await expect.element(screen.getByTestId('skill-needs')).toBeVisible();
		await screen.getByTestId('tab-versions').click();
		expect(ontab).toHaveBeenCalledExactlyOnceWith('versions');
		await expect.element(screen.getByTestId('skill-edits')).toBeVisible();
		// The tabs opened before keep their state.
		await expect.element(screen.getByTestId('skill-needs')).not.toBeVisible();
		await screen.rerender({ client, id: 'demo', hash: '#files', ontab });
		await expect.element(screen.getByTestId('file-viewer')).toHaveAttribute('data-path', 'SKILL.md');
	});

	test('the first view says what it does, whether it may be trusted and how it is run; no version, if it names none', async () => {
		const text =
			'# How\n\n```\npython3 scripts/x.sh FILE [--by NAME]\n```\n\nOr `scripts/x.sh --all`, not `scripts/x.sh`.\n';
		const { screen } = await setup(
			detailOf({
				description: 'Counts lines. Use when someone asks for lines.',
				files: [{ path: 'SKILL.md', bytes: text.length, text }],
				scripts: ['scripts/x.sh', 'scripts/y.sh'],
				tools: [],
				needs: { binaries: [], packages: [], variables: [], skills: [], hosts: [] }
			})
		);
		await expect.element(screen.getByTestId('skill-description')).toHaveTextContent('Counts lines.');
		await expect.element(screen.getByTestId('skill-when')).toHaveTextContent('Use when someone asks for lines.');
		await expect.element(screen.getByTestId('skill-facts')).toMatchTextContent(/· 2 scripts · Not used yet$/);
		await expect.element(screen.getByTestId('trust')).toMatchTextContent(/No network access/);
		await expect.element(screen.getByTestId('hosts-to-allow')).not.toBeInTheDocument();
		const abilities = screen.getByTestId('ability');
		await expect.element(abilities.first()).toMatchTextContent(/^scripts\/x\.sh\s*x\.sh\s*FILE\s*--by\s*Run$/);
		// Also what SKILL.md doesn't explain: running it is how to see why it fails.
		await expect.element(abilities.nth(1)).toMatchTextContent(/scripts\/y\.sh *Run/);
		await screen.getByText('Details').click();
		await expect.element(screen.getByText('Folder', { exact: true })).toBeVisible();
		expect(screen.container.textContent).not.toContain('1.0.0');
		await screen.getByRole('button', { name: 'Run scripts/x.sh' }).click();
		await expect.element(screen.getByLabelText('File required')).toBeVisible();
	});

	test('a script says what it does and how it’s called, in words that stay whole, and no more than a few', async () => {
		const options = Array.from({ length: 9 }, (_, at) => `[--option-${at} NUMBER]`).join(' ');
		const text = `/** Draws a chart. It is fast. */\nconst USAGE = 'Usage: x.mjs FILE ${options}';\n`;
		const many = Array.from({ length: 8 }, (_, at) => `y.mjs do-${at} FILE   does it ${at}`).join('\n');
		const files = [
			{ path: 'scripts/x.mjs', bytes: text.length, text },
			{ path: 'scripts/y.mjs', bytes: many.length, text: `const USAGE = \`Usage: ${many}\`` }
		];
		const { screen } = await setup(detailOf({ files, scripts: ['scripts/x.mjs', 'scripts/y.mjs'], tools: [] }));
		const [first, second] = [screen.getByTestId('ability').first(), screen.getByTestId('ability').nth(1)];
		await expect
			.element(first)
			.toMatchTextContent(
				/^scripts\/x\.mjs\s*Draws a chart\.\s*x\.mjs\s*FILE\s*--option-0.*--option-4\s*and 4 more\s*Run$/s
			);
		await expect.element(second).toMatchTextContent(/do-0\s*FILE\s*does it 0.*do-5\s*FILE\s*does it 5\s*and 2 more/s);
		for (const word of first.element().querySelectorAll('ul code')) expect(word.getClientRects()).toHaveLength(1);
	});

	test('where all is well, the security check and what it needs take a line each', async () => {
		const node = { name: 'node', isDeclared: true, isFound: true, from: ['SKILL.md', 'lib/a.mjs'] };
		const needs = { binaries: [node], packages: [], variables: [], skills: [], hosts: [] };
		const calm = await setup(detailOf({ trust: 'trusted', findings: [], needs }));
		const rows = () => calm.screen.container.querySelectorAll('section:has(> h3)');
		const row = (heading: string) => [...rows()].find((each) => each.querySelector('h3')?.textContent === heading);
		await expect.poll(() => row('What it needs')?.getBoundingClientRect().height).toBeLessThan(30);
		expect(row('What it needs')?.textContent).toMatch(/node\s*installed\s*$/);
		expect(row('Security check')?.getBoundingClientRect().height).toBeLessThan(30);
	});

	test('an ability leads to its form, also once another one was chosen there', async () => {
		const tool = { type: 'object', properties: { text: { type: 'string' } } };
		const { screen } = await setup(
			detailOf({ scripts: ['scripts/x.sh'], tools: ['count'], inputSchemas: { count: tool } })
		);
		const what = screen.getByTestId('run-what');
		for (const times of [1, 2]) {
			await screen.getByRole('button', { name: 'Run count' }).click();
			await expect.element(what).toHaveValue('1');
			await what.selectOptions('scripts/x.sh');
			await screen.getByTestId('tab-overview').click();
			expect(times).toBeLessThan(3);
		}
	});

	test('F4: the box of trust has the colour of what it says', async () => {
		const danger = { kind: 'x', message: 'Runs what it downloads.', file: 'scripts/x.sh', line: 1, excerpt: 'x' };
		const found = [{ severity: 'danger' as const, ...danger }];
		const toneOf = async (more: Partial<SkillDetail>) => {
			const { screen } = await setup(detailOf({ findings: [], ...more }));
			await expect.element(screen.getByTestId('trust')).toBeVisible();
			const tone = screen.getByTestId('trust').element().getAttribute('data-tone');
			await screen.unmount();
			return tone;
		};
		expect(await toneOf({ trust: 'untrusted' })).toBe('plain');
		expect(await toneOf({ trust: 'untrusted', findings: found })).toBe('danger');
		expect(await toneOf({ trust: 'changed', changes: [] })).toBe('warn');
		expect(await toneOf({ trust: 'trusted' })).toBe('calm');
		expect(await toneOf({ trust: 'trusted', findings: found })).toBe('warn');
	});

	test('say what is to be put right where their tab is marked, and lead there', async () => {
		const { needs } = detailOf();
		const variable = { name: 'A_KEY', isDeclared: true, isOptional: false, from: [], isSet: false, setBy: null };
		const { screen } = await setup(
			detailOf({
				trust: 'trusted',
				findings: [],
				needs: { ...needs, variables: [variable] },
				diagnostics: [{ field: 'license', severity: 'warning', message: 'is odd' }]
			})
		);
		await expect
			.element(screen.getByTestId('tab-overview'))
			.toHaveTextContent('Overview 2: 1 problem in its files. Missing: A_KEY');
		const toDo = screen.getByTestId('skill-to-do');
		await expect.element(toDo.getByRole('link', { name: 'Missing: A_KEY' })).toHaveAttribute('href', '#needs');
		await expect.element(toDo.getByRole('link', { name: /1 problem/ })).toHaveAttribute('href', '#doctor');
	});

	test('F1: a script that can’t be read is told, with its line to edit', async () => {
		const files = [{ path: 'scripts/run.mjs', bytes: 30, text: 'const a = 1;\nconst b = ;\n' }];
		const { screen } = await setup(detailOf({ files, scripts: ['scripts/run.mjs'], findings: [] }));
		const fault = screen.getByTestId('script-fault');
		await expect
			.element(fault)
			.toMatchTextContent(/scripts\/run\.mjs can’t run\. Line 2: This isn’t valid JavaScript\./);
		await expect
			.element(fault.getByRole('link', { name: 'Edit line 2' }))
			.toHaveAttribute('href', '/skills/edit/demo?file=scripts%2Frun.mjs&line=2');
		await expect.element(screen.getByTestId('tab-overview')).toMatchTextContent(/1 script can’t run/);
	});

	test('long instructions have contents that lead to their headings; short ones have none', async () => {
		const text = (parts: number) =>
			`---\nname: demo\ndescription: x\n---\n\n# Demo\n${Array.from({ length: parts }, (_, at) => `\n## Part \`${at}\`\n\n\`\`\`sh\n# no heading\n\`\`\`\n\n${'Words.\n\n'.repeat(20)}`).join('')}`;
		const of = (parts: number) => detailOf({ files: [{ path: 'SKILL.md', bytes: 1, text: text(parts) }] });
		const short = await setup(of(1));
		await short.screen.getByTestId('tab-instructions').click();
		await expect.element(short.screen.getByRole('heading', { name: 'Part 0' })).toBeVisible();
		await expect.element(short.screen.getByTestId('contents')).not.toBeInTheDocument();
		await short.screen.unmount();
		const { screen } = await setup(of(4));
		await screen.getByTestId('tab-instructions').click();
		const contents = screen.getByTestId('contents');
		await contents.getByText(/^Contents/).click();
		expect(
			contents
				.getByRole('button')
				.elements()
				.map(({ textContent }) => textContent.trim())
		).toEqual([0, 1, 2, 3].map((at) => `Part ${at}`));
		await contents.getByRole('button', { name: 'Part 3' }).click();
		await expect.element(screen.getByRole('heading', { name: 'Part 3' })).toBeInViewport();
		await expect.element(screen.getByRole('heading', { name: 'Part 3' })).toHaveFocus();
	});

	test('offer to try it, to edit it and to hand it on; its example is tried where it has one', async () => {
		const { screen } = await setup();
		await expect.element(screen.getByTestId('chat-with-skill')).toHaveAttribute('href', '/?skill=demo');
		await expect.element(screen.getByTestId('edit-skill')).toHaveAttribute('href', '/skills/edit/demo');
		await screen.getByTestId('skill-menu').click();
		await expect
			.element(page.getByTestId('export-skill'))
			.toHaveAttribute('href', '/api/skills/installed/demo%401.0.0/export');
		await screen.unmount();
		const example = { title: 'Chart', prompt: 'Show me a chart', files: ['sales.csv'] };
		const { screen: other } = await setup(detailOf({ example }));
		await expect.element(other.getByTestId('chat-with-skill')).toHaveAttribute('href', '/?example=demo');
		const shown = other.getByRole('link', { name: 'Ask it “Show me a chart” with sales.csv Try this' });
		await expect.element(shown).toHaveAttribute('href', '/?example=demo');
	});
});
