/** Words of evals: sides, states and the verdict. Pure. */
import { cleanText } from '../../text/clean-text.ts';
import { formatCost } from '../../text/format.ts';
import { checkIn, wilson } from '../../../shared/evals.ts';
import { asRecord } from '../../../shared/json.ts';
import { BUILT_IN_MODEL } from '../../../shared/names.ts';
import { isUnanswered } from '../../../shared/questions.ts';
import { isFirstVersion } from '../skill-words.ts';
import {
	type EvalAnswer,
	type EvalResult,
	type EvalRun,
	type EvalSide,
	UNKNOWN_MODEL
} from '../../../shared/try-out.ts';

type Run = Pick<EvalRun, 'sides' | 'state' | 'kind'>;

/** With the model only where there are several. `isDraft`: a draft is tried, beside the skill that it changes. */
export function sideLabel({ kind, version, model }: EvalSide, { sides }: Pick<Run, 'sides'>, isDraft: boolean): string {
	const words = {
		with: isDraft ? 'With the draft' : 'With the skill',
		version: isDraft ? 'The skill you have' : `Version ${version ?? ''}`,
		without: 'Without it',
		library: 'Among all skills'
	};
	const hasSeveral = sides.some((side) => side.model !== model);
	return cleanText(hasSeveral ? `${words[kind]}, ${model}` : words[kind]);
}

const MODEL_WORDS: Readonly<Record<string, string>> = {
	[BUILT_IN_MODEL]: 'Demo mode',
	[UNKNOWN_MODEL]: 'unknown model'
};

/** Names of the models of a run. */
export function modelsOf({ sides }: Pick<Run, 'sides'>): string {
	const models = new Set(sides.map(({ model }) => MODEL_WORDS[model] ?? model));
	return cleanText([...models].join(', '));
}

export function percent(rate: number | null | undefined): string {
	return typeof rate === 'number' ? `${Math.round(rate * 100)} %` : '–';
}

/** In Demo mode, answers without any judged check tell nothing. */
export const canTell = ({ model, figures }: Pick<EvalSide, 'model' | 'figures'>): boolean =>
	model !== BUILT_IN_MODEL || figures.judged >= figures.answers;

/** `34–100 %`. */
export function interval({ figures: { passRate } }: Pick<EvalSide, 'figures'>): string {
	return passRate === null ? '' : `${Math.round(passRate.low * 100)}–${Math.round(passRate.high * 100)} %`;
}

/** The answers that one comes for, one for each model: its name stands before it where there are several. */
export function verdictsOf(run: Run & Pick<EvalRun, 'results'>, isDraft: boolean): string[] {
	const tested = run.state === 'running' || run.kind === 'triggers' ? [] : run.sides.filter(isWith);
	return tested.flatMap((side) => {
		const verdict = verdictOf(side, run, isDraft);
		if (verdict === null) return [];
		return [tested.length > 1 ? `${cleanText(side.model)}: ${verdict}` : verdict];
	});
}

export const isWith = ({ kind }: EvalSide): boolean => kind === 'with';

/** Without the skill they can't be met, so they say nothing about whether it helps. */
const OF_USE = ['skillLoaded', 'skillNotLoaded', 'toolCalled', 'exitCode'];
/** Whether the skill is loaded is said beside a prompt, not among what must be true of its answer. */
export const isOfLoading = (text: string): boolean => /^skill(Not)?Loaded$/.test(checkIn(text)?.kind ?? '');

const LOAD_CHECKS = ['skillLoaded', 'skillNotLoaded'] as const;

/** Whether an expectation says that this skill is used, or that it isn't. The form has a choice of its own for it. */
export function loadCheckOf(expectation: unknown, skill: string): (typeof LOAD_CHECKS)[number] | undefined {
	const said = typeof expectation === 'string' ? checkIn(expectation) : null;
	return LOAD_CHECKS.find((check) => {
		const wanted = said?.kind === check ? said.value : asRecord(expectation)?.[check];
		return wanted === skill || wanted === true;
	});
}

/** `2 checks`, as many as the form has rows; empty without any. */
export function checksIn(expectations: readonly unknown[], skill: string): string {
	const { length } = expectations.filter((each) => !loadCheckOf(each, skill));
	return length === 0 ? '' : length === 1 ? '1 check' : `${length} checks`;
}

const isOfUse = (text: string): boolean => OF_USE.includes(checkIn(text)?.kind ?? '');

