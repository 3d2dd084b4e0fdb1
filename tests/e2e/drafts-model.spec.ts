/** The workbench with a model that is stopped, fails, and is asked again; and a skill that is improved. */
import { gate, text } from '../support/model-server.ts';
import { expect } from './app.ts';
import { answers, ask, test } from './played-model.ts';

const skill = (instructions: string) =>
	text(
		JSON.stringify({
			...{ name: 'word-lengths', description: 'Says how long words are. Use when somebody asks for it.', instructions },
			...{ files: [], evals: [{ prompt: 'How long is “one”?', expected_output: '3', expectations: ['contains: 3'] }] }
		})
	);

test('F8, F16: a model that was stopped or failed can be asked again with the same wish; a draft is compared by name with the skill', async ({
	page,
	app,
	model
}) => {
	await page.goto(app.url);
	model.push(text('Three letters.'));
	await ask(page, 'How long is “one”?');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');

	const hold = gate();
	model.push(text('{', hold));
	await ask(page, '/save-skill');
	const bench = page.getByTestId('workbench');
	await expect(page.getByTestId('draft-progress')).toContainText('has written');
	await page.getByTestId('stop-draft').click();
	await expect(bench).toHaveAttribute('data-state', 'ready');
	hold.open();
	const wish = page.getByLabel('What should be better?');
	await expect(bench).toContainText('No model has written this draft yet');
	await wish.fill('Name the word');
	model.push(text('I’d love to.'));
	const write = page.getByRole('button', { name: 'Write with the model' });
	await write.click();
	await expect(page.getByTestId('draft-problem')).toContainText('it has no JSON');
	await expect(wish).toHaveValue('Name the word');
	model.push(skill('Count the letters.'));
	await write.click();
	await expect(page.getByRole('heading', { name: 'Draft of word-lengths' })).toBeVisible();
	await expect(wish).toHaveValue('');
	expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('Name the word');
	await expect(page.getByRole('button', { name: 'Improve', exact: true })).toBeEnabled();

	await page.getByTestId('save-draft').click();
	await page.getByTestId('skill-menu').click();
	await page.getByRole('menuitem', { name: 'Improve in a draft' }).click();
	await expect(bench).toContainText('answers you marked “Not a good answer”');
	model.push(skill('Count the letters twice.'));
	await page.getByRole('button', { name: 'Improve', exact: true }).click();
	await expect(page.getByTestId('skill-change')).toContainText('twice');
	model.push(text('It has 3.'), text('It has 3.'));
	await page.getByTestId('draft-evals').click();
	await expect(page.getByTestId('pass-rates')).toContainText('With the draft');
	await expect(page.getByTestId('pass-rates')).toContainText('The skill you have');
	await expect(page.getByTestId('eval-verdict')).toHaveText('The draft does as well as the skill you have');
	await expect(page.getByTestId('eval-progress')).not.toContainText('version');
	await test.info().attach('compared', { body: await page.screenshot(), contentType: 'image/png' });

	// The way back is one click away.
	await page.getByTestId('save-draft').click();
	await expect(page.getByTestId('skill-page')).toBeVisible();
	await page.getByTestId('toast-action').click();
	await expect(page.getByText('Undone. What you saved is still in its versions.')).toBeVisible();
	await page.getByRole('tab', { name: 'Versions' }).click();
	await expect(page.getByTestId('skill-edit').first()).toContainText('Went back to before “');
	await expect(page.getByTestId('skill-edit').nth(1)).toContainText('Saved from a draft');
});
