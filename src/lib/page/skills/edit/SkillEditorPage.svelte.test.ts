import { beforeEach, describe, expect, test, vi } from 'vitest';
import { type Locator, page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { sampleDetail, sampleExecution } from '../../../../../tests/support/sample-skills.ts';
import { ApiError } from '../../request.ts';
import type { Client } from '../../server.ts';
import { SkillEditor } from './skill-editor.svelte.ts';
import type { SkillCheck, SkillFileRename, SkillFileText, SkillFileWrite } from '../../../shared/skills.ts';
import SkillEditorPage from './SkillEditorPage.svelte';

const RIGHT: SkillCheck = { status: 'ready', name: 'demo', description: 'x', issues: [], fixes: {}, tokens: 12 };

/** A skill with two files, on a fake server that saves changes. */
function server(texts: Record<string, string> = { 'SKILL.md': 'one\ntwo\n', 'scripts/x.sh': 'echo\r\n' }) {
	const files = new Map(Object.entries(texts));
	const fileOf = (path: string): SkillFileText => {
		const text = files.get(path);
		if (text === undefined) throw new ApiError('not_found', 'There is no such file.');
		return {
			path,
			text,
			bytes: text.length,
			digest: `of ${text}`,
			isExecutable: false,
			isWritable: true,
			skill: 'demo',
			folder: 'skills/demo'
		};
	};
	return {
		files,
		getSkill: vi.fn(async () =>
			sampleDetail({ files: [...files].map(([path, text]) => ({ path, bytes: text.length, text })) })
		),
		createSkill: vi.fn(),
		runExecution: vi.fn<Client['runExecution']>(),
		getExecution: vi.fn<Client['getExecution']>(),
		uploadFile: vi.fn<Client['uploadFile']>(),
		putExample: vi.fn<Client['putExample']>(),
		addCase: vi.fn<Client['addCase']>(),
		listFiles: vi.fn<Client['listFiles']>(),
		changeSkill: vi.fn(async () => sampleDetail()),
		readFile: vi.fn(async (_id: string, path: string) => fileOf(path)),
		writeFile: vi.fn(async (_id: string, { path, text, digest }: SkillFileWrite) => {
			const before = files.get(path);
			if ((before === undefined ? null : `of ${before}`) !== digest) throw new ApiError('conflict', 'It has changed.');
			files.set(path, text);
			return fileOf(path);
		}),
		renameFile: vi.fn(async (_id: string, { path, to }: SkillFileRename) => {
			files.set(to, files.get(path) ?? '');
			files.delete(path);
		}),
		removeFile: vi.fn(async (_id: string, path: string) => void files.delete(path)),
		checkText: vi.fn<Client['checkText']>(async () => RIGHT)
	};
}

/** The lines that are shown. */
function shownIn(code: Locator): string {
	return [...code.element().querySelectorAll('.cm-line')].map(({ textContent }) => textContent).join('\n');
}

async function setup(
	client = server(),
	file = 'SKILL.md',
	line: number | null = null,
	executionId: string | null = null,
	id = 'demo'
) {
	const editor = new SkillEditor(client, id);
	const frame = document.createElement('div');
	frame.style.cssText = 'display: grid; height: 600px; width: 1000px';
	document.body.append(frame);
	const onundoable = vi.fn<(done: string, undo: () => Promise<void>) => void>();
	const props = { client, editor, file, line, executionId, onchange: vi.fn(), onundoable };
	const screen = await render(SkillEditorPage, props, { baseElement: frame });
	await expect.element(screen.getByTestId('code-editor')).toBeVisible();
	return { screen, client, editor, onundoable, code: screen.getByTestId('code-editor') };
}

/** Also in the editor’s shadow root. */
function focused(): Element | null {
	return document.activeElement?.shadowRoot?.activeElement ?? document.activeElement;
}

beforeEach(async () => {
	localStorage.clear();
	sessionStorage.clear();
	await page.viewport(1280, 800);
});

describe('F1: the editor of a skill', () => {
	test('saves by button and by Ctrl+S, against the file as it was read', async () => {
		const { screen, client, code } = await setup();
		await expect.element(screen.getByTestId('save-file')).toBeDisabled();
		await code.fill('one\nthree\n');
		await expect.element(screen.getByTestId('editor-status')).toHaveTextContent('Unsaved changes');
		await userEvent.keyboard('{Control>}s{/Control}');
		await expect.element(screen.getByTestId('editor-status')).toHaveTextContent('Saved');
		expect(client.writeFile).toHaveBeenCalledExactlyOnceWith('demo', {
			path: 'SKILL.md',
			text: 'one\nthree\n',
			digest: 'of one\ntwo\n'
		});
		await code.fill('four');
		await screen.getByTestId('save-file').click();
		await expect.poll(() => client.files.get('SKILL.md')).toBe('four');
	});

	test('notices stand above its foot, where the problems are', async () => {
		const { screen } = await setup();
		await expect.element(screen.getByTestId('editor-tokens')).toBeVisible();
		const foot = screen.getByTestId('editor-tokens').element().closest('footer');
		const room = (): string => document.documentElement.style.getPropertyValue('--message-box');
		await expect.poll(() => room() === `${foot?.offsetHeight}px`).toBe(true);
	});

	test('F5: what was saved and other servers don’t have yet says so', async () => {
		const { screen, client, code } = await setup();
		const save = client.writeFile.getMockImplementation();
		client.writeFile.mockImplementation(async (id, asked) => ({ ...(await save!(id, asked)), hint: 'Here only.' }));
		await code.fill('one\nthree\n');
		await screen.getByTestId('save-file').click();
		await expect.element(screen.getByTestId('unkept')).toHaveTextContent('Here only.');
	});

	test('says what is wrong with the text as it is typed, where, and what can be put right', async () => {
		const client = server();
		const issue = { severity: 'error', field: 'name', message: 'is wrong', line: 2, fixId: 'name' } as const;
		const check: SkillCheck = { ...RIGHT, status: 'broken', issues: [issue], fixes: { name: 'one\nfixed\n' } };
		client.checkText.mockImplementation(async (_, text) => (/wrong|right/.test(text) ? check : RIGHT));
		const { screen, code } = await setup(client);
		await expect.element(screen.getByTestId('editor-check')).toMatchTextContent(/No problems found/);
		await code.fill('one\nwrong\n');
		await expect.element(screen.getByTestId('editor-check')).toHaveTextContent('1 error');
		expect(client.checkText).toHaveBeenLastCalledWith('demo', 'one\nwrong\n', expect.any(AbortSignal));
		await expect.poll(() => code.element().querySelector('.cm-lintRange-error')?.textContent).toBe('wrong');
		await screen.getByTestId('issue-line').click();
		expect(focused()).toBe(code.element());
		await userEvent.keyboard('{Shift>}{End}{/Shift}right');
		await expect.poll(() => shownIn(code)).toBe('one\nright\n');
		await screen.getByTestId('issue-fix').click();
		await expect.poll(() => shownIn(code)).toBe('one\nfixed\n');
		await expect.element(screen.getByTestId('editor-tokens')).toHaveTextContent('About 12 tokens of instructions');
	});

	test('shows both when somebody else was quicker: theirs is taken, or mine is written over it', async () => {
		const { screen, client, code } = await setup();
		await code.fill('mine');
		client.files.set('SKILL.md', 'theirs');
		await screen.getByTestId('save-file').click();
		await expect.element(screen.getByTestId('editor-conflict')).toMatchTextContent(/-theirs[^]*\+mine/);
		expect(client.files.get('SKILL.md')).toBe('theirs');
		await screen.getByTestId('take-theirs').click();
		await expect.poll(() => shownIn(code)).toBe('theirs');
		await code.fill('mine again');
		client.files.set('SKILL.md', 'theirs again');
		await screen.getByTestId('save-file').click();
		await screen.getByTestId('keep-mine').click();
		await expect.poll(() => client.files.get('SKILL.md')).toBe('mine again');
		await expect.element(screen.getByTestId('editor-conflict')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('editor-status')).toHaveTextContent('Saved');
	});

	test('F8: a file left with unsaved text keeps its mark and is run as it was typed; what is saved can be taken instead', async () => {
		const client = server();
		const { screen, code, editor } = await setup(client, 'scripts/x.sh');
		const mark = () => document.querySelector('nav [data-path="scripts/x.sh"]')?.textContent.includes('●');
		// The focus first: with it the editor takes its own selection, which may be later than that of filling it in.
		await code.click();
		await code.fill('echo typed\n');
		await expect.poll(mark).toBe(true);
		await screen.getByRole('button', { name: /SKILL\.md/ }).click();
		await expect.poll(() => shownIn(code)).toBe('one\ntwo\n');
		expect(mark()).toBe(true);
		expect(editor.isDirty).toBe(false);
		expect(editor.unsaved).toEqual([{ path: 'scripts/x.sh', text: 'echo typed\n' }]);
		client.files.set('scripts/x.sh', 'theirs');
		await screen.getByRole('button', { name: /x\.sh/ }).click();
		await screen.getByTestId('take-theirs').click();
		await expect.poll(mark).toBe(false);
		await expect.element(screen.getByTestId('restored-note')).not.toBeInTheDocument();
		expect(editor.unsaved).toEqual([]);
	});

	test('on a phone, beside a run, nothing covers the choice between two texts', async () => {
		const client = server();
		client.getSkill.mockResolvedValue(sampleDetail({ scripts: ['scripts/x.sh'], tools: [], trust: 'changed' }));
		const { screen, code } = await setup(client, 'scripts/x.sh');
		await page.viewport(390, 844);
		screen.container.style.cssText = 'display: flex; flex-direction: column; height: 600px; width: 390px';
		await screen.getByTestId('run-file').click();
		await expect.element(screen.getByTestId('run-panel')).toBeVisible();
		await code.fill('mine');
		client.files.set('scripts/x.sh', 'theirs\n'.repeat(12));
		await screen.getByTestId('save-file').click();
		// A click waits until nothing lies above the button.
		await screen.getByTestId('take-theirs').click();
		await expect.poll(() => shownIn(code)).toContain('theirs');
	});

	test('keeps what was typed and not saved, for the next time', async () => {
		const client = server();
		const first = await setup(client);
		await first.code.fill('half a thought');
		await first.screen.unmount();
		const { screen, code } = await setup(client);
		await expect.poll(() => shownIn(code)).toBe('half a thought');
		await expect.element(screen.getByTestId('restored-note')).toBeVisible();
		await screen.getByTestId('revert-file').click();
		await expect.poll(() => shownIn(code)).toBe('one\ntwo\n');
		expect(Object.keys(localStorage)).toEqual([]);
	});

	test('F8: what was typed is there by each of the skill’s addresses, once', async () => {
		const client = server();
		const first = await setup(client, 'scripts/x.sh', null, null, 'skills/demo@1.0.0');
		await first.code.fill('half a thought');
		await first.screen.unmount();
		const { code, editor } = await setup(client, 'scripts/x.sh');
		await expect.poll(() => shownIn(code)).toBe('half a thought');
		await code.fill('a whole one');
		expect(Object.values(localStorage)).toEqual([expect.stringContaining('a whole one')]);
		expect(editor.id).toBe('demo');
	});

	test('discarded changes come back with Undo', async () => {
		const { screen, code, onundoable } = await setup();
		await code.fill('an hour of work');
		await screen.getByTestId('revert-file').click();
		await expect.poll(() => shownIn(code)).toBe('one\ntwo\n');
		const [done, undo] = onundoable.mock.lastCall!;
		expect(done).toBe('Discarded your changes to “SKILL.md”');
		await undo();
		await expect.poll(() => shownIn(code)).toBe('an hour of work');
		await expect.element(screen.getByTestId('save-file')).toBeEnabled();
	});

	test('F1: a SKILL.md that was saved with an error says that chats can’t use it, and why', async () => {
		const client = server();
		const issue = { severity: 'error', field: '_', message: 'must start with ---', line: 1, fixId: null } as const;
		client.checkText.mockImplementation(async (_, text) =>
			text.startsWith('-\n') ? { ...RIGHT, status: 'broken', issues: [issue] } : RIGHT
		);
		client.getSkill.mockResolvedValue(sampleDetail({ trust: 'changed' }));
		const { screen, code } = await setup(client);
		await code.fill('-\nname: demo\n');
		await screen.getByTestId('save-file').click();
		await expect
			.element(screen.getByTestId('saved-broken'))
			.toHaveTextContent('Saved, but chats can’t use this skill until the error below is fixed.');
		// Which is told once; whether it may run is for later.
		expect(screen.container.textContent.split('must start with ---')).toHaveLength(2);
		await expect.element(screen.getByTestId('asks-again')).not.toBeInTheDocument();
		await code.fill('---\nname: demo\n');
		await screen.getByTestId('save-file').click();
		await expect.element(screen.getByTestId('editor-check')).toMatchTextContent(/No problems/);
		await expect.element(screen.getByTestId('saved-broken')).not.toBeInTheDocument();
	});

	test('F1: another name is told before it’s saved; one that breaks the rules is loud afterwards', async () => {
		const client = server();
		const issue = {
			severity: 'error',
			field: 'name',
			message: '“A B” must be lowercase',
			line: 1,
			fixId: null
		} as const;
		client.checkText.mockImplementation(async (_, text) =>
			text.startsWith('A B') ? { ...RIGHT, name: 'A-B', issues: [issue] } : RIGHT
		);
		const { screen, code } = await setup(client);
		await expect.element(screen.getByTestId('rename-note')).not.toBeInTheDocument();
		await code.fill('A B\n');
		await expect.element(screen.getByTestId('rename-note')).toMatchTextContent(/renames the skill.*stay with “demo”/);
		await screen.getByTestId('save-file').click();
		await expect
			.element(screen.getByTestId('saved-broken'))
			.toMatchTextContent(/^\s*Saved, but other programs may refuse this skill until the error below is fixed/);
	});

	test.each([
		['that is trusted loses it', false, / new address and has to be trusted again; where/],
		['that is trusted by its folder keeps that', true, / new address; where/]
	])('F1: with another name, a skill %s', async (_, isTrustedByPlace, words) => {
		const client = server();
		client.getSkill.mockResolvedValue(sampleDetail({ trust: 'trusted', isTrustedByPlace }));
		client.checkText.mockImplementation(async (_id, text) => (text === 'new' ? { ...RIGHT, name: 'new' } : RIGHT));
		const { screen, code } = await setup(client);
		await code.fill('new');
		await expect.element(screen.getByTestId('rename-note')).toMatchTextContent(words);
	});

	test('F8: what was typed on a version that others changed since is shown beside theirs, not written over it', async () => {
		const client = server();
		const first = await setup(client);
		await first.code.fill('half a thought');
		await first.screen.unmount();
		client.files.set('SKILL.md', 'theirs');
		const { screen, code } = await setup(client);
		await expect.element(screen.getByTestId('editor-conflict')).toMatchTextContent(/-theirs[^]*\+half a thought/);
		await screen.getByTestId('save-file').click();
		expect(client.files.get('SKILL.md')).toBe('theirs');
		await screen.getByTestId('revert-file').click();
		await expect.poll(() => shownIn(code)).toBe('theirs');
		await code.fill('theirs and mine');
		await screen.getByTestId('save-file').click();
		await expect.poll(() => client.files.get('SKILL.md')).toBe('theirs and mine');
	});

	test('F8: a script that can’t be read says where, until it can; another file has nothing of it', async () => {
		const files = { 'SKILL.md': 'one\n', 'scripts/x.mjs': 'const a = [1, 2;\nconst b = 3;\n' };
		const { screen } = await setup(server(files), 'scripts/x.mjs');
		const fault = screen.getByTestId('syntax-fault');
		await expect
			.element(fault)
			.toMatchTextContent(/^\s*Line 1: This isn’t valid JavaScript\. Check this line, near “;”\.\s*$/);
		await fault.getByRole('button', { name: 'Line 1' }).click();
		await userEvent.keyboard('{End}{Backspace}];');
		await expect.element(fault).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('no-fault')).toHaveTextContent('No problems found');
		await userEvent.keyboard('(');
		await expect.element(fault).toBeVisible();
		await screen.getByTestId('skill-file').first().getByRole('button').click();
		await expect.element(fault).not.toBeInTheDocument();
	});

	test('F8: in the front matter, fields that are missing are offered; not below it', async () => {
		const text = '---\nname: demo\n\n---\n\n';
		const { screen, code, client } = await setup(server({ 'SKILL.md': text }), 'SKILL.md', 3);
		await expect.poll(() => shownIn(code)).toContain('name: demo');
		const offered = () =>
			[...(code.element().closest('.cm-editor')?.querySelectorAll('.cm-completionLabel') ?? [])].map(
				({ textContent }) => textContent
			);
		await userEvent.keyboard('m');
		await expect.poll(offered).toContain('metadata');
		expect(offered()).not.toContain('name');
		await screen.getByRole('option', { name: /^metadata/ }).click();
		await expect.poll(() => shownIn(code)).toMatch(/\nmetadata:\n {2}\n---/);
		await userEvent.keyboard('ver');
		await expect.poll(offered).toContain('version');
		await userEvent.keyboard('{Escape}');
		await expect.poll(offered).toEqual([]);
		await userEvent.keyboard('{Control>}{End}{/Control}des');
		await expect.poll(() => shownIn(code)).toMatch(/\ndes$/);
		// The text is checked later than fields would be offered.
		await expect.poll(() => client.checkText.mock.lastCall?.[1]).toMatch(/\ndes$/);
		expect(offered()).toEqual([]);
	});

	test('F8: a line that is asked for is marked and in sight, until somebody types', async () => {
		const text = Array.from({ length: 300 }, (_, index) => `line ${index + 1}`).join('\n');
		const { code } = await setup(server({ 'SKILL.md': text }), 'SKILL.md', 250);
		const marked = () => code.element().querySelector('.cm-askedLine');
		await expect.poll(() => marked()?.textContent).toBe('line 250');
		const boxOf = (element: Element | null | undefined) => element?.getBoundingClientRect() ?? new DOMRect();
		const [line, place] = [boxOf(marked()), boxOf(code.element().closest('.cm-scroller'))];
		expect(line.top >= place.top && line.bottom <= place.bottom).toBe(true);
		await userEvent.keyboard('x');
		await expect.poll(() => shownIn(code)).toContain('xline 250');
		expect(marked()).toBeNull();
	});

	test('F8: what a run broke with stands below its line, until somebody types', async () => {
		const client = server({ 'SKILL.md': 'one\n', 'scripts/x.sh': 'one\ntwo\n' });
		const output = 'TypeError: x is no function\n    at f (file:///skill/scripts/x.sh:2:19)\n';
		const failed = { status: 'error', errorType: 'ExecutionFailed', exitCode: 1, output } as const;
		const ran = (digest: string) =>
			sampleExecution({ ...failed, errorMessage: 'x ended with exit code 1.', skillId: 'skills/demo', digest });
		client.getExecution.mockResolvedValue(ran(sampleDetail().digest));
		const { screen, code } = await setup(client, 'scripts/x.sh', 2, 'e1');
		const message = () => code.element().querySelector('.cm-askedMessage')?.textContent;
		await expect.poll(message).toBe('TypeError: x is no function');
		await expect.element(screen.getByText('3 lines')).toBeVisible();
		await userEvent.keyboard('x');
		await expect.poll(message).toBeUndefined();
	});

	test('F8: what a run broke with is not said of files that have changed since', async () => {
		const client = server({ 'SKILL.md': 'one\n', 'scripts/x.sh': 'one\ntwo\n' });
		const failed = { status: 'error', errorType: 'ExecutionFailed', exitCode: 1, output: 'TypeError: no\n' } as const;
		client.getExecution.mockResolvedValue(sampleExecution({ ...failed, skillId: 'skills/demo', digest: 'earlier' }));
		const { code } = await setup(client, 'scripts/x.sh', 2, 'e1');
		await expect.poll(() => code.element().querySelector('.cm-askedLine')?.textContent).toBe('two');
		expect(code.element().querySelector('.cm-askedMessage')).toBeNull();
	});

	test('lines of code wrap on request, prose always does', async () => {
		const { screen, code } = await setup(server(), 'scripts/x.sh');
		const isWrapped = () => code.element().classList.contains('cm-lineWrapping');
		const button = screen.getByTestId('wrap-lines');
		await expect.element(button).toHaveAttribute('aria-pressed', 'false');
		expect(isWrapped()).toBe(false);
		await button.click();
		await expect.poll(isWrapped).toBe(true);
		await screen.getByRole('button', { name: /SKILL\.md/ }).click();
		await expect.element(button).toHaveAttribute('aria-pressed', 'true');
		await expect.poll(isWrapped).toBe(true);
	});

	test('a file keeps its line ends', async () => {
		const { screen, client, code } = await setup(server(), 'scripts/x.sh');
		await expect.poll(() => shownIn(code)).toBe('echo\n');
		await code.fill('echo 1\necho 2\n');
		await screen.getByTestId('save-file').click();
		await expect.poll(() => client.files.get('scripts/x.sh')).toBe('echo 1\r\necho 2\r\n');
	});

	test('a save is undone, and done again', async () => {
		const { screen, client, code } = await setup();
		await expect.element(screen.getByTestId('undo-save')).not.toBeInTheDocument();
		await code.fill('one\nthree\n');
		await screen.getByTestId('save-file').click();
		await screen.getByTestId('undo-save').click();
		await expect.poll(() => client.files.get('SKILL.md')).toBe('one\ntwo\n');
		await expect.poll(() => shownIn(code)).toBe('one\ntwo\n');
		await expect.element(screen.getByTestId('editor-status')).toHaveTextContent('Undone');
		await expect.element(screen.getByTestId('undo-save')).toHaveTextContent('Redo');
		await screen.getByTestId('undo-save').click();
		await expect.poll(() => client.files.get('SKILL.md')).toBe('one\nthree\n');
		await expect.element(screen.getByTestId('editor-status')).toHaveTextContent('Saved');
		await expect.element(screen.getByTestId('undo-save')).toHaveTextContent('Undo save');
		// Text typed since then isn't thrown away.
		await code.fill('mine');
		await expect.element(screen.getByTestId('undo-save')).not.toBeInTheDocument();
	});

	test('files are chosen, made and removed, which can be undone; never the SKILL.md', async () => {
		const { screen, client, onundoable, code } = await setup();
		await expect.element(screen.getByTestId('file-menu')).not.toBeInTheDocument();
		await screen.getByTestId('new-file').first().click();
		await expect.element(screen.getByLabelText('File path').first()).toHaveFocus();
		await screen.getByLabelText('File path').first().fill('a?.md');
		await expect.element(screen.getByRole('alert').first()).toMatchTextContent(/path doesn’t work/);
		for (const outside of ['../x.js', '/x.js', 'a/../../x.js', 'C:\\x.js']) {
			await screen.getByLabelText('File path').first().fill(outside);
			await expect.element(screen.getByRole('alert').first()).toMatchTextContent(/must be inside the skill’s folder/);
		}
		await screen.getByLabelText('File path').first().fill('notes/');
		await expect.element(screen.getByRole('alert')).not.toBeInTheDocument();
		await screen.getByLabelText('File path').first().fill('notes.md');
		await userEvent.keyboard('{Enter}');
		await expect.poll(() => client.files.get('notes.md')).toBe('');
		await expect.poll(() => shownIn(code)).toBe('');
		await code.fill('a note');
		await screen.getByTestId('save-file').click();
		await expect.poll(() => client.files.get('notes.md')).toBe('a note');
		const remove = async () => {
			await screen.getByTestId('file-menu').click();
			await page.getByTestId('remove-file').click();
		};
		await code.fill('a better note');
		await remove();
		await expect.poll(() => client.files.has('notes.md')).toBe(false);
		await expect.poll(() => shownIn(code)).toBe('one\ntwo\n');
		expect(Object.keys(localStorage)).toEqual([]);
		const undo = () => onundoable.mock.lastCall?.[1]();
		await undo();
		await expect.poll(() => client.files.get('notes.md')).toBe('a note');
		await expect.poll(() => shownIn(code)).toBe('a better note');
		await expect.element(screen.getByTestId('save-file')).toBeEnabled();
		expect(Object.values(localStorage)).toEqual([expect.stringContaining('a better note')]);
		await remove();
		await expect.poll(() => client.files.has('notes.md')).toBe(false);
		client.files.set('notes.md', 'another by now');
		await expect(undo()).rejects.toThrow('It has changed.');
		expect(client.files.get('notes.md')).toBe('another by now');
	});

	test('a file is renamed with what was typed in it, which can be undone; names that don’t work say why', async () => {
		const { screen, client, onundoable, code, editor } = await setup(server(), 'scripts/x.sh');
		await code.fill('echo typed');
		await screen.getByTestId('file-menu').click();
		await page.getByTestId('rename-file').click();
		const field = screen.getByLabelText('New name');
		await expect.element(field).toHaveFocus();
		await userEvent.keyboard('SKILL');
		await expect.element(field).toHaveValue('scripts/SKILL.sh');
		await field.fill('SKILL.md');
		await expect.element(screen.getByRole('alert')).toHaveTextContent('A file with this name already exists.');
		await field.fill('../x.sh');
		await expect.element(screen.getByRole('alert')).toMatchTextContent(/must be inside the skill’s folder/);
		await field.fill('scripts/loud.sh');
		await screen.getByRole('button', { name: 'Rename' }).click();
		await expect.poll(() => editor.path).toBe('scripts/loud.sh');
		expect([...client.files.keys()]).toEqual(['SKILL.md', 'scripts/loud.sh']);
		await expect.poll(() => shownIn(code)).toBe('echo typed');
		await expect.element(screen.getByTestId('save-file')).toBeEnabled();
		await expect.element(screen.getByTestId('rename-file-form')).not.toBeInTheDocument();
		expect(Object.keys(localStorage)).toEqual([expect.stringMatching(/:scripts\/loud\.sh$/)]);
		expect(onundoable.mock.lastCall?.[0]).toBe('Renamed to “scripts/loud.sh”');
		await onundoable.mock.lastCall?.[1]();
		await expect.poll(() => shownIn(code)).toBe('echo typed');
		expect([...client.files.keys()]).toEqual(['SKILL.md', 'scripts/x.sh']);
		expect(editor.path).toBe('scripts/x.sh');
	});

	test('a file is renamed in the texts that name it, too; where it isn’t, they are told', async () => {
		const client = server();
		client.files.set('SKILL.md', 'Run scripts/x.sh. Or ./scripts/x.sh.\n');
		const { screen, onundoable } = await setup(client, 'scripts/x.sh');
		const rename = async (to: string) => {
			await screen.getByTestId('file-menu').click();
			await page.getByTestId('rename-file').click();
			await screen.getByLabelText('New name').fill(to);
		};
		await rename('scripts/y.sh');
		await expect.element(screen.getByTestId('rename-followed')).toHaveTextContent('Also in SKILL.md (2 places)');
		await screen.getByRole('button', { name: 'Rename' }).click();
		await expect.poll(() => onundoable.mock.lastCall?.[0]).toBe('Renamed to “scripts/y.sh”');
		const alsoIn = ['SKILL.md'];
		expect(client.renameFile).toHaveBeenLastCalledWith('demo', { path: 'scripts/x.sh', to: 'scripts/y.sh', alsoIn });
		await onundoable.mock.lastCall?.[1]();
		expect(client.renameFile).toHaveBeenLastCalledWith('demo', { path: 'scripts/y.sh', to: 'scripts/x.sh', alsoIn });
		await rename('scripts/z.sh');
		await screen.getByTestId('rename-followed').click();
		await screen.getByRole('button', { name: 'Rename' }).click();
		await expect
			.poll(() => onundoable.mock.lastCall?.[0])
			.toBe('Renamed to “scripts/z.sh”. SKILL.md still names scripts/x.sh');
		expect(client.renameFile).toHaveBeenLastCalledWith('demo', { path: 'scripts/x.sh', to: 'scripts/z.sh' });
	});

	test('the head speaks of what is shown, and the foot counts lines as the gutter does', async () => {
		const { screen, code, client } = await setup(server(), 'scripts/x.sh');
		await code.fill('echo 1');
		await screen.getByTestId('save-file').click();
		await expect.element(screen.getByTestId('editor-status')).toHaveTextContent('Saved');
		await screen.getByTestId('file-menu').click();
		await page.getByTestId('remove-file').click();
		await expect.poll(() => client.files.has('scripts/x.sh')).toBe(false);
		await expect.poll(() => shownIn(code)).toBe('one\ntwo\n');
		await expect.element(screen.getByTestId('editor-status')).not.toHaveTextContent('Saved');
		await expect.element(screen.getByText('3 lines')).toBeVisible();
	});

	test('on a phone the list closes once a file is chosen, and unsaved texts of others are named without it', async () => {
		await page.viewport(390, 800);
		const { screen, code, editor } = await setup();
		await code.fill('typed');
		const list = screen.getByText('Files: SKILL.md');
		const details = list.element().closest('details');
		await list.click();
		const file = screen.getByTestId('skill-file').last().getByRole('button');
		await file.click();
		await expect.poll(() => editor.path).toBe('scripts/x.sh');
		expect(details?.open).toBe(false);
		await expect.element(screen.getByTestId('unsaved-others')).toHaveTextContent('● Also unsaved: SKILL.md');
	});

	test('F16: evals begin as an example that is there once it is saved', async () => {
		const { screen, client, code } = await setup(server(), 'evals/evals.json');
		expect(JSON.parse(shownIn(code))).toMatchObject({ evals: [{}] });
		expect(client.files.has('evals/evals.json')).toBe(false);
		await expect.poll(() => document.querySelector('nav [data-path="evals/evals.json"]')).not.toBeNull();
		await screen.getByTestId('save-file').click();
		await expect.poll(() => client.files.get('evals/evals.json')).toContain('"evals"');
	});

	test('says where a skill comes from until that is dismissed, and one note at a time', async () => {
		const client = server();
		client.getSkill.mockResolvedValue(sampleDetail({ trust: 'changed', provider: 'zip', findings: [] }));
		const changed = await setup(client);
		await expect.element(changed.screen.getByTestId('asks-again')).toBeVisible();
		await expect.element(changed.screen.getByTestId('installed-note')).not.toBeInTheDocument();
		await changed.screen.unmount();
		client.getSkill.mockResolvedValue(sampleDetail({ trust: 'trusted', provider: 'zip' }));
		const { screen } = await setup(client);
		const note = screen.getByTestId('installed-note');
		await expect.element(note).toMatchTextContent(/comes from a zip file/);
		await note.getByRole('button', { name: 'Dismiss' }).click();
		await expect.element(note).not.toBeInTheDocument();
		await screen.unmount();
		const again = await setup(client);
		await expect.element(again.screen.getByTestId('run-file')).toBeVisible();
		await expect.element(again.screen.getByTestId('installed-note')).not.toBeInTheDocument();
	});

	test('F4: a change that scripts ask about again is trusted where it was made; with risks it is looked at first', async () => {
		const client = server();
		const changed = sampleDetail({ trust: 'changed', findings: [] });
		client.getSkill.mockResolvedValueOnce(changed).mockResolvedValueOnce(sampleDetail({ trust: 'trusted' }));
		const { screen, code } = await setup(client);
		await expect
			.element(screen.getByTestId('asks-again'))
			.toMatchTextContent(/changed since you trusted it, so its scripts ask before they run/);
		await screen.getByTestId('trust-change').click();
		expect(client.changeSkill).toHaveBeenCalledExactlyOnceWith('demo', {
			trust: { digest: changed.digest, isTrusted: true }
		});
		await expect.element(screen.getByTestId('asks-again')).not.toBeInTheDocument();
		const risk = { severity: 'danger', kind: 'x', message: 'Bad.', file: 'a', line: 1, excerpt: '' } as const;
		client.getSkill.mockResolvedValue(sampleDetail({ trust: 'changed', findings: [risk] }));
		await code.fill('other');
		await screen.getByTestId('save-file').click();
		await expect.element(screen.getByTestId('asks-again').getByRole('link')).toHaveTextContent('Review changes');
		await expect.element(screen.getByTestId('trust-change')).not.toBeInTheDocument();
	});

	test('F4: one place trusts a change, and the run that waited for it goes on', async () => {
		const client = server();
		const files = [{ path: 'scripts/x.sh', bytes: 5, text: 'echo\n' }];
		const changed = sampleDetail({ scripts: ['scripts/x.sh'], tools: [], trust: 'changed', findings: [], files });
		client.getSkill.mockResolvedValue(changed);
		const details = { error: 'NotTrusted', digest: 'd1', trust: 'changed' };
		const asks = new ApiError('forbidden', '“demo” wants to run scripts/x.sh. The files changed.', { details });
		client.runExecution.mockRejectedValueOnce(asks);
		client.runExecution.mockResolvedValue({ execution: sampleExecution({ output: 'it ran' }) });
		const { screen } = await setup(client, 'scripts/x.sh');
		await screen.getByTestId('run-file').click();
		await expect.element(screen.getByTestId('approval')).toBeVisible();
		// The text keeps the room that the tree had; its files are a click away.
		expect(screen.getByTestId('code-place').element().clientWidth).toBeGreaterThan(600);
		await expect.element(screen.getByText('Files: scripts/x.sh')).toBeVisible();
		expect(screen.getByText('Trust this change').elements()).toHaveLength(1);
		client.getSkill.mockResolvedValue({ ...changed, trust: 'trusted' });
		await screen.getByTestId('trust-change').click();
		await expect.element(screen.getByTestId('run-panel')).toMatchTextContent(/it ran/);
		await expect.element(screen.getByTestId('approval')).not.toBeInTheDocument();
		expect(client.runExecution).toHaveBeenCalledTimes(2);
		await expect.element(screen.getByTestId('run-file')).toHaveFocus();
	});

	test('F4: a question about a text goes once somebody types over it', async () => {
		const client = server();
		const files = [{ path: 'scripts/x.sh', bytes: 5, text: 'echo\n' }];
		client.getSkill.mockResolvedValue(sampleDetail({ scripts: ['scripts/x.sh'], tools: [], trust: 'changed', files }));
		const details = { error: 'NotTrusted', digest: 'd1', trust: 'changed' };
		client.runExecution.mockRejectedValue(new ApiError('forbidden', 'Asks.', { details }));
		const { screen, code } = await setup(client, 'scripts/x.sh');
		await screen.getByTestId('run-file').click();
		await expect.element(screen.getByTestId('approval')).toBeVisible();
		await code.fill('echo other\n');
		await expect.element(screen.getByTestId('approval')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('run-error')).not.toBeInTheDocument();
	});

	test('Tab indents, and after Escape leaves', async () => {
		const { code } = await setup();
		await code.click({ position: { x: 20, y: 20 } });
		await userEvent.keyboard('{Home}{Tab}');
		await expect.poll(() => shownIn(code)).toBe('  one\ntwo\n');
		await userEvent.keyboard('{Shift>}{Tab}{/Shift}');
		await expect.poll(() => shownIn(code)).toBe('one\ntwo\n');
		await userEvent.keyboard('{Escape}{Tab}');
		expect(focused()).not.toBe(code.element());
		expect(shownIn(code)).toBe('one\ntwo\n');
	});

	test('what is typed is run as it is, beside it; saved text is run as it is saved', async () => {
		const client = server();
		const text = 'echo "$@"\n';
		const files = [{ path: 'scripts/x.sh', bytes: text.length, text }];
		const detail = sampleDetail({ scripts: ['scripts/other.sh', 'scripts/x.sh'], tools: [], files });
		client.getSkill.mockResolvedValue(detail);
		const execution = sampleExecution({ output: 'it printed this' });
		client.runExecution.mockResolvedValue({ execution });
		const { screen, code } = await setup(client, 'scripts/x.sh');
		await code.fill('echo typed\n');
		await expect.element(screen.getByTestId('run-file')).toHaveTextContent('Run…');
		await userEvent.keyboard('{Control>}{Enter}{/Control}');
		await expect
			.element(screen.getByTestId('runs-unsaved'))
			.toMatchTextContent(/^Runs scripts\/x\.sh as written here\. Nothing is saved/);
		await screen.getByTestId('run-text').fill('one\ntwo');
		await code.click();
		await userEvent.keyboard('{Control>}{Enter}{/Control}');
		await expect.element(screen.getByTestId('run-panel')).toMatchTextContent(/it printed this/);
		const ran = { skillName: detail.id, script: 'scripts/x.sh', args: ['one', 'two'] };
		expect(client.runExecution).toHaveBeenCalledExactlyOnceWith(
			expect.objectContaining({ ...ran, files: [{ path: 'scripts/x.sh', text: 'echo typed\n' }] })
		);
		expect(client.writeFile).not.toHaveBeenCalled();
		await screen.getByTestId('save-file').click();
		await expect.element(screen.getByTestId('runs-unsaved')).not.toBeInTheDocument();
		await screen.getByTestId('run-button').click();
		await expect.poll(() => client.runExecution.mock.calls.length).toBe(2);
		expect(client.runExecution.mock.lastCall?.[0]).toMatchObject(ran);
		expect(client.runExecution.mock.lastCall?.[0]).not.toHaveProperty('files');
	});

	test('the run says what it runs and which unsaved texts go with it, and closes once nothing can run', async () => {
		const client = server();
		let scripts = ['scripts/x.sh'];
		client.getSkill.mockImplementation(async () =>
			sampleDetail({
				scripts,
				tools: [],
				files: [
					{ path: 'SKILL.md', bytes: 8, text: 'one\ntwo\n' },
					...scripts.map((path) => ({ path, bytes: 5, text: 'echo "$@"\n' }))
				]
			})
		);
		const { screen, code, editor } = await setup(client, 'SKILL.md');
		await code.fill('one\nthree\n');
		await screen.getByTestId('run-file').click();
		await expect
			.element(screen.getByTestId('runs-unsaved'))
			.toMatchTextContent(/^Runs scripts\/x\.sh, with the unsaved text of SKILL\.md\. Nothing is saved/);
		await editor.open('scripts/x.sh');
		scripts = [];
		await screen.getByTestId('file-menu').click();
		await page.getByTestId('remove-file').click();
		await expect.element(screen.getByTestId('run-panel')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('run-file')).not.toBeInTheDocument();
	});

	test('a script with nothing to fill in runs at once, and again', async () => {
		const client = server();
		const text = 'echo hello\n';
		client.getSkill.mockResolvedValue(
			sampleDetail({
				scripts: ['scripts/x.sh'],
				tools: [],
				files: [{ path: 'scripts/x.sh', bytes: text.length, text }]
			})
		);
		client.runExecution.mockResolvedValue({ execution: sampleExecution({ output: 'hello' }) });
		const { screen } = await setup(client, 'scripts/x.sh');
		await expect.element(screen.getByTestId('run-file')).toHaveTextContent('Run');
		await screen.getByTestId('run-file').click();
		await expect.element(screen.getByTestId('execution')).toMatchTextContent(/hello/);
		await screen.getByTestId('run-file').click();
		await expect.poll(() => client.runExecution.mock.calls.length).toBe(2);
	});

	test('a run that led here is run again as it was, with the files that it had', async () => {
		const client = server();
		client.getSkill.mockResolvedValue(sampleDetail({ scripts: ['scripts/other.sh', 'scripts/x.sh'], tools: [] }));
		const ran = sampleExecution({ argv: ['a.csv', 'b'], conversationId: 'run-7', sessionId: 'run-7' });
		client.getExecution.mockResolvedValue(ran);
		client.runExecution.mockResolvedValue({ execution: ran });
		const { screen } = await setup(client, 'scripts/x.sh', 1, ran.id);
		await expect.element(screen.getByTestId('run-file')).toHaveTextContent('Run');
		await screen.getByTestId('run-file').click();
		await expect.element(screen.getByTestId('execution')).toBeVisible();
		expect(client.runExecution).toHaveBeenCalledExactlyOnceWith(
			expect.objectContaining({ script: 'scripts/x.sh', args: ['a.csv', 'b'], conversationId: 'run-7' })
		);
	});

	test('a file that may not be written is read only', async () => {
		const client = server();
		const read = client.readFile.getMockImplementation()!;
		client.readFile.mockImplementation(async (id, path) => ({ ...(await read(id, path)), isWritable: false }));
		const { screen, code } = await setup(client);
		await expect.element(screen.getByTestId('read-only-note')).toBeVisible();
		await expect.element(code).toHaveAttribute('aria-readonly', 'true');
	});
});
