/** Finds the skills that a skill names, in `metadata.requires` or in its text, and whether they are there; pure (F3). */
import type { Skill } from '../types.ts';
import type { Need } from './needs.ts';
import { entriesIn, requirements } from './variables.ts';

type NamingSkill = Pick<Skill, 'name' | 'metadata' | 'extra' | 'body'>;

export interface Sibling extends Need {
	/** `beside`: not in the library, but in the same download. */
	state: 'on' | 'off' | 'beside' | 'missing';
}

export interface Surroundings {
	/** Skills that can be used. */
	skills: readonly Pick<Skill, 'name'>[];
	/** Skills that are turned off. */
	off: readonly Pick<Skill, 'name'>[];
	/** Names of the skills in the same download. */
	beside?: readonly string[];
}

const MAX_SIBLINGS = 64;
const MAX_CHARACTERS = 128 * 1024;
const NAME = '[a-z0-9]+(?:-[a-z0-9]+)*';
const WHOLE_NAME = new RegExp(`^${NAME}$`);
/** What texts about skills call a skill that doesn't exist. */
const PLACEHOLDER = /^(my|your|new|other|another|some|example|sample|demo|test|the|this|that)-|^skill-name$|-name$/;

/** Declared ones first, as declared; at most 64. Follows none of them, so a circle is no danger. */
export function siblingsOf(skill: NamingSkill, { skills, off, beside = [] }: Surroundings): Sibling[] {
	const states = new Map<string, Sibling['state']>();
	for (const name of beside) states.set(name, 'beside');
	for (const { name } of off) states.set(name, 'off');
	for (const { name } of skills) states.set(name, 'on');
	return namedSkills(skill, (name) => states.has(name)).map((need) => ({
		...need,
		state: states.get(need.name) ?? 'missing'
	}));
}

/** Those that a model can’t load, because they are off or not there. */
export function unloadable(
	skill: NamingSkill,
	surroundings: Surroundings
): { name: string; state: 'off' | 'missing' }[] {
	return siblingsOf(skill, surroundings).flatMap(({ name, state }) =>
		state === 'on' ? [] : [{ name, state: state === 'off' ? state : 'missing' }]
	);
}

/** The sentence for a model that loads the skill; null if nothing is missing. */
export function lackOf(siblings: readonly Pick<Sibling, 'name' | 'state'>[]): string | null {
	if (siblings.length === 0) return null;
	const shown = siblings.slice(0, 8).map(({ name, state }) => `${name} (${state === 'off' ? 'off' : 'not installed'})`);
	const more = siblings.length > shown.length ? ` and ${siblings.length - shown.length} more` : '';
	return `[This skill names skills that can’t be loaded now: ${shown.join(', ')}${more}.]`;
}

function namedSkills(skill: NamingSkill, isKnown: (name: string) => boolean): Need[] {
	const found = new Map<string, Need>();
	const add = (name: string, from: string, isDeclared: boolean) => {
		if (name === skill.name || name.length > 64 || !WHOLE_NAME.test(name)) return;
		const need = found.get(name) ?? { name, isDeclared, from: [] };
		if (!found.has(name) && found.size >= MAX_SIBLINGS) return;
		found.set(name, need);
		if (!need.from.includes(from)) need.from.push(from);
	};
	for (const name of declaredSkills(skill)) add(name, 'metadata.requires', true);
	for (const name of skillsInText(skill.body.slice(0, MAX_CHARACTERS), isKnown)) add(name, 'SKILL.md', false);
	return [...found.values()];
}

/** `metadata.requires` as a text or a list, and `requires.skills`; as a map it names programs and variables. */
function declaredSkills({ metadata, extra }: NamingSkill): string[] {
	const own = extra['metadata.requires'];
	return [metadata.requires, ...(Array.isArray(own) ? [own] : []), ...requirements({ metadata, extra }, 'skills')]
		.flatMap(entriesIn)
		.flatMap(({ name, isOptional }) => (isOptional ? [] : [name]));
}

/** A plugin's prefix, as in `superpowers:writing-plans`, isn't part of the name. */
const CODE = `(?:\`|\\*\\*|["“])(?:[a-z0-9-]{1,64}:)?(${NAME})(?:\`|\\*\\*|["”])`;
/** Each with whether it means a skill even if nobody knows one of this name. */
const MENTIONS: readonly [pattern: RegExp, isClear: boolean][] = [
	// ../pdf-tools/SKILL.md, ../pdf-tools/scripts/fill.py
	[new RegExp(`(?<![\\w./-])\\.\\./(${NAME})/(?:SKILL\\.md\\b|(?:scripts|references|assets)/)`, 'g'), true],
	[new RegExp(`(?<![\\w./-])\\.\\./(${NAME})/`, 'g'), false],
	// the `pdf-tools` skill; skill: `pdf-tools`; use the skill `pdf-tools`
	[new RegExp(`\\bthe ${CODE} skills?\\b`, 'gi'), true],
	[new RegExp(`${CODE} skills?\\b`, 'gi'), false],
	[new RegExp(`\\bskill:? ${CODE}`, 'gi'), false],
	[new RegExp(`\\b(?:use|load|invoke|run)_skill\\(\\s{0,8}["'\`](${NAME})["'\`]`, 'g'), true],
	// Use skill: pdf-tools; REQUIRED SUB-SKILL: Use superpowers:writing-plans
	[
		new RegExp(
			`\\b(?:use|load|invoke|sub-|required )skill:(?:\\*\\*)? {0,2}(?:use |load )?(?:[a-z0-9-]{1,64}:)?\`?(${NAME})(?![\\w-])`,
			'gi'
		),
		true
	],
	[new RegExp(`\\b(?:use|load|invoke) skill:? \`?(${NAME})(?![\\w-])`, 'gi'), true],
	// the pdf-tools skill
	[new RegExp(`\\bthe (${NAME}) skill\\b`, 'g'), false]
];
/** Code is no proof for one word: `pdf` may be a format. */
const CODE_ALONE = /`([a-z0-9]+(?:-[a-z0-9]+)+)`/g;

/** Words that nobody knows count only with a hyphen and in a clear place, so that ordinary English names no skill. */
function* skillsInText(text: string, isKnown: (name: string) => boolean): Generator<string> {
	for (const [pattern, isClear] of [...MENTIONS, [CODE_ALONE, false] as const]) {
		for (const [, mentioned = ''] of text.matchAll(pattern)) {
			const name = mentioned.toLowerCase();
			if (isKnown(name)) yield name;
			else if (isClear && name.includes('-') && !PLACEHOLDER.test(name)) yield name;
		}
	}
}
