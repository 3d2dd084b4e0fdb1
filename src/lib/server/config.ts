/** The settings of the server, from the variables of the environment. */
import { homedir } from 'node:os';
import nodePath, { join, resolve } from 'node:path';
import { hostAndPort, isLoopback } from '../shared/errors.ts';
import type { SandboxLimits } from './sandbox/sandbox.ts';
import type { TelemetrySettings } from './telemetry/telemetry.ts';
import { inPlainWords } from '../shared/plain-issues.ts';
import { type Variables, variables } from './variables.ts';

const MB = 1024 * 1024;

export interface Config {
	host: string;
	adminToken: string | null;
	publicOrigin: string | null;
	trustsProxy: boolean;
	/** `host:port` of receivers of push notifications outside the public internet. */
	a2aPushHosts: string[];
	/** Answers of evals that are written at the same time. */
	evalsAtOnce: number;
	/** Of the stored responses of an API key, and of its conversations. */
	responseBytes: number;
	/** Where MCP servers are searched for. */
	mcpRegistryUrl: string;
	/** Never null with a database that other servers may use. */
	secretsKey: string | null;
	/** Postgres; null: SQLite in the data folder. `directUrl`: past a pooler, for what it can't carry. */
	database: { url: string; directUrl: string } | null;
	/** Where files are kept for several servers; null: in the data folder. The address has no credentials. */
	bucket: { url: string; accessKeyId: string; secretAccessKey: string; region: string } | null;
	execution: ExecutionConfig;
	catalog: CatalogConfig;
	apiKey: string | null;
	baseUrl: string;
	model: string;
	/** Demo mode: no key is set and the base URL is OpenRouter’s. */
	isOffline: boolean;
	/** The model names chats. */
	autoTitles: boolean;
	/** Local ports to search for model servers (F11), without this server’s own. */
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
	/** What becomes of answers whose server has stopped, if there are several. */
	takeover: 'go-on' | 'interrupt';
	shutdownTimeoutMs: number;
	/** How long it still serves everybody after it says that it isn’t ready. */
	shutdownDelayMs: number;
	log: { format: 'text' | 'json'; level: 'error' | 'info' | 'debug' };
	/** Opens `/metrics`, and nothing else. */
	metricsToken: string | null;
	/** Where a worker answers; null: it doesn’t. */
	workerPort: number | null;
	telemetry: TelemetrySettings;
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
	/** Of a worker's copies of files that are in a bucket. */
	workerFilesBytes: number;
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

const SETTINGS = Object.keys(variables.shape);

/** Never shown, and never given to a script, whatever SKILLS_ENV says. */
const SECRET_SETTINGS: ReadonlySet<string> = new Set([
	'OPENROUTER_API_KEY',
	'ADMIN_TOKEN',
	'SECRETS_KEY',
	'DATABASE_URL',
	'DATABASE_DIRECT_URL',
	'S3_URL',
	'SKILLSMP_API_KEY',
	'GITHUB_TOKEN',
	'METRICS_TOKEN'
]);

/** The same for what changes how programs start. */
const NEVER_FOR_SKILLS = /^(OPENROUTER_|OTEL_|NODE_|LD_|DYLD_|PYTHON|BASH_ENV$|ENV$|SHELLOPTS$|PS4$|PATH$|HOME$)/;

/** @throws Error naming the variable and its value */
export function loadConfig(environment: Record<string, string | undefined>, paths = nodePath): Config {
	const given = Object.fromEntries(
		SETTINGS.flatMap((name) => {
			const value = environment[name]?.trim();
			return value ? [[name, value]] : [];
		})
	);
	const parsed = variables.safeParse(given, { error: inPlainWords });
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
		a2aPushHosts: values.A2A_PUSH_HOSTS,
		evalsAtOnce: values.EVALS_AT_ONCE,
		responseBytes: values.RESPONSES_MB * MB,
		mcpRegistryUrl: values.MCP_REGISTRY_URL,
		secretsKey: values.SECRETS_KEY ?? null,
		database:
			values.DATABASE_URL === undefined
				? null
				: { url: values.DATABASE_URL, directUrl: values.DATABASE_DIRECT_URL ?? values.DATABASE_URL },
		bucket: values.S3_URL ?? null,
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
		takeover: values.RUN_TAKEOVER,
		shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT_MS,
		shutdownDelayMs: values.SHUTDOWN_DELAY_MS,
		log: { format: values.LOG_FORMAT, level: values.LOG_LEVEL },
		metricsToken: values.METRICS_TOKEN ?? null,
		workerPort: values.WORKER_PORT ?? null,
		telemetry: telemetryOf(values)
	};
}

