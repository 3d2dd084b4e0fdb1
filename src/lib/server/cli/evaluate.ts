/** Evaluates one skill from the command line, with the configured model but without a server or database. */
import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { loadConfig, type Config } from '../config.ts';
import { readEvals } from '../evals/evals-file.ts';
import { answersOf, createJudge, passRates, runEvals } from '../evals/run-evals.ts';
import { removeFolder } from '../foreign-folders.ts';
import { createOfflineModel } from '../offline/offline.ts';
import { createResponsesModel } from '../models/responses/responses.ts';
import { createSkillsProvider, type SkillsProvider } from '../skills/provider.ts';
import type { Skill } from '../skills/types.ts';
import type { EvalResult, EvalRun } from '../../shared/try-out.ts';

export interface EvalCommandOptions {
	/** The server's settings: OPENROUTER_API_KEY, OPENROUTER_BASE_URL, OPENROUTER_MODEL, AGENT_…, SKILLS_… */
	environment: Record<string, string | undefined>;
	/** Gets progress lines. */
	tell: (line: string) => void;
}

/** Absolute path of a skill, and rounds per prompt. */
export interface Wanted {
	folder: string;
	rounds: number;
}

export interface EvalReport {
	skill: string;
	version: string;
	model: string;
	isOffline: boolean;
	rounds: number;
	passRate: EvalRun['passRate'];
	results: EvalResult[];
}

/** @throws Error with a sentence for unusable settings, skills or evals */
export async function evaluate({ folder, rounds }: Wanted, options: EvalCommandOptions): Promise<EvalReport> {
	// There is no server, so no access settings either.
	const config = loadConfig({ ...options.environment, HOST: undefined, PUBLIC_ORIGIN: undefined });
	const skills = await createSkillsProvider([dirname(folder)], {
		include: [basename(folder)],
		timeout: config.skillsTimeoutMs,
		maxRetries: config.skillsMaxRetries,
		maxOutput: config.skillsMaxOutputBytes,
		env: config.skillsEnv,
		limits: config.execution.limits
	});
	const workspaces = await mkdtemp(join(tmpdir(), 'openrouter-skills-eval-'));
	try {
		const skill = skillIn(skills, folder);
		return await evaluateSkill({ config, skills, skill, rounds, workspaces, tell: options.tell });
	} finally {
		await skills.close();
		await removeFolder(workspaces);
	}
}

interface Evaluation {
	config: Config;
	skills: SkillsProvider;
	skill: Skill;
	rounds: number;
	workspaces: string;
	tell: (line: string) => void;
}

async function evaluateSkill(evaluation: Evaluation): Promise<EvalReport> {
	const { config, skills, skill, rounds, workspaces, tell } = evaluation;
	const { cases, problem } = await readEvals(skill);
	if (problem !== null) throw new Error(problem);
	if (cases.length === 0) throw new Error(`“${skill.name}” has no evals. Create evals/evals.json in ${skill.dir}.`);
	const { isOffline, limits } = config;
	const model = modelOf(config);
	if (isOffline) {
		tell('OPENROUTER_API_KEY isn’t set, so this runs in Demo mode, without an AI model to answer or judge.');
	}
	const total = answersOf({ cases, rounds });
	const results = await runEvals(
		{
			model,
			effort: null,
			skills,
			limits,
			folder: workspaces,
			judge: createJudge(isOffline ? null : model, limits),
			// Evaluating a folder from the command line means running it.
			approvals: { request: async () => ({ question: null, digest: null }) }
		},
		{ skill, cases, rounds, sessionId: `eval-${randomUUID()}` },
		{
			signal: new AbortController().signal,
			async onAnswer({ done }) {
				tell(`${done} of ${total} replies`);
			}
		}
	);
	const { name, version } = skill;
	return { skill: name, version, model: model.id, isOffline, rounds, passRate: passRates(results), results };
}

function modelOf({ isOffline, model: id, baseUrl, apiKey }: Config) {
	return isOffline ? createOfflineModel() : createResponsesModel({ id, baseUrl, apiKey: apiKey || undefined });
}

function skillIn({ registry }: SkillsProvider, folder: string): Skill {
	const { skills, shadowed } = registry.snapshot();
	const skill = [...skills, ...shadowed].find(({ dir }) => dir === folder);
	if (!skill) throw new Error(`Couldn’t load the skill in ${folder}.`);
	return skill;
}
