/** Responses in the background: they outlive their client, and a stream of them can be taken up again (F12). */
import OpenAI from 'openai';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { createLog } from '../../src/lib/server/log.ts';
import { createBackground } from '../../src/lib/server/protocols/responses/background.ts';
import { Waiters } from '../../src/lib/shared/in-turn.ts';
import { eventually } from '../support/eventually.ts';
import { call, gate, hang, reasoning, text, type Reply } from '../support/model-server.ts';
import { processesWith } from '../support/processes.ts';
import { mostReactions } from '../support/reactions.ts';
import {
	createResponsesRigs,
	openResponses,
	type ResponsesRig,
	type ResponsesRigOptions
} from '../support/responses-rig.ts';

const WAITS = 'sleep 600.91827';
const SKILLS = {
	'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.',
	'demo/scripts/say.sh': 'echo "said: $*"\n',
	'demo/scripts/wait.sh': `echo waiting; exec ${WAITS}\n`
};
const SAY = call('use_skill', { skill: 'demo', script: 'scripts/say.sh', args: ['hello'] });
const WAIT = call('use_skill', { skill: 'demo', script: 'scripts/wait.sh' });
const IN_BACKGROUND = { input: 'Hi', background: true };

const rigs = createResponsesRigs(SKILLS);
let rig: ResponsesRig;
afterEach(() => rigs.settle());
afterAll(() => rigs.close());
const open = async (script: Reply[], more?: ResponsesRigOptions) => (rig = await rigs.open(script, more));

const begin = async (more: object = {}, key?: string): Promise<string> => {
	const { status, body } = await rig.ask({ ...IN_BACKGROUND, ...more }, key ? { key } : {});
	expect(status).toBe(200);
	expect(body).toMatchObject({ status: 'queued', background: true, store: true, output: [], usage: null });
	return body.id;
};
/** The response once it has ended. */
const ended = (id: string, key?: string) =>
	eventually(async () => {
		const { body } = await rig.get(`/responses/${id}`, key ? { key } : {});
		expect(['queued', 'in_progress']).not.toContain(body.status);
		return body;
	});
const cancel = (id: string, key?: string) =>
	rig.get(`/responses/${id}/cancel`, { method: 'POST', ...(key ? { key } : {}) });
const textOf = ({ output }: { output: { type: string; content?: { text: string }[] }[] }) =>
	output.flatMap(({ content = [] }) => content.map((part) => part.text)).join('');

