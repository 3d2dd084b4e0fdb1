/** F14: kills the process at 50 random moments and restarts it on what's left. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { isTerminal, type RunEvent } from '../../src/lib/shared/events.ts';
import { emptyAnswer, foldEvent } from '../../src/lib/shared/message.ts';
import { startApp, type App } from '../support/app-process.ts';
import { follow, ask } from '../support/crash-client.ts';
import { createLedger, questionFor, type Ledger } from '../support/crash-ledger.ts';
import { crash, moments, readAftermath, requireAccepted, type Crash } from '../support/crash-rounds.ts';
import { startModelServer, type ModelServer } from '../support/model-server.ts';
import { orphans } from '../support/processes.ts';

const ROUNDS = 50;
const CONVERSATIONS = 5;
const SEED = 20_261_121;
/** From docs/security.md: how much of a text in progress may be lost. */
const MOST_LOST_MS = 1000;
/** Must not be lost once shown: these events say what was done, not what was said. */
const DURABLE = new Set<string>([
	'TOOL_CALL_END',
	'TOOL_CALL_RESULT',
	'skill.started',
	'skill.finished',
	'RUN_FINISHED',
	'RUN_ERROR'
]);

const folder = sharedFolder();
let ledger: Ledger;
let model: ModelServer;
let app: App;
const crashes: Crash[] = [];

beforeAll(async () => {
	ledger = await createLedger(folder);
	model = await startModelServer();
	const env = { OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'test', OPENROUTER_MODEL: 'test/model' };
	app = await startApp({ skillsFrom: ledger.skillsDir, env });
	const drawn = moments(SEED);
	for (let round = 1; round <= ROUNDS; round += 1) {
		model.push(ledger.reply, ledger.reply);
		crashes.push(await crash(app, `round-${round}`, `conversation-${round % CONVERSATIONS}`, drawn.next().value));
	}
}, 600_000);

afterAll(async () => {
	await app?.stop();
	await model?.close();
});

const cases = (): Crash[] => {
	expect(crashes).toHaveLength(ROUNDS);
	return crashes;
};
const started = (): Crash[] => cases().filter(({ after }) => after.run !== null);
const kindOf = (event: RunEvent): string => (event.type === 'CUSTOM' ? event.name : event.type);
const events = ({ after }: Crash): RunEvent[] => after.replay?.events.map(({ event }) => event) ?? [];

