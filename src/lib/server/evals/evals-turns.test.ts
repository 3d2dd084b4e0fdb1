import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { gate, dynamic, type ModelServer, startModelServer, text } from '../../../../tests/support/model-server.ts';
import { plainProcesses } from '../../../../tests/support/plain-processes.ts';
import { evalStart } from '../../shared/try-out.ts';
import { createLog } from '../log.ts';
import { createResponsesModel } from '../models/responses/responses.ts';
import { createSkillsProvider, type SkillsProvider } from '../skills/provider.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { createApprovalPolicy } from '../trust/approval-policy.ts';
import { openSkillModes } from '../trust/skill-modes.ts';
import { createTrust } from '../trust/trust.ts';
import { createEvals, type Evals } from './evals.ts';

let folder: string;
let server: ModelServer;
let store: Store;
let skills: SkillsProvider;
let evals: Evals;

beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'evals-turns-'));
	server = await startModelServer();
	for (const name of ['many', 'few']) {
		const dir = join(folder, 'skills', name);
		await mkdir(join(dir, 'evals'), { recursive: true });
		await writeFile(join(dir, 'SKILL.md'), `---\nname: ${name}\ndescription: Says things.\n---\nSay it.\n`);
		const list = Array.from({ length: name === 'many' ? 8 : 1 }, (_, index) => ({ prompt: `${name} ${index}` }));
		const cases = list.map((each) => ({ ...each, expectations: ['contains: yes'] }));
		await writeFile(join(dir, 'evals/evals.json'), JSON.stringify({ evals: cases }));
	}
	const root = join(folder, 'skills');
	store = await openSqliteStore(join(folder, 'app.sqlite'));
	skills = await createSkillsProvider([root], { sandbox: plainProcesses() });
	const trust = createTrust({ store, roots: [root], installedRoot: join(folder, 'installed'), trustsLocal: true });
	const model = createResponsesModel({ id: 'test/model', baseUrl: server.url, apiKey: 'k' });
	const limits = { maxSteps: 5, maxCostUsd: null, maxDurationMs: 60_000, toolTimeoutMs: 30_000 };
	evals = await createEvals({
		...{ store, skills, modes: await openSkillModes(store), log: createLog(() => undefined), atOnce: 1 },
		...{ agent: () => ({ model, effort: null, isOffline: false, limits }), isEnabled: () => true },
		...{ approvals: createApprovalPolicy({ store, trust, mode: 'auto' }), folder: join(folder, 'answers') }
	});
});
afterEach(async () => {
	await evals.close();
	await server.close();
	await skills.close();
	await store.close();
	await rm(folder, { recursive: true, force: true });
});

const start = (id: string) => evals.start(id, evalStart.parse({ without: false }));
/** Answers with yes, the first one once it may. */
const serve = (held: ReturnType<typeof gate>) =>
	server.push(text(held, 'yes'), ...Array.from({ length: 8 }, () => dynamic(() => text('yes'))));
const asked = () => server.requests.map(({ body }) => /(many|few) \d/.exec(JSON.stringify(body.input))?.[1]);

test('F16: answers of all evals on a server are bounded, and runs take turns', async () => {
	const held = gate();
	serve(held);
	const many = await start('many');
	await server.received(1);
	const few = await start('few');
	await expect.poll(() => evals.answers).toMatchObject({ running: 1, waiting: 2 });
	expect(server.requests).toHaveLength(1);
	held.open();
	await expect.poll(async () => (await evals.get('few', few.id)).state).toBe('done');
	await expect.poll(async () => (await evals.get('many', many.id)).state).toBe('done');
	// The one that came later didn't wait for all of the other's.
	expect(asked().indexOf('few')).toBeLessThanOrEqual(2);
	expect(evals.answers).toEqual({ running: 0, waiting: 0, longestWaitMs: 0 });
});

test('F16: a run that waits for its turn can be stopped, asks nothing, and goes on later', async () => {
	const held = gate();
	serve(held);
	await start('many');
	await server.received(1);
	const few = await start('few');
	await expect.poll(() => evals.answers.waiting).toBe(2);
	expect(await evals.cancel('few', few.id)).toMatchObject({ state: 'cancelled', progress: { done: 0, total: 1 } });
	expect(asked()).toEqual(['many']);
	held.open();
	await evals.goOn('few', few.id, {});
	await expect.poll(async () => (await evals.get('few', few.id)).state).toBe('done');
});