describe('a response in the background', () => {
	test('F12: is queued, then in progress, goes on without its client, and is there when it ends', async () => {
		const rest = gate();
		await open([text('Hel', rest, 'lo.'), text('Again.')]);
		const id = await begin();
		await eventually(async () => {
			const { status, body } = await rig.get(`/responses/${id}`);
			expect([status, body.status]).toEqual([200, 'in_progress']);
		});
		const tooSoon = await rig.ask({ input: 'And?', previous_response_id: id });
		expect(tooSoon).toMatchObject({ status: 400, body: { error: { code: 'previous_response_not_ready' } } });
		rest.open();
		const body = await ended(id);
		expect(body).toMatchObject({ id, status: 'completed', background: true, error: null });
		expect(textOf(body)).toBe('Hello.');
		expect(textOf((await rig.ask({ input: 'And?', previous_response_id: id })).body)).toBe('Again.');
	});

	test('F12: its stream tells that it is queued, and can be taken up after every number, without a gap and nothing twice', async () => {
		await open([[reasoning('Hm.'), SAY], text('It was ', 'said.')]);
		const events = await rig.stream(IN_BACKGROUND);
		expect(events.slice(0, 3).map(({ type, response }) => [type, response.status])).toEqual([
			['response.created', 'queued'],
			['response.queued', 'queued'],
			['response.in_progress', 'in_progress']
		]);
		expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
		const { id } = events[0]?.response as { id: string };
		for (let after = -1; after < events.length + 1; after += 1) {
			expect(await rig.resume(id, after), `after ${after}`).toEqual(events.slice(after + 1));
		}
		expect((await rig.get(`/responses/${id}`)).body).toEqual(events.at(-1)?.response);
		expect(JSON.stringify(events)).toContain('said: hello');
	});

	test('F12: whoever leaves its stream and comes back misses nothing, and follows it to its end', async () => {
		const [middle, end] = [gate(), gate()];
		await open([text('One. ', middle, 'Two. ', end, 'Three.')]);
		const client = new OpenAI({ baseURL: rig.url, apiKey: 'none', maxRetries: 0 });
		const first = await client.responses.create({ model: 'any', ...IN_BACKGROUND, stream: true });
		const seen: OpenAI.Responses.ResponseStreamEvent[] = [];
		for await (const event of first) {
			seen.push(event);
			// Breaking off closes the connection.
			if (event.type === 'response.output_text.delta') break;
		}
		const { response } = seen[0] as OpenAI.Responses.ResponseCreatedEvent;
		middle.open();
		const again = await client.responses.retrieve(response.id, {
			...{ stream: true, starting_after: seen.at(-1)?.sequence_number ?? -1 }
		});
		for await (const event of again) {
			seen.push(event);
			if (event.type === 'response.output_text.delta') end.open();
		}
		expect(seen.map(({ sequence_number }) => sequence_number)).toEqual(seen.map((_, index) => index));
		const deltas = seen.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []));
		expect(deltas.join('')).toBe('One. Two. Three.');
		expect(seen.at(-1)?.type).toBe('response.completed');
		expect((await client.responses.retrieve(response.id)).output_text).toBe('One. Two. Three.');
	});

	test('F12: two clients follow it at the same time, and both see all of it', async () => {
		const rest = gate();
		await open([text('Hel', rest, 'lo.')]);
		const id = await begin();
		const both = [rig.resume(id), rig.resume(id, 1)];
		rest.open();
		const [all, later] = await Promise.all(both);
		expect(all?.at(-1)?.type).toBe('response.completed');
		expect(later).toEqual(all?.slice(2));
	});

	test('F12: cancelling ends its scripts, can be repeated, and is shown to who follows', async () => {
		await open([WAIT]);
		const client = new OpenAI({ baseURL: rig.url, apiKey: 'none', maxRetries: 0 });
		const { id } = await client.responses.create({ model: 'any', ...IN_BACKGROUND });
		const followed = rig.resume(id);
		await eventually(() => expect(processesWith(WAITS)).not.toEqual([]));
		expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled', background: true });
		expect(processesWith(WAITS)).toEqual([]);
		expect((await followed).at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'cancelled' } });
		expect((await cancel(id)).body).toEqual((await rig.get(`/responses/${id}`)).body);
	});

	test('F12: cancelling what has ended changes nothing; what never was in the background is refused', async () => {
		await open([text('Done.'), text('Here.')]);
		const id = await begin();
		const whole = await ended(id);
		expect(await cancel(id)).toEqual({ status: 200, body: whole });
		const { body } = await rig.ask({ input: 'Hi' });
		for (const refused of [await cancel(body.id), await rig.get(`/responses/${body.id}?stream=true`)]) {
			expect(refused).toMatchObject({ status: 400, body: { error: { code: 'not_in_background' } } });
		}
		expect(await cancel('resp_none')).toMatchObject({ status: 404, body: { error: { code: 'response_not_found' } } });
	});

	test('F12, E18: nobody but its own key sees, follows, cancels or deletes it', async () => {
		const rest = gate();
		await open([text('Mine', rest, '.')]);
		const id = await begin({}, 'key_a');
		for (const key of ['key_b', undefined]) {
			const as = key ? { key } : {};
			expect((await rig.get(`/responses/${id}`, as)).status).toBe(404);
			expect((await rig.get(`/responses/${id}?stream=true`, as)).status).toBe(404);
			expect((await cancel(id, key)).status).toBe(404);
			expect((await rig.get(`/responses/${id}`, { ...as, method: 'DELETE' })).status).toBe(404);
		}
		rest.open();
		expect(textOf(await ended(id, 'key_a'))).toBe('Mine.');
	});

	test('F12: deleting it ends its scripts, and the stream of who follows', async () => {
		await open([WAIT]);
		const id = await begin();
		const followed = rig.resume(id);
		await eventually(() => expect(processesWith(WAITS)).not.toEqual([]));
		expect((await rig.get(`/responses/${id}`, { method: 'DELETE' })).body).toMatchObject({ deleted: true });
		expect(processesWith(WAITS)).toEqual([]);
		await followed;
		expect((await rig.get(`/responses/${id}`)).status).toBe(404);
		expect(await rig.app.store.responses.readEvents(id, { after: 0, limit: 10 })).toEqual([]);
	});

	test('F12: one key has at most 32 at once; others still begin theirs', async () => {
		await open([...Array.from({ length: 32 }, () => hang()), text('Others.'), text('Me.')]);
		const ids = await Promise.all(Array.from({ length: 32 }, () => begin({}, 'key_a')));
		const refused = await rig.ask(IN_BACKGROUND, { key: 'key_a' });
		expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } });
		await rig.model?.received(32);
		expect(textOf(await ended(await begin({}, 'key_b'), 'key_b'))).toBe('Others.');
		for (const id of ids) expect((await cancel(id, 'key_a')).body.status).toBe('cancelled');
		expect(textOf(await ended(await begin({}, 'key_a'), 'key_a'))).toBe('Me.');
	});

	test('F12: one key can have 64 streams open at most; one that its client leaves makes room', async () => {
		const rest = gate();
		await open([text('Hel', rest, 'lo.')]);
		const id = await begin({}, 'key_a');
		const follow = async () => {
			const gone = new AbortController();
			const headers = { authorization: 'Bearer key_a' };
			const answer = await fetch(`${rig.url}/responses/${id}?stream=true`, { headers, signal: gone.signal });
			if (answer.status !== 200) return { status: answer.status, leave: () => undefined };
			// Read until its first event: from then on it’s followed.
			const reader = answer.body?.getReader();
			for (let told = ''; !told.includes('event:');) {
				told += Buffer.from((await reader?.read())?.value ?? []).toString();
			}
			return { status: 200, leave: () => gone.abort() };
		};
		const streams = await Promise.all(Array.from({ length: 64 }, follow));
		expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 64 }, () => 200));
		expect((await follow()).status).toBe(429);
		const refused = await rig.ask({ ...IN_BACKGROUND, stream: true }, { key: 'key_a' });
		expect(refused.status).toBe(429);
		streams[0]?.leave();
		const next = await eventually(async () => {
			const opened = await follow();
			expect(opened.status).toBe(200);
			return opened;
		});
		for (const { leave } of [...streams, next]) leave();
		rest.open();
		await ended(id, 'key_a');
	});

	test('F12: what is no number of an event is refused as starting_after', async () => {
		await open([text('Yes.')]);
		const id = await begin();
		for (const value of ['-1', 'x', '1.5', '1e3', '9'.repeat(20), '%00', '%201', '__proto__', '']) {
			const refused = await rig.get(`/responses/${id}?stream=true&starting_after=${value}`);
			expect(refused, value).toMatchObject({ status: 400, body: { error: { param: 'starting_after' } } });
		}
		await ended(id);
	});

	test('F12: a stream after a number that is never reached ends with the response, and tells nothing', async () => {
		const rest = gate();
		await open([text('A', rest, 'B')]);
		const id = await begin();
		const far = rig.resume(id, 999_999_999_999_999);
		rest.open();
		expect(await far).toEqual([]);
	});
});

