import { beforeEach, describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page, userEvent } from 'vitest/browser';
import ChatPage from '../../../../tests/support/ChatPage.svelte';
import { createFakeAccount } from '../../../../tests/support/fake-account.ts';
import { createFakeClient, type FakeClient } from '../../../../tests/support/fake-client.ts';
import { createFakeConversations } from '../../../../tests/support/fake-conversations.ts';
import { createFakeServices } from '../../../../tests/support/fake-services.ts';
import { sampleList, sampleSummary } from '../../../../tests/support/sample-skills.ts';
import '../../../app.css';
import { ChatApp } from '../app/app.svelte.ts';
import { ChatSession } from './session.svelte.ts';
import { ApiError } from '../request.ts';
import { keepDraft, startWith } from './start-with.ts';
import type { Health } from '../../shared/api.ts';
import type { RunEvent } from '../../shared/events.ts';
import { emptyAnswer, type Message, type Part } from '../../shared/message.ts';

const skills = [
	sampleSummary({
		...{ id: 'data-analysis', name: 'data-analysis', description: 'Analyses tables. More.', trust: 'trusted' },
		example: { title: 'Chart revenue by region', prompt: 'Chart revenue by region', files: ['sales.csv'] }
	}),
	sampleSummary({ id: 'count-words', name: 'count-words', description: 'Counts the words of a text.' }),
	sampleSummary({ id: 'weather', name: 'weather', description: 'Tells the weather of a place.' }),
	sampleSummary({ id: 'deploy', name: 'deploy', description: 'Puts a site on the web.' }),
	sampleSummary({ id: 'quiet', name: 'quiet', mode: 'off' })
];
let client: FakeClient;
let app: ChatApp;
let session: ChatSession;
let went: string[];

beforeEach(async () => {
	localStorage.clear();
	sessionStorage.clear();
	went = [];
	client = createFakeClient();
	client.listSkills = async (number, limit) => sampleList(skills, { page: number, limit });
	const go = (path: string): void => void went.push(path);
	app = new ChatApp(client, createFakeAccount(), { conversations: createFakeConversations(), go });
	await app.library.refresh();
	session = new ChatSession('c', client, app.conversations, createFakeServices());
	app.health = health(false);
});

function health(offline: boolean): Health {
	return {
		...{ status: 'ok', version: '1', database: 'sqlite', login: false, skills: { ready: 4, broken: 0 } },
		model: { id: 'test/model', offline, baseUrl: null },
		sandbox: {
			...{ name: 'process', running: 0, waiting: 0, longestWaitMs: 0 },
			isolation: { files: true, network: true, processes: true, limits: true }
		}
	};
}

const setup = async () => {
	const screen = await render(ChatPage, { app, session });
	return { screen, input: screen.getByTestId('composer-input') };
};

async function command(written: string): Promise<void> {
	await page.getByTestId('composer-input').fill(written);
	await userEvent.keyboard('{Enter}');
}

