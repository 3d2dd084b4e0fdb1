import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page, userEvent } from 'vitest/browser';
import { RECORDED_ANSWER, RECORDED_RUN } from '../../../../tests/support/recorded-run.ts';
import type { RunEvent } from '../../shared/events.ts';
import { BUILT_IN_MODEL } from '../../shared/names.ts';
import { ASKED } from '../../shared/questions.ts';
import { emptyAnswer, type Execution, foldEvent, type Message } from '../../shared/message.ts';
import type { MessageActions } from './message-groups.ts';
import Answer from './Answer.svelte';
import { eventually } from '../../../../tests/support/eventually.ts';
import { sampleExecution } from '../../../../tests/support/sample-skills.ts';

const props = { conversationId: 'c', model: 'test/model' };

function fold(events: RunEvent[]): Message {
	return events.reduce(foldEvent, emptyAnswer('a', 'r', '2026-01-01T00:00:00.000Z'));
}

test('a recorded run shows its thought, its steps and its answer, in order', async () => {
	const screen = await render(Answer, { message: fold(RECORDED_RUN), ...props });
	const answer = screen.getByTestId('message');
	await expect.element(answer).toHaveAttribute('data-status', 'complete');
	await expect.element(screen.getByRole('button', { name: 'Thought' })).toBeVisible();
	const order = () =>
		[
			...answer
				.element()
				.querySelectorAll('[data-testid=reasoning],[data-testid=markdown],[data-testid=step],[data-testid=step-fold]')
		].map((element) => element.getAttribute('data-tool') ?? element.getAttribute('data-testid'));
	expect(order()).toEqual(['reasoning', 'markdown', 'step-fold', 'markdown']);
	await screen.getByRole('button', { name: 'Used 1 skill · 2 steps · 3.2 s' }).click();
	expect(order()).toEqual(['reasoning', 'markdown', 'step-fold', 'load_skill', 'use_skill', 'markdown']);
	await expect.element(screen.getByRole('cell', { name: 'words' })).toBeVisible();
	await expect.element(screen.getByTestId('usage')).toHaveTextContent('test/model · 1,234 in · 56 out · $0.0042');
	expect(answer.element().textContent).not.toMatch(/SECRET/);
});

test('UI 10.5: what a script made stands below the first sentence of the answer, once that has ended', async () => {
	const say = (delta: string): RunEvent => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 't', delta });
	const ran = RECORDED_RUN.slice(
		0,
		RECORDED_RUN.findLastIndex(({ type }) => type === 'TEXT_MESSAGE_START')
	);
	const begun: RunEvent[] = [...ran, { type: 'TEXT_MESSAGE_START', messageId: 't', role: 'assistant' }];
	const grown = [...begun, say('## Words\n\nThe text has '), say('four words.'), say('\n\n| a |\n|---|\n| 1 |')];
	const screen = await render(Answer, { message: fold(grown.slice(0, -1)), ...props });
	const card = screen.getByTestId('file-card').first();
	await expect.element(screen.getByText('The text has four words.')).toBeVisible();
	await expect.element(card).not.toBeInTheDocument();
	await screen.rerender({ message: fold(grown) });
	await expect.element(card).toBeVisible();
	await expect.element(screen.getByRole('table')).toBeVisible();
	const { FOLLOWING, PRECEDING } = { FOLLOWING: 4, PRECEDING: 2 };
	const place = (of: Element) => card.element().compareDocumentPosition(of);
	expect(place(screen.getByText('The text has four words.').element()) & PRECEDING).toBeTruthy();
	expect(place(screen.getByRole('table').element()) & FOLLOWING).toBeTruthy();
});

test('an answer that came event by event ends as one that was there at once', async () => {
	const screen = await render(Answer, { message: fold([]), ...props });
	for (let count = 1; count <= RECORDED_RUN.length; count++)
		await screen.rerender({ message: fold(RECORDED_RUN.slice(0, count)) });
	const article = screen.getByTestId('message').element();
	// Soon after it ends, the thought closes and the steps fold.
	await eventually(() => expect(textOf(article)).not.toMatch(/I should count|Ran scripts/));
	const live = textOf(article);
	await screen.unmount();
	const stored = await render(Answer, { message: fold(RECORDED_RUN), ...props });
	expect(live).toBe(textOf(stored.getByTestId('message').element()));
	expect(live).toContain('4 words');
	expect(RECORDED_ANSWER).toContain('4 words');
});

