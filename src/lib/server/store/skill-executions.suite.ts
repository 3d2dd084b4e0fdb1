/** What the record of executions and the modes of skills promise, whichever database they are in. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { ExecutionEnd, ExecutionStart } from '../skills/execution-host.ts';
import type { Bench } from './fixtures.suite.ts';
import { at } from './fixtures.suite.ts';
import type { Store } from './store.ts';

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
				...{ files: [{ path: 'out.txt', bytes: 3 }], refused: ['example.org:443'] }
			});
			await skillExecutions.finish('e1', end({ status: 'error', output: 'again' }), at(3));
			expect(await skillExecutions.get('e1')).toMatchObject({ status: 'success', output: 'hello' });
			expect(await skillExecutions.get('nobody')).toBeNull();
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
			expect(await ids({ skill: 'other/demo2' })).toEqual(['o', 1]);
			expect(await ids({ skill: 'demo' }, 1, 9)).toEqual(['e4 e3 e2 e1 e0', 5]);
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

		test('B6, E3: a mode is kept, and the one before it', async () => {
			const { skillSettings } = store;
			await skillSettings.set({ skillId: 'demo', mode: 'on', modeBefore: null }, at(1));
			await skillSettings.set({ skillId: 'demo', mode: 'off', modeBefore: 'on' }, at(2));
			expect(await skillSettings.list()).toEqual([{ skillId: 'demo', mode: 'off', modeBefore: 'on' }]);
		});
	});
}
