/** Sides, models, reuse, going on, limits and trigger evals: what `evals.test.ts` has no room for. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../tests/support/folder.ts';
import {
	call,
	dynamic,
	gate,
	type ModelServer,
	type Reply,
	startModelServer,
	status,
	text
} from '../../../../tests/support/model-server.ts';
import { plainProcesses } from '../../../../tests/support/plain-processes.ts';
import { evalRun, evalStart, type EvalRun } from '../../shared/try-out.ts';
import type { AgentLimits } from '../agent/loop.ts';
import { createLog } from '../log.ts';
import { createResponsesModel } from '../models/responses/responses.ts';
import { createOfflineModel } from '../offline/offline.ts';
import { DEFAULT_LIMITS } from '../sandbox/sandbox.ts';
import { createSkillsProvider, type SkillsProvider } from '../skills/provider.ts';
import type { Skill } from '../skills/types.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { createApprovalPolicy } from '../trust/approval-policy.ts';
import { openSkillModes } from '../trust/skill-modes.ts';
import { createTrust } from '../trust/trust.ts';
import { createEvals, type Evals, type EvalsParts } from './evals.ts';

const folder = emptyFolder();
let server: ModelServer;
let store: Store;
let skills: SkillsProvider;
let parts: EvalsParts;
let evals: Evals;
let limits: AgentLimits;
let isOffline: boolean;

beforeEach(async () => {
	isOffline = false;
	server = await startModelServer();
	await put('local/demo/SKILL.md', skillMd('demo', 'Says the word of the day.', '2.0.0'));
	await put('local/demo-old/SKILL.md', skillMd('demo', 'Says a word.', '1.0.0'));
	await put('local/weather/SKILL.md', skillMd('weather', 'Forecasts the weather of a city.', '1.0.0'));
	await putEvals([{ id: 1, prompt: 'Say it.', expectations: ['contains: yes'] }]);
	store = await openSqliteStore(join(folder, 'app.sqlite'));
	const roots = [join(folder, 'local')];
	skills = await createSkillsProvider(roots, { sandbox: plainProcesses() });
	const modes = await openSkillModes(store);
	const trust = createTrust({ store, roots, installedRoot: join(folder, 'installed'), trustsLocal: true });
	limits = { maxSteps: 5, maxCostUsd: null, maxDurationMs: 60_000, toolTimeoutMs: 30_000 };
	parts = {
		...{ store, skills, modes, log: createLog(() => undefined), isEnabled: () => true },
		agent: (id) => ({
			model: isOffline
				? createOfflineModel()
				: createResponsesModel({ id: id ?? 'default/model', baseUrl: server.url, apiKey: 'k' }),
			...{ effort: null, isOffline, limits }
		}),
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

function skillMd(name: string, description: string, version: string): string {
	return `---\nname: ${name}\ndescription: ${description}\nversion: ${version}\n---\nDo it.`;
}
const put = (path: string, content: string) => putFile(folder, path, content);
const putEvals = (list: object[]) => put('local/demo/evals/evals.json', JSON.stringify({ evals: list }));
const putTriggers = (list: object[]) => put('local/demo/evals/trigger-evals.json', JSON.stringify(list));

const start = (options: object = {}) => evals.start('demo', evalStart.parse(options));
const ended = async ({ id }: EvalRun): Promise<EvalRun> => {
	for (;;) {
		const run = await evals.get('demo', id);
		if (run.state !== 'running') return run;
		await new Promise((resolve) => setImmediate(resolve));
	}
};
const finished = async (options: object = {}): Promise<EvalRun> => ended(await start(options));

interface Asked {
	model: unknown;
	isWith: boolean;
	isJudge: boolean;
	/** Everything that was sent. */
	all: string;
}
const serve = (count: number, choose: (asked: Asked) => Reply) =>
	server.push(
		...Array.from({ length: count }, () =>
			dynamic((body) =>
				choose({
					model: body.model,
					isWith: Array.isArray(body.tools) && body.tools.length > 0,
					isJudge: String(body.instructions).startsWith('You grade'),
					all: JSON.stringify(body)
				})
			)
		)
	);
