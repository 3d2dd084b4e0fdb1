import { beforeEach, describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page, userEvent } from 'vitest/browser';
import '../../../../app.css';
import { sampleDetail, sampleExecution } from '../../../../../tests/support/sample-skills.ts';
import { ApiError } from '../../request.ts';
import type { Client } from '../../server.ts';
import type { RunPreset } from './scripts.ts';
import type { SkillDetail } from '../../../shared/skills.ts';
import type { SkillCase } from '../../../shared/try-out.ts';
import RunForm from './RunForm.svelte';

const skill = sampleDetail({
	skillId: 'skills/demo',
	scripts: ['scripts/deep/part.sh', 'scripts/say.sh'],
	tools: ['add'],
	trust: 'trusted',
	inputSchemas: { add: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } }
});
const execution = sampleExecution({ script: 'scripts/say.sh', files: [{ path: 'made.txt', bytes: 3 }] });

async function setup(
	detail: SkillDetail = skill,
	oncase?: (saved: SkillCase) => void,
	preset: RunPreset | null = null,
	last: RunPreset[] = [],
	lastRun = execution
) {
	const runExecution = vi.fn(async (_wanted: unknown) => ({ execution }));
	const addCase = vi.fn<Client['addCase']>();
	const uploadFile = vi.fn<Client['uploadFile']>(async (_id, path) => ({ path, bytes: 1, modifiedAt: '' }));
	const getExecution = vi.fn<Client['getExecution']>(async () => lastRun);
	const putExample = vi.fn<Client['putExample']>(async () => ({ prompt: '', files: [] }));
	const fileOf = (path: string) => ({ path, bytes: 1, modifiedAt: '', versions: [] });
	const listFiles = vi.fn<Client['listFiles']>(async () => ['in.csv', 'made.txt', 'other.csv'].map(fileOf));
	const client = { runExecution, addCase, listFiles, uploadFile, putExample, getExecution };
	const screen = await render(RunForm, { client, skill: detail, oncase, preset, last });
	return { screen, runExecution, addCase, uploadFile, putExample, client };
}

beforeEach(() => sessionStorage.clear());

/** The files of its runs lie where its session says. */
function sameFolder(wanted: unknown) {
	const { sessionId } = wanted as { sessionId: string };
	return { sessionId, conversationId: sessionId };
}

const USAGE = `import argparse
p = argparse.ArgumentParser()
p.add_argument('file', help='CSV file to read')
p.add_argument('--limit', type=int, required=True)
p.add_argument('--format', choices=['csv', 'json'])
`;
const known = sampleDetail({
	skillId: 'skills/demo',
	scripts: ['scripts/filter.py'],
	tools: [],
	trust: 'trusted',
	files: [{ path: 'scripts/filter.py', bytes: USAGE.length, text: USAGE }]
});

test('F6: Enter runs a field of one line, Ctrl+Enter one of several', async () => {
	const text = 'Run `scripts/say.sh YEAR`.';
	const properties = { year: { type: 'string' }, list: { type: 'array' } };
	const detail = sampleDetail({
		...{ trust: 'trusted', scripts: [], tools: ['say'], inputSchemas: { say: { type: 'object', properties } } },
		files: [{ path: 'SKILL.md', bytes: text.length, text }]
	});
	const { screen, runExecution } = await setup(detail);
	await screen.getByLabelText('year').click();
	await userEvent.keyboard('1994{Enter}');
	await expect.poll(() => runExecution.mock.calls.length).toBe(1);
	expect(runExecution).toHaveBeenLastCalledWith(expect.objectContaining({ input: { year: '1994' } }));
	await userEvent.keyboard('{Shift>}{Enter}{/Shift}b');
	await expect.element(screen.getByLabelText('year')).toHaveValue('1994\nb');
	await userEvent.keyboard('{Enter}');
	await expect.element(screen.getByLabelText('year')).toHaveValue('1994\nb\n');
	expect(runExecution).toHaveBeenCalledOnce();
	await userEvent.keyboard('{Control>}{Enter}{/Control}');
	await expect.poll(() => runExecution.mock.calls.length).toBe(2);
	await screen.getByLabelText('list (JSON)').click();
	await userEvent.keyboard('[[1]{Control>}{Enter}{/Control}');
	await expect.poll(() => runExecution.mock.calls.length).toBe(3);
});

