import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../tests/support/folder.ts';
import {
	call,
	dynamic,
	endless,
	gate,
	startModelServer,
	status,
	text,
	type ModelServer,
	type Reply
} from '../../../../tests/support/model-server.ts';
import { plainProcesses } from '../../../../tests/support/plain-processes.ts';
import { ASKED, UNFIT } from '../../shared/questions.ts';
import { type EvalAnswer, evalStart, type EvalResult, type EvalRun } from '../../shared/try-out.ts';
import { createLog } from '../log.ts';
import { createResponsesModel } from '../models/responses/responses.ts';
import { createApprovalPolicy } from '../trust/approval-policy.ts';
import { createExecutionRecorder } from '../skill-admin/executions.ts';
import { openSkillModes, type StoredSkillModes } from '../trust/skill-modes.ts';
import { createSkillsProvider, type SkillsProvider } from '../skills/provider.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { createTrust } from '../trust/trust.ts';
import { createEvals, type EvalAgent, type Evals, type EvalsParts } from './evals.ts';

const folder = emptyFolder();
let server: ModelServer;
let store: Store;
let skills: SkillsProvider;
let modes: StoredSkillModes;
let parts: EvalsParts;
let agent: EvalAgent;
let evals: Evals;
let isEnabled: boolean;

beforeEach(async () => {
	isEnabled = true;
	server = await startModelServer();
	for (const source of ['local', 'installed']) {
		const name = source === 'local' ? 'demo' : 'stranger';
		await put(
			`${source}/${name}/SKILL.md`,
			`---\nname: ${name}\ndescription: Says things.\nversion: 1.2.3\n---\nSay it.`
		);
		await put(`${source}/${name}/scripts/say.sh`, 'echo "said: $(cat input.txt)"; printf x > made.txt\n');
		await put(`${source}/${name}/evals/files/input.txt`, 'forty-two');
		await putEvals(`${source}/${name}`, [{ id: 1, prompt: 'Say it.', expectations: ['contains: forty-two'] }]);
	}
	await put('local/other/SKILL.md', '---\nname: other\ndescription: Another.\n---\nText.');
	store = await openSqliteStore(join(folder, 'app.sqlite'));
	const log = createLog(() => undefined);
	const roots = ['local', 'installed'].map((name) => join(folder, name));
	const recorder = createExecutionRecorder(store, log);
	skills = await createSkillsProvider(roots, { sandbox: plainProcesses(), host: { recorder } });
	modes = await openSkillModes(store);
	const trust = createTrust({ store, roots, installedRoot: join(folder, 'installed'), trustsLocal: true });
	agent = {
		model: createResponsesModel({ id: 'test/model', baseUrl: server.url, apiKey: 'k' }),
		...{ effort: null, isOffline: false },
		limits: { maxSteps: 5, maxCostUsd: null, maxDurationMs: 60_000, toolTimeoutMs: 30_000 }
	};
	parts = {
		...{ store, skills, modes, log, isEnabled: () => isEnabled },
		agent: () => agent,
		approvals: createApprovalPolicy({ store, trust, mode: 'auto' }),
		folder: join(folder, 'answers')
	};
	evals = await createEvals(parts);
});
afterEach(async () => {
	await evals.close();
	await server.close();
	await skills.close();
	await store.close();
});

const put = (path: string, content: string) => putFile(folder, path, content);
const putEvals = (skill: string, list: object[]) => put(`${skill}/evals/evals.json`, JSON.stringify({ evals: list }));

const start = (id: string, options: object = {}) => evals.start(id, evalStart.parse(options));
const finished = async (id: string, options: object = {}): Promise<EvalRun> => {
	const { id: runId } = await start(id, options);
	for (;;) {
		const run = await evals.get(id, runId);
		if (run.state !== 'running') return run;
		await new Promise((resolve) => setImmediate(resolve));
	}
};
const answersOf = (result: EvalResult | undefined, side: string): EvalAnswer[] =>
	result?.answers.filter((answer) => answer.side === side) ?? [];