test('F12: a stream that is followed through many events keeps nothing for each of them, nor for who has left', async () => {
	await open([]);
	const { responses } = rig.app.store;
	const background = createBackground({ responses, log: createLog(() => undefined) });
	const body = { id: 'resp_long', status: 'queued', background: true };
	const common = { apiKeyId: null, previousId: null, sessionId: 's', items: [], inputCount: 0, createdAt: '2026' };
	const stored = { ...common, id: 'resp_long', body, isRunning: false };
	const more = new Waiters();
	const stays = new AbortController().signal;
	const events: number[] = [];
	const most = await mostReactions(async () => {
		await background.start(stored, async function* (signal, save) {
			for (let at = 0; at < 100; at += 1) {
				yield { type: 'response.output_item.done', sequence_number: at };
				// Only once it was read, so that each is waited for.
				while (events.length <= at) await more.wait(signal);
			}
			await save({ ...stored, body: { ...body, status: 'completed' } });
			yield { type: 'response.completed', sequence_number: 100 };
		});
		const place = { after: 0, apiKeyId: null };
		for await (const { sequence_number: at } of background.follow('resp_long', place, stays)) {
			// Another one, that waits for the next and leaves.
			const leaving = new AbortController();
			const other = background.follow('resp_long', { after: at + 1, apiKeyId: null }, leaving.signal);
			const next = other.next();
			leaving.abort();
			await next;
			events.push(at);
			more.wake();
		}
	});
	expect(events).toEqual(Array.from({ length: 101 }, (_, at) => at));
	expect(most).toBeLessThan(10);
	await background.close(0);
});

