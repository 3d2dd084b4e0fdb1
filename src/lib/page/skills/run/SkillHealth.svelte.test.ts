import { expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { SAMPLE_DIGEST, sampleExecution } from '../../../../../tests/support/sample-skills.ts';
import SkillHealth from './SkillHealth.svelte';

const NO_ANSWERS = { count: 0, priced: 0, cost: null as number | null };

async function setup(
	statuses: ('success' | 'error' | 'running')[],
	{
		answers = NO_ANSWERS,
		weeks = [[0, 0]],
		scripts = [],
		digest = SAMPLE_DIGEST,
		more = {}
	}: {
		answers?: typeof NO_ANSWERS;
		weeks?: [number, number][];
		scripts?: string[];
		digest?: string;
		more?: Parameters<typeof sampleExecution>[0];
	} = {}
) {
	const executions = statuses.length;
	const data = statuses.map((status, at) =>
		sampleExecution({
			...{ id: `e${at}`, status, script: scripts[at] ?? 'scripts/x.sh' },
			errorMessage: status === 'error' ? `Broke at ${at}` : null,
			...more
		})
	);
	const listExecutions = vi.fn(async () => ({ data, total: data.length, page: 1, limit: 30, totalPages: 1 }));
	const getSkillHealth = vi.fn(async () => ({
		weeks: weeks.map(([runs, failures], at) => ({ since: `2026-11-0${at + 1}`, runs, failures })),
		answers
	}));
	const onimprove = vi.fn();
	const usage = { executions, failures: 1, lastUsedAt: executions > 0 ? '2026-11-01T10:00:00.000Z' : null };
	const screen = await render(SkillHealth, {
		client: { listExecutions, getSkillHealth },
		...{ skillId: 'local/demo', digest, usage, onimprove }
	});
	return { screen, listExecutions, getSkillHealth, onimprove };
}

test('F16: a skill’s page says how its last runs ended, and offers to improve one that fails', async () => {
	const { screen, onimprove } = await setup(['running', 'error', 'success', 'success']);
	const strip = screen.getByRole('img', { name: '2 of the last 3 runs succeeded' });
	await expect.element(strip).toBeVisible();
	expect(strip.element().children).toHaveLength(3);
	await expect.element(screen.getByTestId('last-failure')).toHaveTextContent('Last failure: Broke at 1');
	await screen.getByRole('button', { name: 'Improve in a draft' }).click();
	expect(onimprove).toHaveBeenCalledOnce();
});

test('F16: a failure after which the same script ran well is no reason to improve it; one of another script is', async () => {
	const over = await setup(['success', 'error', 'success']);
	await expect
		.element(over.screen.getByTestId('last-failure'))
		.toHaveTextContent('Last failure: Broke at 1. It ran well since.');
	await expect.element(over.screen.getByTestId('improve-failing')).not.toBeInTheDocument();
	await over.screen.unmount();
	const { screen } = await setup(['success', 'error', 'error'], { scripts: ['a.sh', 'a.sh', 'b.sh'] });
	await expect.element(screen.getByTestId('last-failure')).toHaveTextContent('Last failure: Broke at 2');
	await expect.element(screen.getByTestId('improve-failing')).toBeVisible();
});

test('F16: a failure before the skill was changed says so, in the script’s own words', async () => {
	const output =
		'file:///x/tide.mjs:3\n\tfoo();\n\t^\n\nReferenceError: foo is not defined\n    at x.mjs:3:2\n\nNode.js v24.0.0\n';
	const { screen } = await setup(['error'], { digest: 'other', more: { errorType: 'ExecutionFailed', output } });
	await expect
		.element(screen.getByTestId('last-failure'))
		.toHaveTextContent('Last failure: ReferenceError: foo is not defined. The skill was changed since.');
	await expect.element(screen.getByTestId('improve-failing')).not.toBeInTheDocument();
});

test('F16: after a change, a good run from before it is no sign that it runs well', async () => {
	const { screen } = await setup(['success', 'error'], { digest: 'other' });
	await expect
		.element(screen.getByTestId('last-failure'))
		.toHaveTextContent('Last failure: Broke at 1. The skill was changed since.');
});

test('F16: a reason that ends with a full stop gets no second one', async () => {
	const { screen } = await setup(['success', 'error'], { more: { errorMessage: 'It took too long.' } });
	await expect
		.element(screen.getByTestId('last-failure'))
		.toHaveTextContent('Last failure: It took too long. It ran well since.');
});

test('F16: runs of evals aren’t among them', async () => {
	const { screen } = await setup(['error', 'success'], { more: { sessionId: 'eval-1' } });
	await expect.element(screen.getByTestId('skill-usage')).toBeVisible();
	await expect.element(screen.getByTestId('last-failure')).not.toBeInTheDocument();
});

test.each([
	[
		{ count: 20, priced: 20, cost: 0.12 },
		'The 20 answers that used it in the last 3 weeks cost $0.1200, $0.0060 each.'
	],
	[
		{ count: 3, priced: 1, cost: 2 },
		'The answer that used it in the last 3 weeks cost $2.00. Of 2 more, the price is unknown.'
	],
	[{ count: 3, priced: 0, cost: null }, 'What the 3 answers that used it cost is unknown.']
])(
	'F16: what answers with it cost is said of the answers, and an unknown price as unknown: %o',
	async (answers, said) => {
		const weeks: [number, number][] = [
			[4, 1],
			[6, 0],
			[3, 2]
		];
		const { screen } = await setup(['success'], { answers, weeks });
		await expect.element(screen.getByTestId('skill-cost')).toHaveTextContent(said);
		const trend = 'Succeeded in the last 7 days: 1 of 3. In the 2 weeks before: 9 of 10.';
		await expect.element(screen.getByTestId('skill-weeks')).toHaveTextContent(trend);
	}
);

test('F16: without runs before the last 7 days or answers, neither a trend nor a cost is claimed', async () => {
	const { screen, getSkillHealth } = await setup(['success'], {
		weeks: [
			[0, 0],
			[1, 0]
		]
	});
	await expect.poll(() => getSkillHealth.mock.settledResults.length).toBe(1);
	await expect.element(screen.getByTestId('skill-weeks')).not.toBeInTheDocument();
	await expect.element(screen.getByTestId('skill-cost')).not.toBeInTheDocument();
});
