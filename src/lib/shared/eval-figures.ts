/** Figures about the answers of a run of evals, by side (F16). Pure. */
import type { EvalAnswer, EvalFigures, EvalResult, EvalRun } from './try-out.ts';

/** `skill`: the tested skill's name. */
export function figuresOf(
	results: readonly Pick<EvalResult, 'answers' | 'shouldTrigger'>[],
	side: string,
	skill: string
): EvalFigures {
	const of = (answers: readonly EvalAnswer[]) =>
		answers.filter((answer) => answer.side === side && answer.status !== 'cancelled');
	const answers = results.flatMap((result) => of(result.answers));
	const came = answers.filter(({ status }) => status === 'success');
	const judged = came
		.map(({ expectations }) => expectations.filter(({ isMet }) => isMet !== null))
		.filter((expectations) => expectations.length > 0);
	const all = judged.flat();
	const met = all.filter(({ isMet }) => isMet).length;
	const costs = came.flatMap(({ costUsd }) => costUsd ?? []);
	return {
		answers: answers.length,
		failed: answers.length - came.length,
		met,
		judged: all.length,
		// Over answers, because what is expected of one answer is met or missed together.
		passRate: all.length === 0 ? null : { value: met / all.length, ...wilson(met / all.length, judged.length) },
		costUsd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
		tokens: mean(came.flatMap(({ tokens }) => tokens ?? [])),
		durationMs: mean(came.map(({ durationMs }) => durationMs)),
		steps: mean(came.map(({ steps }) => steps)),
		trigger: triggerOf(
			results.flatMap(({ shouldTrigger, answers: given }) =>
				shouldTrigger === null
					? []
					: of(given).flatMap(({ status, loaded }) => (status === 'success' ? [{ shouldTrigger, loaded }] : []))
			),
			skill
		)
	};
}

/** Whether a run that isn't going on still lacks answers. */
export function canGoOn({ state, progress, sides }: Pick<EvalRun, 'state' | 'progress' | 'sides'>): boolean {
	return state !== 'running' && (progress.done < progress.total || sides.some(({ figures }) => figures.failed > 0));
}

function triggerOf(
	asked: readonly { shouldTrigger: boolean; loaded: readonly string[] }[],
	skill: string
): EvalFigures['trigger'] {
	if (asked.length === 0) return null;
	const wanted = asked.filter(({ shouldTrigger }) => shouldTrigger);
	const loaded = asked.filter((each) => each.loaded.includes(skill));
	const right = wanted.filter((each) => each.loaded.includes(skill)).length;
	const takers = wanted.filter((each) => !each.loaded.includes(skill)).flatMap((each) => each.loaded.slice(0, 1));
	const counts = new Map<string, number>();
	for (const taker of takers) counts.set(taker, (counts.get(taker) ?? 0) + 1);
	return {
		precision: loaded.length === 0 ? null : right / loaded.length,
		recall: wanted.length === 0 ? null : right / wanted.length,
		counts: {
			should: { answers: wanted.length, loaded: right },
			shouldNot: { answers: asked.length - wanted.length, loaded: loaded.length - right }
		},
		takenBy: [...counts].map(([name, count]) => ({ skill: name, count })).sort((a, b) => b.count - a.count)
	};
}

/** Precision and recall as people say them: `Loaded when it should: 9 of 10`. Nothing that wasn’t asked. */
export function triggerWords(trigger: EvalFigures['trigger'] | undefined): { label: string; value: string }[] {
	const [should, shouldNot] = ['Loaded when it should', 'Loaded when it shouldn’t'];
	const { recall = null, counts } = trigger ?? {};
	if (!counts) return recall === null ? [] : [{ label: should, value: `${Math.round(recall * 100)} %` }];
	return [
		{ label: should, ...counts.should },
		{ label: shouldNot, ...counts.shouldNot }
	].flatMap(({ label, answers, loaded }) => (answers === 0 ? [] : [{ label, value: `${loaded} of ${answers}` }]));
}

/** For 95 %. */
const Z = 1.959964;

/** Wilson's score interval of a share among `count` observations. */
export function wilson(share: number, count: number): { low: number; high: number } {
	const spread = Z ** 2 / count;
	const centre = share + spread / 2;
	const margin = Z * Math.sqrt((share * (1 - share) + spread / 4) / count);
	const bounded = (bound: number) => Math.min(1, Math.max(0, bound / (1 + spread)));
	return { low: bounded(centre - margin), high: bounded(centre + margin) };
}

function mean(values: readonly number[]): number | null {
	return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
