import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../tests/support/folder.ts';
import { plainProcesses } from '../../../../tests/support/plain-processes.ts';
import { skillCaseCreate } from '../../shared/try-out.ts';
import { createLog } from '../log.ts';
import { createSkillsProvider, type SkillsProvider } from '../skills/provider.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { createTrust } from '../trust/trust.ts';
import { allowedIn, type Cases, createCases } from './ad-hoc.ts';
import { createApprovalPolicy, type ApprovalMode } from '../trust/approval-policy.ts';
import { createExecutionRecorder } from './executions.ts';
import { openSkillModes, type StoredSkillModes } from '../trust/skill-modes.ts';
import type { Asker } from '../turns/toolbox.ts';
import { createWorkspaces, type Workspaces } from '../workspaces.ts';

const folder = emptyFolder();
let store: Store;
let skills: SkillsProvider;
let modes: StoredSkillModes;
let cases: Cases;
let workspaces: Workspaces;
let isEnabled: boolean;
let mode: ApprovalMode;

beforeEach(async () => {
	isEnabled = true;
	mode = 'auto';
	await put('local/demo/SKILL.md', '---\nname: demo\ndescription: Says things.\nversion: 1.2.3\n---\nText.');
	await put('local/demo/scripts/say.sh', 'echo "said: $*"; echo oh >&2; printf x >> made.txt\n');
	await put('local/demo/scripts/fail.sh', 'echo broken >&2; exit 3\n');
	await put('local/demo/add.js', 'export default ({ a, b }) => ({ sum: a + b });\n');
	await put('local/demo/package.json', '{"type":"module"}');
	const number = { type: 'number' };
	await put(
		'local/demo/tools.json',
		JSON.stringify([{ name: 'add', description: 'Adds.', script: 'add.js', parameters: { a: number, b: number } }])
	);
	await put('local/other/SKILL.md', '---\nname: other\ndescription: Another.\n---\nText.');
	await put('installed/stranger/SKILL.md', '---\nname: stranger\ndescription: From elsewhere.\n---\nText.');
	await put('installed/stranger/scripts/say.sh', 'echo "said: $*"\n');
	await put('owned/mine/SKILL.md', '---\nname: mine\ndescription: A key’s own.\n---\nText.');
	await put('owned/mine/scripts/say.sh', 'echo "mine: $*"\n');
	store = await openSqliteStore(':memory:');
	const sandbox = plainProcesses();
	const recorder = createExecutionRecorder(
		store,
		createLog(() => undefined)
	);
	const roots = ['local', 'installed'].map((name) => ({ path: join(folder, name), source: name }));
	skills = await createSkillsProvider(
		[...roots, { path: join(folder, 'owned'), source: 'key.abc', owner: 'key.abc' }],
		{ sandbox, host: { recorder }, isEnabled: () => isEnabled }
	);
	modes = await openSkillModes(store);
	const trusted = ['local', 'owned', 'installed'].map((name) => join(folder, name));
	const trust = createTrust({ store, roots: trusted, installedRoot: join(folder, 'installed'), trustsLocal: true });
	workspaces = createWorkspaces(join(folder, 'data'));
	cases = createCases({
		store,
		modes,
		workspaces,
		folderOf: (_, sessionId) => sessionId,
		adHoc: {
			...{ skills, store, modes, findBuiltin: () => null },
			approvals: {
				request: (run, earlier) => createApprovalPolicy({ store, trust, mode }).request(run, earlier),
				runsUnasked: (skill) => createApprovalPolicy({ store, trust, mode }).runsUnasked(skill)
			},
			withTexts: () => Promise.reject(new Error('not needed')),
			isEnabled: () => isEnabled,
			inWorkspace: ({ sessionId = '' }, work) => workspaces.use(sessionId, work)
		}
	});
});
afterEach(async () => {
	await skills.close();
	await store.close();
});

const put = (path: string, text: string) => putFile(folder, path, text);

/** Checks the body first, as the endpoint does. */
const create = (id: string, body: object) => cases.create(id, skillCaseCreate.parse({ title: 'A case', ...body }));
const MANAGER: Asker = { apiKeyId: null, scopes: [] };
const runCase = (id: string, caseId: string, approve?: string) =>
	cases.run(id, caseId, { allow: allowedIn(approve, MANAGER), signal: new AbortController().signal });

