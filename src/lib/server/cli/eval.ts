/** `openrouter-skills eval <skill folder>`: runs its evals with and without the skill, side by side (F16). */
import { findSkill, UsageError } from '../skills/cli/read.ts';
import type { CliCommand } from '../skills/cli/run-cli.ts';
import type { EvalCommandOptions, EvalReport } from './evaluate.ts';
import type { EvalAnswer, EvalResult } from '../../shared/try-out.ts';

const MAX_ROUNDS = 10;

/** Exit code 1 if an expectation with the skill isn't met, or a reply with it failed. */
export function evalCommand(options: EvalCommandOptions): CliCommand {
	return {
		usage: 'eval <dir> [--rounds n]         run evals/evals.json with and without the skill',
		options: ['rounds'],
		async run(dir, values) {
			const rounds = readRounds(values['rounds']);
			const folder = await findFolder(dir);
			// Loaded on demand: the other commands don't need the agent.
			const { evaluate } = await import('./evaluate.ts');
			const report = await evaluate({ folder, rounds }, options);
			return { text: renderEvals(report), json: report, hasErrors: isMissed(report) };
		}
	};
}

function isMissed({ results }: EvalReport): boolean {
	const answers = results.flatMap(({ withSkill }) => withSkill);
	return answers.some(({ status, expectations }) => {
		return status !== 'success' || expectations.some(({ isMet }) => isMet === false);
	});
}

/** @throws UsageError if the folder has no skill or several, Error if it's broken */
async function findFolder(dir: string): Promise<string> {
	const skill = await findSkill(dir, undefined);
	if (skill.status === 'ready') return skill.dir;
	throw new Error(`“${skill.name}” is broken: ${skill.issues[0]?.message ?? 'unknown reason'}`);
}

function readRounds(given: unknown): number {
	const rounds = Number(given ?? 1);
	if (Number.isInteger(rounds) && rounds >= 1 && rounds <= MAX_ROUNDS) return rounds;
	throw new UsageError(`--rounds must be a whole number from 1 to ${MAX_ROUNDS}.`);
}

const COLUMN = 9;
const MAX_PROMPT = 70;

function renderEvals({ skill, version, model, isOffline, rounds, passRate, results }: EvalReport): string {
	const answered = isOffline ? 'Demo mode (no AI model)' : model;
	return [
		`${skill} ${version}, answered by ${answered}, ${rounds} round${rounds === 1 ? '' : 's'}`,
		'',
		`${cell('with')}${cell('without')}`,
		...results.flatMap(rowsOf),
		`${cell(percent(passRate.withSkill))}${cell(percent(passRate.withoutSkill))}of the expectations that could be checked`
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

/** `1/2`: met of judged; `?` if none could be judged. */
function metOf(answers: readonly EvalAnswer[], index: number): string {
	const told = answers.flatMap(({ expectations }) => expectations[index] ?? []).filter(({ isMet }) => isMet !== null);
	return told.length === 0 ? '?' : `${told.filter(({ isMet }) => isMet).length}/${told.length}`;
}

/** Why expectations weren't met or judged, each reason once. */
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
