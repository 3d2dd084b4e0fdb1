import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page, userEvent } from 'vitest/browser';
import '../../../app.css';
import { ApiError } from '../request.ts';
import type { Approval, Execution, ToolPart, ToolStatus } from '../../shared/message.ts';
import Step from './Step.svelte';
import { eventually } from '../../../../tests/support/eventually.ts';
import { sampleDetail, sampleExecution } from '../../../../tests/support/sample-skills.ts';

const execution: Execution = {
	skill: 'count-words',
	script: 'scripts/count.js',
	args: ['two words'],
	sandbox: 'process',
	output: [
		{ stream: 'stdout', text: '\u001b[32mwords: 2\u001b[0m\n' },
		{ stream: 'stderr', text: 'a warning\n' }
	],
	files: []
};

function part(change: Partial<ToolPart> = {}): ToolPart {
	return {
		type: 'tool',
		id: 'c1',
		name: 'use_skill',
		arguments: '{"skill":"count-words","script":"scripts/count.js"}',
		status: 'done',
		...change
	};
}

const finished: Execution = { ...execution, exitCode: 0, durationMs: 3210 };

describe('the row', () => {
	test('F14: of a call that was under way before this page goes on counting', async () => {
		const screen = await render(Step, { part: part({ status: 'running', elapsedMs: 125_000 }), conversationId: 'c' });
		await expect.element(screen.getByText(/^2 min \d+ s$/)).toBeVisible();
	});

	test('D33: says that its script waits for a worker, on a phone, too', async () => {
		await page.viewport(390, 800);
		const waiting = part({ status: 'running', execution: { ...execution, output: [], isWaiting: true } });
		const screen = await render(Step, { part: waiting, conversationId: 'c' });
		await expect.element(screen.getByText('Waiting for a worker')).toBeVisible();
		await screen.rerender({ part: part({ status: 'running', execution }), conversationId: 'c' });
		await expect.element(screen.getByText('Waiting for a worker')).not.toBeInTheDocument();
	});

	test('C17: is titled with the model’s headline, as text', async () => {
		await page.viewport(1280, 900);
		const headline = 'Counting <img src=x onerror=alert(1)> the words';
		const screen = await render(Step, { part: part({ headline, execution: finished }), conversationId: 'c' });
		const row = screen.getByTestId('step');
		await expect.element(row.getByText(headline, { exact: true })).toBeVisible();
		await expect.element(row.getByText('count-words', { exact: true })).toBeVisible();
		expect(row.element().querySelector('img')).toBeNull();
	});

	test('F5: of a picture that the model looked at shows that version of it, as no file that the step made', async () => {
		const files = [{ path: 'out/chart.png', bytes: 70, seen: 'abc' }];
		const looked = part({ name: 'look_at_file', arguments: '{"path":"out/chart.png"}', files });
		const screen = await render(Step, { part: looked, conversationId: 'c' });
		await expect.element(screen.getByText('Looked at out/chart.png')).toBeVisible();
		expect(screen.getByTestId('file-card').query()).toBeNull();
		await userEvent.click(screen.getByTestId('step-toggle'));
		const picture = screen.getByTestId('step-body').element().querySelector('img');
		expect(picture?.getAttribute('src')).toBe('/api/conversations/c/files/out/chart.png?version=abc');
	});

	test('names what ran and the skill while it is closed', async () => {
		await page.viewport(1280, 900);
		const screen = await render(Step, { part: part({ execution: finished }), conversationId: 'c' });
		const row = screen.getByTestId('step');
		await expect.element(row.getByText('count-words', { exact: true })).toBeVisible();
		await expect.element(row.getByText('Ran scripts/count.js')).toBeVisible();
		await expect.element(row.getByText('3.2 s')).toBeVisible();
		await expect.element(row).toHaveAttribute('data-skill', 'count-words');
		await expect.element(screen.getByTestId('step-toggle')).toHaveAttribute('aria-expanded', 'false');
		await expect.element(screen.getByTestId('step-body')).not.toBeInTheDocument();
	});

	test.each([
		['preparing', 'Preparing', 'false'],
		['failed', 'Failed', 'true'],
		['cancelled', 'Stopped', 'false'],
		['interrupted', 'Interrupted', 'false']
	] satisfies [ToolStatus, string, string][])('says when it is %s', async (status, word, isOpen) => {
		const screen = await render(Step, { part: part({ status }), conversationId: 'c' });
		await expect.element(screen.getByText(word, { exact: true })).toBeVisible();
		await expect.element(screen.getByTestId('step')).toHaveAttribute('data-status', status);
		await expect.element(screen.getByTestId('step-toggle')).toHaveAttribute('aria-expanded', isOpen);
	});

	test('shows the last lines while a script runs, and closes when it is done', async () => {
		const screen = await render(Step, { part: part({ status: 'running', execution }), conversationId: 'c' });
		await expect.element(screen.getByTestId('terminal')).toBeVisible();
		await screen.rerender({ part: part({ execution: finished }) });
		await expect.element(screen.getByTestId('terminal')).not.toBeInTheDocument();
	});

	test('stays open when the script is stopped: what it had said is still there', async () => {
		const screen = await render(Step, { part: part({ status: 'running', execution }), conversationId: 'c' });
		await expect.element(screen.getByTestId('terminal')).toBeVisible();
		await screen.rerender({ part: part({ status: 'cancelled', execution: { ...execution, exitCode: null } }) });
		await expect.element(screen.getByTestId('step-toggle')).toHaveAttribute('aria-expanded', 'true');
		await expect.element(screen.getByTestId('terminal')).toBeVisible();
	});

	test('stays as the reader left it', async () => {
		const screen = await render(Step, { part: part({ status: 'running', execution }), conversationId: 'c' });
		await expect.element(screen.getByTestId('terminal')).toHaveAttribute('data-compact');
		await screen.getByTestId('step-toggle').click();
		await expect.element(screen.getByTestId('terminal')).not.toHaveAttribute('data-compact');
		await screen.rerender({ part: part({ execution: finished }) });
		await expect.element(screen.getByTestId('exit-badge')).toHaveTextContent('exit 0 · 3.2 s · 28 B');
	});
});

