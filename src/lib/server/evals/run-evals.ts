/** Runs a skill's evals on several sides: with the skill, without it, with another version, by several models (F16). */
import { hash } from 'node:crypto';
import { figuresOf } from '../../shared/evals.ts';
import { isUnanswered } from '../../shared/questions.ts';
import type { EvalAnswer, EvalResult, EvalRun, EvalSide } from '../../shared/try-out.ts';
import { openInside } from '../safe-path.ts';
import { digestWithoutEvals } from '../skills/read/skill-tree.ts';
import type { SkillSnapshot } from '../skills/registry/registry.ts';
import { createTurns, type Turns } from '../skills/turns.ts';
import type { Skill } from '../skills/types.ts';
import {
	answer,
	type Answered,
	type AnswerParts,
	type AskedSide,
	type EvalModel,
	libraryWith,
	MAX_FILE_BYTES
} from './answer.ts';
import type { EvalCase } from './evals-file.ts';
import { look } from './verdicts.ts';
import type { Judge } from './judge.ts';

export interface EvalParts extends AnswerParts {
	judge: Judge;
	/** Earlier answers by what was asked of what; without it, everything is asked. */
	findAnswer?: (key: string) => Promise<EvalAnswer | null>;
	/** Answers of all runs wait here for their turn. Default: they don't. */
	turns?: Turns;
}

export interface EvalPlan {
	/** The skill with the evals and their files; it needn't be in the library. */
	skill: Skill;
	cases: readonly EvalCase[];
	/** From `sidesOf`. */
	sides: readonly AskedSide[];
	rounds: number;
	/** USD for the whole run; null: no limit. */
	maxCostUsd: number | null;
	/** Of the whole run, for the execution record. */
	sessionId: string;
	/** What a run that goes on has already. */
	earlier?: { results: readonly EvalResult[]; costUsd: number | null };
}

export interface EvalProgress {
	results: EvalResult[];
	done: number;
	/** USD, with judging; null if unknown. */
	costUsd: number | null;
	/** The last answer. `key` is null for one that must not be used again. */
	latest: { caseId: string; answer: EvalAnswer; key: string | null };
}

export interface EvalOutcome extends Omit<EvalProgress, 'latest'> {
	/** It ended because its costs reached their limit. */
	isOverLimit: boolean;
}

/** Answers written at the same time: at least two sides. */
const PARALLEL = 2;
/** Another one with other rules for checks, so that no verdict by the old ones is used again. */
const KEY_FORMAT = 2;

/** Number of answers in a plan. */
export function answersOf({ cases, rounds, sides }: Pick<EvalPlan, 'cases' | 'rounds' | 'sides'>): number {
	return cases.length * rounds * sides.length;
}

/** What to compare. The tested skill comes first, then the other version and no skill, each by every model. */
export async function sidesOf(
	skill: Skill,
	{
		agents,
		version = null,
		without = true,
		library = null,
		siblings = []
	}: {
		agents: readonly EvalModel[];
		/** Another version of the skill. */
		version?: Skill | null;
		without?: boolean;
		/** All skills, to find out whether prompts load this one; then there are no other sides. */
		library?: SkillSnapshot | null;
		/** Skills that it requires, offered with it. */
		siblings?: readonly Skill[];
	}
): Promise<AskedSide[]> {
	const all = library && libraryWith(library, skill);
	const withSkill = async (kind: 'with' | 'version', each: Skill) => {
		return { kind, skill: each, siblings, library: null, digest: await digestOfTested(each, { siblings }) };
	};
	const kinds: Omit<AskedSide, 'id' | 'agent'>[] = all
		? [{ kind: 'library', skill, siblings: [], library: all, digest: await digestOfTested(skill, { library }) }]
		: [
				await withSkill('with', skill),
				...(version ? [await withSkill('version', version)] : []),
				...(without ? [{ kind: 'without' as const, skill: null, siblings: [], library: null, digest: '' }] : [])
			];
	return kinds
		.flatMap((kind) => agents.map((agent) => ({ ...kind, agent })))
		.map((side, index) => {
			return { ...side, id: String(index + 1) };
		});
}

/** Of what a side with the skill is offered now; null if it can't be read. */
export async function digestOfTested(
	skill: Skill,
	{ library = null, siblings = [] }: { library?: SkillSnapshot | null; siblings?: readonly Skill[] }
): Promise<string | null> {
	if (library) return digestOfLibrary(libraryWith(library, skill));
	const digests = await Promise.all([skill, ...siblings].map(digestWithoutEvals));
	return siblings.length === 0 ? (digests[0] ?? null) : hash('sha256', JSON.stringify(digests));
}

