/** Answers to evals, each in a row of its own, by side; before, they were in their run. */
import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';

export async function addEvalAnswers(db: Kysely<Database>): Promise<void> {
	await db.schema
		.createTable('eval_answers')
		.addColumn('run_id', 'text', (column) => column.notNull())
		.addColumn('case_id', 'text', (column) => column.notNull())
		.addColumn('side', 'text', (column) => column.notNull())
		.addColumn('round', 'integer', (column) => column.notNull())
		.addColumn('key', 'text')
		.addColumn('body', 'text', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('eval_answers_place', ['run_id', 'case_id', 'side', 'round'])
		.execute();
	await db.schema.createIndex('eval_answers_by_key').on('eval_answers').columns(['key', 'created_at']).execute();
	const runs = await db.selectFrom('eval_runs').select(['id', 'body']).execute();
	for (const { id, body } of runs) {
		const run = oldRun(body);
		if (!run) continue;
		const { results, passRate, model, ...kept } = run;
		for (const result of results) {
			for (const { id: side, key } of SIDES) {
				for (const [index, answer] of result[key].entries()) {
					const place = { run_id: id, case_id: result.id, side, round: index + 1 };
					const whole = { ...answer, side, round: index + 1, files: [], steps: 1, costUsd: null, isCached: false };
					const values = { ...place, key: null, body: JSON.stringify(whole), created_at: kept.startedAt };
					await db.insertInto('eval_answers').values(values).execute();
				}
			}
		}
		const sides = SIDES.map(({ id: side, kind, key }) => {
			const answers = results.flatMap((result) => result[key]);
			const version = kind === 'with' ? kept.version : null;
			return { id: side, kind, version, digest: null, model, figures: figuresOf(answers, passRate[key]) };
		});
		const rounds = Math.max(1, ...results.map(({ withSkill }) => withSkill.length));
		const cases = results.map((result) => {
			return { id: result.id, prompt: result.prompt, expected: result.expected, shouldTrigger: null };
		});
		const options = { kind: 'answers', rounds, maxCostUsd: null, isFresh: false, costUsd: null };
		const changed = JSON.stringify({ ...kept, ...options, sides, results: cases });
		await db.updateTable('eval_runs').set({ body: changed }).where('id', '=', id).execute();
	}
}

const SIDES = [
	{ id: '1', kind: 'with', key: 'withSkill' },
	{ id: '2', kind: 'without', key: 'withoutSkill' }
] as const;

interface OldAnswer {
	status: string;
	durationMs: number;
	tokens: number | null;
	expectations: { isMet: boolean | null }[];
}

interface OldRun {
	version: string;
	model: string;
	startedAt: string;
	passRate: Record<'withSkill' | 'withoutSkill', number | null>;
	results: ({ id: string; prompt: string; expected: string | null } & Record<
		'withSkill' | 'withoutSkill',
		OldAnswer[]
	>)[];
}

function oldRun(body: string): OldRun | null {
	try {
		const run = JSON.parse(body) as OldRun;
		return Array.isArray(run.results) && typeof run.passRate === 'object' ? run : null;
	} catch {
		return null;
	}
}

function figuresOf(answers: readonly OldAnswer[], rate: number | null) {
	const came = answers.filter(({ status }) => status === 'success');
	const judged = came.flatMap(({ expectations }) => expectations).filter(({ isMet }) => isMet !== null);
	const tokens = came.flatMap((answer) => answer.tokens ?? []);
	const mean = (values: readonly number[]) =>
		values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
	return {
		answers: answers.filter(({ status }) => status !== 'cancelled').length,
		failed: answers.filter(({ status }) => status === 'failed').length,
		met: judged.filter(({ isMet }) => isMet).length,
		judged: judged.length,
		passRate: rate === null ? null : { value: rate, ...wilson(rate, came.length) },
		costUsd: null,
		tokens: mean(tokens),
		durationMs: mean(came.map(({ durationMs }) => durationMs)),
		steps: null,
		trigger: null
	};
}

/** For 95 %. */
function wilson(share: number, count: number): { low: number; high: number } {
	const [z, n] = [1.959964, Math.max(1, count)];
	const margin = z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2));
	const bounded = (bound: number) => Math.min(1, Math.max(0, bound / (1 + z ** 2 / n)));
	return { low: bounded(share + z ** 2 / (2 * n) - margin), high: bounded(share + z ** 2 / (2 * n) + margin) };
}
