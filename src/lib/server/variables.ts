/** The variables that configure the server: what each may be, and its default. `.env.example` explains them. */
import { z } from 'zod';

const count = (fallback: number, min: number, max: number) =>
	z.coerce.number().int().min(min).max(max).default(fallback);

const baseUrl = (fallback: string) =>
	z
		.url({ protocol: /^https?$/ })
		.transform((url) => url.replace(/\/+$/, ''))
		.default(fallback);

/** Not `allow` and `prefer`, which do without when somebody in between says so. */
const TLS_MODES = ['verify-full', 'verify-ca', 'require', 'no-verify', 'disable'];

const postgresUrl = z
	.string()
	.refine((url) => /^postgres(ql)?:\/\//.test(url) && URL.canParse(url), {
		abort: true,
		error:
			'must be like postgres://user:password@host/database, with %40 for an @ in the password (and so on for other signs)'
	})
	.refine((url) => TLS_MODES.includes(new URL(url).searchParams.get('sslmode') ?? 'disable'), {
		error: `must have one of these as sslmode: ${TLS_MODES.join(', ')}`
	})
	.optional();

const bucketUrl = z
	.string()
	.refine((text) => bucketOf(text) !== null, {
		error:
			'must be like https://key:secret@host/bucket?region=eu-central-1, with %2F for a / in the secret and %2B for a + (and so on for other signs)'
	})
	.transform((text) => bucketOf(text) as Bucket)
	.optional();

interface Bucket {
	/** With a path, without credentials. */
	url: string;
	accessKeyId: string;
	secretAccessKey: string;
	region: string;
}

function bucketOf(text: string): Bucket | null {
	const url = URL.canParse(text) ? new URL(text) : null;
	if (!url || !/^https?:$/.test(url.protocol)) return null;
	const { username, password, host, protocol, hash, searchParams } = url;
	const path = url.pathname.replace(/\/+$/, '');
	const isBad = username === '' || password === '' || hash !== '' || !/^(\/[\w.-]+)+$/.test(path);
	if (isBad || [...searchParams.keys()].some((name) => name !== 'region')) return null;
	const [accessKeyId, secretAccessKey] = [username, password].map(decoded);
	if (!accessKeyId || !secretAccessKey) return null;
	// What servers without regions are told.
	const region = searchParams.get('region') ?? 'us-east-1';
	return { url: `${protocol}//${host}${path}`, accessKeyId, secretAccessKey, region };
}

/** null if it isn't encoded as in an address. */
function decoded(text: string): string | null {
	try {
		return decodeURIComponent(text);
	} catch {
		return null;
	}
}

const listed = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);
const text = z.string().optional();
/** Separated by spaces or commas. */
const list = z.string().default('').transform(listed);
const flag = z.stringbool().default(false);
const token = z
	.string()
	.regex(/^[!-~]{16,}$/, 'must be 16 or more characters (letters, digits and signs) without spaces');

export const variables = z.object({
	OPENROUTER_API_KEY: text,
	OPENROUTER_BASE_URL: z.url({ protocol: /^https?$/ }).default('https://openrouter.ai/api/v1'),
	OPENROUTER_MODEL: z.string().default('openrouter/auto'),
	CHAT_TITLES: z.stringbool().default(true),
	MODEL_PORTS: z
		.string()
		.default('11434,1234,8080')
		.transform(listed)
		.pipe(z.array(z.coerce.number<string>('must be numbers separated by commas').int().min(1).max(65535)).max(20)),
	HOST: z.string().default('127.0.0.1'),
	PORT: count(3000, 0, 65535),
	ADMIN_TOKEN: token.optional(),
	PUBLIC_ORIGIN: z.url({ protocol: /^https?$/ }).optional(),
	TRUST_PROXY: flag,
	SECRETS_KEY: z.string().min(16).optional(),
	DATA_DIR: z.string().default('./data'),
	DATABASE_URL: postgresUrl,
	DATABASE_DIRECT_URL: postgresUrl,
	S3_URL: bucketUrl,
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
	EVALS_AT_ONCE: count(8, 1, 1000),
	WORKER_FILES_MB: count(10_240, 1, 1_048_576),
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
	SKILLS_HANDLERS: z.string().default(''),
	A2A_PUSH_HOSTS: list,
	RESPONSES_MB: count(1024, 1, 1_048_576),
	MCP_REGISTRY_URL: baseUrl('https://registry.modelcontextprotocol.io'),
	SKILLS_PUBLISHED: text,
	SKILLS_DEFINE_TOOLS: z.enum(['off', 'ask']).default('off'),
	SKILLS_AUTO_MAX: count(5, 0, 50),
	SKILLS_AUTO_MIN_SCORE: count(3, 0, 1000),
	AGENT_MAX_STEPS: count(10, 1, 100),
	AGENT_MAX_COST_USD: z.coerce.number().positive().optional(),
	AGENT_TIMEOUT_MS: count(1_800_000, 1000, 86_400_000),
	RUN_TAKEOVER: z.enum(['go-on', 'interrupt']).default('go-on'),
	AGENT_TOOL_TIMEOUT_MS: count(330_000, 1000, 3_600_000),
	AGENT_CONTEXT_TOKENS: z.coerce.number().int().min(4000).max(10_000_000).optional(),
	SHUTDOWN_TIMEOUT_MS: count(10_000, 0, 600_000),
	SHUTDOWN_DELAY_MS: count(0, 0, 600_000),
	LOG_FORMAT: z.enum(['text', 'json']).default('text'),
	LOG_LEVEL: z.enum(['error', 'info', 'debug']).default('info'),
	METRICS: flag,
	METRICS_TOKEN: token.optional(),
	WORKER_PORT: z.coerce.number().int().min(1).max(65_535).optional(),
	OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
	OTEL_EXPORTER_OTLP_PROTOCOL: z.literal('http/protobuf').default('http/protobuf'),
	OTEL_SERVICE_NAME: z.string().default('openrouter-skills'),
	OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).default('otlp'),
	OTEL_METRICS_EXPORTER: z.enum(['otlp', 'none']).default('otlp'),
	OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
	OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: flag,
	TRACE_MODEL_SERVER: flag
});

export type Variables = z.infer<typeof variables>;
