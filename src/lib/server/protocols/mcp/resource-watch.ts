/** Which files of skills clients follow, and which of them may have changed (A33, E15). */
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import type { SkillSnapshot } from '../../skills/registry/registry.ts';
import type { Skill } from '../../skills/types.ts';
import type { CallerView } from './definitions.ts';
import { findNamed, parseSkillUri, skillUri } from './resources.ts';

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
