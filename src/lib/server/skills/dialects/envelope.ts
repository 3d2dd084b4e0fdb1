/** Agent Zero's text protocol: `{thoughts, headline, tool_name, tool_args}`, for models without tool calls (FEATURES C17). */
import { isRecord } from '../operations.ts';

export interface ToolEnvelope {
	name: string;
	args: Record<string, unknown>;
	/** What the step is about, in the model's words. */
	headline?: string;
	thoughts: string[];
}

/** Reads an object as such a call; null when it is none. */
export function readEnvelope(value: unknown): ToolEnvelope | null {
	if (!isRecord(value) || typeof value.tool_name !== 'string' || value.tool_name === '') return null;
	const { tool_name: name, tool_args: args = {}, headline, thoughts } = value;
	if (!isRecord(args)) return null;
	const texts: unknown[] = Array.isArray(thoughts) ? thoughts : [thoughts];
	return {
		name,
		args,
		...(typeof headline === 'string' && headline !== '' ? { headline } : {}),
		thoughts: texts.filter((thought) => typeof thought === 'string')
	};
}

/** The first such call in a model's text, fenced with ``` or ~~~ or bare; null when there is none. */
export function findEnvelope(text: string): ToolEnvelope | null {
	for (const start of startsOf(text)) {
		const end = endOfObject(text, start);
		if (end === null) continue;
		const envelope = readEnvelope(parse(text.slice(start, end)));
		if (envelope) return envelope;
	}
	return null;
}

const MAX_STARTS = 50;
const MAX_LENGTH = 200_000;

function startsOf(text: string): number[] {
	const starts: number[] = [];
	for (let at = text.indexOf('{'); at >= 0 && starts.length < MAX_STARTS; at = text.indexOf('{', at + 1))
		starts.push(at);
	return starts;
}

/** Index after the brace that closes the object at `start`; braces in strings do not count. */
function endOfObject(text: string, start: number): number | null {
	let depth = 0;
	let isInString = false;
	for (let at = start; at < text.length && at - start < MAX_LENGTH; at += 1) {
		const character = text.charAt(at);
		if (isInString) {
			if (character === '\\') at += 1;
			else if (character === '"') isInString = false;
		} else if (character === '"') isInString = true;
		else if (character === '{') depth += 1;
		else if (character === '}' && (depth -= 1) === 0) return at + 1;
	}
	return null;
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}
