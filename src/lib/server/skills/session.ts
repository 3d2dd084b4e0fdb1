/** The skill tools of one conversation: what the model may call now, and what comes of a call (FEATURES C1, C13, D24). */
import { createHash } from 'node:crypto';
import type { ExecutionContext, Executor } from './executor.ts';
import { checkArguments } from './manifest.ts';
import { estimateTokens, renderLoadedSkill } from './prompt.ts';
import { findSkill, similarNames } from './references.ts';
import type { SkillSnapshot } from './registry.ts';
import { LOAD_SKILL, USE_SKILL } from './tools.ts';
import { SkillError, type Skill, type SkillExecutionResult, type SkillTool, type ToolDefinition } from './types.ts';

/** Of the files that a script made, as many are named to the model; the result has them all. */
const MAX_FILES_SHOWN = 100;
const MAX_NAMES_SHOWN = 100;

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
		const library = snapshot();
		if (typeof name !== 'string') throw new SkillError('InvalidArgs', '“skill” must be the name of a skill.', hintOf(library));
		const skill = findSkill(library, name);
		if (skill) return skill;
		throw new SkillError('SkillNotFound', `There is no skill “${shorten(name)}”.`, hintOf(library, name));
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
		return { ok: result.success, output: result.success ? JSON.stringify(result.value) : renderFailure(result), result };
	};
	const useSkill = async (args: Record<string, unknown>, context: ExecutionContext): Promise<ToolOutcome> => {
		const skill = find(args.skill);
		if (typeof args.tool === 'string' && args.tool !== '') {
			const tool = skill.tools.find((candidate) => candidate.name === args.tool);
			if (tool) return runTool(skill, tool, asRecord(args.args, 'args'), context);
			const hint = `Its tools: ${skill.tools.map((each) => each.name).join(', ') || 'none'}`;
			throw new SkillError('UnknownTool', `“${skill.name}” has no tool “${shorten(args.tool)}”.`, hint);
		}
		if (typeof args.script !== 'string') {
			const hint = `Its scripts: ${skill.scripts.join(', ') || 'none'}`;
			throw new SkillError('InvalidArgs', '“script” must be the name of a script.', hint);
		}
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
			if (name !== USE_SKILL.name) return loadedTools().get(name)?.skill.name ?? null;
			const wanted = isRecord(args) ? args.skill : null;
			return typeof wanted === 'string' ? laneOf(snapshot(), wanted) : null;
		},
		async call(name, given, context) {
			try {
				const args = asRecord(given, 'arguments');
				if (name === LOAD_SKILL.name) return load(find(args.skill), context);
				if (name === USE_SKILL.name) return await useSkill(args, context);
				const entry = loadedTools().get(name);
				if (entry) return await runTool(entry.skill, entry.tool, args, context);
				const hint = 'Load the skill first: its tools appear then.';
				throw new SkillError('UnknownTool', `There is no tool “${shorten(name)}”.`, hint);
			} catch (error) {
				return toFailure(error);
			}
		}
	};
}

/** What there is instead, the likeliest first. */
function hintOf({ skills }: SkillSnapshot, wanted?: string): string {
	if (skills.length === 0) return 'No skills are installed.';
	const names = skills.map(({ name }) => name);
	const similar = wanted === undefined ? [] : similarNames(names, wanted.slice(0, 100));
	const guess = similar.length > 0 ? `Did you mean ${similar.join(' or ')}? ` : '';
	return `${guess}Available skills: ${names.slice(0, MAX_NAMES_SHOWN).join(', ')}${names.length > MAX_NAMES_SHOWN ? ', …' : ''}`;
}

interface NamedTool {
	skill: Skill;
	tool: SkillTool;
}

/** Names that the model sees: the newest skill's tool has the bare name, an older one is `skill__tool` (D17). */
function nameTools(skills: readonly Skill[]): Map<string, NamedTool> {
	const named = new Map<string, NamedTool>();
	for (const skill of skills) {
		for (const tool of skill.tools) {
			if (tool.name === LOAD_SKILL.name || tool.name === USE_SKILL.name) continue;
			const older = named.get(tool.name);
			if (older) named.set(qualifiedName(older, named), older);
			named.set(tool.name, { skill, tool });
		}
	}
	return named;
}

/** `skill__tool`, or as much of it as a model can call (64 letters, digits, `_` and `-`) with what makes it its own. */
function qualifiedName({ skill, tool }: NamedTool, taken: ReadonlyMap<string, unknown>): string {
	const whole = `${skill.name}__${tool.name}`;
	const plain = whole.replace(/[^a-zA-Z0-9_-]/g, '-');
	if (plain === whole && plain.length <= 64 && !taken.has(plain)) return plain;
	return `${plain.slice(0, 55)}_${createHash('sha256').update(whole).digest('hex').slice(0, 8)}`;
}

function renderResult(result: SkillExecutionResult): string {
	const { success, error, message, hint, exitCode, durationMs, stdout, stderr, truncated, files } = result;
	const moreFiles = files.length > MAX_FILES_SHOWN ? files.length - MAX_FILES_SHOWN : undefined;
	const shown = { stdout, stderr, truncated, files: files.slice(0, MAX_FILES_SHOWN), moreFiles };
	return JSON.stringify({ ok: success, error, message, hint, exitCode, durationMs, ...shown });
}

/** A tool that failed: `error` is what happened (D23). */
function renderFailure({ message, error, hint, exitCode, stdout, stderr }: SkillExecutionResult): string {
	const streams = { stdout: stdout || undefined, stderr: stderr || undefined };
	return JSON.stringify({ error: message, type: error, hint, exitCode, ...streams });
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

function laneOf(library: SkillSnapshot, name: string): string | null {
	try {
		return findSkill(library, name)?.name ?? null;
	} catch (error) {
		// Not a range: the call itself will say so.
		if (error instanceof SkillError) return null;
		throw error;
	}
}

/** A name that the model made up may be of any length. */
function shorten(name: string): string {
	return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asRecord(value: unknown, name: string): Record<string, unknown> {
	if (isRecord(value)) return value;
	if (value === undefined && name === 'args') return {};
	throw new SkillError('InvalidArgs', `“${name}” must be an object.`);
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