test('F3: a loaded skill says which skills it names and can’t have, and where to get them', async () => {
	const lacks = [
		{ name: 'pdf-tools', state: 'missing' as const },
		{ name: 'charts', state: 'off' as const }
	];
	const loaded = { skill: 'demo', description: '', path: '/skills/demo/SKILL.md', tokens: 10, lacks };
	const screen = await render(Step, { part: part({ name: 'load_skill', loaded }), conversationId: 'c' });
	const line = screen.getByTestId('step-lacks');
	await expect.element(line).toMatchTextContent(/pdf-tools\s*\(not installed\)\s*, charts\s*\(off\)/);
	await expect
		.element(line.getByRole('link', { name: 'pdf-tools' }))
		.toHaveAttribute('href', '/skills/install?find=pdf-tools#catalogs');
	await expect.element(line.getByRole('link', { name: 'charts' })).toHaveAttribute('href', '/skills/charts');
});

describe('F14: a call that is being written', () => {
	const writing = (json: string) => part({ name: 'file_write', status: 'preparing', arguments: json });

	test('shows the end of what the model writes, and all of it when it is opened', async () => {
		const screen = await render(Step, { part: writing('{"path":"a.md","con'), conversationId: 'c' });
		await expect.element(screen.getByText('Writing a.md')).toBeVisible();
		await screen.rerender({ part: writing(`{"path":"a.md","content":"${'word '.repeat(2000)}the end`) });
		await expect.element(screen.getByTestId('step-writing')).toMatchTextContent(/the end$/);
		await expect.element(screen.getByTestId('step-toggle')).toHaveAttribute('aria-expanded', 'false');
		await screen.getByTestId('step-toggle').click();
		await expect.element(screen.getByTestId('step-arguments')).toMatchTextContent(/Arguments · 10 kB so far/);
		await expect.element(screen.getByTestId('step-arguments')).toMatchTextContent(/path a\.md/);
	});

	test('and was written has its lines, and its JSON', async () => {
		const json = '{"path":"a.md","content":"x\\u202ey"}';
		const screen = await render(Step, { part: part({ name: 'file_write', arguments: json }), conversationId: 'c' });
		await screen.getByTestId('step-toggle').click();
		await expect.element(screen.getByText('x⟨U+202E⟩y')).toBeVisible();
		await screen.getByRole('button', { name: 'Raw JSON' }).click();
		await expect.element(screen.getByTestId('raw-arguments')).toHaveTextContent(json);
	});

	test('is no trouble at a megabyte', async () => {
		const screen = await render(Step, { part: writing('{"content":"'), conversationId: 'c' });
		for (let count = 1; count <= 50; count++)
			await screen.rerender({ part: writing(`{"content":"${'x'.repeat(count * 20_000)}`) });
		await screen.getByTestId('step-toggle').click();
		await expect.element(screen.getByTestId('step-arguments')).toMatchTextContent(/1\.0 MB so far/);
		expect(screen.getByTestId('step-arguments').element().textContent?.length).toBeLessThan(5_000);
	});
});

