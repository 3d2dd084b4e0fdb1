/** What clients read of skills: files as resources, which they can follow, prompts, and the extension for skills (A33, E15). */
import {
	ProtocolError,
	ProtocolErrorCode,
	ResourceNotFoundError,
	type ListResourcesResult,
	type ListResourceTemplatesResult,
	type ReadResourceResult,
	type Resource,
	type CompleteRequest,
	type CompleteResult,
	type GetPromptResult,
	type ListPromptsResult,
	type Server,
	type ServerContext
} from '@modelcontextprotocol/server';
import { findSkill } from '../../skills/registry/references.ts';
import type { SkillSnapshot } from '../../skills/registry/registry.ts';
import { SkillError, type Skill } from '../../skills/types.ts';
import { mediaTypeOf } from '../../conversations/file-headers.ts';
import { pageOf, type CallerView } from './definitions.ts';
import { isUtf8 } from 'node:buffer';
import { readUpTo } from '../../foreign-folders.ts';
import { openInside } from '../../safe-path.ts';
import { isLeftOut } from '../../skills/read/files.ts';
import { lackOf, unloadable } from '../../skills/needs/siblings.ts';
import { renderLoadedSkill } from '../../skills/prompt.ts';
import { type Skill as SkillEntry, skillEntry } from '@modelcontextprotocol/server/ext/skills';
import { z } from 'zod';
import { MAX_SKILL_NAME, SKILL_NAME } from '../../../shared/names.ts';

const PAGE = 100;

interface SkillFile {
	skill: Skill;
	path: string;
}

/** Files of the enabled skills: per skill first SKILL.md, then the others by name. */
export function listResources({ library }: CallerView, cursor: string | undefined): ListResourcesResult {
	const files = library.skills.flatMap((skill) => {
		const others = skill.files.filter((path) => path !== 'SKILL.md');
		return ['SKILL.md', ...others].map((path): SkillFile => ({ skill, path }));
	});
	const { page, ...more } = pageOf(files, keyOf, { cursor, size: PAGE });
	return { resources: page.map(describe), ...more };
}

/** Sorts like the list. */
function keyOf({ skill, path }: SkillFile): string {
	return `${skill.name}\n${path === 'SKILL.md' ? '0' : '1'}${path}`;
}

function describe({ skill, path }: SkillFile): Resource {
	const isMain = path === 'SKILL.md';
	const mimeType = mediaTypeOf(path);
	return {
		uri: skillUri(skill.name, path),
		// The extension for skills wants the skill's name here.
		name: isMain ? skill.name : `${skill.name}/${path}`,
		...(isMain ? { title: skill.name, description: skill.description } : {}),
		mimeType: mimeType ?? undefined,
		annotations: { audience: ['assistant'], priority: isMain ? 0.9 : 0.3 }
	};
}

export function listTemplates(): ListResourceTemplatesResult {
	return {
		resourceTemplates: [
			{
				uriTemplate: URI_TEMPLATE,
				name: 'skill-file',
				title: 'File of a skill',
				description: 'A file of a skill, by its path in the skill’s folder. SKILL.md has the instructions.'
			}
		]
	};
}

/** @throws ProtocolError */
export async function readResource({ library }: CallerView, uri: string): Promise<ReadResourceResult> {
	const named = parseSkillUri(uri);
	const skill = named && findNamed(library, named.skill);
	if (!skill) throw new ResourceNotFoundError(uri);
	const bytes = await readSkillBytes(skill.dir, named.path).catch((error: unknown) => {
		// A missing folder, a link, a hidden file: not found, for the client.
		if (error instanceof Error) throw new ResourceNotFoundError(uri);
		throw error;
	});
	if (bytes === null) {
		throw new ProtocolError(
			ProtocolErrorCode.InvalidParams,
			`This file is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB. Read it in parts with read_skill_file.`
		);
	}
	const type = mediaTypeOf(named.path);
	return !bytes.includes(0) && isUtf8(bytes)
		? { contents: [{ uri, mimeType: type ?? 'text/plain', text: bytes.toString('utf8') }] }
		: { contents: [{ uri, mimeType: type ?? 'application/octet-stream', blob: bytes.toString('base64') }] };
}

/** null for an unknown skill or an invalid version range. */
export function findNamed(library: CallerView['library'], name: string): Skill | null {
	try {
		return findSkill(library, name) ?? null;
	} catch (error) {
		if (error instanceof SkillError) return null;
		throw error;
	}
}

/** Clients can't handle larger messages; a larger file is read in parts, with `read_skill_file`. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/**
 * Reads a file of a skill. Follows no links and reads nothing that listings hide (C6, C9).
 * @returns null for a file that is too large @throws AppError not_found | invalid_input
 */
async function readSkillBytes(dir: string, path: string): Promise<Buffer | null> {
	if (path.split('/').some(isLeftOut)) throw new Error('hidden files aren’t part of a skill');
	const { file, bytes } = await openInside(dir, path);
	try {
		return bytes > MAX_FILE_BYTES ? null : await readUpTo(file, bytes);
	} finally {
		await file.close();
	}
}