function telemetryOf(values: Variables): TelemetrySettings {
	const base = values.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '');
	const urlOf = (exporter: 'otlp' | 'none', path: string) =>
		base === undefined || exporter === 'none' ? null : `${base}${path}`;
	return {
		serviceName: values.OTEL_SERVICE_NAME,
		tracesUrl: urlOf(values.OTEL_TRACES_EXPORTER, '/v1/traces'),
		metricsUrl: urlOf(values.OTEL_METRICS_EXPORTER, '/v1/metrics'),
		isScraped: values.METRICS || values.METRICS_TOKEN !== undefined,
		sampled: values.OTEL_TRACES_SAMPLER_ARG,
		capturesContent: values.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
		tellsModel: values.TRACE_MODEL_SERVER
	};
}

/** Requires ADMIN_TOKEN if other computers can reach the server, because they could run scripts (SECURITY, *The server*). @throws Error naming the setting */
function refuseOpenServer({ HOST, PUBLIC_ORIGIN, ADMIN_TOKEN }: Variables): void {
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
function refuseOwnKey({ DATABASE_URL, DATABASE_DIRECT_URL, SECRETS_KEY, SKILLS_RUN_ON }: Variables): void {
	if (SKILLS_RUN_ON === 'workers' && DATABASE_URL === undefined) {
		throw new Error(
			'SKILLS_RUN_ON is “workers”, but DATABASE_URL isn’t set. Workers and servers meet in the same Postgres.'
		);
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

function catalogOf(values: Variables): CatalogConfig {
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
		hosts: [...values.SKILLS_INSTALL_HOSTS, ...Object.values(urls).map((url) => hostAndPort(new URL(url)))]
	};
}

function executionOf(values: Variables, paths: nodePath.PlatformPath): ExecutionConfig {
	return {
		isEnabled: values.SKILLS_ENABLED,
		trustsLocal: values.SKILLS_TRUST_LOCAL === 'trust',
		runsInlineCommands: values.SKILLS_INLINE_COMMANDS,
		sandbox: values.SKILLS_SANDBOX,
		runsOnWorkers: values.SKILLS_RUN_ON === 'workers',
		containerRuntime: values.SKILLS_SANDBOX_RUNTIME,
		containerImage: values.SKILLS_SANDBOX_IMAGE ?? null,
		allowedImages: values.SKILLS_ALLOWED_SANDBOX_IMAGES,
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
		workerFilesBytes: values.WORKER_FILES_MB * MB,
		packages: {
			pipIndexUrl: values.SKILLS_PIP_INDEX_URL ?? null,
			npmRegistry: values.SKILLS_NPM_REGISTRY ?? null,
			hosts: values.SKILLS_PACKAGE_HOSTS,
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
	{ SKILLS_DIRS: named, SKILLS_HOME: hasHome = named === undefined }: Variables,
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

function pickVariables(
	names: readonly string[],
	environment: Record<string, string | undefined>
): Record<string, string> {
	const picked: Record<string, string> = {};
	for (const name of names) {
		if (SECRET_SETTINGS.has(name) || NEVER_FOR_SKILLS.test(name))
			throw new Error(`SKILLS_ENV can’t include ${name}: skills may not have it.`);
		const value = environment[name];
		if (value !== undefined) picked[name] = value;
	}
	return picked;
}