test('an interrupted call says that it is not run again by itself', async () => {
	const screen = await render(Step, { part: part({ status: 'interrupted' }), conversationId: 'c' });
	await screen.getByTestId('step-toggle').click();
	await expect.element(screen.getByText(/Continue won’t run it again\.$/)).toBeVisible();
});

describe('F14: what can be done about a failure', () => {
	const failed = part({
		status: 'failed',
		execution: {
			...finished,
			exitCode: 1,
			message: 'scripts/count.js ended with exit code 1.',
			error: 'ExecutionFailed',
			executionId: 'e1'
		}
	});

	test('the model can be asked, with the end of what the script complained of', async () => {
		const onask = vi.fn();
		const screen = await render(Step, { part: failed, conversationId: 'c', onask });
		await screen.getByRole('button', { name: 'Ask the model to fix it' }).click();
		expect(onask).toHaveBeenCalledExactlyOnceWith(
			'“Ran scripts/count.js” failed: scripts/count.js ended with exit code 1.\na warning\n\nPlease fix it and try again.'
		);
	});

	test('it is said in one plain line above what can be done; its codes are details', async () => {
		const screen = await render(Step, { part: failed, conversationId: 'c', onask: vi.fn() });
		const body = screen.getByTestId('step-body');
		await expect.element(body).toMatchTextContent(/^\s*a warning\s*Ask the model to fix it\s*Run again\s*Edit skill/);
		await expect.element(body).not.toMatchTextContent(/exit code|ExecutionFailed|process/);
		await screen.getByText('Full output · 2 lines').click();
		await expect.element(screen.getByTestId('exit-badge')).toHaveTextContent('exit 1 · 3.2 s · 28 B');
		await expect.element(screen.getByText(/^\s*Run failed · Ran in no sandbox/)).toBeVisible();
		await expect.element(screen.getByTestId('open-run')).toHaveAttribute('href', '/skills/executions/e1');
		await screen.rerender({ part: { ...failed, execution: { ...failed.execution!, output: [] } } });
		await expect.element(screen.getByTestId('step-error')).toHaveTextContent('The script failed without any output.');
	});

	test('what helps against this one failure is said once, below what happened; its output is folded', async () => {
		const onedit = vi.fn();
		const said =
			"usage: count.js [-h] --bay BAY\ncount.js: error: argument --bay: invalid choice: 'east' (choose from 'north', 'south')\n";
		const execution = { ...failed.execution!, output: [{ stream: 'stderr' as const, text: said }] };
		const screen = await render(Step, { part: { ...failed, execution }, conversationId: 'c', onedit });
		await expect
			.element(screen.getByTestId('step-advice'))
			.toHaveTextContent("Ask for one of these instead of 'east': 'north', 'south'.");
		await expect.element(screen.getByTestId('step-help')).toHaveTextContent('Edit message Run again Edit skill');
		await expect.element(screen.getByTestId('terminal')).not.toBeVisible();
		await screen.getByText('Full output · 2 lines').click();
		await expect.element(screen.getByTestId('terminal')).toBeVisible();
	});

	test('where a file can’t be used, another one can be attached', async () => {
		const output = [{ stream: 'stderr' as const, text: 'a.csv is empty.\n' }];
		const part = { ...failed, execution: { ...failed.execution!, args: ['a.csv'], output } };
		const onattach = vi.fn();
		const screen = await render(Step, { part, conversationId: 'c', onedit: vi.fn(), onattach });
		await screen.getByRole('button', { name: 'Attach another file' }).click();
		expect(onattach).toHaveBeenCalledOnce();
	});

	test('a script that refused what it was given is no script to fix: the message is; one order for all', async () => {
		const onedit = vi.fn();
		const screen = await render(Step, { part: failed, conversationId: 'c', onask: vi.fn(), onedit });
		const help = screen.getByTestId('step-help');
		await expect.element(help).toHaveTextContent('Ask the model to fix it Edit message Run again Edit skill');
		await screen.getByTestId('edit-question').click();
		expect(onedit).toHaveBeenCalledOnce();
		const text = 'Traceback (most recent call last):\n  File "x.py", line 1\nKeyError: 1\n';
		// Written in the middle of a line of the other stream.
		const output = [
			{ stream: 'stdout' as const, text: 'starting' },
			{ stream: 'stderr' as const, text }
		];
		const broken = { ...failed.execution!, output };
		await screen.rerender({ part: { ...failed, execution: broken } });
		await expect.element(help).toHaveTextContent('Ask the model to fix it Run again Edit skill');
		// The trace is short, and still no more than the line above it.
		await expect.element(screen.getByTestId('terminal')).not.toBeVisible();
		// What the model was told of it isn't shown a third time.
		await screen.rerender({
			part: { ...failed, execution: { ...broken, tool: 'count' }, result: `{"stderr":${JSON.stringify(text)}}` }
		});
		await expect.element(help).toBeVisible();
		expect(screen.getByTestId('step-result').elements()).toEqual([]);
	});

	test('D13: it says what failed last, and no longer what has been allowed; what no words change isn’t sent to the message', async () => {
		const missing = { kind: 'host', name: 'api.a.io' } as const;
		const refused = { error: 'HostNotAllowed', message: 'The script isn’t allowed to reach api.a.io.', missing };
		const execution = { ...failed.execution!, ...refused, executionId: 'e7' };
		const unreached = 'api.a.io is allowed, but this server couldn’t reach it.';
		const first = sampleExecution({ id: 'e7', skillId: 'local/count-words', conversationId: 'c', status: 'error' });
		const later = { ...first, id: 'e8', runId: null, errorType: 'ExecutionFailed', errorMessage: unreached };
		const answer = (url: string): unknown =>
			url.includes('/executions?')
				? { data: [later, { ...first, runId: 'r1' }], total: 2, page: 1, limit: 50, totalPages: 1 }
				: url.includes('/executions/')
					? first
					: sampleDetail();
		vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => Response.json(answer(String(input))));
		const part = { ...failed, execution };
		const screen = await render(Step, { part, conversationId: 'c', onedit: vi.fn() });
		await expect.element(screen.getByTestId('fixed')).toHaveTextContent('Allowed.');
		await expect.element(screen.getByTestId('step-error')).toHaveTextContent(unreached);
		await expect.element(screen.getByTestId('step-advice')).toMatchTextContent(/^The connection failed, not your/);
		await expect.element(screen.getByTestId('edit-question')).not.toBeInTheDocument();
		// One box for one call: with what came of it last, and a way to what came of it first.
		await expect.element(screen.getByTestId('failed-again')).toMatchTextContent(/^Ran again, .*: failed\./);
		await expect
			.element(screen.getByRole('link', { name: 'Open first run' }))
			.toHaveAttribute('href', '/skills/executions/e7');
		await expect.element(screen.getByTestId('open-run')).toHaveAttribute('href', '/skills/executions/e8');
		await expect.element(screen.getByTestId('execution')).not.toBeInTheDocument();
		vi.restoreAllMocks();
	});

	test('D25: of a tool that the chat itself has, there’s no skill to edit, run, allow hosts for or install packages for', async () => {
		const missing = { kind: 'package', ecosystem: 'javascript', name: 'left-pad', module: 'left-pad' } as const;
		const execution = { ...failed.execution!, isOfChat: true, missing, refused: ['example.org:443'] };
		const screen = await render(Step, { part: { ...failed, execution }, conversationId: 'c', onask: vi.fn() });
		await expect.element(screen.getByTestId('step-help')).toHaveTextContent('Ask the model to fix it');
		await expect.element(screen.getByRole('link', { name: 'Edit skill' })).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('refused')).toHaveTextContent('Blocked connections: example.org:443.');
		const timeout = { ...execution, error: 'ExecutionTimeout' };
		await screen.rerender({ part: { ...failed, execution: timeout } });
		await expect.element(screen.getByTestId('step-help')).toHaveTextContent('Change limit Ask the model to fix it');
		const blocked = { ...execution, missing: undefined, error: 'HostNotAllowed' };
		await screen.rerender({ part: { ...failed, execution: blocked } });
		await expect.element(screen.getByTestId('step-help')).toHaveTextContent('Ask the model to fix it');
	});

	test('what it said in a few lines is in sight, once', async () => {
		const text = 'Nothing was sent: no token.\nWould have sent: hello\n';
		const output = [
			{ stream: 'stdout' as const, text: 'Reading\n' },
			{ stream: 'stderr' as const, text }
		];
		const part = { ...failed, execution: { ...failed.execution!, output } };
		const screen = await render(Step, { part, conversationId: 'c' });
		await expect.element(screen.getByTestId('terminal')).toBeVisible();
		await expect.element(screen.getByText('Full output · 3 lines', { exact: true })).toBeVisible();
	});

	test('what it said in one line is said once', async () => {
		const output = [{ stream: 'stderr' as const, text: 'No such city.\n' }];
		const screen = await render(Step, {
			part: { ...failed, execution: { ...failed.execution!, output } },
			conversationId: 'c'
		});
		await expect.element(screen.getByTestId('step-error')).toHaveTextContent('No such city.');
		await expect.element(screen.getByTestId('terminal')).not.toBeVisible();
		await expect.element(screen.getByText('Full output · 1 line', { exact: true })).toBeVisible();
		await expect.element(screen.getByTestId('step-toggle')).toMatchTextContent(/3\.2 s exit 1 Failed/);
	});

	test('its script is opened in the editor', async () => {
		const screen = await render(Step, { part: failed, conversationId: 'c' });
		await expect
			.element(screen.getByRole('link', { name: 'Edit skill' }))
			.toHaveAttribute('href', '/skills/edit/count-words?file=scripts%2Fcount.js&chat=c');
	});

	test('F8: its script is opened where it broke', async () => {
		const trace = 'file:///s/scripts/count.js:7\n\tx.y;\n\nTypeError: no\n    at file:///s/scripts/count.js:7:3\n';
		const output = [{ stream: 'stderr' as const, text: trace }];
		const part = { ...failed, execution: { ...failed.execution!, output, executionId: 'e7' } };
		const screen = await render(Step, { part, conversationId: 'c' });
		await expect
			.element(screen.getByRole('link', { name: 'Edit line 7' }))
			.toHaveAttribute('href', '/skills/edit/count-words?file=scripts%2Fcount.js&chat=c&line=7&run=e7');
	});

	test('F8: once its skill has changed, it leads to no line of it: it may be mended', async () => {
		const skillId = 'local/count-words';
		const run = sampleExecution({ id: 'e7', skillId, conversationId: 'c', status: 'error' });
		const answer = (url: string): unknown =>
			url.endsWith('/executions/e7')
				? run
				: url.includes('/executions')
					? { data: [run], total: 1, page: 1, limit: 50, totalPages: 1 }
					: sampleDetail({ skillId, digest: 'mended' });
		vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => Response.json(answer(String(input))));
		const output = [{ stream: 'stderr' as const, text: 'TypeError: no\n    at file:///s/scripts/count.js:7:3\n' }];
		const part = { ...failed, execution: { ...failed.execution!, output, executionId: 'e7' } };
		const screen = await render(Step, { part, conversationId: 'c' });
		await expect.element(screen.getByTestId('run-again')).toHaveTextContent('Run the changed skill');
		await expect
			.element(screen.getByRole('link', { name: 'Edit skill' }))
			.toHaveAttribute('href', '/skills/edit/count-words?file=scripts%2Fcount.js&chat=c');
		await expect.element(screen.getByTestId('step-advice')).not.toBeInTheDocument();
		vi.restoreAllMocks();
	});

	test('its trace is folded below the line that says what went wrong', async () => {
		const trace =
			'Traceback (most recent call last):\n  File "x.py"\n    raise\n  File "y.py"\n    raise\nValueError: no such shipment\n';
		const output = [{ stream: 'stderr' as const, text: trace }];
		const screen = await render(Step, {
			part: { ...failed, execution: { ...failed.execution!, output } },
			conversationId: 'c'
		});
		await expect.element(screen.getByTestId('step-error')).toHaveTextContent('ValueError: no such shipment');
		await expect.element(screen.getByTestId('terminal')).not.toBeVisible();
		await screen.getByText('Full output · 6 lines').click();
		await expect.element(screen.getByTestId('terminal')).toBeVisible();
	});

	test('E36: a call of an MCP server leads to the servers, where one signs in and connects again, not to the message', async () => {
		const execution = {
			...{ skill: 'mcp/office', script: 'add', tool: 'add', args: ['{}'], sandbox: 'mcp', output: [], files: [] },
			...{ exitCode: null, error: 'ExecutionFailed', message: 'The sign-in to “office” has ended.' }
		};
		const refused = part({ name: 'mcp__office__add', arguments: '{}', status: 'failed', execution });
		const screen = await render(Step, { part: refused, conversationId: 'c', onask: vi.fn(), onedit: vi.fn() });
		await expect
			.element(screen.getByRole('link', { name: 'Open MCP servers' }))
			.toHaveAttribute('href', '/settings#mcp-servers');
		await expect.element(screen.getByTestId('edit-question')).not.toBeInTheDocument();
	});

	test('a call that was denied needs no help', async () => {
		const approval = { interruptId: 'i', skill: 's', script: 'x', args: [], reason: '', digest: '' };
		const denied = { ...failed, approval: { ...approval, decision: { choice: 'deny' as const } } };
		const screen = await render(Step, { part: denied, conversationId: 'c', onask: vi.fn() });
		await screen.getByTestId('step-toggle').click();
		await expect.element(screen.getByTestId('step-help')).not.toBeInTheDocument();
	});
});