/** The pass rate of the checks that a side without the skill could meet, too; null if there are none. */
function rateOfAnswers({ id, figures }: EvalSide, results: readonly EvalResult[]): EvalSide['figures']['passRate'] {
	const judged = results
		.flatMap((result) => answersOf(result, id))
		.filter(({ status }) => status === 'success')
		.map(({ expectations }) => expectations.filter(({ isMet }) => isMet !== null));
	if (!judged.flat().some(({ text }) => isOfUse(text))) return figures.passRate;
	const left = judged.map((checks) => checks.filter(({ text }) => !isOfUse(text))).filter(({ length }) => length > 0);
	const all = left.flat();
	const value = all.filter(({ isMet }) => isMet).length / all.length;
	return all.length === 0 ? null : { value, ...wilson(value, left.length) };
}

export const UNANSWERED = 'Demo mode couldn’t answer this';

/** As sure as it is: intervals that overlap decide nothing. Null while there is none, and in Demo mode. */
function verdictOf(
	tested: EvalSide,
	{ sides, results }: Run & Pick<EvalRun, 'results'>,
	isDraft: boolean
): string | null {
	if (tested.model === BUILT_IN_MODEL) return null;
	const others = sides.filter(({ model }) => model === tested.model);
	const other = others.find(({ kind }) => kind === 'without') ?? others.find(({ kind }) => kind === 'version');
	if (!other) return null;
	const isVersion = other.kind === 'version';
	const [mine, theirs] = [tested, other].map((side) =>
		isVersion ? side.figures.passRate : rateOfAnswers(side, results)
	);
	if (!isVersion && !mine && tested.figures.answers > tested.figures.failed) {
		return 'No check looks at the answer yet. Add one to see whether the skill helps.';
	}
	if (!mine || !theirs) return null;
	if (mine.value === theirs.value) {
		if (!isVersion) return 'The skill makes no difference';
		return isDraft ? 'The draft does as well as the skill you have' : 'Both versions do equally well';
	}
	const isBetter = mine.value > theirs.value;
	const isSure = isBetter ? mine.low > theirs.high : theirs.low > mine.high;
	if (isVersion) {
		const mineIs = isDraft ? 'The draft' : 'This version';
		const which = isBetter ? mineIs : isDraft ? 'The skill you have' : `Version ${other.version ?? ''}`;
		return cleanText(isSure ? `${which} is better` : `${which} seems better. More rounds will tell.`);
	}
	if (isSure) return isBetter ? 'The skill helps' : 'Answers are better without the skill';
	return `${isBetter ? 'The skill seems to help' : 'Answers seem better without the skill'}. More rounds will tell.`;
}

export const answersOf = ({ answers }: EvalResult, side: string): EvalAnswer[] =>
	answers.filter((answer) => answer.side === side);

