/** Results of evals as text for a terminal: each expectation with and without the skill, side by side. */
import type { EvalAnswer, EvalResult, EvalRun } from '../../shared/try-out.ts';

export interface EvalReport {
	skill: string;
	version: string;
	model: string;
	isOffline: boolean;
	rounds: number;
	passRate: EvalRun['passRate'];
	results: EvalResult[];
}

const COLUMN = 9;
const MAX_PROMPT = 70;

export function renderEvals({ skill, version, model, isOffline, rounds, passRate, results }: EvalReport): string {
	const answered = isOffline ? 'the built-in responder, which is no language model' : model;
	return [
		`${skill} ${version}, answered by ${answered}, ${rounds} round${rounds === 1 ? '' : 's'}`,
		'',
		`${cell('with')}${cell('without')}`,
		...results.flatMap(rowsOf),
		`${cell(percent(passRate.withSkill))}${cell(percent(passRate.withoutSkill))}of the expectations that could be told`
	].join('\n');
}

function rowsOf({ id, prompt, withSkill, withoutSkill }: EvalResult): string[] {
	const line = prompt.replace(/\s+/g, ' ').trim();
	const title = line.length > MAX_PROMPT ? `${line.slice(0, MAX_PROMPT - 1)}…` : line;
	const count = Math.max(...[...withSkill, ...withoutSkill].map(({ expectations }) => expectations.length), 0);
	const rows = Array.from({ length: count }, (_, index) => {
		const text = [...withSkill, ...withoutSkill].find(({ expectations }) => expectations[index])?.expectations[index]
			?.text;
		return `${cell(metOf(withSkill, index))}${cell(metOf(withoutSkill, index))}${text ?? ''}`;
	});
	return [`${id}. ${title}`, ...rows, ...problemsOf(withSkill, 'with'), ...problemsOf(withoutSkill, 'without'), ''];
}

/** `1/2`: met of told; `?` where nobody could tell. */
function metOf(answers: readonly EvalAnswer[], index: number): string {
	const told = answers.flatMap(({ expectations }) => expectations[index] ?? []).filter(({ isMet }) => isMet !== null);
	return told.length === 0 ? '?' : `${told.filter(({ isMet }) => isMet).length}/${told.length}`;
}

/** Why expectations were not met or could not be told, each reason once. */
function problemsOf(answers: readonly EvalAnswer[], which: string): string[] {
	const reasons = answers.flatMap(({ error, expectations }) => [
		...(error === null ? [] : [error]),
		...(error === null ? expectations : [])
			.filter(({ isMet }) => isMet !== true)
			.map(({ text, reason }) => `${text}: ${reason}`)
	]);
	return [...new Set(reasons)].map((reason) => `    ${which}: ${reason.replace(/\s+/g, ' ')}`);
}

function percent(rate: number | null): string {
	return rate === null ? '?' : `${Math.round(rate * 100)} %`;
}

function cell(text: string): string {
	return `  ${text.padEnd(COLUMN)}`;
}
