/** `createSkillsProvider`: turns a folder of skills into a system prompt, tools and a call handler (S0). */
import { join, resolve } from 'node:path';
import { createProcessSandbox } from '../sandbox/process.ts';
import type { Sandbox, SandboxLimits } from '../sandbox/sandbox.ts';
import {
	type AnthropicTool,
	type ChatTool,
	createSdkTools,
	type GeminiTool,
	type SdkTool,
	toAnthropicTools,
	toChatTools,
	toGeminiTools
} from './hosts/adapters.ts';
import type { DialectName } from './call/dialects/openrouter.ts';
import type { ExecutionHost } from './run/execution-host.ts';
import { createExecutor } from './executor.ts';
import { type CatalogFormat, renderCatalog } from './prompt.ts';
import type { NativeHandler } from './run/handlers.ts';
import type { FilePage } from './call/operations.ts';
import type { OutputRange } from './run/execution-result.ts';
import { createRegistry, type SkillRegistry, type SkillSnapshot } from './registry/registry.ts';
import { createSkillSession, type SessionOptions, type SkillSession } from './call/session.ts';
import { createSkillCopies } from './skill-copies.ts';
import { createSkillIndexInSlices, type ExplainedSkill, type SkillIndex } from './find/skill-index.ts';
import { type Skill, SkillError, type SkillExecutionResult, type SkillRoot, type ToolDefinition } from './types.ts';
import { isPortableName } from './read/fields.ts';
import { isBuiltInTool, type IsReserved } from './read/tool-names.ts';
import { createTurns, type Turns } from './turns.ts';
import { createWorkshop, type ToolPreview, type Workshop } from './make/workshop.ts';
import { hash } from 'node:crypto';
import { devNull } from 'node:os';
import { valid } from 'semver';

export interface SkillsProviderOptions {
	/** Only these skills, by folder or name. */
	include?: readonly string[];
	/** Skip these skills. */
	exclude?: readonly string[];
	/** Script timeout in milliseconds; 30,000 by default. */
	timeout?: number;
	/** Retries for failed calls of tools marked `idempotent` in tools.json (D38); 3 by default. */
	maxRetries?: number;
	/** Bytes kept of stdout and of stderr; 20,480 by default. */
	maxOutput?: number;
	/** Working directory of scripts; the current one by default. */
	cwd?: string;
	/** Variables for skills that declare them in `metadata.env`. Nothing else of the environment reaches a script. */
	env?: Readonly<Record<string, string>>;
	/** Passes the host's environment to scripts, except secrets and variables that change how programs start (D14). */
	inheritEnv?: boolean;
	/** Watches for changes on disk. Keeps the process alive until `close`. */
	watch?: boolean;
	/** Runs the scripts; plain processes by default. */
	sandbox?: Sandbox;
	/** Maximum memory, processes and files of a script; `DEFAULT_LIMITS` by default. */
	limits?: SandboxLimits;
	/** Secrets, network and execution record. */
	host?: ExecutionHost;
	/** Functions that tools.json can name as `handler` (D37). */
	handlers?: Readonly<Record<string, NativeHandler>>;
	/** Folder for the copies that scripts run from, and its size limit; a temporary folder and 2 GB by default (D8). */
	copies?: { folder: string; maxBytes: number };
	/** Scripts that run at once; 16 by default. The others wait, and callers take turns (D43). */
	maxScripts?: number;
	/** Skills made with `defineSkill`. They take priority over folders (E35). */
	skills?: readonly SkillDefinition[];
	/** Return false to stop executing skills; they can still be read (E11). */
	isEnabled?: () => boolean;
	/** Tools and prompt to offer (F10); calls in every dialect work. `openrouter` is S0's, `full` adds our own tools. */
	dialect?: DialectName;
	/** Names of the host's own tools; a skill's tool with such a name is called `skill__tool`, with a warning (D17). */
	isReserved?: IsReserved;
	/** Maximum tokens of the system prompt section; beyond it skills are listed by name only (B9). Unlimited by default. */
	promptBudget?: number;
	/** Lets the model define tools (D25), kept in `dir` (default: the first folder of skills) once approved. */
	defineTools?: { dir?: string; approve: (preview: ToolPreview) => boolean | Promise<boolean> };
}

