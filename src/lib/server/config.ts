/** All settings from the environment: name, check, default. `.env.example` and docs/running.md say what each is for. */
import { homedir } from 'node:os';
import nodePath, { join, resolve } from 'node:path';
import { z } from 'zod';
import { isLoopback } from '../shared/errors.ts';
import type { SandboxLimits } from './sandbox/sandbox.ts';
import { inPlainWords } from '../shared/plain-issues.ts';

const MB = 1024 * 1024;

const count = (fallback: number, min: number, max: number) =>
	z.coerce.number().int().min(min).max(max).default(fallback);

const baseUrl = (fallback: string) =>
	z
		.url({ protocol: /^https?$/ })
		.transform((url) => url.replace(/\/+$/, ''))
		.default(fallback);

const postgresUrl = z
	.string()
	.refine((url) => /^postgres(ql)?:\/\//.test(url) && URL.canParse(url), {
		error:
			'must be like postgres://user:password@host/database, with %40 for an @ in the password (and so on for other signs)'
	})
	.optional();

const text = z.string().optional();
const list = z.string().default('');
const flag = z.stringbool().default(false);

const schema = z.object({
	OPENROUTER_API_KEY: text,
	OPENROUTER_BASE_URL: z.url({ protocol: /^https?$/ }).default('https://openrouter.ai/api/v1'),
	OPENROUTER_MODEL: z.string().default('openrouter/auto'),
	CHAT_TITLES: z.stringbool().default(true),
	MODEL_PORTS: z
		.string()
		.default('11434,1234,8080')
		.transform((text) => text.split(/[\s,]+/).filter(Boolean))
		.pipe(z.array(z.coerce.number<string>('must be numbers separated by commas').int().min(1).max(65535)).max(20)),
	HOST: z.string().default('127.0.0.1'),
	PORT: count(3000, 0, 65535),
	ADMIN_TOKEN: z
		.string()
		.regex(/^[!-~]{16,}$/, 'must be 16 or more characters (letters, digits and signs) without spaces')
		.optional(),
	PUBLIC_ORIGIN: z.url({ protocol: /^https?$/ }).optional(),
	TRUST_PROXY: flag,
	SECRETS_KEY: z.string().min(16).optional(),
	DATA_DIR: z.string().default('./data'),
	DATABASE_URL: postgresUrl,
	DATABASE_DIRECT_URL: postgresUrl,
	SKILLS_DIRS: text,
	SKILLS_HOME: z.stringbool().optional(),
	SKILLS_TIMEOUT_MS: count(30_000, 100, 300_000),
	SKILLS_MAX_RETRIES: count(3, 0, 10),
	SKILLS_MAX_OUTPUT_BYTES: count(20_480, 256, 1_048_576),
	SKILLS_ENV: list,
	SKILLS_APPROVAL: z.enum(['ask', 'auto']).default('auto'),
	SKILLS_ENABLED: z.stringbool().default(true),
	SKILLS_TRUST_LOCAL: z.enum(['trust', 'ask']).default('trust'),
	SKILLS_INLINE_COMMANDS: flag,
	SKILLS_SANDBOX: z.enum(['auto', 'process', 'bubblewrap', 'container']).default('auto'),
	SKILLS_RUN_ON: z.enum(['server', 'workers']).default('server'),
	SKILLS_SANDBOX_RUNTIME: z.enum(['auto', 'docker', 'podman']).default('auto'),
	SKILLS_SANDBOX_IMAGE: text,
	SKILLS_ALLOWED_SANDBOX_IMAGES: list,
	SKILLS_SANDBOX_NETWORK_ENABLED: z.stringbool().optional(),
	SKILLS_SANDBOX_TIMEOUT_MS: count(10_000, 100, 60_000),
	SKILLS_MAX_SANDBOX_OUTPUT_CHARS: count(100_000, 256, 1_048_576),
	SKILLS_MAX_FILE_BYTES: count(1_048_576, 1, 104_857_600),
	SKILLS_MAX_HTTP_RESPONSE_BYTES: count(256_000, 1, 104_857_600),
	SKILLS_SEARCH_URL: z.url({ protocol: /^https?$/ }).optional(),
	SKILLS_BROWSER_ENABLED: flag,
	SKILLS_MAX_MEMORY_MB: count(512, 16, 65_536),
	SKILLS_MAX_PROCESSES: count(64, 8, 10_000),
	SKILLS_MAX_FILE_MB: count(64, 1, 10_240),
	SKILLS_MAX_OPEN_FILES: count(256, 16, 65_536),
	SKILLS_MAX_CPU_SECONDS: count(60, 1, 3600),
	SKILLS_WORKSPACE_MB: count(1024, 1, 1_048_576),
	SKILLS_WORKSPACE_FILES: count(20_000, 10, 10_000_000),
	SKILLS_MAX_SCRIPTS: count(16, 1, 1000),
	SKILLS_PIP_INDEX_URL: z.url({ protocol: /^(https?|file)$/ }).optional(),
	SKILLS_NPM_REGISTRY: z.url({ protocol: /^https?$/ }).optional(),
	SKILLS_PACKAGE_HOSTS: list,
	SKILLS_PACKAGE_BUILDS: flag,
	SKILLS_PACKAGES_MB: count(2048, 1, 1_048_576),
	SKILLS_COPIES_MB: count(2048, 16, 1_048_576),
	SKILLS_PROVIDER: z.enum(['skillsmp', 'skillssh', 'github']).default('skillssh'),
	SKILLSMP_API_KEY: text,
	SKILLS_CATALOG_REQUESTS: z.stringbool().default(true),
	GITHUB_TOKEN: text,
	GITHUB_API_URL: baseUrl('https://api.github.com'),
	GITHUB_RAW_URL: baseUrl('https://raw.githubusercontent.com'),
	SKILLSSH_URL: baseUrl('https://skills.sh'),
	SKILLSSH_AUDIT_URL: baseUrl('https://add-skill.vercel.sh'),
	SKILLSMP_URL: baseUrl('https://skillsmp.com'),
	SKILLS_INSTALL_HOSTS: list,
	SKILLS_HANDLERS: list,
	A2A_PUSH_HOSTS: list,
	MCP_REGISTRY_URL: baseUrl('https://registry.modelcontextprotocol.io'),
	SKILLS_PUBLISHED: text,
	SKILLS_DEFINE_TOOLS: z.enum(['off', 'ask']).default('off'),
	SKILLS_AUTO_MAX: count(5, 0, 50),
	SKILLS_AUTO_MIN_SCORE: count(3, 0, 1000),
	AGENT_MAX_STEPS: count(10, 1, 100),
	AGENT_MAX_COST_USD: z.coerce.number().positive().optional(),
	AGENT_TIMEOUT_MS: count(1_800_000, 1000, 86_400_000),
	AGENT_TOOL_TIMEOUT_MS: count(330_000, 1000, 3_600_000),
	AGENT_CONTEXT_TOKENS: z.coerce.number().int().min(4000).max(10_000_000).optional(),
	SHUTDOWN_TIMEOUT_MS: count(10_000, 0, 600_000)
});

