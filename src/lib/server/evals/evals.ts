/** Starts, follows, stops and stores runs of skills' evals (F16). */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import type { ReasoningEffort } from '../../shared/names.ts';
import type { EvalRun, evalStart, SkillEvals } from '../../shared/try-out.ts';
import type { AgentLimits } from '../agent/loop.ts';
import type { Model } from '../agent/model.ts';
import { removeFolder } from '../foreign-folders.ts';
import type { Log } from '../log.ts';
import type { ApprovalPolicy } from '../trust/approval-policy.ts';
import { requireSkill } from '../skill-admin/skill-details.ts';
import type { StoredSkillModes } from '../trust/skill-modes.ts';
import { hintFor } from '../turns/toolbox.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { SkillsProvider } from '../skills/provider.ts';
import type { PlannedRun } from '../skills/call/session.ts';
import type { Skill } from '../skills/types.ts';
import type { Store } from '../store/store.ts';
import { readEvals, type EvalCase } from './evals-file.ts';
import { answersOf, createJudge, type EvalPlan, passRates, runEvals } from './run-evals.ts';

/** `id` is a skill's, in any form the API accepts. */
export interface Evals {
	/** @throws AppError `not_found` */
	list(id: string): Promise<SkillEvals>;
	/**
	 * Starts a run; `get` shows its progress.
	 * @throws AppError `forbidden` for an untrusted skill, `conflict` for one without evals, off or already running
	 */
	start(id: string, options: z.infer<typeof evalStart>): Promise<EvalRun>;
	/** @throws AppError `not_found` */
	get(id: string, runId: string): Promise<EvalRun>;
	/** Ends a run that is still running, and waits for its end. @throws AppError `not_found` */
	cancel(id: string, runId: string): Promise<EvalRun>;
	/** Ends all runs. */
	close(): Promise<void>;
}

/** Answers the prompts, and judges the answers. */
export interface EvalAgent {
	model: Model;
	effort: ReasoningEffort | null;
	/** Demo mode, which can't judge. */
	isOffline: boolean;
	limits: AgentLimits;
}

export interface EvalsParts {
	store: Pick<Store, 'evalRuns'>;
	/** Called once for each run, so that the same model answers all its prompts. */
	agent: () => EvalAgent;
	skills: SkillsProvider;
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
	approvals: Pick<ApprovalPolicy, 'isTrusted' | 'request'>;
	/** False while skills are turned off (E11). */
	isEnabled: () => boolean;
	/** Absolute path of a folder of its own, emptied at the start. */
	folder: string;
	log: Log;
}

/** Runs kept per skill. */
const MAX_LISTED = 20;
const MAX_ANSWERS = 400;
const STOPPED = 'The server stopped before this finished.';

interface Active {
	run: EvalRun;
	controller: AbortController;
	/** Resolves when it has ended. Never rejects. */
	ended: Promise<void>;
}

