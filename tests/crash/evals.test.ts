/** F16: a run of evals whose server is killed says so, and goes on without asking again what was answered. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EvalRun, SkillEvals } from '../../src/lib/shared/try-out.ts';
import { type App, startApp } from '../support/app-process.ts';
import { dynamic, hang, type ModelServer, startModelServer, text } from '../support/model-server.ts';

const PROMPTS = ['Say one.', 'Say two.', 'Say three.', 'Say four.', 'Say five.', 'Say six.'];
const ANSWERED = 3;
const EVALS = '/api/skills/sayer/evals';

let folder: string;
let model: ModelServer;
let app: App;

beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'killed-evals-'));
	await mkdir(join(folder, 'skills/sayer/evals'), { recursive: true });
	const skill = join(folder, 'skills/sayer');
	await writeFile(join(skill, 'SKILL.md'), '---\nname: sayer\ndescription: Says things.\n---\nSay it.\n');
	// One check is for the judge, which is asked as little again.
	const evals = PROMPTS.map((prompt) => ({ prompt, expectations: ['contains: yes', 'It is friendly.'] }));
	await writeFile(join(skill, 'evals/evals.json'), JSON.stringify({ evals }));
	model = await startModelServer();
	const env = { OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'test', OPENROUTER_MODEL: 'test/model' };
	app = await startApp({ skillsFrom: join(folder, 'skills'), env });
}, 120_000);
afterEach(async () => {
	await app?.stop();
	await model.close();
	await rm(folder, { recursive: true, force: true });
}, 30_000);

const read = async <Answer>(path: string): Promise<Answer> => (await fetch(app.url + path)).json() as Promise<Answer>;
const post = (path: string, body: object): Promise<Response> =>
	fetch(app.url + path, {
		...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
	});
const isJudge = (body: Record<string, unknown>) => String(body.instructions).startsWith('You grade');
const promptIn = (body: Record<string, unknown>) =>
	PROMPTS.find((prompt) => JSON.stringify(body.input).includes(prompt));
/** What the model was asked, prompts of answers and of the judge. */
const asked = () => {
	const of = (judging: boolean) =>
		model.requests
			.map(({ body }) => body)
			.filter((body) => isJudge(body) === judging)
			.map(promptIn)
			.sort();
	return { answers: of(false), judged: of(true) };
};

test(
	'F16: killed in the middle, a run of evals says so; it goes on where it was, and nothing is asked twice',
	{ timeout: 120_000 },
	async () => {
		const verdict = text('[{"met": true, "reason": "It is."}]');
		const answered = new Set<string | undefined>();
		const reply = dynamic((body) => {
			if (isJudge(body)) return verdict;
			if (answered.size === ANSWERED) return hang();
			answered.add(promptIn(body));
			return text('yes');
		});
		// Two are written at the same time.
		model.push(...Array.from({ length: 2 * ANSWERED + 2 }, () => reply));
		const started = await post(EVALS, { without: false });
		expect(started.status).toBe(202);
		const { id } = (await started.json()) as EvalRun;
		await model.received(2 * ANSWERED + 2);
		await expect.poll(async () => (await read<EvalRun>(`${EVALS}/${id}`)).progress.done).toBe(ANSWERED);

		await app.restart({ signal: 'SIGKILL' });
		const stopped = { state: 'failed', error: 'The server stopped before this finished.' };
		const progress = { done: ANSWERED, total: PROMPTS.length };
		const { runs } = await read<SkillEvals>(EVALS);
		expect(runs).toMatchObject([{ id, ...stopped, progress }]);
		const left = await read<EvalRun>(`${EVALS}/${id}`);
		expect(left).toMatchObject({ ...stopped, progress });
		const kept = left.results.filter(({ answers }) => answers.length > 0);
		expect(new Set(kept.map(({ prompt }) => prompt))).toEqual(answered);
		expect(kept.flatMap(({ answers }) => answers).every(({ status }) => status === 'success')).toBe(true);
		// Working folders that the killed server left are gone.
		expect(await readdir(join(app.dataDir, 'evals')).catch(() => [])).toEqual([]);
		expect(model.violations).toEqual([]);

		const missing = PROMPTS.filter((prompt) => !answered.has(prompt));
		model.restart(
			Array.from({ length: 2 * missing.length }, () => dynamic((body) => (isJudge(body) ? verdict : text('yes'))))
		);
		const goOn = await post(`${EVALS}/${id}`, {});
		expect(goOn.status).toBe(202);
		await expect.poll(async () => (await read<EvalRun>(`${EVALS}/${id}`)).state).toBe('done');
		model.assertDone();
		expect(asked()).toEqual({ answers: missing.toSorted(), judged: missing.toSorted() });
		expect(await read<EvalRun>(`${EVALS}/${id}`)).toMatchObject({
			...{ progress: { done: PROMPTS.length, total: PROMPTS.length }, error: null },
			sides: [{ figures: { answers: PROMPTS.length, failed: 0, met: 2 * PROMPTS.length, passRate: { value: 1 } } }]
		});
		// With all its answers there's nothing to go on with.
		expect((await post(`${EVALS}/${id}`, {})).status).toBe(409);
	}
);
