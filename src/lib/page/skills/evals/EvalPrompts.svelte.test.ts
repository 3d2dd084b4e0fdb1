import { beforeEach, describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { createFakeRegistry } from '../../../../../tests/support/fake-registry.ts';
import { sampleDetail } from '../../../../../tests/support/sample-skills.ts';
import { emptyAnswer } from '../../../shared/message.ts';
import type { SkillFileText, SkillFileWrite } from '../../../shared/skills.ts';
import type { EvalRun, SkillEvals as Evals } from '../../../shared/try-out.ts';
import { ApiError } from '../../request.ts';
import SkillEvals from './SkillEvals.svelte';

const cases: Evals['cases'] = [
	{ id: '1', prompt: 'Count the words of “a b”.', expected: '2', files: [], expectations: ['says 2'] }
];

/** Opens the form for a skill whose evals.json is `text`; `isWritable` applies to its SKILL.md too. */
async function openForm(
	text: string | null,
	{ isWritable = true, example = null as Example, isLeftClosed = false, results = [] as string[] } = {}
) {
	const disk = { text };
	const fileOf = (path: string, content: string): SkillFileText => ({
		...{ path, text: content, bytes: content.length, digest: `of ${content}` },
		...{ isExecutable: false, isWritable, skill: 'installed/demo', folder: 'installed/demo' }
	});
	const client = createFakeRegistry();
	const run: EvalRun = {
		...{ id: 'r1', skillId: 'installed/demo', version: '1.0.0', kind: 'answers', state: 'done', rounds: 1 },
		...{ maxCostUsd: null, isFresh: false, progress: { done: 0, total: 0 }, sides: [], costUsd: null, error: null },
		...{ startedAt: '2026-01-01T00:00:00.000Z', finishedAt: null },
		results: results.map((id) => ({ id, prompt: `Prompt ${id}`, expected: null, shouldTrigger: null, answers: [] }))
	};
	client.getEvals.mockImplementation(async () => ({
		cases: disk.text === null ? [] : cases,
		triggers: [],
		problem: null,
		runs: results.length === 0 ? [] : [run]
	}));
	client.getEvalRun.mockImplementation(async () => run);
	client.readFile.mockImplementation(async (_id, path) => {
		if (path === 'SKILL.md') return fileOf(path, '---');
		if (disk.text === null) throw new ApiError('not_found', 'There is no such file.');
		return fileOf(path, disk.text);
	});
	client.writeFile.mockImplementation(async (_id, { path, text: written, digest }: SkillFileWrite) => {
		if ((disk.text === null ? null : `of ${disk.text}`) !== digest) throw new ApiError('conflict', 'It has changed.');
		disk.text = written;
		return fileOf(path, written);
	});
	const onsaved = vi.fn();
	const skill = sampleDetail({ name: 'demo', example, trust: 'trusted' });
	client.getSkill.mockResolvedValue(skill);
	const screen = await render(SkillEvals, { client, skillId: 'installed/demo', skill, onsaved });
	if (!isLeftClosed) await screen.getByTestId('edit-evals').click();
	const saved = (): unknown => JSON.parse(disk.text ?? 'null');
	return { screen, client, disk, saved, onsaved, save: screen.getByRole('button', { name: 'Save', exact: true }) };
}
/** Several prompts begin as closed rows. */
async function openRows(screen: Awaited<ReturnType<typeof openForm>>['screen']) {
	const rows = screen.getByTestId('eval-prompt');
	await expect.element(rows.first()).toBeVisible();
	for (const row of rows.elements()) row.querySelector('summary')?.click();
}

type Example = ReturnType<typeof sampleDetail>['example'];

beforeEach(() => localStorage.clear());

describe('F16: the prompts of a skill, in a form', () => {
	test('of a skill without any are there and asked in one click, from its example', async () => {
		const example = { title: 'Count', prompt: 'Count “a b”.', files: ['a.txt'] };
		const { screen, client, disk, saved } = await openForm(null, { example, isLeftClosed: true });
		await expect.element(screen.getByTestId('eval-example')).toMatchTextContent(/Count ‘a b’.*Loads the skill demo/);
		await screen.getByTestId('run-first-eval').click();
		await expect.poll(() => client.startEvals.mock.calls).toEqual([['installed/demo', {}]]);
		const first = { prompt: 'Count “a b”.', files: ['examples/a.txt'], expectations: ['skillLoaded: demo'] };
		expect(saved()).toEqual({ evals: [first] });
		expect(disk.text).not.toBeNull();
	});

	test.each([
		['the evals alone', ['evals/evals.json'], 1],
		['a script, too', ['evals/evals.json', 'scripts/run.sh'], 0]
	])('F4: leave a trusted skill trusted, if they are what changed: %s', async (_, paths, times) => {
		const example = { title: 'Count', prompt: 'Count “a b”.', files: [] };
		const { screen, client } = await openForm(null, { example, isLeftClosed: true });
		const changes = paths.map((path) => ({ path, kind: 'added' as const, diff: null }));
		const digest = 'b'.repeat(64);
		client.getSkill
			.mockResolvedValueOnce(sampleDetail({ trust: 'trusted' }))
			.mockResolvedValue(sampleDetail({ trust: 'changed', digest, changes }));
		await screen.getByTestId('run-first-eval').click();
		await expect.poll(() => client.startEvals).toHaveBeenCalledOnce();
		expect(client.changeSkill).toHaveBeenCalledTimes(times);
		if (times > 0)
			expect(client.changeSkill).toHaveBeenCalledWith('installed/demo', { trust: { digest, isTrusted: true } });
	});

	test('of a read-only skill, or with words that were typed before, are shown in the form and not asked', async () => {
		const example = { title: 'Count', prompt: 'Count “a b”.', files: [] };
		const { screen, client } = await openForm(null, { example, isLeftClosed: true, isWritable: false });
		await screen.getByTestId('run-first-eval').click();
		await expect.element(screen.getByTestId('prompts-read-only')).toBeVisible();
		expect(client.startEvals).not.toHaveBeenCalled();
	});

	test.each([
		['there are', JSON.stringify({ evals: [{ prompt: 'One' }] })],
		['there are no others', null]
	])(
		'F16: that were typed and not saved say so when one comes back, where %s, and are taken up or discarded',
		async (_, text) => {
			const { screen } = await openForm(text);
			const asked = screen.getByLabelText('What someone would ask').first();
			await asked.fill('Two');
			await expect.element(screen.getByTestId('prompts-dirty')).toBeVisible();
			await screen.unmount();
			const { screen: again } = await openForm(text, { isLeftClosed: true });
			await expect.element(again.getByTestId('prompts-unsaved')).toBeVisible();
			await again.getByTestId('resume-prompts').click();
			await expect.element(again.getByLabelText('What someone would ask').first()).toHaveValue('Two');
			await again.unmount();
			const { screen: last } = await openForm(text, { isLeftClosed: true });
			await last.getByTestId('discard-prompts').click();
			await expect.element(last.getByTestId('prompts-unsaved')).not.toBeInTheDocument();
			expect(Object.keys(localStorage).filter((key) => key.startsWith('skill-typed'))).toEqual([]);
		}
	);

	test('get a check beside the answer, and no other prompt is in the way', async () => {
		const { screen, client, saved } = await openForm(
			JSON.stringify({ evals: [{ prompt: 'One' }, { prompt: 'Two', expectations: ['is short'] }] }),
			{ isLeftClosed: true, results: ['1', '2'] }
		);
		await screen.getByTestId('eval-result').nth(1).getByText('Prompt 2').click();
		await screen.getByTestId('eval-result').nth(1).getByTestId('add-check').click();
		await expect.element(screen.getByTestId('eval-prompt')).toHaveLength(1);
		await expect.element(screen.getByLabelText('What someone would ask')).not.toBeInTheDocument();
		const typed = screen.getByTestId('eval-expectation').nth(1).getByLabelText('Text');
		await expect.element(typed).toHaveFocus();
		await typed.fill('42');
		await screen.getByRole('button', { name: 'Save', exact: true }).click();
		await expect.element(screen.getByTestId('check-added')).toBeVisible();
		expect(saved()).toEqual({
			evals: [{ prompt: 'One' }, { prompt: 'Two', expectations: ['is short', 'contains: 42'] }]
		});
		await screen.getByTestId('check-added').getByRole('button', { name: 'Run evals' }).click();
		expect(client.startEvals).toHaveBeenLastCalledWith('installed/demo', { kind: 'answers' });
	});

	test.each([
		['done', '6 words', 0],
		['failed', '', 1]
	] as const)(
		'of an answer stand beside it, with what it says as a check; of one that is %s',
		async (status, check, failures) => {
			const { client } = await openForm(null, { isLeftClosed: true });
			const question = {
				...emptyAnswer('q', 'r', ''),
				role: 'user',
				parts: [{ type: 'text', id: 'x', text: 'Count it' }]
			};
			const execution = { skill: 'demo', script: 'scripts/x.sh', args: [], files: [] };
			const call = { type: 'tool', id: 't', name: 'use_skill', arguments: '{}', status, execution };
			const said = { type: 'text', id: 'y', text: 'It has **6 words**.' };
			const answered = { ...emptyAnswer('a', 'r', ''), status: 'complete', parts: [call, said] };
			client.getConversation.mockResolvedValue({ messages: [question, answered] } as never);
			client.listFiles.mockResolvedValue([]);
			const skill = sampleDetail({ name: 'demo', trust: 'trusted' });
			const answer = { chat: 'c', call: 't' };
			const { getByTestId } = await render(SkillEvals, { client, skillId: 'installed/demo', skill, answer });
			await expect.element(getByTestId('add-to-evals-heading')).toHaveTextContent('Add to evals');
			await expect.element(getByTestId('begun-answer')).toMatchTextContent(/It has 6 words\./);
			await expect.element(getByTestId('begun-answer').getByText('This answer failed.')).toHaveLength(failures);
			const typed = getByTestId('eval-expectation').last().getByLabelText('Text');
			await expect.element(typed).toHaveValue(check);
			await expect.element(typed).toHaveFocus();
		}
	);

	test('begin with the skill’s example; the file is there once it is saved', async () => {
		const { screen, saved, save, disk, onsaved } = await openForm(null, {
			example: { title: 'Count', prompt: 'Count “a b”.', files: ['a.txt'] }
		});
		const asked = screen.getByLabelText('What someone would ask');
		await expect.element(asked).toHaveValue('Count “a b”.');
		await screen.getByRole('button', { name: 'Add another' }).click();
		await save.click();
		expect(disk.text).toBeNull();
		await asked.nth(1).fill('What is the weather?');
		await screen.getByLabelText('The AI').nth(1).selectOptions('Should not use it');
		await screen.getByLabelText('What a good answer says (optional)').nth(0).fill('2');
		await save.click();
		await expect.element(screen.getByTestId('start-evals')).toBeEnabled();
		await expect.element(screen.getByTestId('eval-prompts')).not.toBeInTheDocument();
		expect(onsaved).toHaveBeenCalledOnce();
		expect(saved()).toEqual({
			evals: [
				{
					...{ prompt: 'Count “a b”.', files: ['examples/a.txt'] },
					...{ expectations: ['skillLoaded: demo'], expected_output: '2' }
				},
				{ prompt: 'What is the weather?', expectations: ['skillNotLoaded: demo'] }
			]
		});
	});

	test('keep what the form doesn’t know, and no two get one id; a save can be undone', async () => {
		const before = {
			skill_name: 'demo',
			evals: [
				{
					id: 3,
					query: 'One',
					note: { by: 'Ada' },
					files: ['a.txt'],
					assertions: ['contains: 1', { skillLoaded: true }]
				},
				{ id: 'x', prompt: 'Two', expected_output: 'two' }
			]
		};
		const { screen, saved, save } = await openForm(JSON.stringify(before));
		await openRows(screen);
		const use = screen.getByLabelText('The AI');
		await expect.element(use.nth(0)).toHaveValue('skillLoaded');
		await expect.element(use.nth(1)).toHaveValue('');
		await screen.getByLabelText('What someone would ask').nth(0).fill('Uno');
		await use.nth(0).selectOptions('Should not use it');
		await screen.getByLabelText('What a good answer says (optional)').nth(1).fill('');
		await screen.getByRole('button', { name: 'Add another' }).click();
		await screen.getByLabelText('What someone would ask').nth(2).fill('Three');
		await save.click();
		await expect.element(screen.getByTestId('undo-prompts')).toBeVisible();
		expect(saved()).toEqual({
			skill_name: 'demo',
			evals: [
				{
					...{ id: 3, query: 'Uno', note: { by: 'Ada' }, files: ['a.txt'], assertions: ['contains: 1'] },
					expectations: ['skillNotLoaded: demo']
				},
				{ id: 'x', prompt: 'Two' },
				{ id: 4, prompt: 'Three', expectations: ['skillLoaded: demo'] }
			]
		});
		await screen.getByTestId('undo-prompts').click();
		await expect.poll(saved).toEqual(before);
	});

	test('say what must be true, a row each, and how it is written stays; half a schema is no harm', async () => {
		const rubric = { rubric: 'It is kind.', weight: 2 };
		const exit = { exitCode: 0, script: 'scripts/a.sh', text: 'It works' };
		const odd = { contains: 'a', regex: 'b' };
		const before = [
			{ prompt: 'One', expectations: ['skillLoaded: demo', rubric, exit, odd], assertions: ['exact: 1'] }
		];
		const { screen, saved, save } = await openForm(JSON.stringify(before));
		const rows = screen.getByTestId('eval-expectation');
		await expect.element(rows).toHaveLength(4);
		const kinds = rows.getByLabelText('What to check');
		await expect.element(kinds.nth(0)).toHaveValue('rubric');
		await expect.element(kinds.nth(1)).toHaveValue('exitCode');
		await expect.element(rows.nth(1).getByLabelText('Of which script (optional)')).toHaveValue('scripts/a.sh');
		// What the form can't show stays as it is, with the reason why it doesn't hold.
		await expect.element(rows.nth(2)).toMatchTextContent(/^\s*.*This must have one of these keys/);
		await rows.nth(2).getByRole('button', { name: 'Remove check 3 of prompt 1' }).click();
		await expect.element(kinds.nth(2)).toHaveValue('equals');
		await rows.nth(0).getByLabelText('Sentence').fill('It is very kind.');
		await rows.nth(1).getByLabelText('Exit code').fill('3');

		const add = screen.getByRole('button', { name: 'Add check to prompt 1' });
		await add.click();
		await kinds.nth(2).selectOptions('JSON in it fits schema');
		const schema = rows.nth(2).getByLabelText('JSON Schema');
		await schema.fill('{"type": "obj');
		await expect.element(schema).toHaveValue('{"type": "obj');
		await expect
			.element(rows.nth(2).getByTestId('expectation-problem'))
			.toMatchTextContent(/This must be a JSON Schema/);
		await save.click();
		expect(saved()).toEqual(before);
		await schema.fill('{"type":"object"}');
		await expect.element(rows.nth(2).getByTestId('expectation-problem')).not.toBeInTheDocument();

		await add.click();
		await kinds.nth(3).selectOptions('Answer matches the pattern');
		await rows.nth(3).getByLabelText('Regular expression').fill('([');
		const problem = rows.nth(3).getByTestId('expectation-problem');
		await expect.element(problem).toMatchTextContent(/This isn’t a regular expression: /);
		await rows.nth(3).getByLabelText('Regular expression').fill('\\d+ ');

		await add.click();
		await kinds.nth(4).selectOptions('Maximum steps');
		const steps = rows.nth(4).getByLabelText('Steps');
		await steps.fill('0');
		await expect
			.element(rows.nth(4).getByTestId('expectation-problem'))
			.toMatchTextContent(/This must be a whole number, 1 or more/);
		await steps.fill('5');
		await screen.getByLabelText('Files it gets (optional)').fill('evals/a.txt\nevals/b.txt');
		await save.click();
		await expect.element(screen.getByTestId('undo-prompts')).toBeVisible();
		expect(saved()).toEqual([
			{
				...{ prompt: 'One', assertions: ['exact: 1'], files: ['evals/a.txt', 'evals/b.txt'] },
				expectations: [
					'skillLoaded: demo',
					{ rubric: 'It is very kind.', weight: 2 },
					{ exitCode: 3, script: 'scripts/a.sh', text: 'It works' },
					{ json: { type: 'object' } },
					{ regex: '\\d+ ' },
					'maxSteps: 5'
				]
			}
		]);
	});

	test('an empty check or prompt is no change, until something is typed in it', async () => {
		const before = [{ prompt: 'One', expectations: ['skillLoaded: demo'] }, { prompt: 'Two' }];
		const { screen, saved, save } = await openForm(JSON.stringify({ evals: before }));
		await openRows(screen);
		await screen.getByRole('button', { name: 'Add check to prompt 1' }).click();
		await screen.getByRole('button', { name: 'Add check to prompt 2' }).click();
		await screen.getByRole('button', { name: 'Add another' }).click();
		await expect.element(screen.getByTestId('eval-expectation')).toHaveLength(2);
		await expect.element(screen.getByTestId('eval-prompt')).toHaveLength(3);
		await expect.element(save).toBeDisabled();
		await expect.element(screen.getByTestId('prompts-dirty')).not.toBeInTheDocument();
		expect(Object.keys(localStorage)).toEqual([]);
		await screen.getByTestId('eval-expectation').nth(0).getByLabelText('Text').fill('42');
		await expect.element(save).toBeEnabled();
		await screen.getByRole('button', { name: 'Discard changes' }).click();
		expect(saved()).toEqual({ evals: before });
	});

	test('are a row each, opened to change; a new one is open, and so is one that can’t be saved yet', async () => {
		const checks = '["says 1","skillLoaded: demo"]';
		const { screen, save } = await openForm(`[{"prompt":"One\\nmore","expectations":${checks}},{"prompt":"Two"}]`);
		const rows = screen.getByTestId('eval-prompt');
		await expect.element(rows.nth(0)).toMatchTextContent(/^\s*One\s*1 check\b/);
		const isOpen = () => rows.elements().map((row) => row.querySelector('details')?.open);
		expect(isOpen()).toEqual([false, false]);
		await screen.getByRole('button', { name: 'Add another' }).click();
		await expect.poll(isOpen).toEqual([false, false, true]);
		// As many as there are rows: whether the skill is used has a choice of its own.
		expect(rows.nth(2).element().querySelector('summary')?.textContent.trim()).toBe('New prompt');
		const prompt = screen.getByLabelText('What someone would ask');
		await expect.element(prompt.nth(2)).toHaveFocus();
		await prompt.nth(2).fill('Three');
		await screen.getByText('Two').first().click();
		await prompt.nth(1).fill('');
		await rows.nth(1).getByText('New prompt').click();
		await expect.poll(isOpen).toEqual([false, false, true]);
		await save.click();
		await expect.poll(isOpen).toEqual([false, true, true]);
		await expect.element(prompt.nth(1)).toHaveFocus();
	});

	test('that ask only whether the skill is loaded say so in skill-creator’s field', async () => {
		const { screen, saved, save } = await openForm(
			JSON.stringify([
				{ query: 'One', should_trigger: false },
				{ prompt: 'Two', expectations: ['skillNotLoaded: demo', 'contains: 2'] }
			])
		);
		await openRows(screen);
		const only = screen.getByLabelText('Check only whether it’s loaded');
		await expect.element(only.nth(0)).toBeChecked();
		await expect.element(screen.getByLabelText('The AI').nth(0)).toHaveValue('skillNotLoaded');
		await screen.getByLabelText('The AI').nth(0).selectOptions('Should use this skill');
		await only.nth(1).click();
		await expect.element(screen.getByTestId('eval-expectation')).not.toBeInTheDocument();
		await save.click();
		await expect.element(screen.getByTestId('undo-prompts')).toBeVisible();
		expect(saved()).toEqual([
			{ query: 'One', should_trigger: true },
			{ prompt: 'Two', expectations: ['contains: 2'], should_trigger: false }
		]);
	});

	test('that are refused stay in the form with the reason; those that another changed are not overwritten', async () => {
		const { screen, client, disk, saved, save, onsaved } = await openForm('[{"prompt":"One"},{"prompt":"Two"}]');
		await openRows(screen);
		await screen.getByRole('button', { name: 'Delete prompt 1' }).click();
		client.writeFile.mockRejectedValueOnce(new ApiError('storage_full', 'The disk is full.'));
		await save.click();
		await expect.element(screen.getByTestId('prompts-error')).toMatchTextContent(/The disk is full/);
		await openRows(screen);
		await expect.element(screen.getByLabelText('What someone would ask')).toHaveValue('Two');
		disk.text = '[{"prompt":"Theirs"}]';
		await save.click();
		await expect.element(screen.getByTestId('prompts-conflict')).toMatchTextContent(/Nothing was overwritten/);
		expect(saved()).toEqual([{ prompt: 'Theirs' }]);
		expect(onsaved).not.toHaveBeenCalled();
		await screen.getByRole('button', { name: 'Keep mine' }).click();
		await expect.poll(saved).toEqual([{ prompt: 'Two' }]);
	});

	test('of a read-only skill, or in another shape, say so and cannot be saved', async () => {
		const fixed = await openForm(null, { isWritable: false });
		await expect.element(fixed.screen.getByTestId('prompts-read-only')).toBeVisible();
		await expect.element(fixed.save).not.toBeInTheDocument();
		await fixed.screen.unmount();
		const odd = await openForm('{"evals":["One"]}');
		await expect.element(odd.screen.getByText(/isn’t a list of prompts/)).toBeVisible();
		await expect
			.element(odd.screen.getByRole('link', { name: 'Edit as JSON' }))
			.toHaveAttribute('href', expect.stringContaining('file=evals%2Fevals.json'));
		await expect.element(odd.save).not.toBeInTheDocument();
	});
});