/** `skill://name/path` (E15). */
export interface SkillUri {
	/** `name`, `source/name` or `name@range`. */
	skill: string;
	/** Relative to the skill’s folder, with `/`. */
	path: string;
}

const URI_TEMPLATE = 'skill://{skill}/{+path}';

function skillUri(skill: string, path: string): string {
	return `skill://${encodeURIComponent(skill)}/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** null if invalid. */
function parseSkillUri(uri: string): SkillUri | null {
	const [, skill, path] = /^skill:\/\/([^/?#]{1,600})\/([^?#]{1,3000})$/.exec(uri) ?? [];
	if (skill === undefined || path === undefined) return null;
	try {
		return { skill: decodeURIComponent(skill), path: path.split('/').map(decodeURIComponent).join('/') };
	} catch (error) {
		if (error instanceof URIError) return null;
		throw error;
	}
}

// Which files clients follow, and which of them may have changed (A33, E15).

/** Files that one client follows. */
export const MAX_FOLLOWED = 100;

/** For one client of 2025-11-25. Clients of 2026-07-28 have `subscriptions/listen`, which the SDK keeps. */
export function createResourceWatch() {
	/** Each with the folder of its skill; null while there is none. */
	const followed = new Map<string, string | null>();
	const skillOf = (view: CallerView, uri: string): Skill | null => {
		const named = parseSkillUri(uri);
		return named && findNamed(view.library, named.skill);
	};
	return {
		/** Again is the same. @throws ProtocolError if it isn't a file that this client can read, or there are too many */
		subscribe(view: CallerView, uri: string): void {
			const skill = skillOf(view, uri);
			const path = parseSkillUri(uri)?.path ?? '';
			if (!skill?.files.includes(path)) throw new ResourceNotFoundError(uri);
			if (!followed.has(uri) && followed.size >= MAX_FOLLOWED) {
				const message = `You follow ${MAX_FOLLOWED} resources already. Unsubscribe from one first.`;
				throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
			}
			followed.set(uri, skill.dir);
		},
		unsubscribe: (uri: string): void => void followed.delete(uri),
		/** The addresses of files in `folders`, and those whose skill is gone, came back or is another one. */
		changed(view: CallerView, folders: ReadonlySet<string>): string[] {
			const uris: string[] = [];
			for (const [uri, before] of followed) {
				const folder = skillOf(view, uri)?.dir ?? null;
				if (folder === before && (folder === null || !folders.has(folder))) continue;
				followed.set(uri, folder);
				uris.push(uri);
			}
			return uris;
		}
	};
}

/**
 * Addresses of the files of all skills in these folders, as they are and as they were. Those that only some callers see are
 * left out, because everybody who listens would learn of them.
 */
export function filesIn(folders: ReadonlySet<string>, ...snapshots: readonly SkillSnapshot[]): string[] {
	const skills = snapshots.flatMap((snapshot) => snapshot.skills);
	const open = skills.filter(({ owner, dir }) => owner === undefined && folders.has(dir));
	return [...new Set(open.flatMap(({ name, files }) => files.map((path) => skillUri(name, path))))];
}

// Skills as prompts, which a person picks from a menu, and what completes as that person types (E15).

const PROMPTS_PAGE = 100;

export function listPrompts({ library }: CallerView, cursor: string | undefined): ListPromptsResult {
	const { page, ...more } = pageOf(library.skills, ({ name }) => name, { cursor, size: PROMPTS_PAGE });
	const prompts = page.map(({ name, description }) => ({
		name,
		description,
		arguments: [{ name: 'arguments', description: 'What to do with the skill, in your own words.', required: false }]
	}));
	return { prompts, ...more };
}

/** The instructions as `load_skill` returns them; runs nothing. @throws ProtocolError if the skill isn't found */
export function getPrompt(
	{ library, off }: CallerView,
	name: string,
	args: Record<string, string> = {}
): GetPromptResult {
	const skill = findNamed(library, name);
	if (!skill) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Skill not found: “${name.slice(0, 100)}”.`);
	const task = args.arguments?.trim() ?? '';
	const lack = lackOf(unloadable(skill, { skills: library.skills, off }));
	const text = [renderLoadedSkill(skill), lack, task].filter(Boolean).join('\n\n');
	return { description: skill.description, messages: [{ role: 'user', content: { type: 'text', text } }] };
}

/** The protocol's limit. */
const MAX_VALUES = 100;
/** Longer texts aren't completed. */
const MAX_TYPED = 2000;