test('the clock stands still while a call waits for consent', async () => {
	vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
	try {
		const screen = await render(Step, { part: part({ status: 'running' }), conversationId: 'c' });
		vi.advanceTimersByTime(2_000);
		await screen.rerender({ part: part({ status: 'waiting' }) });
		vi.advanceTimersByTime(60_000);
		await screen.rerender({ part: part({ status: 'running' }) });
		vi.advanceTimersByTime(1_000);
		vi.useRealTimers();
		await expect.element(screen.getByText('3.0 s')).toBeVisible();
	} finally {
		vi.useRealTimers();
	}
});

test('a result of 200 KB is painted in part', async () => {
	const result = Array.from({ length: 4_000 }, (_, index) => `${index} ${'x'.repeat(45)}\n`).join('');
	const screen = await render(Step, { part: part({ name: 'list_things', result }), conversationId: 'c' });
	await screen.getByTestId('step-toggle').click();
	const shown = screen.getByTestId('step-result').element();
	expect(shown.textContent?.length).toBeLessThan(20_000);
	expect(shown.textContent).toMatch(/^0 x/);
	expect(shown.textContent).toMatch(/3999 x+\n$/);
	await screen.getByTestId('show-all').click();
	await eventually(() => expect(shown.textContent).toBe(result));
});

