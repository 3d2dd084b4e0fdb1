/** Contract tests for the record of executions and the modes of skills, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { ExecutionEnd, ExecutionStart } from '../../skills/run/execution-host.ts';
import { at, type Bench, startOf } from './fixtures.suite.ts';
import type { Store } from '../store.ts';

const start = (id: string, part: Partial<ExecutionStart> = {}): ExecutionStart => ({
	id,
	skillId: 'skills/demo',
	skill: 'demo',
	version: '1.0.0',
	script: 'scripts/say.sh',
	argv: ['a', 'b c'],
	digest: 'd'.repeat(64),
	sandbox: 'bubblewrap',
	limits: { timeoutMs: 30_000, memoryBytes: 1024 },
	caller: { conversationId: 'c1', runId: 'r1', toolCallId: 't1' },
	...part
});
const end = (part: Partial<ExecutionEnd> = {}): ExecutionEnd => ({
	status: 'success',
	exitCode: 0,
	durationMs: 12.4,
	stdoutBytes: 5,
	stderrBytes: 0,
	output: 'hello',
	files: [{ path: 'out.txt', bytes: 3 }],
	refused: ['example.org:443'],
	...part
});

export function testSkillExecutions(bench: () => Bench): void {
	describe('executions of skills', () => {
		let store: Store;
		beforeEach(async () => {
			({ store } = bench());
			await bench().db.deleteFrom('skill_executions').execute();
			await bench().db.deleteFrom('skill_usage').execute();
			await bench().db.deleteFrom('skill_settings').execute();
		});

		test('E12, E13: pending, running, then its end, with all that is known of it', async () => {
			const { skillExecutions } = store;
			await skillExecutions.start(start('e1'), at(1));
			expect(await skillExecutions.get('e1')).toMatchObject({ status: 'pending', exitCode: null, files: [] });
			await skillExecutions.setRunning('e1');
			expect((await skillExecutions.get('e1'))?.status).toBe('running');
			await skillExecutions.finish('e1', end(), at(2));
			expect(await skillExecutions.get('e1')).toEqual({
				...start('e1'),
				...{ caller: undefined, tool: null, input: null, apiKeyId: null, sessionId: null },
				...{ conversationId: 'c1', runId: 'r1', toolCallId: 't1', createdAt: at(1), finishedAt: at(2) },
				...{ status: 'success', errorType: null, errorMessage: null, exitCode: 0, durationMs: 12 },
				...{ stdoutBytes: 5, stderrBytes: 0, output: 'hello' },
				...{ files: [{ path: 'out.txt', bytes: 3 }], refused: ['example.org:443'], missing: null }
			});
			await skillExecutions.finish('e1', end({ status: 'error', output: 'again' }), at(3));
			expect(await skillExecutions.get('e1')).toMatchObject({ status: 'success', output: 'hello' });
			expect(await skillExecutions.get('nobody')).toBeNull();
		});

		test('D13: what it lacked is kept as data', async () => {
			const { skillExecutions } = store;
			const missing = { kind: 'package', ecosystem: 'python', name: 'python-docx', module: 'docx' } as const;
			await skillExecutions.start(start('e1'), at(1));
			await skillExecutions.finish('e1', end({ status: 'error', errorType: 'MissingPackage', missing }), at(2));
			expect((await skillExecutions.get('e1'))?.missing).toEqual(missing);
			expect((await skillExecutions.list({}, { page: 1, limit: 1 })).data[0]?.missing).toEqual(missing);
		});

		test('E10: by what is in their command, whatever signs it has', async () => {
			const { skillExecutions } = store;
			await skillExecutions.start(start('e1', { argv: ['The "quick" fox', '100%'] }), at(1));
			await skillExecutions.start(
				start('e2', { tool: 'count_words', input: '{"text":"two\\nlines"}', argv: [] }),
				at(2)
			);
			await skillExecutions.start(start('e3', { skill: 'deploy', script: 'scripts/go.sh', argv: ['1000'] }), at(3));
			const found = async (text: string) =>
				(await skillExecutions.list({ text }, { page: 1, limit: 9 })).data.map(({ id }) => id);
			expect(await found('the "QUICK" f')).toEqual(['e1']);
			expect(await found('100%')).toEqual(['e1']);
			expect(await found('two\nlines')).toEqual(['e2']);
			expect(await found('Count_w')).toEqual(['e2']);
			expect(await found('deploy')).toEqual(['e3']);
			expect(await found('!')).toEqual([]);
			expect(await found("' or 1=1 --")).toEqual([]);
			// Only the beginning of what is long is looked through.
			await skillExecutions.start(start('e4', { argv: [`begin${'a'.repeat(3000)}end`] }), at(4));
			expect([await found('begin'), await found('aend')]).toEqual([['e4'], []]);
		});

		test('E10: by what their error says, at the end of what they printed', async () => {
			const { skillExecutions } = store;
			const output = `${'a'.repeat(3000)}\nTypeError: text.toUpercase is not a function`;
			for (const [id, status] of [
				['e1', 'error'],
				['e2', 'success']
			] as const) {
				await skillExecutions.start(start(id), at(1));
				await skillExecutions.finish(id, end({ status, output }), at(2));
			}
			await skillExecutions.start(start('e3'), at(3));
			await skillExecutions.finish('e3', end({ status: 'timeout', message: 'It took longer than 30 s.' }), at(4));
			const found = async (text: string) =>
				(await skillExecutions.list({ text }, { page: 1, limit: 9 })).data.map(({ id }) => id);
			expect(await found('touppercase')).toEqual([]);
			expect(await found('toUpercase')).toEqual(['e1']);
			expect(await found('longer than 30')).toEqual(['e3']);
		});

		test('E10: newest first, by skill, status, key and conversation, in pages', async () => {
			const { skillExecutions } = store;
			for (let index = 0; index < 5; index += 1) {
				const caller = index % 2 === 0 ? { apiKeyId: 'k' } : { conversationId: 'c2' };
				await skillExecutions.start(start(`e${index}`, { caller }), at(index));
			}
			await skillExecutions.start(start('o', { skillId: 'other/demo2', skill: 'demo2' }), at(9));
			await skillExecutions.finish('e4', end({ status: 'timeout', errorType: 'ExecutionTimeout' }), at(10));
			const ids = async (...[filter, page = 1, limit = 3]: [object, number?, number?]) => {
				const { data, total } = await skillExecutions.list(filter, { page, limit });
				return [data.map(({ id }) => id).join(' '), total];
			};
			expect(await ids({})).toEqual(['o e4 e3', 6]);
			expect(await ids({}, 2)).toEqual(['e2 e1 e0', 6]);
			expect(await ids({ apiKeyId: 'k' })).toEqual(['e4 e2 e0', 3]);
			expect(await ids({ conversationId: 'c2' })).toEqual(['e3 e1', 2]);
			expect(await ids({ status: 'timeout' })).toEqual(['e4', 1]);
			for (const [id, errorType] of [
				['e0', 'ApprovalDenied'],
				['e1', 'Cancelled'],
				['e2', 'ExecutionFailed']
			] as const)
				await skillExecutions.finish(id, end({ status: 'error', errorType }), at(10));
			await skillExecutions.finish('e3', end({ status: 'error' }), at(10));
			expect(await ids({ status: 'denied' })).toEqual(['e0', 1]);
			expect(await ids({ status: 'failed' })).toEqual(['e3 e2', 2]);
			expect(await ids({ status: 'error' }, 1, 9)).toEqual(['e3 e2 e1 e0', 4]);
			expect(await ids({ skill: 'other/demo2' })).toEqual(['o', 1]);
			expect(await ids({ skill: 'demo' }, 1, 9)).toEqual(['e4 e3 e2 e1 e0', 5]);
		});

		test('F16: health: runs by day and how they ended, and what the answers in which it ran cost, each once', async () => {
			const { skillExecutions, runs } = store;
			const ran = async (id: string, runId: string | null, part: Partial<ExecutionEnd> = {}) => {
				await skillExecutions.start(start(id, { caller: runId === null ? {} : { runId } }), at(2));
				await skillExecutions.finish(id, end(part), at(3));
			};
			const answered = async (runId: string, cost: number | undefined, model = 'm/x') => {
				const begin = startOf(runId, { conversationId: `of-${runId}` });
				await runs.start({ ...begin, run: { ...begin.run, model } });
				const usage = { model, steps: 1, inputTokens: 1, outputTokens: 1, ...(cost !== undefined && { cost }) };
				const message = { ...begin.place.answer, status: 'complete' as const, usage };
				await store.messages.update(`of-${runId}`, message);
			};
			await answered('health-1', 0.0123456789);
			await answered('health-2', undefined);
			await answered('health-3', 0.5);
			await answered('health-demo', undefined, 'offline');
			await answered('health-other', 8);
			for (const id of ['e1', 'e2']) await ran(id, 'health-1');
			await ran('e3', 'health-2', { status: 'error' });
			await ran('e4', 'health-3', { status: 'timeout' });
			await ran('e5', 'health-demo');
			await ran('e6', null);
			await skillExecutions.start(start('eval', { caller: { sessionId: 'eval-1' } }), at(2));
			await skillExecutions.finish('eval', end(), at(3));
			await ran('denied', 'health-other', { status: 'error', errorType: 'ApprovalDenied' });
			await skillExecutions.start(start('open', { caller: { runId: 'health-other' } }), at(2));
			await skillExecutions.start(
				start('other', { skillId: 'skills/demo2', caller: { runId: 'health-other' } }),
				at(2)
			);
			const { days, answers } = await skillExecutions.health('skills/demo', '2026-01-01');
			const sorted = days.toSorted((a, b) => (a.status < b.status ? -1 : 1));
			const day = '2026-01-01';
			expect(sorted).toEqual([
				{ day, status: 'error', runs: 1 },
				{ day, status: 'success', runs: 4 },
				{ day, status: 'timeout', runs: 1 }
			]);
			expect(answers).toEqual({ count: 3, priced: 2, cost: 0.5123456789 });
			const nothing = { days: [], answers: { count: 0, priced: 0, cost: null } };
			expect(await skillExecutions.health('skills/demo', '2026-01-02')).toEqual(nothing);
			// What is deleted with its chat is no longer known.
			await store.conversations.remove('of-health-3');
			expect((await skillExecutions.health('skills/demo', day)).answers).toEqual({
				...{ count: 2, priced: 1, cost: 0.0123456789 }
			});
		});

		test('E12: what an earlier server left unfinished ends as an error; no other status is taken', async () => {
			const { skillExecutions } = store;
			for (const id of ['e1', 'e2', 'e3']) await skillExecutions.start(start(id), at(1));
			await skillExecutions.setRunning('e2');
			await skillExecutions.finish('e3', end(), at(2));
			expect(await skillExecutions.endUnfinished('The server was stopped.', at(5))).toBe(2);
			expect(await skillExecutions.get('e2')).toMatchObject({ status: 'error', errorType: 'Cancelled' });
			expect(await skillExecutions.get('e3')).toMatchObject({ status: 'success' });
			const wrong = skillExecutions.finish('e1', end({ status: 'fine' as 'success' }), at(6));
			await expect(wrong).resolves.toBeUndefined();
			await skillExecutions.start(start('e4'), at(7));
			await expect(skillExecutions.finish('e4', end({ status: 'fine' as 'success' }), at(8))).rejects.toThrow();
		});

		test('E10: from a time on, and before another', async () => {
			const { skillExecutions } = store;
			for (let index = 0; index < 5; index += 1) await skillExecutions.start(start(`e${index}`), at(index));
			const ids = async (filter: object) => {
				const { data, total } = await skillExecutions.list(filter, { page: 1, limit: 9 });
				return [data.map(({ id }) => id).join(' '), total];
			};
			expect(await ids({ since: at(3) })).toEqual(['e4 e3', 2]);
			expect(await ids({ until: at(2) })).toEqual(['e1 e0', 2]);
			expect(await ids({ since: at(1), until: at(4) })).toEqual(['e3 e2 e1', 3]);
			expect(await ids({ since: at(9) })).toEqual(['', 0]);
		});

		test('E29: page after page gives every row once, those of the same time too, whatever is added meanwhile', async () => {
			const { skillExecutions } = store;
			// Ids and times sort differently; four share each time.
			for (let index = 0; index < 12; index += 1) {
				await skillExecutions.start(start(`e${(index * 7) % 12}`.padEnd(4, 'x')), at(Math.floor(index / 4)));
			}
			const { data } = await skillExecutions.list({}, { page: 1, limit: 100 });
			const seen: string[] = [];
			let last: { createdAt: string; id: string } | null = null;
			for (;;) {
				const rows = await skillExecutions.after({ skill: 'demo' }, last, 5);
				seen.push(...rows.map(({ id }) => id));
				await skillExecutions.start(start(`new${seen.length}`), at(30));
				last = rows.at(-1) ?? null;
				if (rows.length < 5) break;
			}
			expect(seen).toEqual(data.map(({ id }) => id));
			expect(new Set(seen).size).toBe(12);
			const oldest = await skillExecutions.after({ until: at(1) }, null, 100);
			expect(oldest.map(({ createdAt }) => createdAt)).toEqual([at(0), at(0), at(0), at(0)]);
		});

		test('E1: each execution counts once, when it ends; an error, a time-out and an interruption are failures', async () => {
			const { skillExecutions } = store;
			expect(await skillExecutions.usage()).toEqual(new Map());
			for (const [index, id] of ['ok', 'error', 'timeout', 'left'].entries()) {
				await skillExecutions.start(start(id), at(index));
			}
			await skillExecutions.start(start('old', { version: '0.1.0' }), at(0));
			await skillExecutions.start(start('other', { skillId: 'other/demo' }), at(9));
			// Evals are no use of a skill.
			await skillExecutions.start(start('eval', { caller: { sessionId: 'eval-1' } }), at(9));
			await skillExecutions.finish('eval', end(), at(9));
			expect(await skillExecutions.usage()).toEqual(new Map());
			await skillExecutions.finish('timeout', end({ status: 'timeout' }), at(5));
			await skillExecutions.finish('error', end({ status: 'error' }), at(6));
			await Promise.all([1, 2, 3].map(() => skillExecutions.finish('ok', end(), at(7))));
			expect(await skillExecutions.usage()).toEqual(
				new Map([['skills/demo', { executions: 3, failures: 2, lastUsedAt: at(2) }]])
			);
			await skillExecutions.finish('old', end(), at(8));
			expect(await skillExecutions.endUnfinished('The server was stopped.', at(10))).toBe(2);
			expect(await skillExecutions.endUnfinished('Again.', at(11))).toBe(0);
			expect(await skillExecutions.usage()).toEqual(
				new Map([
					['skills/demo', { executions: 5, failures: 3, lastUsedAt: at(3) }],
					['other/demo', { executions: 1, failures: 1, lastUsedAt: at(9) }]
				])
			);
		});

		test('E12: one may have printed more than 4 GB', async () => {
			const { skillExecutions } = store;
			await skillExecutions.start(start('e1'), at(1));
			const printed = { stdoutBytes: 5_000_000_001, stderrBytes: 5_000_000_002 };
			await skillExecutions.finish('e1', end(printed), at(2));
			expect(await skillExecutions.get('e1')).toMatchObject(printed);
		});

		test('B6, E3: a mode is kept, and the one before it', async () => {
			const { skillSettings } = store;
			await skillSettings.set({ skillId: 'demo', mode: 'on', modeBefore: null }, at(1));
			await skillSettings.set({ skillId: 'demo', mode: 'off', modeBefore: 'on' }, at(2));
			expect(await skillSettings.list()).toEqual([{ skillId: 'demo', mode: 'off', modeBefore: 'on' }]);
		});
	});
}
