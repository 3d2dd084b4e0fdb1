/** Starts, follows, stops and stores runs of skills' evals (F16). */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import { canGoOn } from '../../shared/evals.ts';
import { BUILT_IN_MODEL, EVAL_SESSION, OLD_TRIAL_SOURCE } from '../../shared/names.ts';
import type {
	EvalImport,
	EvalResult,
	EvalRun,
	EvalRunSummary,
	EvalSide,
	EvalStart,
	SkillEvals
} from '../../shared/try-out.ts';
import { removeFolder } from '../foreign-folders.ts';
import type { Log } from '../log.ts';
import type { ApprovalPolicy } from '../trust/approval-policy.ts';
import { requireSkill } from '../skill-admin/skill-details.ts';
import type { StoredSkillModes } from '../trust/skill-modes.ts';
import { hintFor } from '../turns/toolbox.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import { siblingsOf } from '../skills/needs/siblings.ts';
import type { SkillsProvider } from '../skills/provider.ts';
import type { PlannedRun } from '../skills/call/session.ts';
import { loadFolder } from '../skills/read/skill-loader.ts';
import { createTurns, type TurnsState } from '../skills/turns.ts';
import type { Skill } from '../skills/types.ts';
import { endLeft, type Replica, soleReplica } from '../replica.ts';
import { createStopWishes } from '../stop-wishes.ts';
import type { Store } from '../store/store.ts';
import type { AnswerParts, AskedSide, EvalModel } from './answer.ts';
import { casesOf, chosen, readEvals } from './evals-file.ts';
import { readImportedFile, readImportedZip } from './imports.ts';
import { createJudge } from './judge.ts';
import {
	answersOf,
	digestOfTested,
	endOf,
	type EvalPlan,
	type EvalProgress,
	resultOf,
	runEvals,
	sidesOf,
	sidesWithFigures,
	STOPPED
} from './run-evals.ts';

/** `id` is a skill's, in any form the API accepts. */
export interface Evals {
	/** @throws AppError `not_found` */
	list(id: string): Promise<SkillEvals>;
	/**
	 * Starts a run; `get` shows its progress.
	 * @throws AppError `forbidden` for an untrusted skill, `conflict` for one without evals, off or already running
	 */
	start(id: string, options: EvalStart): Promise<EvalRun>;
	/**
	 * Asks what a run that has ended lacks, with the same skill and models. `maxCostUsd` replaces the run's limit.
	 * @throws AppError `not_found`, `conflict` if nothing is missing, or the skill or the models have changed
	 */
	goOn(id: string, runId: string, options: { maxCostUsd?: number | null | undefined }): Promise<EvalRun>;
	/** @throws AppError `not_found` */
	get(id: string, runId: string): Promise<EvalRun>;
	/**
	 * Keeps results that skill-creator wrote as runs: the JSON of a `grading.json` or `benchmark.json`, or a zip of its
	 * workspace. Nothing is asked. @throws AppError `not_found`, `invalid_input` with what is wrong with it, `too_large`
	 */
	importRuns(
		id: string,
		given: { json: unknown } | { zip: AsyncIterable<Uint8Array>; signal: AbortSignal }
	): Promise<EvalImport>;
	/** Ends a run that is still running, and waits for its end. @throws AppError `not_found` */
	cancel(id: string, runId: string): Promise<EvalRun>;
	/**
	 * Runs the evals in any skill's folder, such as an unsaved draft's, and stores nothing. Uses stored answers. `draft`: an
	 * absolute path, or a skill that was read.
	 * @throws AppError `conflict` for a broken skill or one without evals; the signal's reason
	 */
	tryOut(draft: Skill | string, options: Partial<EvalStart>, trial: EvalTrial): Promise<EvalTrialResult>;
	/** Answers that are written on this server, or wait for their turn. */
	readonly answers: TurnsState;
	/** Ends all runs. */
	close(): Promise<void>;
}

export interface EvalTrial {
	signal: AbortSignal;
	/** Who may run its scripts; by default the same as in runs, so those of an untrusted folder don't. */
	approvals?: AnswerParts['approvals'];
	/** A skill to compare with, such as the one that the draft changes. */
	against?: Skill;
	onAnswer?: (progress: EvalProgress & { total: number }) => void;
}