test('sources have numbers in the text and a list below, when their text has ended; nothing is loaded from them', async () => {
	const cite = (end: number, url: string, title: string): RunEvent => ({
		type: 'CUSTOM',
		name: 'text.citation',
		value: { messageId: 't', url, title, start: 0, end }
	});
	const sites = Array.from({ length: 8 }, (_, index) =>
		cite(14, `https://s${index}.example/page`, index === 0 ? '' : `Site ${index}`)
	);
	const grown: RunEvent[] = [
		{ type: 'TEXT_MESSAGE_START', messageId: 't', role: 'assistant' },
		{ type: 'TEXT_MESSAGE_CONTENT', messageId: 't', delta: 'It **rains** ok, `so` it is' },
		...sites,
		cite(4, 'javascript:attacked', 'Bad'),
		cite(900, 'https://late.example/', 'Late')
	];
	const screen = await render(Answer, { message: fold(grown), ...props });
	const markdown = () => screen.getByTestId('markdown').element().textContent.trim();
	expect(markdown()).toBe('It rains ok, so it is');
	const rest: RunEvent[] = [
		{ type: 'TEXT_MESSAGE_END', messageId: 't' },
		{ type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
	];
	await screen.rerender({ message: fold([...grown, ...rest]) });
	expect(markdown()).toBe('It rains ok[1][2][3][4][5][6][7][8], so it is');
	const list = screen.getByRole('region', { name: 'Sources' });
	expect(
		list
			.getByRole('listitem')
			.elements()
			.map(({ textContent }) => textContent.replaceAll(/\s+/g, ' ').trim())
	).toEqual(['1. s0.example', ...[1, 2, 3, 4, 5].map((index) => `${index + 1}. Site ${index} s${index}.example`)]);
	await list.getByRole('button', { name: 'Show all 8 sources' }).click();
	expect(list.getByRole('link').elements()).toHaveLength(8);
	const number = screen.getByRole('link', { name: '[1]' });
	await expect.element(number).toHaveAttribute('href', 'https://s0.example/page');
	await expect.element(number).toHaveAttribute('rel', 'noopener noreferrer nofollow');
	expect(performance.getEntriesByType('resource').filter(({ name }) => name.includes('s0.example'))).toEqual([]);
});

describe('while nothing comes', () => {
	test('the answer says that it is waiting, before the first event and between steps', async () => {
		const screen = await render(Answer, { message: fold([]), ...props });
		await expect.element(screen.getByTestId('waiting')).toBeVisible();
		await screen.rerender({ message: fold(RECORDED_RUN.slice(0, 5)) });
		await expect.element(screen.getByTestId('waiting')).not.toBeInTheDocument();
		await screen.rerender({ message: fold(RECORDED_RUN.slice(0, 17)) });
		await expect.element(screen.getByTestId('waiting')).toBeVisible();
		await screen.rerender({ message: fold(RECORDED_RUN) });
		await expect.element(screen.getByTestId('waiting')).not.toBeInTheDocument();
	});

	test('it says when the model is asked again', async () => {
		const value = { attempt: 1, delayMs: 3000, message: "The model's server is busy." };
		const screen = await render(Answer, { message: fold([{ type: 'CUSTOM', name: 'run.retry', value }]), ...props });
		await expect
			.element(screen.getByTestId('retry-notice'))
			.toHaveTextContent("The model's server is busy. Retrying in 3 s (attempt 1).");
	});

	test('it names the model after a while', async () => {
		vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
		try {
			const screen = await render(Answer, { message: fold([]), ...props });
			vi.advanceTimersByTime(9_000);
			vi.useRealTimers();
			await expect.element(screen.getByText('Still waiting for test/model…')).toBeVisible();
		} finally {
			vi.useRealTimers();
		}
	});
});

test('F9: why a step failed is said once, in the step; another model’s words stay', async () => {
	const execution: Execution = {
		...{ skill: 'demo', script: 'run.py', args: [], sandbox: 'process', files: [], exitCode: 1, durationMs: 1 },
		...{ output: [{ stream: 'stderr', text: 'No such city.\n' }], error: 'ExecutionFailed' },
		...{ message: 'run.py ended with exit code 1.', executionId: 'e1' }
	};
	const byModel = (model: string): Message => ({
		...emptyAnswer('a', 'r', '2026-01-01T00:00:00.000Z'),
		status: 'complete',
		parts: [
			{ type: 'tool', id: 'c', name: 'use_skill', arguments: '{"skill":"demo"}', status: 'failed', execution },
			{ type: 'text', id: 't', text: '`run.py` failed: `No such city.`' }
		],
		usage: { inputTokens: 1, outputTokens: 1, model }
	});
	const again = sampleExecution({ id: 'e2', runId: null, status: 'success' });
	const runs = { data: [again, sampleExecution({ id: 'e1' })], total: 2, page: 1, limit: 50, totalPages: 1 };
	vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) =>
		Response.json(/\/executions\/e\d$/.test(String(input)) ? again : runs)
	);
	const actions = fakeActions();
	const screen = await render(Answer, { message: byModel(BUILT_IN_MODEL), ...props, actions });
	await expect.element(screen.getByTestId('step-error')).toHaveTextContent('No such city.');
	await expect.element(screen.getByTestId('markdown')).not.toBeInTheDocument();
	// It ran again since, and no answer is below it.
	await expect.element(screen.getByTestId('old-answer')).toMatchTextContent(/^\s*Answer again\s*$/);
	await screen.rerender({ message: byModel('test/model') });
	await expect.element(screen.getByTestId('markdown')).toHaveTextContent('run.py failed: No such city.');
	await expect.element(screen.getByTestId('old-answer')).toMatchTextContent(/The answer below is from the first run/);
	vi.restoreAllMocks();
});

