import { beforeEach, expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import type { SkillNeeds as Needs } from '../../../shared/skills.ts';
import { samplePackages } from '../../../../../tests/support/sample-skills.ts';
import SkillNeeds from './SkillNeeds.svelte';

const NEEDS: Needs = {
	binaries: [
		{ name: 'jq', isDeclared: true, from: ['compatibility'], isFound: false },
		{ name: 'git', isDeclared: false, from: ['scripts/a.sh', 'SKILL.md'], isFound: true }
	],
	packages: [
		{
			...{ ecosystem: 'python', name: 'pyyaml', requirement: 'pyyaml>=6' },
			...{ isDeclared: true, from: ['requirements.txt'], isFound: true }
		},
		{
			...{ ecosystem: 'javascript', name: 'left-pad', requirement: 'left-pad' },
			...{ isDeclared: false, from: ['scripts/a.mjs'], isFound: false }
		}
	],
	hosts: [{ name: 'api.example.org', isDeclared: false, from: ['scripts/a.sh'], isGranted: false }],
	variables: [
		{ name: 'A_KEY', isDeclared: true, isOptional: false, from: ['metadata.env'], isSet: false, setBy: null },
		{ name: 'B_KEY', isDeclared: false, isOptional: false, from: ['metadata.env'], isSet: true, setBy: 'secret' },
		{ name: 'C_KEY', isDeclared: true, isOptional: false, from: ['metadata.env'], isSet: true, setBy: 'operator' },
		{
			name: 'D_KEY',
			isDeclared: true,
			isOptional: false,
			from: [],
			isSet: false,
			setBy: null,
			problem: 'D_KEY was stored with another key.'
		},
		{ name: 'E_KEY', isDeclared: true, isOptional: true, from: [], isSet: false, setBy: null }
	],
	skills: [
		{ name: 'pdf-tools', isDeclared: true, from: ['metadata.requires'], state: 'missing' },
		{ name: 'charts', isDeclared: false, from: ['SKILL.md'], state: 'off' },
		{ name: 'tables', isDeclared: true, from: ['metadata.requires', 'SKILL.md'], state: 'on' },
		{ name: 'notes', isDeclared: true, from: ['metadata.requires'], state: 'beside' }
	]
};

let sent: [string, Record<string, string | null>][];
let saved: Needs[];
let failure: string | null;
const client = {
	...samplePackages(),
	saveSecrets: async (skillId: string, secrets: Record<string, string | null>) => {
		sent.push([skillId, secrets]);
		if (failure) throw new Error(failure);
		return { ...NEEDS, variables: [] };
	}
};

beforeEach(() => {
	sent = [];
	saved = [];
	failure = null;
	render(SkillNeeds, { client, skillId: 'local/demo', needs: NEEDS, onsaved: (needs: Needs) => saved.push(needs) });
});

test('F3: what is there and what is missing is told apart, in words', async () => {
	const text = (name: string) => page.getByTestId('need').filter({ hasText: name }).element().textContent;
	expect(text('jq')).toMatch(/not installed/);
	// Where it's named matters for what is missing alone.
	expect(text('git')).toMatch(/installed\s*$/);
	expect(text('pyyaml>=6')).toMatch(/installed\s*$/);
	expect(text('left-pad')).toMatch(/not installed, guessed from an import.*in scripts\/a.mjs/s);
	expect(text('B_KEY')).toMatch(/stored for this skill/);
	expect(text('C_KEY')).toMatch(/set by the operator/);
	expect(text('D_KEY')).toMatch(/not set.*stored with another key/s);
	// What is missing is named once: where it's asked for.
	expect(page.getByText('E_KEY', { exact: true }).elements()).toHaveLength(1);
	expect(page.getByText('A_KEY', { exact: true }).elements()).toHaveLength(1);
	await expect.element(page.getByTestId('secrets-form')).toMatchTextContent(/E_KEY *optional/);
});

test('F3: variables that it works without are folded, if nothing else is asked for', async () => {
	await expect.element(page.getByTestId('secret-value').first()).toBeVisible();
	const variables = NEEDS.variables.filter(({ name }) => name === 'E_KEY');
	const screen = await render(SkillNeeds, { client, skillId: 'local/other', needs: { ...NEEDS, variables } });
	const field = screen.container.querySelector('[data-testid=secret-value]');
	expect(field?.checkVisibility()).toBe(false);
	await screen.getByText('1 optional variable, not set').click();
	expect(field?.checkVisibility()).toBe(true);
});

test('F3: missing variables are asked for as passwords; only what was filled in is sent, and is gone from the page', async () => {
	const field = page.getByLabelText('A_KEY', { exact: true });
	await expect.element(field).toHaveAttribute('type', 'password');
	await expect.element(field).toHaveAttribute('autocomplete', 'new-password');
	await expect.element(page.getByTestId('save-secrets')).toBeDisabled();
	await field.fill('hush-hush');
	await page.getByTestId('save-secrets').click();
	expect(sent).toEqual([['local/demo', { A_KEY: 'hush-hush' }]]);
	expect(saved).toHaveLength(1);
	await expect.element(field).toHaveValue('');
	expect(document.body.innerHTML).not.toContain('hush-hush');
});

test('F3: a value of several lines keeps them when it is shown', async () => {
	await page.getByRole('button', { name: 'Show the value of A_KEY' }).click();
	await page.getByLabelText('A_KEY', { exact: true }).fill('one\ntwo');
	await page.getByTestId('save-secrets').click();
	expect(sent).toEqual([['local/demo', { A_KEY: 'one\ntwo' }]]);
});

test('F3: a stored value is replaced or removed', async () => {
	await page.getByRole('button', { name: 'Replace B_KEY' }).click();
	await page.getByLabelText('B_KEY', { exact: true }).fill('new one');
	await page.getByTestId('save-secrets').first().click();
	await page.getByRole('button', { name: 'Remove B_KEY' }).click();
	expect(sent).toEqual([
		['local/demo', { B_KEY: 'new one' }],
		['local/demo', { B_KEY: null }]
	]);
});

test('F3: a refusal is shown, and what was typed stays', async () => {
	failure = 'A_KEY decides how programs start.';
	await page.getByLabelText('A_KEY', { exact: true }).fill('typed');
	await page.getByTestId('save-secrets').click();
	await expect.element(page.getByTestId('secrets-error')).toHaveTextContent('A_KEY decides how programs start.');
	await expect.element(page.getByLabelText('A_KEY', { exact: true })).toHaveValue('typed');
	expect(saved).toEqual([]);
});

test('A18: before it is installed, the same needs are read and nothing can be set', async () => {
	const shown = await render(SkillNeeds, { needs: NEEDS });
	const within = page.elementLocator(shown.container);
	await expect
		.element(within.getByTestId('need').filter({ hasText: 'api.example.org' }))
		.toHaveTextContent('api.example.org · named in scripts/a.sh');
	expect(within.getByRole('button').elements()).toEqual([]);
	expect(within.getByTestId('save-secrets').elements()).toEqual([]);
});

test('F3: other skills that it names say what became of them; a missing one leads to the catalogs', async () => {
	const skills = page.getByRole('region', { name: 'Skills' });
	const text = (name: string) => skills.getByTestId('need').filter({ hasText: name }).element().textContent;
	expect(text('pdf-tools')).toMatch(/not installed.*in SKILL.md/s);
	expect(text('charts')).toMatch(/off.*in SKILL.md/s);
	expect(text('tables')).toMatch(/in the library\s*$/);
	expect(text('notes')).toMatch(/in this download/);
	await expect
		.element(skills.getByRole('link', { name: 'Find pdf-tools in catalogs' }))
		.toHaveAttribute('href', '/skills/install?find=pdf-tools#catalogs');
	await expect.element(skills.getByRole('link', { name: 'tables' })).toHaveAttribute('href', '/skills/tables');
	expect(skills.getByRole('link', { name: 'notes' }).elements()).toEqual([]);
});
