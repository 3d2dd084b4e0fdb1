/** Whose a skill is, as a label that tells nothing of an API key (FEATURES A41, E18). */
import { hash } from 'node:crypto';

/** Owner of the skills that everybody sees. */
export const SYSTEM = 'system';

/** The owner of a key's skills, and the name of the folder they lie in; undefined for the system's. */
export function ownerOf(apiKeyId: string | undefined): string | undefined {
	return apiKeyId === undefined || apiKeyId === SYSTEM ? undefined : `key.${hash('sha256', apiKeyId).slice(0, 24)}`;
}
