/** Every setting, declared once: name, check, default, description. A bad value stops the start with a sentence. */
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { z } from 'zod';

const count = (fallback: number, min: number, max: number) =>
	z.coerce.number().int().min(min).max(max).default(fallback);

const schema = z.object({
	OPENROUTER_API_KEY: z
		.string()
		.optional()
		.describe('Key for the model server; without one the built-in responder answers.'),
	OPENROUTER_BASE_URL: z
		.url({ protocol: /^https?$/ })
		.default('https://openrouter.ai/api/v1')
		.describe('Any server that speaks the Responses API.'),
	OPENROUTER_MODEL: z.string().default('openrouter/auto').describe('Model to ask for.'),
	HOST: z.enum(['127.0.0.1', '::1', 'localhost']).default('127.0.0.1').describe('Address to listen on; loopback only.'),
	PORT: count(3000, 0, 65535).describe('Port to listen on; 0 takes a free one.'),
	DATA_DIR: z.string().default('./data').describe('Database, uploads and results.'),
	SKILLS_DIRS: z
		.string()
		.optional()
		.describe(`Folders of skills, highest priority first, separated by “${delimiter}”.`),
	SKILLS_TIMEOUT_MS: count(30_000, 100, 300_000).describe('Longest that a script may run.'),
	SKILLS_MAX_OUTPUT_BYTES: count(20_480, 256, 1_048_576).describe('Bytes kept of stdout and of stderr.'),
	SKILLS_ENV: z
		.string()
		.default('')
		.describe('Names of variables that skills may receive which declare them in metadata.env.'),
	SKILLS_APPROVAL: z
		.enum(['ask', 'auto'])
		.default('auto')
		.describe('“ask”: scripts run when you have allowed them; “auto”: they run.'),
	AGENT_MAX_STEPS: count(10, 1, 100).describe('Model calls in one turn before it must answer.'),
	AGENT_MAX_COST_USD: z.coerce.number().positive().optional().describe('Most that one turn may cost, in USD.'),
	AGENT_TIMEOUT_MS: count(1_800_000, 1000, 86_400_000).describe('Longest that one turn may take.'),
	AGENT_TOOL_TIMEOUT_MS: count(330_000, 1000, 3_600_000).describe('Longest that one tool call may take.'),
	AGENT_CONTEXT_TOKENS: z.coerce
		.number()
		.int()
		.min(4000)
		.max(10_000_000)
		.optional()
		.describe('Most tokens that the model is sent; without it what its server says, or 128,000.'),
	SHUTDOWN_TIMEOUT_MS: count(10_000, 0, 600_000).describe(
		'How long a server that is told to stop lets turns go on before it interrupts them.'
	)
});

export interface Config {
	apiKey: string | null;
	baseUrl: string;
	model: string;
	/** True when no key is set and the base URL is OpenRouter's: the built-in responder answers. */
	isOffline: boolean;
	dataDir: string;
	skillsDirs: string[];
	skillsTimeoutMs: number;
	skillsMaxOutputBytes: number;
	/** Variables offered to the skills that declare them. */
	skillsEnv: Record<string, string>;
	approvalMode: 'ask' | 'auto';
	limits: { maxSteps: number; maxCostUsd: number | null; maxDurationMs: number; toolTimeoutMs: number };
	contextTokens: number | null;
	shutdownTimeoutMs: number;
}

/** Names of all settings. */
const SETTINGS = Object.keys(schema.shape);

/** The server's own secrets: never given to a script, whatever SKILLS_ENV says. */
const NEVER_FOR_SKILLS =
	/^(OPENROUTER_|DATABASE_URL$|ADMIN_TOKEN$|NODE_|LD_|DYLD_|PYTHON|BASH_ENV$|ENV$|SHELLOPTS$|PS4$|PATH$|HOME$)/;

/** Reads the environment. @throws Error naming the variable and the value received */
export function loadConfig(environment: Record<string, string | undefined>): Config {
	const given = Object.fromEntries(
		SETTINGS.flatMap((name) => {
			const value = environment[name]?.trim();
			return value ? [[name, value]] : [];
		})
	);
	const parsed = schema.safeParse(given);
	if (!parsed.success) {
		const [first] = parsed.error.issues;
		const name = String(first?.path[0]);
		const shown = name === 'OPENROUTER_API_KEY' ? '' : ` (got “${given[name]}”)`;
		throw new Error(`${name} is not usable: ${first?.message}${shown}. See .env.example.`);
	}
	const values = parsed.data;
	const dataDir = resolve(values.DATA_DIR);
	return {
		apiKey: values.OPENROUTER_API_KEY ?? null,
		baseUrl: values.OPENROUTER_BASE_URL,
		model: values.OPENROUTER_MODEL,
		isOffline: !values.OPENROUTER_API_KEY && given.OPENROUTER_BASE_URL === undefined,
		dataDir,
		skillsDirs: values.SKILLS_DIRS
			? values.SKILLS_DIRS.split(delimiter)
					.filter(Boolean)
					.map((dir) => resolve(dir))
			: defaultSkillsDirs(dataDir),
		skillsTimeoutMs: values.SKILLS_TIMEOUT_MS,
		skillsMaxOutputBytes: values.SKILLS_MAX_OUTPUT_BYTES,
		skillsEnv: pickVariables(values.SKILLS_ENV, environment),
		approvalMode: values.SKILLS_APPROVAL,
		limits: {
			maxSteps: values.AGENT_MAX_STEPS,
			maxCostUsd: values.AGENT_MAX_COST_USD ?? null,
			maxDurationMs: values.AGENT_TIMEOUT_MS,
			toolTimeoutMs: values.AGENT_TOOL_TIMEOUT_MS
		},
		contextTokens: values.AGENT_CONTEXT_TOKENS ?? null,
		shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT_MS
	};
}

/** FEATURES A27: project, then user, then installed. */
function defaultSkillsDirs(dataDir: string): string[] {
	const project = ['skills', '.agents/skills', '.claude/skills', '.opencode/skills'].map((dir) => resolve(dir));
	const user = ['.agents/skills', '.claude/skills', '.config/agents/skills'].map((dir) => join(homedir(), dir));
	return [...project, ...user, join(dataDir, 'skills')];
}

function pickVariables(names: string, environment: Record<string, string | undefined>): Record<string, string> {
	const picked: Record<string, string> = {};
	for (const name of names.split(/[\s,]+/).filter(Boolean)) {
		if (NEVER_FOR_SKILLS.test(name)) throw new Error(`SKILLS_ENV may not name ${name}: it is not for skills.`);
		const value = environment[name];
		if (value !== undefined) picked[name] = value;
	}
	return picked;
}