export interface SkillsProvider {
	/** System prompt section listing all skills; empty without skills. */
	readonly systemPrompt: string;
	/** The same for some of the skills. */
	promptFor(skills: readonly Skill[]): string;
	/** The dialect's tools and those of loaded skills, as flat Responses API functions. */
	readonly tools: ToolDefinition[];
	/** The same for Chat Completions (B17). */
	readonly chatTools: ChatTool[];
	/** The same as `tool()` objects for `callModel` of the OpenRouter SDK (B17). */
	readonly sdkTools: SdkTool[];
	/** The same for Anthropic Messages (B11). */
	readonly anthropicTools: AnthropicTool[];
	/** The same for Gemini (B11). */
	readonly geminiTools: GeminiTool[];
	/** Executes a tool call in any dialect. Runs return a result, failures included; reads return text. */
	handleToolCall(name: string, args: Record<string, unknown>): Promise<SkillExecutionResult | string>;
	/** Names of all usable skills. */
	readonly skillNames: string[];
	readonly registry: SkillRegistry;
	/** Name of the backend that runs scripts. */
	readonly sandbox: string;
	/** Queue of the scripts, for hosts that start other programs too. */
	readonly turns: Turns;
	/** Tools of one conversation, over a fixed view of the library, or over what the function returns at each call. */
	createSession(
		options: Omit<SessionOptions, 'executor' | 'snapshot' | 'isReserved'> & {
			snapshot: SkillSnapshot | (() => SkillSnapshot);
		}
	): SkillSession;
	/** Skills that match a query, best first. Builds the index once per snapshot. */
	rank(snapshot: SkillSnapshot, query: string): Promise<Skill[]>;
	/** Where each skill's score comes from (F2). */
	explain(snapshot: SkillSnapshot, query: string, skills: readonly Skill[]): Promise<ExplainedSkill<Skill>[]>;
	/** Part of a stream that was too long for the model, by the result's `outputId`; null once discarded. */
	readOutput(id: string, range?: OutputRange): FilePage | null;
	/** Tools made with `define_tool`; null without `defineTools`. */
	readonly workshop: Workshop | null;
	/** Adds or replaces a function that tools.json can name as `handler` (D37). */
	registerHandler(name: string, handler: NativeHandler): void;
	/** Changes `timeout` (milliseconds) for later executions (D38). @throws RangeError */
	setTimeout(timeoutMs: number): void;
	/** Changes `maxRetries` for later calls (D38). @throws RangeError */
	setMaxRetries(maxRetries: number): void;
	/** Reads the folders again. */
	reload(): Promise<void>;
	close(): Promise<void>;
}

/** Each may use a gigabyte or more. */
const MAX_SCRIPTS = 16;
/** More than fits in a catalog. */
const MAX_RANKED = 50;

/** OmniRoute's skills are tools, so they need no catalog. */
const CATALOG_OF: Record<DialectName, CatalogFormat | null> = {
	openrouter: 'markdown',
	full: 'markdown',
	drover: 'compact',
	'agent-zero': 'xml',
	omniroute: null
};

/** Reads the folders, highest priority first, and provides what an agent needs to use them. Skips absent ones. */
export async function createSkillsProvider(
	skillsDir: string | readonly (string | SkillRoot)[],
	options: SkillsProviderOptions = {}
): Promise<SkillsProvider> {
	const roots = (typeof skillsDir === 'string' ? [skillsDir] : skillsDir).map((root) =>
		typeof root === 'string' ? resolve(root) : { ...root, path: resolve(root.path) }
	);
	const { include, exclude, watch, isReserved = () => false } = options;
	const isTaken: IsReserved = (name) => isBuiltInTool(name) || isReserved(name);
	const defined = (options.skills ?? []).map(toSkill);
	const handlers = new Map(Object.entries({ ...options.handlers, ...handlersOf(options.skills ?? []) }));
	const registry = await createRegistry(roots, {
		defined,
		include,
		exclude,
		watch: watch ?? false,
		isReserved: isTaken
	});
	const sandbox = options.sandbox ?? createProcessSandbox();
	const turns = createTurns({ atOnce: options.maxScripts ?? MAX_SCRIPTS });
	const executor = createExecutor({
		sandbox,
		timeoutMs: options.timeout ?? 30_000,
		maxRetries: options.maxRetries ?? 3,
		maxOutputBytes: options.maxOutput ?? 20_480,
		env: options.env ?? {},
		inheritEnv: options.inheritEnv ?? false,
		// Interpreters belong to this computer, and a sandbox would hide their paths.
		hostSandbox: sandbox.isolation.files ? createProcessSandbox() : sandbox,
		limits: options.limits,
		host: options.host,
		handlers,
		copies: createSkillCopies(options.copies),
		turns,
		isEnabled: options.isEnabled
	});
	const { dialect = 'openrouter', defineTools } = options;
	const [first] = roots;
	const dir = defineTools?.dir ?? (typeof first === 'object' ? first.path : first) ?? 'skills';
	const workshop = defineTools
		? createWorkshop({
				dir: resolve(dir),
				approve: defineTools.approve,
				isReserved: isTaken,
				reload: () => registry.reload()
			})
		: null;
	const session = createSkillSession({
		snapshot: () => registry.snapshot(),
		executor,
		dialect,
		isReserved,
		workshop: workshop ?? undefined
	});
	let indexed: { snapshot: SkillSnapshot; index: Promise<SkillIndex<Skill>> } | null = null;
	const indexFor = (snapshot: SkillSnapshot): Promise<SkillIndex<Skill>> => {
		if (indexed?.snapshot !== snapshot) indexed = { snapshot, index: createSkillIndexInSlices(snapshot.skills) };
		return indexed.index;
	};
	const cwd = resolve(options.cwd ?? process.cwd());

	const promptFor = (some: readonly Skill[]): string => {
		const format = CATALOG_OF[dialect];
		return format ? renderCatalog(some, { format, budgetTokens: options.promptBudget }) : '';
	};

	return {
		get systemPrompt() {
			return promptFor(registry.snapshot().skills);
		},
		promptFor,
		get tools() {
			return session.tools();
		},
		get chatTools() {
			return toChatTools(session.tools());
		},
		get sdkTools() {
			return createSdkTools(session.tools(), async (name, args) => (await session.call(name, args, { cwd })).result);
		},
		get anthropicTools() {
			return toAnthropicTools(session.tools());
		},
		get geminiTools() {
			return toGeminiTools(session.tools());
		},
		get skillNames() {
			return registry.snapshot().skills.map((skill) => skill.name);
		},
		async handleToolCall(name, args) {
			return (await session.call(name, args, { cwd })).result;
		},
		registry,
		sandbox: sandbox.name,
		turns,
		createSession: ({ snapshot, ...more }) =>
			createSkillSession({
				dialect,
				...more,
				isReserved,
				snapshot: typeof snapshot === 'function' ? snapshot : () => snapshot,
				executor
			}),
		rank: async (snapshot, query) => (await indexFor(snapshot)).rank(query, MAX_RANKED).map(({ skill }) => skill),
		explain: async (snapshot, query, wanted) => (await indexFor(snapshot)).explain(query, wanted),
		workshop,
		readOutput: (id, range) => executor.readOutput(id, range),
		registerHandler: (name, handler) => void handlers.set(name, handler),
		setTimeout: (timeoutMs) => executor.setTimeout(timeoutMs),
		setMaxRetries: (maxRetries) => executor.setMaxRetries(maxRetries),
		async reload() {
			await registry.reload();
		},
		async close() {
			await executor.close();
			await workshop?.close();
			await registry.close();
		}
	};
}