const sidesOf = (run: EvalRun) =>
	run.sides.map(({ kind, version, model, figures }) => [kind, version, model, figures.passRate?.value ?? null]);

describe('F16: sides', () => {
	test('the skill, another version and no skill, by each model, each round', async () => {
		serve(12, ({ all, isWith, model }) => {
			if (!isWith) return text('no');
			return text(all.includes('word of the day') || model === 'b/two' ? 'yes' : 'no');
		});
		const run = await finished({ models: ['a/one', 'b/two'], version: '1.0.0', rounds: 2 });
		server.assertDone();
		expect(evalRun.parse(run)).toEqual(run);
		expect(run).toMatchObject({ state: 'done', progress: { done: 12, total: 12 }, costUsd: expect.closeTo(0.0012) });
		expect(sidesOf(run)).toEqual([
			['with', '2.0.0', 'a/one', 1],
			['with', '2.0.0', 'b/two', 1],
			['version', '1.0.0', 'a/one', 0],
			['version', '1.0.0', 'b/two', 1],
			['without', null, 'a/one', 0],
			['without', null, 'b/two', 0]
		]);
		expect(run.sides[0]?.figures).toMatchObject({ answers: 2, met: 2, steps: 1, costUsd: expect.closeTo(0.0002) });
		expect(run.sides[0]?.digest).not.toBe(run.sides[2]?.digest);
	});

	test('only the skill, if that was wished for', async () => {
		serve(1, () => text('yes'));
		expect(sidesOf(await finished({ without: false }))).toEqual([['with', '2.0.0', 'default/model', 1]]);
		server.assertDone();
	});

	test.each([
		[{ version: '9.9.9' }, 'not_found'],
		[{ version: '2.0.0' }, 'not_found']
	])('%j is no other version', async (options, code) => {
		await expect(start(options)).rejects.toMatchObject({ code });
		expect((await evals.list('demo')).runs).toEqual([]);
	});

	test('the default model judges all, whoever answered', async () => {
		await putEvals([{ id: 1, prompt: 'Say it.', expectations: ['It is kind.'] }]);
		const judges: unknown[] = [];
		serve(4, ({ isJudge, model }) => {
			if (isJudge) judges.push(model);
			return text(isJudge ? '[{"met": true, "reason": "so"}]' : 'yes');
		});
		await finished({ models: ['a/one', 'b/two'], without: false });
		expect(judges).toEqual(['default/model', 'default/model']);
	});

	test('the same model twice, and any models in demo mode, are one', async () => {
		serve(2, () => text('yes'));
		expect((await finished({ models: ['a/one', 'a/one'] })).sides).toHaveLength(2);
		isOffline = true;
		expect((await finished({ models: ['a/one', 'b/two'] })).sides).toHaveLength(2);
		server.assertDone();
	});
});

describe('F16: an answer that is there isn’t asked for again', () => {
	test('in the next run; unless told to, or the skill, the model or the prompt has changed', async () => {
		serve(2, () => text('yes'));
		await finished();
		const again = await finished();
		server.assertDone();
		expect(again.results[0]?.answers).toMatchObject([{ isCached: true }, { isCached: true }]);
		expect(again).toMatchObject({ state: 'done', costUsd: null, sides: [{ figures: { met: 1 } }, {}] });

		serve(2, () => text('yes'));
		await finished({ isFresh: true });
		server.assertDone();

		serve(1, () => text('yes'));
		await put('local/demo/SKILL.md', skillMd('demo', 'Says another word of the day.', '2.0.0'));
		await skills.reload();
		expect((await finished()).results[0]?.answers.map(({ side, isCached }) => [side, isCached])).toEqual([
			['1', false],
			['2', true]
		]);
		server.assertDone();

		serve(2, () => text('yes'));
		await finished({ models: ['a/one'] });
		server.assertDone();

		serve(2, () => text('yes'));
		await putEvals([{ id: 1, prompt: 'Say it.', expectations: ['contains: ye'] }]);
		await finished();
		server.assertDone();
	});

	test('a failed answer, and one that the judge said nothing of, are', async () => {
		await putEvals([
			{ id: 1, prompt: 'One.', expectations: ['It is kind.'] },
			{ id: 2, prompt: 'Two.' }
		]);
		const choose = ({ isJudge, all }: Asked): Reply => {
			if (isJudge) return text('I’d rather not.');
			return all.includes('One.') ? text('yes') : status(401, { error: { code: 401, message: 'No such key' } });
		};
		serve(3, choose);
		const run = await finished({ without: false });
		server.assertDone();
		expect(run.results[0]?.answers[0]?.expectations).toEqual([
			{ text: 'It is kind.', isMet: null, reason: 'The judge didn’t answer with the JSON it was asked for.' }
		]);
		serve(3, choose);
		await finished({ without: false });
		server.assertDone();
	});
});

