/** A task that waits for approval, over A2A (E16, F14). */
import { TaskState, type Task } from '@a2a-js/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
	a2aClient,
	all,
	part,
	replayed,
	says,
	sendTask,
	textOfArtifact,
	type A2AClient
} from '../support/a2a-client.ts';
import { startA2ARig, type A2ARig } from '../support/a2a-rig.ts';
import { call, calls, startModelServer, text, type ModelServer } from '../support/model-server.ts';

const INPUT_REQUIRED = TaskState.TASK_STATE_INPUT_REQUIRED;
const COMPLETED = TaskState.TASK_STATE_COMPLETED;

let model: ModelServer;
let rig: A2ARig;
beforeAll(async () => {
	model = await startModelServer();
	const env = { OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'a', OPENROUTER_MODEL: 'test/model' };
	rig = await startA2ARig({ ...env, SKILLS_APPROVAL: 'ask' });
});
afterAll(async () => {
	await rig.close();
	await model.close();
});
afterEach(() => model.assertDone());

const say = (word: string) => ({ skill: 'demo', script: 'scripts/say.sh', args: [word] });
const lastInput = () => JSON.stringify(model.requests.at(-1)?.body.input);

interface Question {
	interruptId: string;
	skill: string;
	script: string;
	args: string[];
	choices: string[];
}

function questionsOf(task: Task): Question[] {
	expect(task.status?.state).toBe(INPUT_REQUIRED);
	const data = task.status?.message?.parts.find(({ content }) => content?.$case === 'data')?.content;
	return data?.$case === 'data' ? (data.value as { interrupts: Question[] }).interrupts : [];
}

describe.each(['1.0', '0.3'] as const)('with the client of A2A %s', (version) => {
	let client: A2AClient;
	beforeAll(async () => {
		client = await a2aClient(rig.url, version);
	});

	test('E16: a task waits with its question, and “allow” lets the same task go on to its end', async () => {
		model.push(call('use_skill', say('one')), text('Done.'));
		const task = await sendTask(client, says('say one'));
		expect(questionsOf(task)).toMatchObject([{ skill: 'demo', script: 'scripts/say.sh', args: ['one'] }]);
		const ended = await sendTask(client, says('allow', { taskId: task.id }));
		expect(ended).toMatchObject({ id: task.id, contextId: task.contextId, status: { state: COMPLETED } });
		expect(textOfArtifact(ended)).toBe('Done.');
		expect(lastInput()).toContain('said: one');
		expect(ended.history).toHaveLength(3);
		expect(await client.getTask({ tenant: '', id: task.id })).toEqual(ended);
	});

	test('E16: a stream ends with the question, and the answer is a stream that ends the task', async () => {
		model.push([text('First this.'), call('use_skill', say('two'))], text('Done.'));
		const asked = replayed(await all(client.sendMessageStream(says('say two'))));
		const [question] = questionsOf(asked);
		const choice = part({ $case: 'data', value: { choice: 'once', interruptId: question?.interruptId } });
		const events = await all(client.sendMessageStream(says('', { taskId: asked.id, parts: [choice] })));
		const ended = replayed(events);
		expect(ended).toMatchObject({ id: asked.id, status: { state: COMPLETED } });
		expect(textOfArtifact(ended)).toBe('First this.\n\nDone.');
	});

	test('E16: a denial with its reason is what the model reads', async () => {
		model.push(call('use_skill', say('three')), text('As you like.'));
		const task = await sendTask(client, says('say three'));
		const no = part({ $case: 'data', value: { choice: 'deny', reason: 'not on a Monday' } });
		const ended = await sendTask(client, says('', { taskId: task.id, parts: [no] }));
		expect(ended.status?.state).toBe(COMPLETED);
		expect(lastInput()).toContain('not on a Monday');
		expect(lastInput()).not.toContain('said: three');
	});

	test('E16: of two questions the first answer leaves the task waiting for the second', async () => {
		model.push(
			calls([
				{ name: 'use_skill', args: say('a') },
				{ name: 'use_skill', args: say('b') }
			]),
			text('Both.')
		);
		const task = await sendTask(client, says('say both'));
		const [first, second] = questionsOf(task);
		const answer = (interruptId: string | undefined) =>
			says('', { taskId: task.id, parts: [part({ $case: 'data', value: { choice: 'once', interruptId } })] });
		const half = await sendTask(client, answer(first?.interruptId));
		expect(questionsOf(half)).toMatchObject([{ interruptId: second?.interruptId }]);
		const ended = await sendTask(client, answer(second?.interruptId));
		expect(textOfArtifact(ended)).toBe('Both.');
	});

	test('E16: what is no answer is refused, and the task still waits; cancelling it lets go of the question', async () => {
		model.push(call('use_skill', say('four')));
		const task = await sendTask(client, says('say four'));
		await expect(client.sendMessage(says('maybe', { taskId: task.id }))).rejects.toThrow('is waiting for approval');
		const wrong = part({ $case: 'data', value: { choice: 'once', interruptId: 'another' } });
		await expect(client.sendMessage(says('', { taskId: task.id, parts: [wrong] }))).rejects.toThrow('interruptId');
		await expect(client.sendMessage(says('allow', { taskId: task.id, contextId: 'x' }))).rejects.toThrow('contextId');
		questionsOf(await client.getTask({ tenant: '', id: task.id }));
		const ended = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
		expect(ended.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
		await expect(client.sendMessage(says('allow', { taskId: task.id }))).rejects.toThrow('is done');
	});
});

test('C16: a key does not answer its own question: it waits for whoever manages the server, or is denied', async () => {
	const { key } = await rig.app.apiKeys.create({ name: 'agent', scopes: ['read', 'write', 'execute'] });
	const client = await a2aClient(rig.url, '1.0', key);
	model.push(call('use_skill', say('six')), text('Done.'));
	const task = await sendTask(client, says('say six'));
	const [question] = questionsOf(task);
	expect(question).toMatchObject({ choices: ['deny'] });
	expect(JSON.stringify(task.status?.message)).toContain('lacks the scope “approve”');
	await expect(client.sendMessage(says('allow', { taskId: task.id }))).rejects.toThrow('scope “approve”');
	const once = part({ $case: 'data', value: { choice: 'once', interruptId: question?.interruptId } });
	await expect(client.sendMessage(says('', { taskId: task.id, parts: [once] }))).rejects.toThrow('scope “approve”');
	questionsOf(await client.getTask({ tenant: '', id: task.id }));

	const manager = await a2aClient(rig.url, '1.0');
	const ended = await sendTask(manager, says('allow', { taskId: task.id }));
	expect(ended.status?.state).toBe(COMPLETED);
	expect(lastInput()).toContain('said: six');

	model.push(call('use_skill', say('seven')), text('As you like.'));
	const other = await sendTask(client, says('say seven'));
	expect((await sendTask(client, says('deny', { taskId: other.id }))).status?.state).toBe(COMPLETED);
	expect(lastInput()).not.toContain('said: seven');
});

test('E16: a program with a key that may answer allows once, and nothing for good', async () => {
	const { key } = await rig.app.apiKeys.create({ name: 'agent', scopes: ['read', 'execute', 'approve'] });
	const client = await a2aClient(rig.url, '1.0', key);
	model.push(call('use_skill', say('five')), text('Done.'));
	const task = await sendTask(client, says('say five'));
	const decide = (choice: string) => says('', { taskId: task.id, parts: [part({ $case: 'data', value: { choice } })] });
	await expect(client.sendMessage(decide('skill'))).rejects.toThrow('only allow a call once');
	expect((await sendTask(client, decide('once'))).status?.state).toBe(COMPLETED);
});
