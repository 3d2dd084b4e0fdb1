/** What names of skills and of their files may be; without a schema, so that a page can tell while somebody types. */

/** Of one file that is written; longer ones are no text that anybody edits. */
export const MAX_SKILL_FILE_BYTES = 2 * 1024 * 1024;

/** What the standard allows as a name, in full. */
export const SKILL_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const MAX_SKILL_NAME = 64;
export const MAX_SKILL_DESCRIPTION = 1024;

/** One part of a path means the same on every system: no dots alone, no characters that one of them refuses. */
const PART = '(?!\\.{1,2}(?:/|$))[^/\\\\<>:"|?*\\u0000-\\u001f\\u007f]*[^/\\\\<>:"|?*\\u0000-\\u001f\\u007f. ]';
export const SKILL_FILE_PATH = new RegExp(`^${PART}(?:/${PART}){0,7}$`);
export const MAX_SKILL_FILE_PATH = 512;

/** A SKILL.md alone; with a program that it runs; with a tool that the model calls. */
export const SKILL_TEMPLATES = ['instructions', 'script', 'tools'] as const;
export type SkillTemplate = (typeof SKILL_TEMPLATES)[number];

/** Words of the addresses below `/api/skills` and `/skills`, and dots that an address swallows: a test compares them with the routes. */
const ADDRESS_WORDS = new Set([
	...['.', '..', 'cases', 'check', 'diagnostics', 'edit', 'evals', 'events', 'executions', 'export', 'file', 'install'],
	...[
		'marketplace',
		'new',
		'outdated',
		'reload',
		'rollback',
		'run',
		'score',
		'scores',
		'secrets',
		'skillssh',
		'staged'
	],
	...['trash', 'update', 'updates', 'versions']
]);

/**
 * The id of a skill, such that an address made of it leads to the skill and nowhere else: `~` stands before each part that
 * is a word of addresses. What is one already stays as it is.
 */
export function toSkillId(id: string): string {
	return id
		.split('/')
		.map((part) => (ADDRESS_WORDS.has(part) ? `~${part}` : part))
		.join('/');
}

/** What was given as an id, without the signs that `toSkillId` adds. */
export function fromSkillId(id: string): string {
	const plain = (part: string) => (part.startsWith('~') && ADDRESS_WORDS.has(part.slice(1)) ? part.slice(1) : part);
	return id.split('/').map(plain).join('/');
}
