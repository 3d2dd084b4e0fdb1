import { beforeEach, describe, expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { createFakeClient } from '../../../../../tests/support/fake-client.ts';
import { sampleDetail, sampleDraft, sampleList, sampleSummary } from '../../../../../tests/support/sample-skills.ts';
import { ApiError } from '../../request.ts';
import { Library } from './library.svelte.ts';
import { PaneWidth } from '../../ui/toasts.svelte.ts';
import type { DraftSummary } from '../../../shared/drafts.ts';
import type { SkillSummary } from '../../../shared/skills.ts';
import NewSkillForm from '../edit/NewSkillForm.svelte';
import ResizeHandle from '../../ui/ResizeHandle.svelte';
import SkillLibrary from './SkillLibrary.svelte';

beforeEach(() => {
	localStorage.clear();
	sessionStorage.clear();
});

const broken = { severity: 'error', field: '_', message: 'is not valid YAML', line: 3 } as const;
const skills = [
	sampleSummary({ id: 'pdf', name: 'pdf', description: 'Fills forms.' }),
	sampleSummary({
		id: 'mine/torn',
		name: 'torn',
		status: 'broken',
		description: '',
		diagnostics: [broken],
		version: null
	})
];

async function setup(list: SkillSummary[] = skills, drafts: DraftSummary[] = []) {
	const changeSkill = vi.fn(async () => sampleDetail());
	const listSkills = vi.fn(async (page: number, limit: number) => sampleList(list, { page, limit }));
	const library = new Library({ ...createFakeClient(), listSkills });
	await library.refresh();
	const go = vi.fn();
	const onremove = vi.fn<(skill: SkillSummary) => Promise<void>>(async () => {});
	const props = {
		library,
		client: { changeSkill, listDrafts: async () => drafts },
		onremove,
		go,
		sandbox: undefined,
		currentId: 'pdf'
	};
	const screen = await render(SkillLibrary, props);
	return { screen, changeSkill, onremove, listSkills, library, go };
}

describe('E17: the list of skills', () => {
	test('has what is broken first, with what is wrong and the way to the fix, and marks the one that is shown', async () => {
		const { screen } = await setup();
		const rows = screen.getByTestId('skill-row');
		expect(rows.elements().map((row) => row.getAttribute('data-name'))).toEqual(['torn', 'pdf']);
		await expect.element(screen.getByTestId('row-problem')).toMatchTextContent(/^SKILL\.md is not valid YAML\.$/);
		await expect
			.element(screen.getByTestId('fix-link'))
			.toHaveAttribute('href', '/skills/edit/mine/torn?file=SKILL.md&line=3');
		await expect.element(screen.getByRole('link', { name: 'pdf' })).toHaveAttribute('aria-current', 'page');
	});

	test('of what is broken at no line, Fix leads to what can be done', async () => {
		const torn = skills.map((each) =>
			each.name === 'torn' ? { ...each, diagnostics: [{ ...broken, line: undefined }] } : each
		);
		const { screen } = await setup(torn);
		await expect.element(screen.getByTestId('fix-link')).toHaveAttribute('href', '/skills/mine/torn#doctor');
	});

	test('says the first problem of what is broken; in a narrow list, the room of its tools is the name’s until they are wanted', async () => {
		await page.viewport(1280, 800);
		const name = 'a-skill-with-a-long-name';
		const { screen } = await setup([
			sampleSummary({ id: 'mine/torn', name: 'torn', status: 'broken', diagnostics: [broken, broken, broken] }),
			sampleSummary({ id: name, name })
		]);
		expect(screen.getByTestId('row-problem').elements()).toHaveLength(1);
		screen.container.style.width = '388px';
		const link = screen.getByRole('link', { name, exact: true });
		const heading = link.element().parentElement;
		await screen.getByTestId('skill-search').hover();
		await expect.poll(() => heading && heading.scrollWidth <= heading.clientWidth).toBe(true);
		const height = screen.getByTestId('skill-row').last().element().clientHeight;
		await expect.element(screen.getByTestId('row-menu').last()).toBeInViewport({ ratio: 1 });
		await link.hover();
		await expect.element(screen.getByTestId('row-try')).toBeInViewport({ ratio: 1 });
		expect(screen.getByTestId('skill-row').last().element().clientHeight).toBe(height);
	});

	test('shows what can be done with a skill before anybody points at it', async () => {
		await page.viewport(1280, 800);
		const { screen } = await setup([sampleSummary({ id: 'pdf', name: 'pdf' })]);
		await screen.getByTestId('skill-search').hover();
		for (const tool of ['row-try', 'row-menu']) {
			const faint = screen.getByTestId(tool).element().closest('.tools');
			expect(faint && Number(getComputedStyle(faint).opacity), tool).toBeGreaterThan(0.5);
			await expect.element(screen.getByTestId(tool)).toBeInViewport({ ratio: 1 });
		}
	});

	test('keeps its search and what is to review in sight', async () => {
		await page.viewport(1280, 800);
		const skills = Array.from({ length: 30 }, (_, at) =>
			sampleSummary({ id: `s${at}`, name: `s${at}`, trust: 'untrusted' })
		);
		const { screen } = await setup(skills);
		const box = screen.container;
		Object.assign(box.style, { height: '400px', overflowY: 'auto' });
		await expect.poll(() => box.scrollHeight).toBeGreaterThan(1000);
		box.scrollTop = 900;
		await expect.element(screen.getByTestId('skill-search')).toBeInViewport({ ratio: 1 });
		await expect.element(screen.getByTestId('show-to-review')).toBeInViewport({ ratio: 1 });
	});

	test('is searched and narrowed; what matches nothing leads to the catalogs and back to all', async () => {
		const { screen } = await setup();
		const filters = screen.getByTestId('skill-filter').element().querySelectorAll('option');
		expect([...filters].map(({ textContent }) => textContent)).toEqual(['All (2)', 'Yours (2)', 'To review (2)']);
		await screen.getByTestId('skill-search').fill('forms');
		await expect.poll(() => screen.getByTestId('skill-row').elements()).toHaveLength(1);
		await expect.element(screen.getByTestId('shown-count')).toHaveTextContent('1 skill');
		await screen.getByTestId('skill-filter').selectOptions('review');
		await screen.getByTestId('skill-search').fill('nothing of this');
		await expect.element(screen.getByTestId('no-skills')).toMatchTextContent(/No skills match\./);
		await expect
			.element(screen.getByRole('link', { name: 'Search catalogs' }))
			.toHaveAttribute('href', '/skills/install?find=nothing%20of%20this#catalogs');
		await screen.getByRole('button', { name: 'Show all' }).click();
		await expect.poll(() => screen.getByTestId('skill-row').elements()).toHaveLength(2);
		await expect.element(screen.getByTestId('skill-search')).toHaveFocus();
	});

	test('shows what may have been meant after a slip, and counts what is broken where it can be shown', async () => {
		const skills = [
			sampleSummary({ id: 'count-words', name: 'count-words' }),
			sampleSummary({ id: 'torn', name: 'torn', status: 'broken' }),
			sampleSummary({ id: 'new', name: 'new', description: 'Draws a chart.', trust: 'untrusted' })
		];
		const { screen } = await setup(skills);
		await screen.getByTestId('skill-search').fill('coutn words');
		const meant = screen.getByTestId('did-you-mean');
		await expect.element(screen.getByText('No exact match. Did you mean:')).toBeVisible();
		await expect.element(meant.getByTestId('skill-link')).toHaveAttribute('href', '/skills/count-words');
		await expect.poll(() => screen.getByTestId('skill-row').elements()).toHaveLength(1);
		// No name is like it, a word of a description is.
		await screen.getByTestId('skill-search').fill('chrat');
		await expect.element(meant.getByTestId('skill-link')).toHaveAttribute('href', '/skills/~new');
		await screen.getByTestId('skill-search').fill('xyzzy');
		await expect.element(meant).not.toBeInTheDocument();
		await screen.getByRole('button', { name: 'Show all' }).click();
		const review = screen.getByTestId('show-to-review');
		await expect.element(review).toHaveTextContent('2 to review, 1 broken');
		await review.click();
		await expect.poll(() => screen.getByTestId('skill-row').elements()).toHaveLength(3);
	});

	test('is gone through by the arrow keys, and Enter in the search opens the first', async () => {
		const { screen } = await setup();
		const opened = vi.fn((event: Event) => {
			event.preventDefault();
			return (event.target as HTMLElement).textContent;
		});
		screen.container.addEventListener('click', opened);
		await screen.getByTestId('skill-search').click();
		await userEvent.keyboard('{ArrowDown}{ArrowDown}{ArrowDown}');
		await expect.element(screen.getByRole('link', { name: 'pdf' })).toHaveFocus();
		await userEvent.keyboard('{ArrowUp}{ArrowUp}');
		await expect.element(screen.getByTestId('skill-search')).toHaveFocus();
		await userEvent.keyboard('pdf{Enter}');
		expect(opened).toHaveLastReturnedWith('pdf');
	});

	test('says more of a skill than fits into a line, also where it is narrow', async () => {
		await page.viewport(1280, 800);
		const description = `Joins, filters and sorts CSV files from the command line, and keeps the header row.`;
		const { screen } = await setup([sampleSummary({ id: 'csv', name: 'csv', trust: 'untrusted', description })]);
		screen.container.style.width = '390px';
		const text = screen.getByText(description).element();
		expect(text.scrollHeight).toBeLessThanOrEqual(text.clientHeight);
		expect(text.clientWidth).toBeGreaterThan(280);
	});

	test('keeps the order that somebody has chosen', async () => {
		const used = { executions: 3, failures: 0, lastUsedAt: '2026-01-02T00:00:00Z' };
		const list = [sampleSummary({ id: 'a', name: 'a' }), sampleSummary({ id: 'b', name: 'b', usage: used })];
		const { screen } = await setup(list);
		const names = (of: typeof screen) =>
			of
				.getByTestId('skill-row')
				.elements()
				.map((row) => row.getAttribute('data-name'));
		expect(names(screen)).toEqual(['a', 'b']);
		await screen.getByTestId('skill-order').selectOptions('used');
		await expect.poll(() => names(screen)).toEqual(['b', 'a']);
		await screen.unmount();
		expect(names((await setup(list)).screen)).toEqual(['b', 'a']);
	});

	test('B6: chooses when a skill is offered; what is refused is taken back and said', async () => {
		await page.viewport(1280, 800);
		const { screen, changeSkill, listSkills } = await setup();
		const mode = screen.getByTestId('row-mode');
		await mode.selectOptions('off');
		expect(changeSkill).toHaveBeenLastCalledWith('pdf', { mode: 'off' });
		expect(listSkills).toHaveBeenCalledTimes(2);
		changeSkill.mockRejectedValueOnce(new ApiError('unavailable', 'The database is busy.'));
		await mode.selectOptions('on');
		await expect.element(screen.getByTestId('row-error')).toMatchTextContent(/The database is busy/);
		await expect.element(mode).toHaveValue('auto');
	});

	test('B6: one click tries a skill, and its menu turns it off or on again', async () => {
		await page.viewport(1280, 800);
		const { screen, changeSkill } = await setup([
			sampleSummary({ id: 'pdf', name: 'pdf' }),
			sampleSummary({ id: 'web', name: 'web', mode: 'off' })
		]);
		await screen.getByRole('link', { name: 'pdf', exact: true }).hover();
		await screen.getByRole('button', { name: 'Options for pdf' }).click();
		await screen.getByRole('menuitem', { name: 'Turn off' }).click();
		await expect.poll(() => changeSkill.mock.lastCall).toEqual(['pdf', { mode: 'off' }]);
		await screen.getByRole('link', { name: 'web', exact: true }).hover();
		await screen.getByRole('button', { name: 'Options for web' }).click();
		await screen.getByRole('menuitem', { name: 'Turn on' }).click();
		await expect.poll(() => changeSkill.mock.lastCall).toEqual(['web', { mode: 'auto' }]);
		const tries = screen.getByTestId('row-try').elements();
		expect(tries.map((link) => link.getAttribute('href'))).toEqual(['/?skill=pdf']);
	});

	test('B6: on a phone, a row’s menu tries a skill and turns it off, and two lines of text stay', async () => {
		await page.viewport(390, 800);
		const { screen, changeSkill, go } = await setup([
			sampleSummary({ id: 'pdf', name: 'pdf', trust: 'trusted' }),
			sampleSummary({ id: 'web', name: 'web', trust: 'trusted', mode: 'off' })
		]);
		const heights = screen
			.getByTestId('skill-row')
			.elements()
			.map(({ clientHeight }) => clientHeight);
		expect(Math.max(...heights)).toBeLessThan(70);
		await screen.getByRole('button', { name: 'Options for pdf' }).click();
		await screen.getByRole('menuitem', { name: 'Try in chat' }).click();
		await expect.poll(() => go.mock.calls).toEqual([['/?skill=pdf']]);
		await screen.getByRole('button', { name: 'Options for pdf' }).click();
		await screen.getByRole('menuitem', { name: 'Turn off' }).click();
		await expect.poll(() => changeSkill.mock.calls).toEqual([['pdf', { mode: 'off' }]]);
	});

	test('a row’s menu deletes a skill, and leaves the page of one that is open', async () => {
		await page.viewport(1280, 800);
		const { screen, onremove, go } = await setup();
		await screen.getByRole('link', { name: 'torn', exact: true }).hover();
		await screen.getByRole('button', { name: 'Options for torn' }).click();
		await expect.element(screen.getByRole('menuitem', { name: 'Turn off' })).not.toBeInTheDocument();
		await screen.getByRole('menuitem', { name: 'Delete' }).click();
		await expect.poll(() => onremove.mock.lastCall?.[0].id).toBe('mine/torn');
		expect(go).not.toHaveBeenCalled();
		await screen.getByRole('link', { name: 'pdf', exact: true }).hover();
		await screen.getByRole('button', { name: 'Options for pdf' }).click();
		await screen.getByRole('menuitem', { name: 'Delete' }).click();
		await expect.poll(() => go.mock.calls).toEqual([['/skills']]);
	});

	test('counts what it shows, built-in ones too; the longest filter is readable in full', async () => {
		await page.viewport(1280, 800);
		const builtin = sampleSummary({ id: 'files', name: 'files', trust: 'builtin', provider: 'builtin' });
		const { screen } = await setup([...skills, builtin]);
		await expect.element(screen.getByTestId('shown-count')).toHaveTextContent('2 skills, plus 1 built-in tool');
		const filter = screen.getByTestId('skill-filter');
		await screen.getByRole('button', { name: '1 to review, 1 broken' }).click();
		await expect.element(filter).toHaveValue('review');
		await expect.element(screen.getByTestId('skill-search')).toHaveFocus();
		await expect.element(screen.getByTestId('show-to-review')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('shown-count')).toHaveTextContent('2 skills');
		screen.container.style.width = '388px';
		const element = filter.element() as HTMLSelectElement;
		const wanted = document.createElement('canvas').getContext('2d');
		if (!wanted) throw new Error('No canvas');
		wanted.font = getComputedStyle(element).font;
		// Its padding and its arrow.
		expect(element.clientWidth).toBeGreaterThan(wanted.measureText('To review (2)').width + 36);
		await screen.getByTestId('skill-search').fill('files');
		await screen.getByTestId('skill-filter').selectOptions('all');
		await expect.element(screen.getByTestId('shown-count')).toHaveTextContent('1 built-in tool');
	});

	test('the open skill is in sight, though it is far down and another is opened later', async () => {
		const many = Array.from({ length: 130 }, (_, at) => sampleSummary({ id: `skill-${at}`, name: `skill-${at}` }));
		const library = new Library({
			...createFakeClient(),
			listSkills: async (page, limit) => sampleList(many, { page, limit })
		});
		await library.refresh();
		const client = { changeSkill: vi.fn(), listDrafts: async () => [] };
		const props = { library, client, onremove: vi.fn(), go: vi.fn(), sandbox: undefined, currentId: 'skill-120' };
		const screen = await render(SkillLibrary, props);
		await expect.element(screen.getByRole('link', { name: 'skill-120' })).toBeInViewport();
		await screen.rerender({ currentId: 'skill-3' });
		await expect.element(screen.getByRole('link', { name: 'skill-3', exact: true })).toBeInViewport();
	});

	test('F8: a skill of which there is a draft to go on with leads to it', async () => {
		const { screen } = await setup(
			[sampleSummary({ id: 'demo', name: 'demo', source: 'installed' }), sampleSummary({ id: 'web', name: 'web' })],
			[sampleDraft()]
		);
		await expect.element(screen.getByTestId('row-draft')).toHaveAttribute('href', '/skills/drafts/d1');
	});

	test('D27: is searched by tags, too', async () => {
		const { screen } = await setup([
			sampleSummary({ id: 'pdf', name: 'pdf', tags: ['acroform'] }),
			sampleSummary({ id: 'web', name: 'web' })
		]);
		await screen.getByTestId('skill-search').fill('acro');
		await expect.element(screen.getByTestId('skill-link')).toHaveTextContent('pdf');
	});

	test('says in a word what one should know of a skill: that nobody trusts it, or whose or where from it is', async () => {
		const { screen, library } = await setup([
			sampleSummary({ id: 'new', name: 'new', trust: 'untrusted', provider: 'github' }),
			sampleSummary({ id: 'risky', name: 'risky', trust: 'untrusted', risks: 4 }),
			sampleSummary({
				...{ id: 'safe', name: 'safe', trust: 'changed', risks: 0 },
				diagnostics: [{ ...broken, severity: 'warning' }]
			}),
			sampleSummary({ id: 'hub', name: 'hub', trust: 'trusted', provider: 'github' }),
			sampleSummary({ id: 'own', name: 'own', trust: 'trusted', owner: 'key-7' }),
			sampleSummary({ id: 'mine', name: 'mine', trust: 'trusted' }),
			sampleSummary({ id: 'odd', name: 'odd', trust: 'trusted', diagnostics: [{ ...broken, severity: 'warning' }] }),
			sampleSummary({ id: 'old', name: 'old', trust: 'trusted', provider: 'github', source: 'installed' })
		]);
		library.outdated = ['installed/old'];
		await expect.poll(() => screen.getByTestId('row-note').elements()).toHaveLength(7);
		await expect.element(screen.getByTestId('row-note').last()).toHaveTextContent('Update');
		const notes = screen.getByTestId('row-note').elements();
		expect(notes.map(({ textContent }) => textContent.trim())).toEqual([
			'Not trusted',
			'Not trusted · 4 risks',
			'Changed · 1 warning',
			'From GitHub',
			'Key key-7',
			'1 warning',
			'Update'
		]);
		expect(notes.map((note) => /text-(soft|warn|danger)/.exec(note.className)?.[1])).toEqual([
			...['warn', 'danger', 'warn', 'soft', 'soft', 'warn', 'soft']
		]);
		expect(notes.map((note) => note.getAttribute('href'))).toEqual([
			'/skills/~new#trust',
			'/skills/risky#trust',
			'/skills/safe#trust',
			null,
			null,
			'/skills/odd#doctor',
			'/skills/updates'
		]);
	});
});

test('the list is as wide as somebody wants it, by keyboard too, and stays so', async () => {
	const width = new PaneWidth('a-list', { min: 30, max: 70, preset: 55 });
	const screen = await render(ResizeHandle, { width, label: 'Width of the list', controls: 'x' });
	const handle = screen.getByRole('separator', { name: 'Width of the list' });
	await expect.element(handle).toHaveAttribute('aria-valuenow', '55');
	(handle.element() as HTMLElement).focus();
	await userEvent.keyboard('{ArrowRight}{ArrowRight}');
	await expect.element(handle).toHaveAttribute('aria-valuenow', '59');
	expect(new PaneWidth('a-list', { preset: 50 }).percent).toBe(59);
	await userEvent.keyboard('{End}{ArrowRight}');
	await expect.element(handle).toHaveAttribute('aria-valuenow', '70');
	await userEvent.keyboard('{Enter}');
	await expect.element(handle).toHaveAttribute('aria-valuenow', '55');
});

test('F8: a new skill is described with advice, and made', async () => {
	const createSkill = vi.fn(async () => sampleDetail({ id: 'invoice-reader' }));
	const oncreated = vi.fn();
	const screen = await render(NewSkillForm, { client: { createSkill }, taken: new Set(['pdf']), oncreated });
	await screen.getByTestId('new-skill-name').fill('pdf');
	await expect.element(screen.getByTestId('name-advice')).toHaveTextContent('A skill with this name already exists.');
	await expect.element(screen.getByTestId('template-preview')).toMatchTextContent(/pdf\/SKILL\.md/);
	await expect.element(screen.getByText(/starter script that only repeats/)).toBeVisible();
	await screen.getByTestId('new-skill-name').fill('Invoice Reader');
	await expect.element(screen.getByTestId('template-preview')).toMatchTextContent(/invoice-reader\/SKILL\.md/);
	await screen.getByTestId('use-suggestion').click();
	await expect.element(screen.getByTestId('new-skill-name')).toHaveValue('invoice-reader');
	await screen.getByTestId('create-skill').click();
	await expect.element(screen.getByTestId('description-advice')).toMatchTextContent(/Say what it does/);
	expect(createSkill).not.toHaveBeenCalled();
	const description = 'Reads invoices and lists their sums. Use when somebody asks about bills.';
	await screen.getByTestId('new-skill-description').fill(description);
	await screen.getByTestId('template-script').click();
	await expect.element(screen.getByTestId('template-preview')).toMatchTextContent(/invoice-reader\/scripts\/run\.mjs/);
	createSkill.mockRejectedValueOnce(new ApiError('conflict', 'There is a skill “invoice-reader” already.'));
	await screen.getByTestId('create-skill').click();
	await expect.element(screen.getByTestId('new-skill-error')).toMatchTextContent(/already/);
	await screen.getByTestId('create-skill').click();
	const made = { name: 'invoice-reader', description, template: 'script' };
	expect(createSkill).toHaveBeenLastCalledWith({ ...made, takes: 'text' });
	await expect.poll(() => oncreated.mock.calls.length).toBe(1);
});

test('F8: the question that a new skill answers says what its script takes, unless that is chosen', async () => {
	const createSkill = vi.fn(async () => sampleDetail({ id: 'roman' }));
	const screen = await render(NewSkillForm, { client: { createSkill }, taken: new Set<string>(), oncreated: vi.fn() });
	const [example, usage] = [screen.getByTestId('new-skill-example'), screen.getByTestId('usage-line')];
	await screen.getByTestId('new-skill-name').fill('roman');
	await expect.element(example).toHaveAttribute('placeholder', 'Use roman with “hello world”');
	await expect.element(usage).toMatchTextContent(/run\.mjs TEXT$/);
	await example.fill('What is 1987 in Roman numerals?');
	await expect.element(screen.getByTestId('takes-number')).toBeChecked();
	await expect.element(usage).toMatchTextContent(/run\.mjs NUMBER$/);
	await screen.getByTestId('takes-nothing').click();
	await example.fill('What is 7 in Roman numerals?');
	await expect.element(usage).toMatchTextContent(/run\.mjs$/);
	await screen.getByTestId('takes-file').click();
	await expect.element(screen.getByTestId('template-preview')).toMatchTextContent(/examples\/sample\.txt/);
	await screen.getByTestId('takes-number').click();
	await screen.getByTestId('template-tools').click();
	await expect.element(usage).toMatchTextContent(/one input, “number”/);
	const description = 'Writes numbers as Roman numerals. Use when someone asks for them.';
	await screen.getByTestId('new-skill-description').fill(description);
	await screen.getByTestId('create-skill').click();
	const question = 'What is 7 in Roman numerals?';
	const body = { name: 'roman', description, template: 'tools', example: question, takes: 'number' };
	expect(createSkill).toHaveBeenLastCalledWith(body);
});
