import { describe, expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { createFakeRegistry } from '../../../../../tests/support/fake-registry.ts';
import { ApiError } from '../../request.ts';
import type { EvalAnswer, EvalRun, SkillEvals as Evals } from '../../../shared/try-out.ts';
import SkillEvals from './SkillEvals.svelte';

const cases: Evals['cases'] = [
	{ id: '1', prompt: 'Count the words of “a b”.', expected: '2', files: [], expectations: ['says 2'] }
];
const answer = (more: Partial<EvalAnswer> = {}): EvalAnswer => ({
	...{ status: 'success', text: 'It is 2.', loaded: ['demo'], calls: ['run: count'], durationMs: 1200, tokens: 900 },
	...{ error: null, expectations: [{ text: 'says 2', isMet: true, reason: 'The text has “2”.' }] },
	...more
});
const runOf = (more: Partial<EvalRun> = {}): EvalRun => ({
	...{ id: 'r1', skillId: 'installed/demo', version: '1.0.0', model: 'some/model', state: 'running', results: [] },
	...{ progress: { done: 0, total: 2 }, passRate: { withSkill: null, withoutSkill: null }, error: null },
	...{ startedAt: '2026-01-01T00:00:00.000Z', finishedAt: null },
	...more
});
const done = runOf({
	state: 'done',
	progress: { done: 2, total: 2 },
	passRate: { withSkill: 1, withoutSkill: 0.5 },
	results: [
		{
			...{ id: '1', prompt: 'Count the words of “a b”.', expected: '2', withSkill: [answer()] },
			withoutSkill: [
				answer({
					text: '\u202eThree\u001b[31m',
					expectations: [{ text: 'says 2', isMet: false, reason: '' }],
					loaded: []
				}),
				answer({ expectations: [{ text: 'is friendly', isMet: null, reason: '' }], loaded: [] })
			]
		}
	]
});

async function setup(evals: Partial<Evals>) {
	const client = createFakeRegistry();
	client.getEvals.mockResolvedValue({ cases, problem: null, runs: [], ...evals });
	const screen = await render(SkillEvals, { client, skillId: 'installed/demo', editor: '/skills/edit/demo' });
	return { screen, client };
}

describe('F16: the evals of a skill', () => {
	test('that there are none of, or that cannot be read, say so and offer no run', async () => {
		const none = await setup({ cases: [] });
		await expect.element(none.screen.getByTestId('edit-evals')).toHaveAttribute('href', '/skills/edit/demo');
		await expect.element(none.screen.getByTestId('start-evals')).not.toBeInTheDocument();
		await none.screen.unmount();
		const torn = await setup({ cases: [], problem: 'evals.json is no JSON, line 3.' });
		await expect.element(torn.screen.getByTestId('evals-problem')).toHaveTextContent('evals.json is no JSON, line 3.');
	});

	test('are asked in rounds, with what that costs said before, and followed to their end', async () => {
		const { screen, client } = await setup({});
		await screen.getByLabelText('Rounds').selectOptions('3');
		await expect.element(screen.getByText(/Sends 6 prompts to the model/)).toBeVisible();
		client.startEvals.mockResolvedValueOnce(runOf());
		client.getEvalRun.mockResolvedValue(done);
		await screen.getByTestId('start-evals').click();
		expect(client.startEvals).toHaveBeenCalledExactlyOnceWith('installed/demo', 3);
		await expect.element(screen.getByTestId('eval-progress')).toMatchTextContent('Running: 0 of 2 answers');
		await expect.element(screen.getByTestId('start-evals')).toBeDisabled();
		await expect.element(screen.getByTestId('eval-run')).toHaveAttribute('data-state', 'done');
		await expect.element(screen.getByTestId('start-evals')).toBeEnabled();
		await expect.element(screen.getByTestId('cancel-evals')).not.toBeInTheDocument();
	});

	test('show answers with the skill and without it side by side, and how many expectations were met', async () => {
		const { screen } = await setup({ runs: [done] });
		await expect
			.element(screen.getByTestId('pass-rates'))
			.toMatchTextContent(/With the skill\s*100 %\s*Without it\s*50 %/);
		await expect.element(screen.getByTestId('eval-verdict')).toHaveTextContent('The skill helps');
		await expect
			.element(screen.getByTestId('eval-result'))
			.toMatchTextContent(/With the skill\s*1 of 1 · Without it\s*0 of 1/);
		const answers = screen.getByTestId('eval-result').getByTestId('eval-answer');
		await expect.element(answers.nth(0).getByLabelText('Met', { exact: true })).toBeInTheDocument();
		await expect.element(answers.nth(0)).toMatchTextContent(/900 tokens, loaded demo/);
		await expect.element(answers.nth(1).getByLabelText('Not met')).toBeInTheDocument();
		await answers.nth(1).getByText('Show answer').click();
		await expect.element(answers.nth(1).getByText('⟨U+202E⟩Three', { exact: true })).toBeVisible();
		await expect.element(answers.nth(2).getByLabelText('For you to judge')).toBeInTheDocument();
	});

	test('are cancelled, and what there is stays', async () => {
		const { screen, client } = await setup({ runs: [runOf({ progress: { done: 1, total: 2 } })] });
		client.getEvalRun.mockResolvedValue(runOf({ state: 'cancelled', progress: { done: 1, total: 2 } }));
		await screen.getByTestId('cancel-evals').click();
		expect(client.cancelEvals).toHaveBeenCalledExactlyOnceWith('installed/demo', 'r1');
		await expect.element(screen.getByTestId('eval-progress')).toMatchTextContent('Cancelled: 1 of 2 answers');
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