describe('F14: killed 50 times at any moment', () => {
	test('the server is there again each time', () => {
		for (const { id, after } of cases()) expect(after.health, id).toBe(200);
	});

	test('no question is lost that the server took, and none is there by half', () => {
		for (const { id, isAcknowledged, question, after } of cases()) {
			if (isAcknowledged) expect(after.run, id).not.toBeNull();
			expect(after.question !== null, id).toBe(after.run !== null);
			expect(after.answer !== null, id).toBe(after.run !== null);
			if (after.question) expect(after.question.parts, id).toMatchObject([{ type: 'text', text: question.text }]);
		}
	});

	test('every run has ended: interrupted, or as it had ended before', () => {
		for (const { id, seen, after } of started()) {
			const wasDone = seen.some(({ event }) => event.type === 'RUN_FINISHED');
			expect(wasDone ? ['success'] : ['interrupted', 'success'], id).toContain(after.run?.state);
			expect(after.answer?.status, id).toBe(after.run?.state === 'success' ? 'complete' : 'interrupted');
		}
		// Enough rounds were really interrupted.
		expect(started().filter(({ after }) => after.run?.state === 'interrupted').length).toBeGreaterThan(ROUNDS / 2);
	});

	test('its events are there from 1 without a gap, and one ends it', () => {
		for (const crashed of started()) {
			const { id, after } = crashed;
			expect(after.replay?.isCut, id).toBe(false);
			expect(
				after.replay?.events.map(({ seq }) => seq),
				id
			).toEqual(events(crashed).map((_, index) => index + 1));
			expect(events(crashed).filter(isTerminal), id).toHaveLength(1);
			expect(events(crashed).at(-1), id).toSatisfy(isTerminal);
			expect(after.run?.lastSeq, id).toBe(events(crashed).length);
		}
	});

	test('every call, result and end that was shown is there, and what was shown a second before', () => {
		for (const crashed of started()) {
			const must = crashed.seen.filter(
				({ event, at }) => DURABLE.has(kindOf(event)) || crashed.killedAt - at >= MOST_LOST_MS
			);
			const found = must.map(({ seq }) => events(crashed)[seq - 1]);
			expect(found, crashed.id).toEqual(must.map(({ event }) => event));
		}
	});

	test('the answer is what its events make, with nothing left open', () => {
		for (const crashed of started()) {
			const { id, question, after } = crashed;
			const empty = emptyAnswer(after.answer?.id ?? '', question.runId, '');
			const { parts, status, error } = events(crashed).reduce(foldEvent, empty);
			expect(after.answer, id).toMatchObject({ parts, status, error });
			for (const part of parts) if (part.type === 'tool') expect(['preparing', 'running']).not.toContain(part.status);
		}
	});

	test('a page that connects again where it was learns of the end', () => {
		for (const { id, seen, resumed } of started()) {
			if (!resumed || seen.some(({ event }) => isTerminal(event))) continue;
			expect(resumed.events.map(({ event }) => event.type).at(-1), id).toMatch(/^RUN_(ERROR|FINISHED)$/);
			// From where it left off, or from the start if that position is lost.
			const first = resumed.events[0]?.seq;
			expect([1, (seen.at(-1)?.seq ?? 0) + 1], id).toContain(first);
		}
	});

	test('no script runs twice; one that has run is in the answer, and one that has a result has run', async () => {
		for (const crashed of cases()) {
			const kinds = events(crashed).map(kindOf);
			const least = kinds.includes('TOOL_CALL_RESULT') ? 1 : 0;
			const most = kinds.includes('TOOL_CALL_END') ? 1 : 0;
			const times = await ledger.runsOf(crashed.id, app.dataDir);
			expect(times, crashed.id).toBeGreaterThanOrEqual(least);
			expect(times, crashed.id).toBeLessThanOrEqual(most);
		}
		// Scripts of a killed server have ended with it.
		await expect.poll(() => orphans().filter((line) => line.includes(ledger.file))).toEqual([]);
	});

	test('the moments were of every kind: in the first text, in the script, in the second text', () => {
		const shown = cases().map(({ seen }) => seen.map(({ event }) => event));
		const has = (list: RunEvent[], type: RunEvent['type']) => list.some((event) => event.type === type);
		const inScript = (list: RunEvent[]) => has(list, 'TOOL_CALL_END') && !has(list, 'TOOL_CALL_RESULT');
		expect(shown.some((list) => has(list, 'TEXT_MESSAGE_CONTENT') && !has(list, 'TOOL_CALL_START'))).toBe(true);
		expect(shown.some(inScript)).toBe(true);
		expect(shown.some((list) => has(list, 'TOOL_CALL_RESULT') && !has(list, 'RUN_FINISHED'))).toBe(true);
	});

	test('every conversation goes on, and the model is sent no call without its output', async () => {
		for (let number = 0; number < CONVERSATIONS; number += 1) {
			const id = `last-${number}`;
			const text = questionFor(id, 3);
			const question = { runId: id, conversationId: `conversation-${number}`, messageId: `message-${id}`, text };
			model.push(ledger.reply, ledger.reply);
			await requireAccepted(await ask(app.url, question));
			await follow(app.url, id);
			const { run, answer } = await readAftermath(app, question);
			expect(run?.state).toBe('success');
			expect(answer?.parts.map(({ type }) => type)).toEqual(['text', 'tool', 'text']);
			expect(await ledger.runsOf(id, app.dataDir)).toBe(1);
		}
		expect(ledger.unanswered).toEqual([]);
		expect(model.violations).toEqual([]);
	});

	test('later crashes changed nothing of it, and the database is whole', async () => {
		for (const { id, question, after } of cases()) {
			const now = await readAftermath(app, question);
			expect({ ...now, replay: now.replay?.events.map(({ event }) => event) }, id).toEqual({
				...after,
				replay: after.replay?.events.map(({ event }) => event)
			});
		}
		const database = new DatabaseSync(join(app.dataDir, 'app.sqlite'), { readOnly: true });
		try {
			expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
			expect(database.prepare('pragma foreign_key_check').all()).toEqual([]);
		} finally {
			database.close();
		}
	});
});
