/** The skill tools of one conversation: what the model may call now, and what comes of a call (FEATURES C1, C13, D24). */
import type { ExecutionContext, Executor } from './executor.ts';
import { checkArguments } from './manifest.ts';
import { estimateTokens, renderLoadedSkill } from './prompt.ts';
import type { SkillSnapshot } from './registry.ts';
import { LOAD_SKILL, USE_SKILL } from './tools.ts';
import { SkillError, type Skill, type SkillExecutionResult, type SkillTool, type ToolDefinition } from './types.ts';

/** What the model reads, and the same as data. */
export interface ToolOutcome {
	ok: boolean;
	output: string;
	result: string | SkillExecutionResult;
}

export interface SkillSession {
	/** `load_skill`, `use_skill` and the tools of the skills loaded so far; none without skills (C18). */
	tools(): ToolDefinition[];
	has(name: string): boolean;
	/** Calls with the same lane must not run at the same time: one skill's scripts one at a time (D43). */
	lane(name: string, args: Record<string, unknown>): string | null;
	/** Never throws: what goes wrong is an outcome. */
	call(name: string, args: Record<string, unknown>, context: ExecutionContext): Promise<ToolOutcome>;
}

export interface SessionOptions {
	snapshot: () => SkillSnapshot;
	executor: Executor;
	/** Names of skills that were loaded earlier in the conversation. */
	loaded?: Iterable<string>;
}

/** A session over the library as `snapshot` gives it at each call. */
export function createSkillSession({ snapshot, executor, loaded = [] }: SessionOptions): SkillSession {
	const loadedNames = new Set(loaded);

	const find = (name: unknown): Skill => {
		const { skills } = snapshot();
		const wanted = typeof name === 'string' ? normalise(name) : '';
		const skill = skills.find((candidate) => candidate.name === name || normalise(candidate.name) === wanted);
		if (skill) return skill;
		throw new SkillError(
			'SkillNotFound',
			`There is no skill “${String(name)}”.`,
			skills.length > 0 ? `Available skills: ${skills.map((each) => each.name).join(', ')}` : 'No skills are installed.'
		);
	};
	const load = (skill: Skill, context: ExecutionContext): ToolOutcome => {
		loadedNames.delete(skill.name);
		loadedNames.add(skill.name); // the newest stands last and wins a clash of tool names (D17)
		const output = renderLoadedSkill(skill);
		const { name, description, path } = skill;
		context.onEvent?.({ type: 'loaded', skill: name, description, path, tokens: estimateTokens(output) });
		return { ok: true, output, result: output };
	};
	const loadedTools = () => {
		const { skills } = snapshot();
		const inOrder = [...loadedNames].flatMap((name) => skills.find((skill) => skill.name === name) ?? []);
		return nameTools(inOrder);
	};
	const runTool = async (skill: Skill, tool: SkillTool, given: Record<string, unknown>, context: ExecutionContext) => {
		if (!tool.script) return load(skill, context); // D18: a stub answers with the instructions
		const { __workDir: _reserved, ...args } = given;
		const wrong = checkArguments(tool, args);
		if (wrong) throw new SkillError('InvalidArgs', wrong, `Parameters: ${JSON.stringify(tool.inputSchema.properties)}`);
		const result = await executor.runTool(skill, tool, args, context);
		const output = result.success
			? JSON.stringify(result.value)
			: JSON.stringify({ error: result.message, type: result.error, stderr: result.stderr || undefined });
		return { ok: result.success, output, result };
	};
	const useSkill = async (args: Record<string, unknown>, context: ExecutionContext): Promise<ToolOutcome> => {
		const skill = find(args.skill);
		if (typeof args.tool === 'string') {
			const tool = skill.tools.find((candidate) => candidate.name === args.tool);
			if (!tool) throw new SkillError('UnknownTool', `“${skill.name}” has no tool “${args.tool}”.`);
			return runTool(skill, tool, asRecord(args.args), context);
		}
		if (typeof args.script !== 'string') throw new SkillError('InvalidArgs', '“script” must be a text.');
		const result = await executor.runScript(skill, args.script, asStrings(args.args), context);
		return { ok: result.success, output: renderResult(result), result };
	};

	return {
		tools: () => {
			if (snapshot().skills.length === 0) return [];
			const tools = [...loadedTools()].map(([name, { tool }]): ToolDefinition => {
				return { type: 'function', name, description: tool.description, parameters: tool.inputSchema };
			});
			return [LOAD_SKILL, USE_SKILL, ...tools];
		},
		has: (name) => name === LOAD_SKILL.name || name === USE_SKILL.name || loadedTools().has(name),
		lane: (name, args) => {
			if (name === LOAD_SKILL.name) return null;
			if (name === USE_SKILL.name) return typeof args.skill === 'string' ? normalise(args.skill) : null;
			return loadedTools().get(name)?.skill.name ?? null;
		},
		async call(name, args, context) {
			try {
				if (name === LOAD_SKILL.name) return load(find(args.skill), context);
				if (name === USE_SKILL.name) return await useSkill(args, context);
				const entry = loadedTools().get(name);
				if (entry) return await runTool(entry.skill, entry.tool, args, context);
				throw new SkillError('UnknownTool', `There is no tool “${name}”.`, 'Load the skill first: its tools appear then.');
			} catch (error) {
				return toFailure(error);
			}
		}
	};
}

/** Names that the model sees: the newest skill's tool has the bare name, an older one is `skill__tool` (D17). */
function nameTools(skills: readonly Skill[]): Map<string, { skill: Skill; tool: SkillTool }> {
	const named = new Map<string, { skill: Skill; tool: SkillTool }>();
	for (const skill of skills) {
		for (const tool of skill.tools) {
			if (tool.name === LOAD_SKILL.name || tool.name === USE_SKILL.name) continue;
			const older = named.get(tool.name);
			if (older) named.set(`${older.skill.name}__${tool.name}`.slice(0, 64), older);
			named.set(tool.name, { skill, tool });
		}
	}
	return named;
}

function renderResult(result: SkillExecutionResult): string {
	const { success, error, message, hint, exitCode, durationMs, stdout, stderr, truncated, files } = result;
	return JSON.stringify({ ok: success, error, message, hint, exitCode, durationMs, stdout, stderr, truncated, files });
}

function toFailure(error: unknown): ToolOutcome {
	const type = error instanceof SkillError ? error.type : 'ExecutionFailed';
	const message = error instanceof Error ? error.message : String(error);
	const hint = error instanceof SkillError ? error.hint : undefined;
	const result: SkillExecutionResult = {
		success: false,
		stdout: '',
		stderr: '',
		exitCode: -1,
		error: type,
		message,
		...(hint ? { hint } : {}),
		durationMs: 0,
		truncated: false,
		files: []
	};
	return { ok: false, output: JSON.stringify({ ok: false, error: type, message, hint }), result };
}

function normalise(name: string): string {
	return name.trim().toLowerCase().replace(/[\s_]+/g, '-');
}

function asRecord(value: unknown): Record<string, unknown> {
	if (value === undefined) return {};
	if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
	throw new SkillError('InvalidArgs', '“args” of a tool must be an object.');
}

function asStrings(value: unknown): string[] {
	if (value === undefined || value === null) return [];
	if (!Array.isArray(value)) throw new SkillError('InvalidArgs', '“args” must be a list of texts.');
	return value.map((item: unknown) => {
		if (typeof item === 'string') return item;
		if (typeof item === 'number' || typeof item === 'boolean') return String(item);
		throw new SkillError('InvalidArgs', '“args” must be a list of texts.');
	});
}
