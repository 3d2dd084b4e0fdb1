import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import type { SkillExecution } from '../../shared/try-out.ts';
import { sampleDetail, sampleExecution } from '../../../../tests/support/sample-skills.ts';
import { ApiError } from '../request.ts';
import type { Client } from '../server.ts';
import ExecutionRow from './ExecutionRow.svelte';
import RunAgain from './RunAgain.svelte';

const execution: SkillExecution = {
	...{ id: 'e1', skillId: 'skills/demo', skill: 'demo', version: '1.2.3', tool: null, script: 'scripts/say.sh' },
	...{
		argv: ['two words', '7'],
		input: null,
		digest: 'abc123',
		sandbox: 'bubblewrap',
		limits: { timeoutMs: 30_000, memoryBytes: 536_870_912 }
	},
	...{ status: 'success', errorType: null, errorMessage: null, exitCode: 0, stdoutBytes: 1300, stderrBytes: 4 },
	...{ output: '<b>said</b>\u202e it', durationMs: 1500, files: [{ path: 'made.txt', bytes: 3 }] },
	...{ refused: [], missing: null },
	...{ conversationId: 'c 1', runId: 'r1', toolCallId: 't1', apiKeyId: null, sessionId: null },
	...{ createdAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:00:01.500Z' }
};

describe('E13: an execution', () => {
	test('that printed a table shows one', async () => {
		const output = '## Sums\n\n| region | revenue |\n|---|---:|\n| North | 12 |\n';
		const screen = await render(ExecutionRow, { execution: { ...execution, output }, isOpen: true });
		await expect.element(screen.getByTestId('execution-output').getByRole('cell', { name: 'North' })).toBeVisible();
	});

	test('says in one line what ran, how it ended, how long it took and where; the rest on request', async () => {
		const screen = await render(ExecutionRow, { execution });
		const row = screen.getByTestId('execution');
		await expect.element(row).toHaveAttribute('data-status', 'success');
		for (const words of ['Succeeded', 'demo', 'scripts/say.sh', '1.5 s'])
			await expect.element(row.getByText(words, { exact: true })).toBeVisible();
		await expect.element(screen.getByTestId('execution-output')).not.toBeVisible();
		await row.getByText('Succeeded', { exact: true }).click();
		// Shown as text, without the direction override.
		await expect.element(screen.getByTestId('execution-output')).toHaveTextContent('<b>said</b>⟨U+202E⟩ it');
		await expect.element(row.getByText('scripts/say.sh "two words" 7')).toBeVisible();
		const facts = row.element().textContent.replace(/\s+/g, ' ');
		for (const fact of [
			'Skill skills/demo 1.2.3',
			'SHA-256 of files abc123',
			'Started from Chat',
			'Ran in a sandboxExit code',
			'Sandbox bubblewrap',
			'Exit code 0',
			'1.3 kB stdout, 4 B stderr',
			'Time limit 30 s Memory 512 MB'
		])
			expect(facts).toContain(fact);
		const link = row.getByRole('link', { name: 'Open chat' });
		await expect.element(link).toHaveAttribute('href', '/c/c%201');
		await expect.element(screen.getByTestId('end-execution')).not.toBeInTheDocument();
	});

	test('F5: that ran in a chat shows its files as ones that can be opened', async () => {
		const screen = await render(ExecutionRow, { execution, isOpen: true });
		await expect.element(screen.getByTestId('file-card')).toHaveAttribute('data-path', 'made.txt');
		await expect
			.element(screen.getByRole('link', { name: 'Download made.txt' }))
			.toHaveAttribute('href', '/api/conversations/c%201/files/made.txt?v=e1');
	});

	test('run again in its chat does not lead there, and says that the answer is older only if it succeeded', async () => {
		const onanswer = vi.fn();
		const screen = await render(ExecutionRow, { execution, isOpen: true, isInChat: true, onanswer });
		await expect.element(screen.getByTestId('old-answer')).toMatchTextContent(/^\s*Answer again\s*$/);
		await screen.rerender({ isAnswered: true });
		await expect.element(screen.getByTestId('old-answer')).toMatchTextContent(/The answer below is from the first run/);
		await expect.element(screen.getByRole('link', { name: 'Open run' })).toBeVisible();
		await expect.element(screen.getByRole('link', { name: 'Open chat' })).not.toBeInTheDocument();
		await screen.getByTestId('answer-again').click();
		expect(onanswer).toHaveBeenCalledOnce();
		await screen.rerender({ execution: { ...execution, status: 'error' } });
		await expect.element(screen.getByTestId('old-answer')).not.toBeInTheDocument();
	});

	test('F8: of a script that broke, it leads to the line in the editor', async () => {
		const output = 'TypeError: x is no function\n    at f (file:///skill/scripts/x.sh:4:19)\n';
		const execution = sampleExecution({ status: 'error', errorType: 'ExecutionFailed', exitCode: 1, output });
		const screen = await render(ExecutionRow, { execution, isOpen: true });
		await expect
			.element(screen.getByRole('link', { name: 'Edit line 4' }))
			.toHaveAttribute('href', '/skills/edit/installed/demo?file=scripts%2Fx.sh&line=4&run=e1');
	});

	test('F8: of unsaved text says so, and leads to the line of its skill; saved since, it is as any other', async () => {
		const output = 'TypeError: x is no function\n    at f (file:///skill/scripts/x.sh:4:19)\n';
		const failed = { status: 'error', errorType: 'ExecutionFailed', exitCode: 1, output } as const;
		const message = { errorMessage: 'scripts/x.sh ended with exit code 1.' };
		const unsaved = sampleExecution({ ...failed, ...message, skillId: 'unsaved.installed/demo' });
		const screen = await render(ExecutionRow, { execution: unsaved, isOpen: true });
		const badge = screen.getByTestId('execution-text');
		await expect.element(badge).toHaveTextContent('Unsaved text');
		await expect
			.element(screen.getByRole('link', { name: 'Edit line 4' }))
			.toHaveAttribute('href', '/skills/edit/installed/demo?file=scripts%2Fx.sh&line=4&run=e1');
		await screen.rerender({ digest: 'other' });
		await expect.element(badge).toHaveTextContent('Before your last change');
		await expect.element(screen.getByRole('link', { name: 'Edit line 4' })).not.toBeInTheDocument();
		await screen.rerender({ digest: unsaved.digest });
		await expect.element(badge).not.toBeInTheDocument();
		// What went wrong is said once; the trace is there on request.
		await expect.element(screen.getByTestId('execution-message')).toHaveTextContent('TypeError: x is no function');
		await expect.element(screen.getByTestId('execution-output')).not.toBeVisible();
		await screen.getByText('Full output').click();
		await expect.element(screen.getByTestId('execution-output')).toBeVisible();
	});

	test('F8: of a script that broke where its text is open, it leads to the line there; what it lacks is no line', async () => {
		const output = 'TypeError: x is no function\n    at f (file:///skill/scripts/x.sh:4:19)\n';
		const failed = { status: 'error', errorType: 'ExecutionFailed', exitCode: 1, output } as const;
		const unsaved = sampleExecution({ ...failed, skillId: 'unsaved.installed/demo' });
		const onedit = vi.fn();
		const screen = await render(ExecutionRow, { execution: unsaved, isOpen: true, onedit });
		await screen.getByRole('button', { name: 'Edit line 4' }).click();
		expect(onedit).toHaveBeenCalledExactlyOnceWith('scripts/x.sh', 4, unsaved);
		const missing = { kind: 'command', name: 'jq' } as const;
		await screen.rerender({ execution: { ...unsaved, missing } });
		await expect.element(screen.getByRole('button', { name: 'Edit line 4' })).not.toBeInTheDocument();
	});

	test('of a tool shows its input; one that failed its error, and what it was refused', async () => {
		const failed: SkillExecution = {
			...execution,
			...{ tool: 'add', script: 'add.js', argv: [], input: '{"a":1}', status: 'timeout', exitCode: null },
			...{ errorType: 'ExecutionTimeout', errorMessage: 'It was ended after 30 s.', refused: ['evil.example:443'] },
			...{ conversationId: null, apiKeyId: 'key-1', sessionId: 'session-1' }
		};
		const screen = await render(ExecutionRow, { execution: failed, isOpen: true });
		await expect.element(screen.getByTestId('execution-status')).toHaveTextContent('Timed out');
		await expect.element(screen.getByText('Run timeout')).not.toBeVisible();
		await screen.getByText('Details').click();
		for (const words of ['Run timeout', 'It was ended after 30 s.', 'evil.example:443', 'key-1', 'session-1'])
			await expect.element(screen.getByText(words, { exact: true })).toBeVisible();
		await expect.element(screen.getByText('add "{\\"a\\":1}"')).toBeVisible();
		await expect.element(screen.getByRole('link', { name: 'Open chat' })).not.toBeInTheDocument();
		await expect
			.element(screen.getByRole('link', { name: 'Open run' }))
			.toHaveAttribute('href', `/skills/executions/${failed.id}`);
	});

	test('E10: can be ended while it is under way, where somebody can end it', async () => {
		const onend = vi.fn();
		const running: SkillExecution = { ...execution, status: 'running', exitCode: null, finishedAt: null };
		const screen = await render(ExecutionRow, { execution: running, onend, isOpen: true });
		await screen.getByTestId('end-execution').click();
		expect(onend).toHaveBeenCalledExactlyOnceWith('e1');
		await screen.rerender({ execution: running, onend: undefined });
		await expect.element(screen.getByTestId('end-execution')).not.toBeInTheDocument();
	});
});

const noTrash = () => ({
	listTrash: vi.fn<Client['listTrash']>(async () => []),
	restoreSkill: vi.fn<Client['restoreSkill']>(),
	changeSkill: vi.fn<Client['changeSkill']>()
});

test('F6: one whose skill was deleted or turned off meanwhile says so, and brings it back', async () => {
	const client = {
		listExecutions: vi.fn(),
		getExecution: vi.fn(async () => sampleExecution()),
		getSkill: vi.fn<Client['getSkill']>().mockRejectedValueOnce(new ApiError('not_found', 'Skill not found.')),
		...noTrash(),
		runExecution: vi
			.fn()
			.mockRejectedValue(new ApiError('not_found', 'Skill not found: “demo”.', { hint: 'Available skills: a' }))
	};
	client.listTrash.mockResolvedValue([
		{
			...{ id: 't1', skillId: 'installed/demo', name: 'demo', version: null, path: '/x' },
			...{ removedAt: '2026-01-02T03:04:05Z', expiresAt: '2026-02-02T03:04:05Z' }
		}
	]);
	const screen = await render(RunAgain, { executionId: 'e1', onrun: vi.fn(), client });
	await screen.getByTestId('run-again').click();
	await expect.element(screen.getByTestId('skill-unavailable')).toMatchTextContent(/is in the Trash\. Restore it/);
	await expect.element(screen.getByTestId('run-again')).not.toBeInTheDocument();
	await expect.element(screen.getByTestId('run-again-error')).not.toBeInTheDocument();
	client.getSkill.mockResolvedValueOnce(sampleDetail({ mode: 'off', id: 'demo' }));
	await screen.getByTestId('bring-skill-back').click();
	expect(client.restoreSkill).toHaveBeenCalledExactlyOnceWith('t1');
	await expect.element(screen.getByTestId('bring-skill-back')).toHaveTextContent('Turn on');
	client.getSkill.mockResolvedValueOnce(sampleDetail());
	await screen.getByTestId('bring-skill-back').click();
	expect(client.changeSkill).toHaveBeenCalledExactlyOnceWith('demo', { mode: 'auto' });
	await expect.element(screen.getByTestId('run-again')).toHaveTextContent('Run again');
});

test('F6: a run is run again as it was, and is allowed or denied where it asks', async () => {
	const again = sampleExecution({ id: 'e2', output: 'this time' });
	const details = { error: 'NotTrusted', digest: 'd1', trust: 'untrusted', reach: { hosts: [], readsServer: false } };
	const asks = new ApiError('forbidden', '“demo” wants to run scripts/x.sh. This skill isn’t trusted.', {
		details
	});
	const client = {
		listExecutions: vi.fn(() =>
			Promise.resolve({ data: [] as SkillExecution[], total: 0, page: 1, limit: 50, totalPages: 1 })
		),
		getExecution: vi.fn(() => Promise.resolve(sampleExecution({ argv: ['a b'] }))),
		getSkill: vi.fn(),
		...noTrash(),
		runExecution: vi
			.fn()
			.mockRejectedValueOnce(asks)
			.mockRejectedValueOnce(asks)
			.mockResolvedValue({ execution: again })
	};
	const onrun = vi.fn();
	const screen = await render(RunAgain, { executionId: 'e1', conversationId: 'c1', onrun, client });
	await screen.getByTestId('run-again').click();
	const card = screen.getByTestId('approval');
	await expect.element(card).toHaveFocus();
	await expect.element(screen.getByTestId('approval-command')).toHaveTextContent('$ scripts/x.sh "a b"');
	await expect
		.element(screen.getByTestId('approval-why'))
		.toMatchTextContent(/^\s*This skill isn’t trusted\. Its scripts ask before each run until you trust it\./);
	await expect.element(screen.getByTestId('approval-reach')).toHaveTextContent('No network');
	await expect.element(screen.getByText('Show script')).toBeVisible();
	await expect.element(screen.getByTestId('run-again-error')).not.toBeInTheDocument();
	await screen.getByTestId('deny').click();
	await expect.element(card).not.toBeInTheDocument();
	expect(client.runExecution).toHaveBeenCalledOnce();
	await screen.getByTestId('run-again').click();
	await screen.getByTestId('approve-once').click();
	await expect.poll(() => onrun.mock.calls).toEqual([[again]]);
	await expect.element(card).not.toBeInTheDocument();
	expect(client.runExecution).toHaveBeenLastCalledWith({
		skillName: 'installed/demo',
		script: 'scripts/x.sh',
		args: ['a b'],
		conversationId: 'c1',
		approve: 'd1'
	});
});

test('F6: the latest rerun from before a reload is shown again, and no other run of the chat', async () => {
	const client = {
		listExecutions: vi.fn(() =>
			Promise.resolve({
				data: [
					sampleExecution({ id: 'e5', runId: null, argv: ['other'] }),
					sampleExecution({ id: 'e4', runId: 'another answer' }),
					sampleExecution({ id: 'e3', runId: null }),
					sampleExecution({ id: 'e2', runId: null }),
					sampleExecution({ id: 'e1', runId: 'r1' }),
					sampleExecution({ id: 'e0', runId: null })
				],
				...{ total: 6, page: 1, limit: 50, totalPages: 1 }
			})
		),
		getExecution: vi.fn(),
		getSkill: vi.fn(async () => sampleDetail({ digest: 'mended' })),
		...noTrash(),
		runExecution: vi.fn()
	};
	const onrun = vi.fn();
	const screen = await render(RunAgain, { executionId: 'e1', conversationId: 'c1', onrun, client });
	await expect.poll(() => onrun.mock.calls).toMatchObject([[{ id: 'e3' }, true]]);
	// It was mended since.
	await expect.element(screen.getByTestId('run-again')).toHaveTextContent('Run the changed skill');
	expect(client.listExecutions).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ conversationId: 'c1' }));
	await render(RunAgain, { executionId: 'e1', onrun, client });
	expect(client.listExecutions).toHaveBeenCalledOnce();
});