/** Answers by prompt, and figures by side: the skill first, then the other sides. */
export interface EvalTrialResult {
	sides: EvalSide[];
	results: EvalResult[];
	/** USD, with judging; null if unknown. */
	costUsd: number | null;
	/** It ended before its end because costs reached `maxCostUsd`. */
	isOverLimit: boolean;
}

/** Answers the prompts. */
export interface EvalAgent extends EvalModel {
	/** Demo mode, which can't judge. */
	isOffline: boolean;
}

export interface EvalsParts {
	store: Pick<Store, 'evalRuns'>;
	/** A model by its id, or the default. Called once for each run and model. */
	agent: (model: string | null) => EvalAgent;
	skills: SkillsProvider;
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
	approvals: Pick<ApprovalPolicy, 'isTrusted' | 'request'>;
	/** False while skills are turned off (E11). */
	isEnabled: () => boolean;
	/** Absolute path of a folder that no other server uses, emptied at the start. */
	folder: string;
	/** Answers at the same time, of all runs: runs take turns. Default: any number. */
	atOnce?: number;
	/** Default: this server is alone. */
	replica?: Replica;
	observer?: AnswerParts['observer'];
	log: Log;
}

/** Runs kept per skill. */
const MAX_LISTED = 50;
const MAX_ANSWERS = 400;

interface Active {
	run: EvalRun;
	controller: AbortController;
	/** Resolves when it has ended. Never rejects. */
	ended: Promise<void>;
}