describe('before the first message', () => {
	test('one click on an example sends it with its files; the examples go while something is written', async () => {
		client.putExample = async () => ({
			prompt: 'Chart revenue by region',
			files: [{ path: 'sales.csv', bytes: 5, modifiedAt: '2026-01-01T00:00:00.000Z' }]
		});
		const { screen, input } = await setup();
		const example = screen.getByTestId('example');
		await expect.element(example.first()).toMatchTextContent('Chart revenue by region with sales.csv');
		expect(example.elements()).toHaveLength(1);
		const top = input.element().getBoundingClientRect().top;
		await input.fill('x');
		await expect.element(example).toBeVisible();
		await input.fill('xy');
		await expect.element(example).not.toBeInTheDocument();
		expect(input.element().getBoundingClientRect().top).toBe(top);
		await input.fill('');
		await example.click();
		await expect.poll(() => client.started).toHaveLength(1);
		expect(JSON.stringify(client.started[0])).toContain('Chart revenue by region');
		expect(JSON.stringify(client.started[0])).toContain('sales.csv');
		await expect.element(input).toHaveValue('');
	});

	test('all skills are counted as in the sidebar, also those that are off or broken', async () => {
		app.library.skills = [sampleSummary(), sampleSummary({ id: 'mine/torn', name: 'torn', status: 'broken' })];
		const { screen } = await setup();
		await expect.element(screen.getByRole('link', { name: 'See all 2 skills' })).toBeVisible();
	});

	test('a quiet line below the examples opens the picker for a file of one’s own', async () => {
		const { screen } = await setup();
		const picked = vi.spyOn(HTMLInputElement.prototype, 'click');
		await screen.getByTestId('own-file').click();
		expect(picked.mock.contexts).toEqual([expect.objectContaining({ type: 'file' })]);
		picked.mockRestore();
	});

	test('with a file and no words, what can be asked of any file takes the place of the examples, and a click sends it', async () => {
		const { screen, input } = await setup();
		session.draft.mention('spend.csv', 5);
		const wish = screen.getByTestId('file-wish');
		await expect.element(wish.first()).toMatchTextContent('Summarise this file');
		await expect.element(screen.getByTestId('example')).not.toBeInTheDocument();
		await input.fill('x');
		await expect.element(wish).not.toBeInTheDocument();
		await input.fill('');
		session.draft.mention('more.csv', 5);
		await screen.getByRole('button', { name: 'What is in these files?' }).click();
		await expect.poll(() => client.started).toHaveLength(1);
		expect(JSON.stringify(client.started[0])).toContain('What is in these files?');
		expect(JSON.stringify(client.started[0])).toContain('spend.csv');
		await expect.element(input).toHaveValue('');
	});

	test('Demo mode, which can look into few files, is asked for a summary of tables, and else what it can do', async () => {
		app.health = health(true);
		const { screen } = await setup();
		const wish = screen.getByTestId('file-wish');
		session.draft.mention('spend.csv', 5);
		await expect.element(wish.first()).toMatchTextContent('Summarise this file');
		session.draft.mention('notes.txt', 5);
		await expect.element(wish).toMatchTextContent('What can you do with these files?');
		await wish.click();
		await expect.poll(() => client.started).toHaveLength(1);
	});

	test('while a file is on its way nothing is offered that a click could not send', async () => {
		const { screen } = await setup();
		session.draft.attach([{ path: 'spend.csv', file: new File(['a,b'], 'spend.csv') }], []);
		await expect.element(screen.getByTestId('attachment')).toBeVisible();
		expect(screen.getByTestId('file-wish').elements()).toEqual([]);
		client.uploads[0]!.finish();
		await screen.getByTestId('file-wish').first().click();
		await expect.poll(() => client.started).toHaveLength(1);
	});

	test('F7: an example can be changed before it is sent', async () => {
		client.putExample = async () => ({ prompt: 'Chart revenue by region', files: [] });
		const { screen, input } = await setup();
		await screen.getByRole('button', { name: 'Edit first: Chart revenue by region' }).click();
		await expect.element(input).toHaveValue('Chart revenue by region');
		await expect.element(input).toHaveFocus();
		expect(client.started).toEqual([]);
	});

	test('what is typed while an example is fetched stays, and nothing is sent', async () => {
		const fetched = Promise.withResolvers<Awaited<ReturnType<FakeClient['putExample']>>>();
		client.putExample = () => fetched.promise;
		const { screen, input } = await setup();
		await screen.getByTestId('example').click();
		await input.fill('my own words');
		fetched.resolve({ prompt: 'Chart revenue by region', files: [] });
		await expect.element(input).toHaveValue('my own words');
		await input.fill('');
		await expect.element(screen.getByTestId('example')).toBeEnabled();
		expect(client.started).toEqual([]);
	});

	test('F7: beside a pinned skill only its own example stands, so that none takes the pin with it', async () => {
		const { screen } = await setup();
		const example = screen.getByTestId('example');
		await expect.element(example).toMatchTextContent('Chart revenue by region');
		await session.skills.pinByName('weather');
		await expect.element(example).not.toBeInTheDocument();
		await session.skills.pinByName('data-analysis');
		await expect.element(example).toMatchTextContent('Chart revenue by region');
		await session.skills.unpin('weather');
		await session.skills.unpin('data-analysis');
		await expect.element(example).toBeVisible();
	});

	test('F7: beside a pinned skill without an example stands what it does', async () => {
		const { screen } = await setup();
		const lead = screen.getByTestId('chat-lead');
		await expect.element(lead).toMatchTextContent(/A skill is a folder/);
		await session.skills.pinByName('weather');
		await expect.element(lead).toHaveTextContent('weather: Tells the weather of a place.');
		await session.skills.pinByName('data-analysis');
		await expect.element(lead).toMatchTextContent(/A skill is a folder/);
	});

	test('an example that cannot be had says why, and nothing is sent', async () => {
		client.putExample = () => Promise.reject(new ApiError('storage_full', 'The disk is full.'));
		const { screen } = await setup();
		await screen.getByTestId('example').click();
		await expect.element(screen.getByTestId('send-error')).toMatchTextContent('The disk is full.');
		expect(client.started).toEqual([]);
		await expect.element(screen.getByTestId('example')).toBeEnabled();
	});

	test('demo mode is said once, with the ways out of it; who has read it closes it for good', async () => {
		app.health = health(true);
		const { screen, input } = await setup();
		await expect.element(screen.getByTestId('demo-banner')).toMatchTextContent(/^Demo mode\. Simple rules answer/);
		await screen.getByTestId('connect-a-model').click();
		await expect.element(screen.getByTestId('connect-model')).toBeVisible();
		await screen.getByTestId('connect-model').getByRole('button', { name: 'Close' }).click();
		await input.fill('hello');
		await expect.element(screen.getByTestId('send')).toBeEnabled();
		await screen.getByRole('button', { name: 'Dismiss' }).click();
		await expect.element(screen.getByTestId('demo-banner')).not.toBeInTheDocument();
		await screen.unmount();
		const again = await setup();
		await expect.element(again.input).toBeVisible();
		await expect.element(again.screen.getByTestId('demo-banner')).not.toBeInTheDocument();
	});

	test('a model whose last test failed is said, with the way to the connection', async () => {
		app.health = health(false);
		app.account.works = false;
		const { screen } = await setup();
		await expect.element(screen.getByTestId('demo-banner')).toMatchTextContent(/^The model server isn’t responding/);
		app.account.works = true;
		await expect.element(screen.getByTestId('demo-banner')).not.toBeInTheDocument();
	});

	test('a failed test of the model is remembered at a reload, until one succeeds', async () => {
		app.account.works = false;
		const account = createFakeAccount();
		const again = () => new ChatApp(client, account, { conversations: createFakeConversations() });
		app = again();
		app.health = health(false);
		const { screen } = await setup();
		await app.account.recheck();
		await expect.element(screen.getByTestId('demo-banner')).toMatchTextContent(/^The model server isn’t responding/);
		account.checkKey.mockResolvedValueOnce({ isValid: true } as never);
		await app.account.recheck();
		await expect.element(screen.getByTestId('demo-banner')).not.toBeInTheDocument();
		expect(again().account.works).toBeNull();
	});

	test('the menu of models leads to the same dialog, and back', async () => {
		app.health = health(true);
		const { screen } = await setup();
		const chip = screen.getByTestId('model-chip');
		await chip.click();
		await screen.getByTestId('add-key').click();
		await expect.element(screen.getByTestId('model-panel')).not.toBeInTheDocument();
		await screen.getByTestId('connect-model').getByRole('button', { name: 'Close' }).click();
		await expect.element(screen.getByTestId('connect-model')).not.toBeInTheDocument();
		await expect.element(chip).toHaveFocus();
	});

	test('the box is in the middle, and at the bottom after it', async () => {
		const { screen, input } = await setup();
		const middle = screen.getByTestId('composer').element().getBoundingClientRect();
		expect(middle.top).toBeGreaterThan(innerHeight * 0.2);
		expect(middle.bottom).toBeLessThan(innerHeight * 0.75);
		await input.fill('hello');
		await userEvent.keyboard('{Enter}');
		await expect
			.poll(() => screen.getByTestId('composer').element().getBoundingClientRect().bottom)
			.toBeGreaterThan(innerHeight - 4);
		await expect.element(input).toHaveFocus();
	});

	test('F7: an address begins it with a skill and a text; what was written stays', async () => {
		session.draft.text = 'mine';
		await startWith(app, session, new URLSearchParams('skill=weather&skill=quiet&q=of+Rome'));
		expect(session.skills.pins).toEqual(['weather']);
		expect(session.draft.text).toBe('mine\n\nof Rome');
		expect(app.toasts.list.map(({ text }) => text)).toEqual([
			'Skill “quiet” isn’t available. It may be off or removed.'
		]);
		expect(client.started).toEqual([]);
	});

	test('F7: a skill that is tried takes the place of the one tried before; what somebody wrote keeps its skills', async () => {
		await startWith(app, session, new URLSearchParams('skill=weather'));
		await startWith(app, session, new URLSearchParams('skill=count-words'));
		expect(session.skills.pins).toEqual(['count-words']);
		session.draft.text = 'mine';
		await startWith(app, session, new URLSearchParams('skill=weather'));
		expect(session.skills.pins).toEqual(['count-words', 'weather']);
	});

	test('F7: a skill that is tried begins a new chat of its own where something was written; that draft is the next one', async () => {
		app.openNew();
		const first = app.session!;
		await startWith(app, first, new URLSearchParams('skill=weather'));
		first.draft.text = 'mine';
		keepDraft(app, first, new URLSearchParams('skill=count-words'));
		const second = app.session!;
		expect(second.id).not.toBe(first.id);
		await startWith(app, second, new URLSearchParams('skill=count-words'));
		expect([second.draft.text, second.skills.pins]).toEqual(['', ['count-words']]);
		// A tried skill alone is no draft of somebody.
		keepDraft(app, second, new URLSearchParams('skill=weather'));
		expect(app.session).toBe(second);

		await app.toasts.list[0]?.action?.run();
		expect(app.session?.id).toBe(first.id);
		expect([app.session?.draft.text, app.session?.skills.pins]).toEqual(['mine', ['weather']]);

		keepDraft(app, app.session!, new URLSearchParams('q=other'));
		const third = app.session!;
		app.begin(third.id);
		app.open('some-chat');
		app.openNew();
		expect([app.session?.id, app.session?.draft.text]).toEqual([first.id, 'mine']);
	});

	test('F7: what an address filled in and nobody changed is gone with the next new chat, without a word; what was changed stays', async () => {
		app.openNew();
		const first = app.session!;
		await startWith(app, first, new URLSearchParams('skill=weather&q=in+Rome'));
		expect([first.draft.text, first.skills.pins]).toEqual(['in Rome', ['weather']]);
		keepDraft(app, first, new URLSearchParams('q=other'));
		expect([app.session, first.draft.text, first.skills.pins]).toEqual([first, '', []]);
		expect(app.toasts.list).toEqual([]);

		await startWith(app, first, new URLSearchParams('skill=weather&q=in+Rome'));
		app.openNew();
		expect([first.draft.text, first.skills.pins]).toEqual(['', []]);

		await startWith(app, first, new URLSearchParams('skill=weather&q=in+Rome'));
		app.open('some-chat');
		app.openNew();
		expect([app.session?.draft.text, app.session?.skills.pins]).toEqual(['', []]);

		const { draft } = app.session!;
		await startWith(app, app.session!, new URLSearchParams('skill=weather&q=in+Rome'));
		draft.text = 'in Paris';
		app.openNew();
		expect([draft.text, app.session?.skills.pins]).toEqual(['in Paris', ['weather']]);
	});

	test('F7: a skill installed a moment ago is pinned before the list has it, and no error says otherwise', async () => {
		const { skills } = app.library;
		app.library.skills = [];
		app.library.refresh = async () => {
			expect(session.skills.pins).toEqual(['weather']);
			app.library.skills = skills;
		};
		await startWith(app, session, new URLSearchParams('skill=weather'));
		expect(session.skills.pins).toEqual(['weather']);
		expect(app.toasts.list).toEqual([]);
	});
});