export interface Config {
	host: string;
	adminToken: string | null;
	publicOrigin: string | null;
	trustsProxy: boolean;
	/** `host:port` of receivers of push notifications outside the public internet. */
	a2aPushHosts: string[];
	/** Where MCP servers are searched for. */
	mcpRegistryUrl: string;
	/** Never null with a database that other servers may use. */
	secretsKey: string | null;
	/** Postgres; null: SQLite in the data folder. `directUrl`: past a pooler, for what it can't carry. */
	database: { url: string; directUrl: string } | null;
	execution: ExecutionConfig;
	catalog: CatalogConfig;
	apiKey: string | null;
	baseUrl: string;
	model: string;
	/** Demo mode: no key is set and the base URL is OpenRouter’s. */
	isOffline: boolean;
	/** Local ports to search for model servers (F11), without this server’s own. */
	/** The model names chats. */
	autoTitles: boolean;
	modelPorts: number[];
	dataDir: string;
	skillsDirs: string[];
	/** Folders whose skills are trusted: those in SKILLS_DIRS, or the project’s; never the user’s. */
	placesOfTrust: string[];
	/** The project that must contain them; null if they come from SKILLS_DIRS. */
	projectDir: string | null;
	skillsTimeoutMs: number;
	/** For idempotent tools. */
	skillsMaxRetries: number;
	skillsMaxOutputBytes: number;
	/** Site folder that `publish` wrote, served at `/.well-known/agent-skills/`; null: nothing. */
	publishedDir: string | null;
	/** Variables for skills that declare them. */
	skillsEnv: Record<string, string>;
	approvalMode: 'ask' | 'auto';
	limits: { maxSteps: number; maxCostUsd: number | null; maxDurationMs: number; toolTimeoutMs: number };
	contextTokens: number | null;
	shutdownTimeoutMs: number;
}

