import { afterEach, describe, expect, test } from 'vitest';
import { call, hang, text, type Reply } from '../../../../tests/support/model-server.ts';
import { eventually } from '../../../../tests/support/eventually.ts';
import { createRunRig, type RigOptions, type RunRig } from '../../../../tests/support/run-rig.ts';
import type { Message, ToolPart } from '../../shared/message.ts';
import {
	forkConversation,
	readConversation,
	readEarlier,
	removeMessage,
	restoreMessage,
	showBranch
} from './conversations.ts';

let rig: RunRig;
afterEach(() => rig.close());

async function start(script: Reply[], options: RigOptions = {}): Promise<void> {
	rig = await createRunRig(script, options);
}
const textOf = (message: Message) => message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
const shown = async () => (await readConversation(rig, 'c')).messages.map(textOf);
const sent = (request: number) => JSON.stringify(rig.server.requests[request]?.body.input);
const ended = async (runId: string) => void (await rig.events(runId));

describe('F14: an edited message', () => {
	test('stands beside the old one: both branches stay, and each is sent to the model alone', async () => {
		await start([text('One.'), text('Two.'), text('Other.')]);
		await rig.run('first');
		await rig.run('second');
		await rig.run('second, edited', { after: (await rig.answer('run-1')).id });
		expect(await shown()).toEqual(['first', 'One.', 'second, edited', 'Other.']);
		expect(sent(2)).toContain('second, edited');
		expect(sent(2)).not.toContain('Two.');

		const { messages, alternatives } = await readConversation(rig, 'c');
		const edited = messages[2]!;
		expect(alternatives).toEqual({ [edited.id]: ['question-2', 'question-3'] });
		await showBranch(rig, 'c', 'question-2');
		expect(await shown()).toEqual(['first', 'One.', 'second', 'Two.']);
	});

	test('may be the first of the conversation', async () => {
		await start([text('One.'), text('Other.')]);
		await rig.run('first');
		await rig.run('first, edited', { after: null });
		expect(await shown()).toEqual(['first, edited', 'Other.']);
		expect(sent(1)).not.toContain('One.');
		expect((await readConversation(rig, 'c')).alternatives).toEqual({ 'question-2': ['question-1', 'question-2'] });
	});

	test('cannot follow a message that is not there, and nothing is stored', async () => {
		await start([text('One.')]);
		await rig.run('first');
		await expect(rig.ask('lost', { after: 'ghost' })).rejects.toMatchObject({ code: 'not_found' });
		expect(await shown()).toEqual(['first', 'One.']);
	});
});

describe('F14: another answer', () => {
	test('is written beside the first one, to the same question', async () => {
		await start([text('One.'), text('Two.')]);
		await rig.run('go');
		await rig.runner.start({ kind: 'retry', runId: 'again', conversationId: 'c', questionId: 'question-1', tools: [] });
		await ended('again');
		expect(await shown()).toEqual(['go', 'Two.']);
		expect(sent(1)).not.toContain('One.');
		const { messages, alternatives } = await readConversation(rig, 'c');
		expect(alternatives[messages[1]!.id]).toHaveLength(2);
		await showBranch(rig, 'c', alternatives[messages[1]!.id]![0]!);
		expect(await shown()).toEqual(['go', 'One.']);
	});

	test('can only be given to a question', async () => {
		await start([text('One.')]);
		await rig.run('go');
		const { id } = await rig.answer('run-1');
		const again = rig.runner.start({ kind: 'retry', runId: 'again', conversationId: 'c', questionId: id, tools: [] });
		await expect(again).rejects.toMatchObject({ code: 'not_found' });
	});
});

