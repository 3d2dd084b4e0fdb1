/** Reads a request: what was said, what was called since, which skills are on offer and which are loaded. */
import { GO_ON } from '../agent/history.ts';
import type { FunctionTool, ModelRequest } from '../agent/model.ts';
import { isNote, knownFrom } from '../agent/turn-note.ts';
import { asArray, asObject, asText, type JsonObject, parseJson } from '../../shared/json.ts';

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

export type CatalogSkill = Pick<LoadedSkill, 'name'> & { description: string };

export type Shelved = CatalogSkill & { why: string };

export interface History {
	/** Oldest first; empty when nobody has asked anything. */
	turns: Turn[];
	/** Calls since the last message that have an output, in order; without those that were stopped, once it goes on. */
	calls: FinishedCall[];
	/** Names of the skills whose instructions stand in the prompt. */
	pinned: ReadonlySet<string>;
	/** By name, the last one last. */
	loaded: Map<string, LoadedSkill>;
	/** Those on offer; without a description where only the loading tool names them. */
	skills: CatalogSkill[];
	/** Those that the last message means and that can’t be used. */
	unusable: readonly { name: string; why: string }[];
	/** Others that may fit it, if they could be used. */
	shelved: readonly Shelved[];
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
	const outputs = new Map(
		items.flatMap((item) => (item.type === 'function_call_output' ? [[item.call_id, textOf(item.output)]] : []))
	);
	// The instructions of pinned skills stand in the system prompt; their headings are none of its own.
	const pinned = (instructions.match(BLOCKS) ?? []).flatMap((block) => readSkillContent(block) ?? []);
	const prompt = instructions.replace(BLOCKS, '');
	const known = knownFrom(items);
	const [turns, calls]: [Turn[], FinishedCall[]] = [[], []];
	const loaded = new Map(pinned.map((skill) => [skill.name, skill]));
	for (const [index, item] of items.entries()) {
		if (isQuestion(item)) turns.push(readTurn(item.content));
		const turn = turns.at(-1);
		if (item.type === 'message' && item.role === 'assistant' && turn) turn.reply = textOf(item.content);
		const output = outputs.get(item.call_id);
		if (item.type !== 'function_call' || typeof item.name !== 'string' || output === undefined) continue;
		const skill = readSkillContent(output);
		if (skill) {
			loaded.delete(skill.name);
			loaded.set(skill.name, skill);
		}
		const call = { name: item.name, arguments: String(item.arguments ?? ''), output };
		// What a stop ended is done again.
		const wasStopped = /^(cancelled|interrupted)$/i.test(String(asObject(parseJson(output)).error));
		if (index > lastAsked && !(index < broken && wasStopped)) calls.push(call);
	}
	const skills = readCatalog(prompt, tools, known.skills);
	const workspace = [...known.files.keys()];
	const notes = items.slice(lastAsked + 1).filter(isNote);
	const unusable = notes.flatMap(({ told }) => told.unusable ?? []);
	const shelved = notes.flatMap(({ told }) => told.shelved ?? []);
	return {
		turns,
		calls,
		unusable,
		shelved,
		pinned: new Set(pinned.map(({ name }) => name)),
		loaded,
		skills,
		workspace
	};
}

/** The names that the skill's tools may be called by; the longer one is used where another skill has the short one (D17). */
export function toolNamesOf({ name, toolNames }: LoadedSkill): string[] {
	return toolNames.flatMap((tool) => [`${name}__${tool}`.slice(0, 64), tool]);
}

/** Null for any other output, such as an error. */
export function readSkillContent(output: string): LoadedSkill | null {
	const [open = '', name] = /^\s*<skill_content [^>]*\bname="([^"<>]+)"[^>]*>/.exec(output.slice(0, 2_000)) ?? [];
	if (name === undefined) return null;
	// From the end: the instructions themselves may quote such tags.
	const [files, tools, end] = ['<skill_files', '<skill_tools', '</skill_content>'].map((tag) => {
		const at = output.lastIndexOf(tag);
		return at < open.length ? Infinity : at;
	}) as [number, number, number];
	const [opening, ...paths] = linesFrom(output, files);
	return {
		name,
		body: output.slice(open.length, Math.min(files, tools, end)).slice(0, MAX_BODY),
		folder: /\bdir="([^"<>]*)"/.exec(opening ?? '')?.[1] ?? '',
		files: paths,
		toolNames: linesFrom(output, tools)
			.slice(1)
			.map((line) => line.split(':', 1)[0]?.trim() ?? '')
	};
}

/** The lines of an element, its opening tag first. */
function linesFrom(text: string, start: number): string[] {
	const [element = ''] = text.slice(start).split('</skill_', 1);
	return element.split('\n').flatMap((line) => line.trim() || []);
}

function isQuestion(item: JsonObject): boolean {
	return item.role === 'user' && (item.type === 'message' || item.type === undefined) && !isGoOn(item) && !isNote(item);
}

/** Asks for more of an answer that was stopped: what the person asked is the message before. */
function isGoOn({ role, content }: JsonObject): boolean {
	return role === 'user' && JSON.stringify(content) === GO_ON_CONTENT;
}

/** The files are listed in a part of their own, or at the end of the only one. */
function readTurn(content: unknown): Turn {
	const parts = typeof content === 'string' ? [content] : textsIn(content);
	const split = parts.map((part) => part.split(/^Attached files:[ \t]*$/m));
	const attached = split.flatMap(([, ...lists]) => lists.join('\n').split('\n').flatMap(readFileLine));
	return {
		text: split
			.map(([text]) => text)
			.join('\n')
			.trim(),
		attached,
		reply: ''
	};
}

function textsIn(content: unknown): string[] {
	return asArray(content).flatMap((part) => asText(asObject(part).text) ?? []);
}

/** Some clients write every output as JSON, a text as well. */
function textOf(output: unknown): string {
	const value = typeof output === 'string' && output.startsWith('"') ? (parseJson(output) ?? output) : output;
	if (typeof value === 'string') return value;
	return asArray(value).length > 0 ? textsIn(value).join('\n') : JSON.stringify(value ?? '');
}

function readCatalog(
	prompt: string,
	tools: readonly FunctionTool[],
	described: ReadonlyMap<string, string>
): CatalogSkill[] {
	const skills = new Map(described);
	let name = '';
	const [, section = ''] = /^##? available skills[ \t]*\r?\n([^]*?)(?=^##? |$(?![^]))/im.exec(prompt) ?? [];
	for (const line of section.split(/\r?\n/)) {
		const heading = /^### +(\S+)\s*$/.exec(line)?.[1];
		if (heading !== undefined) name = skills.has(heading) ? '' : heading;
		if (name !== '') skills.set(name, `${skills.get(name) ?? ''} ${heading === undefined ? line : ''}`.trim());
	}
	const loader = asObject(tools.find((tool) => tool.name === LOAD_SKILL)?.parameters);
	for (const known of asArray(asObject(asObject(loader.properties).skill).enum))
		if (typeof known === 'string' && !skills.has(known)) skills.set(known, '');
	return [...skills].map(([skill, description]) => ({ name: skill, description }));
}

/** The path in `- sales.csv (1234 bytes)`. */
function readFileLine(line: string): string[] {
	const path = /^- (.+?)(?: \([^()]*\)\s*)?$/.exec(line)?.[1]?.trim() ?? '';
	return path === '' ? [] : [path.replaceAll('`', '')];
}