/** Also ends runs that a server which has stopped left behind. */
export async function createEvals(parts: EvalsParts): Promise<Evals> {
	const { store, skills, modes, approvals, log, replica = soleReplica() } = parts;
	await endLeft(replica, (bootId) => store.evalRuns.endUnfinished(STOPPED, now(), bootId));
	await removeFolder(parts.folder);
	const turns = createTurns({ atOnce: parts.atOnce });
	const active = new Map<string, Active>();
	/** Skills whose run is about to start. */
	const starting = new Set<string>();
	let isClosed = false;
	const wishes = createStopWishes(
		{ replica, log },
		{
			...store.evalRuns,
			hasWork: () => active.size > 0,
			stop: (id) => active.get(id)?.controller.abort()
		}
	);

	const skillOf = (id: string) => requireSkill({ skills, modes }, null, id);
	/** With the skills that it declares it needs, as far as they are on. */
	const offeredWith = (skill: Skill, kind: EvalRun['kind']) => {
		const snapshot = skills.registry.snapshot();
		const library = kind === 'triggers' ? snapshot : null;
		const on = snapshot.skills.filter((each) => modes.modeOf(each) !== 'off');
		const required = siblingsOf(skill, { skills: on, off: [] }).filter(({ isDeclared }) => isDeclared);
		const names = new Set(required.map(({ name }) => name));
		return { library, siblings: on.filter(({ name }) => names.has(name)) };
	};
	const sidesFor = (skill: Skill, kind: EvalRun['kind'], options: Omit<Parameters<typeof sidesOf>[1], 'library'>) =>
		sidesOf(skill, { ...options, ...offeredWith(skill, kind) });
	/** Marks runs of what isn't there any more as it was. Each kind's files are read once. */
	const markOutdated = async <Run extends EvalRunSummary>(skill: Skill, runs: readonly Run[]): Promise<Run[]> => {
		const tested = new Map<EvalRun['kind'], string | null>();
		for (const { kind } of runs.filter(({ sides }) => sides[0]?.digest)) {
			if (!tested.has(kind)) tested.set(kind, await digestOfTested(skill, offeredWith(skill, kind)));
		}
		return runs.map((run) => {
			const [before, now] = [run.sides[0]?.digest, tested.get(run.kind)];
			return before && now && before !== now ? { ...run, isOutdated: true } : run;
		});
	};
	/** Scripts need approval as in a chat, because nobody knows beforehand what the model will run. */
	const request = async (run: PlannedRun) => {
		const { question, digest } = await approvals.request(run, null);
		if (!question) return { question, digest };
		const reason = `${question.reason} ${hintFor(question, { apiKeyId: null })}`;
		return { question: { ...question, reason }, digest };
	};

	/** Models by their ids, each once: in demo mode there is only one. */
	const agentsOf = (models: readonly string[] | undefined): EvalAgent[] => {
		const agents = (models ?? [null]).map((id) => parts.agent(id === BUILT_IN_MODEL ? null : id));
		return [...new Map(agents.map((agent) => [agent.model.id, agent])).values()];
	};

	/** The same judge for all sides. */
	const partsFor = ({ isFresh = false }: Partial<Pick<EvalRun, 'isFresh'>>) => {
		const judging = parts.agent(null);
		return {
			...parts,
			...{ approvals: { request }, turns },
			judge: createJudge(judging.isOffline ? null : judging.model, judging.limits),
			...(isFresh ? {} : { findAnswer: (key: string) => store.evalRuns.findAnswer(key) })
		};
	};

	const perform = async (run: EvalRun, plan: EvalPlan, controller: AbortController) => {
		const { signal } = controller;
		try {
			const { isOverLimit } = await runEvals(partsFor(run), plan, {
				signal,
				async onAnswer({ results, done, costUsd, latest }) {
					Object.assign(run, { results, costUsd, sides: sidesWithFigures(plan.sides, plan.skill, results) });
					run.progress.done = done;
					await store.evalRuns.putAnswer(run, { ...latest, now: now() }).catch((error: unknown) => {
						// Don't wait for the other answer in progress.
						controller.abort();
						throw error;
					});
				}
			});
			Object.assign(run, endOf(run, { isOverLimit, signal }));
		} catch (error) {
			log.error({ evalRun: run.id, error: String(error) }, 'evals failed');
			const message =
				error instanceof AppError ? error.message : 'Something went wrong on the server. See its log for details.';
			Object.assign(run, { state: 'failed', error: message });
		}
		run.finishedAt = now();
		await store.evalRuns.put(run).catch((error: unknown) => {
			log.error({ evalRun: run.id, error: String(error) }, 'couldn’t save the end of evals');
		});
		active.delete(run.id);
	};

	const requireRun = async (id: string, runId: string): Promise<EvalRun> => {
		const skill = skillOf(id);
		const run = active.get(runId)?.run ?? (await store.evalRuns.get(runId));
		if (run?.skillId === skillIdOf(skill)) return run;
		throw new AppError('not_found', `“${skill.name}” has no eval run with this id.`);
	};

	const begin = async (run: EvalRun, plan: EvalPlan): Promise<EvalRun> => {
		await store.evalRuns.put(run, replica.id);
		await store.evalRuns.removeOlder(run.skillId, MAX_LISTED);
		// The next start ends this run.
		if (isClosed) throw new AppError('unavailable', 'The server is stopping. Try again in a moment.');
		const controller = new AbortController();
		active.set(run.id, { run, controller, ended: perform(run, plan, controller) });
		return run;
	};

	const start = async (skill: Skill, options: EvalStart): Promise<EvalRun> => {
		await requireAllowed(parts, skill);
		const version = options.version === undefined ? null : versionOf(parts, skill, options.version);
		if (version) await requireAllowed(parts, version);
		const cases = chosen(await casesOf(skill, options.kind), options.ids);
		const sides = await sidesFor(skill, options.kind, { ...options, agents: agentsOf(options.models), version });
		const runId = randomUUID();
		const { rounds, maxCostUsd, kind, isFresh } = options;
		const plan = { skill, cases, sides, rounds, maxCostUsd, sessionId: `${EVAL_SESSION}${runId}` };
		const total = answersOf(plan);
		if (total > MAX_ANSWERS) {
			throw new AppError('invalid_input', `rounds: this would be ${total} replies, but the limit is ${MAX_ANSWERS}.`);
		}
		const results = cases.map(resultOf);
		const run: EvalRun = {
			id: runId,
			skillId: skillIdOf(skill),
			version: skill.version,
			...{ kind, rounds, maxCostUsd, isFresh, results },
			state: 'running',
			progress: { done: 0, total },
			sides: sidesWithFigures(sides, skill, results),
			costUsd: null,
			error: null,
			startedAt: now(),
			finishedAt: null
		};
		return begin(run, plan);
	};

	const goOn = async (skill: Skill, run: EvalRun, maxCostUsd: number | null): Promise<EvalRun> => {
		await requireAllowed(parts, skill);
		if (!canGoOn(run)) throw new AppError('conflict', 'This run has all its answers.', { hint: 'Start a new one.' });
		const other = run.sides.find(({ kind }) => kind === 'version')?.version ?? null;
		const version = other === null ? null : versionOf(parts, skill, other);
		if (version) await requireAllowed(parts, version);
		const known = new Set(run.results.map(({ id }) => id));
		const cases = (await casesOf(skill, run.kind)).filter(({ id }) => known.has(id));
		const agents = agentsOf([...new Set(run.sides.map(({ model }) => model))]);
		const without = run.sides.some(({ kind }) => kind === 'without');
		const sides = await sidesFor(skill, run.kind, { agents, version, without });
		const isSame = (side: AskedSide, { kind, digest, agent }: AskedSide | undefined = side) => {
			const before = run.sides.find(({ id }) => id === side.id);
			return before?.kind === kind && before.digest === digest && before.model === agent.model.id;
		};
		if (sides.length !== run.sides.length || cases.length !== known.size || !sides.every((side) => isSame(side))) {
			const hint = 'Start a new run: answers that still count are used again.';
			throw new AppError('conflict', 'The skill, its evals or the model have changed since this run began.', { hint });
		}
		const earlier = { results: run.results, costUsd: run.costUsd };
		const plan = {
			skill,
			cases,
			sides,
			rounds: run.rounds,
			maxCostUsd,
			sessionId: `${EVAL_SESSION}${run.id}`,
			earlier
		};
		return begin({ ...run, maxCostUsd, state: 'running', error: null, finishedAt: null }, plan);
	};

	/** One run of a skill at a time. */
	const alone = async (skill: Skill, work: () => Promise<EvalRun>): Promise<EvalRun> => {
		const skillId = skillIdOf(skill);
		const isRunning = [...active.values()].some(({ run }) => run.skillId === skillId);
		const refuse = () => {
			const hint = 'Wait until they’re done, or stop them.';
			throw new AppError('conflict', `The evals of “${skill.name}” are already running.`, { hint });
		};
		if (isRunning || starting.has(skillId)) refuse();
		starting.add(skillId);
		const begin = async () => {
			if (replica.isShared && (await store.evalRuns.isRunningElsewhere(skillId, replica.id))) refuse();
			return work();
		};
		return replica.exclusively(`evals ${skillId}`, begin).finally(() => starting.delete(skillId));
	};

	return {
		async list(id) {
			const skill = skillOf(id);
			const { cases, triggers, problem } = await readEvals(skill);
			const stored = await store.evalRuns.list(skillIdOf(skill), MAX_LISTED);
			const runs = stored.map((run) => {
				const { results: _, ...summary } = active.get(run.id)?.run ?? { ...run, results: [] };
				return summary;
			});
			return {
				cases: cases.map(({ expectations, shouldTrigger: _, ...each }) => ({
					...each,
					expectations: expectations.map(({ text }) => text)
				})),
				triggers: triggers.map(({ id: own, prompt, shouldTrigger }) => ({
					id: own,
					prompt,
					shouldTrigger: shouldTrigger === true
				})),
				problem,
				runs: await markOutdated(skill, runs)
			};
		},

		async start(id, options) {
			const skill = skillOf(id);
			return alone(skill, () => start(skill, options));
		},

		async goOn(id, runId, { maxCostUsd }) {
			const skill = skillOf(id);
			return alone(skill, async () => {
				const run = await requireRun(id, runId);
				return goOn(skill, run, maxCostUsd === undefined ? run.maxCostUsd : maxCostUsd);
			});
		},

		async tryOut(draft, { kind = 'answers', ids, models, rounds = 1, maxCostUsd = null, ...options }, trial) {
			const skill = typeof draft === 'string' ? await readyIn(draft) : draft;
			const cases = chosen(await casesOf(skill, kind), ids);
			const named = options.version === undefined ? null : versionOf(parts, skill, options.version);
			const version = trial.against ?? named;
			const sides = await sidesFor(skill, kind, { ...options, agents: agentsOf(models), version });
			const plan = { skill, cases, sides, rounds, maxCostUsd, sessionId: `${EVAL_SESSION}draft-${randomUUID()}` };
			const { signal, approvals: own = { request }, onAnswer } = trial;
			const outcome = await runEvals({ ...partsFor(options), approvals: own }, plan, {
				signal,
				onAnswer: async (progress) => onAnswer?.({ ...progress, total: answersOf(plan) })
			});
			signal.throwIfAborted();
			const { results, costUsd, isOverLimit } = outcome;
			return { sides: sidesWithFigures(sides, skill, results), results, costUsd, isOverLimit };
		},

		async get(id, runId) {
			const run = await requireRun(id, runId);
			// While it runs, it's asked for again and again.
			const [told = run] = run.state === 'running' ? [run] : await markOutdated(skillOf(id), [run]);
			return told;
		},

		async importRuns(id, given) {
			const skill = skillOf(id);
			const { cases } = await readEvals(skill);
			const of = { skillId: skillIdOf(skill), name: skill.name, cases, now: new Date() };
			const { runs, problems } =
				'json' in given
					? readImportedFile(given.json, of)
					: await readImportedZip(given.zip, { folder: parts.folder, signal: given.signal }, of);
			const kept: EvalRun[] = [];
			for (const run of runs) {
				const before = await store.evalRuns.get(run.id);
				if (!before) await store.evalRuns.putWhole(run, now());
				kept.push(before ?? run);
			}
			await store.evalRuns.removeOlder(of.skillId, MAX_LISTED);
			const listed = new Set((await store.evalRuns.list(of.skillId, MAX_LISTED)).map(({ id: own }) => own));
			const [fitting, lost] = [kept.filter((run) => listed.has(run.id)), kept.filter((run) => !listed.has(run.id))];
			const older = lost.map(
				({ importedFrom }) => `${importedFrom} is older than the ${MAX_LISTED} runs that are kept.`
			);
			return { runs: fitting.map(({ results: _, ...summary }) => summary), problems: [...problems, ...older] };
		},

		async cancel(id, runId) {
			const run = await requireRun(id, runId);
			const entry = active.get(runId);
			entry?.controller.abort();
			await entry?.ended;
			if (entry || run.state !== 'running') return run;
			await wishes.stop(runId);
			return requireRun(id, runId);
		},

		get answers() {
			return turns.state;
		},

		async close() {
			isClosed = true;
			wishes.close();
			const all = [...active.values()];
			for (const { controller } of all) controller.abort(new Error(STOPPED));
			await Promise.all(all.map(({ ended }) => ended));
		}
	};
}