describe('F7: commands', () => {
	test('lead to pages and dialogs, and leave the text alone', async () => {
		await setup();
		await command('/new');
		await command('/skills');
		expect(went).toEqual(['/', '/skills']);
		await command('/help');
		expect(app.overlay).toBe('shortcuts');
		expect(client.started).toEqual([]);
	});

	test('/model opens the list of models', async () => {
		const { screen } = await setup();
		await command('/model');
		await expect.element(screen.getByTestId('model-panel')).toBeVisible();
	});

	test('/clear empties the box, and can be undone', async () => {
		const { input } = await setup();
		await command('many words\n/clear');
		await expect.element(input).toHaveValue('');
		const [toast] = app.toasts.list;
		await toast?.action?.run();
		await expect.element(input).toHaveValue('many words');
	});

	test('/stop is there while an answer is written, /rename and /export once there is something to name', async () => {
		const { screen, input } = await setup();
		const names = () =>
			screen
				.getByTestId('completion')
				.elements()
				.map((row) => row.textContent?.trim().split(' ')[0]);
		await input.fill('/');
		expect(names().slice(0, 6)).toEqual(['/new', '/model', '/instructions', '/skills', '/clear', '/help']);
		await input.fill('hello');
		await userEvent.keyboard('{Enter}');
		await expect.element(screen.getByTestId('stop')).toBeVisible();
		await input.fill('/');
		expect(names().slice(0, 10)).toEqual([
			'/stop',
			'/new',
			'/model',
			'/instructions',
			'/skills',
			'/rename',
			'/save-skill',
			'/export',
			'/export-json',
			'/clear'
		]);
		await command('/stop');
		expect(client.stopped).toEqual([client.started[0]?.runId]);
	});
});

