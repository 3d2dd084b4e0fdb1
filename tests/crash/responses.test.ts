/** F12: kills the process while responses are written in the background, and starts it again on what's left. */
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type App } from '../support/app-process.ts';
import { call, hang, startModelServer, text, type ModelServer } from '../support/model-server.ts';
import { gate } from '../support/gate.ts';

type Event = OpenAI.Responses.ResponseStreamEvent;

let model: ModelServer;
let app: App;
let client: OpenAI;
beforeAll(async () => {
	model = await startModelServer();
	const env = { OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'test', OPENROUTER_MODEL: 'test/model' };
	app = await startApp({ env });
	client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'none', maxRetries: 0 });
}, 120_000);
afterAll(async () => {
	await app?.stop();
	await model?.close();
});

test('F12: after a kill -9 each response has failed with a reason, and its stream goes on where the client was', async () => {
	const never = gate();
	// The second step of the first response never comes, the first of the other one neither.
	model.push([text('Half ', 'an answer'), call('load_skill', { name: 'count-words' })], text('and ', never), hang());
	const stream = await client.responses.create({ model: 'any', input: 'Hi', background: true, stream: true });
	const seen: Event[] = [];
	const killed = gate();
	const reading = (async () => {
		for await (const event of stream) {
			seen.push(event);
			if (event.type === 'response.output_text.delta' && event.delta.includes('and')) killed.open();
		}
	})().catch(() => undefined);
	await killed.opened;
	const silent = await client.responses.create({ model: 'any', input: 'Hi', background: true });
	await model.received(3);
	await app.restart({ signal: 'SIGKILL' });
	await reading;

	const [created] = seen as [OpenAI.Responses.ResponseCreatedEvent];
	const { id } = created.response;
	for (const each of [id, silent.id]) {
		const response = await client.responses.retrieve(each);
		expect(response).toMatchObject({ status: 'failed', background: true, error: { code: 'interrupted' } });
		expect(response.error?.message).toContain('again');
		expect(await client.responses.cancel(each)).toMatchObject({ status: 'failed' });
	}
	expect((await client.responses.retrieve(id)).output_text).toBe('Half an answer');
	const last = seen.at(-1)?.sequence_number ?? -1;
	const rest: Event[] = [];
	for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: last }))
		rest.push(event);
	const all: Event[] = [];
	for await (const event of await client.responses.retrieve(id, { stream: true })) all.push(event);
	expect([...seen, ...rest]).toEqual(all);
	expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, index) => index));
	expect(rest.at(-1)).toMatchObject({ type: 'response.failed', response: { error: { code: 'interrupted' } } });

	model.push(text('Again.'));
	const again = await client.responses.create({ model: 'any', input: 'Hi', previous_response_id: id });
	expect(again.output_text).toBe('Again.');
});