describe('F14: an answer that ended early', () => {
	test('is continued in its place: what was shown stays, and the model is sent it', async () => {
		await start([hang(...opened('Half of')), text('it.'), text('Fine.')]);
		const { runId } = await rig.ask('go');
		await rig.server.requests[0]?.closed.catch(() => undefined);
		await shownText('Half of');
		await rig.runner.stop(runId);
		const answer = await rig.answer(runId);
		expect(answer.status).toBe('cancelled');
		await rig.runner.start({ kind: 'continue', runId: 'more', conversationId: 'c', messageId: answer.id, tools: [] });
		await ended('more');
		expect(await shown()).toEqual(['go', 'Half ofit.']);
		expect(sent(1)).toContain('Half of');
		expect(sent(1)).toContain('Continue exactly where it stopped');
		expect(await rig.store.messages.get('c', answer.id)).toMatchObject({
			status: 'complete',
			runId: 'more',
			error: null
		});

		await rig.run('and then?');
		expect(sent(2)).toContain('Half of');
		expect(sent(2)).not.toContain('Continue exactly');
	});

	test('at the cap of steps it says so, and goes on when asked to', async () => {
		const say = (word: string) => call('use_skill', { skill: 'demo', script: 'say.sh', args: [word] });
		await start([say('1'), say('2'), say('3'), text('Done.')], { limits: { maxSteps: 2 } });
		const { list } = await rig.run('go');
		expect(list.at(-1)).toMatchObject({ type: 'RUN_FINISHED', result: { limit: 'steps' } });
		const answer = await rig.answer('run-1');
		expect(answer).toMatchObject({ status: 'complete', limit: 'steps' });
		await rig.runner.start({ kind: 'continue', runId: 'more', conversationId: 'c', messageId: answer.id, tools: [] });
		await ended('more');
		expect(await rig.store.messages.get('c', answer.id)).toMatchObject({ status: 'complete', limit: null });
		expect((await shown()).at(-1)).toBe('Done.');
	});

	test('cannot be continued while it is written', async () => {
		await start([hang(...opened('Half of'))]);
		const { runId } = await rig.ask('go');
		await shownText('Half of');
		const { id } = await rig.answer(runId);
		const more = rig.runner.start({ kind: 'continue', runId: 'more', conversationId: 'c', messageId: id, tools: [] });
		await expect(more).rejects.toMatchObject({ code: 'conflict' });
		await rig.runner.stop(runId);
	});
});