const withSkill = (result: EvalResult | undefined) => answersOf(result, '1');
const withoutSkill = (result: EvalResult | undefined) => answersOf(result, '2');
/** Of each side. */
const ratesOf = (run: EvalRun) => run.sides.map(({ figures }) => figures.passRate?.value ?? null);
/** Picks the reply by the request, in any order. */
const serve = (
	count: number,
	choose: (asked: { isWith: boolean; isJudge: boolean; results: number; body: Record<string, unknown> }) => Reply
) =>
	server.push(
		...Array.from({ length: count }, () =>
			dynamic((body) => {
				const results = (body.input as { type: string }[]).filter(({ type }) => type === 'function_call_output').length;
				const isJudge = String(body.instructions).startsWith('You grade');
				return choose({ isWith: Array.isArray(body.tools) && body.tools.length > 0, isJudge, results, body });
			})
		)
	);
const runScript = call('use_skill', { skill: 'demo', script: 'scripts/say.sh' });

describe('F16: what cannot be evaluated is refused, and leaves no run', () => {
	test.each([
		['a skill that is not there', 'ghost', {}, 'not_found', 404],
		['F4: a skill that nobody trusts', 'stranger', {}, 'forbidden', 403],
		['a skill without evals', 'other', {}, 'conflict', 409],
		['an eval that is not there', 'demo', { ids: [1, 'ghost'] }, 'invalid_input', 400],
		['no eval at all', 'demo', { ids: [] }, 'invalid_input', 400]
	])('%s', async (_, id, options, code, httpStatus) => {
		await expect(start(id, options)).rejects.toMatchObject({ code, status: httpStatus });
		expect(server.requests).toEqual([]);
		if (id !== 'ghost') expect((await evals.list(id)).runs).toEqual([]);
	});

	test.each([
		...[{ rounds: 0 }, { rounds: 11 }, { rounds: 1.5 }, { ids: [{}] }, { model: 'x' }, { kind: 'other' }],
		...[{ models: [] }, { models: ['a', 'b', 'c', 'd', 'e', 'f'] }, { models: ['a b'] }, { maxCostUsd: 0 }]
	])('%j is no request', (body) => {
		expect(evalStart.safeParse(body).success).toBe(false);
	});

	test('E11, B6: while skills are switched off, and a skill that is off', async () => {
		isEnabled = false;
		await expect(start('demo')).rejects.toMatchObject({ code: 'unavailable' });
		isEnabled = true;
		await modes.setMode({ source: 'local', name: 'demo', version: '1.2.3' }, 'off');
		await expect(start('demo')).rejects.toMatchObject({ code: 'conflict' });
	});

	test('a broken evals.json, with the reason also in the list', async () => {
		await put('local/demo/evals/evals.json', '{');
		await expect(start('demo')).rejects.toMatchObject({
			code: 'conflict',
			message: expect.stringContaining('isn’t valid JSON')
		});
		expect(await evals.list('demo')).toMatchObject({ cases: [], problem: expect.stringContaining('isn’t valid JSON') });
	});

	test('more than 400 answers', async () => {
		const many = Array.from({ length: 21 }, (_, index) => ({ id: index, prompt: 'x' }));
		await putEvals('local/demo', many);
		await expect(start('demo', { rounds: 10 })).rejects.toMatchObject({ code: 'invalid_input' });
	});
});