test('F9: what Demo mode says can be asked next are buttons, with what is said of each', async () => {
	const text = 'You can ask for:\n\n- **weather** – Rain and sun.\n- total per month\n\nConnect a model.';
	const asked: RunEvent[] = [
		{ type: 'TEXT_MESSAGE_START', messageId: 't', role: 'assistant' },
		{ type: 'TEXT_MESSAGE_CONTENT', messageId: 't', delta: text },
		{ type: 'TEXT_MESSAGE_END', messageId: 't' },
		{ type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'success' } }
	];
	const message: Message = { ...fold(asked), usage: { inputTokens: 1, outputTokens: 1, model: BUILT_IN_MODEL } };
	const actions = { ...fakeActions(), choose: vi.fn() };
	const screen = await render(Answer, { message, ...props, actions });
	const answers = screen.getByTestId('offered-answers').getByRole('button');
	expect(answers.elements().map(textOf)).toEqual(['weather – Rain and sun.', 'total per month']);
	await answers.first().click();
	expect(actions.choose.mock.calls).toEqual([['weather']]);
});

test('F9: what Demo mode asks to choose from are buttons, and plain text once it was answered; no other model makes any', async () => {
	const text = `Which skill?\n\n1. **tables**\n2. **books**\n\nReply with its number or name.\n\n${ASKED}`;
	const asked: RunEvent[] = [
		{ type: 'TEXT_MESSAGE_START', messageId: 't', role: 'assistant' },
		{ type: 'TEXT_MESSAGE_CONTENT', messageId: 't', delta: text },
		{ type: 'TEXT_MESSAGE_END', messageId: 't' },
		{ type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'success' } }
	];
	const byModel = (model: string): Message => ({ ...fold(asked), usage: { inputTokens: 1, outputTokens: 1, model } });
	const message = byModel(BUILT_IN_MODEL);
	const actions = { ...fakeActions(), choose: vi.fn() };
	const screen = await render(Answer, { message, ...props, actions });
	const answers = screen.getByTestId('offered-answers').getByRole('button');
	await expect
		.element(screen.getByTestId('message'))
		.toMatchTextContent(/Which skill\?\s*tables\s*books\s*Never mind$/);
	expect(answers.elements().map(textOf)).toEqual(['tables', 'books', 'Never mind']);
	answers.nth(1).element().focus();
	await userEvent.keyboard('{Enter}');
	expect(actions.choose.mock.calls).toEqual([['books']]);
	await screen.rerender({ message, actions: { ...actions, isLocked: true } });
	await expect.element(answers.first()).toBeDisabled();
	for (const change of [
		{ message, actions: fakeActions() },
		{ message: byModel('other/model'), actions }
	]) {
		await screen.rerender(change);
		await expect.element(answers.first()).not.toBeInTheDocument();
		await expect.element(screen.getByRole('listitem').nth(1)).toHaveTextContent('books');
	}
});

