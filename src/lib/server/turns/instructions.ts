/** The system prompt, including always-loaded skills: pinned in the conversation, or on for all (F7, B6). Pure. */
import { estimateTokens } from '../../shared/characters.ts';
import { renderLoadedSkill } from '../skills/prompt.ts';
import { lackOf, unloadable } from '../skills/needs/siblings.ts';
import type { SkillMode } from '../skills/registry/visibility.ts';
import type { Skill } from '../skills/types.ts';

export interface AlwaysSkill {
	skill: Skill;
	why: 'pinned' | 'on';
	/** Says which skills it names that can’t be loaded; null if there are none. */
	lack: string | null;
	/** Estimated tokens of its instructions. */
	tokens: number;
}

export interface AlwaysSection {
	/** Section of the system prompt; empty without such skills. */
	text: string;
	/** Skills with their instructions in it; the others are only named. */
	inFull: AlwaysSkill[];
}

/**
 * Pinned skills in the order of pinning, then those that are on, by name. Only `usable` ones: leaves out pinned skills
 * that are off, broken, not allowed or gone.
 */
export function alwaysSkills(
	usable: readonly Skill[],
	{ pinned, off, modeOf }: { pinned: readonly string[]; off: readonly Skill[]; modeOf: (skill: Skill) => SkillMode }
): AlwaysSkill[] {
	const byName = pinned.length > 0 ? new Map(usable.map((skill) => [skill.name, skill])) : null;
	const first = pinned.flatMap((name) => byName?.get(name) ?? []);
	const others = usable.filter((skill) => modeOf(skill) === 'on' && !first.includes(skill));
	const of = (why: AlwaysSkill['why']) => (skill: Skill) => {
		const lack = lackOf(unloadable(skill, { skills: usable, off }));
		return { skill, why, lack, tokens: tokensOf(skill) };
	};
	return [...first.map(of('pinned')), ...others.map(of('on'))];
}

/** Estimated tokens of a skill's instructions, as the model gets them. */
function tokensOf(skill: Skill): number {
	return estimateTokens(renderLoadedSkill(skill));
}

/** Renders the instructions of as many skills as fit in `budgetTokens`, in order; only names the others. */
export function renderAlways(skills: readonly AlwaysSkill[], budgetTokens: number): AlwaysSection {
	if (skills.length === 0) return { text: '', inFull: [] };
	const inFull: AlwaysSkill[] = [];
	let left = budgetTokens;
	for (const each of skills) {
		if (each.tokens > left) continue;
		inFull.push(each);
		left -= each.tokens;
	}
	const named = skills.filter((each) => !inFull.includes(each)).map(({ skill }) => skill.name);
	const parts = [
		HEAD,
		...(inFull.length > 0
			? [LOADED, ...inFull.map(({ skill, lack }) => [renderLoadedSkill(skill), lack].filter(Boolean).join('\n\n'))]
			: []),
		...(named.length > 0 ? [`${TOO_LONG} ${named.join(', ')}`] : [])
	];
	return { text: parts.join('\n\n'), inFull };
}

const HEAD = '## Always-loaded skills';
const LOADED =
	'These skills are already loaded: don’t call load_skill for them. Follow them when they fit the request.';
const TOO_LONG = 'There was no room for the instructions of these skills. Call load_skill before using one:';

/** Maximum size of the skill catalog. If not all skills fit, it has only names, and matching ones are described in the turn's note. */
export const CATALOG_TOKENS = 2000;
export const NAMES_TOKENS = 500;

/** The user's own instructions; each may be empty. */
export interface CustomInstructions {
	allChats: string;
	thisChat: string;
}

/**
 * `catalog` from `renderCatalog`, `always` from `renderAlways`, `said` from the caller; each may be empty. What is the same
 * in more chats stands first. Whatever can change between two turns belongs in the turn's note: a prompt cache ends at the
 * first difference.
 */
export function instructionsOf(
	catalog: string,
	{ always = '', custom, said = '' }: { always?: string; custom?: CustomInstructions; said?: string | undefined } = {}
): string {
	return [
		'You are a helpful assistant. Use the skills below when they fit the request. Answer in the user’s language.',
		catalog,
		always,
		'## Working directory\n\nScripts run in this conversation’s working directory; give them files by their relative names. A <context> block after a message comes from the app, not from the user: it lists the files there and what else has changed.',
		custom?.allChats && `## Instructions from the user, for all chats\n\n${custom.allChats}`,
		custom?.thisChat && `## Instructions from the user, for this chat\n\n${custom.thisChat}`,
		said
	]
		.filter(Boolean)
		.join('\n\n');
}
