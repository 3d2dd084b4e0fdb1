/** What a message names, or would be fit for, and that can’t be used: skills that are off, broken or in the Trash, and none. */
import type { FunctionTool } from '../agent/model.ts';
import { createSkillIndex } from '../skills/find/skill-index.ts';
import { similarNames, unknownIn } from '../skills/registry/references.ts';
import type { UnusableSkill, viewOf } from '../skills/registry/visibility.ts';
import type { Skill } from '../skills/types.ts';

/** A skill is named in the first characters of a message; each one that can’t be used is looked for in them. */
const MAX_NAMING = 5_000;
/** So many broken skills are looked through for those that fit. */
const MAX_BROKEN = 100;
const MAX_SHELVED = 3;

/**
 * `unusable`: what the message names or is pinned, also names that no skill has; `shelved`: others that may fit it. `fitting`:
 * skills that fit, best first.
 */
export function unusableFor(
	message: string,
	{ library: { skills } }: ReturnType<typeof viewOf>,
	{ all, pinned, fitting, tools }: Asked
): Record<'unusable' | 'shelved', UnusableSkill[]> {
	const text = message.slice(0, MAX_NAMING);
	const named = all.filter(({ name }) => pinned.includes(name) || isNamedIn(text, name));
	const others = new Map(all.flatMap((each) => (named.includes(each) ? [] : [[each.name, each]])));
	const broken = [...others.values()].filter(({ why }) => why.startsWith('broken')).slice(0, MAX_BROKEN);
	const found = createSkillIndex(broken).rank(message, MAX_SHELVED);
	const off = fitting.flatMap(({ name }) => others.get(name) ?? []).slice(0, MAX_SHELVED);
	const names = [...skills, ...all].map(({ name }) => name);
	const texts = () => [
		...skills.map(({ name, description, body }) => `${name} ${description} ${body}`),
		...tools.map(({ name, description }) => `${name.replaceAll('_', ' ')} ${description}`)
	];
	const unknown = unknownIn(text, names, texts).map((name) => {
		const similar = similarNames(names, name).join(', ');
		return { name, description: '', why: `not among your skills${similar && `. Similar: ${similar}`}` };
	});
	return { unusable: [...named, ...unknown], shelved: [...new Set([...off, ...found.map(({ skill }) => skill)])] };
}

interface Asked {
	all: readonly UnusableSkill[];
	pinned: readonly string[];
	fitting: readonly Skill[];
	tools: readonly FunctionTool[];
}

/** With blanks for its hyphens, too. A name of one word is a word as any other: quoted, or after “use”, it’s the skill’s. */
function isNamedIn(text: string, name: string): boolean {
	const words = name.replace(/[^\w-]/g, '\\$&').replaceAll('-', '[- ]');
	const whole = name.includes('-') ? words : `(?:use |["“\`/])${words}`;
	return new RegExp(`(?<![\\w-])${whole}(?![\\w-])`, 'i').test(text);
}
