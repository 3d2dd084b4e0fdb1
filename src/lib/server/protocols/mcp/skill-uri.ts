/** `skill://name/path`: how a file of a skill is named (FEATURES E15); pure. */

export interface SkillUri {
	/** A name, `source/name` or `name@range`. */
	skill: string;
	/** From the skill’s folder, with `/`. */
	path: string;
}

export const URI_TEMPLATE = 'skill://{skill}/{+path}';

export function skillUri(skill: string, path: string): string {
	return `skill://${encodeURIComponent(skill)}/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** null for what is no such address. */
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
