/** `openrouter-skills eval <skill folder>`: runs its evals with and without the skill, side by side (F16). */
import { findSkill, UsageError, type CliCommand } from '../skills/cli/run-cli.ts';
import type { EvalCommandOptions, EvalReport, Wanted } from './evaluate.ts';
import { exportRun, isTested } from '../evals/exports.ts';
import { triggerWords } from '../../shared/evals.ts';
import { asModelId } from '../../shared/names.ts';
import { type EvalAnswer, type EvalSide, MOST_EVAL_MODELS } from '../../shared/try-out.ts';

const MAX_ROUNDS = 10;
const FORMATS = ['json', 'csv', 'junit', 'benchmark'] as const;

/**
 * Exit code 1 if an expectation with the skill isn't met, or a reply with it failed; with `--fail-under`, only if less
 * than this share of the expectations is met by any of the models.
 */
export function evalCommand(options: EvalCommandOptions): CliCommand {
	return {
		usage: [
			'eval <dir> [--rounds n] [--models a,b] [--trigger] [--fail-under 0.9] [--max-cost usd] [--format f]',
			'                                  run evals/evals.json with and without the skill; --trigger: which',
			'                                  prompts load it; f: json, csv, junit, benchmark'
		].join('\n'),
		options: ['rounds', 'models', 'fail-under', 'max-cost', 'format'],
		flags: ['trigger'],
		async run(dir, values) {
			const least = readShare(values['fail-under']);
			const format = readFormat(values['format']);
			const wanted: Omit<Wanted, 'folder'> = {
				rounds: readRounds(values['rounds']),
				models: readModels(values['models']),
				isTrigger: values['trigger'] === true,
				maxCostUsd: readCost(values['max-cost'])
			};
			const folder = await findFolder(dir);
			// Loaded on demand: the other commands don't need the agent.
			const { evaluate } = await import('./evaluate.ts');
			const report = await evaluate({ ...wanted, folder }, options);
			const text = format === null ? renderEvals(report, least) : exportRun(report, format);
			return { text, json: report, hasErrors: least === null ? isMissed(report) : shareOf(report) < least };
		}
	};
}

function isMissed({ results, sides, state }: EvalReport): boolean {
	const tested = new Set(sides.filter(isTested).map(({ id }) => id));
	const answers = results.flatMap((result) => result.answers).filter(({ side }) => tested.has(side));
	return (
		state !== 'done' ||
		answers.some(({ status, expectations }) => {
			return status !== 'success' || expectations.some(({ isMet }) => isMet === false);
		})
	);
}