describe('F6: a form that is left and come back to', () => {
	test('has what was filled in, and the last result; Clear begins anew', async () => {
		const { screen, runExecution } = await setup();
		await screen.getByTestId('run-what').selectOptions('add (tool)');
		await screen.getByLabelText('a required').fill('7');
		await screen.getByTestId('run-what').selectOptions('scripts/say.sh');
		await screen.getByTestId('run-text').fill('hello');
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('execution')).toBeVisible();
		await screen.getByTestId('run-text').fill('hello\nnot run yet');
		await screen.unmount();
		const again = await setup();
		await expect.element(again.screen.getByTestId('run-text')).toHaveValue('hello\nnot run yet');
		await expect.element(again.screen.getByTestId('execution')).toBeVisible();
		expect(again.client.getExecution).toHaveBeenCalledExactlyOnceWith(execution.id);
		await expect.element(again.screen.getByTestId('as-before')).toMatchTextContent(/As you left it/);
		await again.screen.getByTestId('run-button').click();
		// Its files lie where they were put.
		await expect.poll(() => again.runExecution.mock.calls.length).toBe(1);
		expect(sameFolder(again.runExecution.mock.calls[0]?.[0])).toEqual(sameFolder(runExecution.mock.calls[0]?.[0]));
		await again.screen.getByTestId('run-what').selectOptions('add (tool)');
		await expect.element(again.screen.getByLabelText('a required')).toHaveValue('7');
		await again.screen.getByTestId('as-before').getByRole('button').click();
		await expect.element(again.screen.getByLabelText('a required')).toHaveValue('');
		await expect.element(again.screen.getByTestId('as-before')).not.toBeInTheDocument();
	});

	test('shows no result of another script, nor one that is gone', async () => {
		const { screen } = await setup();
		await screen.getByTestId('run-what').selectOptions('scripts/say.sh');
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('execution')).toBeVisible();
		await screen.unmount();
		const listed = { addCase: vi.fn(), listFiles: vi.fn(), uploadFile: vi.fn(), putExample: vi.fn() };
		const client = { ...listed, runExecution: vi.fn() };
		const getExecution = vi.fn(() => Promise.reject(new ApiError('not_found', 'Run not found.')));
		const again = await render(RunForm, { client: { ...client, getExecution }, skill });
		await expect.poll(() => getExecution.mock.calls.length).toBe(1);
		await expect.element(again.getByTestId('execution')).not.toBeInTheDocument();
		await expect.element(again.getByTestId('run-what')).toHaveDisplayValue('scripts/say.sh');
	});
});

test('F6: a script that reads nothing has no fields, until somebody wants to add arguments', async () => {
	const text = 'echo done\n';
	const files = [{ path: 'scripts/plain.sh', bytes: text.length, text }];
	const plain = sampleDetail({ scripts: ['scripts/plain.sh'], tools: [], files });
	const { screen, runExecution } = await setup(plain);
	await expect.element(screen.getByTestId('takes-nothing')).toMatchTextContent(/Nothing to fill in/);
	await expect.element(screen.getByTestId('run-text')).not.toBeInTheDocument();
	await screen.getByTestId('takes-nothing').getByRole('button').click();
	await screen.getByTestId('run-text').fill('--anyway');
	await screen.getByTestId('run-button').click();
	expect(runExecution.mock.calls[0]?.[0]).toMatchObject({ args: ['--anyway'] });
});