describe('the terminal', () => {
	test('shows the command, both streams apart, and no escape sequences', async () => {
		const screen = await render(Step, { part: part({ status: 'failed', execution: finished }), conversationId: 'c' });
		await expect.element(screen.getByTestId('terminal-command')).toHaveTextContent('$ scripts/count.js "two words"');
		const output = screen.getByTestId('terminal-output').element();
		expect(output.textContent).toBe('words: 2\na warning\n');
		expect(output.querySelector('[data-stream=stderr]')?.textContent).toBe('a warning\n');
	});

	test('paints the beginning and the end of a flood, and all of it when asked', async () => {
		const text = `${'x'.repeat(500_000)}\nthe end\n`;
		const flood = { ...finished, output: [{ stream: 'stdout' as const, text }], truncated: true };
		const screen = await render(Step, { part: part({ status: 'failed', execution: flood }), conversationId: 'c' });
		const output = screen.getByTestId('terminal-output').element();
		expect(output.textContent?.length).toBeLessThanOrEqual(40_000);
		expect(output.textContent).toMatch(/the end\n$/);
		await expect.element(screen.getByText(/^… \d+ kB not shown$/)).toBeInTheDocument();
		await expect.element(screen.getByTestId('truncated')).toBeVisible();
		await screen.getByTestId('show-all').click();
		await eventually(() => expect(output.textContent).toBe(text));
	});

	test('tells why a script failed', async () => {
		const failed = {
			...execution,
			exitCode: null,
			durationMs: 30_000,
			error: 'ExecutionTimeout',
			message: 'Ended after 30 s.'
		};
		const screen = await render(Step, { part: part({ status: 'failed', execution: failed }), conversationId: 'c' });
		await expect.element(screen.getByTestId('step-error')).toHaveTextContent('Ended after 30 s.');
		await expect.element(screen.getByTestId('exit-badge')).toHaveTextContent('timed out after 30.0 s · 28 B');
		await expect.element(screen.getByTestId('step-toggle')).toMatchTextContent(/Timed out/);
		await expect.element(screen.getByTestId('step-toggle')).not.toMatchTextContent(/Failed/);
	});

	test('of a script that timed out the limit is changed first; its skill is edited last', async () => {
		const timedOut = { ...execution, exitCode: null, error: 'ExecutionTimeout', executionId: 'e1' };
		const screen = await render(Step, { part: part({ status: 'failed', execution: timedOut }), conversationId: 'c' });
		await expect
			.element(screen.getByTestId('step-help'))
			.toMatchTextContent(/^\s*Change limit\s*Run again\s*Edit skill/);
		await expect.element(screen.getByTestId('change-limit')).toHaveAttribute('href', '/settings#limits');
	});
});

