import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { createFakeRegistry } from '../../../../../tests/support/fake-registry.ts';
import { ApiError } from '../../request.ts';
import type { SkillScoreList } from '../../../shared/skills.ts';
import SkillScores from './SkillScores.svelte';

const list: SkillScoreList = {
	...{ total: 12, autoMaxSkills: 5, autoMinScore: 3 },
	data: [
		{
			...{ id: 'demo', name: 'demo', mode: 'auto', score: 7.125 },
			signals: { name: 6, nameTokens: 0, tags: 0, description: 1.125 },
			omniroute: {
				score: 8,
				signals: { name: 6, nameTokens: 2, tags: 0, description: 2, background: 0, provider: -2 },
				isPicked: true
			}
		}
	]
};

test('B7, B8: points are shown signal by signal for both scorers, and what is picked', async () => {
	const client = createFakeRegistry();
	const screen = await render(SkillScores, { client });
	await expect.element(screen.getByTestId('score-button')).toBeDisabled();
	await screen.getByTestId('score-text').fill('demo of it');
	client.scoreSkills.mockRejectedValueOnce(new ApiError('invalid_input', 'Too long.'));
	await screen.getByTestId('score-button').click();
	await expect.element(screen.getByTestId('score-error')).toMatchTextContent(/Too long/);
	await expect.element(screen.getByTestId('score-text')).toHaveValue('demo of it');
	client.scoreSkills.mockResolvedValueOnce(list);
	await screen.getByTestId('score-button').click();
	expect(client.scoreSkills).toHaveBeenLastCalledWith('demo of it');
	const row = screen.getByTestId('score-row');
	await expect.element(row).toMatchTextContent(/7\.13\s*name 6, description 1\.13/);
	await expect.element(row).toMatchTextContent(/Yes\s*8\s*name 6, words in the name 2, description 2, provider -2/);
	const scales = screen.getByTestId('score-scale').elements();
	expect(scales.map(({ textContent }) => textContent)).toEqual([
		'MatchDecides which are picked',
		'RelevancePuts skills in this order'
	]);
	await expect.element(screen.getByTestId('score-status')).toMatchTextContent(/Top 1 of 12 skills/);
});