/** The first paragraph that is no heading, table or code; of a list, its items in one line. */
export function firstWords(text: string): string {
	const paragraphs = text.trim().split(/\n[ \t]*\n\s*/);
	return unmarked(
		(paragraphs.find((each) => !/^(?:#{1,6} |\||```)/.test(each)) ?? text).replace(/\n[ \t]*[-*+] /g, ' · ')
	);
}

/** Without the signs of headings, lists, tables, bold text and code. */
function unmarked(text: string): string {
	return text
		.replace(/^[ \t]*(?:```.*|[-:| \t]+$|#{1,6} |> ?|[-*+] )/gm, '')
		.replace(/\*\*|`/g, '')
		.replace(/^[ \t]*\||\|[ \t]*$/gm, '')
		.replace(/[ \t]*\|[ \t]*/g, ' · ')
		.trim();
}

/** Whether each check was met; null where only a person can judge. */
const checksOf = (answers: readonly EvalAnswer[]): (boolean | null)[] =>
	answers.flatMap(({ expectations }) => expectations.map(({ isMet }) => isMet));

/** No answer failed, and no check is missed. */
export function areMet(answers: readonly EvalAnswer[]): boolean {
	return answers.every(({ status }) => status === 'success') && !checksOf(answers).includes(false);
}

/** `loaded`: the skill was used, and its answer isn’t checked. `unchecked`: nobody could judge all of it. `asked`: Demo mode asked back, or no skill fitted. `untried`: there is no answer. */
export type Outcome = 'passed' | 'loaded' | 'failed' | 'unchecked' | 'asked' | 'untried';

export function outcomeOf(answers: readonly EvalAnswer[]): Outcome {
	if (answers.every(({ status }) => status === 'cancelled')) return 'untried';
	if (!areMet(answers)) return 'failed';
	if (answers.some(({ text }) => isUnanswered(text))) return 'asked';
	const checks = checksOf(answers);
	if (checks.length === 0 || checks.includes(null)) return 'unchecked';
	// That it is left alone is all there is to such a prompt.
	const isOfAnswer = ({ text }: EvalAnswer['expectations'][number]): boolean =>
		!isOfUse(text) || checkIn(text)?.kind === 'skillNotLoaded';
	return answers.some(({ expectations }) => expectations.some(isOfAnswer)) ? 'passed' : 'loaded';
}

/** Of a side without the skill: checks that only the skill can meet don’t count. Null if no other is left. */
export function outcomeWithout(answers: readonly EvalAnswer[]): Outcome | null {
	const fair = answers.map((answer) => {
		const expectations = answer.expectations.filter(({ text }) => !isOfUse(text));
		return { ...answer, expectations };
	});
	return checksOf(fair).length === 0 ? null : outcomeOf(fair);
}

/** Whether the skill is used for this prompt as it should be, and in words. */
export function useOf(
	shouldTrigger: boolean,
	answers: readonly EvalAnswer[],
	skill: string
): { outcome: Outcome; words: string } {
	const came = answers.filter(({ status }) => status === 'success');
	const used = came.filter(({ loaded }) => loaded.includes(skill)).length;
	if (came.length === 0) {
		const outcome = answers.some(({ status }) => status === 'failed') ? 'failed' : 'untried';
		return { outcome, words: outcome === 'failed' ? 'No answer' : OUTCOMES.untried };
	}
	const isRight = used === (shouldTrigger ? came.length : 0);
	const isMixed = used > 0 && used < came.length;
	const did = isMixed ? `Used ${used} of ${came.length} times` : used > 0 ? 'Used' : 'Not used';
	const wanted = isRight ? 'as it should be' : shouldTrigger ? 'but should be' : 'but shouldn’t be';
	return { outcome: isRight ? 'passed' : 'failed', words: `${did}, ${wanted}` };
}

/** Of one prompt. */
export const OUTCOMES: Readonly<Record<Outcome, string>> = {
	passed: 'Passes',
	loaded: 'Used, answer not checked',
	failed: 'Fails',
	unchecked: 'For you to judge',
	asked: 'Not answered',
	untried: 'Not tried'
};

/** Each after a number of prompts: of one, of several. */
const TALLIED: readonly (readonly [Outcome, one: string, several: string])[] = [
	['passed', 'passes', 'pass'],
	['loaded', 'used the skill, its answer wasn’t checked', 'used the skill, their answers weren’t checked'],
	['failed', 'fails', 'fail'],
	['unchecked', 'is for you to judge', 'are for you to judge'],
	['asked', 'wasn’t answered', 'weren’t answered'],
	['untried', 'wasn’t tried', 'weren’t tried']
];

/** `2 of 3 prompts pass, 1 is for you to judge`: together they are all; of one, `The prompt passes`. */
export function tallyWords(outcomes: readonly Outcome[]): string {
	const total = outcomes.length;
	const parts = TALLIED.flatMap(([wanted, one, several]) => {
		const count = outcomes.filter((each) => each === wanted).length;
		return count === 0 ? [] : [{ count, words: count === 1 ? one : several }];
	});
	const [first, ...rest] = parts;
	if (!first) return '';
	if (total === 1) return `The prompt ${first.words}`;
	if (rest.length === 0) return `All ${total} prompts ${first.words}`;
	return [
		`${first.count} of ${total} prompts ${first.words}`,
		...rest.map(({ count, words }) => `${count} ${words}`)
	].join(', ');
}

/** Share of the checks that were met; null if there is nothing to compare. */
function rateOf(answers: readonly EvalAnswer[]): number | null {
	const checked = checksOf(answers).filter((isMet) => isMet !== null);
	return checked.length === 0 ? null : checked.filter(Boolean).length / checked.length;
}

/** The answers of another run’s tested side to the same prompt; empty without them. */
export function sameOf({ id, prompt }: EvalResult, other: Pick<EvalRun, 'sides' | 'results'>): EvalAnswer[] {
	const same = other.results.find((each) => each.id === id && each.prompt === prompt);
	return same ? answersOf(same, other.sides[0]?.id ?? '') : [];
}

/** How a prompt did against another run; null if it isn't in both, or wasn't checked. */
export function changeOf(
	result: EvalResult,
	run: Pick<EvalRun, 'sides'>,
	other: Pick<EvalRun, 'sides' | 'results'>
): 'better' | 'worse' | 'same' | null {
	const mine = rateOf(answersOf(result, run.sides[0]?.id ?? ''));
	const theirs = rateOf(sameOf(result, other));
	if (mine === null || theirs === null) return null;
	return mine === theirs ? 'same' : mine > theirs ? 'better' : 'worse';
}

/** `1 better, 2 the same`. */
export function changesOf(run: Pick<EvalRun, 'sides' | 'results'>, other: Pick<EvalRun, 'sides' | 'results'>): string {
	const changes = run.results.map((result) => changeOf(result, run, other));
	const words = { better: 'better', worse: 'worse', same: 'the same' } as const;
	const counts = (['better', 'worse', 'same'] as const).flatMap((change) => {
		const count = changes.filter((each) => each === change).length;
		return count === 0 ? [] : [`${count} ${words[change]}`];
	});
	return counts.join(', ') || 'No prompt is in both';
}

/** `1 more passes than before, 1 new prompt fails`; null if no prompt is in both. */
export function sinceBefore(
	run: Pick<EvalRun, 'sides' | 'results' | 'kind'>,
	before: Pick<EvalRun, 'sides' | 'results'>
): string | null {
	const answered = run.results
		.map((result) => [answersOf(result, run.sides[0]?.id ?? ''), sameOf(result, before)] as const)
		.filter(([now]) => now.length > 0);
	const both = answered.filter(([, earlier]) => earlier.length > 0);
	if (both.length === 0) return null;
	const added = answered.filter(([, earlier]) => earlier.length === 0).map(([now]) => outcomeOf(now));
	const failing = added.filter((outcome) => outcome === 'failed').length;
	const isNew = (count: number, verb = ''): string =>
		count === 1 ? `1 new prompt${verb && ` ${verb}s`}` : `${count} new prompts${verb && ` ${verb}`}`;
	const fresh = failing > 0 ? isNew(failing, 'fail') : isNew(added.length);
	const has = (answers: readonly EvalAnswer[]): boolean =>
		run.kind === 'triggers' ? areMet(answers) : outcomeOf(answers) === 'passed';
	const gained = both.filter(([now, earlier]) => has(now) && !has(earlier)).length;
	const lost = both.filter(([now, earlier]) => !has(now) && has(earlier)).length;
	const passes = (count: number): string => (count === 1 ? 'passes' : 'pass');
	const known =
		gained > 0 && lost > 0
			? `${gained} newly ${passes(gained)}, ${lost} no longer ${passes(lost)}`
			: gained > 0
				? `${gained} more ${passes(gained)} than before`
				: lost > 0
					? `${lost} fewer ${passes(lost)} than before`
					: '';
	return [known, added.length > 0 && fresh].filter(Boolean).join(', ') || 'The same as before';
}

/** Whether nothing was asked: all answers are from earlier runs. */
export const isAllFromBefore = ({ state, results }: Pick<EvalRun, 'state' | 'results'>): boolean => {
	const answers = results.flatMap((result) => result.answers);
	return state === 'done' && answers.length > 0 && answers.every(({ isCached }) => isCached);
};

/** `Running: 2 of 4 answers · a/model · version 1.0.0`, as far as it's known. */
export function summaryOf(run: EvalRun): string {
	const { state, progress, version, costUsd, importedFrom } = run;
	const { done, total } = progress;
	const isWhole = importedFrom !== undefined || (state !== 'running' && done === total);
	const answers = `${isWhole ? total : `${done} of ${total}`} ${total === 1 ? 'answer' : 'answers'}`;
	const what = importedFrom === undefined ? STATES[state] : `Imported from ${importedFrom}`;
	const sides = hasWithout(run) && isWhole ? ', with the skill and without it' : '';
	const came = isAllFromBefore(run) ? `${answers} from earlier runs` : `${what}: ${answers}`;
	return cleanText(
		[
			total === 0 ? what : `${came}${sides}`,
			modelsOf(run),
			version === '' || isFirstVersion(version) ? '' : `version ${version}`,
			costUsd === null ? '' : formatCost(costUsd)
		]
			.filter((part) => part !== '')
			.join(' · ')
	);
}

const hasWithout = ({ sides }: Pick<EvalRun, 'sides'>): boolean =>
	sides.length === 2 && sides.every(({ kind }) => kind === 'with' || kind === 'without');

export const STATES: Record<EvalRun['state'], string> = {
	running: 'Running',
	done: 'Done',
	failed: 'Failed',
	cancelled: 'Stopped',
	limit: 'Cost limit reached'
};
