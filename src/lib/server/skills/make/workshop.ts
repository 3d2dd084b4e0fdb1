/** Tools an agent defines for itself: previewed, approved, kept as skill folders, undone (D25, D26). */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseManifest } from '../read/manifest.ts';
import { textArgument, type CallArguments } from '../call/operations.ts';
import { toolOf } from '../call/tools.ts';
import { parseSkillFile } from '../parser.ts';
import { DEFINE_TOOL, skillNameOf, toolFiles, type NewTool, type SkillFiles } from './templates.ts';
import { scanRoots } from '../read/scanner.ts';
import type { IsReserved } from '../read/tool-names.ts';
import { SkillError, type Skill } from '../types.ts';
import { isObject } from '../../../shared/json.ts';

/** Files about to be written, for approval. */
export interface ToolPreview {
	tool: string;
	/** Name of its skill. */
	skill: string;
	/** Kept on disk; otherwise deleted when the workshop closes. */
	persistent: boolean;
	files: SkillFiles;
	/** The current files, if it replaces a defined tool. */
	before: SkillFiles | null;
}

export interface WorkshopOptions {
	/** Root of the library in which persistent tools are kept. */
	dir: string;
	/** Asked before anything is written. */
	approve: (preview: ToolPreview) => boolean | Promise<boolean>;
	/** Names of built-in tools, which can't be replaced or removed. */
	isReserved: IsReserved;
	/** Reloads the library. */
	reload: () => Promise<unknown>;
}

export interface Workshop {
	/** Temporary skills, deleted with the workshop. */
	readonly passing: readonly Skill[];
	/** @throws SkillError InvalidArgs */
	preview(args: CallArguments): Promise<ToolPreview>;
	/** @throws SkillError InvalidArgs | ApprovalDenied */
	define(args: CallArguments): Promise<ToolPreview>;
	/**
	 * Moves a tool to the trash. @throws SkillError InvalidArgs for a built-in tool, UnknownTool for one not defined here
	 */
	remove(name: string): Promise<void>;
	/** Undoes the last `define` or `remove`; false if there is none. */
	undo(): Promise<boolean>;
	close(): Promise<void>;
}

export const DEFINE = toolOf(
	DEFINE_TOOL,
	'Define a new tool for yourself. You can call it from the next step on. The user sees it first.',
	{
		name: { type: 'string', description: 'Tool name (lowercase with underscores)' },
		description: { type: 'string', description: 'What the tool does' },
		parameters: { type: 'string', description: 'JSON string of parameter definitions, as in tools.json' },
		code: {
			type: 'string',
			description: 'Body of an async JavaScript function that takes args and returns the result'
		},
		persistent: { type: 'string', description: '"true" to keep it as a skill on disk' }
	},
	['name', 'description', 'parameters', 'code']
);

export const REMOVE = toolOf(
	'remove_tool',
	'Remove a tool that was defined with define_tool.',
	{ name: { type: 'string', description: 'Tool name to remove' } },
	['name']
);

export function createWorkshop({ dir, approve, isReserved, reload }: WorkshopOptions): Workshop {
	const undos: (() => Promise<void>)[] = [];
	let passingDir: string | null = null;
	let passing: Skill[] = [];

	const readPassing = async (): Promise<void> => {
		const found = passingDir === null ? [] : await scanRoots([{ path: passingDir, source: 'session' }]);
		passing = found.filter((skill) => skill.status === 'ready');
	};
	const refresh = (persistent: boolean) => (persistent ? reload() : readPassing());
	/** The folder of a tool and its root, or null. */
	const locate = async (name: string): Promise<{ root: string; folder: string } | null> => {
		for (const root of [dir, ...(passingDir === null ? [] : [passingDir])]) {
			const folder = join(root, skillNameOf(name));
			if (await isDefined(folder)) return { root, folder };
		}
		return null;
	};
	const preview = async (args: CallArguments): Promise<ToolPreview> => {
		const plan = planTool(args, isReserved);
		const folder = join(dir, plan.skill);
		const before = await readFiles(folder, Object.keys(plan.files));
		if (before && !(await isDefined(folder))) throw nameTaken(plan.skill);
		return { ...plan, before };
	};

	return {
		get passing() {
			return passing;
		},
		preview,
		async define(args) {
			const plan = await preview(args);
			if (!(await approve(plan))) {
				throw new SkillError(
					'ApprovalDenied',
					`The user didn’t approve the tool “${plan.tool}”.`,
					'Try another way, or ask the user why.'
				);
			}
			passingDir ??= await mkdtemp(join(tmpdir(), 'skill-tools-'));
			const root = plan.persistent ? dir : passingDir;
			const folder = join(root, plan.skill);
			const staging = join(root, `.staging-${randomUUID()}`);
			try {
				await writeFiles(staging, plan.files);
				const trashed = (await isDefined(folder)) ? await toTrash(root, folder) : null;
				await rename(staging, folder);
				undos.push(async () => {
					await toTrash(root, folder);
					if (trashed) await rename(trashed, folder);
					await refresh(plan.persistent);
				});
			} finally {
				await rm(staging, { recursive: true, force: true });
			}
			await refresh(plan.persistent);
			return plan;
		},
		async remove(name) {
			if (isReserved(name)) throw new SkillError('InvalidArgs', `“${name}” is a built-in tool and can’t be removed.`);
			const place = /^[a-z][a-z0-9_]*$/.test(name) ? await locate(name) : null;
			if (!place) throw new SkillError('UnknownTool', `No tool “${name.slice(0, 100)}” was defined with define_tool.`);
			const trashed = await toTrash(place.root, place.folder);
			const persistent = place.root === dir;
			undos.push(async () => {
				await rename(trashed, place.folder);
				await refresh(persistent);
			});
			await refresh(persistent);
		},
		async undo() {
			const last = undos.pop();
			await last?.();
			return last !== undefined;
		},
		async close() {
			if (passingDir !== null) await rm(passingDir, { recursive: true, force: true });
			passingDir = null;
			passing = [];
		}
	};
}