/** Of what the model is told before it loads one. */
function digestOfLibrary({ skills }: SkillSnapshot): string {
	const told = skills.map(({ name, description, source, digest }) => [name, description, source, digest]).sort();
	return hash('sha256', JSON.stringify(told));
}

/**
 * Awaits `onAnswer` after each answer, and throws its errors once nothing runs any more. After an abort, answers in
 * progress are `cancelled`, and those that hadn't begun are missing; so they are once costs have reached their limit.
 */
export async function runEvals(
	parts: EvalParts,
	plan: EvalPlan,
	{ signal, onAnswer }: { signal: AbortSignal; onAnswer?: (progress: EvalProgress) => Promise<void> }
): Promise<EvalOutcome> {
	const { skill, cases, sides, rounds, sessionId, maxCostUsd, earlier } = plan;
	const { turns = createTurns() } = parts;
	const results = cases.map((asked): EvalResult => {
		const kept = earlier?.results.find(({ id }) => id === asked.id)?.answers ?? [];
		return { ...resultOf(asked), answers: kept.filter(({ status }) => status === 'success') };
	});
	const jobs = cases.flatMap((asked, place) =>
		Array.from({ length: rounds }, (_, index) => sides.map((side) => ({ asked, place, side, round: index + 1 }))).flat()
	);
	const isThere = ({ place, side, round }: (typeof jobs)[number]) =>
		results[place]?.answers.some((each) => each.side === side.id && each.round === round) ?? false;
	const missing = jobs.filter((job) => !isThere(job));
	const judged = new Map<EvalCase, string | null>();
	for (const asked of cases) judged.set(asked, await keyOfCase(skill, asked, parts.judge));
	let done = jobs.length - missing.length;
	let costUsd = earlier?.costUsd ?? null;
	let isOverLimit = false;
	const leftUsd = () => (maxCostUsd === null ? null : maxCostUsd - (costUsd ?? 0));
	const spend = (cost: number | null) => {
		if (cost !== null) costUsd = (costUsd ?? 0) + cost;
	};
	/** null: it never began. */
	const ask = async ({ asked, side }: Pick<(typeof jobs)[number], 'asked' | 'side'>) => {
		let hasBegun = false;
		const begin = async () => {
			hasBegun = true;
			const left = leftUsd();
			isOverLimit ||= left !== null && left <= 0;
			if (isOverLimit) return null;
			const answered = await answer(parts, { asked, skill, side, sessionId, maxCostUsd: left }, signal);
			spend(answered.answer.costUsd);
			const { expectations, costUsd: judging } = await tell(parts.judge, asked, answered, signal);
			spend(judging);
			return { ...answered.answer, expectations };
		};
		try {
			return await turns.run({ caller: sessionId, lane: null, signal }, begin);
		} catch (error) {
			if (signal.aborted && !hasBegun) return null;
			throw error;
		}
	};
	const work = async () => {
		for (let job = missing.shift(); job && !signal.aborted; job = missing.shift()) {
			const { asked, place, side, round } = job;
			const key = keyOf(judged.get(asked) ?? null, side, round);
			const found = key === null ? null : ((await parts.findAnswer?.(key)) ?? null);
			// Versions before kept questions back as answers.
			const known = found && !isUnanswered(found.text) ? found : null;
			const said = known ?? (await ask(job));
			if (!said) return;
			const given: EvalAnswer = { ...said, side: side.id, round, isCached: known !== null };
			if (given.status === 'cancelled' && !signal.aborted) isOverLimit = true;
			if (given.status !== 'cancelled') done += 1;
			results[place]?.answers.push(given);
			results[place]?.answers.sort((a, b) => a.round - b.round || (a.side < b.side ? -1 : 1));
			const isWhole = given.status === 'success' && given.expectations.every(({ isMet }) => isMet !== null);
			const latest = { caseId: asked.id, answer: given, key: isWhole ? key : null };
			await onAnswer?.({ results, done, costUsd, latest });
		}
	};
	const workers = Math.max(PARALLEL, new Set(sides.map(({ agent }) => agent.model.id)).size);
	const ended = await Promise.allSettled(Array.from({ length: workers }, work));
	const failed = ended.find((each) => each.status === 'rejected');
	if (failed) throw failed.reason;
	return { results, done, costUsd, isOverLimit };
}