/** Completes fields of prompts and of resource templates: nothing for what isn't known. Names that begin like it come first, then paths of which only the last part does. */
export function complete(
	{ library }: CallerView,
	{ ref, argument: { name, value }, context }: CompleteRequest['params']
): CompleteResult {
	if (value.length > MAX_TYPED) return toResult([]);
	if (ref.type === 'ref/prompt') {
		const skill = findNamed(library, ref.name);
		return toResult(skill && name === 'arguments' ? completeTask(skill, value) : []);
	}
	if (ref.uri !== URI_TEMPLATE) return toResult([]);
	if (name === 'skill')
		return toResult(
			beginning(
				library.skills.map((skill) => skill.name),
				value
			)
		);
	const skill = name === 'path' ? findNamed(library, context?.arguments?.skill ?? '') : null;
	return toResult(skill ? pathsLike(skill.files, value) : []);
}

/** The skill's example and trigger phrases; in a longer text, its last word as a script or another file. */
function completeTask({ example, triggers, scripts, files }: Skill, value: string): string[] {
	const phrases = beginning([...(example === undefined ? [] : [example]), ...triggers], value.trimStart());
	const [word = ''] = /\S*$/.exec(value) ?? [];
	const before = value.slice(0, value.length - word.length);
	const paths = word === '' ? [] : pathsLike([...new Set([...scripts, ...files])], word);
	return [...phrases, ...paths.map((path) => before + path)];
}

function pathsLike(paths: readonly string[], value: string): string[] {
	const whole = beginning(paths, value);
	const last = paths.filter(
		(path) => !whole.includes(path) && startsLike(path.slice(path.lastIndexOf('/') + 1), value)
	);
	return [...whole, ...last];
}

function beginning(values: readonly string[], value: string): string[] {
	return values.filter((each) => startsLike(each, value));
}

function startsLike(text: string, value: string): boolean {
	return text.toLowerCase().startsWith(value.toLowerCase());
}

function toResult(values: readonly string[]): CompleteResult {
	const shown = values.slice(0, MAX_VALUES);
	return { completion: { values: shown, total: values.length, hasMore: values.length > shown.length } };
}

// `skills/list` and `skills/get`: the extension io.modelcontextprotocol/skills (E15).

export const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills';

/** `isModern`: adds cache hints to results, as 2026-07-28 requires. */
export function serveSkills(
	server: Server,
	viewOfReader: (handled: ServerContext) => CallerView,
	isModern: boolean
): void {
	const cacheHints = isModern ? { ttlMs: 0, cacheScope: 'private' as const } : {};
	server.setRequestHandler(
		'skills/list',
		{ params: z.looseObject({ cursor: z.string().optional() }).optional() },
		async (params, handled) => ({ ...(await listSkillEntries(viewOfReader(handled), params?.cursor)), ...cacheHints })
	);
	server.setRequestHandler('skills/get', { params: z.looseObject({ uri: z.string() }) }, async ({ uri }, handled) => ({
		...(await getSkillEntry(viewOfReader(handled), uri)),
		...cacheHints
	}));
}

/** Small, because each entry has the digest of every file, so listing a page reads them all. */
const SKILLS_PAGE = 20;
/** The files of a larger skill aren't listed. */
const MAX_BYTES = 16 * 1024 * 1024;

async function listSkillEntries(
	{ library }: CallerView,
	cursor: string | undefined
): Promise<{ skills: SkillEntry[]; nextCursor?: string }> {
	// The extension allows no other names. Such skills are tools, resources and prompts all the same.
	const named = library.skills.filter(({ name }) => name.length <= MAX_SKILL_NAME && SKILL_NAME.test(name));
	const { page, ...more } = pageOf(named, ({ name }) => name, { cursor, size: SKILLS_PAGE });
	const skills: SkillEntry[] = [];
	for (const skill of page) skills.push(await entryOf(skill));
	return { skills, ...more };
}

/** @throws ProtocolError if the skill isn't found */
async function getSkillEntry({ library }: CallerView, uri: string): Promise<{ skill: SkillEntry }> {
	const named = parseSkillUri(uri);
	const skill = named?.path === 'SKILL.md' ? findNamed(library, named.skill) : null;
	if (!skill) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Skill not found: ${uri.slice(0, 200)}.`);
	return { skill: await entryOf(skill) };
}

/** Lists the skill's files, or `dynamic` if the standard’s rules or our limits don't allow it. */
async function entryOf(skill: Skill): Promise<SkillEntry> {
	const { name, description } = skill;
	const dynamic = {
		uri: skillUri(name, 'SKILL.md'),
		frontmatter: { name, description },
		resources: 'dynamic' as const
	};
	// A partial list would look complete.
	if (skill.hasMoreFiles) return dynamic;
	try {
		const files: Record<string, Uint8Array> = {};
		let total = 0;
		for (const path of skill.files) {
			const bytes = await readSkillBytes(skill.dir, path);
			if (bytes === null || (total += bytes.length) > MAX_BYTES) return dynamic;
			files[path] = bytes;
		}
		return await skillEntry(name, files);
	} catch {
		// A folder that breaks the standard's rules, or changes at this moment.
		return dynamic;
	}
}
