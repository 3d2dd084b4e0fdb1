/** Every bundled skill, used with its phrase from the README, without a key (F9, E33). */
import { readdir, readFile } from 'node:fs/promises';
import type { Locator } from '@playwright/test';
import { expect, test } from './app.ts';
import { ask } from './played-model.ts';

const root = new URL('../../', import.meta.url);
const readme = await readFile(new URL('README.md', root), 'utf8');

interface Line {
	skill: string;
	/** The phrase from the README. */
	phrase: string;
}

/** Table rows whose first cell is a skill's name in code marks. */
const lines: Line[] = [...readme.matchAll(/^\| `([a-z-]+)` \| (.+?) \| .+ \|$/gm)].map(
	([, skill = '', phrase = '']) => {
		return { skill, phrase };
	}
);

interface Shown {
	/** The answer's text. */
	text: Locator;
	/** The step that ran a script or tool of the skill. */
	step: Locator;
}

/** Files to attach. */
const FILES: Record<string, string> = {
	'data-analysis': '../fixtures/sales.csv',
	'code-review': '../../skills/code-review/examples/example.diff',
	pdf: '../../skills/pdf/examples/membership-form.pdf',
	spreadsheets: '../../skills/spreadsheets/examples/orders.xlsx',
	'web-pages': '../../skills/web-pages/examples/city-gardens.html'
};

/** What the user sees, by skill. */
const EXPECTED: Record<string, (shown: Shown) => Promise<void>> = {
	'count-words': async ({ text, step }) => {
		await expect(step).toHaveAttribute('data-status', 'done');
		await expect(text).toContainText(/words\W+4/i);
	},
	'data-analysis': async ({ text, step }) => {
		await expect(step).toHaveAttribute('data-status', 'done');
		await expect(text).toContainText('4,072.35');
		await expect(text.page().locator('[data-testid=file-card][data-path$=".svg"]')).toBeVisible();
	},
	'skill-creator': async ({ text, step }) => {
		await expect(step).toHaveAttribute('data-status', 'done');
		await expect(text).toContainText('invoice-reader/SKILL.md');
	},
	deploy: async ({ text, step }) => {
		await expect(step).toHaveAttribute('data-status', 'done');
		await expect(text).toContainText('public/MANIFEST.sha256');
	},
	weather: async ({ text, step }) => {
		// If the machine doesn't isolate the network, it may be a real forecast.
		const request = 'Would have sent: GET https://geocoding-api.open-meteo.com/v1/search?name=Berlin';
		await expect(step.filter({ hasText: request }).or(text.filter({ hasText: 'Weather in Berlin' }))).toBeVisible();
	},
	discord: async ({ step }) => {
		await expect(step).toContainText('Nothing was sent: DISCORD_BOT_TOKEN is not set.');
		await expect(step).toContainText(
			'Would have sent: POST https://discord.com/api/v10/channels/<ID of #dev>/messages {"content":"Hello from the team"'
		);
	},
	'code-review': async ({ text, step }) => {
		await expect(step).toHaveAttribute('data-status', 'done');
		await expect(text).toContainText('Do not merge yet');
	},
	pdf: async ({ text, step }) => {
		await expect(step).toHaveAttribute('data-status', 'done');
		await expect(text).toContainText('Still empty: Email, Plan.');
		await expect(text.page().locator('[data-testid=file-card][data-path="membership-form-filled.pdf"]')).toBeVisible();
	},
	spreadsheets: async ({ text, step }) => {
		await expect(step).toHaveAttribute('data-status', 'done');
		await expect(text).toContainText('Total: 16,005.75');
		const files = text.page().getByTestId('file-card');
		await expect(files.and(text.page().locator('[data-path="orders-summary.xlsx"]'))).toBeVisible();
	},
	'web-pages': async ({ text, step }) => {
		await expect(step).toHaveAttribute('data-status', 'done');
		await expect(text).toContainText('Visitors: total 214,250');
		await expect(text.page().locator('[data-testid=file-card][data-path="city-gardens-table.csv"]')).toBeVisible();
	}
};

test('E33: the README has a line for each bundled skill', async () => {
	const folders = await readdir(new URL('skills/', root));
	expect(lines.map(({ skill }) => skill).toSorted()).toEqual(folders.toSorted());
	expect(Object.keys(EXPECTED).toSorted()).toEqual(folders.toSorted());
});

test('E33, F9: each of them does without a key what its line in the README says', async ({ page, app }) => {
	// An answer for each.
	test.slow();
	for (const { skill, phrase } of lines) {
		await test.step(skill, async () => {
			const isSameChat = skill === 'deploy';
			if (!isSameChat) await page.goto(app.url);
			const file = FILES[skill];
			if (file) {
				await page.getByTestId('file-input').setInputFiles(new URL(file, import.meta.url).pathname);
				await expect(page.locator('[data-testid=attachment][data-state=ready]')).toHaveCount(1);
			}
			await ask(page, phrase);
			const answers = page.locator('[data-testid=message][data-role=assistant]');
			await expect(answers).toHaveCount(isSameChat ? 2 : 1);
			const answer = answers.last();
			// It asks for neither variables nor approval first.
			await expect(answer).toHaveAttribute('data-status', 'complete');
			await answer.getByTestId('step-fold').click();
			await expect(answer.locator('[data-testid=step][data-tool=load_skill]')).toContainText(`Loaded skill ${skill}`);
			const step = answer.locator('[data-testid=step]:not([data-tool=load_skill])');
			await EXPECTED[skill]?.({ text: answer.getByTestId('markdown').last(), step });
		});
	}
});

test('F3, D35: the pages of weather and discord offer their hosts, and say that no variable is missing', async ({
	page,
	app
}) => {
	const hosts = { weather: ['api.open-meteo.com', 'geocoding-api.open-meteo.com'], discord: ['discord.com'] };
	for (const [skill, names] of Object.entries(hosts)) {
		await page.goto(`${app.url}/skills/${skill}#needs`);
		const shown = page.locator('label').filter({ has: page.getByTestId('network-domain') });
		await expect(shown).toHaveText(names);
		await shown.first().click();
		await expect(page.getByTestId('network-domain').first()).toBeChecked();
		await page.reload();
		await expect(page.getByTestId('network-domain').first()).toBeChecked();
		const variables = page
			.getByTestId('secrets-form')
			.locator('p')
			.filter({ has: page.locator('label') });
		for (const variable of await variables.all()) await expect(variable).toContainText('optional');
	}
});
