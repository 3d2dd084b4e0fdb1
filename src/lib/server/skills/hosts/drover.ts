/** The drover document's library: a registry of specs, their resources, two tools, one prompt block (S3). */
import { withoutHidden } from '../../../shared/characters.ts';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
	renderFiles,
	renderPage,
	RESOURCE_FOLDERS,
	resourceHint,
	SKILL_LOAD,
	SKILL_RESOURCE
} from '../call/dialects/drover.ts';
import type { FilePage } from '../call/operations.ts';
import { oneLine, renderBody } from '../prompt.ts';
import { readSkillFile } from '../read/files.ts';
import { SkillError, type SkillSpec, type ToolDefinition } from '../types.ts';

/** An in-process directory of skills (A31). */
export interface SpecRegistry {
	get(name: string): SkillSpec | undefined;
	has(name: string): boolean;
	list(): readonly SkillSpec[];
}

/** File names in the three standard folders and at the top level. */
export interface SkillResources {
	scripts: readonly string[];
	references: readonly string[];
	assets: readonly string[];
	other: readonly string[];
}

/** A tool with its implementation. */
export interface ToolDef<Args> {
	name: string;
	description: string;
	/** JSON Schema of an object. */
	parameters: Record<string, unknown>;
	/** Never throws: errors are texts with `isError`, from which the model can recover. */
	execute(args: Args): Promise<{ content: string; isError?: boolean }>;
}

interface ToolOptions {
	registry: SpecRegistry;
	/** Names the agent may use. */
	allowed: readonly string[];
}

const MAX_BYTES = 65_536;
const MAX_LINE = 200;

/** The first skill of a name wins, as in `scanSkillDirs`. */
export function createSkillRegistry(skills: readonly SkillSpec[]): SpecRegistry {
	const byName = new Map<string, SkillSpec>();
	for (const skill of skills) if (!byName.has(skill.name)) byName.set(skill.name, skill);
	return { get: (name) => byName.get(name), has: (name) => byName.has(name), list: () => [...byName.values()] };
}

/** Lists supporting files one level deep, without hidden ones, folders and the SKILL.md (C8, C10). */
export async function listSkillResources(spec: Pick<SkillSpec, 'dir'>): Promise<SkillResources> {
	const [scripts, references, assets] = await Promise.all(
		RESOURCE_FOLDERS.map((folder) => filesIn(join(spec.dir, folder)))
	);
	const top = await filesIn(spec.dir);
	return {
		scripts: scripts ?? [],
		references: references ?? [],
		assets: assets ?? [],
		other: top.filter((name) => name.toLowerCase() !== 'skill.md')
	};
}

/** Reads a file of the skill (C9). @throws SkillError if the path is absolute, leaves the folder or doesn't exist */
export async function readSkillResource(spec: Pick<SkillSpec, 'dir'>, relativePath: string): Promise<string> {
	let text = '';
	for (let offset: number | null = 0; offset !== null;) {
		const page: FilePage = await readSkillFile(spec.dir, relativePath, { offset, limit: 1024 * 1024 });
		text += page.text;
		offset = page.nextOffset;
	}
	return text;
}

/** `skill_load`: the instructions of a skill and a note on its files (C2); long ones in pages, from `offset` on. */
export function skillLoadTool({
	registry,
	allowed,
	hintResources = true
}: ToolOptions & { hintResources?: boolean }): ToolDef<{ name: string; offset?: number }> {
	return {
		...offeredTo(allowed, SKILL_LOAD),
		execute: ({ name, offset }) =>
			answering(async () => {
				const skill = find(registry, allowed, name);
				const body = renderBody(skill, startOf(offset));
				if (!hintResources) return body;
				const resources = await listSkillResources(skill);
				return body + resourceHint(name, (folder) => resources[folder].length);
			})
	};
}

/** `skill_resource`: lists a skill's files, or reads up to `maxBytes` of one and says how to read on (C7). */
export function skillResourceTool({
	registry,
	allowed,
	maxBytes = MAX_BYTES
}: ToolOptions & { maxBytes?: number }): ToolDef<{ name: string; resource?: string; offset?: number }> {
	return {
		...offeredTo(allowed, SKILL_RESOURCE),
		execute: ({ name, resource, offset }) =>
			answering(async () => {
				const skill = find(registry, allowed, name);
				if (!resource) return renderFiles(name, pathsOf(await listSkillResources(skill)));
				return renderPage(await readSkillFile(skill.dir, resource, { offset: startOf(offset), limit: maxBytes }));
			})
	};
}

/** A model may pass anything; an invalid offset means the start. */
function startOf(offset: unknown): number {
	return typeof offset === 'number' && Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
}

/** The system prompt block; empty if no allowed skill is registered (B2, C18). */
export function renderSkillsBlock(registry: SpecRegistry, allowed: readonly string[]): string {
	const lines = [...new Set(allowed)].flatMap((name) => {
		const skill = registry.get(name);
		if (!skill) return [];
		const line = oneLine(skill.description);
		const characters = [...line];
		const short = characters.length > MAX_LINE ? `${characters.slice(0, MAX_LINE - 1).join('')}…` : line;
		const hint = skill.compatibility ? [`  (compatibility: ${oneLine(skill.compatibility)})`] : [];
		return [`- ${name}: ${short}`, ...hint];
	});
	if (lines.length === 0) return '';
	const how = 'Call `skill_load(name="<name>")` to read the instructions of a skill before you use it.';
	return withoutHidden(['## Available skills', '', how, '', ...lines].join('\n'));
}

/** Limits `name` to the allowed skills (B14). */
function offeredTo(
	allowed: readonly string[],
	{ name, description, parameters }: ToolDefinition
): Omit<ToolDef<never>, 'execute'> {
	const properties = parameters.properties as Record<string, Record<string, unknown>>;
	const named = { ...properties.name, enum: [...new Set(allowed)] };
	return { name, description, parameters: { ...parameters, properties: { ...properties, name: named } } };
}

function pathsOf(resources: SkillResources): string[] {
	const inFolders = RESOURCE_FOLDERS.flatMap((folder) => resources[folder].map((file) => `${folder}/${file}`));
	return [...inFolders, ...resources.other];
}

function find(registry: SpecRegistry, allowed: readonly string[], name: unknown): SkillSpec {
	const names = allowed.join(', ') || '(none)';
	if (typeof name !== 'string' || !allowed.includes(name)) {
		throw new SkillError(
			'SkillNotFound',
			`The skill “${String(name).slice(0, 100)}” isn’t allowed here.`,
			`Allowed skills: ${names}`
		);
	}
	const skill = registry.get(name);
	if (skill) return skill;
	throw new SkillError(
		'SkillNotFound',
		`The skill “${name}” is allowed but wasn’t found.`,
		'Check that its folder exists and that its SKILL.md is valid.'
	);
}

async function answering(task: () => Promise<string>): Promise<{ content: string; isError?: boolean }> {
	try {
		return { content: withoutHidden(await task()) };
	} catch (error) {
		const hint = error instanceof SkillError ? error.hint : undefined;
		return { content: withoutHidden([(error as Error).message, hint].filter(Boolean).join(' ')), isError: true };
	}
}

async function filesIn(dir: string): Promise<string[]> {
	const names = (await readdir(dir).catch(() => [])).filter((name) => !name.startsWith('.'));
	const found = await Promise.all(names.map((name) => stat(join(dir, name)).catch(() => null)));
	return names.filter((_, index) => found[index]?.isFile()).sort();
}
