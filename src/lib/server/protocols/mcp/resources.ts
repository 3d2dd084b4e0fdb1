/** The files of skills as resources (FEATURES E15). */
import {
	ProtocolError,
	ProtocolErrorCode,
	ResourceNotFoundError,
	type ListResourcesResult,
	type ListResourceTemplatesResult,
	type ReadResourceResult,
	type Resource
} from '@modelcontextprotocol/server';
import { AppError } from '../../../shared/errors.ts';
import { findSkill } from '../../skills/registry/references.ts';
import { SkillError, type Skill } from '../../skills/types.ts';
import { mimeTypeOf } from '../refusals.ts';
import { pageOf } from './paging.ts';
import { parseSkillUri, skillUri, URI_TEMPLATE } from './skill-uri.ts';
import { isText, MAX_FILE_BYTES, readSkillBytes } from './skill-bytes.ts';
import type { CallerView } from './definitions.ts';

const PAGE = 100;

interface SkillFile {
	skill: Skill;
	path: string;
}

/** Of the skills that are not switched off: first SKILL.md, then the others by name. */
export function listResources({ library }: CallerView, cursor: string | undefined): ListResourcesResult {
	const files = library.skills.flatMap((skill) => {
		const others = skill.files.filter((path) => path !== 'SKILL.md');
		return ['SKILL.md', ...others].map((path): SkillFile => ({ skill, path }));
	});
	const { page, ...more } = pageOf(files, keyOf, { cursor, size: PAGE });
	return { resources: page.map(describe), ...more };
}

/** In the order of the list. */
function keyOf({ skill, path }: SkillFile): string {
	return `${skill.name}\n${path === 'SKILL.md' ? '0' : '1'}${path}`;
}

function describe({ skill, path }: SkillFile): Resource {
	const isMain = path === 'SKILL.md';
	const mimeType = mimeTypeOf(path);
	return {
		uri: skillUri(skill.name, path),
		name: `${skill.name}/${path}`,
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
				description: 'A file of a skill by its path from the skill’s folder; SKILL.md has the instructions.'
			}
		]
	};
}

/** @throws ProtocolError that says what is wrong with the address, or that nothing is there */
export async function readResource({ library }: CallerView, uri: string): Promise<ReadResourceResult> {
	const named = parseSkillUri(uri);
	const skill = named && findNamed(library, named.skill);
	if (!skill) throw new ResourceNotFoundError(uri);
	const bytes = await readSkillBytes(skill.dir, named.path).catch((error: unknown) => {
		// A folder that is gone, a link, a hidden file: for the client there is nothing.
		if (error instanceof AppError || error instanceof Error) throw new ResourceNotFoundError(uri);
		throw error;
	});
	if (bytes === null) {
		throw new ProtocolError(
			ProtocolErrorCode.InvalidParams,
			`This file is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB. Read it in pieces with read_skill_file.`
		);
	}
	const type = mimeTypeOf(named.path);
	return isText(bytes)
		? { contents: [{ uri, mimeType: type ?? 'text/plain', text: bytes.toString('utf8') }] }
		: { contents: [{ uri, mimeType: type ?? 'application/octet-stream', blob: bytes.toString('base64') }] };
}

/** A range that is none names nothing. */
export function findNamed(library: CallerView['library'], name: string): Skill | null {
	try {
		return findSkill(library, name) ?? null;
	} catch (error) {
		if (error instanceof SkillError) return null;
		throw error;
	}
}
