/** Reads results of evals that skill-creator wrote: `grading.json`, `benchmark.json`, or a zip of its workspace (F16). */
import { hash, randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { basename, dirname, join as joinEntry } from 'node:path/posix';
import { z } from 'zod';
import { AppError, isNestedDeeperThan, MAX_NESTING } from '../../shared/errors.ts';
import { figuresOf } from '../../shared/evals.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import { inPlainWords, sentenceOf } from '../../shared/plain-issues.ts';
import { type EvalAnswer, type EvalResult, type EvalRun, type EvalSide, UNKNOWN_MODEL } from '../../shared/try-out.ts';
import { fetchZip } from '../install/sources/upload.ts';
import type { StagingFolder } from '../install/staging-folder.ts';
import type { EvalCase } from './evals-file.ts';
import { evalNumberOf } from './exports.ts';

const MEGABYTE = 1024 * 1024;
/** A workspace also has what the runs made; of that nothing is kept. */
const ZIP_LIMITS = {
	packedBytes: 50 * MEGABYTE,
	unpackedBytes: 500 * MEGABYTE,
	fileBytes: 50 * MEGABYTE,
	files: 10_000
};
export const MAX_RESULT_BYTES = 5 * MEGABYTE;
const MAX_KEPT_BYTES = 30 * MEGABYTE;
const MAX_IMPORTED_RUNS = 20;
const MAX_ANSWERS = 400;
const MAX_SIDES = 20;
const MAX_CHECKS = 500;
const MAX_PROBLEMS = 10;
const MAX_TEXT = 20_000;
const MAX_REASON = 1000;
const MAX_NAME = 200;

const count = z.number().int().min(0).max(1_000_000);
const amount = z.number().min(0).max(1e12);
const checks = z
	.array(
		z.looseObject({
			text: z.string().max(100_000),
			passed: z.boolean().nullable(),
			evidence: z.string().max(1_000_000).nullish()
		})
	)
	.max(MAX_CHECKS);
const passing = { passed: count.nullish(), failed: count.nullish(), total: count.nullish() };

/** Unknown fields are ignored: graders add their own. */
const gradingFile = z
	.looseObject({
		expectations: checks.nullish(),
		summary: z.looseObject(passing).nullish(),
		execution_metrics: z.looseObject({ total_steps: count.nullish() }).nullish(),
		timing: z.looseObject({ total_duration_seconds: amount.nullish(), executor_start: z.string().nullish() }).nullish()
	})
	.describe('`grading.json`: `expectations` with `text`, `passed` and `evidence`.');
type Grading = z.infer<typeof gradingFile>;

const benchmarkFile = z
	.looseObject({
		metadata: z
			.object({
				skill_name: z.string().nullish(),
				executor_model: z.string().nullish(),
				timestamp: z.string().nullish()
			})
			.nullish(),
		runs: z
			.array(
				z.looseObject({
					eval_id: z.union([z.string().min(1).max(MAX_NAME), z.number()]),
					eval_name: z.string().max(MAX_NAME).nullish(),
					configuration: z.string().min(1).max(MAX_NAME),
					run_number: z.number().int().min(1).max(1000).nullish(),
					result: z.looseObject({ ...passing, time_seconds: amount.nullish(), tokens: amount.nullish() }),
					expectations: checks.nullish(),
					notes: z.array(z.string()).nullish()
				})
			)
			.min(1)
			.max(MAX_ANSWERS)
	})
	.describe('`benchmark.json`: `runs` with `eval_id`, `configuration` and `result`.');
type Benchmark = z.infer<typeof benchmarkFile>;

export const importedFile = z.union([benchmarkFile, gradingFile]);
const metadataFile = z.looseObject({
	eval_id: z.union([z.string().min(1).max(MAX_NAME), z.number()]).nullish(),
	eval_name: z.string().nullish(),
	prompt: z.string().nullish()
});
const timingFile = z.looseObject({
	total_tokens: amount.nullish(),
	total_duration_seconds: amount.nullish(),
	executor_start: z.string().nullish()
});

/** The skill that the results are of. */
export interface ImportedFor {
	/** `source/name`. */
	skillId: string;
	name: string;
	cases: readonly EvalCase[];
	now: Date;
}

export interface Imported {
	/** Oldest first. The same content has the same id. */
	runs: EvalRun[];
	/** A sentence for each file that couldn't be used, or that seems to be another skill's. */
	problems: string[];
}

interface FoundAnswer {
	evalId: string;
	title: string | null;
	prompt: string | null;
	/** A folder's name in skill-creator's workspace: `with_skill`. */
	configuration: string;
	/** null to number it. */
	round: number | null;
	answer: Omit<EvalAnswer, 'side' | 'round'>;
}

interface FoundRun {
	/** Name of the file or of the folder, for people. */
	from: string;
	about: NonNullable<Benchmark['metadata']>;
	/** ISO 8601, as far as known. */
	startedAt: string | null;
	answers: FoundAnswer[];
}

/** One file. @throws AppError `invalid_input` with what is wrong with it */
export function readImportedFile(value: unknown, of: ImportedFor): Imported {
	const problems: string[] = [];
	const read = readFile(value, 'The file');
	if (typeof read === 'string') throw new AppError('invalid_input', read);
	const found = 'benchmark' in read ? ofBenchmark(read.benchmark, 'benchmark.json') : ofGrading(read.grading);
	return assemble([found], problems, of);
}

/**
 * A workspace, or any folders in it: `iteration-1/eval-2/with_skill/run-1/grading.json`. Each folder of evals is a run.
 * `folder`: absolute path, for the archive meanwhile. @throws AppError `invalid_input`, `too_large`
 */
export async function readImportedZip(
	body: AsyncIterable<Uint8Array>,
	{ folder, signal }: { folder: string; signal: AbortSignal },
	of: ImportedFor
): Promise<Imported> {
	const problems: string[] = [];
	const files = await unpack(body, { folder, signal }, problems);
	const found = runsIn(files, problems);
	if (found.length === 0 && problems.length === 0) {
		throw new AppError('invalid_input', 'This zip has no grading.json and no benchmark.json.', {
			hint: 'Zip the workspace that skill-creator made, or one of its iterations.'
		});
	}
	return assemble(found, problems, of);
}

const WANTED = /(^|\/)(grading|benchmark|timing|eval_metadata)\.json$|(^|\/)outputs\/answer\.md$/;

/** Texts of the files that matter, by their paths. */
async function unpack(
	body: AsyncIterable<Uint8Array>,
	{ folder, signal }: { folder: string; signal: AbortSignal },
	problems: string[]
): Promise<Map<string, string>> {
	const kept = new Map<string, string>();
	let bytes = 0;
	const into: StagingFolder = {
		dir: join(folder, `import-${randomUUID()}`),
		limits: ZIP_LIMITS,
		files: 0,
		bytes: 0,
		async add(path, content) {
			// The reader of zips hands whole files.
			if (!WANTED.test(path) || !(content instanceof Uint8Array)) return;
			if (content.length > MAX_RESULT_BYTES) {
				problems.push(`${path} is larger than 5 MB.`);
				return;
			}
			bytes += content.length;
			if (bytes > MAX_KEPT_BYTES) throw new AppError('too_large', 'The results in this zip are larger than 30 MB.');
			kept.set(path, new TextDecoder().decode(content));
		},
		remove: async () => undefined
	};
	await mkdir(folder, { recursive: true });
	await fetchZip(body, into, signal);
	return kept;
}

function runsIn(files: ReadonlyMap<string, string>, problems: string[]): FoundRun[] {
	const roots = new Map<string, FoundRun>();
	const rootOf = (root: string): FoundRun => {
		const run = roots.get(root) ?? { from: basename(root), about: {}, startedAt: null, answers: [] };
		roots.set(root, run);
		return run;
	};
	const readAs = <Schema extends z.ZodType>(path: string, schema: Schema): z.infer<Schema> | null => {
		const text = files.get(path);
		const parsed = text === undefined ? null : schema.safeParse(parseJson(text));
		return parsed?.success ? parsed.data : null;
	};
	const benchmarks = new Map<string, Benchmark>();
	for (const path of [...files.keys()].sort(byNumber)) {
		const name = basename(path);
		if (name !== 'grading.json' && name !== 'benchmark.json') continue;
		const read = readFile(parseJson(files.get(path) ?? ''), path);
		if (typeof read === 'string') {
			problems.push(read);
		} else if ('benchmark' in read) {
			benchmarks.set(folderOf(path), read.benchmark);
		} else {
			const place = placeOf(path);
			const own = readAs(joinEntry(place.folder, 'eval_metadata.json'), metadataFile);
			const timing = readAs(joinEntry(dirname(path), 'timing.json'), timingFile);
			const run = rootOf(place.root);
			run.startedAt ??= read.grading.timing?.executor_start ?? timing?.executor_start ?? null;
			const text = files.get(joinEntry(dirname(path), 'outputs/answer.md')) ?? '';
			run.answers.push({
				evalId: String(own?.eval_id ?? place.evalId),
				title: own?.eval_name || place.title,
				prompt: own?.prompt || null,
				...{ configuration: place.configuration, round: place.round },
				answer: {
					...graded(read.grading, timing?.total_duration_seconds ?? null),
					...{ text: text.slice(0, MAX_TEXT), tokens: timing?.total_tokens || null }
				}
			});
		}
	}
	for (const [root, benchmark] of benchmarks) {
		const graded = roots.get(root);
		const summed = ofBenchmark(benchmark, root === '' ? 'benchmark.json' : basename(root));
		// What was graded says more than its summary.
		if (graded) Object.assign(graded, { about: summed.about, startedAt: summed.startedAt ?? graded.startedAt });
		else roots.set(root, summed);
	}
	const sorted = [...roots].sort(([a], [b]) => byNumber(a, b)).map(([, run]) => run);
	return sorted.map((run) => ({ ...run, from: run.from || 'grading.json' }));
}

function byNumber(one: string, other: string): number {
	return one.localeCompare(other, 'en', { numeric: true });
}

/** Empty at the top. An older layout has the evals in `runs`. */
function folderOf(path: string): string {
	const folder = dirname(path);
	return folder === '.' ? '' : folder.replace(/(^|\/)runs$/, '');
}

/** `root/eval-2/with_skill/run-1/grading.json`, of which the last ones matter most. */
function placeOf(path: string) {
	const segments = path.split('/').slice(0, -1);
	const run = /^run-(\d{1,3})$/.exec(segments.at(-1) ?? '');
	if (run) segments.pop();
	const configuration = segments.pop() ?? 'with_skill';
	const folder = segments.join('/');
	const name = segments.pop() ?? '';
	const evalId = /^eval-(\d{1,9})(?:\D|$)/.exec(name)?.[1] ?? (name || '1');
	const root = folderOf(joinEntry(...segments, 'x'));
	const title = name === `eval-${evalId}` ? null : name;
	return { root, folder, evalId, title, configuration, round: Math.max(1, Number(run?.[1] ?? 1)) };
}

/** A sentence for what is neither. */
function readFile(value: unknown, path: string): { benchmark: Benchmark } | { grading: Grading } | string {
	if (value === undefined) return `${path} isn’t valid JSON.`;
	if (isNestedDeeperThan(MAX_NESTING, value)) return `${path} is nested more than ${MAX_NESTING} levels deep.`;
	const isBenchmark = isObject(value) && 'runs' in value;
	if (!isBenchmark && !(isObject(value) && ('expectations' in value || 'summary' in value))) {
		return `${path} is neither a grading.json, which has “expectations”, nor a benchmark.json, which has “runs”.`;
	}
	const benchmark = isBenchmark ? benchmarkFile.safeParse(value, { error: inPlainWords }) : null;
	if (benchmark?.success) return { benchmark: benchmark.data };
	const grading = isBenchmark ? null : gradingFile.safeParse(value, { error: inPlainWords });
	if (grading?.success) return { grading: grading.data };
	const [issue] = (benchmark ?? grading)?.error?.issues ?? [];
	return `${path} can’t be used: ${sentenceOf(issue, 'the file').sentence}`;
}

function graded({ expectations, summary, timing, execution_metrics: metrics }: Grading, seconds: number | null = null) {
	return answerOf({
		expectations: judged(expectations, summary ?? {}),
		seconds: timing?.total_duration_seconds || seconds,
		...{ tokens: null, steps: metrics?.total_steps ?? null, notes: [] }
	});
}

/** Alone, it says nothing of its eval. */
function ofGrading(grading: Grading): FoundRun {
	const place = { evalId: '1', title: null, prompt: null, configuration: 'with_skill', round: 1 };
	const startedAt = grading.timing?.executor_start ?? null;
	return { from: 'grading.json', about: {}, startedAt, answers: [{ ...place, answer: graded(grading) }] };
}

function ofBenchmark({ metadata: about, runs }: Benchmark, from: string): FoundRun {
	const answers = runs.map((run): FoundAnswer => {
		const { eval_id: id, eval_name: title, configuration, run_number: round, result, expectations, notes } = run;
		const { time_seconds: seconds = null, tokens = null } = result;
		const told = judged(expectations, result);
		return {
			...{ evalId: String(id), title: title ?? null, prompt: null, configuration, round: round ?? null },
			answer: answerOf({ expectations: told, seconds, tokens, steps: null, notes: notes ?? [] })
		};
	});
	return { from, about: about ?? {}, startedAt: about?.timestamp ?? null, answers };
}

/** Without the checks themselves, as many as were counted. */
function judged(
	given: Grading['expectations'],
	{ passed, failed, total }: { passed?: number | null; failed?: number | null; total?: number | null }
): EvalAnswer['expectations'] {
	if (given && given.length > 0) {
		return given.map(({ text, passed: isMet, evidence }) => {
			return { text: text.slice(0, MAX_TEXT), isMet, reason: (evidence ?? '').slice(0, MAX_REASON) };
		});
	}
	const all = Math.min(total ?? (passed ?? 0) + (failed ?? 0), MAX_CHECKS);
	const reason = 'The file only has how many were met.';
	return Array.from({ length: all }, (_, index) => {
		return { text: `Check ${index + 1} of ${all}`, isMet: index < (passed ?? 0), reason };
	});
}

function answerOf({
	expectations,
	seconds,
	tokens,
	steps,
	notes
}: {
	expectations: EvalAnswer['expectations'];
	seconds: number | null;
	tokens: number | null;
	steps: number | null;
	notes: readonly string[];
}): FoundAnswer['answer'] {
	return {
		...{ status: 'success', loaded: [], calls: [], files: [], costUsd: null, isCached: false, error: null },
		text: notes.join('\n').slice(0, MAX_TEXT),
		steps: steps ?? 0,
		durationMs: Math.round((seconds ?? 0) * 1000),
		// What skill-creator doesn't know is 0.
		tokens: tokens || null,
		expectations
	};
}

/** @throws AppError `invalid_input` if nothing is left, with the reasons */
function assemble(found: readonly FoundRun[], problems: string[], of: ImportedFor): Imported {
	if (found.length > MAX_IMPORTED_RUNS) {
		throw new AppError('too_large', `This has ${found.length} runs of evals, but at most ${MAX_IMPORTED_RUNS} fit.`);
	}
	const runs = found.flatMap((each, index) => {
		const run = toRun(each, index - found.length, of);
		if (typeof run === 'string') problems.push(`${each.from}: ${run}`);
		else {
			const said = each.about.skill_name;
			if (said && !/^</.test(said) && said !== of.name) problems.push(`${each.from} says it’s of the skill “${said}”.`);
		}
		return typeof run === 'string' ? [] : [run];
	});
	const more = problems.length > MAX_PROBLEMS ? [`And ${problems.length - MAX_PROBLEMS} more problems.`] : [];
	const shown = [...problems.slice(0, MAX_PROBLEMS), ...more];
	if (runs.length === 0) throw new AppError('invalid_input', shown.join(' '));
	return { runs, problems: shown };
}

/** A sentence if it can't be one. `later`: milliseconds from now, to keep the order of those without a time. */
function toRun({ from, about, startedAt, answers }: FoundRun, later: number, of: ImportedFor): EvalRun | string {
	if (answers.length > MAX_ANSWERS) return `it has ${answers.length} answers, but at most ${MAX_ANSWERS} fit.`;
	const said = about.executor_model;
	const model = said && !/^</.test(said) ? said.slice(0, MAX_NAME) : UNKNOWN_MODEL;
	const configurations = [...new Set(answers.map(({ configuration }) => configuration))]
		.map((configuration) => ({ configuration, ...sideOf(configuration) }))
		.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
	if (configurations.length > MAX_SIDES) return `it has more than ${MAX_SIDES} configurations.`;
	const results = new Map<string, EvalResult>();
	for (const { evalId: given, title, prompt, configuration, round, answer } of answers) {
		// No database takes the other characters as they are.
		const evalId = given.toWellFormed().replaceAll('\0', '�');
		const known =
			of.cases.find(({ id }) => id === title) ??
			of.cases.find((each, index) => each.id === evalId || String(evalNumberOf(each, index)) === evalId);
		const result = results.get(evalId) ?? {
			id: evalId,
			prompt: (prompt ?? known?.prompt ?? title ?? '').slice(0, MAX_TEXT) || `Eval ${evalId}`,
			...{ expected: known?.expected ?? null, shouldTrigger: null, answers: [] }
		};
		results.set(evalId, result);
		const side = String(configurations.findIndex((each) => each.configuration === configuration) + 1);
		const taken = result.answers.filter((each) => each.side === side).map((each) => each.round);
		if (round !== null && taken.includes(round))
			return `run ${round} of eval ${evalId}, ${configuration}, is there twice.`;
		result.answers.push({ ...answer, side, round: round ?? Math.max(0, ...taken) + 1 });
	}
	const all = [...results.values()];
	const sides = configurations.map(({ kind, version }, index): EvalSide => {
		const figures = figuresOf(all, String(index + 1), of.name);
		const known = { durationMs: figures.durationMs || null, steps: figures.steps || null };
		return { id: String(index + 1), kind, version, digest: null, model, figures: { ...figures, ...known } };
	});
	const time = timeOf(startedAt, of.now) ?? new Date(of.now.getTime() + later).toISOString();
	const content = JSON.stringify([of.skillId, from, about, startedAt, answers]);
	return {
		id: `imported-${hash('sha256', content).slice(0, 32)}`,
		...{ skillId: of.skillId, version: '', kind: 'answers', state: 'done', maxCostUsd: null, isFresh: false },
		importedFrom: from.slice(0, MAX_NAME),
		rounds: Math.max(...all.flatMap((result) => result.answers.map(({ round }) => round))),
		progress: { done: answers.length, total: answers.length },
		...{ sides, results: all, costUsd: null, error: null, startedAt: time, finishedAt: time }
	};
}

/** The tested skill first. */
const ORDER: EvalSide['kind'][] = ['with', 'version', 'without'];

/** `with_skill`, `new_skill`; `without_skill`; anything else, such as `old_skill`, is another version. */
function sideOf(configuration: string): Pick<EvalSide, 'kind' | 'version'> {
	if (/^without|^baseline$|^no_skill/i.test(configuration)) return { kind: 'without', version: null };
	if (/^(with|new)(_|-|$)/i.test(configuration)) return { kind: 'with', version: null };
	return { kind: 'version', version: configuration.replace(/^version_/, '') };
}

/** Not in the future, where it would stay the newest. */
function timeOf(said: string | null, now: Date): string | null {
	const time = said === null ? NaN : Date.parse(said);
	if (Number.isNaN(time) || time < 0) return null;
	return new Date(Math.min(time, now.getTime())).toISOString();
}