describe('F16: a run that has stopped goes on', () => {
	test('after a crash, where it was: nothing that came is asked again', async () => {
		const [first, never] = [gate(), gate()];
		let count = 0;
		serve(3, () => text((count += 1) === 1 ? first : never, 'yes'));
		await putEvals([1, 2].map((id) => ({ id, prompt: `Prompt ${id}.`, expectations: ['contains: yes'] })));
		const run = await start();
		await server.received(2);
		first.open();
		await server.received(3);
		// As a killed server leaves it: another one opens the same database.
		const killed = await store.evalRuns.get(run.id);
		expect(killed).toMatchObject({ state: 'running', progress: { done: 1, total: 4 } });
		await evals.close();
		if (killed) await store.evalRuns.put(killed);
		evals = await createEvals(parts);
		const left = await evals.get('demo', run.id);
		expect(left).toMatchObject({ state: 'failed', progress: { done: 1, total: 4 } });
		await server.close();
		server = await startModelServer();
		serve(3, () => text('yes'));
		const goesOn = await evals.goOn('demo', run.id, {});
		expect(goesOn).toMatchObject({ id: run.id, state: 'running', error: null, progress: { done: 1, total: 4 } });
		const done = await ended(goesOn);
		server.assertDone();
		expect(done).toMatchObject({ state: 'done', progress: { done: 4, total: 4 } });
		expect(done.results.map(({ answers }) => answers.map(({ status: is }) => is))).toEqual([
			['success', 'success'],
			['success', 'success']
		]);
		expect(await store.evalRuns.get(run.id)).toEqual(done);
		await expect(evals.goOn('demo', run.id, {})).rejects.toMatchObject({
			code: 'conflict',
			message: 'This run has all its answers.'
		});
	});

	test('after its cost limit, which it says, once that is raised', async () => {
		await putEvals([1, 2, 3, 4].map((id) => ({ id, prompt: `Prompt ${id}.`, expectations: ['contains: yes'] })));
		serve(8, () => text('yes'));
		const run = await finished({ maxCostUsd: 0.00015 });
		expect(run).toMatchObject({
			state: 'limit',
			error: expect.stringMatching(/reached its cost limit of \$0\.00015 after [234] of 8 answers/),
			costUsd: expect.any(Number)
		});
		expect(run.costUsd).toBeLessThan(0.0005);
		const again = await ended(await evals.goOn('demo', run.id, { maxCostUsd: null }));
		server.assertDone();
		expect(again).toMatchObject({ state: 'done', error: null, costUsd: expect.closeTo(0.0008), maxCostUsd: null });
	});

	test('what failed is asked again', async () => {
		serve(2, ({ isWith }) => (isWith ? status(401, { error: { code: 401, message: 'No such key' } }) : text('yes')));
		const run = await finished();
		expect(run).toMatchObject({ state: 'done', sides: [{ figures: { failed: 1 } }, {}] });
		serve(1, () => text('yes'));
		const again = await ended(await evals.goOn('demo', run.id, {}));
		server.assertDone();
		expect(again).toMatchObject({ state: 'done', sides: [{ figures: { failed: 0, met: 1 } }, {}] });
	});

	test('a changed skill, other prompts or another model are refused, and say what to do', async () => {
		serve(2, () => status(401, { error: { code: 401, message: 'No such key' } }));
		const run = await finished();
		const refused = { code: 'conflict', message: expect.stringContaining('have changed since this run began') };
		isOffline = true;
		await expect(evals.goOn('demo', run.id, {})).rejects.toMatchObject(refused);
		isOffline = false;
		await putEvals([{ id: 2, prompt: 'Say it.' }]);
		await expect(evals.goOn('demo', run.id, {})).rejects.toMatchObject(refused);
		await putEvals([{ id: 1, prompt: 'Say it.', expectations: ['contains: yes'] }]);
		await put('local/demo/extra.md', 'More.');
		await expect(evals.goOn('demo', run.id, {})).rejects.toMatchObject(refused);
		await expect(evals.goOn('demo', 'ghost', {})).rejects.toMatchObject({ code: 'not_found' });
		server.assertDone();
	});
});

