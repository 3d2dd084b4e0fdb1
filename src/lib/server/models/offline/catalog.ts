/** Reads the system prompt: the skills on offer, the files in the working directory. */
import type { FunctionTool } from '../../agent/model.ts';
import { asArray, asObject } from '../json.ts';

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
export function readFileLine(line: string): string[] {
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