/** Longer ones aren't read by the person who approves them. */
const MAX_CODE = 64 * 1024;
const MAX_PARAMETERS = 16 * 1024;

/** What a call of `define_tool` would write, without the state of any folder. @throws SkillError InvalidArgs */
export function planTool(args: CallArguments, isReserved: IsReserved): Omit<ToolPreview, 'before'> {
	const tool = readTool(args);
	if (isReserved(tool.name))
		throw new SkillError('InvalidArgs', `“${tool.name}” is a built-in tool. Choose another name.`);
	const files = toolFiles(tool);
	const [fault] = parseManifest(files['tools.json'] ?? '').issues;
	if (fault) throw new SkillError('InvalidArgs', `“parameters” is wrong: ${fault.field} ${fault.message}`);
	const persistent = args.persistent === 'true' || args.persistent === true;
	return { tool: tool.name, skill: skillNameOf(tool.name), persistent, files };
}

export function nameTaken(skill: string): SkillError {
	return new SkillError('InvalidArgs', `A skill named “${skill}” already exists. Choose another name.`);
}

function readTool(args: CallArguments): NewTool {
	const name = textArgument(args, 'name', 'the name of the new tool');
	const description = textArgument(args, 'description', 'text');
	const code = textArgument(args, 'code', 'the body of the handler');
	if (code.length > MAX_CODE)
		throw new SkillError('InvalidArgs', 'The code is longer than 64 KB. Write a shorter one.');
	const { parameters: given = '{}' } = args;
	const json = typeof given === 'string' ? given || '{}' : JSON.stringify(given);
	if (json.length > MAX_PARAMETERS) throw new SkillError('InvalidArgs', '“parameters” is longer than 16 KB.');
	let parameters: unknown;
	try {
		parameters = JSON.parse(json, (key, value: unknown) => {
			if (key === '__proto__') throw new Error('“__proto__” can’t be a name');
			return value;
		});
	} catch (error) {
		throw new SkillError('InvalidArgs', `“parameters” isn’t valid JSON: ${(error as Error).message}`);
	}
	if (!isObject(parameters)) throw new SkillError('InvalidArgs', '“parameters” must be a JSON object.');
	return { name, description, parameters, code };
}

/** True for a folder made by `define_tool`. */
async function isDefined(folder: string): Promise<boolean> {
	const path = join(folder, 'SKILL.md');
	const text = await readFile(path, 'utf8').catch(() => null);
	if (text === null) return false;
	try {
		return parseSkillFile(text, path).metadata.generator === DEFINE_TOOL;
	} catch {
		// Somebody edited it into something else, so it's theirs now.
		return false;
	}
}

async function readFiles(folder: string, paths: readonly string[]): Promise<SkillFiles | null> {
	const entries = await Promise.all(
		paths.map(async (path) => [path, await readFile(join(folder, path), 'utf8').catch(() => null)] as const)
	);
	const found = entries.filter((entry): entry is readonly [string, string] => entry[1] !== null);
	return found.length === 0 ? null : Object.fromEntries(found);
}

export async function writeFiles(folder: string, files: SkillFiles): Promise<void> {
	for (const [path, text] of Object.entries(files)) {
		await mkdir(dirname(join(folder, path)), { recursive: true });
		await writeFile(join(folder, path), text, { flag: 'wx' });
	}
}

async function toTrash(root: string, folder: string): Promise<string> {
	const trash = join(root, '.trash');
	await mkdir(trash, { recursive: true });
	const place = join(trash, randomUUID());
	await rename(folder, place);
	return place;
}