describe('a file', () => {
	const FILE = { path: 'a.txt', bytes: 1, modifiedAt: '2026-01-01T00:00:00.000Z', versions: [] };
	const undo = () => app.toasts.list.at(-1)?.action?.run();

	test('removed from the message comes back by “Undo”, by its button and by Backspace', async () => {
		session.draft.mention('a.txt', 1);
		const { screen, input } = await setup();
		await screen.getByRole('button', { name: 'Remove a.txt' }).click();
		await expect.element(input).toHaveFocus();
		expect(app.toasts.list.map(({ text }) => text)).toEqual(['Removed “a.txt” from your message']);
		await undo();
		await expect.element(screen.getByTestId('attachment')).toMatchTextContent(/a\.txt/);
		await input.click();
		await userEvent.keyboard('{Backspace}');
		await expect.element(screen.getByTestId('attachment')).not.toBeInTheDocument();
		await undo();
		await expect.element(screen.getByTestId('attachment')).toBeVisible();
	});

	test('deleted from the chat leaves the message, too, and comes back by “Undo”', async () => {
		const calls: string[] = [];
		let files = [FILE];
		client.listFiles = async () => files;
		client.deleteFile = async (_id, path) => {
			calls.push(`delete ${path}`);
			files = [];
		};
		client.restoreFile = async (_id, path) => {
			calls.push(`restore ${path}`);
			files = [FILE];
			return FILE;
		};
		session.draft.mention('a.txt', 1);
		await app.actions.removeFile(session, 'a.txt');
		expect([session.files.list, session.draft.attachments]).toEqual([[], []]);
		expect(app.toasts.list.map(({ text }) => text)).toEqual(['Deleted “a.txt”']);
		await undo();
		expect([session.files.list, session.draft.attachments.map(({ path }) => path)]).toEqual([[FILE], ['a.txt']]);
		expect(calls).toEqual(['delete a.txt', 'restore a.txt']);
		client.deleteFile = () => Promise.reject(new ApiError('unreachable', 'Can’t reach the server.'));
		await app.actions.removeFile(session, 'a.txt');
		expect(session.draft.attachments).toHaveLength(1);
		expect(app.toasts.list.at(-1)).toMatchObject({ isError: true, text: 'Can’t reach the server.' });
	});
});