/** Sources of skills; URLs without a trailing slash. */
export interface CatalogConfig {
	provider: 'skillsmp' | 'skillssh' | 'github';
	skillsmpApiKey: string | null;
	/** The agent may search the catalogs and ask for a skill. */
	catalogRequests: boolean;
	githubToken: string | null;
	githubApiUrl: string;
	githubRawUrl: string;
	skillsshUrl: string;
	skillsshAuditUrl: string;
	skillsmpUrl: string;
	/** `host:port` of allowed servers outside the public internet. */
	hosts: string[];
}

export interface ExecutionConfig {
	isEnabled: boolean;
	/** Skills of configured folders need no review. */
	trustsLocal: boolean;
	/** Runs commands in the instructions of trusted skills on loading (D45). */
	runsInlineCommands: boolean;
	sandbox: 'auto' | 'process' | 'bubblewrap' | 'container';
	/** Scripts run on workers, which share the database and the data folder. */
	runsOnWorkers: boolean;
	containerRuntime: 'auto' | 'docker' | 'podman';
	containerImage: string | null;
	allowedImages: string[];
	/** null if unset: grants decide, and built-in skills have no network. */
	network: boolean | null;
	/** Absolute paths of modules whose exported functions are native handlers (D37). */
	handlerModules: string[];
	/** The agent may define tools for a chat, and asks each time (D25). */
	definesTools: boolean;
	/** Defaults of the OmniRoute scorer (B8). */
	autoMaxSkills: number;
	autoMinScore: number;
	/** Maximum for any skill or call. */
	limits: SandboxLimits;
	/** Concurrent scripts and programs of all callers. */
	maxScripts: number;
	/** Maximum size of all script copies. */
	copiesBytes: number;
	/** Where skills’ packages come from; null: as pip and npm are set up. */
	packages: {
		pipIndexUrl: string | null;
		npmRegistry: string | null;
		hosts: string[];
		mayBuild: boolean;
		maxBytes: number;
	};
	builtins: {
		timeoutMs: number;
		maxOutputChars: number;
		maxFileBytes: number;
		maxHttpBytes: number;
		searchUrl: string | null;
		hasBrowser: boolean;
	};
}

const SETTINGS = Object.keys(schema.shape);

/** Values never shown. */
const SECRET_SETTINGS: ReadonlySet<string> = new Set([
	'OPENROUTER_API_KEY',
	'ADMIN_TOKEN',
	'SECRETS_KEY',
	'DATABASE_URL',
	'DATABASE_DIRECT_URL',
	'SKILLSMP_API_KEY',
	'GITHUB_TOKEN'
]);

/** The server's own secrets: never given to a script, whatever SKILLS_ENV says. */
const NEVER_FOR_SKILLS =
	/^(OPENROUTER_|DATABASE_URL$|DATABASE_DIRECT_URL$|ADMIN_TOKEN$|SECRETS_KEY$|SKILLSMP_API_KEY$|GITHUB_TOKEN$|NODE_|LD_|DYLD_|PYTHON|BASH_ENV$|ENV$|SHELLOPTS$|PS4$|PATH$|HOME$)/;

