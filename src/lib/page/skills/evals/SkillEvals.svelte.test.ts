import { beforeEach, describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page } from 'vitest/browser';
import '../../../../app.css';
import { createFakeAccount, modelOf } from '../../../../../tests/support/fake-account.ts';
import { createFakeRegistry } from '../../../../../tests/support/fake-registry.ts';
import { ApiError } from '../../request.ts';
import { sampleDetail } from '../../../../../tests/support/sample-skills.ts';
import { figuresOf } from '../../../shared/evals.ts';
import { ASKED } from '../../../shared/questions.ts';
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
const missed = [{ text: 'says 2', isMet: false, reason: '' }];
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

beforeEach(() => localStorage.clear());

describe('F16: the evals of a skill', () => {
	test('say where the test cases of the scripts are, where there are no evals yet', async () => {
		const client = createFakeRegistry();
		client.getEvals.mockResolvedValue({ cases: [], triggers: [], problem: null, runs: [] });
		client.listCases.mockResolvedValue([{}, {}] as Awaited<ReturnType<typeof client.listCases>>);
		const screen = await render(SkillEvals, { client, skillId: 'installed/demo', skill: sampleDetail() });
		await expect.element(screen.getByTestId('script-cases')).toMatchTextContent(/2 test cases in Run/);
		await expect
			.element(screen.getByRole('link', { name: '2 test cases' }))
			.toHaveAttribute('href', '/skills/demo#run');
	});

	test('that there are none of, or that cannot be read, say so and offer no run', async () => {
		const none = await setup({ cases: [] });
		await expect.element(none.screen.getByTestId('edit-evals')).toHaveTextContent('Write a prompt');
		await expect.element(none.screen.getByTestId('eval-example')).not.toMatchTextContent(/words are in/);
		await expect.element(none.screen.getByTestId('start-evals')).not.toBeInTheDocument();
		await none.screen.unmount();
		const torn = await setup({ cases: [], problem: 'evals.json is no JSON, line 3.' });
		await expect.element(torn.screen.getByTestId('evals-problem')).toHaveTextContent('evals.json is no JSON, line 3.');
	});

	test('are shown with their checks before the first run; without any, people judge', async () => {
		const open = { id: '2', prompt: 'Hi', expected: null, files: [], expectations: [] };
		const checks = { ...cases[0]!, expected: null, expectations: ['contains: 2', 'is kind'] };
		// Whether the skill is loaded is none of the checks that the form shows.
		const third = { ...cases[0]!, id: '3', expectations: ['skillLoaded: demo', 'says 2'] };
		const { screen } = await setup({ cases: [checks, open, third] });
		const shown = screen.getByTestId('eval-case');
		await expect.element(shown.nth(0).getByText('Checks: Answer contains 2; is kind')).toBeVisible();
		await expect.element(shown.nth(1).getByText('No checks yet: you judge the answers.')).toBeVisible();
		await expect.element(shown.nth(2).getByText('Good answer: 2 (1 check)')).toBeVisible();
	});

	test('show a file that was made, and ask of an answer without the skill nothing about loading it', async () => {
		const expectations = [
			{ text: 'skillLoaded: demo', isMet: false, reason: '' },
			{ text: 'contains: 2', isMet: true, reason: '' }
		];
		const answers = [
			answer({
				text: '',
				files: ['chart.svg'],
				expectations: [{ ...expectations[0]!, isMet: true }, expectations[1]!]
			}),
			answer({ side: '2', loaded: [], expectations })
		];
		const result = { id: '1', prompt: 'Count', expected: null, shouldTrigger: null, answers };
		const other = { ...result, id: '2', prompt: 'Count more' };
		const { screen } = await setup({
			cases: [result, other].map(({ id, prompt }) => {
				return { id, prompt, expected: null, files: [], expectations: expectations.map((each) => each.text) };
			}),
			runs: [{ ...done, results: [result, other] }]
		});
		await expect.element(screen.getByTestId('eval-glance').getByText('Made: chart.svg').first()).toBeVisible();
		await screen.getByText('Count', { exact: true }).click();
		const side = (name: string) => screen.getByRole('region', { name, exact: true });
		await expect.element(side('With the skill')).toMatchTextContent(/Loads the skill/);
		await expect.element(side('Without it')).toMatchTextContent(/Answer contains 2/);
		await expect.element(side('Without it')).not.toMatchTextContent(/Loads the skill/);
	});

	test('are asked in rounds, with what that costs said before, and followed to their end', async () => {
		const { screen, client } = await setup({});
		await screen.getByTestId('eval-options').click();
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
		await expect.element(screen.getByTestId('stop-evals')).not.toBeInTheDocument();
	});

	test('compare with another version, without a baseline, up to a cost, all anew', async () => {
		const client = createFakeRegistry();
		client.getEvals.mockResolvedValue({ cases, triggers, problem: null, runs: [] });
		const [listed, off] = [
			{ mode: 'auto', installation: null, isEdited: false } as const,
			{ mode: 'off', installation: null, isEdited: false } as const
		];
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
		await screen.getByTestId('eval-options').click();
		await screen.getByLabelText('Compare with').selectOptions('Version 0.9.0');
		await expect.element(screen.getByRole('option', { name: /0\.8\.0|1\.0\.0/ })).not.toBeInTheDocument();
		await screen.getByLabelText('Without the skill, too').click();
		await screen.getByLabelText('Cost limit ($)').fill('0.5');
		await screen.getByLabelText('Ask everything again').click();
		await screen.getByTestId('start-evals').click();
		const options = { kind: 'answers', rounds: 1, without: false, version: '0.9.0', isFresh: true, maxCostUsd: 0.5 };
		expect(client.startEvals).toHaveBeenLastCalledWith('installed/demo', options);
		await screen.getByLabelText('Is it used when it should be?').click();
		await expect.element(screen.getByText(/Sends 1 prompt to/)).toBeVisible();
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
		await screen.getByTestId('eval-options').click();
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
		await expect.element(screen.getByTestId('eval-tally')).toHaveTextContent('The prompt passes');
		await expect.element(screen.getByTestId('eval-without')).toHaveTextContent('Without the skill: 0 of 1');
		await expect
			.element(screen.getByTestId('eval-result'))
			.toMatchTextContent(/“a b”\.\s*Passes · Without it:\s*fails/);
		const answers = screen.getByTestId('eval-result').getByTestId('eval-answer');
		await expect.element(answers.nth(0).getByLabelText('Met', { exact: true })).toBeInTheDocument();
		await expect.element(answers.nth(0)).toMatchTextContent(/900 tokens, \$0\.0100, loaded demo/);
		await expect.element(answers.nth(1).getByLabelText('Not met')).toBeInTheDocument();
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

	test('with and without it on several models have a verdict for each model, and both beside each prompt', async () => {
		const answers = [true, false, false, false].map((isMet, index) =>
			answer({ side: String(index + 1), expectations: [{ text: 'says 2', isMet, reason: '' }] })
		);
		const sides = (['with', 'with', 'without', 'without'] as const).map((kind, index) =>
			sideOf({ id: String(index + 1), kind, model: index % 2 === 0 ? 'a/one' : 'b/two' }, answers)
		);
		const [result] = done.results;
		const { screen } = await setup({ runs: [{ ...done, sides, results: [{ ...result!, answers }] }] });
		await expect
			.element(screen.getByTestId('eval-verdict'))
			.toMatchTextContent(/a\/one: The skill seems to help.*b\/two: The skill makes no difference/);
		await expect
			.element(screen.getByTestId('eval-result'))
			.toMatchTextContent(/“a b”\.\s*a\/one:\s*passes · b\/two:\s*fails/);
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
			.toMatchTextContent(/Used when it should be: 0 of 1.*Used in its place: other \(1\)/);
		await expect
			.element(screen.getByTestId('eval-result'))
			.toMatchTextContent(/Not used, but should be.*Loads the skill demo/);
		for (const word of [/precision|recall|skillLoaded/i, /0 of 0/]) {
			await expect.element(screen.getByTestId('skill-evals')).not.toMatchTextContent(word);
		}
	});

	test('that load it where they shouldn’t read as bad, and what a run didn’t ask is named', async () => {
		const asked = [answer({ text: '', expectations: [{ text: 'skillNotLoaded: demo', isMet: false, reason: '' }] })];
		const library = sideOf({ kind: 'library' }, asked, false);
		const result = { id: 't2', prompt: 'Hello', expected: null, shouldTrigger: false, answers: asked };
		const run = runOf({ kind: 'triggers', state: 'done', sides: [library], results: [result] });
		const both = [...triggers, { id: 't2', prompt: 'Hello', shouldTrigger: false }];
		const { screen } = await setup({ triggers: both, runs: [run] });
		const verdict = screen.getByTestId('eval-trigger');
		await expect.element(verdict).toMatchTextContent(/Left alone when it should be: 0 of 1/);
		await expect.element(verdict.getByLabelText('Bad')).toBeInTheDocument();
		await expect.element(screen.getByTestId('eval-result')).toMatchTextContent(/Used, but shouldn’t be/);
		await expect.element(screen.getByTestId('eval-unasked')).toHaveTextContent('Not asked this time: “Count it”');
		// The results have the prompts; those of the other question are listed until they have been asked.
		await expect.element(screen.getByTestId('eval-trigger-case')).not.toBeInTheDocument();
		await screen.getByLabelText('Does it help?').click();
		await expect.element(screen.getByTestId('eval-case')).toBeVisible();
		await expect.element(screen.getByTestId('eval-trigger-case')).not.toBeInTheDocument();
	});

	test('that Demo mode can’t judge lead to where a model is connected', async () => {
		const open = answer({ expectations: [{ text: 'is kind', isMet: null, reason: 'Demo mode can’t judge this.' }] });
		const side = sideOf({ model: 'offline' }, [open]);
		const { screen } = await setup({
			runs: [{ ...done, sides: [side], results: [{ ...done.results[0]!, answers: [open] }] }]
		});
		await expect.element(screen.getByTestId('eval-tally')).toHaveTextContent('The prompt is for you to judge');
		await expect.element(screen.getByTestId('connect-judge')).toHaveAttribute('href', '/settings#account');
		// A short answer has nothing to scroll.
		const text = screen.getByTestId('eval-answer-text');
		await expect.element(text).toBeVisible();
		expect(text.element().scrollWidth).toBe(text.element().clientWidth);
		expect(text.element().scrollHeight).toBe(text.element().clientHeight);
	});

	test('are those of the question that is asked: of the last run at first, then of the one that is chosen', async () => {
		const used = runOf({ id: 'rt', kind: 'triggers', state: 'cancelled' });
		const { screen } = await setup({ triggers, runs: [used, done] });
		await expect.element(screen.getByLabelText('Is it used when it should be?')).toBeChecked();
		await expect.element(screen.getByTestId('eval-run')).toHaveAttribute('data-state', 'cancelled');
		await screen.getByLabelText('Does it help?').click();
		await expect.element(screen.getByTestId('eval-run')).toHaveAttribute('data-state', 'done');
		await screen.unmount();
		const one = await setup({ triggers, runs: [done] });
		await expect.element(one.screen.getByTestId('eval-run')).toBeVisible();
		await one.screen.getByLabelText('Is it used when it should be?').click();
		await expect.element(one.screen.getByTestId('eval-run')).not.toBeInTheDocument();
	});

	test('over time are a chart with a text, and a table to choose from', async () => {
		const older = { ...runOf({ id: 'r0', state: 'cancelled' }), sides: done.sides.toReversed() };
		const { screen, client } = await setup({
			runs: [done, older, runOf({ id: 'rx', kind: 'triggers', state: 'done' })]
		});
		await screen.getByText('All runs (3)').click();
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

	test('that were stopped are hollow in the chart and no part of its line; imported ones are marked', async () => {
		const stopped = runOf({ ...done, id: 'r2', state: 'cancelled', progress: { done: 1, total: 2 } });
		const foreign = runOf({ ...done, id: 'r3', version: '', importedFrom: 'iteration-2' });
		const { screen } = await setup({ runs: [foreign, stopped, done, { ...done, id: 'r4' }] });
		await screen.getByText('All runs (4)').click();
		const chart = screen.getByTestId('eval-chart');
		await expect.element(screen.getByTestId('eval-history')).toMatchTextContent(/Incomplete.*Imported/);
		const line = chart.element().querySelector('polyline');
		expect(line?.getAttribute('points')?.split(' ')).toHaveLength(3);
		expect(chart.element().querySelectorAll('.fill-raised circle')).toHaveLength(1);
		const rows = screen.getByTestId('eval-row');
		await expect.element(rows.nth(0)).toMatchTextContent(/Imported/);
		await expect.element(rows.nth(1)).toMatchTextContent(/Stopped/);
		await expect
			.element(screen.getByTestId('eval-progress'))
			.toMatchTextContent(/^\s*Imported from iteration-2: 2 answers, with the skill and without it · some\/model\s*$/);
		await expect.element(screen.getByTestId('go-on-evals')).not.toBeInTheDocument();
	});

	test('that skill-creator wrote are brought along as a file; what is wrong with some is said', async () => {
		const { screen, client } = await setup({ runs: [] });
		const file = new File(['{}'], 'benchmark.json');
		const choose = () => {
			const transfer = new DataTransfer();
			transfer.items.add(file);
			const input = screen.getByTestId('import-evals-file').element() as HTMLInputElement;
			input.files = transfer.files;
			input.dispatchEvent(new Event('change', { bubbles: true }));
		};
		const problem = 'The file can’t be used: runs must have at least 1 item.';
		client.importEvals.mockRejectedValueOnce(new ApiError('invalid_input', problem));
		await expect.element(screen.getByTestId('import-evals')).toBeVisible();
		choose();
		await expect.element(screen.getByTestId('evals-error')).toMatchTextContent(problem);
		const run = runOf({ ...done, id: 'r9', version: '', importedFrom: 'benchmark.json' });
		client.importEvals.mockResolvedValueOnce({
			runs: [run],
			problems: ['benchmark.json says it’s of the skill “x\u202e”.']
		});
		client.getEvals.mockResolvedValue({ cases, triggers: [], problem: null, runs: [run] });
		client.getEvalRun.mockResolvedValue(run);
		// Dropped on the evals, it isn't a skill for the page around them.
		const dropped = vi.fn();
		addEventListener('drop', dropped, { once: true });
		const transfer = new DataTransfer();
		transfer.items.add(file);
		screen
			.getByTestId('eval-case')
			.element()
			.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
		await expect.element(screen.getByTestId('evals-imported')).toMatchTextContent(/Imported 1 run.*skill “x⟨U\+202E⟩”/);
		expect(client.importEvals).toHaveBeenLastCalledWith('installed/demo', file, expect.anything());
		await expect.element(screen.getByTestId('eval-progress')).toMatchTextContent(/Imported from benchmark\.json/);
		expect(dropped).not.toHaveBeenCalled();
		removeEventListener('drop', dropped);
	});

	test('are stopped, and what there is stays; they go on where they were', async () => {
		const cancelled = runOf({ state: 'cancelled', progress: { done: 1, total: 2 } });
		const { screen, client } = await setup({ runs: [runOf({ progress: { done: 1, total: 2 } })] });
		await expect.element(screen.getByTestId('eval-progress')).toMatchTextContent('Running: 1 of 2 answers');
		client.getEvalRun.mockResolvedValue(cancelled);
		await screen.getByTestId('stop-evals').click();
		expect(client.cancelEvals).toHaveBeenCalledExactlyOnceWith('installed/demo', 'r1');
		await expect.element(screen.getByTestId('eval-progress')).toMatchTextContent('Stopped: 1 of 2 answers');
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

	test('are compared with another run: what is better, what is worse, and its answers beside them', async () => {
		const failed = answer({ text: 'It is 3.', expectations: [{ text: 'says 2', isMet: false, reason: 'No “2”.' }] });
		const before = { ...done, id: 'r0', results: done.results.map((each) => ({ ...each, answers: [failed] })) };
		const { screen } = await setup({ runs: [done, before] });
		await screen.getByText('Pass rates and cost', { exact: true }).click();
		await screen.getByText('All runs (2)').click();
		await screen.getByTestId('compare-runs').selectOptions('r0');
		await expect.element(screen.getByTestId('eval-changes')).toHaveTextContent('1 better');
		await expect.element(screen.getByTestId('eval-change')).toHaveTextContent('Better');
		await expect.element(screen.getByText('It is 3.')).toBeVisible();
		await screen.getByTestId('eval-row').nth(1).getByRole('button').click();
		await screen.getByTestId('compare-runs').selectOptions('r1');
		await expect.element(screen.getByTestId('eval-changes')).toHaveTextContent('1 worse');
	});

	test('say when they ran, and that the skill was changed since, once it is', async () => {
		const finishedAt = new Date(Date.now() - 150_000).toISOString();
		const { screen, client } = await setup({ runs: [{ ...done, finishedAt }] });
		await expect.element(screen.getByTestId('eval-when')).toHaveTextContent('2 minutes ago');
		await expect.element(screen.getByTestId('eval-outdated')).not.toBeInTheDocument();
		const run = { ...done, finishedAt, isOutdated: true };
		client.getEvals.mockResolvedValue({ cases, triggers: [], problem: null, runs: [run] });
		await screen.rerender({ skill: sampleDetail({ digest: 'd'.repeat(64) }) });
		await expect.element(screen.getByTestId('eval-outdated')).toHaveTextContent('The skill was changed since.');
		await expect.element(screen.getByRole('button', { name: 'Run again' })).toBeEnabled();
	});

	test('mark the result of a prompt whose own words or checks were changed since', async () => {
		const [first] = cases;
		const second = { id: '2', prompt: 'Count “a”.', expected: null, files: [], expectations: ['says 1'] };
		const result = { id: '2', prompt: second.prompt, expected: null, shouldTrigger: null };
		const answers = [answer({ expectations: [{ text: 'says 2', isMet: true, reason: '' }] })];
		const { screen } = await setup({
			cases: [...(first ? [first] : []), second],
			runs: [{ ...done, results: [...done.results, { ...result, answers }] }]
		});
		await expect.element(screen.getByTestId('eval-outdated')).toHaveTextContent('1 prompt was changed since.');
		const rows = screen.getByTestId('eval-result');
		await expect.element(rows.nth(0).getByTestId('prompt-changed')).not.toBeInTheDocument();
		await expect.element(rows.nth(1).getByTestId('prompt-changed')).toBeVisible();
	});

	test('say in one line what changed since the run before, and show what was expected and what came unopened', async () => {
		const failed = answer({ text: 'It is 3.', expectations: [{ text: 'says 2', isMet: false, reason: 'No “2”.' }] });
		const [result] = done.results;
		const twoOf = (answers: EvalAnswer[], id: string): EvalRun => ({
			...done,
			id,
			results: [
				{ ...result!, answers },
				{ ...result!, id: '2', prompt: 'Again', expected: null, answers: [answer()] }
			]
		});
		const { screen } = await setup({ runs: [twoOf([answer()], 'r1'), twoOf([failed], 'r0')] });
		await expect.element(screen.getByTestId('eval-since')).toHaveTextContent('1 more passes than before');
		const glances = screen.getByTestId('eval-glance');
		for (const [at, words] of ['Expected: 2', 'Got: It is 2.', 'Expected: says 2', 'Got: It is 2.'].entries()) {
			await expect.element(glances.nth(at)).toMatchTextContent(words);
			await expect.element(glances.nth(at)).toBeVisible();
		}
		await screen.getByText('All runs (2)').click();
		await screen.getByTestId('eval-row').nth(1).getByRole('button').click();
		await expect.element(screen.getByTestId('eval-since')).not.toBeInTheDocument();
	});

	test('that fail lead to a draft of the skill; those that pass don’t', async () => {
		const failed = answer({ expectations: [{ text: 'contains: 2', isMet: false, reason: '' }] });
		const result = { ...done.results[0]!, answers: [failed] };
		const client = createFakeRegistry();
		const onimprove = vi.fn(async () => {});
		const show = (run: EvalRun) => {
			client.getEvals.mockResolvedValue({ cases, triggers: [], problem: null, runs: [run] });
			client.getEvalRun.mockResolvedValue(run);
			return render(SkillEvals, { client, skillId: 'installed/demo', skill: sampleDetail(), onimprove });
		};
		const screen = await show({ ...done, sides: [sideOf({}, [failed])], results: [result] });
		await screen.getByTestId('improve-failing').click();
		expect(onimprove).toHaveBeenCalledOnce();
		await screen.unmount();
		const passing = await show(done);
		await expect.element(passing.getByTestId('eval-run')).toBeVisible();
		await expect.element(passing.getByTestId('improve-failing')).not.toBeInTheDocument();
	});

	test('begin with “Run evals” on a phone, too, and are scrolled to when they begin', async () => {
		const { screen, client } = await setup({ runs: [done] });
		await page.viewport(390, 500);
		await expect.element(screen.getByTestId('eval-run')).toBeVisible();
		await expect.element(screen.getByTestId('start-evals')).toBeInViewport();
		client.startEvals.mockResolvedValueOnce(runOf());
		await screen.getByTestId('start-evals').click();
		await expect.element(screen.getByTestId('eval-progress')).toBeInViewport();
		await page.viewport(1280, 800);
	});

	test('of Demo mode never say that the skill helps: it asked back, or judges nothing', async () => {
		const model = 'offline';
		const question = `Which harbour?\n\n${ASKED}`;
		const demoOf = (text: string) => {
			const answers = [answer({ text }), answer({ side: '2', loaded: [], expectations: missed })];
			const sides = [sideOf({ model }, answers), sideOf({ model, id: '2', kind: 'without' }, answers)];
			return { ...done, sides, results: [{ ...done.results[0]!, answers }] };
		};
		const { screen } = await setup({ runs: [demoOf(question), { ...demoOf('# It is 2'), id: 'r0' }] });
		const tally = screen.getByTestId('eval-tally');
		await expect.element(tally).toHaveTextContent('The prompt wasn’t answered in Demo mode');
		await expect.element(screen.getByTestId('eval-verdict')).not.toBeInTheDocument();
		await expect.element(screen.getByRole('heading', { name: 'Results', level: 3 })).toBeInTheDocument();
		await expect.element(screen.getByTestId('asked-back')).toBeVisible();
		await expect.element(screen.getByTestId('pass-rates')).not.toBeInTheDocument();
		// Nothing is told of answers without the skill.
		await expect.element(screen.getByTestId('eval-result')).toMatchTextContent(/“a b”\.\s*Not answered\s*Expected/);
		const said = screen.getByTestId('eval-demo');
		await expect.element(said).toHaveTextContent('Connect a model to see whether the skill helps.');
		await expect
			.element(said.getByRole('link', { name: 'Connect a model' }))
			.toHaveAttribute('href', '/settings#account');
		await screen.getByText('All runs (2)').click();
		const rows = screen.getByTestId('eval-row');
		await expect.element(rows.nth(1)).toMatchTextContent(/1 of 1\s*–/);
		await rows.nth(1).getByRole('button').click();
		await expect.element(tally).toHaveTextContent('The prompt passes in Demo mode');
		await expect.element(said).toHaveTextContent('Connect a model to see whether the skill helps.');
		// Answers look as in a chat.
		await expect.element(screen.getByRole('heading', { name: 'It is 2' })).toBeVisible();
	});

	test('with no check but that it was loaded say so, not that the skill helps', async () => {
		const loadedOf = (side: string, isMet: boolean) =>
			answer({ side, expectations: [{ text: 'skillLoaded: demo', isMet, reason: '' }] });
		const answers = [loadedOf('1', true), loadedOf('2', false)];
		const sides = [sideOf({}, answers), sideOf({ id: '2', kind: 'without' }, answers)];
		const run = { ...done, sides, results: [{ ...done.results[0]!, answers }] };
		const also = { text: 'says 2', isMet: true, reason: '' };
		const both = answers.map((each) => ({ ...each, expectations: [...each.expectations, also] }));
		const checked = { ...run, id: 'r0', results: [{ ...done.results[0]!, answers: both }] };
		const { screen } = await setup({ runs: [run, checked] });
		const verdict = screen.getByTestId('eval-verdict');
		await expect.element(verdict).toMatchTextContent(/^\s*No check looks at the answer yet/);
		await screen.getByText('All runs (2)').click();
		await screen.getByTestId('eval-row').nth(1).getByRole('button').click();
		await expect.element(verdict).toHaveTextContent('The skill makes no difference');
	});

	test('of a skill that another tab no longer trusts write nothing', async () => {
		const client = createFakeRegistry();
		client.getEvals.mockResolvedValue({ cases: [], triggers: [], problem: null, runs: [] });
		const skill = sampleDetail({ trust: 'trusted', example: { prompt: 'Say hi', title: null, files: [] } as never });
		client.getSkill.mockResolvedValue({ ...skill, trust: 'untrusted' });
		const onsaved = vi.fn();
		const screen = await render(SkillEvals, { client, skillId: 'installed/demo', skill, onsaved });
		await screen.getByTestId('run-first-eval').click();
		await expect.element(screen.getByTestId('evals-error')).toMatchTextContent(/isn’t trusted any more/);
		expect(onsaved).toHaveBeenCalledOnce();
		for (const call of [client.writeFile, client.startEvals, client.readFile]) expect(call).not.toHaveBeenCalled();
	});

	test('are not saved once skills were turned off on the server meanwhile', async () => {
		const client = createFakeRegistry();
		client.getEvals.mockResolvedValue({ cases: [], triggers: [], problem: null, runs: [] });
		const skill = sampleDetail({ trust: 'trusted', example: { prompt: 'Say hi', title: null, files: [] } as never });
		client.getSkill.mockResolvedValue(skill);
		const accountClient = createFakeAccount();
		const account = new Account(accountClient, () => undefined);
		await account.settings.load();
		const settings = await accountClient.getSettings();
		accountClient.getSettings.mockResolvedValue({ ...settings, skillsEnabled: false });
		const screen = await render(SkillEvals, { client, skillId: 'installed/demo', skill, account });
		await screen.getByTestId('run-first-eval').click();
		await expect.element(screen.getByTestId('evals-error')).toMatchTextContent(/turned off on this server/);
		expect(account.settings.value?.skillsEnabled).toBe(false);
		for (const call of [client.writeFile, client.startEvals]) expect(call).not.toHaveBeenCalled();
	});

	test('that fail are asked again alone, anew', async () => {
		const [result] = done.results;
		const answersWith = (isMet: boolean | null) =>
			result!.answers.map((answer) => ({
				...answer,
				expectations: answer.expectations.map((each) => ({ ...each, isMet }))
			}));
		const answers = answersWith(false);
		const failed = {
			...done,
			results: [
				{ ...result!, answers },
				{ ...result!, id: 'fine' },
				{ ...result!, id: 'open', answers: answersWith(null) }
			]
		};
		const { screen, client } = await setup({ runs: [failed] });
		await expect
			.element(screen.getByTestId('eval-tally'))
			.toHaveTextContent('1 of 3 prompts passes, 1 fails, 1 is for you to judge');
		client.startEvals.mockResolvedValueOnce(runOf());
		await screen.getByTestId('run-failing').click();
		expect(client.startEvals).toHaveBeenCalledExactlyOnceWith('installed/demo', {
			kind: 'answers',
			ids: [result!.id],
			isFresh: true
		});
	});

	test('that cannot run are said to before anyone tries, and nothing is written', async () => {
		const client = createFakeRegistry();
		client.getEvals.mockResolvedValue({ cases: [], triggers: [], problem: null, runs: [] });
		const skill = sampleDetail({ example: { prompt: 'Say hi', title: null, files: [] } as never });
		const screen = await render(SkillEvals, { client, skillId: 'installed/demo', skill, isDisabled: true });
		await expect.element(screen.getByTestId('run-first-eval')).toBeDisabled();
		expect(client.writeFile).not.toHaveBeenCalled();
	});

	test('that cannot be started say why', async () => {
		const { screen, client } = await setup({});
		client.startEvals.mockRejectedValueOnce(new ApiError('forbidden', 'Nobody trusts this skill.'));
		await screen.getByTestId('start-evals').click();
		await expect.element(screen.getByRole('link', { name: 'Open security check' })).toHaveAttribute('href', '#trust');
		client.startEvals.mockRejectedValueOnce(new ApiError('unavailable', 'Skills are switched off.'));
		await screen.getByTestId('start-evals').click();
		await expect.element(screen.getByTestId('evals-error')).toMatchTextContent(/Skills are switched off/);
	});
});