describe('F6: a script whose parameters are known', () => {
	test('has a field for each, and shows the command before it runs', async () => {
		const { screen, runExecution } = await setup(known);
		await screen.getByLabelText('file required').fill('my sales.csv');
		await screen.getByLabelText('--format').selectOptions('json');
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('run-error')).not.toBeInTheDocument();
		await expect.element(screen.getByRole('textbox', { name: /--limit/ })).toHaveFocus();
		await expect.element(screen.getByLabelText('--limit required')).toHaveAttribute('aria-invalid', 'true');
		expect(runExecution).not.toHaveBeenCalled();
		await screen.getByLabelText('--limit required').fill('5');
		await expect
			.element(screen.getByTestId('run-command'))
			.toHaveTextContent('scripts/filter.py "my sales.csv" --limit 5 --format json');
		await screen.getByTestId('run-button').click();
		expect(runExecution).toHaveBeenCalledExactlyOnceWith(
			expect.objectContaining({ args: ['my sales.csv', '--limit', '5', '--format', 'json'] })
		);
	});

	test('can be given its arguments as text, and back', async () => {
		const { screen } = await setup(known);
		await screen.getByLabelText('file required').fill('a.csv');
		await screen.getByTestId('toggle-json').click();
		await expect.element(screen.getByTestId('run-text')).toHaveValue('a.csv');
		await screen.getByTestId('run-text').fill('b.csv\n--unknown');
		await screen.getByTestId('toggle-json').click();
		await expect.element(screen.getByRole('alert')).toMatchTextContent(/don’t fit the fields\. Fix it/);
		await screen.getByTestId('run-text').fill('b.csv\n--limit=7');
		await screen.getByTestId('toggle-json').click();
		await expect.element(screen.getByLabelText('--limit required')).toHaveValue('7');
	});

	test('takes a file that is chosen, or dropped on it, and says why one can’t be added', async () => {
		const { screen, uploadFile, runExecution } = await setup(known);
		const file = new File(['a,b'], 'chosen.csv');
		await userEvent.upload(screen.getByTestId('run-file'), file);
		await expect.element(screen.getByLabelText('file required')).toHaveValue('chosen.csv');
		const data = new DataTransfer();
		data.items.add(new File(['c'], 'dropped.csv'));
		const drop = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
		screen.getByLabelText('file required').element().dispatchEvent(drop);
		await expect.element(screen.getByLabelText('file required')).toHaveValue('dropped.csv');
		// Otherwise the page would offer to install it.
		expect(drop.defaultPrevented).toBe(true);
		uploadFile.mockRejectedValueOnce(new ApiError('too_large', 'The file is too large.'));
		await userEvent.upload(screen.getByTestId('run-file'), file);
		await expect.element(screen.getByTestId('run-error')).toMatchTextContent(/too large/);
		await screen.getByLabelText('--limit required').fill('1');
		await screen.getByTestId('run-button').click();
		const { sessionId } = sameFolder(runExecution.mock.calls[0]?.[0]);
		expect(uploadFile.mock.calls.map(([folder, path]) => [folder, path])).toEqual([
			[sessionId, 'chosen.csv'],
			[sessionId, 'dropped.csv'],
			[sessionId, 'chosen.csv']
		]);
	});

	test('shows what the script complains of at the field', async () => {
		const { screen, runExecution } = await setup(known, undefined, { index: 0, text: 'a.csv\n--limit\n9' });
		const output = 'usage: filter.py [-h] --limit LIMIT file\nfilter.py: error: argument --limit: must be below 5\n';
		runExecution.mockResolvedValueOnce({ execution: sampleExecution({ status: 'error', exitCode: 2, output }) });
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('field-problem')).toHaveTextContent('argument --limit: must be below 5');
		await expect
			.element(screen.getByLabelText('--limit required'))
			.toHaveAccessibleDescription('argument --limit: must be below 5');
	});

	test('begins with what it was last run with, among the files of that run, until it is cleared', async () => {
		const before = { index: 0, text: 'old.csv\n--limit\n3', folder: 'run-1' };
		const { screen, runExecution } = await setup(known, undefined, null, [before]);
		await screen.getByTestId('run-button').click();
		expect(sameFolder(runExecution.mock.calls[0]?.[0]).sessionId).toBe('run-1');
		await expect.element(screen.getByLabelText('file required')).toHaveValue('old.csv');
		await screen.getByTestId('as-before').getByRole('button', { name: 'Clear' }).click();
		await expect.element(screen.getByLabelText('file required')).toHaveValue('');
		await expect.element(screen.getByTestId('as-before')).not.toBeInTheDocument();
	});

	test('of several commands asks for one first, and an earlier run chooses its own', async () => {
		const text = 'Usage: pdf.mjs info FILE  what it is\n       pdf.mjs rotate FILE --by DEGREES\n';
		const pdf = { ...known, scripts: ['scripts/pdf.mjs'], files: [{ path: 'scripts/pdf.mjs', bytes: 9, text }] };
		const { screen, runExecution } = await setup(pdf, undefined, null, [{ index: 0, text: 'rotate\na.pdf\n--by\n90' }]);
		await expect.element(screen.getByTestId('run-way')).toHaveValue('1');
		await expect.element(screen.getByLabelText('--by required')).toHaveValue('90');
		await screen.getByTestId('run-way').selectOptions('info FILE – what it is');
		await screen.getByLabelText('File required').fill('b.pdf');
		await screen.getByTestId('run-button').click();
		expect(runExecution).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ args: ['info', 'b.pdf'] }));
		// What came of it isn’t of another command.
		await expect.element(screen.getByTestId('execution')).toBeVisible();
		await screen.getByTestId('run-way').selectOptions('rotate FILE --by DEGREES');
		await expect.element(screen.getByTestId('execution')).not.toBeInTheDocument();
	});

	test('which only has an example takes over its words with a click', async () => {
		const text = 'Run `scripts/say.sh "two words" --loud`.';
		const { screen } = await setup({ ...skill, tools: [], files: [{ path: 'SKILL.md', bytes: 9, text }] });
		await screen.getByRole('button', { name: 'scripts/say.sh "two words" --loud' }).click();
		await expect.element(screen.getByTestId('run-text')).toHaveValue('two words\n--loud');
		await expect.element(screen.getByTestId('run-command')).toHaveTextContent('scripts/say.sh "two words" --loud');
	});

	test('an example with a place for a value has it chosen, to be typed over', async () => {
		const text = 'Run `scripts/say.sh at 7 on YYYY-MM-DD`.';
		const { screen } = await setup({ ...skill, tools: [], files: [{ path: 'SKILL.md', bytes: 9, text }] });
		await screen.getByRole('button', { name: 'scripts/say.sh at 7 on YYYY-MM-DD' }).click();
		await expect.element(screen.getByTestId('run-text')).toHaveFocus();
		await userEvent.keyboard('2026-01-02');
		await expect.element(screen.getByTestId('run-text')).toHaveValue('at\n7\non\n2026-01-02');
	});

	test('F8: a result of before the files changed says so', async () => {
		const { screen } = await setup();
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('execution')).toBeVisible();
		await expect.element(screen.getByTestId('execution-text')).not.toBeInTheDocument();
		await screen.rerender({ skill: { ...skill, digest: 'b'.repeat(64) } });
		await expect.element(screen.getByTestId('execution-text')).toHaveTextContent('Before your last change');
	});
});