describe('Escape', () => {
	const RUNNING: RunEvent[] = [
		{ type: 'RUN_STARTED', threadId: 'c', runId: 'r' },
		{ type: 'STEP_STARTED', stepName: 'step' },
		{ type: 'TOOL_CALL_START', toolCallId: 't', toolCallName: 'use_skill' },
		{ type: 'TOOL_CALL_ARGS', toolCallId: 't', delta: '{}' },
		{ type: 'TOOL_CALL_END', toolCallId: 't' },
		{ type: 'STEP_FINISHED', stepName: 'step' },
		{
			type: 'CUSTOM',
			name: 'skill.started',
			value: { toolCallId: 't', skill: 's', script: 'x.sh', args: [], sandbox: 'process' }
		}
	];
	const start = async () => {
		const { screen, input } = await setup();
		await input.fill('go');
		await userEvent.keyboard('{Enter}');
		await expect.element(screen.getByTestId('stop')).toBeVisible();
		await expect.poll(() => client.sources).toHaveLength(1);
		return { screen, input };
	};

	test('stops the answer, and what is being written stays', async () => {
		const { input } = await start();
		await input.fill('the next thing');
		await userEvent.keyboard('{Escape}');
		expect(client.stopped).toHaveLength(1);
		await expect.element(input).toHaveValue('the next thing');
	});

	test('on the edge of an open file closes the files, and the answer goes on', async () => {
		await page.viewport(1280, 800);
		const { screen, input } = await start();
		session.files.open('a.txt');
		const edge = screen.getByRole('separator', { name: 'Width of the chat' });
		await expect.element(edge).toBeVisible();
		await edge.element().focus();
		await userEvent.keyboard('{Escape}');
		await expect.element(edge).not.toBeInTheDocument();
		expect(client.stopped).toEqual([]);
		await expect.element(input).toHaveFocus();
	});

	test('asks once more while a script runs', async () => {
		const { screen } = await start();
		client.sources[0]?.send(RUNNING);
		await expect.poll(() => session.entries[1]?.message.parts[0]).toMatchObject({ status: 'running' });
		await userEvent.keyboard('{Escape}');
		await expect.element(screen.getByTestId('stop-note')).toMatchTextContent(/Press Esc again to stop/);
		expect(client.stopped).toEqual([]);
		await userEvent.keyboard('{Escape}');
		expect(client.stopped).toHaveLength(1);
		await expect.element(screen.getByTestId('stop-note')).not.toBeInTheDocument();
	});
});