/** Also ends runs that an earlier server left behind. */
export async function createEvals(parts: EvalsParts): Promise<Evals> {
	const { store, skills, modes, approvals, log } = parts;
	await store.evalRuns.endUnfinished(STOPPED, now());
	await removeFolder(parts.folder);
	const active = new Map<string, Active>();
	/** Skills whose run is about to start. */
	const starting = new Set<string>();
	let isClosed = false;

	const skillOf = (id: string) => requireSkill({ skills, modes }, null, id);
	/** Scripts need approval as in a chat, because nobody knows beforehand what the model will run. */
	const request = async (run: PlannedRun) => {
		const { question, digest } = await approvals.request(run, null);
		if (!question) return { question, digest };
		const reason = `${question.reason} ${hintFor(question, { apiKeyId: null })}`;
		return { question: { ...question, reason }, digest };
	};

	const perform = async (run: EvalRun, agent: EvalAgent, plan: EvalPlan, controller: AbortController) => {
		const { signal } = controller;
		const judge = createJudge(agent.isOffline ? null : agent.model, agent.limits);
		const answering = { ...parts, ...agent, judge, approvals: { request }, modeOf: modes.modeOf };
		try {
			await runEvals(answering, plan, {
				signal,
				async onAnswer({ results, done }) {
					Object.assign(run, { results, passRate: passRates(results) });
					run.progress.done = done;
					await store.evalRuns.put(run).catch((error: unknown) => {
						// Don't wait for the other answer in progress.
						controller.abort();
						throw error;
					});
				}
			});
			Object.assign(run, endOf(run, signal));
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

	const begin = async (skill: Skill, { ids, rounds }: z.infer<typeof evalStart>): Promise<EvalRun> => {
		await requireAllowed(parts, skill);
		const { cases, problem } = await readEvals(skill);
		const hint = 'Add evals/evals.json to the skill’s folder, with prompts and what you expect of the replies.';
		if (problem !== null) throw new AppError('conflict', problem, { hint });
		if (cases.length === 0) throw new AppError('conflict', `“${skill.name}” has no evals.`, { hint });
		const chosen = choose(cases, ids);
		const total = answersOf({ cases: chosen, rounds });
		if (total > MAX_ANSWERS) {
			throw new AppError('invalid_input', `rounds: this would be ${total} replies, but the limit is ${MAX_ANSWERS}.`);
		}
		const runId = randomUUID();
		const agent = parts.agent();
		const run: EvalRun = {
			id: runId,
			skillId: skillIdOf(skill),
			version: skill.version,
			model: agent.model.id,
			state: 'running',
			progress: { done: 0, total },
			results: [],
			passRate: passRates([]),
			error: null,
			startedAt: now(),
			finishedAt: null
		};
		await store.evalRuns.put(run);
		await store.evalRuns.removeOlder(run.skillId, MAX_LISTED);
		// The next start ends this run.
		if (isClosed) throw new AppError('unavailable', 'The server is stopping. Try again in a moment.');
		const controller = new AbortController();
		const plan = { skill, cases: chosen, rounds, sessionId: `eval-${runId}` };
		active.set(runId, { run, controller, ended: perform(run, agent, plan, controller) });
		return run;
	};

	return {
		async list(id) {
			const skill = skillOf(id);
			const { cases, problem } = await readEvals(skill);
			const stored = await store.evalRuns.list(skillIdOf(skill), MAX_LISTED);
			return {
				cases: cases.map(({ expectations, ...each }) => ({
					...each,
					expectations: expectations.map(({ text }) => text)
				})),
				problem,
				runs: stored.map((run) => active.get(run.id)?.run ?? run)
			};
		},

		async start(id, options) {
			const skill = skillOf(id);
			const skillId = skillIdOf(skill);
			const isRunning = [...active.values()].some(({ run }) => run.skillId === skillId);
			if (isRunning || starting.has(skillId)) {
				throw new AppError('conflict', `The evals of “${skill.name}” are already running.`, {
					hint: 'Wait until they’re done, or cancel them.'
				});
			}
			starting.add(skillId);
			return begin(skill, options).finally(() => starting.delete(skillId));
		},

		get: requireRun,

		async cancel(id, runId) {
			const run = await requireRun(id, runId);
			const entry = active.get(runId);
			entry?.controller.abort();
			await entry?.ended;
			return run;
		},

		async close() {
			isClosed = true;
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

function choose(cases: EvalCase[], ids: readonly (string | number)[] | undefined): EvalCase[] {
	if (!ids) return cases;
	const wanted = new Set(ids.map(String));
	const unknown = [...wanted].find((id) => !cases.some((each) => each.id === id));
	if (unknown !== undefined) throw new AppError('invalid_input', `ids: no eval named “${unknown}”.`);
	if (wanted.size === 0) throw new AppError('invalid_input', 'ids must have at least one eval.');
	return cases.filter(({ id }) => wanted.has(id));
}

/** The run's end: without a complete answer it has failed. */
function endOf({ results }: EvalRun, { aborted, reason }: AbortSignal): Pick<EvalRun, 'state' | 'error'> {
	if (aborted) {
		const isStopped = reason instanceof Error && reason.message === STOPPED;
		return isStopped ? { state: 'failed', error: STOPPED } : { state: 'cancelled', error: null };
	}
	const answers = results.flatMap(({ withSkill, withoutSkill }) => [...withSkill, ...withoutSkill]);
	const isFailed = answers.every(({ status }) => status === 'failed');
	return isFailed ? { state: 'failed', error: answers[0]?.error ?? null } : { state: 'done', error: null };
}

function now(): string {
	return new Date().toISOString();
}