describe('F6: running by hand', () => {
	test('a script with arguments, one a line, by keyboard alone; what came of it', async () => {
		const { screen, runExecution } = await setup();
		const options = screen.getByTestId('run-what').element().querySelectorAll('option');
		expect([...options].map(({ textContent }) => textContent.trim())).toEqual([
			'scripts/say.sh',
			'scripts/deep/part.sh',
			'add (tool)'
		]);
		await screen.getByLabelText('Arguments').click();
		await userEvent.keyboard('two words{Enter}{Enter}7{Enter}');
		// Past the buttons that add a file and copy the command.
		for (let each = 0; each < 3; each += 1) await userEvent.tab();
		await userEvent.keyboard('{Enter}');
		expect(runExecution).toHaveBeenCalledExactlyOnceWith({
			skillName: 'demo',
			script: 'scripts/say.sh',
			args: ['two words', '7'],
			sessionId: expect.stringMatching(/^run-[0-9a-f-]{36}$/),
			conversationId: expect.stringMatching(/^run-[0-9a-f-]{36}$/)
		});
		await expect.element(screen.getByTestId('run-status')).toMatchTextContent('Succeeded.');
		await expect.element(screen.getByTestId('execution-output')).toHaveTextContent('said');
		await expect.element(screen.getByText('made.txt (3 B)')).toBeVisible();
		await expect.element(screen.getByText('1.5 s')).toBeVisible();
	});

	test('C16: what must be allowed first is asked about, and runs once it is', async () => {
		const { screen, runExecution } = await setup();
		const details = { error: 'ApprovalRequired', digest: 'd1' };
		runExecution.mockRejectedValueOnce(new ApiError('forbidden', '“demo” wants to run it.', { hint: 'x', details }));
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('approval')).toMatchTextContent(/Allow this script to run\?/);
		await expect.element(screen.getByTestId('run-error')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('give-reason')).not.toBeInTheDocument();
		await screen.getByTestId('deny').click();
		await expect.element(screen.getByTestId('approval')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('run-status')).toMatchTextContent('Denied: nothing ran.');
		expect(runExecution).toHaveBeenCalledOnce();
		runExecution.mockRejectedValueOnce(new ApiError('forbidden', '“demo” wants to run it.', { hint: 'x', details }));
		await screen.getByTestId('run-button').click();
		await screen.getByTestId('approve-once').click();
		await expect.element(screen.getByTestId('run-status')).toMatchTextContent('Succeeded.');
		const [, first, second] = runExecution.mock.calls.map(([wanted]) => wanted as object);
		expect(second).toEqual({ ...first, approve: 'd1' });
		await expect.element(screen.getByTestId('approval')).not.toBeInTheDocument();
	});

	test('D13: what a script lacked is offered where it failed', async () => {
		const { screen, runExecution } = await setup();
		const missing = { kind: 'package', ecosystem: 'python', name: 'python-docx', module: 'docx' } as const;
		const failed = sampleExecution({ status: 'error', errorType: 'MissingPackage', missing });
		runExecution.mockResolvedValueOnce({ execution: failed });
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByRole('button', { name: 'Install python-docx' })).toBeVisible();
	});

	test('it begins as another run did, and what else can be run begins empty', async () => {
		const script = await setup(skill, undefined, { index: 1, text: 'two words\n7' });
		await expect.element(script.screen.getByTestId('run-what')).toHaveValue('1');
		await script.screen.getByTestId('run-button').click();
		expect(script.runExecution).toHaveBeenCalledExactlyOnceWith(
			expect.objectContaining({ script: 'scripts/deep/part.sh', args: ['two words', '7'] })
		);
		await script.screen.unmount();
		const tool = await setup(skill, undefined, { index: 2, text: '{"a": 5, "more": "x"}' });
		await tool.screen.getByTestId('run-button').click();
		expect(tool.runExecution).toHaveBeenCalledExactlyOnceWith(
			expect.objectContaining({ tool: 'add', input: { a: 5, more: 'x' } })
		);
		await tool.screen.getByTestId('run-what').selectOptions('scripts/say.sh');
		await expect.element(tool.screen.getByTestId('run-text')).toHaveValue('');
	});

	test('a tool with its input, as JSON; runs after each other share a folder', async () => {
		const { screen, runExecution } = await setup();
		runExecution.mockResolvedValue({ execution: sampleExecution({ tool: 'add' }) });
		await screen.getByTestId('run-what').selectOptions('add (tool)');
		await screen.getByTestId('toggle-json').click();
		await screen.getByLabelText('Input (JSON)').fill('{"a": 1}');
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('run-status')).toMatchTextContent('Succeeded.');
		await screen.getByTestId('run-button').click();
		const [one, other] = runExecution.mock.calls.map(([wanted]) => wanted);
		expect(one).toEqual({ skillName: 'demo', tool: 'add', input: { a: 1 }, ...sameFolder(one) });
		expect(other).toEqual(one);
	});

	test.each([
		['{"a": ', /The input isn’t valid JSON/],
		['[1]', /must be a JSON object/],
		['null', /must be a JSON object/]
	])('of input that is no object, %s, is not begun, and says why', async (input, message) => {
		const { screen, runExecution } = await setup({ ...skill, scripts: [] });
		await screen.getByTestId('toggle-json').click();
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
		await expect.element(screen.getByRole('link', { name: 'Runs' })).toHaveAttribute('href', '/skills/executions');
		end();
		await expect.element(screen.getByTestId('run-button')).toBeEnabled();
		expect(runExecution).toHaveBeenCalledOnce();
	});

	test('keeps what was typed when the skill is read again', async () => {
		const { screen, client } = await setup();
		await screen.getByTestId('run-text').fill('typed');
		const again = (): SkillDetail => structuredClone({ ...skill, mode: 'on' });
		await screen.rerender({ client, skill: again() });
		await expect.element(screen.getByTestId('run-text')).toHaveValue('typed');
		await screen.getByTestId('run-what').selectOptions('add (tool)');
		await screen.getByLabelText('a required').fill('7');
		await screen.rerender({ client, skill: again() });
		await expect.element(screen.getByLabelText('a required')).toHaveValue('7');
		await screen.getByTestId('run-what').selectOptions('scripts/say.sh');
		await expect.element(screen.getByTestId('run-text')).toHaveValue('typed');
		await screen.getByTestId('run-what').selectOptions('add (tool)');
		await expect.element(screen.getByLabelText('a required')).toHaveValue('7');
	});

	test('a tool has a field for each property; one that is wrong says so beside it, and nothing runs', async () => {
		const { screen, runExecution } = await setup({ ...skill, scripts: [] });
		await screen.getByLabelText('a required').fill('many');
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByRole('textbox', { name: /^a/ })).toHaveFocus();
		await expect.element(screen.getByTestId('field-problem')).toHaveTextContent('Enter a number, such as 1.5.');
		const field = screen.getByLabelText('a required');
		await expect.element(field).toHaveAttribute('aria-invalid', 'true');
		await expect.element(field).toHaveAccessibleDescription('Enter a number, such as 1.5.');
		expect(runExecution).not.toHaveBeenCalled();
		await field.fill('2.5');
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('execution')).toBeVisible();
		expect(runExecution.mock.calls[0]?.[0]).toMatchObject({ tool: 'add', input: { a: 2.5 } });
	});

	test('is kept as a case, with the exit code and the files of the run; a refusal keeps what was typed', async () => {
		const oncase = vi.fn();
		const { screen, addCase } = await setup(skill, oncase);
		await screen.getByTestId('run-text').fill('two words\n--in=./in.csv\nmade.txt');
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('execution')).toBeVisible();
		await screen.getByTestId('keep-case').click();
		await expect.element(screen.getByLabelText('Title')).toHaveFocus();
		await expect.element(screen.getByTestId('case-files')).toHaveTextContent('Keeps in.csv for the next runs.');
		await screen.getByLabelText('Title').fill('Says it');
		await expect.element(screen.getByLabelText('Expected exit code')).toHaveValue('0');
		await expect.element(screen.getByLabelText('Files created, one per line')).toHaveValue('made.txt');
		await screen.getByLabelText('Expected output').fill('{\n  "words": 4\n}\n\nmore');
		addCase.mockRejectedValueOnce(new ApiError('conflict', 'There is such a case.'));
		await screen.getByTestId('save-case').click();
		await expect.element(screen.getByTestId('case-error')).toMatchTextContent(/There is such a case/);
		await expect.element(screen.getByLabelText('Title')).toHaveValue('Says it');
		addCase.mockResolvedValueOnce({ id: 'c1' } as SkillCase);
		await screen.getByTestId('save-case').click();
		await expect.element(screen.getByTestId('case-form')).not.toBeInTheDocument();
		expect(addCase).toHaveBeenLastCalledWith('skills/demo', {
			title: 'Says it',
			script: 'scripts/say.sh',
			args: ['two words', '--in=./in.csv', 'made.txt'],
			files: ['in.csv'],
			conversationId: expect.stringMatching(/^run-/) as string,
			expect: { exitCode: 0, contains: ['{\n  "words": 4\n}', 'more'], files: ['made.txt'] }
		});
		expect(oncase).toHaveBeenCalledOnce();
		await expect
			.element(screen.getByTestId('run-status'))
			.toMatchTextContent(/Case saved: it checks this script\. Evals check/);
	});

	test('the result stands beside the form where there is room, is scrolled to on a phone, and what was typed stays', async () => {
		await page.viewport(1280, 800);
		const { screen } = await setup();
		await screen.getByTestId('run-text').fill('two words');
		await screen.getByTestId('run-button').click();
		const box = (testid: string) => screen.getByTestId(testid).element().getBoundingClientRect();
		await expect.element(screen.getByTestId('execution')).toBeVisible();
		expect(box('execution').left).toBeGreaterThan(box('run-form').right);
		expect(box('execution').top).toBe(box('run-form').top);
		await page.viewport(390, 200);
		await expect.element(screen.getByTestId('run-button')).toHaveTextContent('Run');
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('execution-status')).toBeInViewport();
		expect(box('execution').top).toBeGreaterThan(box('run-form').bottom);
		await expect.element(screen.getByTestId('run-text')).toHaveValue('two words');
		await page.viewport(1280, 800);
	});

	test('a case begins with its command as title and with what the run said; without a title it says what is missing', async () => {
		const { screen, addCase } = await setup(skill, vi.fn());
		await screen.getByTestId('run-text').fill('two words');
		await screen.getByTestId('run-button').click();
		await screen.getByTestId('keep-case').click();
		await expect.element(screen.getByLabelText('Title')).toHaveValue('say.sh "two words"');
		const output = execution.output?.trim() ?? '';
		expect(output).not.toBe('');
		await expect.element(screen.getByLabelText('Expected output')).toHaveValue(output);
		await screen.getByLabelText('Title').fill('');
		await screen.getByTestId('save-case').click();
		await expect.element(screen.getByLabelText('Title')).toBeInvalid();
		expect(addCase).not.toHaveBeenCalled();
	});

	test('a case of another input than the last run’s expects nothing of what that run said', async () => {
		const { screen } = await setup(skill, vi.fn());
		await screen.getByTestId('run-text').fill('two words');
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('execution')).toBeVisible();
		await screen.getByTestId('run-text').fill('other words');
		await screen.getByTestId('keep-case').click();
		await expect.element(screen.getByLabelText('Title')).toHaveValue('say.sh "other words"');
		await expect.element(screen.getByLabelText('Expected output')).toHaveValue('');
		await expect.element(screen.getByLabelText('Files created, one per line')).toHaveValue('');
	});

	test('an input that can’t be run takes the result of the one before away', async () => {
		const { screen } = await setup({ ...skill, scripts: [] });
		await screen.getByLabelText('a required').fill('2');
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('execution')).toBeVisible();
		await screen.getByLabelText('a required').fill('');
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('field-problem')).toBeVisible();
		await expect.element(screen.getByTestId('execution')).not.toBeInTheDocument();
	});

	test('a failure of files that have changed since isn’t shown again', async () => {
		const failed = { ...execution, status: 'error', errorType: 'ExecutionFailed', exitCode: 1 } as const;
		const first = await setup();
		first.runExecution.mockResolvedValueOnce({ execution: { ...failed, digest: skill.digest } });
		await first.screen.getByTestId('run-button').click();
		await expect.element(first.screen.getByTestId('execution')).toBeVisible();
		await first.screen.unmount();
		for (const [digest, isShown] of [
			[skill.digest, true],
			['other', false]
		] as const) {
			const again = await setup(skill, undefined, null, [], { ...failed, digest });
			await expect.poll(() => again.client.getExecution.mock.settledResults.length).toBe(1);
			if (isShown) await expect.element(again.screen.getByTestId('execution')).toBeVisible();
			else await expect.element(again.screen.getByTestId('execution')).not.toBeInTheDocument();
			await again.screen.unmount();
		}
	});

	test('a case of a form with fields keeps the file in its field', async () => {
		const { screen } = await setup(known, vi.fn());
		await screen.getByLabelText('file required').fill('in.csv');
		await screen.getByLabelText('--limit required').fill('3');
		await screen.getByTestId('keep-case').click();
		await expect.element(screen.getByTestId('case-files')).toHaveTextContent('Keeps in.csv for the next runs.');
	});

	test('a form for a case begins in sight, below a long result', async () => {
		const { screen, runExecution } = await setup(skill, vi.fn());
		await page.viewport(390, 400);
		runExecution.mockResolvedValueOnce({ execution: { ...execution, output: 'line\n'.repeat(200) } });
		await screen.getByTestId('run-button').click();
		await screen.getByTestId('keep-case').click();
		await expect.element(screen.getByLabelText('Title')).toBeInViewport();
		await page.viewport(1280, 800);
	});

	test('each script shows its own last result, or none', async () => {
		const { screen } = await setup();
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('execution')).toBeVisible();
		await screen.getByTestId('run-what').selectOptions('add (tool)');
		await expect.element(screen.getByTestId('execution')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('run-button')).toHaveTextContent('Run');
		await screen.getByTestId('run-what').selectOptions('scripts/say.sh');
		await expect.element(screen.getByTestId('execution')).toBeVisible();
	});

	test('an error is said once', async () => {
		const { screen, runExecution } = await setup();
		const failed = { status: 'error', errorType: 'ExecutionFailed', exitCode: 1, output: 'No such file.\n' } as const;
		const errorMessage = 'scripts/say.sh ended with exit code 1.';
		runExecution.mockResolvedValueOnce({ execution: { ...execution, ...failed, errorMessage } });
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('execution-message')).toHaveTextContent('No such file.');
		await expect.element(screen.getByTestId('execution-output')).not.toBeInTheDocument();
	});

	test('fits into 390 pixels', async () => {
		const frame = document.createElement('div');
		frame.style.width = '390px';
		document.body.append(frame);
		const long = 'x'.repeat(300);
		const runExecution = async () => ({ execution: { ...execution, output: long, argv: [long] } });
		const wide = { ...skill, scripts: [long, 'b.sh'] };
		const screen = await render(
			RunForm,
			{
				client: {
					...{ runExecution, addCase: vi.fn(), listFiles: vi.fn() },
					...{ uploadFile: vi.fn(), putExample: vi.fn(), getExecution: vi.fn() }
				},
				skill: wide
			},
			{ baseElement: frame }
		);
		await screen.getByTestId('run-button').click();
		await expect.element(screen.getByTestId('execution-output')).toBeVisible();
		expect(frame.scrollWidth).toBeLessThanOrEqual(390);
		frame.remove();
	});
});

