/** A run of evals as the folders that skill-creator aggregates: a `grading.json` for each answer (F16). */
import type { EvalRun } from '../../shared/try-out.ts';
import { writeZip } from '../zip.ts';
import { answersIn, configurationOf, evalNumberOf, gradingOf } from './exports.ts';

/** `eval-1/with_skill/run-1/grading.json`, beside it `timing.json` and the answer. */
export function gradingZip(run: EvalRun): AsyncGenerator<Uint8Array<ArrayBuffer>> {
	const modifiedAt = new Date(run.finishedAt ?? run.startedAt);
	const entry = (name: string, content: unknown) => {
		const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`;
		return { name, modifiedAt, isCompressed: true, chunks: chunksOf(new TextEncoder().encode(text)) };
	};
	const metadata = run.results.map((result, index) => {
		const number = evalNumberOf(result, index);
		return entry(`eval-${number}/eval_metadata.json`, {
			...{ eval_id: number, eval_name: result.id, prompt: result.prompt },
			assertions: result.answers[0]?.expectations.map(({ text }) => text) ?? []
		});
	});
	const answers = answersIn(run).flatMap(({ result, index, side, answer }) => {
		const folder = `eval-${evalNumberOf(result, index)}/${configurationOf(side, run)}/run-${answer.round}`;
		const timing = {
			...{ total_tokens: answer.tokens ?? 0, duration_ms: answer.durationMs },
			total_duration_seconds: answer.durationMs / 1000
		};
		return [
			entry(`${folder}/grading.json`, gradingOf(answer)),
			entry(`${folder}/timing.json`, timing),
			entry(`${folder}/outputs/answer.md`, answer.text)
		];
	});
	return writeZip([...metadata, ...answers]);
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
	yield* [bytes];
}
