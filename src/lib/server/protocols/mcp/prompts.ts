/** Skills as prompts, which a person picks from a menu, and what completes as that person types (E15). */
import {
	type CompleteRequest,
	type CompleteResult,
	type GetPromptResult,
	type ListPromptsResult,
	ProtocolError,
	ProtocolErrorCode
} from '@modelcontextprotocol/server';
import { lackOf, unloadable } from '../../skills/needs/siblings.ts';
import { renderLoadedSkill } from '../../skills/prompt.ts';
import type { Skill } from '../../skills/types.ts';
import { type CallerView, pageOf } from './definitions.ts';
import { findNamed, URI_TEMPLATE } from './resources.ts';

const PROMPTS_PAGE = 100;

export function listPrompts({ library }: CallerView, cursor: string | undefined): ListPromptsResult {
	const { page, ...more } = pageOf(library.skills, ({ name }) => name, { cursor, size: PROMPTS_PAGE });
	const prompts = page.map(({ name, description }) => ({
		name,
		description,
		arguments: [{ name: 'arguments', description: 'What to do with the skill, in your own words.', required: false }]
	}));
	return { prompts, ...more };
}

/** The instructions as `load_skill` returns them; runs nothing. @throws ProtocolError if the skill isn't found */
export function getPrompt(
	{ library, off }: CallerView,
	name: string,
	args: Record<string, string> = {}
): GetPromptResult {
	const skill = findNamed(library, name);
	if (!skill) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Skill not found: “${name.slice(0, 100)}”.`);
	const task = args.arguments?.trim() ?? '';
	const lack = lackOf(unloadable(skill, { skills: library.skills, off }));
	const text = [renderLoadedSkill(skill), lack, task].filter(Boolean).join('\n\n');
	return { description: skill.description, messages: [{ role: 'user', content: { type: 'text', text } }] };
}

/** The protocol's limit. */
const MAX_VALUES = 100;
/** Longer texts aren't completed. */
const MAX_TYPED = 2000;

/** Completes fields of prompts and of resource templates: nothing for what isn't known. Names that begin like it come first, then paths of which only the last part does. */
export function complete(
	{ library }: CallerView,
	{ ref, argument: { name, value }, context }: CompleteRequest['params']
): CompleteResult {
	if (value.length > MAX_TYPED) return toResult([]);
	if (ref.type === 'ref/prompt') {
		const skill = findNamed(library, ref.name);
		return toResult(skill && name === 'arguments' ? completeTask(skill, value) : []);
	}
	if (ref.uri !== URI_TEMPLATE) return toResult([]);
	if (name === 'skill')
		return toResult(
			beginning(
				library.skills.map((skill) => skill.name),
				value
			)
		);
	const skill = name === 'path' ? findNamed(library, context?.arguments?.skill ?? '') : null;
	return toResult(skill ? pathsLike(skill.files, value) : []);
}

/** The skill's example and trigger phrases; in a longer text, its last word as a script or another file. */
function completeTask({ example, triggers, scripts, files }: Skill, value: string): string[] {
	const phrases = beginning([...(example === undefined ? [] : [example]), ...triggers], value.trimStart());
	const [word = ''] = /\S*$/.exec(value) ?? [];
	const before = value.slice(0, value.length - word.length);
	const paths = word === '' ? [] : pathsLike([...new Set([...scripts, ...files])], word);
	return [...phrases, ...paths.map((path) => before + path)];
}

function pathsLike(paths: readonly string[], value: string): string[] {
	const whole = beginning(paths, value);
	const last = paths.filter(
		(path) => !whole.includes(path) && startsLike(path.slice(path.lastIndexOf('/') + 1), value)
	);
	return [...whole, ...last];
}

function beginning(values: readonly string[], value: string): string[] {
	return values.filter((each) => startsLike(each, value));
}

function startsLike(text: string, value: string): boolean {
	return text.toLowerCase().startsWith(value.toLowerCase());
}

function toResult(values: readonly string[]): CompleteResult {
	const shown = values.slice(0, MAX_VALUES);
	return { completion: { values: shown, total: values.length, hasMore: values.length > shown.length } };
}
