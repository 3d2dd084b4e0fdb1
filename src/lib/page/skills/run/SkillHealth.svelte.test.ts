import { expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { sampleExecution } from '../../../../../tests/support/sample-skills.ts';
import SkillHealth from './SkillHealth.svelte';

async function setup(statuses: ('success' | 'error' | 'running')[], executions = statuses.length) {
	const data = statuses.map((status, at) =>
		sampleExecution({ id: `e${at}`, status, errorMessage: status === 'error' ? `Broke at ${at}` : null })
	);
	const listExecutions = vi.fn(async () => ({ data, total: data.length, page: 1, limit: 30, totalPages: 1 }));
	const onimprove = vi.fn();
	const usage = { executions, failures: 1, lastUsedAt: executions > 0 ? '2026-11-01T10:00:00.000Z' : null };
	const screen = await render(SkillHealth, { client: { listExecutions }, skillId: 'local/demo', usage, onimprove });
	return { screen, listExecutions, onimprove };
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

test('F16: one that never ran asks for nothing and offers nothing', async () => {
	const { screen, listExecutions } = await setup([]);
	await expect.element(screen.getByTestId('skill-usage')).toMatchTextContent(/^Not yet\./);
	await expect.element(screen.getByTestId('improve-failing')).not.toBeInTheDocument();
	expect(listExecutions).not.toHaveBeenCalled();
});