test('a loaded skill shows what it is, and never its text', async () => {
	const loaded = { skill: 'count-words', description: 'Counts words.', path: '/s/count-words/SKILL.md', tokens: 1234 };
	const step = part({ name: 'load_skill', loaded, result: '# Instructions for the model' });
	const screen = await render(Step, { part: step, conversationId: 'c' });
	await screen.getByTestId('step-toggle').click();
	await expect.element(screen.getByText('Counts words.')).toBeVisible();
	await expect.element(screen.getByText(/1.2k tokens/)).toBeVisible();
	await expect.element(screen.getByText(/Instructions for the model/)).not.toBeInTheDocument();
});

test('the result of another tool is there as indented JSON', async () => {
	const step = part({ name: 'list_things', arguments: '{"limit":2}', result: '{"things":[]}' });
	const screen = await render(Step, { part: step, conversationId: 'c' });
	await screen.getByTestId('step-toggle').click();
	await expect.element(screen.getByText('limit')).toBeVisible();
	expect(screen.getByTestId('step-result').element().textContent).toBe('{\n  "things": []\n}');
});

test('files that a script made are there though the row is closed', async () => {
	const files = [
		{ path: 'out/50 % größe.pdf', bytes: 1300 },
		{ path: 'data.bin', bytes: 5 }
	];
	const screen = await render(Step, { part: part({ execution: { ...finished, files } }), conversationId: 'c 1' });
	const address = '/api/conversations/c%201/files/out/50%20%25%20gr%C3%B6%C3%9Fe.pdf?v=c1';
	await expect
		.element(screen.getByRole('link', { name: 'Download out/50 % größe.pdf' }))
		.toHaveAttribute('href', address);
	await expect.element(screen.getByRole('link', { name: 'Download data.bin' })).toHaveAttribute('download', 'data.bin');
	await expect.element(screen.getByText('1.3 kB')).toBeVisible();
});

