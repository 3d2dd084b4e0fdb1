/** Runs of evals as files: JSON, CSV, JUnit for CI, and `benchmark.json` as skill-creator's viewer reads it (F16). */
import type { EvalAnswer, EvalExportFormat, EvalResult, EvalRun, EvalSide } from '../../shared/try-out.ts';
import { csvRow } from '../csv.ts';
import { writeZip } from '../zip.ts';

const COLUMNS = [
	...['eval', 'prompt', 'side', 'version', 'model', 'round', 'status', 'expectation', 'met', 'reason', 'loaded'],
	...['steps', 'seconds', 'tokens', 'costUsd', 'cached', 'error']
];

/** The whole file. */
export function exportRun(run: EvalRun, format: Exclude<EvalExportFormat, 'grading'>): string {
	switch (format) {
		case 'json':
			return `${JSON.stringify(run, null, '\t')}\n`;
		case 'benchmark':
			return `${JSON.stringify(benchmarkOf(run), null, 2)}\n`;
		case 'csv':
			return toCsv(run);
		case 'junit':
			return toJunit(run);
		default:
			return format satisfies never;
	}
}

export function skillNameOf({ skillId }: Pick<EvalRun, 'skillId'>): string {
	return skillId.slice(skillId.lastIndexOf('/') + 1);
}

/** Every answer of a run with its prompt and its side, side by side. */
function answersIn({ results, sides }: EvalRun): {
	result: EvalResult;
	/** Of its prompt, from 0. */
	index: number;
	side: EvalSide;
	answer: EvalAnswer;
}[] {
	return sides.flatMap((side) =>
		results.flatMap((result, index) =>
			result.answers
				.filter((answer) => answer.side === side.id && answer.status !== 'cancelled')
				.sort((a, b) => a.round - b.round)
				.map((answer) => ({ result, index, side, answer }))
		)
	);
}

function toCsv(run: EvalRun): string {
	const rows = answersIn(run).flatMap(({ result, side, answer }) => {
		const { round, status, loaded, steps, tokens, costUsd, isCached, error, durationMs, expectations } = answer;
		const told = expectations.length > 0 ? expectations : [{ text: null, isMet: null, reason: null }];
		return told.map(({ text, isMet, reason }) => [
			...[result.id, result.prompt, side.kind, side.version, side.model, round, status, text, isMet, reason],
			...[loaded.join(' '), steps, durationMs / 1000, tokens, costUsd, isCached, error]
		]);
	});
	return [COLUMNS, ...rows].map(csvRow).join('');
}

// JUnit, as GitHub, GitLab and Jenkins read it.

/** Only what is tested can fail: the skill, not what it's compared with. */
function toJunit(run: EvalRun): string {
	const tested = run.sides.filter(isTested).map((side) => {
		const name = `${[skillNameOf(run), side.version ?? []].flat().join(' ')}, ${side.model}`;
		const cases = answersIn({ ...run, sides: [side] }).flatMap((each) => casesOf(each, name));
		const counts = `tests="${cases.length}" failures="${count(cases, '<failure')}" errors="${count(cases, '<error')}" skipped="${count(cases, '<skipped')}"`;
		return [`\t<testsuite name="${escaped(name)}" ${counts}>`, ...cases, '\t</testsuite>'].join('\n');
	});
	return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="evals">', ...tested, '</testsuites>', ''].join(
		'\n'
	);
}

export function isTested({ kind }: Pick<EvalSide, 'kind'>): boolean {
	return kind === 'with' || kind === 'library';
}

function casesOf({ result, answer }: ReturnType<typeof answersIn>[number], suite: string): string[] {
	const told = answer.expectations.length > 0 ? answer.expectations : [{ text: 'answers', isMet: true, reason: '' }];
	return told.map(({ text, isMet, reason }) => {
		const name = `${result.id}: ${text}${answer.round > 1 ? ` (round ${answer.round})` : ''}`;
		const open = `\t\t<testcase classname="${escaped(suite)}" name="${escaped(name)}" time="${answer.durationMs / 1000}"`;
		if (answer.status !== 'success')
			return `${open}><error message="${escaped(answer.error ?? 'No reply.')}"/></testcase>`;
		if (isMet === null) return `${open}><skipped message="${escaped(reason)}"/></testcase>`;
		if (isMet) return `${open}/>`;
		return `${open}><failure message="${escaped(reason)}">${escaped(answer.text)}</failure></testcase>`;
	});
}

function count(lines: readonly string[], what: string): number {
	return lines.filter((line) => line.includes(what)).length;
}