/** The same checks as for a run by hand. @throws AppError */
async function requireAllowed({ isEnabled, modes, approvals }: EvalsParts, skill: Skill): Promise<void> {
	if (!isEnabled()) throw new AppError('unavailable', 'Skills are turned off on this server.');
	if (modes.modeOf(skill) === 'off') {
		throw new AppError('conflict', `“${skill.name}” is off.`, { hint: 'Turn it on first.' });
	}
	if (await approvals.isTrusted(skill)) return;
	throw new AppError('forbidden', `“${skill.name}” isn’t trusted yet.`, {
		hint: 'Check what it contains on its page, and trust it there.'
	});
}

/** The skill in a folder that the server made for a draft or a trial, named by `source`. @throws AppError `conflict` if it's broken */
export async function readyIn(dir: string, source: string = OLD_TRIAL_SOURCE): Promise<Skill> {
	const skill = await loadFolder(dir, source);
	if (skill?.status === 'ready') return skill;
	const reason = skill?.issues[0];
	const why = reason ? `${reason.field} ${reason.message}` : 'there’s no SKILL.md';
	throw new AppError('conflict', `This skill is broken: ${why}.`, { hint: 'Fix it and try again.' });
}

/** Another version of the same skill. @throws AppError `not_found` */
function versionOf({ skills }: EvalsParts, skill: Skill, version: string): Skill {
	const { skills: first, shadowed } = skills.registry.snapshot();
	const isIt = (each: Skill) => skillIdOf(each) === skillIdOf(skill) && each.version === version;
	const found = version === skill.version ? undefined : [...first, ...shadowed].find(isIt);
	if (found) return found;
	throw new AppError('not_found', `“${skill.name}” has no other version ${version}.`);
}

function now(): string {
	return new Date().toISOString();
}