describe('F14: a call that has to be allowed', () => {
	const approval: Approval = {
		interruptId: 'i1',
		skill: 'deploy',
		script: 'scripts/deploy.sh',
		args: ['--to', 'two words'],
		reason: '“deploy” wants to run scripts/deploy.sh.',
		digest: 'd'
	};
	const waiting = part({ status: 'waiting', approval });
	const setup = async (ondecide = vi.fn(async () => {})) => {
		const screen = await render(Step, { part: waiting, conversationId: 'c', ondecide });
		return { screen, ondecide };
	};

	test('says what would run and of which skill, each once', async () => {
		const { screen } = await setup();
		const card = screen.getByRole('group', { name: 'Allow this script to run?' });
		await expect
			.element(screen.getByTestId('approval-command'))
			.toHaveTextContent('$ scripts/deploy.sh --to "two words"');
		await expect.element(card).toMatchTextContent(/From skill deploy/);
		expect(card.element().textContent?.match(/scripts\/deploy\.sh/g)).toHaveLength(1);
		await expect.element(screen.getByText('Needs approval', { exact: true })).toBeVisible();
	});

	test.each([
		['approve-once', { choice: 'once' }, 'Allowed once'],
		['approve-script', { choice: 'script' }, 'Always allowed for this script'],
		['approve-skill', { choice: 'skill' }, 'Always allowed for this skill'],
		['deny', { choice: 'deny' }, 'Denied']
	] as const)('is decided by a click on %s, and shows what was decided', async (testid, decision, words) => {
		const { screen, ondecide } = await setup();
		if (testid === 'approve-script' || testid === 'approve-skill') await screen.getByTestId('approve-more').click();
		await screen.getByTestId(testid).click();
		expect(ondecide).toHaveBeenCalledExactlyOnceWith('i1', decision);
		await expect.element(screen.getByTestId('approval')).not.toBeInTheDocument();
		await expect
			.element(screen.getByTestId('approval-decision'))
			.toHaveTextContent(`${words} – waiting for your other answers.`);
		await screen.rerender({ part: part({ status: 'running', approval: { ...approval, decision } }) });
		await expect.element(screen.getByTestId('approval-decision')).toMatchTextContent(words);
	});

	test('is denied by keyboard with a reason that the model reads', async () => {
		const { screen, ondecide } = await setup();
		await screen.getByTestId('approve-more').element().focus();
		await userEvent.keyboard('{Tab}{Tab}{Enter}not today{Enter}');
		expect(ondecide).toHaveBeenCalledExactlyOnceWith('i1', { choice: 'deny', reason: 'not today' });
		await expect.element(screen.getByTestId('approval-decision')).toMatchTextContent(/^Denied: not today/);
	});

	test('can be decided again when the server did not take it, and says why', async () => {
		const refuse = async () => Promise.reject(new ApiError('conflict', 'This was decided already.'));
		const { screen } = await setup(vi.fn(refuse));
		await screen.getByTestId('approve-once').click();
		await expect.element(screen.getByTestId('approval-error')).toHaveTextContent('This was decided already.');
		await expect.element(screen.getByTestId('approve-once')).toBeVisible();
	});

	test('takes the focus only where it may', async () => {
		const { screen } = await setup();
		expect(screen.getByTestId('approval').element()).not.toBe(document.activeElement);
		await screen.unmount();
		const again = await render(Step, { part: waiting, conversationId: 'c', mayFocus: () => true });
		expect(again.getByTestId('approval').element()).toBe(document.activeElement);
	});

	test('and was denied reads as denied, not as broken', async () => {
		const denied = part({
			status: 'failed',
			result: 'Denied.',
			approval: { ...approval, decision: { choice: 'deny' } }
		});
		const screen = await render(Step, { part: denied, conversationId: 'c' });
		await expect.element(screen.getByTestId('step-toggle')).toHaveAttribute('aria-expanded', 'false');
		await expect.element(screen.getByTestId('step-toggle')).toMatchTextContent(/Denied$/);
	});

	test('that nobody decided about says so', async () => {
		const screen = await render(Step, { part: part({ status: 'cancelled', approval }), conversationId: 'c' });
		await expect
			.element(screen.getByTestId('approval-decision'))
			.toHaveTextContent('You went on without answering, so it didn’t run.');
	});
});

