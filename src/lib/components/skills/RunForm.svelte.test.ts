import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { userEvent } from 'vitest/browser';
import '../../../app.css';
import { ApiError } from '../../chat/api-error.ts';
import type { SkillDetail, SkillExecution } from '../../shared/api.ts';
import RunForm from './RunForm.svelte';

const skill: SkillDetail = {
	...{ id: 'demo', skillId: 'skills/demo', name: 'demo', description: 'Says things.', status: 'ready' },
	...{ path: '/skills/demo/SKILL.md', version: '1.0.0', source: 'skills', digest: 'a', isTrustedByPlace: true },
	...{
		scripts: ['lib/deep/part.sh', 'scripts/say.sh'],
		tools: ['add'],
		diagnostics: [],
		trust: 'trusted',
		mode: 'auto'
	},
	...{ files: [], findings: [], changes: null, network: { declared: [], granted: [] }, allowedTools: null },
	needs: { binaries: [], pythonModules: [], variables: [] },
	inputSchemas: { add: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } }
};

const execution: SkillExecution = {
	...{ id: 'e1', skillId: 'skills/demo', skill: 'demo', version: '1.0.0', tool: null, script: 'scripts/say.sh' },
	...{ argv: ['two words', '7'], input: null, digest: 'a', sandbox: 'bubblewrap', limits: {}, status: 'success' },
	...{
		errorType: null,
		errorMessage: null,
		exitCode: 0,
		stdoutBytes: 5,
		stderrBytes: 0,
		output: 'said',
		durationMs: 1500
	},
	...{ files: [{ path: 'made.txt', bytes: 3 }], refused: [], conversationId: null, runId: null, toolCallId: null },
	...{ apiKeyId: null, sessionId: 's', createdAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:00:01.500Z' }
};

async function setup(detail: SkillDetail = skill) {
	const runExecution = vi.fn(async (_wanted: unknown) => ({ execution }));
	const screen = await render(RunForm, { client: { runExecution }, skill: detail });
	return { screen, runExecution };
}

describe('F6: running by hand', () => {
	test('a script with arguments, one a line, by keyboard alone; what came of it', async () => {
		const { screen, runExecution } = await setup();
		const options = screen.getByTestId('run-what').element().querySelectorAll('option');
		expect([...options].map(({ textContent }) => textContent.trim())).toEqual([
			'scripts/say.sh',
			'lib/deep/part.sh',
			'add (tool)'
		]);
		await screen.getByLabelText('Arguments, one a line').click();
		await userEvent.keyboard('two words{Enter}{Enter}7{Enter}');
		await userEvent.tab();
		await userEvent.keyboard('{Enter}');
		expect(runExecution).toHaveBeenCalledExactlyOnceWith({
			skillName: 'demo',
			script: 'scripts/say.sh',
			args: ['two words', '7'],
			sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/)
		});
		await expect.element(screen.getByTestId('run-status')).toMatchTextContent('Ended with exit code 0.');
		await expect.element(screen.getByTestId('execution-output')).toHaveTextContent('said');
		await expect.element(screen.getByText('made.txt (3 B)')).toBeVisible();
		await expect.element(screen.getByText('1.5 s')).toBeVisible();
	});

	test('a tool with its input, which begins with what the schema requires; runs after each other share a folder', async () => {
		const { screen, runExecution } = await setup();
		await screen.getByTestId('run-what').selectOptions('add (tool)');
		await expect.element(screen.getByLabelText('Input, as JSON')).toHaveValue('{\n  "a": 0\n}');
		await screen.getByTestId('run-text').fill('{"a": 1}');
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('run-status')).toMatchTextContent('Ended with exit code 0.');
		await screen.getByTestId('run-button').click();
		const [one, other] = runExecution.mock.calls.map(([wanted]) => wanted);
		expect(one).toEqual({ skillName: 'demo', tool: 'add', input: { a: 1 }, sessionId: expect.any(String) });
		expect(other).toEqual(one);
	});

	test.each([
		['{"a": ', /The input is no JSON/],
		['[1]', /must be a JSON object/],
		['null', /must be a JSON object/]
	])('of input that is no object, %s, is not begun, and says why', async (input, message) => {
		const { screen, runExecution } = await setup({ ...skill, scripts: [] });
		await screen.getByTestId('run-text').fill(input);
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('run-error')).toMatchTextContent(message);
		expect(runExecution).not.toHaveBeenCalled();
	});

	test('that is refused says so in the words of the server, and can be tried again', async () => {
		const { screen, runExecution } = await setup();
		runExecution.mockRejectedValueOnce(
			new ApiError('conflict', 'The skill “demo” is switched off.', { hint: 'Set it.' })
		);
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('run-error')).toMatchTextContent(/“demo” is switched off\.\s*Set it\./);
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('execution')).toBeVisible();
		await expect.element(screen.getByTestId('run-error')).not.toBeInTheDocument();
	});

	test('is not begun twice while it runs, and says where it can be ended', async () => {
		const { screen, runExecution } = await setup();
		let end = (): void => {};
		runExecution.mockReturnValueOnce(new Promise((resolve) => (end = () => resolve({ execution }))));
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('run-button')).toBeDisabled();
		await expect
			.element(screen.getByRole('link', { name: 'Executions' }))
			.toHaveAttribute('href', '/skills/executions');
		end();
		await expect.element(screen.getByTestId('run-button')).toBeEnabled();
		expect(runExecution).toHaveBeenCalledOnce();
	});

	test('keeps what was typed when the skill is read again', async () => {
		const { screen, runExecution } = await setup();
		await screen.getByTestId('run-text').fill('typed');
		await screen.rerender({ client: { runExecution }, skill: { ...skill, mode: 'on', scripts: [...skill.scripts] } });
		await expect.element(screen.getByTestId('run-text')).toHaveValue('typed');
	});

	test('fits into 390 pixels', async () => {
		const frame = document.createElement('div');
		frame.style.width = '390px';
		document.body.append(frame);
		const long = 'x'.repeat(300);
		const runExecution = async () => ({ execution: { ...execution, output: long, argv: [long] } });
		const wide = { ...skill, scripts: [long, 'b.sh'] };
		const screen = await render(RunForm, { client: { runExecution }, skill: wide }, { baseElement: frame });
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('execution-output')).toBeVisible();
		expect(frame.scrollWidth).toBeLessThanOrEqual(390);
		frame.remove();
	});
});