/** Of a run whose server stopped, and the reason that its signal is given. */
export const STOPPED = 'The server stopped before this finished.';

/** The run's end: without a complete answer it has failed. */
export function endOf(
	{ results, progress, maxCostUsd }: EvalRun,
	{ isOverLimit, signal: { aborted, reason } }: { isOverLimit: boolean; signal: AbortSignal }
): Pick<EvalRun, 'state' | 'error'> {
	if (aborted) {
		const isStopped = reason instanceof Error && reason.message === STOPPED;
		return isStopped ? { state: 'failed', error: STOPPED } : { state: 'cancelled', error: null };
	}
	if (isOverLimit && progress.done < progress.total) {
		const error = `It reached its cost limit of $${maxCostUsd} after ${progress.done} of ${progress.total} answers. Raise the limit and go on.`;
		return { state: 'limit', error };
	}
	const answers = results.flatMap((result) => result.answers);
	const isFailed = answers.every(({ status }) => status === 'failed');
	return isFailed ? { state: 'failed', error: answers[0]?.error ?? null } : { state: 'done', error: null };
}

/** Before any answer. */
export function resultOf({ id, prompt, expected, shouldTrigger }: EvalCase): EvalResult {
	return { id, prompt, expected, shouldTrigger, answers: [] };
}

/** The sides of a run for people, with figures. */
export function sidesWithFigures(
	sides: readonly AskedSide[],
	skill: Skill,
	results: readonly EvalResult[]
): EvalSide[] {
	return sides.map(({ id, kind, skill: offered, agent, digest }) => {
		const version = offered?.version ?? null;
		return { id, kind, version, digest, model: agent.model.id, figures: figuresOf(results, id, skill.name) };
	});
}

/** What is asked, and by what it's judged; null if a file can't be read. */
async function keyOfCase(skill: Skill, asked: EvalCase, judge: Judge): Promise<string | null> {
	const { prompt, expected, files, expectations } = asked;
	try {
		const contents = await Promise.all(files.map((path) => digestOfFile(skill.dir, path)));
		const judgedBy = expectations.some(({ check }) => check === null) ? judge.id : null;
		return JSON.stringify([KEY_FORMAT, prompt, expected, files, contents, expectations, judgedBy]);
	} catch {
		// Answering it will report what is wrong.
		return null;
	}
}

async function digestOfFile(dir: string, path: string): Promise<string> {
	const { file, bytes } = await openInside(dir, path.replace(/^(\.\/)+/, ''));
	try {
		if (bytes > MAX_FILE_BYTES) throw new Error('too large');
		return hash('sha256', await file.readFile());
	} finally {
		await file.close();
	}
}

function keyOf(asked: string | null, { kind, digest, agent, skill }: AskedSide, round: number): string | null {
	if (asked === null || digest === null) return null;
	// Another version answers as the tested skill would.
	const what = kind === 'version' ? 'with' : kind;
	const { model, effort } = agent;
	return hash('sha256', JSON.stringify([asked, what, skill?.name, digest, model.id, effort, round]));
}

/** Verdicts in the order of the file, by code or by the judge. */
async function tell(
	judge: Judge,
	asked: EvalCase,
	{ answer: { status, calls, error }, seen }: Answered,
	signal: AbortSignal
): Promise<{ expectations: EvalAnswer['expectations']; costUsd: number | null }> {
	if (status !== 'success') {
		const reason = `No complete reply: ${error ?? 'it was stopped.'}`;
		return { expectations: asked.expectations.map(({ text }) => ({ text, isMet: null, reason })), costUsd: null };
	}
	// What it loaded on the way to a question says nothing about an answer.
	if (isUnanswered(seen.text)) {
		const reason = 'Demo mode couldn’t answer this.';
		return { expectations: asked.expectations.map(({ text }) => ({ text, isMet: null, reason })), costUsd: null };
	}
	const seenByCode = asked.expectations.map((expectation) => look(expectation, seen));
	const sentences = asked.expectations.filter(({ check }) => check === null).map(({ text }) => text);
	const { verdicts, costUsd } = await judge.judge(sentences, { asked, seen, calls }, signal);
	return { expectations: seenByCode.flatMap((verdict) => verdict ?? verdicts.shift() ?? []), costUsd };
}
