/** All of a skill's evals, with the skill and without; needs no store and no server (FEATURES F16). */
import type { EvalAnswer, EvalResult, EvalRun } from '../../shared/try-out.ts';
import type { Skill } from '../skills/types.ts';
import { answer, type AnswerParts, type Answered } from './answer.ts';
import type { EvalCase } from './evals-file.ts';
import { look } from './expectations.ts';
import type { Judge } from './judge.ts';

export interface EvalPlan {
	skill: Skill;
	cases: readonly EvalCase[];
	rounds: number;
	/** Of the whole run; for the record of executions. */
	sessionId: string;
}

export interface EvalProgress {
	results: EvalResult[];
	done: number;
}

/** Answers that are written at the same time: those with and without the skill. */
const PARALLEL = 2;

/** How many answers a plan comes to. */
export function answersOf({ cases, rounds }: Pick<EvalPlan, 'cases' | 'rounds'>): number {
	return cases.length * rounds * 2;
}

/**
 * Tells of each answer, and waits until it was heard; throws what `onAnswer` throws, once nothing runs any more. After an abort the answers that were being written are `cancelled`,
 * those that were not begun are missing.
 */
export async function runEvals(
	parts: AnswerParts & { judge: Judge },
	{ skill, cases, rounds, sessionId }: EvalPlan,
	{ signal, onAnswer }: { signal: AbortSignal; onAnswer: (progress: EvalProgress) => Promise<void> }
): Promise<EvalResult[]> {
	const results = cases.map(({ id, prompt, expected }): EvalResult => {
		return { id, prompt, expected, withSkill: [], withoutSkill: [] };
	});
	const jobs = cases.flatMap((asked, place) =>
		Array.from({ length: rounds }, () => [
			{ asked, place, offered: skill },
			{ asked, place, offered: null }
		]).flat()
	);
	let done = 0;
	const work = async () => {
		for (let job = jobs.shift(); job && !signal.aborted; job = jobs.shift()) {
			const { asked, place, offered } = job;
			const answered = await answer(parts, { asked, skill, offered, sessionId }, signal);
			const complete = { ...answered.answer, expectations: await tell(parts.judge, asked, answered, signal) };
			results[place]?.[offered ? 'withSkill' : 'withoutSkill'].push(complete);
			done += 1;
			await onAnswer({ results, done });
		}
	};
	const ended = await Promise.allSettled(Array.from({ length: PARALLEL }, work));
	const failed = ended.find((each) => each.status === 'rejected');
	if (failed) throw failed.reason;
	return results;
}

/** Expectations that were met of those that could be told; null while there are none. */
export function passRates(results: readonly EvalResult[]): EvalRun['passRate'] {
	const rate = (answers: EvalAnswer[]) => {
		const told = answers.flatMap(({ expectations }) => expectations).filter(({ isMet }) => isMet !== null);
		return told.length === 0 ? null : told.filter(({ isMet }) => isMet).length / told.length;
	};
	return {
		withSkill: rate(results.flatMap(({ withSkill }) => withSkill)),
		withoutSkill: rate(results.flatMap(({ withoutSkill }) => withoutSkill))
	};
}

/** In the order of the file: what code can tell, and what the judge says of the rest. */
async function tell(
	judge: Judge,
	asked: EvalCase,
	{ answer: { status, calls, error }, seen }: Answered,
	signal: AbortSignal
): Promise<EvalAnswer['expectations']> {
	if (status !== 'success') {
		const reason = `There is no whole answer: ${error ?? 'it was stopped.'}`;
		return asked.expectations.map(({ text }) => ({ text, isMet: null, reason }));
	}
	const seenByCode = asked.expectations.map((expectation) => look(expectation, seen));
	const sentences = asked.expectations.filter(({ check }) => check === null).map(({ text }) => text);
	const judged = await judge.judge(sentences, { asked, seen, calls }, signal);
	return seenByCode.flatMap((verdict) => verdict ?? judged.shift() ?? []);
}
