import { describe, expect, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { FakeSource } from '../../../../tests/support/fake-client.ts';
import { sampleDetail, sampleExecution } from '../../../../tests/support/sample-skills.ts';
import { ApiError } from '../request.ts';
import { ExecutionWatch } from './executions.svelte.ts';
import type { ConversationDetail } from '../../shared/api.ts';
import type { SkillExecution } from '../../shared/try-out.ts';
import ExecutionPage from './ExecutionPage.svelte';
import ExecutionTable from './ExecutionTable.svelte';

async function setup(...answers: SkillExecution[]) {
	const sources: FakeSource[] = [];
	const client = {
		getExecution: vi.fn(async () => (answers.length > 1 ? answers.shift() : answers[0]) as SkillExecution),
		endExecution: vi.fn(async () => {}),
		getConversation: vi.fn(async () => ({ title: 'How many words?' }) as ConversationDetail),
		restoreConversation: vi.fn(async () => ({}) as ConversationDetail),
		getSkill: vi.fn(async () => sampleDetail()),
		listTrash: vi.fn(async () => []),
		runEvents: (id: string, { seq: after }: { seq: number }) => {
			const source = new FakeSource(id, after);
			sources.push(source);
			return source as unknown as EventSource;
		}
	};
	const screen = await render(ExecutionPage, { watch: new ExecutionWatch(client, 'e1') });
	return { screen, client, sources };
}

describe('E13: the page of an execution', () => {
	test('shows what ran, what came of it and what is known of it, as text', async () => {
		const { screen, sources } = await setup(
			sampleExecution({
				argv: ['two words'],
				output: '<b>said</b>\u202e it',
				files: [
					{ path: 'made.txt', bytes: 3 },
					{ path: 'b.svg', bytes: 4 }
				]
			})
		);
		await expect.element(screen.getByTestId('terminal-command')).toHaveTextContent('$ scripts/x.sh "two words"');
		await expect.element(screen.getByTestId('execution-output')).toMatchTextContent(/<b>said<\/b>⟨U\+202E⟩ it/);
		await expect.element(screen.getByText('Wrote made.txt, b.svg')).toBeVisible();
		await expect.element(screen.getByText('made.txt (3 B), b.svg (4 B)')).not.toBeVisible();
		await screen.getByText('Details').click();
		await expect.element(screen.getByText('made.txt (3 B), b.svg (4 B)')).toBeVisible();
		await expect.element(screen.getByTestId('conversation-link')).not.toBeInTheDocument();
		expect(sources).toEqual([]);
	});

	test('that a person has stopped says so, and is no failure', async () => {
		const stopped = {
			status: 'error',
			errorType: 'Cancelled',
			errorMessage: 'x was stopped.',
			exitCode: null
		} as const;
		const { screen } = await setup(sampleExecution(stopped));
		await expect.element(screen.getByTestId('execution-status')).toHaveTextContent('Stopped');
		await expect.element(screen.getByTestId('edit-skill')).not.toBeInTheDocument();
	});

	test('F12: names the key that asked for it, and leads to the other runs of that key', async () => {
		const execution = sampleExecution({ apiKeyId: 'key_1' });
		const watch = () => new ExecutionWatch({ ...client }, 'e1');
		const { screen, client } = await setup(execution);
		await screen.getByText('Details').click();
		await expect.element(screen.getByText('key_1', { exact: true })).toBeVisible();
		await expect
			.element(screen.getByTestId('runs-of-key'))
			.toHaveAttribute('href', '/skills/executions?apiKeyId=key_1');
		await screen.unmount();
		const named = await render(ExecutionPage, { watch: watch(), keyNameOf: () => 'Codex' });
		await named.getByText('Details').click();
		await expect.element(named.getByText('“Codex” (key_1)')).toBeVisible();
		await expect.element(named.getByRole('link', { name: 'More runs of “Codex”' })).toBeVisible();
		await named.unmount();
		const props = { executions: [execution], keyNameOf: () => 'Codex', onend: () => {} };
		const table = await render(ExecutionTable, props);
		await expect.element(table.getByTestId('execution-source')).toHaveTextContent('Codex');
	});

	test.each([
		['run-1', 'Run tab'],
		['eval-1', 'Eval'],
		['eval-draft-1', 'Draft'],
		['resp_1', 'Responses API'],
		['mine', 'API'],
		['case-1', 'Test case'],
		[null, 'API'],
		['run-1', 'Editor', 'unsaved.installed/demo']
	])(
		'E10: the list tells where a run without a chat comes from: session %s',
		async (sessionId, source, skillId = 'installed/demo') => {
			const executions = [sampleExecution({ skillId, conversationId: null, apiKeyId: null, sessionId })];
			const table = await render(ExecutionTable, { executions, onend: () => {} });
			await expect.element(table.getByTestId('execution-source')).toHaveTextContent(source);
		}
	);

	test('that a person has denied says so, and is no failure', async () => {
		const denied = {
			status: 'error',
			errorType: 'ApprovalDenied',
			errorMessage: 'The user didn’t allow this call.'
		} as const;
		const { screen } = await setup(sampleExecution({ ...denied, exitCode: null, sandbox: '', output: '' }));
		await expect.element(screen.getByTestId('execution-status')).toHaveTextContent('Denied');
		await expect
			.element(screen.getByTestId('execution-message'))
			.toHaveTextContent('It wasn’t allowed, so nothing ran.');
		await expect.element(screen.getByTestId('edit-skill')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('execution-details')).toBeVisible();
		await expect.element(screen.getByTestId('execution-replay')).not.toBeInTheDocument();
	});

	test('F5: of a rerun in a chat shows its files as ones that can be opened, unless the chat is gone', async () => {
		const made = { conversationId: 'c1', files: [{ path: 'made.txt', bytes: 3 }] };
		const { screen, client } = await setup(sampleExecution(made));
		await expect.element(screen.getByRole('link', { name: 'Download made.txt' })).toBeVisible();
		await expect.element(screen.getByTestId('execution-chat')).toHaveTextContent('In the chat “How many words?”');
		await screen.unmount();
		client.getConversation.mockRejectedValueOnce(new ApiError('not_found', 'Conversation not found.'));
		const gone = await render(ExecutionPage, { watch: new ExecutionWatch(client, 'e1') });
		await expect.element(gone.getByTestId('chat-missing')).toBeVisible();
		await expect.element(gone.getByTestId('file-card')).not.toBeInTheDocument();
	});

	test('of a script that lacked something offers what fixes it', async () => {
		const { screen } = await setup(
			sampleExecution({ status: 'error', errorType: 'HostNotAllowed', missing: { kind: 'host', name: 'a.io' } })
		);
		await expect.element(screen.getByRole('button', { name: 'Allow a.io' })).toBeVisible();
	});

	test('of a deleted chat says so and restores it; of one that is gone it runs again without its files', async () => {
		const { screen, client } = await setup(sampleExecution({ conversationId: 'c1' }));
		await expect.element(screen.getByTestId('conversation-link')).toBeVisible();
		await screen.unmount();
		const deleted = new ApiError('not_found', 'This conversation was deleted.', { details: { isDeleted: true } });
		client.getConversation.mockRejectedValueOnce(deleted);
		const again = await render(ExecutionPage, { watch: new ExecutionWatch(client, 'e1') });
		await expect.element(again.getByTestId('chat-missing')).toMatchTextContent(/was deleted\. You can restore it/);
		await expect.element(again.getByTestId('conversation-link')).not.toBeInTheDocument();
		await again.getByTestId('restore-chat').click();
		expect(client.restoreConversation).toHaveBeenCalledExactlyOnceWith('c1');
		await expect.element(again.getByTestId('conversation-link')).toBeVisible();
		await again.unmount();
		client.getConversation.mockRejectedValueOnce(new ApiError('not_found', 'Conversation not found.'));
		const gone = await render(ExecutionPage, { watch: new ExecutionWatch(client, 'e1') });
		await expect.element(gone.getByTestId('chat-missing')).toMatchTextContent(/for good/);
		await expect.element(gone.getByTestId('restore-chat')).not.toBeInTheDocument();
	});

	test('F16: becomes an eval of its skill, unless that is broken: it has no Evals tab', async () => {
		const { screen, client } = await setup(sampleExecution({ conversationId: 'c1', toolCallId: 't1' }));
		await expect.element(screen.getByTestId('add-to-evals')).toBeVisible();
		await screen.unmount();
		client.getSkill.mockResolvedValue(sampleDetail({ status: 'broken' }));
		const again = await render(ExecutionPage, { watch: new ExecutionWatch(client, 'e1') });
		await expect.element(again.getByTestId('conversation-link')).toBeVisible();
		await expect.element(again.getByTestId('add-to-evals')).not.toBeInTheDocument();
	});

	test('of a conversation replays the step that it was, from the log of its run', async () => {
		const ids = { conversationId: 'c 1', runId: 'r1', toolCallId: 't1' };
		const { screen, sources } = await setup(sampleExecution({ ...ids, output: 'said' }));
		await expect.element(screen.getByTestId('conversation-link')).toHaveAttribute('href', '/c/c%201');
		const [source] = sources;
		expect(source).toMatchObject({ runId: 'r1', after: 0 });
		const started = {
			toolCallId: 't1',
			executionId: 'e1',
			skill: 'demo',
			script: 'scripts/x.sh',
			args: [],
			sandbox: 's'
		};
		source?.send([
			{ type: 'RUN_STARTED', threadId: 'c 1', runId: 'r1' },
			{ type: 'TOOL_CALL_START', toolCallId: 't1', toolCallName: 'use_skill' },
			{ type: 'TOOL_CALL_ARGS', toolCallId: 't1', delta: '{"skill":"demo","script":"scripts/x.sh"}' },
			{ type: 'TOOL_CALL_END', toolCallId: 't1' },
			{ type: 'CUSTOM', name: 'skill.started', value: started }
		]);
		// Shown only once the run is over, so it opens at the start of the output instead of following it.
		expect(screen.getByTestId('execution-replay').query()).toBe(null);
		source?.send([
			{ type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 't1', content: 'said', role: 'tool' },
			{ type: 'RUN_FINISHED', threadId: 'c 1', runId: 'r1' }
		]);
		await expect.element(screen.getByTestId('step')).toHaveAttribute('data-status', 'done');
		expect(source?.isClosed).toBe(true);
	});

	test('that had to be allowed replays its step as well, though the run before wrote the call', async () => {
		const ids = { conversationId: 'c1', runId: 'r2', toolCallId: 't1' };
		const { screen, sources } = await setup(sampleExecution({ ...ids, output: 'said: oh no', status: 'running' }));
		const value = { toolCallId: 't1', executionId: 'e1' };
		const said = (stream: 'stdout' | 'stderr', text: string) => ({ toolCallId: 't1', executionId: 'e1', stream, text });
		sources[0]?.send([
			{ type: 'RUN_STARTED', threadId: 'c1', runId: 'r2' },
			{ type: 'CUSTOM', name: 'tool.decision', value: { toolCallId: 'other', choice: 'once' } },
			{ type: 'CUSTOM', name: 'tool.decision', value: { toolCallId: 't1', choice: 'once' } },
			{
				type: 'CUSTOM',
				name: 'skill.started',
				value: { ...value, skill: 'demo', script: 'scripts/x.sh', args: ['it'], sandbox: 's' }
			},
			{ type: 'CUSTOM', name: 'skill.output', value: said('stdout', 'said: ') },
			{ type: 'CUSTOM', name: 'skill.output', value: said('stderr', 'oh no') }
		]);
		const step = screen.getByTestId('step');
		await expect.element(step).toHaveAttribute('data-status', 'running');
		await expect.element(step).toHaveAttribute('aria-label', 'Running scripts/x.sh');
		await expect.element(screen.getByTestId('terminal-command')).toHaveTextContent('$ scripts/x.sh it');
		await expect.element(screen.getByTestId('execution-output')).toMatchTextContent(/said: oh no/);
		sources[0]?.send([
			{ type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 't1', content: 'said', role: 'tool' },
			{ type: 'RUN_FINISHED', threadId: 'c1', runId: 'r2' }
		]);
		await expect.element(step).toHaveAttribute('data-status', 'done');
	});

	test('that failed says so in one plain line, with what to do about it', async () => {
		const { screen } = await setup(
			sampleExecution({
				...{ status: 'error', exitCode: 1, errorType: 'ExecutionFailed', output: 'said' },
				...{ errorMessage: 'scripts/x.sh ended with exit code 1.', limits: { timeoutMs: 30_000, processes: 64 } }
			})
		);
		await expect.element(screen.getByTestId('execution-message')).toHaveTextContent('said');
		await expect
			.element(screen.getByRole('link', { name: 'Edit skill' }))
			.toHaveAttribute('href', '/skills/edit/installed/demo?file=scripts%2Fx.sh&run=e1');
		await expect
			.element(screen.getByRole('link', { name: 'Change input' }))
			.toHaveAttribute('href', '/skills/installed/demo#run?execution=e1');
		await screen.getByText('Details').click();
		await expect.element(screen.getByText('Time limit 30 s Processes 64')).toBeVisible();
		await expect.element(screen.getByText('ended with exit code 1')).not.toBeInTheDocument();
	});

	test.each([
		['draft.d1/demo', 'Draft', '/skills/drafts/d1'],
		['unsaved.mine/demo', 'Unsaved text', '/skills/mine/demo'],
		['draft.trial/demo', 'Draft or unsaved text', null]
	])('F1, F8: a run of %s is marked “%s”, here and in the list, and leads there', async (skillId, badge, href) => {
		const execution = sampleExecution({ skillId });
		const { screen } = await setup(execution);
		const run = screen.getByTestId('execution');
		await expect.element(run.getByTestId('execution-text')).toHaveTextContent(badge);
		if (href !== null)
			await expect.element(run.getByRole('link', { name: 'demo', exact: true })).toHaveAttribute('href', href);
		expect(screen.container.textContent).not.toContain(skillId);
		await screen.unmount();
		const table = await render(ExecutionTable, { executions: [execution], onend: () => {} });
		await expect.element(table.getByTestId('execution-skill')).toHaveTextContent('demo');
		await expect.element(table.getByTestId('execution-text')).toHaveTextContent(badge);
	});

	test('E13: what looks like a secret in its input is left out, as in the list', async () => {
		const argv = ['--token', 'hunter2', '--api-key=abc12345', '-H', 'Authorization: Bearer 0123456789abcdef01', 'kept'];
		const { screen } = await setup(sampleExecution({ argv }));
		const shown = '--token ••• --api-key=••• -H "Authorization: Bearer •••" kept';
		await expect.element(screen.getByTestId('terminal-command')).toMatchTextContent(shown);
		await screen.unmount();
		const tool = sampleExecution({ id: 'e2', tool: 'ask', input: '{"deep":{"apiKey":"hunter2","n":1.0},"text":"hi"}' });
		const called = await setup(tool);
		await expect.element(called.screen.getByTestId('terminal-command')).toMatchTextContent('•••');
		for (const secret of ['hunter2', 'abc12345', '0123456789abcdef01'])
			expect(document.body.textContent).not.toContain(secret);
		await called.screen.unmount();
		const table = await render(ExecutionTable, { executions: [sampleExecution({ argv }), tool], onend: () => {} });
		await expect.element(table.getByTestId('execution-link').first()).toMatchTextContent(shown);
		expect(table.container.textContent).not.toContain('hunter2');
	});

	test('F14: a failed run says why, what helps, and leads to the line that broke', async () => {
		const output = 'TypeError: x is no function\n    at f (file:///skill/scripts/x.sh:4:19)\n';
		const broken = { status: 'error', errorType: 'ExecutionFailed', exitCode: 1, output } as const;
		const { screen } = await setup(sampleExecution({ ...broken, errorMessage: 'x ended with exit code 1.' }));
		await expect.element(screen.getByTestId('execution-message')).toMatchTextContent('x is no function');
		await expect.element(screen.getByTestId('execution-advice')).toMatchTextContent(/line 4 of x\.sh/);
		const edit = screen.getByTestId('edit-skill');
		await expect.element(edit).toHaveTextContent('Edit line 4');
		await expect.element(edit).toHaveAttribute('href', '/skills/edit/installed/demo?file=scripts%2Fx.sh&line=4&run=e1');
	});

	test('F14: a failed run of a skill that has changed since says so, and leads to no line of it', async () => {
		const output = 'TypeError: x is no function\n    at f (file:///skill/scripts/x.sh:4:19)\n';
		const broken = { status: 'error', errorType: 'ExecutionFailed', exitCode: 1, output } as const;
		const { screen } = await setup(sampleExecution({ ...broken, digest: 'of files that are gone' }));
		await expect.element(screen.getByTestId('skill-changed')).toMatchTextContent(/has changed since this run/);
		await expect.element(screen.getByTestId('execution-advice')).not.toBeInTheDocument();
		const edit = screen.getByTestId('edit-skill');
		await expect.element(edit).toHaveTextContent('Edit skill');
		await expect.element(edit).toHaveAttribute('href', '/skills/edit/installed/demo?file=scripts%2Fx.sh&run=e1');
	});

	test('F1: a run of unsaved text leads to its skill, and isn’t run again: that text isn’t kept', async () => {
		const failed = { status: 'error', errorType: 'ExecutionFailed', exitCode: 1, output: 'said' } as const;
		const { screen } = await setup(sampleExecution({ ...failed, skillId: 'unsaved.installed/demo', digest: 'then' }));
		await expect.element(screen.getByTestId('skill-changed')).toMatchTextContent(/The skill says something else now/);
		await expect
			.element(screen.getByTestId('edit-skill'))
			.toHaveAttribute('href', '/skills/edit/installed/demo?file=scripts%2Fx.sh&run=e1');
		await expect
			.element(screen.getByRole('link', { name: 'Change input' }))
			.toHaveAttribute('href', '/skills/installed/demo#run?execution=e1');
		await expect.element(screen.getByTestId('run-again')).not.toBeInTheDocument();
	});

	test('whose skill is broken by now says so and leads to it, and offers nothing that can’t work', async () => {
		const { client } = await setup(sampleExecution({ status: 'error', exitCode: 1, output: 'said' }));
		const fault = { severity: 'error', field: 'name', message: 'is missing' } as const;
		client.getSkill.mockResolvedValue(
			sampleDetail({ status: 'broken', id: 'installed/demo~:1.0.0', diagnostics: [fault] })
		);
		const screen = await render(ExecutionPage, { watch: new ExecutionWatch(client, 'e1') });
		const note = screen.getByTestId('skill-unavailable').last();
		await expect.element(note).toMatchTextContent(/is broken, so it can’t run: name is missing\./);
		await expect.element(note.getByRole('link')).toHaveAttribute('href', '/skills/installed/demo@1.0.0');
		await expect.element(screen.getByTestId('run-again').nth(1)).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('edit-skill').nth(1)).not.toBeInTheDocument();
	});

	test('F1: whose skill has another name by now says so and leads to it', async () => {
		const { client } = await setup(sampleExecution({ status: 'success' }));
		client.getSkill.mockResolvedValue(sampleDetail({ id: 'fresh', name: 'fresh', skillId: 'installed/fresh' }));
		const other = await render(ExecutionPage, { watch: new ExecutionWatch(client, 'e1') });
		const note = other.getByTestId('skill-unavailable').last();
		await expect.element(note).toMatchTextContent(/is called “fresh” now/);
		await expect.element(note.getByRole('link')).toHaveAttribute('href', '/skills/fresh#run');
	});

	test.each(['chat.0123456789abcdef01234567/demo', 'draft.trial/demo'])(
		'D25, F8: of what is in no library (%s), it offers no skill to open, edit or run',
		async (skillId) => {
			const { screen } = await setup(sampleExecution({ skillId, status: 'error', exitCode: 1, output: 'said' }));
			const run = screen.getByTestId('execution');
			await expect.element(run).toMatchTextContent(/demo/);
			await expect.element(run.getByRole('link', { name: 'demo', exact: true })).not.toBeInTheDocument();
			for (const name of ['Edit skill', 'Change input', 'Run again'])
				await expect.element(run.getByText(name)).not.toBeInTheDocument();
		}
	);

	test('that timed out leads to the limit first', async () => {
		const { screen } = await setup(
			sampleExecution({ status: 'timeout', exitCode: null, errorType: 'ExecutionTimeout' })
		);
		await expect
			.element(screen.getByTestId('execution'))
			.toMatchTextContent(/Change limit\s*Run again\s*Change input\s*Edit skill/);
		await expect.element(screen.getByTestId('change-limit')).toHaveAttribute('href', '/settings#limits');
	});

	test('E10: follows one that runs, which can be ended there', async () => {
		const running = sampleExecution({
			status: 'running',
			exitCode: null,
			finishedAt: null,
			durationMs: null,
			output: null
		});
		const ended = sampleExecution({ status: 'error', exitCode: null, errorMessage: 'It was ended by the operator.' });
		const { screen, client } = await setup(running, ended);
		await screen.getByTestId('end-execution').click();
		expect(client.endExecution).toHaveBeenCalledExactlyOnceWith('e1');
		await expect.element(screen.getByTestId('execution-message')).toHaveTextContent('It was ended by the operator.');
		await expect.element(screen.getByTestId('end-execution')).not.toBeInTheDocument();
	});

	test('that is not there says so', async () => {
		const { screen, client } = await setup(sampleExecution());
		await expect.element(screen.getByTestId('execution-replay')).toBeVisible();
		client.getExecution.mockRejectedValue(new ApiError('not_found', 'x'));
		const missing = await render(ExecutionPage, { watch: new ExecutionWatch({ ...client, runEvents: vi.fn() }, 'e2') });
		await expect.element(missing.getByText('Run not found.')).toBeVisible();
	});
});