/** @throws Error naming the variable and its value */
export function loadConfig(environment: Record<string, string | undefined>, paths = nodePath): Config {
	const given = Object.fromEntries(
		SETTINGS.flatMap((name) => {
			const value = environment[name]?.trim();
			return value ? [[name, value]] : [];
		})
	);
	const parsed = schema.safeParse(given, { error: inPlainWords });
	if (!parsed.success) {
		const [first] = parsed.error.issues;
		const name = String(first?.path[0]);
		const shown = SECRET_SETTINGS.has(name) ? '' : `, but it’s “${given[name]}”`;
		throw new Error(`${name} ${first?.message}${shown}. See .env.example.`);
	}
	const values = parsed.data;
	refuseOpenServer(values);
	refuseOwnKey(values);
	const dataDir = resolve(values.DATA_DIR);
	return {
		host: values.HOST,
		adminToken: values.ADMIN_TOKEN ?? null,
		publicOrigin: values.PUBLIC_ORIGIN ? new URL(values.PUBLIC_ORIGIN).origin : null,
		trustsProxy: values.TRUST_PROXY,
		a2aPushHosts: values.A2A_PUSH_HOSTS.split(/[\s,]+/).filter(Boolean),
		mcpRegistryUrl: values.MCP_REGISTRY_URL,
		secretsKey: values.SECRETS_KEY ?? null,
		database:
			values.DATABASE_URL === undefined
				? null
				: { url: values.DATABASE_URL, directUrl: values.DATABASE_DIRECT_URL ?? values.DATABASE_URL },
		execution: executionOf(values, paths),
		catalog: catalogOf(values),
		apiKey: values.OPENROUTER_API_KEY ?? null,
		baseUrl: values.OPENROUTER_BASE_URL,
		model: values.OPENROUTER_MODEL,
		isOffline: !values.OPENROUTER_API_KEY && given.OPENROUTER_BASE_URL === undefined,
		autoTitles: values.CHAT_TITLES,
		modelPorts: values.MODEL_PORTS.filter((port) => port !== values.PORT),
		dataDir,
		...foldersOf(values, dataDir, paths),
		skillsTimeoutMs: values.SKILLS_TIMEOUT_MS,
		skillsMaxRetries: values.SKILLS_MAX_RETRIES,
		skillsMaxOutputBytes: values.SKILLS_MAX_OUTPUT_BYTES,
		publishedDir: values.SKILLS_PUBLISHED === undefined ? null : resolve(values.SKILLS_PUBLISHED),
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

/** Requires ADMIN_TOKEN if other computers can reach the server, because they could run scripts (SECURITY, *The server*). @throws Error naming the setting */
function refuseOpenServer({ HOST, PUBLIC_ORIGIN, ADMIN_TOKEN }: z.infer<typeof schema>): void {
	if (ADMIN_TOKEN !== undefined) return;
	const publicHost = PUBLIC_ORIGIN && new URL(PUBLIC_ORIGIN).hostname;
	const [name, value] = isLoopback(HOST) ? ['PUBLIC_ORIGIN', PUBLIC_ORIGIN] : ['HOST', HOST];
	if (name === 'PUBLIC_ORIGIN' && (!publicHost || isLoopback(publicHost))) return;
	throw new Error(
		`${name} is “${value}”, so other computers can reach this server, but ADMIN_TOKEN isn’t set. Set it to a long ` +
			`secret (openssl rand -hex 32 creates one), or remove ${name}.`
	);
}

/** A key in one server's data folder would encrypt what others, with the same database, couldn't read. @throws Error naming the setting */
function refuseOwnKey({ DATABASE_URL, DATABASE_DIRECT_URL, SECRETS_KEY, SKILLS_RUN_ON }: z.infer<typeof schema>): void {
	if (SKILLS_RUN_ON === 'workers' && DATABASE_URL === undefined) {
		throw new Error('SKILLS_RUN_ON is “workers”, but DATABASE_URL isn’t set. Workers and servers meet in the same Postgres.');
	}
	if (DATABASE_DIRECT_URL !== undefined && DATABASE_URL === undefined) {
		throw new Error('DATABASE_DIRECT_URL is set, but DATABASE_URL isn’t. Set DATABASE_URL, too, or remove it.');
	}
	if (DATABASE_URL === undefined || SECRETS_KEY !== undefined) return;
	throw new Error(
		'DATABASE_URL is set, so other servers may use the same database, but SECRETS_KEY isn’t set. Set it to the same long ' +
			'secret for all of them (openssl rand -hex 32 creates one), or remove DATABASE_URL to keep the data in DATA_DIR.'
	);
}

function catalogOf(values: z.infer<typeof schema>): CatalogConfig {
	const urls = {
		githubApiUrl: values.GITHUB_API_URL,
		githubRawUrl: values.GITHUB_RAW_URL,
		skillsshUrl: values.SKILLSSH_URL,
		skillsshAuditUrl: values.SKILLSSH_AUDIT_URL,
		skillsmpUrl: values.SKILLSMP_URL
	};
	return {
		...urls,
		provider: values.SKILLS_PROVIDER,
		skillsmpApiKey: values.SKILLSMP_API_KEY ?? null,
		catalogRequests: values.SKILLS_CATALOG_REQUESTS,
		githubToken: values.GITHUB_TOKEN ?? null,
		// The operator’s own addresses may be anywhere.
		hosts: [...values.SKILLS_INSTALL_HOSTS.split(/[\s,]+/).filter(Boolean), ...Object.values(urls).map(hostOf)]
	};
}

/** `host:port`, always with the port. */
function hostOf(url: string): string {
	const { hostname, port, protocol } = new URL(url);
	return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

function executionOf(values: z.infer<typeof schema>, paths: nodePath.PlatformPath): ExecutionConfig {
	return {
		isEnabled: values.SKILLS_ENABLED,
		trustsLocal: values.SKILLS_TRUST_LOCAL === 'trust',
		runsInlineCommands: values.SKILLS_INLINE_COMMANDS,
		sandbox: values.SKILLS_SANDBOX,
		runsOnWorkers: values.SKILLS_RUN_ON === 'workers',
		containerRuntime: values.SKILLS_SANDBOX_RUNTIME,
		containerImage: values.SKILLS_SANDBOX_IMAGE ?? null,
		allowedImages: values.SKILLS_ALLOWED_SANDBOX_IMAGES.split(/[\s,]+/).filter(Boolean),
		network: values.SKILLS_SANDBOX_NETWORK_ENABLED ?? null,
		handlerModules: listed(values.SKILLS_HANDLERS, paths),
		definesTools: values.SKILLS_DEFINE_TOOLS === 'ask',
		autoMaxSkills: values.SKILLS_AUTO_MAX,
		autoMinScore: values.SKILLS_AUTO_MIN_SCORE,
		limits: {
			memoryBytes: values.SKILLS_MAX_MEMORY_MB * MB,
			processes: values.SKILLS_MAX_PROCESSES,
			fileBytes: values.SKILLS_MAX_FILE_MB * MB,
			openFiles: values.SKILLS_MAX_OPEN_FILES,
			cpuSeconds: values.SKILLS_MAX_CPU_SECONDS,
			workspaceBytes: values.SKILLS_WORKSPACE_MB * MB,
			workspaceFiles: values.SKILLS_WORKSPACE_FILES
		},
		maxScripts: values.SKILLS_MAX_SCRIPTS,
		copiesBytes: values.SKILLS_COPIES_MB * MB,
		packages: {
			pipIndexUrl: values.SKILLS_PIP_INDEX_URL ?? null,
			npmRegistry: values.SKILLS_NPM_REGISTRY ?? null,
			hosts: values.SKILLS_PACKAGE_HOSTS.split(/[\s,]+/).filter(Boolean),
			mayBuild: values.SKILLS_PACKAGE_BUILDS,
			maxBytes: values.SKILLS_PACKAGES_MB * MB
		},
		builtins: {
			timeoutMs: values.SKILLS_SANDBOX_TIMEOUT_MS,
			maxOutputChars: values.SKILLS_MAX_SANDBOX_OUTPUT_CHARS,
			maxFileBytes: values.SKILLS_MAX_FILE_BYTES,
			maxHttpBytes: values.SKILLS_MAX_HTTP_RESPONSE_BYTES,
			searchUrl: values.SKILLS_SEARCH_URL ?? null,
			hasBrowser: values.SKILLS_BROWSER_ENABLED
		}
	};
}

/** Absolute paths of a list with PATH’s separator. */
function listed(value: string, paths: nodePath.PlatformPath): string[] {
	return value
		.split(paths.delimiter)
		.filter(Boolean)
		.map((path) => paths.resolve(path));
}

/** Where people’s other agents, `npx skills add` and `npx openskills install` put skills. */
const PROJECT_FOLDERS = ['skills', '.agents/skills', '.claude/skills', '.agent/skills', '.opencode/skills'];
const HOME_FOLDERS = ['.agents/skills', '.claude/skills', '.agent/skills', '.codex/skills', '.config/agents/skills'];

/** Order: project, user, installed (A27). */
function foldersOf(
	{ SKILLS_DIRS: named, SKILLS_HOME: hasHome = named === undefined }: z.infer<typeof schema>,
	dataDir: string,
	paths: nodePath.PlatformPath
): Pick<Config, 'skillsDirs' | 'placesOfTrust' | 'projectDir'> {
	const installed = join(dataDir, 'skills');
	const home = HOME_FOLDERS.map((dir) => join(homedir(), dir));
	const user = hasHome ? home : [];
	if (named) {
		const dirs = listed(named, paths);
		return { skillsDirs: [...new Set([...dirs, ...user, installed])], placesOfTrust: dirs, projectDir: null };
	}
	const project = PROJECT_FOLDERS.map((dir) => resolve(dir));
	return {
		skillsDirs: [...new Set([...project, ...user, installed])],
		// Other programs write to the user’s folders, even if the server was started in the home folder.
		placesOfTrust: project.filter((dir) => !home.includes(dir)),
		projectDir: resolve('.')
	};
}

function pickVariables(names: string, environment: Record<string, string | undefined>): Record<string, string> {
	const picked: Record<string, string> = {};
	for (const name of names.split(/[\s,]+/).filter(Boolean)) {
		if (NEVER_FOR_SKILLS.test(name)) throw new Error(`SKILLS_ENV can’t include ${name}: skills may not have it.`);
		const value = environment[name];
		if (value !== undefined) picked[name] = value;
	}
	return picked;
}
