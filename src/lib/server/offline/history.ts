/** Reads a request: what was said, what was called since, which skills are on offer and which are loaded. */
import { GO_ON } from '../agent/history.ts';
import type { FunctionTool, ModelRequest } from '../agent/model.ts';
import { asArray, asObject, parseJson } from '../../shared/json.ts';

export const LOAD_SKILL = 'load_skill';
export const USE_SKILL = 'use_skill';

export interface FinishedCall {
	name: string;
	/** JSON as the model wrote it. */
	arguments: string;
	output: string;
}

/** A message of the person, and how it was answered. */
export interface Turn {
	text: string;
	attached: string[];
	/** The last text that was said to it; '' while there is none. */
	reply: string;
}

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

export interface CatalogSkill {
	name: string;
	description: string;
}

export interface History {
	/** Oldest first; empty when nobody has asked anything. */
	turns: Turn[];
	/** Calls since the last message that have an output, in order; without those that were stopped, once it goes on. */
	calls: FinishedCall[];
	/** By name; loading one again replaces it. */
	loaded: Map<string, LoadedSkill>;
	/** The skill that was used last in the turns before. */
	previousSkill: string | null;
	/** Those on offer; without a description where only the loading tool names them. */
	skills: CatalogSkill[];
	/** Paths in the conversation's working directory. */
	workspace: string[];
}

/** Longer instructions are cut: reading them must stay a matter of milliseconds. */
const MAX_BODY = 200_000;
const GO_ON_CONTENT = JSON.stringify(GO_ON.content);
const BLOCKS = /<skill_content [^>]*>[^]*?<\/skill_content>/g;

export function readHistory({ instructions, input, tools }: ModelRequest): History {
	const items = asArray(input).map(asObject);
	const lastAsked = items.findLastIndex(isQuestion);
	const broken = items.findLastIndex(isGoOn);
	const outputs = new Map<unknown, string>();
	for (const item of items) if (item.type === 'function_call_output') outputs.set(item.call_id, textOf(item.output));
	// The instructions of pinned skills stand in the system prompt; their headings are none of its own.
	const pinned = (instructions.match(BLOCKS) ?? []).flatMap((block) => readSkillContent(block) ?? []);
	const prompt = instructions.replace(BLOCKS, '');
	const history: History = {
		turns: [],
		calls: [],
		loaded: new Map(pinned.map((skill) => [skill.name, skill])),
		previousSkill: null,
		skills: readCatalog(prompt, tools),
		workspace: section(prompt, 'working directory').flatMap(readFileLine)
	};
	for (const [index, item] of items.entries()) {
		if (isQuestion(item)) history.turns.push(readMessage(item.content));
		const turn = history.turns.at(-1);
		if (item.type === 'message' && item.role === 'assistant' && turn) turn.reply = textOf(item.content);
		const output = outputs.get(item.call_id);
		if (item.type !== 'function_call' || typeof item.name !== 'string' || output === undefined) continue;
		const skill = readSkillContent(output);
		if (skill) history.loaded.set(skill.name, skill);
		const call = { name: item.name, arguments: String(item.arguments ?? ''), output };
		// What a stop ended is done again.
		if (index > lastAsked && !(index < broken && wasStopped(call))) history.calls.push(call);
		if (index < lastAsked) history.previousSkill = skillOf(call, history.loaded) ?? history.previousSkill;
	}
	return history;
}

/** The skill that a call belongs to, as far as the loaded ones tell. */
function skillOf(call: FinishedCall, loaded: ReadonlyMap<string, LoadedSkill>): string | null {
	if (call.name === LOAD_SKILL || call.name === USE_SKILL) {
		const { skill } = asObject(parseJson(call.arguments));
		return readSkillContent(call.output)?.name ?? (typeof skill === 'string' ? skill : null);
	}
	return [...loaded.values()].find((skill) => toolNamesOf(skill).includes(call.name))?.name ?? null;
}

/** The names that the skill's tools may be called by; the longer one is used where another skill has the short one (D17). */
export function toolNamesOf({ name, toolNames }: LoadedSkill): string[] {
	return toolNames.flatMap((tool) => [`${name}__${tool}`.slice(0, 64), tool]);
}

