/** `createSkillsProvider`: a folder of skills as a system prompt, tools and one function that runs them (S0). */
import { resolve } from 'node:path';
import { createProcessSandbox } from '../sandbox/process.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { createExecutor } from './executor.ts';
import { renderSystemPrompt } from './prompt.ts';
import { createRegistry, type SkillRegistry, type SkillSnapshot } from './registry.ts';
import { createSkillSession, type SkillSession } from './session.ts';
import type { SkillExecutionResult, ToolDefinition } from './types.ts';

export interface SkillsProviderOptions {
	/** Only these skills, by folder or name. */
	include?: readonly string[];
	/** Not these. */
	exclude?: readonly string[];
	/** Milliseconds before a script is ended; 30,000. */
	timeout?: number;
	/** Bytes kept of stdout and of stderr; 20,480. */
	maxOutput?: number;
	/** Working directory of scripts; the current one. */
	cwd?: string;
	/** Variables that skills receive which declare them in `metadata.env`; nothing else of the environment reaches a script. */
	env?: Readonly<Record<string, string>>;
	/** Follow changes on disk. Keeps the process alive until `close`. */
	watch?: boolean;
	/** What runs the scripts; plain processes. */
	sandbox?: Sandbox;
}

export interface SkillsProvider {
	/** System prompt section listing all skills; empty without skills. */
	readonly systemPrompt: string;
	/** `load_skill`, `use_skill` and the tools of loaded skills, as flat Responses API functions. */
	readonly tools: ToolDefinition[];
	/** Executes a call of the model. `load_skill` answers with text, the rest with a result; failures are results. */
	handleToolCall(name: string, args: Record<string, unknown>): Promise<SkillExecutionResult | string>;
	/** Names of the skills that can be used. */
	readonly skillNames: string[];
	readonly registry: SkillRegistry;
	/** Name of the backend that runs scripts. */
	readonly sandbox: string;
	/** The tools of one conversation, over one view of the library. */
	createSession(options: { snapshot: SkillSnapshot; loaded?: Iterable<string> }): SkillSession;
	/** Reads the folders again. */
	reload(): Promise<void>;
	close(): Promise<void>;
}

/** Reads the folders (highest priority first; absent ones are skipped) and gives all that an agent needs to use them. */
export async function createSkillsProvider(
	skillsDir: string | readonly string[],
	options: SkillsProviderOptions = {}
): Promise<SkillsProvider> {
	const roots = (typeof skillsDir === 'string' ? [skillsDir] : skillsDir).map((root) => resolve(root));
	const { include, exclude, watch } = options;
	const registry = await createRegistry(roots, {
		...(include ? { include } : {}),
		...(exclude ? { exclude } : {}),
		watch: watch ?? false
	});
	const sandbox = options.sandbox ?? createProcessSandbox();
	const executor = createExecutor({
		sandbox,
		timeoutMs: options.timeout ?? 30_000,
		maxOutputBytes: options.maxOutput ?? 20_480,
		env: options.env ?? {}
	});
	const session = createSkillSession({ snapshot: () => registry.snapshot(), executor });
	const cwd = resolve(options.cwd ?? process.cwd());

	return {
		get systemPrompt() {
			return renderSystemPrompt(registry.snapshot().skills);
		},
		get tools() {
			return session.tools();
		},
		get skillNames() {
			return registry.snapshot().skills.map((skill) => skill.name);
		},
		async handleToolCall(name, args) {
			return (await session.call(name, args, { cwd })).result;
		},
		registry,
		sandbox: sandbox.name,
		createSession: ({ snapshot, loaded = [] }) => createSkillSession({ snapshot: () => snapshot, executor, loaded }),
		async reload() {
			await registry.reload();
		},
		close: () => registry.close()
	};
}