describe('when the server stops', () => {
	test('F12: what runs is interrupted after the grace, is stored as failed with a reason, and can be sent again', async () => {
		const own = await openResponses({ script: [WAIT], skills: SKILLS });
		rig = own;
		const id = await begin();
		const followed = own.resume(id);
		await eventually(() => expect(processesWith(WAITS)).not.toEqual([]));
		await own.app.responses.close();
		expect(processesWith(WAITS)).toEqual([]);
		const last = (await followed).at(-1);
		expect(last).toMatchObject({ type: 'response.failed', response: { status: 'failed', background: true } });
		expect(last?.response.error).toMatchObject({ code: 'interrupted', message: expect.stringContaining('again') });
		expect((await rig.get(`/responses/${id}`)).body).toEqual(last?.response);
		expect(await own.ask(IN_BACKGROUND)).toMatchObject({ status: 503 });
		await own.close();
	});

	test('F12: what an earlier process left running is failed, keeps the output it had, and its log goes on where it was', async () => {
		await open([text('Whole.')]);
		const events = await rig.stream(IN_BACKGROUND);
		const { responses } = rig.app.store;
		const cut = events.findIndex(({ type }) => type === 'response.output_item.done') + 1;
		const left = { ...events[0]?.response, id: 'resp_left' };
		const common = { apiKeyId: null, previousId: null, sessionId: 's', items: [], inputCount: 0, createdAt: '2026' };
		await responses.put({ ...common, id: 'resp_left', body: left, isRunning: true });
		const known = events
			.slice(0, cut)
			.map((event) => ({ seq: event.sequence_number + 1, data: JSON.stringify(event) }));
		await responses.appendAll([{ runId: 'resp_left', events: known }]);
		await rig.app.responses.recover();
		const { body } = await rig.get('/responses/resp_left');
		expect(body).toMatchObject({ status: 'failed', error: { code: 'interrupted' } });
		expect(textOf(body)).toBe('Whole.');
		const rest = await rig.resume('resp_left', cut - 1);
		expect(rest).toEqual([{ type: 'response.failed', sequence_number: cut, response: body }]);
		expect(await responses.listRunning()).toEqual([]);
	});

	test('F12: one whose end couldn’t be stored is ended by whoever asks for it next', async () => {
		await open([]);
		const { responses } = rig.app.store;
		const common = { apiKeyId: null, previousId: null, sessionId: 's', items: [], inputCount: 0, createdAt: '2026' };
		const body = { id: 'resp_lost', status: 'in_progress', background: true };
		await responses.put({ ...common, id: 'resp_lost', body, isRunning: true });
		expect((await cancel('resp_lost')).body).toMatchObject({ status: 'failed', error: { code: 'interrupted' } });
	});
});