test('F9: a question for a value can be left at a click, too', async () => {
	const parts: Message['parts'] = [{ type: 'text', id: 't', text: `What time should I use?\n\n${ASKED}` }];
	const message = {
		...fold(RECORDED_RUN),
		parts,
		status: 'complete' as const,
		usage: { inputTokens: 1, outputTokens: 1, model: BUILT_IN_MODEL }
	};
	const actions = { ...fakeActions(), choose: vi.fn() };
	const screen = await render(Answer, { message, ...props, actions });
	await screen.getByTestId('offered-answers').getByRole('button').click();
	expect(actions.choose.mock.calls).toEqual([['Never mind']]);
});

describe('an end before the end', () => {
	const started = RECORDED_RUN.slice(0, 25);

	test('a failure keeps what was shown, says what happened, and can be retried', async () => {
		const actions = fakeActions();
		const error: RunEvent = { type: 'RUN_ERROR', code: 'rate_limited', message: 'Too many requests. Wait a little.' };
		const screen = await render(Answer, { message: fold([...started, error]), ...props, actions });
		await expect
			.element(screen.getByTestId('message-error'))
			.toHaveTextContent('Too many requests. Wait a little. Details Error code: rate_limited Continue Retry');
		await expect.element(screen.getByText('rate_limited')).not.toBeVisible();
		await expect.element(screen.getByText('Let me count.')).toBeVisible();
		await expect.element(screen.getByTestId('step').last()).toHaveAttribute('data-status', 'interrupted');
		await screen.getByTestId('retry').click();
		expect(actions.retry).toHaveBeenCalledOnce();
	});

	test('a stopped answer says so', async () => {
		const end: RunEvent = { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'cancelled' } };
		const screen = await render(Answer, { message: fold([...started, end]), ...props });
		await expect.element(screen.getByTestId('message-note')).toHaveTextContent('Stopped');
		await expect.element(screen.getByTestId('step').last()).toHaveAttribute('data-status', 'cancelled');
		await expect.element(screen.getByTestId('retry')).not.toBeInTheDocument();
	});

	test('an interrupted answer says so', async () => {
		const end: RunEvent = { type: 'RUN_ERROR', code: 'interrupted', message: 'The server was restarted.' };
		const screen = await render(Answer, { message: fold([...started, end]), ...props });
		await expect
			.element(screen.getByTestId('message-note'))
			.toHaveTextContent('Interrupted – The server was restarted.');
	});
});

test.each([
	['steps', /step limit/],
	['cost', /cost limit/],
	['time', /time limit/],
	['length', /output limit/]
] as const)('F7: an answer that ended at the limit of %s says so, and can be continued', async (limit, words) => {
	const end: RunEvent = { type: 'RUN_FINISHED', threadId: 't', runId: 'r', result: { limit } };
	const actions = fakeActions();
	const message = { ...fold(RECORDED_RUN), ...{ limit } };
	const screen = await render(Answer, { message: foldEvent(message, end), ...props, actions });
	await expect.element(screen.getByTestId('message-limit')).toMatchTextContent(words);
	await screen.getByTestId('continue').click();
	expect(actions.continue).toHaveBeenCalledOnce();
});

test('an answer that is not the last one, or of which nothing came, cannot be continued', async () => {
	const end: RunEvent = { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'cancelled' } };
	const actions = fakeActions();
	const screen = await render(Answer, { message: fold([end]), ...props, actions });
	await expect.element(screen.getByTestId('retry')).toBeVisible();
	await expect.element(screen.getByTestId('continue')).not.toBeInTheDocument();
	const stopped = fold([...RECORDED_RUN.slice(0, 25), end]);
	await screen.rerender({ message: stopped, actions });
	await expect.element(screen.getByTestId('continue')).toBeVisible();
	await screen.rerender({ actions: { ...actions, continue: undefined } });
	await expect.element(screen.getByTestId('continue')).not.toBeInTheDocument();
});