describe('F16: with and without the skill, side by side', () => {
	test('the skill’s files and scripts are in reach as in a chat, without it nothing is; executions are in the record', async () => {
		await putEvals('local/demo', [
			{
				id: 'say',
				prompt: 'Say it.',
				expected_output: 'The word.',
				files: ['evals/files/input.txt'],
				expectations: [
					'contains: forty-two',
					'file: made.txt',
					'skillLoaded: demo',
					'toolCalled: scripts/say.sh',
					'It is kind.'
				]
			}
		]);
		const load = call('load_skill', { skill: 'demo' });
		serve(6, ({ isWith, isJudge, results, body }) => {
			if (isJudge) {
				const asked = JSON.stringify(body.input);
				return text(`Sure:\n\`\`\`json\n[{"met": ${asked.includes('forty')}, "reason": "seen"}]\n\`\`\``);
			}
			expect(JSON.stringify(body.input)).toContain('input.txt (9 bytes)');
			// As in a chat.
			expect(JSON.stringify(body.input)).toContain(JSON.stringify('Attached files:\n- input.txt'));
			if (!isWith) return text('I cannot.');
			expect(JSON.stringify(body.input)).not.toContain('evals.json');
			return results === 0 ? load : results === 1 ? runScript : text('It says forty-two.');
		});
		const run = await finished('demo');
		server.assertDone();
		expect(run).toMatchObject({
			...{ skillId: 'local/demo', version: '1.2.3', state: 'done', error: null, progress: { done: 2, total: 2 } },
			sides: [
				{ kind: 'with', version: '1.2.3', model: 'test/model' },
				{ kind: 'without', version: null, model: 'test/model' }
			]
		});
		expect(ratesOf(run)).toEqual([1, 0]);
		const [result] = run.results;
		expect(result).toMatchObject({ id: 'say', prompt: 'Say it.', expected: 'The word.' });
		expect(withSkill(result)).toEqual([
			{
				...{ side: '1', round: 1, steps: 3, files: ['made.txt'], isCached: false },
				costUsd: expect.closeTo(0.0003),
				...{ status: 'success', text: 'It says forty-two.', loaded: ['demo'], error: null },
				calls: ['load_skill: {"skill":"demo"}', 'use_skill: {"skill":"demo","script":"scripts/say.sh"}'],
				durationMs: expect.any(Number),
				tokens: expect.any(Number),
				expectations: [
					{ text: 'contains: forty-two', isMet: true, reason: 'The reply contains this text.' },
					{ text: 'file: made.txt', isMet: true, reason: 'It was created.' },
					{ text: 'skillLoaded: demo', isMet: true, reason: 'It was loaded.' },
					{ text: 'toolCalled: scripts/say.sh', isMet: true, reason: 'It was called.' },
					{ text: 'It is kind.', isMet: true, reason: 'seen' }
				]
			}
		]);
		expect(withoutSkill(result)[0]).toMatchObject({ text: 'I cannot.', loaded: [], calls: [] });
		expect(withoutSkill(result)[0]?.expectations.map(({ isMet }) => isMet)).toEqual([
			false,
			false,
			false,
			false,
			false
		]);
		const { data } = await store.skillExecutions.list({}, { page: 1, limit: 9 });
		expect(data).toMatchObject([{ skillId: 'local/demo', status: 'success', sessionId: `eval-${run.id}` }]);
		expect(await readdir(join(folder, 'answers'))).toEqual([]);
		const { results: _, ...summary } = run;
		expect((await evals.list('demo')).runs).toEqual([summary]);
		expect(await store.evalRuns.get(run.id)).toEqual(run);
	});

	test('only the chosen evals, as many rounds as were wished for', async () => {
		await putEvals('local/demo', [
			{ id: 1, prompt: 'One.' },
			{ id: 2, prompt: 'Two.', expectations: ['contains: yes'] }
		]);
		serve(6, ({ isWith }) => text(isWith ? 'yes' : 'no'));
		const run = await finished('demo', { ids: ['2'], rounds: 3 });
		server.assertDone();
		expect(run.progress).toEqual({ done: 6, total: 6 });
		expect(run.results.map((each) => [each.id, withSkill(each).length, withoutSkill(each).length])).toEqual([
			['2', 3, 3]
		]);
		expect(ratesOf(run)).toEqual([1, 0]);
	});

	test('what nobody could tell counts for nothing: no judge’s word, a judge that fails, an answer that failed', async () => {
		await putEvals('local/demo', [
			{ id: 1, prompt: 'One.', expectations: ['It is kind.', 'It is short.', 'contains: yes'] }
		]);
		serve(4, ({ isWith, isJudge, body }) => {
			if (!isJudge) return isWith ? text('yes') : status(401, { error: { code: 401, message: 'No such key' } });
			return JSON.stringify(body).includes('yes')
				? text('[{"met": "maybe"}, {"met": false, "reason": "long"}]')
				: status(400);
		});
		const run = await finished('demo');
		expect(run.state).toBe('done');
		expect(ratesOf(run)).toEqual([0.5, null]);
		const [result] = run.results;
		expect(withSkill(result)[0]?.expectations.map(({ isMet }) => isMet)).toEqual([null, false, true]);
		expect(withoutSkill(result)[0]).toMatchObject({ status: 'failed', error: expect.any(String) });
		expect(withoutSkill(result)[0]?.expectations.map(({ isMet }) => isMet)).toEqual([null, null, null]);
	});

	test('an answer that never ends is left when its time is over, and so is a judge that never has done', async () => {
		await putEvals('local/demo', [{ id: 1, prompt: 'One.', expectations: ['It is kind.'] }]);
		agent.limits.maxDurationMs = 1000;
		serve(3, ({ isWith, isJudge }) => (isJudge || !isWith ? endless(': alive\n\n') : text('yes')));
		const run = await finished('demo');
		expect(withSkill(run.results[0])).toMatchObject([
			{ expectations: [{ isMet: null, reason: expect.stringContaining('longer than 1 s') }] }
		]);
		expect(withoutSkill(run.results[0])).toMatchObject([{ error: 'It reached a limit: time.' }]);
	});

	test('a run of which no answer came has failed, with the reason', async () => {
		serve(2, () => status(401, { error: { code: 401, message: 'No such key' } }));
		const run = await finished('demo');
		expect(run).toMatchObject({ state: 'failed', error: expect.any(String) });
		expect(ratesOf(run)).toEqual([null, null]);
	});

	test('a file of an eval that is not there, or lies elsewhere, fails its answers alone', async () => {
		await putEvals('local/demo', [
			{ id: 1, prompt: 'One.', files: ['evals/files/ghost.txt'] },
			{ id: 2, prompt: 'Two.', files: ['../other/SKILL.md'] },
			{ id: 3, prompt: 'Three.' }
		]);
		serve(2, () => text('fine'));
		const run = await finished('demo');
		server.assertDone();
		expect(run.state).toBe('done');
		expect(run.results.map((each) => [withSkill(each)[0]?.status, withSkill(each)[0]?.error])).toEqual([
			['failed', 'Couldn’t read the file “evals/files/ghost.txt” of this eval.'],
			['failed', 'Couldn’t read the file “../other/SKILL.md” of this eval.'],
			['success', null]
		]);
	});

	test('F4: files that change while it runs are not run', async () => {
		await put('installed/trusted/SKILL.md', '---\nname: trusted\ndescription: x\n---\nx');
		await put('installed/trusted/scripts/say.sh', 'echo first\n');
		await putEvals('installed/trusted', [{ id: 1, prompt: 'x' }]);
		await skills.reload();
		const roots = [join(folder, 'local'), join(folder, 'installed')];
		const trust = createTrust({ store, roots, installedRoot: join(folder, 'installed'), trustsLocal: true });
		const skill = skills.registry.snapshot().skills.find(({ name }) => name === 'trusted');
		if (!skill) throw new Error('the skill is not there');
		await trust.trust(skill, (await trust.review(skill)).digest, '2026-01-01T00:00:00.000Z');
		const changed = gate();
		serve(2, ({ isWith }) =>
			isWith ? [text(changed, 'Now.'), call('use_skill', { skill: 'trusted', script: 'say.sh' })] : text('no')
		);
		const { id } = await start('trusted');
		await server.received(2);
		await put('installed/trusted/scripts/say.sh', 'echo other\n');
		changed.open();
		let run = await evals.get('trusted', id);
		while (run.state === 'running') {
			await new Promise((resolve) => setImmediate(resolve));
			run = await evals.get('trusted', id);
		}
		expect(withSkill(run.results[0])[0]).toMatchObject({
			status: 'failed',
			error: expect.stringContaining('changed since you trusted it')
		});
		expect((await store.skillExecutions.list({}, { page: 1, limit: 1 })).total).toBe(0);
	});

	test('C16: with SKILLS_APPROVAL=ask only what somebody has allowed for good runs; the answer says how', async () => {
		const roots = [join(folder, 'local')];
		const trust = createTrust({ store, roots, installedRoot: join(folder, 'installed'), trustsLocal: true });
		await evals.close();
		evals = await createEvals({ ...parts, approvals: createApprovalPolicy({ store, trust, mode: 'ask' }) });
		const answers = (count: number) =>
			serve(count, ({ isWith, results }) => (isWith && results === 0 ? runScript : text('done')));
		answers(2);
		expect(withSkill((await finished('demo')).results[0])[0]).toMatchObject({
			status: 'failed',
			error: expect.stringMatching(/“demo” wants to run scripts\/say\.sh.*Always allow it in the chat/)
		});
		expect((await store.skillExecutions.list({}, { page: 1, limit: 1 })).total).toBe(0);
		const skill = skills.registry.snapshot().skills.find(({ name }) => name === 'demo');
		if (!skill) throw new Error('the skill is not there');
		const digest = await trust.digestOf(skill);
		await store.approvals.grant({ skill: 'demo', script: '', digest }, '2026-01-01T00:00:00.000Z');
		answers(3);
		await finished('demo');
		expect((await store.skillExecutions.list({}, { page: 1, limit: 1 })).total).toBe(1);
	});

	test('the built-in responder judges nothing, and says so', async () => {
		await putEvals('local/demo', [{ id: 1, prompt: 'One.', expectations: ['It is kind.', 'contains: yes'] }]);
		agent.isOffline = true;
		serve(2, () => text('yes'));
		const run = await finished('demo');
		server.assertDone();
		expect(ratesOf(run)).toEqual([1, 1]);
		expect(withSkill(run.results[0])[0]?.expectations[0]).toMatchObject({
			isMet: null,
			reason: expect.stringContaining('Demo mode')
		});
	});

	test.each([
		['asks back', `Which one?\n\n${ASKED}`],
		['says that no skill fits', `Which one? ${UNFIT}`]
	])('an answer of Demo mode that only %s meets no check, whatever it loaded', async (_, said) => {
		await putEvals('local/demo', [{ id: 1, prompt: 'One.', expectations: ['contains: Which', 'notContains: no'] }]);
		agent.isOffline = true;
		serve(2, ({ isWith }) => text(isWith ? said : 'Which? None.'));
		const run = await finished('demo');
		expect(ratesOf(run)).toEqual([null, 1]);
		const [asked] = withSkill(run.results[0]);
		expect(asked?.expectations.map(({ isMet }) => isMet)).toEqual([null, null]);
		expect(asked?.expectations[0]?.reason).toBe('Demo mode couldn’t answer this.');
	});
});

