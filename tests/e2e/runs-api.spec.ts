/** Runs over HTTP as another program sees them: AG-UI approvals, queued messages, branches, forks. */
import { randomUUID } from 'node:crypto';
import type { ConversationDetail, ConversationSummary } from '../../src/lib/shared/api.ts';
import type { App } from '../support/app-process.ts';
import { call, gate, text } from '../support/model-server.ts';
import { expect } from './app.ts';
import { test } from './played-model.ts';

test.use({ appEnv: { SKILLS_APPROVAL: 'ask' } });

interface Event {
	type: string;
	[key: string]: unknown;
}

/** Sends an HTTP request; returns status and JSON. */
async function http<Body>(
	app: App,
	method: string,
	path: string,
	body?: unknown
): Promise<{ status: number; body: Body }> {
	const response = await fetch(app.url + path, {
		method,
		...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
	});
	const answer = await response.text();
	return { status: response.status, body: (answer === '' ? null : JSON.parse(answer)) as Body };
}

/** Starts a run like an AG-UI client and reads all its events. */
async function run(app: App, threadId: string, input: Record<string, unknown>): Promise<Event[]> {
	const response = await fetch(`${app.url}/api/chat`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
		body: JSON.stringify({ threadId, runId: randomUUID(), messages: [], ...input })
	});
	const stream = await response.text();
	expect(response.status, stream).toBe(200);
	return [...stream.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? '') as Event);
}
const says = (content: string) => ({ messages: [{ id: randomUUID(), role: 'user', content }] });
const read = async (app: App, id: string) =>
	(await http<ConversationDetail>(app, 'GET', `/api/conversations/${id}`)).body;
const texts = ({ messages }: ConversationDetail) =>
	messages.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));
const count = (words: string) =>
	call('use_skill', { skill: 'count-words', tool: 'count_words', input: { text: words } });

interface Interrupt {
	id: string;
	toolCallId: string;
	responseSchema: object;
}
function interruptsOf(events: Event[]): Interrupt[] {
	const { outcome } = events.at(-1) as Event & { outcome?: { type: string; interrupts?: Interrupt[] } };
	expect(outcome?.type).toBe('interrupt');
	return outcome?.interrupts ?? [];
}

test('a run that needs consent ends with AG-UI interrupts, and `resume` goes on with the same call', async ({
	app,
	model
}) => {
	model.push(count('one two three'), text('Three.'));
	const threadId = randomUUID();
	const [question] = interruptsOf(await run(app, threadId, says('count')));
	expect(question?.responseSchema).toMatchObject({ required: ['choice'] });

	const wrong = await http<{ error: { code: string; message: string } }>(app, 'POST', '/api/chat', {
		...{ threadId, runId: randomUUID(), messages: [] },
		resume: [{ interruptId: question?.id, status: 'resolved', payload: { choice: 'perhaps' } }]
	});
	expect(wrong).toMatchObject({ status: 400, body: { error: { code: 'invalid_input' } } });
	expect(wrong.body.error.message).toContain('resume.0.payload');

	const resumed = await run(app, threadId, {
		resume: [{ interruptId: question?.id, status: 'resolved', payload: { choice: 'once' } }]
	});
	expect(resumed.find(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject({ toolCallId: question?.toolCallId });
	expect(resumed.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
	expect(texts(await read(app, threadId))).toEqual(['count', 'Three.']);

	const again = await http(app, 'POST', `/api/conversations/${threadId}/approvals/${question?.id}`, { choice: 'deny' });
	expect(again.status).toBe(404);
});

test('an interrupt that is cancelled is a denial that the model reads', async ({ app, model }) => {
	model.push(count('x'), text('As you like.'));
	const threadId = randomUUID();
	const [question] = interruptsOf(await run(app, threadId, says('count')));
	await run(app, threadId, { resume: [{ interruptId: question?.id, status: 'cancelled' }] });
	expect(JSON.stringify(model.requests.at(-1)?.body.input)).toContain('ApprovalDenied');
});

test('a message waits while an answer is written, can be changed, and is sent when the answer has ended', async ({
	app,
	model
}) => {
	const held = gate();
	model.push(text('One', held, '.'), text('Two.'));
	const threadId = randomUUID();
	const first = run(app, threadId, says('first'));
	await expect.poll(async () => (await read(app, threadId)).activeRunId).not.toBeNull();
	const queue = `/api/conversations/${threadId}/queue`;
	expect(await http(app, 'POST', queue, { id: 'later', text: 'second' })).toEqual({
		status: 202,
		body: { runId: null }
	});
	expect(await http(app, 'POST', queue, { id: 'other', text: 'not this' })).toMatchObject({ status: 202 });
	expect((await http(app, 'POST', queue, { id: 'blank', text: '  ' })).status).toBe(400);
	expect((await http(app, 'PATCH', `${queue}/later`, { text: 'second, changed' })).status).toBe(204);
	expect((await http(app, 'DELETE', `${queue}/other`)).status).toBe(204);
	expect((await http(app, 'DELETE', `${queue}/other`)).status).toBe(404);
	expect((await read(app, threadId)).queue.map(({ text: words }) => words)).toEqual(['second, changed']);
	held.open();
	await first;
	await expect.poll(async () => texts(await read(app, threadId))).toEqual(['first', 'One.', 'second, changed', 'Two.']);
});

test('edits, second answers and forks leave what was there; a removed message takes along what follows', async ({
	app,
	model
}) => {
	model.push(text('One.'), text('Two.'), text('Other.'), text('Retried.'));
	const threadId = randomUUID();
	await run(app, threadId, says('first'));
	await run(app, threadId, says('second'));
	const [, answer, second] = (await read(app, threadId)).messages;
	await run(app, threadId, { ...says('edited'), forwardedProps: { after: answer?.id } });
	const edited = await read(app, threadId);
	expect(texts(edited)).toEqual(['first', 'One.', 'edited', 'Other.']);
	const question = edited.messages[2];
	expect(edited.alternatives[question?.id ?? '']).toEqual([second?.id, question?.id]);

	await run(app, threadId, { forwardedProps: { retry: question?.id } });
	expect(texts(await read(app, threadId))).toEqual(['first', 'One.', 'edited', 'Retried.']);
	const path = `/api/conversations/${threadId}`;
	expect((await http(app, 'PATCH', path, { show: second?.id })).status).toBe(200);
	expect(texts(await read(app, threadId))).toEqual(['first', 'One.', 'second', 'Two.']);

	const fork = await http<ConversationSummary>(app, 'POST', `${path}/fork`, { messageId: answer?.id });
	expect(fork.status).toBe(201);
	expect(texts(await read(app, fork.body.id))).toEqual(['first', 'One.']);

	expect((await http(app, 'DELETE', `${path}/messages/${second?.id}`)).status).toBe(204);
	expect(texts(await read(app, threadId))).toEqual(['first', 'One.', 'edited', 'Retried.']);
	expect((await http(app, 'DELETE', `${path}/messages/${second?.id}`)).status).toBe(404);
	expect(
		(
			await http(app, 'POST', '/api/chat', {
				threadId,
				runId: 'x',
				messages: [],
				forwardedProps: { continue: 'ghost' }
			})
		).status
	).toBe(404);
});