// Skills defined by a function instead of a folder (E35).

export interface SkillDefinition {
	/** As in a SKILL.md: lowercase letters, digits and hyphens. */
	name: string;
	/** `MAJOR.MINOR.PATCH`; 1.0.0 by default. */
	version?: string;
	/** What it does and when to use it, for the model. */
	description: string;
	/** Markdown that the model reads when it loads the skill; the description by default. */
	instructions?: string;
	tags?: readonly string[];
	/** JSON Schema of the handler's input: an object. */
	schema: { input: Record<string, unknown>; output?: Record<string, unknown> };
	handler: NativeHandler;
}

/** Source label of all such skills. */
const SOURCE = 'defined';

/** Validates a definition for `createSkillsProvider({ skills })`. @throws SkillError InvalidManifest */
export function defineSkill(definition: SkillDefinition): SkillDefinition {
	const { name, version = '1.0.0', description, schema, handler } = definition;
	const refuse = (reason: string) => {
		throw new SkillError('InvalidManifest', `Couldn’t define the skill “${String(name).slice(0, 64)}”: ${reason}.`);
	};
	if (!isPortableName(name)) refuse('its name must use a-z, 0-9 and single hyphens');
	if (valid(version) === null) refuse(`“${version}” isn’t a version such as 1.0.0`);
	if (description.trim() === '' || description.length > 1024) refuse('its description must have 1 to 1,024 characters');
	if (schema.input.type !== 'object') refuse('schema.input must be the JSON Schema of an object');
	if (typeof handler !== 'function') refuse('its handler must be a function');
	return definition;
}

/** Converts a definition to a skill with one tool. Its folder can't exist, so there are no files to read. */
function toSkill({ name, version = '1.0.0', description, instructions, tags = [], schema }: SkillDefinition): Skill {
	const dir = join(devNull, SOURCE, `${name}@${version}`);
	const tool = name.replaceAll('-', '_');
	const inputSchema = { properties: {}, additionalProperties: false, ...schema.input };
	return {
		status: 'ready',
		name,
		description,
		version,
		metadata: {},
		extra: {},
		body: instructions ?? description,
		path: join(dir, 'SKILL.md'),
		dir,
		root: join(devNull, SOURCE),
		source: SOURCE,
		tags,
		triggers: [],
		digest: hash('sha256', JSON.stringify([name, version, description, instructions, schema])).slice(0, 16),
		tools: [{ name: tool, description, handler: handlerName(name, version), inputSchema }],
		files: [],
		scripts: [],
		issues: []
	};
}

function handlersOf(definitions: readonly SkillDefinition[]): Record<string, NativeHandler> {
	return Object.fromEntries(
		definitions.map(({ name, version = '1.0.0', handler }) => [handlerName(name, version), handler])
	);
}

function handlerName(name: string, version: string): string {
	return `${SOURCE}/${name}@${version}`;
}
