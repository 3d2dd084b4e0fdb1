/** Reads the history: what the user asked last, what was called since, which skills were loaded before. */
import type { ResponseItem } from '../../agent/model.ts';
import { asArray, asObject, parseJson } from '../json.ts';
import { LOAD_SKILL, readFileLine, USE_SKILL } from './catalog.ts';
import { readSkillContent, toolNamesOf } from './skill-content.ts';
import type { LoadedSkill } from './skill-content.ts';
import { extensionOf, isFileName } from './slots.ts';

export interface FinishedCall {
	name: string;
	/** JSON as the model wrote it. */
	arguments: string;
	output: string;
}

export interface Turn {
	/** Null when nobody has asked anything. */
	text: string | null;
	attachedFiles: string[];
	/** Of the messages before, newest first. */
	earlierFiles: string[];
	/** Calls since the last message of the user that have an output, in order. */
	calls: FinishedCall[];
	/** By name; loading one again replaces it. */
	loadedSkills: Map<string, LoadedSkill>;
	/** The skill that was used last in the turns before. */
	previousSkill: string | null;
}

/** `known`: skills whose instructions are there whatever is in the history. */
export function readTurn(input: readonly ResponseItem[], known: readonly LoadedSkill[] = []): Turn {
	const items = asArray(input).map(asObject);
	const questionAt = items.findLastIndex(isUserMessage);
	const outputs = new Map<unknown, string>();
	for (const item of items) {
		if (item.type === 'function_call_output') outputs.set(item.call_id, asOutputText(item.output));
	}

	const turn: Turn = {
		text: null,
		attachedFiles: [],
		earlierFiles: [],
		calls: [],
		loadedSkills: new Map(known.map((skill) => [skill.name, skill])),
		previousSkill: null
	};
	for (const [index, item] of items.entries()) {
		if (isUserMessage(item)) {
			const { text, files } = readMessage(item.content);
			if (index === questionAt) Object.assign(turn, { text, attachedFiles: files });
			else turn.earlierFiles.unshift(...files, ...namedFiles(text));
		}
		const output = outputs.get(item.call_id);
		if (item.type !== 'function_call' || typeof item.name !== 'string' || output === undefined) continue;
		const skill = readSkillContent(output);
		if (skill) turn.loadedSkills.set(skill.name, skill);
		const call = { name: item.name, arguments: String(item.arguments ?? ''), output };
		if (index > questionAt) turn.calls.push(call);
		else turn.previousSkill = skillOf(call, turn.loadedSkills) ?? turn.previousSkill;
	}
	return turn;
}

/** The skill that a call belongs to, as far as the loaded ones tell. */
export function skillOf(call: FinishedCall, skills: ReadonlyMap<string, LoadedSkill>): string | null {
	if (call.name === LOAD_SKILL || call.name === USE_SKILL) {
		const { skill } = asObject(parseJson(call.arguments));
		return readSkillContent(call.output)?.name ?? (typeof skill === 'string' ? skill : null);
	}
	return [...skills.values()].find((skill) => toolNamesOf(skill).includes(call.name))?.name ?? null;
}

function isUserMessage(item: Record<string, unknown>): boolean {
	return item.role === 'user' && (item.type === 'message' || item.type === undefined);
}

/** The files are listed in a part of their own, or at the end of the only one. */
function readMessage(content: unknown): { text: string; files: string[] } {
	const parts = typeof content === 'string' ? [content] : asArray(content).map((part) => asObject(part).text);
	const texts: string[] = [];
	const files: string[] = [];
	for (const part of parts.filter((part) => typeof part === 'string')) {
		const match = /^Attached files:[ \t]*$/m.exec(part);
		texts.push(match ? part.slice(0, match.index) : part);
		if (match) files.push(...part.slice(match.index).split('\n').flatMap(readFileLine));
	}
	return { text: texts.join('\n').trim(), files };
}

/** Files that an earlier message spoke of: a follow-up question means the same ones. */
function namedFiles(text: string): string[] {
	const words = text.slice(0, 2_000).match(/[^\s"'`]+/g) ?? [];
	return words
		.map((word) => word.replace(/[?!.,;:]+$/, ''))
		.filter((word) => extensionOf(word) !== '' && isFileName(word));
}

function asOutputText(output: unknown): string {
	if (typeof output === 'string') return unquoted(output);
	const texts = asArray(output).map((part) => asObject(part).text);
	return texts.length > 0 ? texts.filter((text) => typeof text === 'string').join('\n') : JSON.stringify(output ?? '');
}

/** Some clients write every output as JSON, a text as well. */
function unquoted(output: string): string {
	const value = output.startsWith('"') && output.endsWith('"') ? parseJson(output) : output;
	return typeof value === 'string' ? value : output;
}
