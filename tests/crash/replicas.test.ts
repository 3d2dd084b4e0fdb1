/** F14: two servers on one Postgres. Whichever writes an answer is killed, paused, stopped or cut off: the other goes on. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { isTerminal, type RunEvent } from '../../src/lib/shared/events.ts';
import { emptyAnswer, foldEvent } from '../../src/lib/shared/message.ts';
import { startApp, type App } from '../support/app-process.ts';
import { ask, follow, type Followed, type Question, readRun, type SeenEvent } from '../support/crash-client.ts';
import { createLedger, type Ledger, questionFor } from '../support/crash-ledger.ts';
import { type Aftermath, type Moment, moments, readAftermath, requireAccepted } from '../support/crash-rounds.ts';
import { eventually } from '../support/eventually.ts';
import { startModelServer, type ModelServer } from '../support/model-server.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';

const ROUNDS = 50;
const CONVERSATIONS = 5;
const SEED = 20_261_127;
/** A model is asked again each time another server goes on. */
const MOST_REPLIES = 12;

interface Killed {
	id: string;
	question: Question;
	/** What a page at the killed server has seen. */
	seen: SeenEvent[];
	/** What it receives when it connects to the other one. */
	resumed: Followed | null;
	/** What a page at the other server has seen all the time. */
	watched: Followed;
	after: Aftermath;
}