/** Text for an attribute or an element, without characters that XML can't have. */
function escaped(text: string): string {
	return text
		.toWellFormed()
		.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '�')
		.replace(/[&<>"\n\r\t]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

// skill-creator's shapes. Its viewer wants these very names.

/** `with_skill` and `without_skill` of the first model; names of its own for others. */
function configurationOf({ kind, version, model }: EvalSide, { sides }: Pick<EvalRun, 'sides'>): string {
	const name = kind === 'version' ? `version_${version}` : kind === 'without' ? 'without_skill' : 'with_skill';
	return model === sides[0]?.model ? name : `${name}_${model.replaceAll(/[^\w.-]/g, '_')}`;
}

/** skill-creator numbers evals. */
export function evalNumberOf({ id }: Pick<EvalResult, 'id'>, index: number): number {
	return /^\d{1,9}$/.test(id) ? Number(id) : index + 1;
}

/** `grading.json` of one answer. */
function gradingOf(answer: EvalAnswer) {
	const told = answer.expectations.map(({ text, isMet, reason }) => ({
		text,
		passed: isMet === true,
		evidence: reason
	}));
	const passed = told.filter((each) => each.passed).length;
	const seconds = answer.durationMs / 1000;
	// Not `Object.groupBy`: programs that use the library may run on Node 20.
	const called = answer.calls.map((call) => call.slice(0, Math.max(0, call.indexOf(':'))));
	return {
		expectations: told,
		summary: {
			...{ passed, failed: told.length - passed, total: told.length },
			pass_rate: told.length === 0 ? 0 : rounded(passed / told.length)
		},
		execution_metrics: {
			tool_calls: Object.fromEntries(called.map((name) => [name, called.filter((each) => each === name).length])),
			total_tool_calls: answer.calls.length,
			total_steps: answer.steps,
			errors_encountered: answer.status === 'success' ? 0 : 1,
			output_chars: answer.text.length,
			transcript_chars: answer.text.length
		},
		timing: { executor_duration_seconds: seconds, total_duration_seconds: seconds }
	};
}

function benchmarkOf(run: EvalRun) {
	const runs = answersIn(run).map(({ result, index, side, answer }) => {
		const { summary, expectations, execution_metrics: metrics, timing } = gradingOf(answer);
		return {
			eval_id: evalNumberOf(result, index),
			eval_name: result.id,
			configuration: configurationOf(side, run),
			run_number: answer.round,
			result: {
				...summary,
				time_seconds: timing.total_duration_seconds,
				tokens: answer.tokens ?? 0,
				tool_calls: metrics.total_tool_calls,
				errors: metrics.errors_encountered
			},
			expectations,
			notes: [answer.error, ...answer.expectations.filter(({ isMet }) => isMet === null).map(notJudged)].filter(
				(note) => note !== null
			)
		};
	});
	const configurations = run.sides.map((side) => configurationOf(side, run));
	const summaries = configurations.map((name) => {
		const own = runs.filter(({ configuration }) => configuration === name).map(({ result }) => result);
		return {
			pass_rate: statistics(own.map((each) => each.pass_rate)),
			time_seconds: statistics(own.map((each) => each.time_seconds)),
			tokens: statistics(own.map((each) => each.tokens))
		};
	});
	const [first, second] = [summaries[0], summaries[configurations.indexOf('without_skill')] ?? summaries[1]];
	const change = (key: 'pass_rate' | 'time_seconds' | 'tokens', digits: number) => {
		const value = (first?.[key].mean ?? 0) - (second?.[key].mean ?? 0);
		return `${value < 0 ? '' : '+'}${value.toFixed(digits)}`;
	};
	return {
		metadata: {
			skill_name: skillNameOf(run),
			skill_path: run.skillId,
			executor_model: run.sides[0]?.model ?? '',
			analyzer_model: '',
			timestamp: run.startedAt,
			evals_run: run.results.map(evalNumberOf),
			runs_per_configuration: run.rounds
		},
		runs,
		run_summary: {
			...Object.fromEntries(configurations.map((name, index) => [name, summaries[index]])),
			...(second && {
				delta: {
					pass_rate: change('pass_rate', 2),
					time_seconds: change('time_seconds', 1),
					tokens: change('tokens', 0)
				}
			})
		},
		notes: []
	};
}

function notJudged({ text, reason }: { text: string; reason: string }): string {
	return `Not judged: ${text} (${reason})`;
}

function statistics(values: readonly number[]) {
	if (values.length === 0) return { mean: 0, stddev: 0, min: 0, max: 0 };
	const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
	const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
	const deviation = values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : 0;
	return {
		mean: rounded(mean),
		stddev: rounded(deviation),
		min: rounded(Math.min(...values)),
		max: rounded(Math.max(...values))
	};
}

function rounded(value: number): number {
	return Math.round(value * 10_000) / 10_000;
}

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
