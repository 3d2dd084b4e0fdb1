/** Skills as prompts: what a person picks from a menu (FEATURES E15). */
import {
	ProtocolError,
	ProtocolErrorCode,
	type GetPromptResult,
	type ListPromptsResult
} from '@modelcontextprotocol/server';
import { renderLoadedSkill } from '../../skills/prompt.ts';
import { pageOf } from './paging.ts';
import { findNamed } from './resources.ts';
import type { CallerView } from './view.ts';

const PAGE = 100;

export function listPrompts({ library }: CallerView, cursor: string | undefined): ListPromptsResult {
	const { page, ...more } = pageOf(library.skills, ({ name }) => name, { cursor, size: PAGE });
	const prompts = page.map(({ name, description }) => ({
		name,
		description,
		arguments: [{ name: 'arguments', description: 'What to do with the skill, in your words.', required: false }]
	}));
	return { prompts, ...more };
}

/** The instructions as `load_skill` gives them; nothing is run for it. @throws ProtocolError for a skill that is not there */
export function getPrompt({ library }: CallerView, name: string, args: Record<string, string> = {}): GetPromptResult {
	const skill = findNamed(library, name);
	if (!skill) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no skill “${name.slice(0, 100)}”.`);
	}
	const task = args.arguments?.trim() ?? '';
	const text = `${renderLoadedSkill(skill)}${task === '' ? '' : `\n\n${task}`}`;
	return { description: skill.description, messages: [{ role: 'user', content: { type: 'text', text } }] };
}