describe('F6: what can be no case', () => {
	test.each([
		['neither a script nor a tool', {}],
		['both at once', { script: 'x', tool: 'y' }],
		['no title', { title: ' ', script: 'x' }],
		['an argument that is no text', { script: 'x', args: [1] }],
		['an exit code that is none', { script: 'x', expect: { exitCode: 1.5 } }],
		['files of nobody', { script: 'x', files: ['in.csv'] }],
		['an unknown key', { script: 'x', owner: 'me' }],
		['an unknown expectation', { script: 'x', expect: { stdout: 'a' } }]
	])('%s is no request at all', (_, body) => {
		expect(skillCaseCreate.safeParse({ title: 'A case', ...body }).success).toBe(false);
	});

	test.each([
		['a skill that is not there', 'ghost', { script: 'scripts/say.sh' }, 'not_found', 404],
		['a script that is not there', 'demo', { script: 'scripts/ghost.sh' }, 'invalid_input', 400],
		['a script outside the skill', 'demo', { script: '../../x.sh' }, 'invalid_input', 400],
		['a script with a null character', 'demo', { script: 'a\0b' }, 'invalid_input', 400],
		['a tool that is not there', 'demo', { tool: 'ghost' }, 'invalid_input', 400],
		['a range that is none', 'demo@such nonsense', { tool: 'add' }, 'invalid_input', 400]
	])('%s is refused, and nothing is kept', async (_, id, body, code, status) => {
		await expect(create(id, body)).rejects.toMatchObject({ code, status });
		expect(await store.skillCases.list('local/demo')).toEqual([]);
	});

	test('more than 200 of a skill', async () => {
		const entry = { title: 'x', script: 'scripts/say.sh', args: [], tool: null, input: null, files: [], expect: {} };
		for (let index = 0; index < 200; index += 1) {
			await store.skillCases.add({ ...entry, id: `c${index}`, skillId: 'local/demo', createdAt: '2026-01-01' });
		}
		await expect(create('demo', { script: 'scripts/say.sh' })).rejects.toMatchObject({ code: 'conflict' });
	});
});

describe('F6: a case is kept and run again', () => {
	test('a script with all that it should come to: it passes, and the last run is told', async () => {
		const expectation = { exitCode: 0, contains: ['said: a b', 'oh'], files: ['made.txt'] };
		const made = await create('demo', { script: 'scripts/say.sh', args: ['a', 'b'], expect: expectation });
		expect(made).toMatchObject({ skillId: 'local/demo', title: 'A case', lastRun: null });
		const { isPassed, failures, execution } = await runCase('demo', made.id);
		expect({ isPassed, failures }).toEqual({ isPassed: true, failures: [] });
		expect(await store.skillExecutions.get(execution.id)).toEqual(execution);
		expect(execution).toMatchObject({ skillId: 'local/demo', version: '1.2.3', argv: ['a', 'b'], status: 'success' });
		const [kept] = await cases.list('local/demo');
		const at = expect.any(String) as string;
		const digest = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
		expect(kept).toEqual({ ...made, lastRun: { isPassed, failures, executionId: execution.id, at, digest } });
	});

	test('a result of files that were changed since is marked, but an eval changes nothing', async () => {
		const made = await create('demo', { script: 'scripts/say.sh' });
		await runCase('demo', made.id);
		const isOld = async () => (await cases.list('demo'))[0]?.lastRun?.isOutdated;
		await put('local/demo/evals/evals.json', '{ "evals": [] }');
		expect(await isOld()).toBeUndefined();
		await put('local/demo/scripts/say.sh', 'exit 1\n');
		expect(await isOld()).toBe(true);
	});

	test('its files are kept with it, and each run begins with them', async () => {
		await put('local/demo/scripts/add.sh', 'cat data/in.csv && echo more >> data/in.csv\n');
		await skills.registry.reload();
		await workspaces.write('run-1', 'data/in.csv', new Blob(['a,b\n']).stream());
		const from = { conversationId: 'run-1', files: ['data/in.csv'] };
		const made = await create('demo', { script: 'scripts/add.sh', ...from, expect: { contains: ['a,b'] } });
		expect(made.files).toEqual(['data/in.csv']);
		await workspaces.removeAll('run-1');
		for (const _ of [1, 2]) {
			const { isPassed, execution } = await runCase('demo', made.id);
			expect({ isPassed, output: execution.output }).toEqual({ isPassed: true, output: 'a,b\n' });
			expect(await workspaces.list(execution.sessionId ?? '')).toEqual([]);
		}
		await cases.remove('demo', made.id);
		expect(await workspaces.list(`case-files-${made.id}`)).toEqual([]);
	});

	test('it isn’t kept without a file that is gone', async () => {
		const from = { conversationId: 'run-1', files: ['gone.csv'] };
		await expect(create('demo', { script: 'scripts/say.sh', ...from })).rejects.toMatchObject({ code: 'not_found' });
		expect(await cases.list('demo')).toEqual([]);
	});

	test('its runs are tests, and no use of the skill', async () => {
		const made = await create('demo', { script: 'scripts/fail.sh' });
		await runCase('demo', made.id);
		expect(await store.skillExecutions.usage()).toEqual(new Map());
		expect((await store.skillExecutions.health('local/demo', '2020')).days).toEqual([]);
	});

	test('a tool: its value is looked at as JSON', async () => {
		const made = await create('demo', { tool: 'add', input: { a: 1, b: 2 }, expect: { contains: ['"sum":3'] } });
		expect(await runCase('demo', made.id)).toMatchObject({ isPassed: true, execution: { tool: 'add' } });
	});

	test('each thing that is not as it should be is a sentence', async () => {
		const expectation = { exitCode: 0, contains: ['broken', 'fine'], files: ['out.txt'] };
		const made = await create('demo', { script: 'scripts/fail.sh', expect: expectation });
		const { isPassed, failures } = await runCase('demo', made.id);
		expect({ isPassed, failures }).toEqual({
			isPassed: false,
			failures: [
				'The exit code should be 0, but was 3. It said: broken',
				'Its output should contain “fine”, but doesn’t.',
				'It should create or change the file “out.txt”, but didn’t.'
			]
		});
		expect((await cases.list('demo'))[0]?.lastRun).toMatchObject({ isPassed: false, failures });
	});

	test('without an exit code it must succeed; one that should fail and does passes', async () => {
		const plain = await create('demo', { script: 'scripts/fail.sh' });
		const failing = await create('demo', { script: 'scripts/fail.sh', expect: { exitCode: 3 } });
		expect((await runCase('demo', plain.id)).failures).toEqual([
			expect.stringMatching(/^It should succeed, but didn’t: /)
		]);
		expect((await runCase('demo', failing.id)).isPassed).toBe(true);
	});

	test('A41: a case of a key’s own skill runs that skill', async () => {
		const made = await create('key.abc/mine', { script: 'scripts/say.sh', expect: { contains: ['mine:'] } });
		expect(await runCase('key.abc/mine', made.id)).toMatchObject({ isPassed: true, failures: [] });
	});
});

