/** `createSkillsProvider`: a folder of skills as a system prompt, tools and one function that runs them (S0). */
import { resolve } from 'node:path';
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
import { handlersOf, toSkill, type SkillDefinition } from './make/define-skill.ts';
import type { DialectName } from './call/dialects/openrouter.ts';
import type { ExecutionHost } from './run/execution-host.ts';
import { createExecutor } from './executor.ts';
import { renderCatalog, type CatalogFormat } from './prompt.ts';
import { createNativeHandlers, type NativeHandler } from './run/handlers.ts';
import type { FilePage } from './call/operations.ts';
import type { OutputRange } from './run/execution-result.ts';
import { createRegistry, type SkillRegistry, type SkillSnapshot } from './registry/registry.ts';
import { createSkillSession, type SessionOptions, type SkillSession } from './call/session.ts';
import { createSkillCopies } from './skill-copies.ts';
import { createSkillIndexInSlices, type ExplainedSkill, type SkillIndex } from './find/skill-index.ts';
import type { Skill, SkillExecutionResult, SkillRoot, ToolDefinition } from './types.ts';
import { isBuiltInTool, type IsReserved } from './read/tool-names.ts';
import { createTurns, type Turns } from './turns.ts';
import { createWorkshop, type ToolPreview, type Workshop } from './make/workshop.ts';

export interface SkillsProviderOptions {
	/** Only these skills, by folder or name. */
	include?: readonly string[];
	/** Not these. */
	exclude?: readonly string[];
	/** Milliseconds before a script is ended; 30,000. */
	timeout?: number;
	/** How often a call of a tool whose tools.json says `idempotent` is tried again when it fails (D38); 3. */
	maxRetries?: number;
	/** Bytes kept of stdout and of stderr; 20,480. */
	maxOutput?: number;
	/** Working directory of scripts; the current one. */
	cwd?: string;
	/** Variables that skills receive which declare them in `metadata.env`; nothing else of the environment reaches a script. */
	env?: Readonly<Record<string, string>>;
	/** Scripts see the host's environment, but for its secrets and what changes how a program starts (D14). */
	inheritEnv?: boolean;
	/** Follow changes on disk. Keeps the process alive until `close`. */
	watch?: boolean;
	/** What runs the scripts; plain processes. */
	sandbox?: Sandbox;
	/** The most that a script may use: memory, processes, files; `DEFAULT_LIMITS`. */
	limits?: SandboxLimits;
	/** Secrets, network and record of executions. */
	host?: ExecutionHost;
	/** Functions that tools.json tools may name as their `handler` (D37). */
	handlers?: Readonly<Record<string, NativeHandler>>;
	/** Where the copies lie that scripts run from, and how many bytes they may take; a temporary folder and 2 GB (D8). */
	copies?: { folder: string; maxBytes: number };
	/** How many scripts run at once; 16. The others wait, and callers take turns (D43). */
	maxScripts?: number;
	/** Skills made of functions: `defineSkill`. They stand before those of folders (E35). */
	skills?: readonly SkillDefinition[];
	/** False: nothing of a skill is executed, everything can still be read (E11). */
	isEnabled?: () => boolean;
	/**
	 * Whose tools and prompt are offered: `openrouter` (S0: `load_skill`, `use_skill`), `full` (with `list_skills`,
	 * `search_skills`, `read_skill_file`), `drover`, `agent-zero`, `omniroute`. Calls of all are understood (F10).
	 */
	dialect?: DialectName;
	/**
	 * Names of tools that the host has itself, offered or not: a skill's tool of such a name gets a warning, and is called
	 * `skill__tool` (D17).
	 */
	isReserved?: IsReserved;
	/** Most tokens of the system prompt's section; over it skills are named only (B9). No limit without it. */
	promptBudget?: number;
	/** Lets the model define tools: where those to keep go (the first folder of skills) and who looks at them first (D25). */
	defineTools?: { dir?: string; approve: (preview: ToolPreview) => boolean | Promise<boolean> };
}

export interface SkillsProvider {
	/** System prompt section listing all skills; empty without skills. */
	readonly systemPrompt: string;
	/** The same of some of the skills. */
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
	/**
	 * Executes a call of the model, in whichever dialect it is. What runs something answers with a result, failures
	 * included; what reads something with text.
	 */
	handleToolCall(name: string, args: Record<string, unknown>): Promise<SkillExecutionResult | string>;
	/** Names of the skills that can be used. */
	readonly skillNames: string[];
	readonly registry: SkillRegistry;
	/** Name of the backend that runs scripts. */
	readonly sandbox: string;
	/** What runs and waits now; for whoever starts programs beside the scripts. */
	readonly turns: Turns;
	/** The tools of one conversation, over one view of the library. */
	createSession(
		options: Omit<SessionOptions, 'executor' | 'snapshot' | 'isReserved'> & { snapshot: SkillSnapshot }
	): SkillSession;
	/** Skills that fit what somebody said, best first. The index is made once a snapshot. */
	rank(snapshot: SkillSnapshot, query: string): Promise<Skill[]>;
	/** Where the points of each of these come from (F2). */
	explain(snapshot: SkillSnapshot, query: string, skills: readonly Skill[]): Promise<ExplainedSkill<Skill>[]>;
	/** A piece of a stream that was too long for the model, by the result's `outputId`; null when it is not kept any more. */
	readOutput(id: string, range?: OutputRange): FilePage | null;
	/** What `define_tool` made; null unless `defineTools` was given. */
	readonly workshop: Workshop | null;
	/** A function that tools.json tools may name as their `handler`, in place of the one before (D37). */
	registerHandler(name: string, handler: NativeHandler): void;
	/** Milliseconds, in the place of `timeout`, from the next execution on (D38). @throws RangeError */
	setTimeout(timeoutMs: number): void;
	/** In the place of `maxRetries`, from the next call on (D38). @throws RangeError */
	setMaxRetries(maxRetries: number): void;
	/** Reads the folders again. */
	reload(): Promise<void>;
	close(): Promise<void>;
}

/** Each may have a gigabyte and more. */
const MAX_SCRIPTS = 16;
/** More than a catalog has room for. */
const MAX_RANKED = 50;

/** OmniRoute's skills are tools, and need no catalog. */
const CATALOG_OF: Record<DialectName, CatalogFormat | null> = {
	openrouter: 'markdown',
	full: 'markdown',
	drover: 'compact',
	'agent-zero': 'xml',
	omniroute: null
};

/** Reads the folders (highest priority first; absent ones are skipped) and gives all that an agent needs to use them. */
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
	const handlers = createNativeHandlers({ ...options.handlers, ...handlersOf(options.skills ?? []) });
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
		// Interpreters are this machine's, and a sandbox would hide where they are.
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
			createSkillSession({ dialect, ...more, isReserved, snapshot: () => snapshot, executor }),
		rank: async (snapshot, query) => (await indexFor(snapshot)).rank(query, MAX_RANKED).map(({ skill }) => skill),
		explain: async (snapshot, query, wanted) => (await indexFor(snapshot)).explain(query, wanted),
		workshop,
		readOutput: (id, range) => executor.readOutput(id, range),
		registerHandler: (name, handler) => handlers.register(name, handler),
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
