/** Evaluates one skill from the command line, with the configured model but without a server or database. */
import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { loadConfig, type Config } from '../config.ts';
import { readEvals } from '../evals/evals-file.ts';
import { createJudge } from '../evals/judge.ts';
import { answersOf, runEvals, sidesOf, sidesWithFigures } from '../evals/run-evals.ts';
import { removeFolder } from '../foreign-folders.ts';
import { createOfflineModel } from '../offline/offline.ts';
import { createResponsesModel } from '../models/responses/responses.ts';
import { createSkillsProvider, type SkillsProvider } from '../skills/provider.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { Skill } from '../skills/types.ts';
import type { EvalRun } from '../../shared/try-out.ts';

export interface EvalCommandOptions {
	/** The server's settings: OPENROUTER_API_KEY, OPENROUTER_BASE_URL, OPENROUTER_MODEL, AGENT_…, SKILLS_… */
	environment: Record<string, string | undefined>;
	/** Gets progress lines. */
	tell: (line: string) => void;
}

export interface Wanted {
	/** Absolute path of a skill. */
	folder: string;
	/** Per prompt. */
	rounds: number;
	/** Default: the configured one. */
	models: readonly string[] | null;
	/** Whether prompts load the skill, among those in the folder around it. */
	isTrigger: boolean;
	/** USD; null: no limit. */
	maxCostUsd: number | null;
}

export interface EvalReport extends EvalRun {
	skill: string;
	isOffline: boolean;
}

/** @throws Error with a sentence for unusable settings, skills or evals */
export async function evaluate(wanted: Wanted, options: EvalCommandOptions): Promise<EvalReport> {
	const { folder, isTrigger } = wanted;
	// There is no server, so no access settings either.
	const config = loadConfig({ ...options.environment, HOST: undefined, PUBLIC_ORIGIN: undefined });
	const skills = await createSkillsProvider([dirname(folder)], {
		include: isTrigger ? undefined : [basename(folder)],
		timeout: config.skillsTimeoutMs,
		maxRetries: config.skillsMaxRetries,
		maxOutput: config.skillsMaxOutputBytes,
		env: config.skillsEnv,
		limits: config.execution.limits
	});
	const workspaces = await mkdtemp(join(tmpdir(), 'openrouter-skills-eval-'));
	try {
		const skill = skillIn(skills, folder);
		return await evaluateSkill({ config, skills, skill, wanted, workspaces, tell: options.tell });
	} finally {
		await skills.close();
		await removeFolder(workspaces);
	}
}

interface Evaluation {
	config: Config;
	skills: SkillsProvider;
	skill: Skill;
	wanted: Wanted;
	workspaces: string;
	tell: (line: string) => void;
}

async function evaluateSkill(evaluation: Evaluation): Promise<EvalReport> {
	const { config, skills, skill, wanted, workspaces, tell } = evaluation;
	const { rounds, models, isTrigger, maxCostUsd } = wanted;
	const { cases: all, triggers, problem } = await readEvals(skill);
	const cases = isTrigger ? triggers : all;
	if (problem !== null) throw new Error(problem);
	if (cases.length === 0) {
		const file = isTrigger ? 'evals/trigger-evals.json' : 'evals/evals.json';
		throw new Error(`“${skill.name}” has no ${isTrigger ? 'trigger evals' : 'evals'}. Create ${file} in ${skill.dir}.`);
	}
	const { isOffline, limits } = config;
	if (isOffline) {
		tell('OPENROUTER_API_KEY isn’t set, so this runs in Demo mode, without an AI model to answer or judge.');
	}
	const agentOf = (id: string) => ({ model: modelOf(config, id), effort: null, limits });
	const agents = (isOffline ? [config.model] : (models ?? [config.model])).map(agentOf);
	const library = isTrigger ? skills.registry.snapshot() : null;
	const sides = await sidesOf(skill, { agents, library });
	const id = randomUUID();
	const plan = { skill, cases, sides, rounds, maxCostUsd, sessionId: `eval-${id}` };
	const total = answersOf(plan);
	const startedAt = new Date().toISOString();
	const { results, done, costUsd, isOverLimit } = await runEvals(
		{
			skills,
			folder: workspaces,
			judge: createJudge(isOffline ? null : modelOf(config, config.model), limits),
			// Evaluating a folder from the command line means running it.
			approvals: { request: async () => ({ question: null, digest: null }) }
		},
		plan,
		{
			signal: new AbortController().signal,
			async onAnswer(progress) {
				tell(`${progress.done} of ${total} replies`);
			}
		}
	);
	const isCut = isOverLimit && done < total;
	return {
		...{ id, skill: skill.name, skillId: skillIdOf(skill), version: skill.version, isOffline },
		...{ kind: isTrigger ? 'triggers' : 'answers', rounds, maxCostUsd, isFresh: true },
		state: isCut ? 'limit' : 'done',
		progress: { done, total },
		sides: sidesWithFigures(sides, skill, results),
		...{ results, costUsd },
		error: isCut ? `It reached its cost limit of $${maxCostUsd} after ${done} of ${total} replies.` : null,
		...{ startedAt, finishedAt: new Date().toISOString() }
	};
}

function modelOf({ isOffline, baseUrl, apiKey }: Config, id: string) {
	return isOffline ? createOfflineModel() : createResponsesModel({ id, baseUrl, apiKey: apiKey || undefined });
}

function skillIn({ registry }: SkillsProvider, folder: string): Skill {
	const { skills, shadowed } = registry.snapshot();
	const skill = [...skills, ...shadowed].find(({ dir }) => dir === folder);
	if (!skill) throw new Error(`Couldn’t load the skill in ${folder}.`);
	return skill;
}