describe('what waits for the reader, and what went wrong', () => {
	const time = '2026-01-01T00:00:00.000Z';
	const call = { type: 'tool', name: 'use_skill', arguments: '{}' } as const;
	const script = { skill: 'demo', script: 'x.sh', args: [] };
	const approvalOf = (id: string) => ({ ...script, interruptId: id, reason: 'It wants to run.', digest: 'd' });
	const load = async (parts: Part[], status: Message['status']) => {
		const asked: Part[] = [{ type: 'text', id: 'q-text', text: 'Summarise it' }];
		const question: Message = {
			...emptyAnswer('q', '', '', null),
			...{ role: 'user', runId: null, status: 'complete', parts: asked }
		};
		client.conversation = {
			...{ id: 'c', title: 'Stored', createdAt: time, updatedAt: time, activeRunId: null, cursor: 0 },
			...{ messages: [question, { ...emptyAnswer('a', 'r', time, 'q'), status, parts }], hasEarlier: false },
			...{ alternatives: {}, queue: [], usage: null, model: null, effort: null },
			...{ isPinned: false, isArchived: false, isUnread: false, isWaiting: status === 'waiting' }
		};
		await session.load();
		return setup();
	};

	test.each([
		[true, 0],
		[false, 1]
	])('the model is asked to fix a step only where there is one (demo mode: %s)', async (isDemo, count) => {
		app.health = health(isDemo);
		const execution = { ...script, sandbox: 'process', output: [], files: [], exitCode: 1, durationMs: 5 };
		const { screen } = await load([{ ...call, id: 't', status: 'failed', result: 'no', execution }], 'complete');
		await expect.element(screen.getByTestId('step-help')).toBeVisible();
		expect(screen.getByTestId('ask-to-fix').elements()).toHaveLength(count);
	});

	test('where a file can’t be used, another one is chosen for the same message', async () => {
		const output = [{ stream: 'stderr' as const, text: 'a.csv is empty.\n' }];
		const said = { error: 'ExecutionFailed', message: 'x.sh ended with exit code 1.', exitCode: 1 };
		const execution = { ...script, ...said, args: ['a.csv'], sandbox: 'process', output, files: [] };
		const { screen, input } = await load([{ ...call, id: 't', status: 'failed', result: 'no', execution }], 'complete');
		const picked = vi.spyOn(screen.getByTestId('file-input').element() as HTMLInputElement, 'click').mockReturnValue();
		await screen.getByTestId('attach-other').click();
		expect(picked).toHaveBeenCalledOnce();
		await expect.element(input).toHaveValue('Summarise it');
	});

	test.each(['approve-once', 'deny'])(
		'after %s the focus goes to the next question, then to the box',
		async (choice) => {
			const { screen, input } = await load(
				['one', 'two'].map((id) => ({ ...call, id, status: 'waiting', approval: approvalOf(id) })),
				'waiting'
			);
			await expect.poll(() => screen.getByTestId('approval').elements()).toHaveLength(2);
			await screen.getByTestId(choice).first().click();
			await expect.poll(() => screen.getByTestId('approval').elements()).toHaveLength(1);
			await expect.element(screen.getByTestId('approval')).toHaveFocus();
			await screen.getByTestId(choice).click();
			await expect.element(screen.getByTestId('approval')).not.toBeInTheDocument();
			await expect.element(input).toHaveFocus();
		}
	);
});