describe('F6: a case is run with the checks of every other run', () => {
	test.each([
		['F4: a skill that nobody trusts', 'stranger', () => undefined, 'forbidden'],
		['E11: everything, while skills are switched off', 'demo', () => void (isEnabled = false), 'unavailable'],
		[
			'B6: a skill that is off',
			'demo',
			() => modes.setMode({ source: 'local', name: 'demo', version: '1.2.3' }, 'off'),
			'conflict'
		]
	])('%s', async (_, id, prepare, code) => {
		const made = await create(id, { script: 'scripts/say.sh' });
		await prepare();
		await expect(runCase(id, made.id)).rejects.toMatchObject({ code });
		expect((await cases.list(id))[0]?.lastRun).toBeNull();
		expect((await store.skillExecutions.list({}, { page: 1, limit: 1 })).total).toBe(0);
	});

	test('C16: with SKILLS_APPROVAL=ask it runs when its files are allowed with it', async () => {
		mode = 'ask';
		const made = await create('demo', { script: 'scripts/say.sh' });
		const refused: unknown = await runCase('demo', made.id).catch((error: unknown) => error);
		expect(refused).toMatchObject({ code: 'forbidden', details: { error: 'ApprovalRequired' } });
		expect((await store.skillExecutions.list({}, { page: 1, limit: 1 })).total).toBe(0);
		const { digest } = (refused as { details: { digest: string } }).details;
		expect(await runCase('demo', made.id, digest)).toMatchObject({ isPassed: true });
	});

	test('a case is its skill’s alone, and gone once it is removed', async () => {
		const made = await create('demo', { script: 'scripts/say.sh' });
		await expect(runCase('other', made.id)).rejects.toMatchObject({ code: 'not_found' });
		await expect(cases.remove('other', made.id)).rejects.toMatchObject({ code: 'not_found' });
		await cases.remove('demo', made.id);
		await expect(runCase('demo', made.id)).rejects.toMatchObject({ code: 'not_found' });
		await expect(cases.remove('demo', made.id)).rejects.toMatchObject({ code: 'not_found' });
		expect(await cases.list('demo')).toEqual([]);
	});
});
