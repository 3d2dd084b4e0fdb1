/** Which files of a workspace the built-in skills may touch, and where an API key's workspace is (FEATURES D27, E18). */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { safeSegments } from '../safe-path.ts';
import { SkillError } from '../skills/types.ts';

const FORBIDDEN: ReadonlySet<string> = new Set(['.env', '.git', '.ssh', '.omniroute', '.codex', 'secrets']);

/** A relative path of a workspace, as it came. @throws SkillError InvalidArgs that says why it is refused */
export function checkWorkspacePath(path: string): string {
	try {
		const forbidden = safeSegments(path).find((segment) => FORBIDDEN.has(plain(segment)));
		if (forbidden === undefined) return path;
		throw new SkillError('InvalidArgs', `“${forbidden}” may not be a part of the path.`, 'Choose another name.');
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		const hint = 'Paths are relative to the working directory, with “/”, and without “..”.';
		throw new SkillError('InvalidArgs', error.message, hint);
	}
}

/** As a file system may read it that ignores case, invisible characters, and dots and spaces at the end. */
function plain(segment: string): string {
	const visible = segment.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
	return visible
		.toLowerCase()
		.replace(/:.*$/, '')
		.replace(/[. ]+$/, '');
}

/**
 * The folder of an API key, of which the name tells nothing; who has none gets one a session (E18). Beside those of
 * conversations, none of whose ids has a full stop in it; not in `skills/`, where what a script writes would be a skill.
 */
export function workspaceOf(dataDir: string, owner: { apiKeyId: string } | { sessionId: string }): string {
	const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 24);
	const name = 'apiKeyId' in owner ? `key.${digest(owner.apiKeyId)}` : `session.${digest(owner.sessionId)}`;
	return join(dataDir, 'workspaces', name);
}