describe('the footer', () => {
	test('offers another answer, a new chat from here, and to delete', async () => {
		const actions = fakeActions();
		const screen = await render(Answer, { message: fold(RECORDED_RUN), ...props, actions });
		await screen.getByTestId('retry').click();
		await screen.getByTestId('fork').click();
		await screen.getByTestId('answer-menu').click();
		await page.getByTestId('delete-message').click();
		for (const action of [actions.retry, actions.fork, actions.remove]) expect(action).toHaveBeenCalledOnce();
		await screen.rerender({ actions: { ...actions, isLocked: true } });
		await expect.element(screen.getByTestId('retry')).toBeDisabled();
		await screen.getByTestId('answer-menu').click();
		await expect.element(page.getByTestId('why-toggle')).toBeVisible();
		await expect.element(page.getByTestId('delete-message')).not.toBeInTheDocument();
		await userEvent.keyboard('{Escape}');
		await expect.element(screen.getByTestId('fork')).toBeEnabled();
	});

	test('leads to the other answers', async () => {
		const actions = fakeActions();
		const alternatives = ['first', 'a', 'third'];
		const screen = await render(Answer, { message: fold(RECORDED_RUN), ...props, actions, alternatives });
		await expect.element(screen.getByTestId('branch-position')).toHaveTextContent('2 / 3');
		await screen.getByRole('button', { name: 'Next answer' }).click();
		await screen.getByRole('button', { name: 'Previous answer' }).click();
		expect(actions.show.mock.calls).toEqual([['third'], ['first']]);
		await screen.rerender({ alternatives: ['a', 'third'] });
		await expect.element(screen.getByTestId('branch-previous')).toBeDisabled();
	});

	test('shows what the model was sent, by part, and what the conversation cost', async () => {
		const context = {
			limit: 10_000,
			system: 500,
			catalog: 1500,
			skills: 0,
			tools: 1000,
			results: 2000,
			messages: 1500
		};
		const message = { ...fold(RECORDED_RUN), context };
		const totals = { inputTokens: 4321, outputTokens: 765, cost: 0.5 };
		const screen = await render(Answer, { message, ...props, totals });
		const gauge = screen.getByTestId('context-gauge');
		await expect.element(gauge).toHaveAccessibleName('Context: 6.5k / 10k');
		await gauge.click();
		await expect.element(screen.getByTestId('context-parts')).toMatchTextContent(/Messages 1,500.*6,500 \(65 %\)/);
		await expect.element(screen.getByTestId('context-parts')).not.toMatchTextContent(/Skill instructions/);
		await expect.element(screen.getByTestId('conversation-totals')).toMatchTextContent(/4,321.*765.*\$0\.5000/);
		await expect.element(gauge).toHaveAttribute('aria-expanded', 'true');
	});
});

test('F7: a summary of what came before is a line that opens', async () => {
	const value = {
		...{ id: 's', removedResults: 2, summarizedMessages: 12, summary: 'They counted words.' },
		...{ tokensBefore: 120_000, tokensAfter: 4_000 }
	};
	const screen = await render(Answer, { message: fold([{ type: 'CUSTOM', name: 'run.compaction', value }]), ...props });
	await expect.element(screen.getByText('They counted words.')).not.toBeInTheDocument();
	await screen.getByRole('button', { name: 'Earlier messages summarized to save context' }).click();
	await expect.element(screen.getByText('They counted words.')).toBeVisible();
	await expect
		.element(screen.getByTestId('compaction-body'))
		.toMatchTextContent(/about 120k tokens before, 4.0k after/);
});

function fakeActions() {
	return {
		isLocked: false,
		edit: vi.fn(async () => true),
		retry: vi.fn(),
		continue: vi.fn(),
		fork: vi.fn(),
		remove: vi.fn(),
		show: vi.fn(async (_id: string) => true),
		decide: vi.fn(async () => {}),
		reply: vi.fn(async () => {}),
		mayFocus: () => false,
		isEditing: false,
		setEditing: () => {}
	} satisfies MessageActions;
}

function textOf(element: Element): string {
	return element.textContent ?? '';
}