test('instructions of a new chat are kept over a reload, go with its first message, and are taken from no other chat', async () => {
	const { screen, input } = await setup();
	await screen.getByTestId('add').click();
	await page.getByRole('menuitem', { name: 'Chat instructions' }).click();
	const field = page.getByTestId('instructions');
	await field.fill('x'.repeat(8001));
	await expect.element(page.getByTestId('save-instructions')).toBeDisabled();
	await expect.element(page.getByTestId('instructions-problem')).toMatchTextContent(/At most 8,000 .* 8,001/);
	await field.fill('Answer in verse.');
	await page.getByTestId('save-instructions').click();
	await expect.element(screen.getByTestId('open-instructions')).toBeVisible();
	const reloaded = (id: string) => new ChatSession(id, client, app.conversations, createFakeServices());
	expect(reloaded('c').choices.instructions).toBe('Answer in verse.');
	expect(reloaded('d').choices.instructions).toBe('');
	await input.fill('hello');
	await userEvent.keyboard('{Enter}');
	await expect.poll(() => client.started[0]?.forwardedProps).toEqual({ instructions: 'Answer in verse.' });
});

describe('web tools', () => {
	test('are switches of the menu, reached by keys, where the server is OpenRouter; a new chat begins as the one before', async () => {
		app.health = {
			...health(false),
			model: { id: 'test/model', offline: false, baseUrl: 'https://openrouter.ai/api/v1' }
		};
		const { screen, input } = await setup();
		await expect.element(screen.getByTestId('web-off')).not.toBeInTheDocument();
		screen.getByTestId('add').element().focus();
		await userEvent.keyboard('{Enter}');
		const item = (name: string) => page.getByRole('menuitemcheckbox', { name });
		await expect.element(item('Web search')).toHaveAttribute('aria-checked', 'false');
		await userEvent.keyboard('{End}{ArrowUp}{ArrowUp}{Enter}');
		await expect.element(item('Web search')).toHaveAttribute('aria-checked', 'true');
		await item('Date and time').click();
		await userEvent.keyboard('{Escape}');
		const off = screen.getByRole('button', { name: 'Turn off web tools (web search, date and time)' });
		await expect.element(off).toBeVisible();
		expect(new ChatSession('d', client, app.conversations, createFakeServices()).choices.web).toEqual([
			'search',
			'date'
		]);
		await input.fill('hello');
		await userEvent.keyboard('{Enter}');
		await expect.poll(() => client.started[0]?.forwardedProps).toEqual({ web: ['search', 'date'] });
		await off.click();
		await expect.element(off).not.toBeInTheDocument();
	});

	test('are not in the menu with another server', async () => {
		const { screen } = await setup();
		await screen.getByTestId('add').click();
		await expect.element(page.getByRole('menuitem', { name: 'Attach files' })).toBeVisible();
		expect(page.getByRole('menuitemcheckbox').elements()).toEqual([]);
	});
});

test('instructions that the server refuses stay in the dialog, which says why', async () => {
	const services = createFakeServices();
	session = new ChatSession('c', client, app.conversations, services);
	services.changeFailures.push(new ApiError('unavailable', 'The database is busy.'));
	session.phase = 'ready';
	await setup();
	await page.getByTestId('add').click();
	await page.getByRole('menuitem', { name: 'Chat instructions' }).click();
	await page.getByTestId('instructions').fill('Answer in verse.');
	await page.getByTestId('save-instructions').click();
	await expect
		.element(page.getByTestId('instructions-problem'))
		.toMatchTextContent(/Couldn’t save\. The database is busy/);
	await expect.element(page.getByTestId('instructions')).toHaveValue('Answer in verse.');
	await page.getByTestId('save-instructions').click();
	await expect.element(page.getByTestId('chat-instructions')).not.toBeInTheDocument();
	expect(services.changes).toEqual([
		{ instructions: 'Answer in verse.', approval: null },
		{ instructions: 'Answer in verse.', approval: null }
	]);
});
