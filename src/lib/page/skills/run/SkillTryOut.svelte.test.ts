import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { createFakeRegistry } from '../../../../../tests/support/fake-registry.ts';
import { sampleDetail, sampleExecution } from '../../../../../tests/support/sample-skills.ts';
import { ApiError } from '../../request.ts';
import type { SkillExecution } from '../../../shared/try-out.ts';
import SkillTryOut from './SkillTryOut.svelte';

const skill = sampleDetail({ skillId: 'installed/demo', scripts: ['scripts/x.sh'], tools: [], trust: 'trusted' });

async function setup(readExecution: (id: string) => Promise<SkillExecution>) {
	const client = { ...createFakeRegistry(), runExecution: vi.fn() };
	return render(SkillTryOut, { client, skill, reference: 'installed/demo@1.0.0', executionId: 'e7', readExecution });
}

describe('F6: a run that an address names', () => {
	test('is what the form begins with', async () => {
		const readExecution = vi.fn(async () => sampleExecution({ argv: ['--count', '3'] }));
		const screen = await setup(readExecution);
		await expect.element(screen.getByTestId('run-text')).toHaveValue('--count\n3');
		expect(readExecution).toHaveBeenCalledExactlyOnceWith('e7');
		await expect.element(screen.getByTestId('run-button')).toHaveTextContent('Run again');
		// Nothing to save until it has run in this form.
		await expect.element(screen.getByTestId('keep-case')).not.toBeInTheDocument();
	});

	test('and that is forgotten leaves the form empty', async () => {
		const screen = await setup(() => Promise.reject(new ApiError('not_found', 'Run not found.')));
		await expect.element(screen.getByTestId('run-text')).toHaveValue('');
	});
});