describe('D35: connections that were refused', () => {
	const refused = ['evil.example:443', 'other.example:80'];

	test('are named, with the way to where they can be allowed', async () => {
		const screen = await render(Step, { part: part({ execution: { ...finished, refused } }), conversationId: 'c' });
		await screen.getByTestId('step-toggle').click();
		await expect
			.element(screen.getByTestId('refused'))
			.toMatchTextContent(/Blocked connections: evil\.example:443, other\.example:80\./);
		const link = screen.getByRole('link', { name: 'Network access of count-words' });
		await expect.element(link).toHaveAttribute('href', '/skills/count-words');
	});

	test('that can’t be told lead to where hosts are allowed', async () => {
		const cut = { ...finished, exitCode: 1, error: 'HostNotAllowed', message: 'This skill has no network.' };
		const screen = await render(Step, { part: part({ status: 'failed', execution: cut }), conversationId: 'c' });
		await expect.element(screen.getByTestId('step-error')).toHaveTextContent('This skill has no network.');
		await expect.element(screen.getByTestId('allow-hosts')).toHaveAttribute('href', '/skills/count-words');
	});

	test('of a built-in skill cannot be allowed', async () => {
		const browser = { ...finished, skill: 'browser', tool: 'browser', refused };
		const screen = await render(Step, { part: part({ execution: browser }), conversationId: 'c' });
		await screen.getByTestId('step-toggle').click();
		await expect.element(screen.getByTestId('refused')).toBeVisible();
		await expect.element(screen.getByTestId('refused').getByRole('link')).not.toBeInTheDocument();
	});

	test('are not spoken of where there were none', async () => {
		const screen = await render(Step, { part: part({ execution: finished }), conversationId: 'c' });
		await screen.getByTestId('step-toggle').click();
		await expect.element(screen.getByTestId('refused')).not.toBeInTheDocument();
	});
});
