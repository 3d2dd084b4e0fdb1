/** The files of skills as resources, which clients read and follow (A33, E15). */
import {
	ProtocolError,
	ProtocolErrorCode,
	ResourceNotFoundError,
	type ListResourcesResult,
	type ListResourceTemplatesResult,
	type ReadResourceResult,
	type Resource
} from '@modelcontextprotocol/server';
import { findSkill } from '../../skills/registry/references.ts';
import type { SkillSnapshot } from '../../skills/registry/registry.ts';
import { SkillError, type Skill } from '../../skills/types.ts';
import { mimeTypeOf } from '../refusals.ts';
import { pageOf, type CallerView } from './definitions.ts';
import { isUtf8 } from 'node:buffer';
import { readUpTo } from '../../foreign-folders.ts';
import { openInside } from '../../safe-path.ts';
import { isLeftOut } from '../../skills/read/files.ts';

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
	const mimeType = mimeTypeOf(path);
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
	const type = mimeTypeOf(named.path);
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
export async function readSkillBytes(dir: string, path: string): Promise<Buffer | null> {
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

export const URI_TEMPLATE = 'skill://{skill}/{+path}';

export function skillUri(skill: string, path: string): string {
	return `skill://${encodeURIComponent(skill)}/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** null if invalid. */
export function parseSkillUri(uri: string): SkillUri | null {
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
export interface ResourceWatch {
	/** Again is the same. @throws ProtocolError if it isn't a file that this client can read, or there are too many */
	subscribe(view: CallerView, uri: string): void;
	unsubscribe(uri: string): void;
	/** The addresses of files in `folders`, and those whose skill is gone, came back or is another one. */
	changed(view: CallerView, folders: ReadonlySet<string>): string[];
}

export function createResourceWatch(): ResourceWatch {
	/** Each with the folder of its skill; null while there is none. */
	const followed = new Map<string, string | null>();
	const skillOf = (view: CallerView, uri: string): Skill | null => {
		const named = parseSkillUri(uri);
		return named && findNamed(view.library, named.skill);
	};
	return {
		subscribe(view, uri) {
			const skill = skillOf(view, uri);
			const path = parseSkillUri(uri)?.path ?? '';
			if (!skill?.files.includes(path)) throw new ResourceNotFoundError(uri);
			if (!followed.has(uri) && followed.size >= MAX_FOLLOWED) {
				const message = `You follow ${MAX_FOLLOWED} resources already. Unsubscribe from one first.`;
				throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
			}
			followed.set(uri, skill.dir);
		},
		unsubscribe: (uri) => void followed.delete(uri),
		changed(view, folders) {
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
