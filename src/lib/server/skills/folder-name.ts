/** What the name of a skill's folder says: `weather@1.2.0` is a `weather` of that version (FEATURES A6, A38); pure. */
import { basename } from 'node:path';
import { valid } from 'semver';

/** Only an exact version is one: `mail@home` is a name, though not one that a skill may have. */
export function readFolderName(dir: string): { name: string; version?: string } {
	const folder = basename(dir);
	const at = folder.lastIndexOf('@');
	const version = at > 0 ? valid(folder.slice(at + 1)) : null;
	return version === null ? { name: folder } : { name: folder.slice(0, at), version };
}
