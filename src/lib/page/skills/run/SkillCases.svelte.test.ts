import { describe, expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { createFakeRegistry } from '../../../../../tests/support/fake-registry.ts';
import { sampleExecution } from '../../../../../tests/support/sample-skills.ts';
import { ApiError } from '../../request.ts';
import type { CaseRun, SkillCase } from '../../../shared/try-out.ts';
import SkillCases from './SkillCases.svelte';

const caseOf = (id: string, more: Partial<SkillCase> = {}): SkillCase => ({
	...{ id, skillId: 'installed/demo', title: `Case ${id}`, script: 'scripts/x.sh', args: ['two words'], tool: null },
	...{
		input: null,
		files: [],
		expect: { exitCode: 0, contains: ['said'] },
		createdAt: '2026-01-01T00:00:00.000Z',
		lastRun: null
	},
	...more
});
const runOf = (isPassed: boolean, failures: string[] = []): CaseRun => ({
	isPassed,
	failures,
	execution: sampleExecution()
});

async function setup(cases: SkillCase[]) {
	const client = createFakeRegistry();
	client.listCases.mockResolvedValue(cases);
	const screen = await render(SkillCases, { client, skillId: 'installed/demo', isTrusted: false, digest: 'a' });
	return { screen, client };
}

describe('F6: the cases of a skill', () => {
	test('that there are none of say how one is made', async () => {
		const { screen } = await setup([]);
		await expect.element(screen.getByTestId('no-cases')).toMatchTextContent(/save it as a case/);
	});

	test('show what is run, what is expected and how it went last', async () => {
		const lastRun = { isPassed: false, failures: ['It did not print “said”.'], executionId: 'e', at: '' };
		const { screen } = await setup([caseOf('a', { lastRun }), caseOf('b', { title: 'Ev\u202eil' })]);
		const rows = screen.getByTestId('skill-case');
		await expect.element(rows.nth(0)).toMatchTextContent(/scripts\/x\.sh "two words".*exit code 0, prints “said”/s);
		await expect.element(rows.nth(0).getByTestId('case-result')).toHaveTextContent('Failed');
		await expect.element(rows.nth(0).getByTestId('case-failure')).toHaveTextContent('It did not print “said”.');
		await expect.element(rows.nth(1).getByTestId('case-result')).toHaveTextContent('Not run yet');
		await expect.element(rows.nth(1).getByRole('heading')).toHaveTextContent('Ev⟨U+202E⟩il');
		await expect
			.element(screen.getByTestId('cases-status'))
			.toMatchTextContent('0 of 1 passed in the last run, 1 not run yet');
	});

	test('that ran before the skill was changed are marked, and passed nothing since', async () => {
		const lastRun = { isPassed: true, failures: [], executionId: 'e', at: '' };
		const { screen, client } = await setup([caseOf('a', { lastRun }), caseOf('b', { lastRun })]);
		const status = screen.getByTestId('cases-status');
		await expect.element(status).toMatchTextContent(/^2 of 2 passed in the last run$/);
		const old = { ...lastRun, isOutdated: true };
		client.listCases.mockResolvedValue([caseOf('a', { lastRun: old }), caseOf('b', { lastRun })]);
		await screen.rerender({ digest: 'b' });
		await expect.element(status).toMatchTextContent(/^2 of 2 passed in the last run, 1 before your last change$/);
		const rows = screen.getByTestId('skill-case');
		await expect.element(rows.nth(0).getByTestId('case-outdated')).toHaveTextContent('Before your last change');
		await expect.element(rows.nth(1).getByTestId('case-outdated')).not.toBeInTheDocument();
	});

	test('say what files they keep; nothing has passed or failed before the first run', async () => {
		const { screen } = await setup([caseOf('a', { files: ['in.csv'] })]);
		await expect.element(screen.getByTestId('cases-status')).toMatchTextContent(/^Not run yet$/);
		await expect.element(screen.getByTestId('skill-case')).toMatchTextContent(/Files: in\.csv/);
	});

	test('are run one after the other; one that fails does not keep the next from running', async () => {
		const { screen, client } = await setup([caseOf('a'), caseOf('b')]);
		client.runCase.mockResolvedValueOnce(runOf(false, ['Exit code 1, not 0.'])).mockResolvedValueOnce(runOf(true));
		await screen.getByTestId('run-all-cases').click();
		await expect.element(screen.getByTestId('case-result').nth(1)).toHaveTextContent('Passed');
		await expect.element(screen.getByTestId('case-failure')).toHaveTextContent('Exit code 1, not 0.');
		expect(client.runCase.mock.calls).toEqual([
			['installed/demo', 'a', undefined],
			['installed/demo', 'b', undefined]
		]);
		expect(client.listCases).toHaveBeenCalledTimes(2);
	});

	test('C16: that must be allowed first are asked about, and those that are left go on once they are', async () => {
		const { screen, client } = await setup([caseOf('a'), caseOf('b')]);
		const details = { error: 'ApprovalRequired', digest: 'd1' };
		client.runCase.mockRejectedValueOnce(new ApiError('forbidden', '“demo” wants to run x.', { details }));
		client.runCase.mockResolvedValue(runOf(true));
		await screen.getByTestId('run-all-cases').click();
		await expect.element(screen.getByTestId('case-run-error')).not.toBeInTheDocument();
		await screen.getByTestId('approve-once').click();
		await expect.element(screen.getByTestId('case-result').nth(1)).toHaveTextContent('Passed');
		expect(client.runCase.mock.calls.slice(1)).toEqual([
			['installed/demo', 'a', 'd1'],
			['installed/demo', 'b', 'd1']
		]);
		await expect.element(screen.getByTestId('approval')).not.toBeInTheDocument();
	});

	test('C16: that wait for the skill to be trusted go on once it is', async () => {
		const { screen, client } = await setup([caseOf('a')]);
		const details = { error: 'NotTrusted', digest: 'd1', trust: 'untrusted' };
		client.runCase.mockRejectedValueOnce(new ApiError('forbidden', 'Not trusted.', { details }));
		client.runCase.mockResolvedValue(runOf(true));
		await screen.getByTestId('run-all-cases').click();
		await expect.element(screen.getByTestId('approval')).toBeVisible();
		await screen.rerender({ isTrusted: true });
		await expect.element(screen.getByTestId('case-result')).toHaveTextContent('Passed');
		await expect.element(screen.getByTestId('approval')).not.toBeInTheDocument();
	});

	test('that cannot be run now say why in the words of the server', async () => {
		const { screen, client } = await setup([caseOf('a')]);
		client.runCase.mockRejectedValue(new ApiError('conflict', 'The skill “demo” is switched off.'));
		await screen.getByRole('button', { name: 'Run Case a' }).click();
		await expect.element(screen.getByTestId('case-run-error')).toMatchTextContent(/switched off/);
	});

	test('are removed one by one', async () => {
		const { screen, client } = await setup([caseOf('a')]);
		client.listCases.mockResolvedValue([]);
		await screen.getByRole('button', { name: 'Delete Case a' }).click();
		await expect.element(screen.getByTestId('no-cases')).toBeVisible();
		expect(client.removeCase).toHaveBeenCalledExactlyOnceWith('installed/demo', 'a');
	});

	test('that cannot be read can be asked for again', async () => {
		const client = createFakeRegistry();
		client.listCases.mockRejectedValueOnce(new ApiError('unavailable', 'The database is busy.'));
		const screen = await render(SkillCases, { client, skillId: 'installed/demo', isTrusted: true, digest: 'a' });
		await screen.getByRole('button', { name: 'Try again' }).click();
		await expect.element(screen.getByTestId('no-cases')).toBeVisible();
	});
});