/** Null for any other output, such as an error. */
export function readSkillContent(output: string): LoadedSkill | null {
	const text = output.trimStart();
	const openEnd = text.startsWith('<skill_content ') ? text.indexOf('>') : -1;
	const name = /\bname="([^"<>]+)"/.exec(text.slice(0, Math.max(0, openEnd)))?.[1];
	if (name === undefined) return null;
	// From the end: the instructions themselves may quote such tags.
	const [files, tools, end] = ['<skill_files', '<skill_tools', '</skill_content>'].map((tag) => text.lastIndexOf(tag));
	const ends = [files, tools, end].filter((index) => index !== undefined && index > openEnd) as number[];
	const fileList = element(text, files ?? -1, '</skill_files>');
	return {
		name,
		body: text.slice(openEnd + 1, ends.length > 0 ? Math.min(...ends) : undefined).slice(0, MAX_BODY),
		folder: /\bdir="([^"<>]*)"/.exec(fileList.attributes)?.[1] ?? '',
		files: fileList.lines,
		toolNames: element(text, tools ?? -1, '</skill_tools>').lines.map((line) => line.split(':', 1)[0]?.trim() ?? '')
	};
}

function element(text: string, start: number, close: string): { attributes: string; lines: string[] } {
	const contentAt = start < 0 ? -1 : text.indexOf('>', start);
	if (contentAt < 0) return { attributes: '', lines: [] };
	const end = text.indexOf(close, contentAt);
	const lines = text.slice(contentAt + 1, end < 0 ? undefined : end).split('\n');
	return {
		attributes: text.slice(start, contentAt),
		lines: lines.map((line) => line.trim()).filter((line) => line !== '')
	};
}

function isQuestion(item: Record<string, unknown>): boolean {
	return item.role === 'user' && (item.type === 'message' || item.type === undefined) && !isGoOn(item);
}

/** Asks for more of an answer that was stopped: what the person asked is the message before. */
function isGoOn({ role, content }: Record<string, unknown>): boolean {
	return role === 'user' && JSON.stringify(content) === GO_ON_CONTENT;
}

function wasStopped({ output }: FinishedCall): boolean {
	return ['cancelled', 'interrupted'].includes(String(asObject(parseJson(output)).error).toLowerCase());
}

/** The files are listed in a part of their own, or at the end of the only one. */
function readMessage(content: unknown): Turn {
	const parts = typeof content === 'string' ? [content] : asArray(content).map((part) => asObject(part).text);
	const texts: string[] = [];
	const attached: string[] = [];
	for (const part of parts.filter((part) => typeof part === 'string')) {
		const match = /^Attached files:[ \t]*$/m.exec(part);
		texts.push(match ? part.slice(0, match.index) : part);
		if (match) attached.push(...part.slice(match.index).split('\n').flatMap(readFileLine));
	}
	return { text: texts.join('\n').trim(), attached, reply: '' };
}

function textOf(output: unknown): string {
	if (typeof output === 'string') {
		// Some clients write every output as JSON, a text as well.
		const value = output.startsWith('"') && output.endsWith('"') ? parseJson(output) : output;
		return typeof value === 'string' ? value : output;
	}
	const texts = asArray(output).map((part) => asObject(part).text);
	return texts.length > 0 ? texts.filter((text) => typeof text === 'string').join('\n') : JSON.stringify(output ?? '');
}

function readCatalog(prompt: string, tools: readonly FunctionTool[]): CatalogSkill[] {
	const skills = new Map<string, string>();
	let name: string | undefined;
	for (const line of section(prompt, 'available skills')) {
		const heading = /^### +(\S+)\s*$/.exec(line)?.[1];
		if (heading !== undefined) {
			name = skills.has(heading) ? undefined : heading;
			if (name !== undefined) skills.set(name, '');
		} else if (name !== undefined) skills.set(name, `${skills.get(name) ?? ''} ${line}`.trim());
	}
	const loader = asObject(tools.find((tool) => tool.name === LOAD_SKILL)?.parameters);
	for (const known of asArray(asObject(asObject(loader.properties).skill).enum))
		if (typeof known === 'string' && !skills.has(known)) skills.set(known, '');
	return [...skills].map(([skill, description]) => ({ name: skill, description }));
}

function section(prompt: string, title: string): string[] {
	const lines = prompt.split(/\r?\n/);
	const isHeading = (line: string) => /^##? /.test(line);
	const start = lines.findIndex((line) => isHeading(line) && line.slice(2).trim().toLowerCase() === title);
	if (start < 0) return [];
	const length = lines.slice(start + 1).findIndex(isHeading);
	return lines.slice(start + 1, length < 0 ? undefined : start + 1 + length);
}

/** The path in `- sales.csv (1234 bytes)`. */
function readFileLine(line: string): string[] {
	if (!line.startsWith('- ')) return [];
	const size = line.lastIndexOf(' (');
	const path = (size > 1 && line.trimEnd().endsWith(')') ? line.slice(2, size) : line.slice(2)).trim();
	return path === '' ? [] : [path.replaceAll('`', '')];
}
