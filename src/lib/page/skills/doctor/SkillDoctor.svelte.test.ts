import type { ComponentProps } from 'svelte';
import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { userEvent } from 'vitest/browser';
import '../../../../app.css';
import { ApiError } from '../../request.ts';
import type { DiagnosisFix, SkillDiagnosis } from '../../../shared/skills.ts';
import SkillDoctor from './SkillDoctor.svelte';

/** Reverses the reading direction of what follows. */
const TURNED = String.fromCodePoint(0x202e);
const diffOf = (line: string) => `--- SKILL.md\n+++ SKILL.md\n@@ -1,3 +1,3 @@\n ---\n${line}\n`;
const sick: SkillDiagnosis = {
	...{ id: 'Demo', name: 'Demo', status: 'ready', path: '/skills/demo/SKILL.md', digest: 'a'.repeat(64) },
	issues: [
		{
			severity: 'error',
			field: 'name',
			message: 'is no name',
			line: 2,
			fixId: 'name',
			diff: diffOf('-name: Demo\n+name: demo')
		},
		{ severity: 'warning', field: '_', message: 'is named skill.md', line: 1, fixId: 'file-name', diff: null },
		{
			severity: 'error',
			field: 'description',
			message: 'is missing',
			line: 1,
			fix: 'description: …',
			fixId: null,
			diff: null
		},
		{
			severity: 'warning',
			field: 'tools.json',
			file: 'tools.json',
			line: 7,
			message: `is ${TURNED}wrong`,
			fixId: null,
			diff: null
		}
	],
	fixed: { before: 'a', after: 'b', diff: diffOf('-all: old\n+all: new') }
};
const left: SkillDiagnosis = {
	...sick,
	id: 'demo',
	name: 'demo',
	issues: sick.issues.slice(2),
	fixed: null,
	digest: 'b'.repeat(64)
};

async function setup(found: SkillDiagnosis = sick, props: Partial<ComponentProps<typeof SkillDoctor>> = {}) {
	const getDiagnosis = vi.fn(async (_id: string) => found);
	const fixSkill = vi.fn(async (_id: string, _patch: DiagnosisFix) => left);
	const onfixed = vi.fn();
	const screen = await render(SkillDoctor, { client: { getDiagnosis, fixSkill }, id: 'Demo', onfixed, ...props });
	return { screen, getDiagnosis, fixSkill, onfixed };
}