describe('F6: what a form asks for', () => {
	const OPTIONS = ['by', 'from', 'until', 'limit', 'order'].map((name) => `p.add_argument('--${name}')\n`).join('');
	const text = `import argparse\np = argparse.ArgumentParser()\np.add_argument('file')\n${OPTIONS}`;
	const scripts = ['scripts/sum.py'];
	const files = [{ path: 'scripts/sum.py', bytes: text.length, text }];
	const example = { title: 'Sums', prompt: 'Add it up', files: ['sales.csv'] };
	const many = sampleDetail({ skillId: 'skills/demo', scripts, tools: [], trust: 'trusted', files, example });

	test('the skill’s own sample fills it in, from the folder that the run gets', async () => {
		const { screen, putExample, runExecution } = await setup(many);
		await screen.getByRole('button', { name: 'Use sample sales.csv' }).click();
		await expect.element(screen.getByLabelText('file required')).toHaveValue('sales.csv');
		await screen.getByTestId('run-button').click();
		const [wanted] = runExecution.mock.calls[0] ?? [];
		expect(wanted).toMatchObject({ args: ['sales.csv'] });
		expect(putExample).toHaveBeenCalledExactlyOnceWith(sameFolder(wanted).sessionId, many.id);
	});

	test('many options are folded, until one of them was given', async () => {
		const { screen } = await setup(many);
		await expect.element(screen.getByTestId('more-fields')).toMatchTextContent(/5 options/);
		await expect.element(screen.getByLabelText('--limit')).not.toBeVisible();
		await screen.unmount();
		sessionStorage.clear();
		const again = await setup(many, undefined, null, [{ index: 0, text: 'a.csv\n--limit\n3' }]);
		await expect.element(again.screen.getByLabelText('--limit')).toBeVisible();
		await expect.element(again.screen.getByLabelText('--limit')).toHaveValue('3');
	});

	test('a run that goes on while its page is away is shown there again, to its end', async () => {
		const getExecution = vi
			.fn<Client['getExecution']>()
			.mockResolvedValueOnce(sampleExecution({ script: 'scripts/sum.py', status: 'running', durationMs: null }))
			.mockResolvedValue(sampleExecution({ script: 'scripts/sum.py', output: 'the sum' }));
		const { client, screen: first } = await setup(many);
		await first.unmount();
		const last = [{ index: 0, text: 'a.csv', folder: 'run-1', executionId: 'e1' }];
		sessionStorage.clear();
		const screen = await render(RunForm, { client: { ...client, getExecution }, skill: many, last });
		await expect.element(screen.getByText('Running', { exact: true })).toBeVisible();
		await expect.element(screen.getByText('the sum')).toBeVisible();
	});
});
