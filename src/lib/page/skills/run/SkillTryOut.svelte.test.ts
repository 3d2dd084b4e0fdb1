import { beforeEach, describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { createFakeRegistry } from '../../../../../tests/support/fake-registry.ts';
import { sampleDetail, sampleExecution } from '../../../../../tests/support/sample-skills.ts';
import { ApiError } from '../../request.ts';
import type { Client } from '../../server.ts';
import type { SkillExecution } from '../../../shared/try-out.ts';
import SkillTryOut from './SkillTryOut.svelte';

const skill = sampleDetail({ skillId: 'installed/demo', scripts: ['scripts/x.sh'], tools: [], trust: 'trusted' });

const listOf = (data: SkillExecution[]) => ({ data, total: data.length, page: 1, limit: 50, totalPages: 1 });

beforeEach(() => sessionStorage.clear());

async function setup(
	readExecution: (id: string) => Promise<SkillExecution>,
	{ last = [], executionId = 'e7' }: { last?: SkillExecution[]; executionId?: string | null } = {}
) {
	const listExecutions = vi.fn<Client['listExecutions']>(async () => listOf(last));
	const client = {
		...createFakeRegistry(),
		...{ runExecution: vi.fn(), uploadFile: vi.fn(), putExample: vi.fn(), listExecutions, getExecution: readExecution }
	};
	return render(SkillTryOut, { client, skill, reference: 'installed/demo@1.0.0', executionId });
}

describe('F6: a run that an address names', () => {
	test('is what the form begins with', async () => {
		const readExecution = vi.fn(async () => sampleExecution({ argv: ['--count', '3'] }));
		const screen = await setup(readExecution);
		await expect.element(screen.getByTestId('run-text')).toHaveValue('--count\n3');
		expect(readExecution).toHaveBeenCalledExactlyOnceWith('e7');
		await expect.element(screen.getByTestId('run-button')).toHaveTextContent('Run');
		// Nothing to save until it has run in this form.
		await expect.element(screen.getByTestId('keep-case')).not.toBeInTheDocument();
	});

	test('comes before what was left there, and is as it was left when one comes back to it', async () => {
		const typed = async (executionId: string | null, argv: string[], text?: string): Promise<string> => {
			const screen = await setup(async () => sampleExecution({ argv }), { executionId });
			const field = screen.getByTestId('run-text');
			await expect.element(field).toBeVisible();
			const before = (field.element() as HTMLTextAreaElement).value;
			if (text !== undefined) await field.fill(text);
			await screen.unmount();
			return before;
		};
		await typed(null, [], 'left there');
		expect(await typed('e7', ['of', 'e7'], 'of\nmine')).toBe('of\ne7');
		expect(await typed('e7', ['of', 'e7'])).toBe('of\nmine');
		expect(await typed('e8', ['of', 'e8'])).toBe('of\ne8');
	});

	test('and that is forgotten leaves the form empty', async () => {
		const screen = await setup(() => Promise.reject(new ApiError('not_found', 'Run not found.')));
		await expect.element(screen.getByTestId('run-text')).toHaveValue('');
	});

	test('or what was last run by hand, of all that ran', async () => {
		const ran = (sessionId: string | null, ...argv: string[]) => sampleExecution({ sessionId, argv });
		const last = [ran(null, 'of-a-chat'), ran('case-1', 'a-case'), ran('run-2', 'newest'), ran('run-1', 'older')];
		const screen = await setup(vi.fn(), { last, executionId: null });
		await expect.element(screen.getByTestId('run-text')).toHaveValue('newest');
		await expect.element(screen.getByTestId('as-before')).toBeVisible();
		await expect.element(screen.getByTestId('run-button')).toHaveTextContent('Run');
	});
});