describe('F16: a run is followed, stopped and kept', () => {
	test('two answers at a time, stored one by one; the same skill’s evals run once at a time', async () => {
		const list = [1, 2].map((id) => ({ id, prompt: `Prompt ${id}.`, expectations: ['contains: yes'] }));
		await putEvals('local/demo', list);
		const [first, rest] = [gate(), gate()];
		let count = 0;
		serve(4, () => text((count += 1) === 1 ? first : rest, 'yes'));
		const run = await start('demo');
		expect(run).toMatchObject({ state: 'running', progress: { done: 0, total: 4 } });
		await expect(start('demo')).rejects.toMatchObject({ code: 'conflict' });
		await server.received(2);
		expect(server.requests).toHaveLength(2);
		first.open();
		await server.received(3);
		expect(await store.evalRuns.get(run.id)).toMatchObject({ state: 'running', progress: { done: 1, total: 4 } });
		expect((await evals.list('demo')).runs).toMatchObject([{ id: run.id, progress: { done: 1 } }]);
		rest.open();
		while ((await evals.get('demo', run.id)).state === 'running') await new Promise((resolve) => setImmediate(resolve));
		expect(await store.evalRuns.get(run.id)).toMatchObject({ state: 'done' });
	});

	test('what a change of the skill makes old is marked, in the list, too; its evals are no part of it', async () => {
		serve(2, () => text('forty-two'));
		const { id } = await finished('demo', { without: false });
		const isOld = async () => [
			(await evals.get('demo', id)).isOutdated,
			(await evals.list('demo')).runs.map((run) => run.isOutdated)
		];
		await putEvals('local/demo', [{ id: 1, prompt: 'Say more.' }]);
		expect(await isOld()).toEqual([undefined, [undefined]]);
		const path = 'local/demo/scripts/say.sh';
		const before = await readFile(join(folder, path), 'utf8');
		await put(path, 'exit 1\n');
		expect(await isOld()).toEqual([true, [true]]);
		await put(path, before);
		expect(await isOld()).toEqual([undefined, [undefined]]);
	});

	test('twenty starts at once are one run', async () => {
		const held = gate();
		serve(2, () => text(held, 'yes'));
		const started = await Promise.allSettled(Array.from({ length: 20 }, () => start('demo')));
		expect(started.filter((each) => each.status === 'fulfilled')).toHaveLength(1);
		held.open();
	});

	test('cancelled, it stops asking, and stays so; a run is its skill’s alone', async () => {
		const held = gate();
		serve(2, () => text(held, 'yes'));
		const run = await start('demo');
		await server.received(2);
		await expect(evals.cancel('other', run.id)).rejects.toMatchObject({ code: 'not_found' });
		await expect(evals.get('other', run.id)).rejects.toMatchObject({ code: 'not_found' });
		const cancelled = await evals.cancel('demo', run.id);
		expect(cancelled).toMatchObject({ state: 'cancelled', error: null, finishedAt: expect.any(String) });
		expect(withSkill(cancelled.results[0])).toMatchObject([{ status: 'cancelled' }]);
		expect(await evals.cancel('demo', run.id)).toEqual(cancelled);
		expect(await store.evalRuns.get(run.id)).toEqual(cancelled);
		await expect(evals.get('demo', 'ghost')).rejects.toMatchObject({ code: 'not_found' });
	});

	test('a server that is stopped ends it, and one that was killed ends it at the next start', async () => {
		const held = gate();
		serve(2, () => text(held, 'yes'));
		const run = await start('demo');
		await server.received(2);
		await evals.close();
		const stopped = { state: 'failed', error: 'The server stopped before this finished.' };
		expect(await store.evalRuns.get(run.id)).toMatchObject(stopped);
		await expect(start('demo')).rejects.toMatchObject({ code: 'unavailable' });

		await store.evalRuns.put({ ...run, id: 'killed', state: 'running', finishedAt: null });
		await put('answers/answer-x/left.txt', 'left');
		evals = await createEvals(parts);
		expect(await evals.get('demo', 'killed')).toMatchObject(stopped);
		await expect(readdir(join(folder, 'answers'))).rejects.toThrow('ENOENT');
	});
});

test('F16: imported results stand among the runs, once, and there is nothing to go on with; the oldest don’t fit', async () => {
	const json = { expectations: [{ text: 'a', passed: true }] };
	const { runs } = await evals.importRuns('demo', { json });
	await evals.importRuns('demo', { json });
	expect((await evals.list('demo')).runs).toEqual(runs);
	const id = runs[0]?.id ?? '';
	expect(await evals.get('demo', id)).toMatchObject({ importedFrom: 'grading.json', results: [{ prompt: 'Say it.' }] });
	await expect(evals.goOn('demo', id, {})).rejects.toMatchObject({ code: 'conflict' });
	const run = await evals.get('demo', id);
	for (let index = 0; index < 49; index++) await store.evalRuns.put({ ...run, id: `r${index}` });
	const old = { ...json, timing: { executor_start: '2020-01-01T00:00:00Z' } };
	const { runs: none, problems } = await evals.importRuns('demo', { json: old });
	expect({ none, problems }).toEqual({ none: [], problems: ['grading.json is older than the 50 runs that are kept.'] });
});
