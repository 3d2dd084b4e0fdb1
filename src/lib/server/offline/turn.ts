/** Reads the history: what the user asked last, what was called since, which skills were loaded before. */
import { GO_ON } from '../agent/history.ts';
import type { FunctionTool, ResponseItem } from '../agent/model.ts';
import { asArray, asObject, parseJson } from '../../shared/json.ts';
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
	/** Calls since the last message of the user that have an output, in order; without those that were stopped, once it goes on. */
	calls: FinishedCall[];
	/** By name; loading one again replaces it. */
	loadedSkills: Map<string, LoadedSkill>;
	/** The skill that was used last in the turns before. */
	previousSkill: string | null;
}

const GO_ON_CONTENT = JSON.stringify(GO_ON.content);

/** `known`: skills whose instructions are there whatever is in the history. */
export function readTurn(input: readonly ResponseItem[], known: readonly LoadedSkill[] = []): Turn {
	const items = asArray(input).map(asObject);
	const questionAt = items.findLastIndex(isUserMessage);
	const brokenAt = items.findLastIndex(isGoOn);
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
		// What a stop ended is done again.
		const isUndone = index < brokenAt && wasStopped(call);
		if (index > questionAt && !isUndone) turn.calls.push(call);
		else if (index > questionAt) continue;
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
	return item.role === 'user' && (item.type === 'message' || item.type === undefined) && !isGoOn(item);
}

function wasStopped({ output }: FinishedCall): boolean {
	return ['cancelled', 'interrupted'].includes(String(asObject(parseJson(output)).error).toLowerCase());
}

/** Asks for more of an answer that was stopped: what the person asked is the message before. */
function isGoOn({ role, content }: Record<string, unknown>): boolean {
	return role === 'user' && JSON.stringify(content) === GO_ON_CONTENT;
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

// Reads what loading a skill answered: its instructions, its files, its tools.

export interface LoadedSkill {
	name: string;
	/** The Markdown of SKILL.md. */
	body: string;
	/** The folder; '' when it was not told. */
	folder: string;
	/** Paths from the folder. */
	files: string[];
	toolNames: string[];
}

/** Longer instructions are cut: reading them must stay a matter of milliseconds. */
const MAX_BODY_LENGTH = 200_000;

/** The names that the skill's tools may be called by; the longer one is used where another skill has the short one (D17). */
export function toolNamesOf({ name, toolNames }: LoadedSkill): string[] {
	return toolNames.flatMap((tool) => [qualifiedName(name, tool), tool]);
}

/** Those of the tools on offer that are the skill's own. */
export function ownTools<Tool extends { name: string }>(skill: LoadedSkill, tools: readonly Tool[]): Tool[] {
	return skill.toolNames.flatMap((name) => {
		const named = (wanted: string) => tools.find((tool) => tool.name === wanted);
		return named(qualifiedName(skill.name, name)) ?? named(name) ?? [];
	});
}

function qualifiedName(skill: string, tool: string): string {
	return `${skill}__${tool}`.slice(0, 64);
}

/** Null for any other output, such as an error. */
export function readSkillContent(output: string): LoadedSkill | null {
	const text = output.trimStart();
	if (!text.startsWith('<skill_content ')) return null;
	const openEnd = text.indexOf('>');
	const name = /\bname="([^"<>]*)"/.exec(text.slice(0, openEnd))?.[1];
	if (openEnd < 0 || name === undefined || name === '') return null;

	// From the end: the instructions themselves may quote such tags.
	const filesAt = text.lastIndexOf('<skill_files');
	const toolsAt = text.lastIndexOf('<skill_tools');
	const ends = [filesAt, toolsAt, text.lastIndexOf('</skill_content>')].filter((index) => index > openEnd);
	const files = elementAt(text, filesAt, '</skill_files>');
	return {
		name,
		body: text.slice(openEnd + 1, ends.length > 0 ? Math.min(...ends) : undefined).slice(0, MAX_BODY_LENGTH),
		folder: /\bdir="([^"<>]*)"/.exec(files.attributes)?.[1] ?? '',
		files: files.lines,
		toolNames: elementAt(text, toolsAt, '</skill_tools>').lines.map((line) => line.split(':', 1)[0]?.trim() ?? '')
	};
}

const BLOCKS = /<skill_content [^>]*>[^]*?<\/skill_content>/g;

/** The skills whose instructions stand in a system prompt. */
export function readSkillContents(instructions: string): LoadedSkill[] {
	return (instructions.match(BLOCKS) ?? []).flatMap((block) => readSkillContent(block) ?? []);
}

/** A system prompt without the instructions of skills, whose headings are none of its own. */
export function withoutSkillContents(instructions: string): string {
	return instructions.replace(BLOCKS, '');
}

function elementAt(text: string, start: number, close: string): { attributes: string; lines: string[] } {
	const contentAt = start < 0 ? -1 : text.indexOf('>', start);
	if (contentAt < 0) return { attributes: '', lines: [] };
	const end = text.indexOf(close, contentAt);
	const lines = text.slice(contentAt + 1, end < 0 ? undefined : end).split('\n');
	return {
		attributes: text.slice(start, contentAt),
		lines: lines.map((line) => line.trim()).filter((line) => line !== '')
	};
}

// Reads the system prompt: the skills on offer, the files in the working directory.

export const LOAD_SKILL = 'load_skill';
export const USE_SKILL = 'use_skill';

export interface CatalogSkill {
	name: string;
	description: string;
}

/** The skills under `## Available Skills`; then, without a description, those that only the loading tool names. */
export function readCatalog(instructions: string, tools: readonly FunctionTool[]): CatalogSkill[] {
	const skills = new Map<string, string>();
	let name: string | undefined;
	for (const line of sectionLines(instructions, 'available skills')) {
		const heading = /^### +(\S+)\s*$/.exec(line)?.[1];
		if (heading !== undefined) {
			name = skills.has(heading) ? undefined : heading;
			if (name !== undefined) skills.set(name, '');
		} else if (name !== undefined) {
			skills.set(name, `${skills.get(name) ?? ''} ${line}`.trim());
		}
	}
	for (const known of skillNamesOf(tools)) if (!skills.has(known)) skills.set(known, '');
	return [...skills].map(([name, description]) => ({ name, description }));
}

/** Paths in the conversation's workspace, as `## Working directory` lists them. */
export function readWorkspaceFiles(instructions: string): string[] {
	return sectionLines(instructions, 'working directory').flatMap(readFileLine);
}

/** The path in `- sales.csv (1234 bytes)`. */
function readFileLine(line: string): string[] {
	if (!line.startsWith('- ')) return [];
	const size = line.lastIndexOf(' (');
	const path = (size > 1 && line.trimEnd().endsWith(')') ? line.slice(2, size) : line.slice(2)).trim();
	return path === '' ? [] : [path.replaceAll('`', '')];
}

function sectionLines(instructions: string, title: string): string[] {
	const lines = instructions.split(/\r?\n/);
	const isHeading = (line: string) => /^##? /.test(line);
	const start = lines.findIndex((line) => isHeading(line) && line.slice(2).trim().toLowerCase() === title);
	if (start < 0) return [];
	const length = lines.slice(start + 1).findIndex(isHeading);
	return lines.slice(start + 1, length < 0 ? undefined : start + 1 + length);
}

function skillNamesOf(tools: readonly FunctionTool[]): string[] {
	const loader = tools.find(({ name }) => name === LOAD_SKILL);
	const properties = asObject(asObject(loader?.parameters).properties);
	return asArray(asObject(properties.skill).enum).filter((name) => typeof name === 'string');
}