describe('F1: the Skill Doctor', () => {
	test('lists each issue with file and line, and what can be fixed and what cannot', async () => {
		const { screen } = await setup();
		await expect
			.element(screen.getByTestId('doctor-issue').first())
			.toMatchTextContent('name is no name demo/SKILL.md:2 Fix');
		const issues = screen.getByTestId('doctor-issue').elements();
		expect(issues.map((issue) => issue.querySelector('button') !== null)).toEqual([true, true, false, false]);
		expect(issues[2]?.textContent).toContain('Fix by hand: description: …');
		expect(issues[3]?.textContent).toContain('demo/tools.json:7');
		expect(issues[3]?.textContent).toContain('Fix this by hand.');
		expect(issues[3]?.textContent).not.toContain(TURNED);
	});

	test('shows the lines around each error, where their text is given; one problem has one button', async () => {
		const text = Array.from({ length: 9 }, (_, index) => `line ${index + 1}`).join('\n');
		const [first] = sick.issues.map((issue) => ({ ...issue, line: 6 }));
		const getDiagnosis = vi.fn(async () => ({ ...sick, issues: first ? [first] : [] }));
		const client = { getDiagnosis, fixSkill: vi.fn() };
		const screen = await render(SkillDoctor, { client, id: 'Demo', text });
		await expect
			.element(screen.getByTestId('file-text'))
			.toMatchTextContent(/^line 3 line 4 line 5 line 6 line 7 line 8 line 9$/);
		await expect.element(screen.getByTestId('line-numbers')).toMatchTextContent(/^\s*3 4 5 6 7 8 9\s*$/);
		await expect.element(screen.getByTestId('marked-line')).toHaveAttribute('data-line', '6');
		expect(
			screen
				.getByRole('button')
				.elements()
				.map((each) => each.textContent)
		).toEqual(['Fix']);
	});

	test('shows what one fix changes, and writes it only when told to, by keyboard alone', async () => {
		const { screen, fixSkill, onfixed } = await setup();
		await screen.getByRole('button', { name: 'Fix: name is no name' }).click();
		await expect.element(screen.getByTestId('doctor-proposal')).toMatchTextContent(/-name: Demo\s*\+name: demo/);
		await expect
			.element(screen.getByTestId('doctor-proposal'))
			.toMatchTextContent(/^\s*This changes the file\. The old text is kept under Edits\.\s/);
		await expect.element(screen.getByTestId('doctor-proposal')).not.toMatchTextContent(/trusted/);
		await expect.element(screen.getByTestId('doctor-write')).toHaveFocus();
		expect(fixSkill).not.toHaveBeenCalled();
		await userEvent.keyboard('{Enter}');
		await expect
			.element(screen.getByTestId('doctor-done'))
			.toMatchTextContent('Fixed. The old text is in Versions, under Edits.');
		expect(fixSkill).toHaveBeenCalledExactlyOnceWith('Demo', { digest: sick.digest, fixes: ['name'] });
		expect(onfixed).toHaveBeenCalledExactlyOnceWith(left, null);
		expect(screen.getByTestId('doctor-issue').elements()).toHaveLength(2);
		await expect.element(screen.getByTestId('doctor-fix-all')).not.toBeInTheDocument();
	});

	test('fixes all that can be fixed at once, and says so where that ends the skill’s trust', async () => {
		const { screen, fixSkill } = await setup(sick, { endsTrust: true });
		await screen.getByTestId('doctor-fix-all').click();
		await expect.element(screen.getByTestId('doctor-proposal')).toMatchTextContent(/has to be trusted again/);
		await expect.element(screen.getByTestId('doctor-proposal')).toMatchTextContent(/-all: old\s*\+all: new/);
		await screen.getByTestId('doctor-write').click();
		expect(fixSkill).toHaveBeenCalledExactlyOnceWith('Demo', { digest: sick.digest });
	});

	test('a renaming says so; cancelled, nothing is written', async () => {
		const { screen, fixSkill } = await setup();
		await screen.getByRole('button', { name: 'Fix: The file is named skill.md' }).click();
		await expect.element(screen.getByTestId('doctor-proposal')).toMatchTextContent(/renames the file to SKILL\.md/);
		await screen.getByRole('button', { name: 'Cancel' }).click();
		await expect.element(screen.getByTestId('doctor-proposal')).not.toBeInTheDocument();
		expect(fixSkill).not.toHaveBeenCalled();
	});

	test('a file that has changed meanwhile is looked at again, and the failure is said', async () => {
		const { screen, getDiagnosis, fixSkill } = await setup();
		fixSkill.mockRejectedValueOnce(new ApiError('conflict', 'It has changed since.'));
		await screen.getByTestId('doctor-fix-all').click();
		await screen.getByTestId('doctor-write').click();
		await expect.element(screen.getByTestId('doctor-fix-error')).toMatchTextContent('It has changed since.');
		expect(getDiagnosis).toHaveBeenCalledTimes(2);
		await expect.element(screen.getByTestId('doctor-proposal')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('doctor-fix-all')).toBeEnabled();
	});

	test('a disk that cannot be written leaves the proposal, to be tried again', async () => {
		const { screen, fixSkill } = await setup();
		fixSkill.mockRejectedValueOnce(new ApiError('unavailable', 'The disk is read-only.'));
		await screen.getByTestId('doctor-fix-all').click();
		await screen.getByTestId('doctor-write').click();
		await expect.element(screen.getByTestId('doctor-fix-error')).toMatchTextContent('The disk is read-only.');
		await screen.getByTestId('doctor-write').click();
		await expect
			.element(screen.getByTestId('doctor-done'))
			.toMatchTextContent('Fixed. The old text is in Versions, under Edits.');
	});

	test('one that is right has nothing to fix; one that cannot be read can be tried again', async () => {
		const { screen } = await setup({ ...sick, issues: [], fixed: null });
		await expect.element(screen.getByTestId('doctor-healthy')).toBeVisible();
		const getDiagnosis = vi.fn(async (_id: string) => sick);
		getDiagnosis.mockRejectedValueOnce(new ApiError('not_found', 'There is no skill “x”.'));
		const other = await render(SkillDoctor, { client: { getDiagnosis, fixSkill: vi.fn() }, id: 'x' });
		await other.getByTestId('doctor-load-error').getByRole('button').click();
		await expect.element(other.getByTestId('doctor-fix-all')).toBeVisible();
	});
});

