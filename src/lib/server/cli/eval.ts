/** `openrouter-skills eval <skill folder>`: its evals with and without it, side by side (FEATURES F16). */
import { findSkill, UsageError } from '../skills/cli/read.ts';
import type { CliCommand } from '../skills/cli/run-cli.ts';
import type { EvalCommandOptions } from './evaluate.ts';
import { renderEvals, type EvalReport } from './render-evals.ts';

const MAX_ROUNDS = 10;

/** Ends with 1 when an expectation of an answer with the skill is not met, or such an answer failed. */
export function evalCommand(options: EvalCommandOptions): CliCommand {
	return {
		usage: 'eval <dir> [--rounds n]         asks the model the prompts of evals/evals.json, with the skill and without',
		options: ['rounds'],
		async run(dir, values) {
			const rounds = readRounds(values['rounds']);
			const folder = await findFolder(dir);
			// The other commands need none of the agent.
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

/** @throws UsageError for a folder of several skills or none, Error for a broken one */
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
