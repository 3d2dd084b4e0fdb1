import { beforeEach, describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { createFakeAccount, modelOf } from '../../../../../tests/support/fake-account.ts';
import { createFakeRegistry } from '../../../../../tests/support/fake-registry.ts';
import { ApiError } from '../../request.ts';
import { sampleDetail } from '../../../../../tests/support/sample-skills.ts';
import type { SkillFileText, SkillFileWrite } from '../../../shared/skills.ts';
import { figuresOf } from '../../../shared/eval-figures.ts';
import type { EvalAnswer, EvalRun, EvalSide, SkillEvals as Evals } from '../../../shared/try-out.ts';
import { Account } from '../../models/account.svelte.ts';
import SkillEvals from './SkillEvals.svelte';

const cases: Evals['cases'] = [
	{ id: '1', prompt: 'Count the words of “a b”.', expected: '2', files: [], expectations: ['says 2'] }
];
const answer = (more: Partial<EvalAnswer> = {}): EvalAnswer => ({
	...{ status: 'success', text: 'It is 2.', loaded: ['demo'], calls: ['run: count'], durationMs: 1200, tokens: 900 },
	...{ side: '1', round: 1, files: [], steps: 2, costUsd: 0.01, isCached: false },
	...{ error: null, expectations: [{ text: 'says 2', isMet: true, reason: 'The text has “2”.' }] },
	...more
});
const sideOf = (
	part: Partial<EvalSide>,
	answers: readonly EvalAnswer[] = [],
	should: boolean | null = null
): EvalSide => {
	const side = { id: '1', kind: 'with' as const, version: '1.0.0', digest: null, model: 'some/model', ...part };
	return { ...side, figures: figuresOf([{ answers: [...answers], shouldTrigger: should }], side.id, 'demo') };
};
const runOf = (more: Partial<EvalRun> = {}): EvalRun => ({
	...{ id: 'r1', skillId: 'installed/demo', version: '1.0.0', state: 'running', results: [], kind: 'answers' },
	...{ progress: { done: 0, total: 2 }, sides: [sideOf({})], costUsd: null, error: null },
	...{ rounds: 1, maxCostUsd: null, isFresh: false, startedAt: '2026-01-01T00:00:00.000Z', finishedAt: null },
	...more
});
const compared = [
	answer(),
	answer({
		...{ side: '2', text: '\u202eThree\u001b[31m', loaded: [] },
		expectations: [{ text: 'says 2', isMet: false, reason: '' }]
	}),
	answer({
		...{ side: '2', round: 2, loaded: [], isCached: true },
		expectations: [{ text: 'is friendly', isMet: null, reason: '' }]
	})
];
const done = runOf({
	state: 'done',
	progress: { done: 2, total: 2 },
	sides: [sideOf({}, compared), sideOf({ id: '2', kind: 'without', version: null }, compared)],
	results: [
		{ ...{ id: '1', prompt: 'Count the words of “a b”.', expected: '2', shouldTrigger: null }, answers: compared }
	]
});
const triggers = [{ id: 't1', prompt: 'Count it', shouldTrigger: true }];

async function setup({ runs = [], ...evals }: Partial<Omit<Evals, 'runs'>> & { runs?: EvalRun[] }) {
	const client = createFakeRegistry();
	client.getEvals.mockResolvedValue({ cases, triggers: [], problem: null, runs, ...evals });
	client.getEvalRun.mockImplementation(async (_id, wanted) => runs.find(({ id }) => id === wanted) ?? runOf());
	const screen = await render(SkillEvals, { client, skillId: 'installed/demo', skill: sampleDetail() });
	return { screen, client };
}

/** Opens the form for a skill whose evals.json is `text`; `isWritable` applies to its SKILL.md too. */
async function openForm(text: string | null, { isWritable = true, example = null as Example } = {}) {
	const disk = { text };
	const fileOf = (path: string, content: string): SkillFileText => ({
		...{ path, text: content, bytes: content.length, digest: `of ${content}` },
		...{ isExecutable: false, isWritable, skill: 'installed/demo' }
	});
	const client = createFakeRegistry();
	client.getEvals.mockImplementation(async () => ({
		cases: disk.text === null ? [] : cases,
		triggers: [],
		problem: null,
		runs: []
	}));
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
	const skill = sampleDetail({ name: 'demo', example });
	const screen = await render(SkillEvals, { client, skillId: 'installed/demo', skill, onsaved });
	await screen.getByTestId('edit-evals').click();
	const saved = (): unknown => JSON.parse(disk.text ?? 'null');
	return { screen, client, disk, saved, onsaved, save: screen.getByRole('button', { name: 'Save', exact: true }) };
}
type Example = ReturnType<typeof sampleDetail>['example'];

beforeEach(() => localStorage.clear());

describe('F16: the evals of a skill', () => {
	test('that there are none of, or that cannot be read, say so and offer no run', async () => {
		const none = await setup({ cases: [] });
		await expect.element(none.screen.getByTestId('edit-evals')).toHaveTextContent('Add prompts');
		await expect.element(none.screen.getByTestId('start-evals')).not.toBeInTheDocument();
		await none.screen.unmount();
		const torn = await setup({ cases: [], problem: 'evals.json is no JSON, line 3.' });
		await expect.element(torn.screen.getByTestId('evals-problem')).toHaveTextContent('evals.json is no JSON, line 3.');
	});

	test('are asked in rounds, with what that costs said before, and followed to their end', async () => {
		const { screen, client } = await setup({});
		await screen.getByLabelText('Rounds').selectOptions('3');
		await expect.element(screen.getByText(/Sends up to 6 prompts/)).toBeVisible();
		client.startEvals.mockResolvedValueOnce(runOf());
		client.getEvalRun.mockResolvedValue(done);
		await screen.getByTestId('start-evals').click();
		const options = { kind: 'answers', rounds: 3, without: true, isFresh: false, maxCostUsd: null };
		expect(client.startEvals).toHaveBeenCalledExactlyOnceWith('installed/demo', options);
		await expect.element(screen.getByTestId('eval-progress')).toMatchTextContent('Running: 0 of 2 answers');
		await expect.element(screen.getByTestId('start-evals')).toBeDisabled();
		await expect.element(screen.getByTestId('eval-run')).toHaveAttribute('data-state', 'done');
		await expect.element(screen.getByTestId('start-evals')).toBeEnabled();
		await expect.element(screen.getByTestId('cancel-evals')).not.toBeInTheDocument();
	});

	test('compare with another version, without a baseline, up to a cost, all anew', async () => {
		const client = createFakeRegistry();
		client.getEvals.mockResolvedValue({ cases, triggers, problem: null, runs: [] });
		const [listed, off] = [{ mode: 'auto', installation: null } as const, { mode: 'off', installation: null } as const];
		client.getVersions.mockResolvedValue({
			...{ current: '1.0.0', pinned: null },
			versions: [
				{ version: '1.0.0', id: 'installed/demo@1.0.0', ...listed },
				{ version: '0.9.0', id: 'installed/demo@0.9.0', ...listed },
				{ version: '0.8.0', id: null, ...off }
			]
		});
		const skill = sampleDetail({ version: '1.0.0' });
		const screen = await render(SkillEvals, { client, skillId: 'installed/demo', skill });
		await screen.getByLabelText('Compare with').selectOptions('Version 0.9.0');
		await expect.element(screen.getByRole('option', { name: /0\.8\.0|1\.0\.0/ })).not.toBeInTheDocument();
		await screen.getByLabelText('Without the skill, too').click();
		await screen.getByLabelText('Cost limit ($)').fill('0.5');
		await screen.getByLabelText('Ask everything again').click();
		await screen.getByTestId('start-evals').click();
		const options = { kind: 'answers', rounds: 1, without: false, version: '0.9.0', isFresh: true, maxCostUsd: 0.5 };
		expect(client.startEvals).toHaveBeenLastCalledWith('installed/demo', options);
		await screen.getByLabelText('Do the right prompts load it?').click();
		await expect.element(screen.getByText(/Sends 1 prompts/)).toBeVisible();
		await screen.getByTestId('start-evals').click();
		const wanted = { kind: 'triggers', rounds: 1, isFresh: true, maxCostUsd: 0.5 };
		expect(client.startEvals).toHaveBeenLastCalledWith('installed/demo', wanted);
	});

	test('are answered by up to five models, chosen as everywhere', async () => {
		const client = createFakeRegistry();
		client.getEvals.mockResolvedValue({ cases, triggers: [], problem: null, runs: [] });
		const accountClient = createFakeAccount();
		const data = [modelOf('a/one', { name: 'One' }), modelOf('b/two', { name: 'Two' })];
		accountClient.listModels.mockResolvedValue({ data, baseUrl: 'https://openrouter.ai/api/v1', problem: null });
		const account = new Account(accountClient, () => undefined);
		const props = { client, skillId: 'installed/demo', skill: sampleDetail(), account };
		const screen = await render(SkillEvals, props);
		await expect.element(screen.getByTestId('eval-models')).toMatchTextContent('Default model');
		await screen.getByTestId('eval-models').click();
		await screen.getByTestId('model-option').filter({ hasText: 'One' }).click();
		await screen.getByTestId('model-option').filter({ hasText: 'Two' }).click();
		await expect.element(screen.getByText('Choose 1 to 5 models below.')).toBeVisible();
		await screen.getByTestId('compare-done').click();
		await expect.element(screen.getByTestId('eval-models')).toMatchTextContent('One, Two');
		await expect.element(screen.getByText(/Sends up to 4 prompts/)).toBeVisible();
		await screen.getByTestId('start-evals').click();
		const models = expect.objectContaining({ models: ['a/one', 'b/two'] });
		expect(client.startEvals).toHaveBeenLastCalledWith('installed/demo', models);
		await screen.rerender({ ...props, isDemo: true });
		await expect.element(screen.getByTestId('eval-models')).not.toBeInTheDocument();
	});

	test('show answers with the skill and without it side by side, and how many expectations were met', async () => {
		const { screen } = await setup({ runs: [done] });
		await expect
			.element(screen.getByTestId('pass-rates'))
			.toMatchTextContent(/With the skill\s*100 %\s*21–100 %\s*\$0\.0100\s*900\s*1\.2 s\s*2\s*Without it\s*0 %/);
		const verdict = screen.getByTestId('eval-verdict');
		await expect.element(verdict).toHaveTextContent('The skill seems to help. More rounds will tell.');
		await expect
			.element(screen.getByTestId('eval-result'))
			.toMatchTextContent(/With the skill\s*1 of 1 · Without it\s*0 of 1/);
		const answers = screen.getByTestId('eval-result').getByTestId('eval-answer');
		await expect.element(answers.nth(0).getByLabelText('Met', { exact: true })).toBeInTheDocument();
		await expect.element(answers.nth(0)).toMatchTextContent(/900 tokens, \$0\.0100, loaded demo/);
		await expect.element(answers.nth(1).getByLabelText('Not met')).toBeInTheDocument();
		await answers.nth(1).getByText('Show answer').click();
		await expect.element(answers.nth(1).getByText('⟨U+202E⟩Three', { exact: true })).toBeVisible();
		await expect.element(answers.nth(2).getByLabelText('For you to judge')).toBeInTheDocument();
		await expect.element(answers.nth(2)).toMatchTextContent(/from an earlier run/);
		await screen.getByTestId('export-evals').click();
		await expect
			.element(screen.getByRole('menuitem', { name: 'JUnit XML' }))
			.toHaveAttribute('href', '/api/skills/installed/demo/evals/r1/export?format=junit');
	});

	test('of several models name the model on each side', async () => {
		const sides = ['a/one', 'b/two'].map((model, index) => sideOf({ id: String(index + 1), model }, compared));
		const { screen } = await setup({ runs: [{ ...done, sides }] });
		await expect
			.element(screen.getByTestId('pass-rates'))
			.toMatchTextContent(/With the skill, a\/one.*With the skill, b\/two/);
	});

	test('decide which prompts load the skill, and say what took its place', async () => {
		const asked = [
			answer({ loaded: ['other'], expectations: [{ text: 'skillLoaded: demo', isMet: false, reason: '' }] })
		];
		const library = sideOf({ kind: 'library' }, asked, true);
		const result = { id: 't1', prompt: 'Count it', expected: null, shouldTrigger: true, answers: asked };
		const run = runOf({ kind: 'triggers', state: 'done', sides: [library], results: [result] });
		const { screen } = await setup({ triggers, runs: [run] });
		await expect
			.element(screen.getByTestId('eval-trigger'))
			.toMatchTextContent(/Precision –, recall 0 %.*Loaded in its place: other \(1\)/);
		await expect.element(screen.getByTestId('eval-result')).toMatchTextContent(/Should load it/);
	});

	test('over time are a chart with a text, and a table to choose from', async () => {
		const older = { ...runOf({ id: 'r0', state: 'cancelled' }), sides: done.sides.toReversed() };
		const { screen, client } = await setup({
			runs: [done, older, runOf({ id: 'rx', kind: 'triggers', state: 'done' })]
		});
		await expect
			.element(screen.getByTestId('eval-chart'))
			.toHaveAccessibleName(
				/Pass rate of 2 runs\. With the skill: 100 % at first, 100 % in the last run\. Without it: 0 %/
			);
		await expect.element(screen.getByTestId('eval-row')).toHaveLength(3);
		await screen.getByTestId('eval-row').nth(1).getByRole('button').click();
		expect(client.getEvalRun).toHaveBeenLastCalledWith('installed/demo', 'r0');
		await expect.element(screen.getByTestId('eval-run')).toHaveAttribute('data-state', 'cancelled');
	});

	test('are cancelled, and what there is stays; they go on where they were', async () => {
		const cancelled = runOf({ state: 'cancelled', progress: { done: 1, total: 2 } });
		const { screen, client } = await setup({ runs: [runOf({ progress: { done: 1, total: 2 } })] });
		await expect.element(screen.getByTestId('eval-progress')).toMatchTextContent('Running: 1 of 2 answers');
		client.getEvalRun.mockResolvedValue(cancelled);
		await screen.getByTestId('cancel-evals').click();
		expect(client.cancelEvals).toHaveBeenCalledExactlyOnceWith('installed/demo', 'r1');
		await expect.element(screen.getByTestId('eval-progress')).toMatchTextContent('Cancelled: 1 of 2 answers');
		client.goOnEvals.mockResolvedValueOnce(runOf({ progress: { done: 1, total: 2 } }));
		client.getEvalRun.mockResolvedValue(done);
		await screen.getByTestId('go-on-evals').click();
		expect(client.goOnEvals).toHaveBeenCalledExactlyOnceWith('installed/demo', 'r1', undefined);
		await expect.element(screen.getByTestId('eval-run')).toHaveAttribute('data-state', 'done');
		await expect.element(screen.getByTestId('go-on-evals')).not.toBeInTheDocument();
	});

	test('that reached their cost limit say so, and go on with a higher one', async () => {
		const error = 'It reached its cost limit of $0.5 after 1 of 2 answers. Raise the limit and go on.';
		const limited = runOf({ state: 'limit', progress: { done: 1, total: 2 }, maxCostUsd: 0.5, error });
		const { screen, client } = await setup({ runs: [limited] });
		await expect.element(screen.getByTestId('eval-run-error')).toMatchTextContent(/reached its cost limit/);
		const limit = screen.getByTestId('eval-run').getByLabelText('Cost limit ($)');
		await expect.element(limit).toHaveValue(1);
		await limit.fill('2');
		await screen.getByTestId('go-on-evals').click();
		expect(client.goOnEvals).toHaveBeenLastCalledWith('installed/demo', 'r1', 2);
	});

	test('that cannot be started say why', async () => {
		const { screen, client } = await setup({});
		client.startEvals.mockRejectedValueOnce(new ApiError('forbidden', 'Nobody trusts this skill.'));
		await screen.getByTestId('start-evals').click();
		await expect.element(screen.getByRole('link', { name: 'Open Security' })).toHaveAttribute('href', '#security');
		client.startEvals.mockRejectedValueOnce(new ApiError('unavailable', 'Skills are switched off.'));
		await screen.getByTestId('start-evals').click();
		await expect.element(screen.getByTestId('evals-error')).toMatchTextContent(/Skills are switched off/);
	});
});

describe('F16: the prompts of a skill, in a form', () => {
	test('begin with the skill’s example; the file is there once it is saved', async () => {
		const { screen, saved, save, disk, onsaved } = await openForm(null, {
			example: { prompt: 'Count “a b”.', files: ['a.txt'] }
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
		await expect.element(rows.nth(2)).toMatchTextContent(/must have one of these keys/i);
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
		await expect.element(rows.nth(2).getByTestId('expectation-problem')).toMatchTextContent(/must be a JSON Schema/);
		await save.click();
		expect(saved()).toEqual(before);
		await schema.fill('{"type":"object"}');
		await expect.element(rows.nth(2).getByTestId('expectation-problem')).not.toBeInTheDocument();

		await add.click();
		await kinds.nth(3).selectOptions('Answer matches regex');
		await rows.nth(3).getByLabelText('Regular expression').fill('([');
		const problem = rows.nth(3).getByTestId('expectation-problem');
		await expect.element(problem).toMatchTextContent(/Regex isn’t a regular expression: /);
		await rows.nth(3).getByLabelText('Regular expression').fill('\\d+ ');
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
					{ regex: '\\d+ ' }
				]
			}
		]);
	});

	test('that ask only whether the skill is loaded say so in skill-creator’s field', async () => {
		const { screen, saved, save } = await openForm(
			JSON.stringify([
				{ query: 'One', should_trigger: false },
				{ prompt: 'Two', expectations: ['skillNotLoaded: demo', 'contains: 2'] }
			])
		);
		const only = screen.getByLabelText('Check only this');
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
		await screen.getByRole('button', { name: 'Remove prompt 1' }).click();
		client.writeFile.mockRejectedValueOnce(new ApiError('storage_full', 'The disk is full.'));
		await save.click();
		await expect.element(screen.getByTestId('prompts-error')).toMatchTextContent(/The disk is full/);
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