test('F1: says how many problems it fixes, and leads to the line of one to fix by hand', async () => {
	const byHand = { ...sick.issues[0]!, message: 'is given twice', line: 4, fixId: null, diff: null };
	const { screen } = await setup({ ...sick, issues: [...sick.issues, byHand] });
	const count = sick.issues.length;
	const fixable = sick.issues.filter(({ fixId }) => fixId !== null).length;
	await expect.element(screen.getByTestId('doctor-fix-all')).toHaveTextContent(`Fix ${fixable} of ${count + 1}`);
	await expect
		.element(screen.getByRole('link', { name: 'Edit line 4' }))
		.toHaveAttribute('href', expect.stringMatching(/line=4/));
});

test('F1: what worked before is offered first, with what going back takes back', async () => {
	const apply = vi.fn(async () => undefined);
	const changes = vi.fn(async () => [
		{ path: 'SKILL.md', kind: 'changed' as const, diff: diffOf('-description: Tides.') }
	]);
	const { screen, fixSkill } = await setup(sick, { restore: { changes, apply } });
	await userEvent.click(screen.getByTestId('restore-working'));
	await expect.element(screen.getByTestId('doctor-proposal')).toMatchTextContent(/description: Tides\./);
	expect(apply).not.toHaveBeenCalled();
	await userEvent.click(screen.getByRole('button', { name: 'Go back', exact: true }));
	expect(apply).toHaveBeenCalledOnce();
	expect(fixSkill).not.toHaveBeenCalled();
});

test('F1: a description that comes from an earlier version says so', async () => {
	const earlier = '2026-03-01T10:00:00Z';
	const issue = { ...sick.issues[0]!, field: 'description', fixId: 'description', earlier };
	const { screen } = await setup({ ...sick, issues: [issue] });
	await userEvent.click(screen.getByTestId('doctor-fix-all'));
	await expect
		.element(screen.getByTestId('doctor-proposal'))
		.toMatchTextContent(/The description is the last one it had, from before the edit of Mar 1/);
	await expect.element(screen.getByRole('button', { name: 'Apply fix' })).toBeVisible();
});

test('F1: a description that is only a guess is said to be one, and its line handed on to be checked', async () => {
	const issue = { ...sick.issues[0]!, field: 'description', fixId: 'description', isGuess: true };
	const after = '---\nname: demo\ndescription: Run it.\n---\nRun it.\n';
	const guess = { ...sick, issues: [issue], fixed: { before: '', after, diff: diffOf('+description: Run it.') } };
	const { screen, onfixed } = await setup(guess);
	await userEvent.click(screen.getByTestId('doctor-fix-all'));
	await expect.element(screen.getByTestId('doctor-proposal')).toMatchTextContent(/only the start of the instructions/);
	await userEvent.click(screen.getByRole('button', { name: 'Apply and edit' }));
	await expect.poll(() => onfixed.mock.calls).toEqual([[left, 3]]);
});