describe('E10: the table of executions', () => {
	test('names what ran, how it ended, how long it took, and where it was asked; a row leads to its page', async () => {
		const screen = await render(ExecutionTable, {
			executions: [
				sampleExecution({
					id: 'e 1',
					conversationId: 'c1',
					exitCode: 3,
					status: 'error',
					errorType: 'ExecutionFailed'
				}),
				sampleExecution({ id: 'e2', status: 'running', exitCode: null, durationMs: null })
			],
			onend: vi.fn()
		});
		const [failed, running] = screen.getByTestId('execution').elements();
		expect(failed?.textContent.replace(/\s+/g, ' ')).toMatch(/Failed.*demo.*scripts\/x\.sh.*1\.5 s.*Chat/);
		expect(failed?.textContent).not.toContain('ExecutionFailed');
		expect(running).toHaveAttribute('data-status', 'running');
		const links = screen.getByTestId('execution-link').elements();
		expect(links[0]).toHaveAttribute('href', '/skills/executions/e%201');
		expect(screen.getByRole('link', { name: 'Chat' }).element()).toHaveAttribute('href', '/c/c1');
		expect(screen.getByTestId('end-execution').elements()).toHaveLength(1);
	});

	test.each([
		[{ argv: ['two words', '--json'] }, 'scripts/x.sh "two words" --json'],
		[{ tool: 'count', input: '{"text":"a\\nb","n":3}' }, 'count text: a b n: 3'],
		[{ tool: 'execute_command', skill: 'execute_command', input: '{"command":"ls -la"}' }, 'execute_command ls -la'],
		[{ tool: 'odd', input: 'no JSON' }, 'odd "no JSON"'],
		[{ argv: ['--token', 'abc', '--password=hunter2x', 'go'] }, 'scripts/x.sh --token ••• --password=••• go'],
		[{ argv: ['sk-0123456789abcdef0123'] }, 'scripts/x.sh •••'],
		[{ tool: 'send', input: '{"apiKey":"abc","to":"#dev"}' }, 'send apiKey: ••• to: #dev'],
		[{ argv: ['\u202eevil'] }, 'scripts/x.sh ⟨U+202E⟩evil']
	] as const)('a row has what was run, and never a secret: %o', async (more, line) => {
		const executions = [sampleExecution({ ...more, argv: [...('argv' in more ? more.argv : [])] })];
		const screen = await render(ExecutionTable, { executions, onend: vi.fn() });
		await expect.element(screen.getByTestId('execution-link')).toHaveTextContent(line);
	});

	test('on a narrow page, no line of a command ends inside the name of an option', async () => {
		await page.viewport(390, 844);
		const argv = ['summary', 'orders-of-the-year.xlsx', '--group-by', 'region', '--value', 'revenue'];
		const screen = await render(ExecutionTable, { executions: [sampleExecution({ argv })], onend: vi.fn() });
		const options = [...screen.getByTestId('execution-link').element().querySelectorAll('span')];
		expect(options.map(({ textContent }) => textContent)).toEqual(['--group-by', '--value']);
		for (const option of options) expect(option.getClientRects()).toHaveLength(1);
	});

	test.each([
		[{ status: 'error', errorType: 'X', errorMessage: 'No token sk-0123456789abcdef0123.' }, 'No token •••.'],
		[{ files: [{ path: 'out/made.txt', bytes: 3 }] }, 'Wrote out/made.txt'],
		[{ files: ['a', 'b', 'c'].map((path) => ({ path, bytes: 3 })) }, 'Wrote 3 files']
	] as const)('a row says what came of it: %o', async (more, words) => {
		const executions = [sampleExecution({ ...more, files: 'files' in more ? [...more.files] : [] })];
		const screen = await render(ExecutionTable, { executions, onend: vi.fn() });
		await expect.element(screen.getByTestId('execution-outcome')).toHaveTextContent(words);
		await screen.rerender({ executions: [sampleExecution()] });
		await expect.element(screen.getByTestId('execution-outcome')).not.toBeInTheDocument();
	});

	test('all of a row leads to its run but the chat, which is called by its title where that is known', async () => {
		const executions = [sampleExecution({ conversationId: 'c1' }), sampleExecution({ id: 'e2', conversationId: 'c2' })];
		const titleOf = (id: string) => (id === 'c1' ? 'Sums of May' : undefined);
		const screen = await render(ExecutionTable, { executions, titleOf, onend: vi.fn() });
		await expect.element(screen.getByRole('link', { name: 'Sums of May' })).toHaveAttribute('href', '/c/c1');
		await expect.element(screen.getByRole('link', { name: 'Chat' })).toHaveAttribute('href', '/c/c2');
		for (const cell of screen.getByTestId('execution').first().element().querySelectorAll('td')) {
			const { left, top, width, height } = cell.getBoundingClientRect();
			if (width === 0 || cell.querySelector('a[href^="/c/"]')) continue;
			const [x, y] = [left + width / 2, top + height / 2];
			expect(document.elementFromPoint(x, y)?.closest('a')?.getAttribute('href'), cell.textContent).toBe(
				'/skills/executions/e1'
			);
		}
	});

	test('fits into 390 pixels', async () => {
		const frame = document.createElement('div');
		frame.style.width = '390px';
		document.body.append(frame);
		const long = 'x'.repeat(200);
		const executions = [sampleExecution({ skill: long, script: long, argv: [long, long], conversationId: 'c1' })];
		const titleOf = () => long;
		await render(ExecutionTable, { executions, titleOf, onend: vi.fn() }, { baseElement: frame });
		expect(frame.scrollWidth).toBeLessThanOrEqual(390);
		await page.viewport(390, 844);
		const time = frame.querySelector('time')?.getBoundingClientRect();
		const chat = frame.querySelector('a[href^="/c/"]')?.getBoundingClientRect();
		expect(chat?.left).toBeGreaterThan(time?.right ?? Infinity);
		frame.remove();
	});
});