describe.skipIf(lacksPostgres())('F14: two servers on one Postgres', () => {
	const folder = sharedFolder();
	let ledger: Ledger;
	let model: ModelServer;
	let postgres: TestPostgres;
	let servers: [App, App];
	const all: Killed[] = [];
	/** The last one that was killed, on its way back. */
	let starting: Promise<void> = Promise.resolve();

	beforeAll(async () => {
		ledger = await createLedger(folder);
		model = await startModelServer();
		postgres = await startPostgres();
		const env = {
			...{ OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'test', OPENROUTER_MODEL: 'test/model' },
			DATABASE_URL: await postgres.createDatabase('replicas'),
			SECRETS_KEY: 'a long secret of the two servers, the same for both'
		};
		const first = await startApp({ skillsFrom: ledger.skillsDir, env });
		servers = [first, await startApp({ skillsFrom: ledger.skillsDir, env })];
		const drawn = moments(SEED);
		for (let round = 1; round <= ROUNDS; round += 1) all.push(await killOwner(round, drawn.next().value));
		await starting;
	}, 600_000);

	afterAll(async () => {
		for (const server of servers ?? []) await server.stop();
		await postgres?.stop();
		await model?.close();
	});

	function questionOf(id: string, words: number, conversation = 0): Question {
		const text = questionFor(id, words);
		return { runId: `run-${id}`, conversationId: `conversation-${conversation}`, messageId: `message-${id}`, text };
	}

	/** Asks one server, kills it at this moment while the other is watched, and begins to start it again. */
	async function killOwner(round: number, moment: Moment): Promise<Killed> {
		const [owner, other] = round % 2 === 0 ? servers : ([...servers].reverse() as [App, App]);
		const id = `round-${round}`;
		const question = questionOf(id, moment.words, round % CONVERSATIONS);
		model.push(...Array.from({ length: MOST_REPLIES }, () => ledger.reply));
		await requireAccepted(await ask(owner.url, question));
		const watching = starting.then(() => follow(other.url, question.runId));
		const reached = Promise.withResolvers<void>();
		const following = follow(owner.url, question.runId, {
			onEvent: ({ seq }) => {
				if (seq >= moment.seq) reached.resolve();
			}
		});
		await Promise.race([reached.promise, following]);
		await delay(moment.delayMs);
		// There is always one that can go on.
		await starting;
		await owner.signal('SIGKILL');
		const { events: seen } = await following;
		starting = owner.restart();
		const last = seen.at(-1);
		const isDone = last !== undefined && isTerminal(last.event);
		const [watched, resumed] = await Promise.all([
			watching,
			last && !isDone ? follow(other.url, question.runId, { lastEventId: last.id }) : null
		]);
		return { id, question, seen, resumed, watched, after: await readAftermath(other, question) };
	}

	const cases = (): Killed[] => {
		expect(all).toHaveLength(ROUNDS);
		return all;
	};
	const kindOf = (event: RunEvent): string => (event.type === 'CUSTOM' ? event.name : event.type);
	const events = ({ after }: Killed): RunEvent[] => after.replay?.events.map(({ event }) => event) ?? [];
	const isTaken = (event: RunEvent) => kindOf(event) === 'run.taken';
	const runsOf = async (id: string) => {
		const counts = await Promise.all(servers.map(({ dataDir }) => ledger.runsOf(id, dataDir)));
		return counts.reduce((sum, count) => sum + count, 0);
	};

	test('killed 50 times: every answer comes to its end, most of them on the other server', () => {
		for (const { id, after } of cases()) {
			expect(after.run?.state, id).toBe('success');
			expect(after.answer?.status, id).toBe('complete');
		}
		expect(cases().filter((each) => events(each).some(isTaken)).length).toBeGreaterThan(ROUNDS / 2);
	});

	test('the events are there from 1 without a gap, exactly one ends it, and a page at the other server saw just these', () => {
		for (const each of cases()) {
			const { id, after, watched } = each;
			expect(
				after.replay?.events.map(({ seq }) => seq),
				id
			).toEqual(events(each).map((_, index) => index + 1));
			expect(events(each).filter(isTerminal), id).toHaveLength(1);
			expect(events(each).at(-1), id).toSatisfy(isTerminal);
			expect(watched.isCut, id).toBe(false);
			expect(
				watched.events.map(({ event }) => event),
				id
			).toEqual(events(each));
		}
	});

	test('the answer is what its events make, with nothing left open', () => {
		for (const each of cases()) {
			const { id, question, after } = each;
			const empty = emptyAnswer(after.answer?.id ?? '', question.runId, '');
			const { parts, status, error } = events(each).reduce(foldEvent, empty);
			expect(after.answer, id).toMatchObject({ parts, status, error });
			for (const part of parts) if (part.type === 'tool') expect(['preparing', 'running']).not.toContain(part.status);
		}
	});

	test('a page that connects to the other server shows what the log says: it goes on, or starts over', () => {
		for (const each of cases()) {
			const { id, seen, resumed } = each;
			if (!resumed) continue;
			const first = resumed.events[0]?.seq;
			expect([1, (seen.at(-1)?.seq ?? 0) + 1], id).toContain(first);
			const shown = first === 1 ? resumed.events : [...seen, ...resumed.events];
			expect(
				shown.map(({ event }) => event),
				id
			).toEqual(events(each));
		}
	});

	test('no script runs twice, and the model is sent no call without its output', async () => {
		for (const each of cases()) {
			const kinds = events(each).map(kindOf);
			const times = await runsOf(each.id);
			expect(times, each.id).toBeLessThanOrEqual(kinds.filter((kind) => kind === 'TOOL_CALL_END').length);
			expect(times, each.id).toBeLessThanOrEqual(1);
		}
		expect(ledger.unanswered).toEqual([]);
		expect(model.violations).toEqual([]);
	});

	/** A question that is being answered by this server, up to the script at least. */
	async function begin(id: string, server: App, words = 3): Promise<Question> {
		model.push(...Array.from({ length: MOST_REPLIES }, () => ledger.reply));
		const question = { ...questionOf(id, words), conversationId: id };
		await requireAccepted(await ask(server.url, question));
		return question;
	}

	/** All events, as a page that connects again after a broken connection gets them. */
	async function read({ runId }: Question, server: App): Promise<SeenEvent[]> {
		const { events: list } = await eventually(async () => {
			const followed = await follow(server.url, runId);
			expect(followed.isCut).toBe(false);
			return followed;
		});
		expect(list.map(({ seq }) => seq)).toEqual(list.map((_, index) => index + 1));
		expect(list.filter(({ event }) => isTerminal(event))).toHaveLength(1);
		return list;
	}

	async function requireWhole(question: Question, server: App): Promise<RunEvent[]> {
		const list = await read(question, server);
		expect((await readRun(server.url, question.runId))?.state).toBe('success');
		expect(ledger.unanswered).toEqual([]);
		return list.map(({ event }) => event);
	}

	test('paused for longer than its lease, a server loses its answer; when it goes on, it writes nothing', async () => {
		const [a, b] = servers;
		const question = await begin('paused', a, 300);
		const watching = follow(b.url, question.runId);
		await eventually(async () => expect((await readRun(b.url, question.runId))?.lastSeq).toBeGreaterThan(3));
		await a.signal('SIGSTOP');
		const watched = await watching;
		const before = await requireWhole(question, b);
		expect(before.filter(isTaken)).toHaveLength(1);
		await a.signal('SIGCONT');
		// It notices at its next write, and serves again.
		await eventually(async () => expect((await readRun(a.url, question.runId))?.state).toBe('success'));
		expect(await requireWhole(question, a)).toEqual(before);
		expect(watched.events.map(({ event }) => event)).toEqual(before);
		expect(await runsOf('paused')).toBeLessThanOrEqual(1);
	});

	test('stopped one after the other under load, servers hand their answers over', async () => {
		const [a, b] = servers;
		const questions: Question[] = [];
		for (let index = 0; index < 10; index += 1) {
			const question = { ...questionOf(`rolling-${index}`, 20), conversationId: `rolling-${index}` };
			model.push(...Array.from({ length: MOST_REPLIES }, () => ledger.reply));
			await requireAccepted(await ask(servers[index % 2]!.url, question));
			questions.push(question);
		}
		const watching = questions.map(({ runId }) => follow(b.url, runId));
		await a.restart();
		await Promise.all(watching);
		await b.restart();
		for (const question of questions) await requireWhole(question, a);
		for (let index = 0; index < 10; index += 1) expect(await runsOf(`rolling-${index}`)).toBeLessThanOrEqual(1);
	});

	test('an answer is stopped from the server that doesn’t write it', async () => {
		const [a, b] = servers;
		const { runId } = await begin('stopped', a, 60);
		await eventually(async () => expect((await readRun(b.url, runId))?.lastSeq).toBeGreaterThan(3));
		expect((await fetch(`${b.url}/api/runs/${runId}`, { method: 'DELETE' })).status).toBe(204);
		expect((await readRun(b.url, runId))?.state).toBe('cancelled');
	});

	test('when Postgres restarts, every answer still ends once, without a gap', async () => {
		const [a, b] = servers;
		const questions = [await begin('restarted-a', a, 100), await begin('restarted-b', b, 100)];
		await eventually(async () => {
			for (const { runId } of questions) expect((await readRun(b.url, runId))?.lastSeq).toBeGreaterThan(3);
		});
		await postgres.restart();
		for (const question of questions) {
			await eventually(async () => expect((await readRun(b.url, question.runId))?.state).not.toBe('running'));
			await read(question, a);
		}
		expect(ledger.unanswered).toEqual([]);
	});
});