describe('F14: a long conversation', () => {
	test('opens with its newest messages; the earlier ones come when asked for, each once', async () => {
		await start([text('One.')]);
		await rig.run('first');
		for (let index = 0; index < 300; index += 1) {
			const message = { ...(await rig.answer('run-1')), id: `m${index}`, runId: null };
			await rig.store.messages.append('c', message);
		}
		const newest = await readConversation(rig, 'c');
		expect(newest.hasEarlier).toBe(true);
		const seen = [...newest.messages];
		for (let page = newest as Pick<typeof newest, 'messages' | 'hasEarlier'>; page.hasEarlier;) {
			page = await readEarlier(rig, 'c', page.messages[0]!.id);
			seen.unshift(...page.messages);
		}
		expect(seen.map(({ id }) => id)).toEqual((await rig.store.messages.list('c')).map(({ id }) => id));
		expect(seen).toHaveLength(302);
	});

	test('that is forked is a conversation of its own: messages to there, and the files', async () => {
		const say = call('use_skill', { skill: 'demo', script: 'say.sh', args: ['x'] });
		await start([say, text('One.'), text('Two.'), text('Forked.')]);
		await rig.run('first');
		await rig.run('second');
		await rig.store.conversations.change('c', { model: 'm/y', instructions: 'Be brief.' }, new Date().toISOString());
		const fork = await forkConversation(rig, 'c', (await rig.answer('run-1')).id);
		expect(await readConversation(rig, fork.id)).toMatchObject({ model: 'm/y', instructions: 'Be brief.' });
		expect((await readConversation(rig, fork.id)).messages.map(textOf)).toEqual(['first', 'One.']);
		const { title } = await readConversation(rig, 'c');
		expect(fork.title).toBe(`Branch of ${title}`);
		const [, answer] = (await readConversation(rig, fork.id)).messages;
		expect((await forkConversation(rig, fork.id, answer?.id ?? '')).title).toBe(fork.title);
		expect((await rig.workspaces.list(fork.id)).map(({ path }) => path)).toEqual(['made-x.txt']);
		await rig.run('third', { conversationId: fork.id });
		expect((await readConversation(rig, fork.id)).messages.map(textOf)).toEqual(['first', 'One.', 'third', 'Forked.']);
		expect(await shown()).toEqual(['first', 'One.', 'second', 'Two.']);
	});

	test('loses a message with all that follows it, and shows the branch that is left', async () => {
		await start([text('One.'), text('Two.'), text('Other.')]);
		await rig.run('first');
		await rig.run('second');
		await rig.run('edited', { after: (await rig.answer('run-1')).id });
		await removeMessage(rig, 'c', 'question-3');
		expect(await shown()).toEqual(['first', 'One.', 'second', 'Two.']);
		await removeMessage(rig, 'c', 'question-2');
		expect(await shown()).toEqual(['first', 'One.']);
		await removeMessage(rig, 'c', 'question-1');
		expect(await shown()).toEqual([]);
		await expect(removeMessage(rig, 'c', 'question-1')).rejects.toMatchObject({ code: 'not_found' });
	});

	test('F14: gets back a message with all that follows it, once, and after what it follows', async () => {
		await start([text('One.'), text('Two.'), text('Three.')]);
		await rig.run('first');
		await rig.run('second');
		await removeMessage(rig, 'c', 'question-2');
		await removeMessage(rig, 'c', 'question-1');
		await expect(restoreMessage(rig, 'c', 'question-2')).rejects.toMatchObject({ code: 'not_found' });
		await restoreMessage(rig, 'c', 'question-1');
		await restoreMessage(rig, 'c', 'question-2');
		expect(await shown()).toEqual(['first', 'One.', 'second', 'Two.']);
		await expect(restoreMessage(rig, 'c', 'question-2')).rejects.toMatchObject({ code: 'not_found' });
		await rig.run('third');
		expect(await shown()).toEqual(['first', 'One.', 'second', 'Two.', 'third', 'Three.']);
		expect(sent(2)).toContain('Two.');
	});

	test('is not changed under a run', async () => {
		await start([text('One.'), hang(...opened('Half'))]);
		await rig.run('first');
		const { runId } = await rig.ask('second');
		await shownText('Half');
		await expect(removeMessage(rig, 'c', 'question-1')).rejects.toMatchObject({ code: 'conflict' });
		await expect(restoreMessage(rig, 'c', 'question-1')).rejects.toMatchObject({ code: 'conflict' });
		await expect(showBranch(rig, 'c', 'question-1')).rejects.toMatchObject({ code: 'conflict' });
		await rig.runner.stop(runId);
		expect(await shown()).toEqual(['first', 'One.', 'second', 'Half']);
	});
});

test('F14: who opens a conversation while a script runs reads what it has said, and how long it has run', async () => {
	await start([call('use_skill', { skill: 'demo', script: 'wait.sh', args: [] })]);
	const { runId } = await rig.ask('go');
	const step = async () =>
		(await readConversation(rig, 'c')).messages.at(-1)?.parts.find((part): part is ToolPart => part.type === 'tool');
	await eventually(async () => {
		expect(await step()).toMatchObject({ execution: { output: [{ stream: 'stdout', text: 'waiting\n' }] } });
	});
	const before = (await step())?.elapsedMs ?? 0;
	expect(before).toBeGreaterThan(0);
	expect((await step())?.elapsedMs).toBeGreaterThan(before);
	await rig.runner.stop(runId);
	expect(await step()).not.toHaveProperty('elapsedMs');
});

function opened(words: string): object[] {
	return [{ type: 'response.output_text.delta', item_id: 'm', output_index: 0, delta: words }];
}

/** Resolves once the current run has shown this text. */
async function shownText(words: string): Promise<void> {
	for (;;) {
		const { activeRunId, messages } = await readConversation(rig, 'c');
		if (activeRunId === null) throw new Error('no run is under way');
		if (messages.some((message) => textOf(message).includes(words))) return;
		const { seq = 0 } = rig.runner.live(activeRunId) ?? {};
		const batches = await rig.runner.follow(activeRunId, seq, new AbortController().signal);
		await batches?.next();
	}
}