describe('F16: trigger evals, among all skills', () => {
	const queries = [
		{ query: 'What is the word of the day?', should_trigger: true },
		{ query: 'Say some word', should_trigger: true },
		{ query: 'Weather in Rome?', should_trigger: false }
	];

	test('the first skill that is loaded decides; precision, recall, and what took it; no script runs', async () => {
		await putTriggers(queries);
		await putEvals([{ id: 1, prompt: 'No trigger.' }]);
		await put('local/weather/scripts/look.sh', 'touch /tmp/never; echo sunny\n');
		await skills.reload();
		serve(3, ({ all }) => {
			expect(all).toContain('Forecasts the weather');
			expect(all).not.toContain('trigger-evals');
			if (all.includes('word of the day?')) return call('load_skill', { skill: 'demo' });
			if (all.includes('some word')) return call('use_skill', { skill: 'weather', script: 'scripts/look.sh' });
			return call('load_skill', { skill: 'demo' });
		});
		const run = await finished({ kind: 'triggers' });
		server.assertDone();
		expect(run).toMatchObject({ kind: 'triggers', state: 'done', progress: { done: 3, total: 3 } });
		expect(run.sides).toMatchObject([
			{
				kind: 'library',
				figures: { trigger: { precision: 0.5, recall: 0.5, takenBy: [{ skill: 'weather', count: 1 }] } }
			}
		]);
		expect(run.results.map(({ shouldTrigger, answers }) => [shouldTrigger, answers[0]?.loaded])).toEqual([
			[true, ['demo']],
			[true, ['weather']],
			[false, ['demo']]
		]);
		expect((await store.skillExecutions.list({}, { page: 1, limit: 1 })).total).toBe(0);
	});

	test('F9: the built-in responder decides in demo mode', async () => {
		isOffline = true;
		await putTriggers(queries.filter((_, index) => index !== 1));
		const run = await finished({ kind: 'triggers' });
		expect(run.sides).toMatchObject([{ figures: { trigger: { precision: 1, recall: 1 } } }]);
		expect(run.results[1]?.answers[0]?.loaded).toEqual(['weather']);
	});

	test('a skill without any says what to add', async () => {
		await expect(start({ kind: 'triggers' })).rejects.toMatchObject({
			code: 'conflict',
			hint: expect.stringContaining('trigger-evals.json')
		});
	});
});

