/** How a tool call reads in the timeline: its label, the skill it is about, its arguments. Pure. */
import type { Execution, ToolPart, ToolStatus } from '../shared/message.ts';
import { cleanText } from './clean-text.ts';

export interface StepFacts {
	/** "Loaded skill weather", "Running scripts/report.py"; the tense says whether it is over. */
	label: string;
	skill: string | null;
	/** Name and value as text, in the order they were given. */
	arguments: { name: string; value: string }[];
}

const STATUS_WORDS: Record<ToolStatus, string> = {
	preparing: 'Preparing',
	waiting: 'Needs approval',
	running: 'Running',
	done: 'Done',
	failed: 'Failed',
	cancelled: 'Stopped',
	interrupted: 'Interrupted'
};

/** How a step stands, in a word. */
export function statusWord({ status, approval }: ToolPart): string {
	return status === 'failed' && approval?.decision?.choice === 'deny' ? 'Denied' : STATUS_WORDS[status];
}

const MAX_VALUE = 4_000;

export function describeStep(part: ToolPart): StepFacts {
	const values = parseArguments(part.arguments);
	const skill = part.loaded?.skill ?? part.execution?.skill ?? textOf(values, ['skill', 'skill_name', 'name']);
	const isSkillTool = part.name === 'load_skill' || part.name === 'use_skill';
	return {
		label: cleanText(labelOf(part, values, skill)),
		skill: isSkillTool || part.execution || part.loaded ? (skill && cleanText(skill)) || null : null,
		arguments: Object.entries(values).map(([name, value]) => ({ name: cleanText(name), value: printValue(value) }))
	};
}

function labelOf(part: ToolPart, values: Record<string, unknown>, skill: string | null): string {
	const tense = tenseOf(part);
	if (part.name === 'load_skill')
		return `${{ now: 'Loading', past: 'Loaded', plain: 'Load' }[tense]} skill ${skill ?? ''}`.trim();
	const verb = { now: 'Running', past: 'Ran', plain: 'Run' }[tense];
	if (part.execution) return `${verb} ${part.execution.tool ?? part.execution.script}`;
	if (part.name !== 'use_skill') return `${verb} ${part.name}`;
	return `${verb} ${textOf(values, ['script', 'tool']) ?? 'a script'}`;
}

function tenseOf({ status, execution }: ToolPart): 'now' | 'past' | 'plain' {
	if (status === 'preparing' || status === 'running') return 'now';
	// A script that failed has run all the same.
	const hasRun = status === 'done' || (status === 'failed' && execution?.exitCode !== undefined);
	return hasRun ? 'past' : 'plain';
}

/** The call's arguments; empty while they are still arriving, or when they are no JSON object. */
function parseArguments(json: string): Record<string, unknown> {
	try {
		const value: unknown = JSON.parse(json);
		return typeof value === 'object' && value !== null && !Array.isArray(value)
			? (value as Record<string, unknown>)
			: {};
	} catch {
		return {};
	}
}

function textOf(values: Record<string, unknown>, names: string[]): string | null {
	for (const name of names) {
		const value = Object.hasOwn(values, name) ? values[name] : undefined;
		if (typeof value === 'string' && value !== '') return value.slice(0, 200);
	}
	return null;
}

/** Text as it is, lists of text as words (quoted where they hold a space), all else as JSON. */
function printValue(value: unknown): string {
	const text =
		typeof value === 'string' ? value : Array.isArray(value) ? value.map(printWord).join(' ') : JSON.stringify(value);
	return cleanText(text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)} …` : text);
}

/** What was run, as one would type it. */
export function printCommand({ script, args }: Pick<Execution, 'script' | 'args'>): string {
	return cleanText([script, ...args].map(printWord).join(' ')).slice(0, MAX_VALUE);
}

function printWord(value: unknown): string {
	return typeof value === 'string' && /^[^\s"'\\]+$/.test(value) ? value : JSON.stringify(value);
}

/** A result as people read it: JSON indented, all else as it is, at most `maxLength` characters. */
export function printResult(result: string, maxLength = 20_000): { text: string; isCut: boolean } {
	const text = cleanText(indentJson(result));
	return { text: text.slice(0, maxLength), isCut: text.length > maxLength };
}

function indentJson(text: string): string {
	if (!/^\s*[[{]/.test(text) || text.length > 200_000) return text;
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		return text;
	}
}