/** The least share of met expectations of any model; those of a reply that failed or is missing count as not met. */
function shareOf({ results, sides, rounds }: EvalReport): number {
	const shares = sides.filter(isTested).map(({ id }) => {
		const told = results.flatMap(({ answers }) => {
			const own = answers.filter(({ side, status }) => side === id && status !== 'cancelled');
			const missing = Array.from({ length: rounds - own.length }, () => false);
			return [
				...own.flatMap(({ status, expectations }) =>
					status === 'success' ? expectations.flatMap(({ isMet }) => isMet ?? []) : [false]
				),
				...missing
			];
		});
		return told.length === 0 ? 0 : told.filter(Boolean).length / told.length;
	});
	return Math.min(...shares);
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

function readShare(given: unknown): number | null {
	if (given === undefined) return null;
	const share = given === '' ? NaN : Number(given);
	if (share >= 0 && share <= 1) return share;
	throw new UsageError('--fail-under must be a number from 0 to 1, such as 0.9.');
}

function readCost(given: unknown): number | null {
	if (given === undefined) return null;
	const cost = Number(given);
	if (cost > 0 && Number.isFinite(cost)) return cost;
	throw new UsageError('--max-cost must be an amount in USD, such as 0.50.');
}

function readFormat(given: unknown): (typeof FORMATS)[number] | null {
	if (given === undefined) return null;
	const format = FORMATS.find((each) => each === given);
	if (format) return format;
	throw new UsageError(`--format must be one of ${FORMATS.join(', ')}.`);
}

function readModels(given: unknown): string[] | null {
	if (typeof given !== 'string') return null;
	const ids = given.split(',').map(asModelId);
	const models = ids.filter((id) => id !== null);
	const isUsable = models.length === ids.length && new Set(models).size === ids.length;
	if (isUsable && models.length <= MOST_EVAL_MODELS) return models;
	throw new UsageError(`--models must be 1 to ${MOST_EVAL_MODELS} different models, such as a/b,c/d.`);
}

const COLUMN = 9;
const MAX_PROMPT = 70;
const LABELS = { with: 'with', version: 'version', without: 'without', library: 'loaded' };

function renderEvals(report: EvalReport, least: number | null): string {
	const { skill, version, sides, isOffline, rounds, results, kind, costUsd, error } = report;
	const models = [...new Set(sides.map(({ model }) => model))];
	const answered = isOffline ? 'Demo mode (no AI model)' : models.join(', ');
	// Names of models are too long for columns.
	const labels = sides.map((side, index) => {
		return { id: side.id, label: models.length > 1 ? `${LABELS[side.kind]} ${index + 1}` : LABELS[side.kind] };
	});
	const legend = models.length > 1 ? sides.map(({ model }, index) => `  ${index + 1}: ${model}`) : [];
	return [
		`${skill} ${version}, answered by ${answered}, ${rounds} round${rounds === 1 ? '' : 's'}`,
		...legend,
		'',
		labels
			.map(({ label }) => cell(label))
			.join('')
			.trimEnd(),
		...results.flatMap((result) => rowsOf(result, labels)),
		`${sides.map(({ figures }) => cell(percent(figures.passRate?.value))).join('')}of the expectations that could be checked`,
		...sides.filter(isTested).map(({ figures: { passRate }, model }) => {
			const of = models.length > 1 ? ` of ${model}` : '';
			return `  The true share${of} is between ${percent(passRate?.low)} and ${percent(passRate?.high)} (95 %).`;
		}),
		...(kind === 'triggers' ? sides.map(triggersIn) : []),
		...(costUsd === null ? [] : [`  Cost: $${costUsd.toFixed(4)}`]),
		...(error === null ? [] : [`  ${error}`]),
		...(least === null ? [] : [`  ${percent(shareOf(report))} are met; the least is ${percent(least)}.`])
	].join('\n');
}

function triggersIn({ figures: { trigger } }: EvalSide): string {
	const taken = trigger?.takenBy.map(({ skill, count }) => `${skill} (${count})`).join(', ');
	const instead = taken ? `Used in its place: ${taken}.` : '';
	return `  ${triggerWords(trigger)
		.map(({ label, value }) => `${label}: ${value}. `)
		.join('')}${instead}`.trimEnd();
}

type Label = { id: string; label: string };

function rowsOf({ id, prompt, answers }: EvalReport['results'][number], labels: readonly Label[]): string[] {
	const line = prompt.replace(/\s+/g, ' ').trim();
	const title = line.length > MAX_PROMPT ? `${line.slice(0, MAX_PROMPT - 1)}…` : line;
	const of = (side: Label) => answers.filter((answer) => answer.side === side.id);
	const texts = answers.reduce<string[]>((longest, { expectations }) => {
		return expectations.length > longest.length ? expectations.map(({ text }) => text) : longest;
	}, []);
	const rows = texts.map((text, index) => `${labels.map((side) => cell(metOf(of(side), index))).join('')}${text}`);
	return [`${id}. ${title}`, ...rows, ...labels.flatMap((side) => problemsOf(of(side), side.label)), ''];
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

function percent(rate: number | null | undefined): string {
	return typeof rate === 'number' ? `${Math.round(rate * 100)} %` : '?';
}

function cell(text: string): string {
	return `  ${text.padEnd(COLUMN)}`;
}