describe('F16: the evals of a skill that isn’t in the library', () => {
	const draft = async (): Promise<string> => {
		await put('drafts/x1/SKILL.md', skillMd('demo', 'A draft.', '3.0.0'));
		await put('drafts/x1/evals/evals.json', JSON.stringify([{ prompt: 'Say it.', assertions: ['contains: yes'] }]));
		return join(folder, 'drafts/x1');
	};

	test('run, against the one that it changes, with its figures by side, and leave no run', async () => {
		serve(3, ({ isWith, all }) => text(isWith && all.includes('A draft.') ? 'yes' : 'no'));
		const seen: string[] = [];
		const [against] = skills.registry.snapshot().skills;
		const { sides, results, isOverLimit } = await evals.tryOut(
			await draft(),
			{},
			{
				...{ signal: new AbortController().signal, against: against as Skill },
				onAnswer: ({ done, total }) => void seen.push(`${done} of ${total}`)
			}
		);
		server.assertDone();
		expect(sides.map(({ kind, version, figures }) => [kind, version, figures.passRate?.value])).toEqual([
			['with', '3.0.0', 1],
			['version', '2.0.0', 0],
			['without', null, 0]
		]);
		expect(results[0]).toMatchObject({ id: '1', answers: [{ text: 'yes' }, { text: 'no' }, { text: 'no' }] });
		expect([seen, isOverLimit]).toEqual([['1 of 3', '2 of 3', '3 of 3'], false]);
		expect((await evals.list('demo')).runs).toEqual([]);
	});

	test('take its place in the library, to see whether it would be loaded', async () => {
		const path = await draft();
		await put('drafts/x1/evals/trigger-evals.json', JSON.stringify([{ query: 'Draft?', should_trigger: true }]));
		serve(1, ({ all }) => {
			expect([all.includes('A draft.'), all.includes('word of the day')]).toEqual([true, false]);
			return call('load_skill', { skill: 'demo' });
		});
		const { sides } = await evals.tryOut(path, { kind: 'triggers' }, { signal: new AbortController().signal });
		expect(sides).toMatchObject([{ kind: 'library', figures: { trigger: { precision: 1, recall: 1 } } }]);
	});

	test('that is broken or has none say so; its scripts don’t run, because nobody trusts them', async () => {
		const { signal } = new AbortController();
		await put('drafts/x2/SKILL.md', 'No front matter');
		const broken = evals.tryOut(join(folder, 'drafts/x2'), {}, { signal });
		await expect(broken).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('is broken') });
		const path = await draft();
		await put('drafts/x1/scripts/say.sh', 'echo yes\n');
		serve(2, ({ isWith }) => (isWith ? call('use_skill', { skill: 'demo', script: 'scripts/say.sh' }) : text('no')));
		const { results } = await evals.tryOut(path, {}, { signal });
		expect(results[0]?.answers[0]).toMatchObject({ status: 'failed', error: expect.stringContaining('trust') });
		await rm(join(path, 'evals'), { recursive: true });
		await expect(evals.tryOut(path, {}, { signal })).rejects.toMatchObject({ code: 'conflict' });
	});

	test('stop with their caller', async () => {
		const held = gate();
		serve(2, () => text(held, 'yes'));
		const controller = new AbortController();
		const trial = evals.tryOut(await draft(), {}, { signal: controller.signal });
		const refused = expect(trial).rejects.toThrow('enough');
		await server.received(2);
		controller.abort(new Error('enough'));
		await refused;
	});
});

test('F16: an eval that fills the disk is stopped at the workspace’s limit; its answer says so, and nothing is left', async () => {
	await put('local/demo/scripts/fill.sh', 'i=0; while :; do head -c 1000000 /dev/zero > "f$i"; i=$((i+1)); done\n');
	await putEvals([{ id: 1, prompt: 'Fill.', expectations: [{ exitCode: 0 }] }]);
	const limited = await createSkillsProvider([join(folder, 'local')], {
		...{ sandbox: plainProcesses(), limits: { ...DEFAULT_LIMITS, workspaceBytes: 4_000_000 } }
	});
	await evals.close();
	evals = await createEvals({ ...parts, skills: limited });
	serve(2, ({ all }) =>
		all.includes('function_call_output')
			? text('It failed.')
			: call('use_skill', { skill: 'demo', script: 'scripts/fill.sh' })
	);
	const run = await finished({ without: false });
	server.assertDone();
	expect(run).toMatchObject({ state: 'done', sides: [{ figures: { met: 0, judged: 1 } }] });
	expect(run.results[0]?.answers[0]?.expectations[0]?.reason).toMatch(/It ended with exit code -?\d+/);
	expect(await readdir(join(folder, 'answers'))).toEqual([]);
	await limited.close();
});
