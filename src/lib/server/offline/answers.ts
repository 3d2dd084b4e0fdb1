/** What the built-in responder says when it has run nothing. */
import { asArray, asObject, asText, isObject, parseJson } from '../../shared/json.ts';
import { fenced, inlineCode, renderOutput, renderValue } from './markdown.ts';
import { type Slot, wantedExtensions } from './slots.ts';
import { type CatalogSkill, type FinishedCall, LOAD_SKILL, type LoadedSkill, USE_SKILL } from './turn.ts';

/** Closes each answer, once. */
export const SIGNATURE = '*From the built-in responder, which is not a language model.*';
const HOW_TO_GET_A_MODEL =
	'Add a key in the settings, or set `OPENROUTER_API_KEY` (in the environment or in `.env`), to have a language model answer.';
const MAX_LISTED = 40;

/** For a message that fits nothing. */
export function describeOffer(skills: readonly CatalogSkill[]): string {
	const start =
		'I am the built-in responder. I am not a language model: I match your message with the words of the skills, run what their instructions document, and show the result.';
	if (skills.length === 0) {
		return [
			start,
			'No skill is available yet. Drop a folder with a `SKILL.md` into `skills/`.',
			HOW_TO_GET_A_MODEL,
			SIGNATURE
		].join('\n\n');
	}
	const listed = skills.slice(0, MAX_LISTED).map(({ name, description }) => {
		const sentence = firstSentence(description);
		return sentence === '' ? `- **${name}**` : `- **${name}** – ${sentence}`;
	});
	if (skills.length > MAX_LISTED) listed.push(`- … and ${skills.length - MAX_LISTED} more`);
	return [
		start,
		'Nothing in your message fits one of them clearly enough. These are the skills:',
		listed.join('\n'),
		HOW_TO_GET_A_MODEL,
		SIGNATURE
	].join('\n\n');
}

/** For a skill without a command or a tool: only a language model can follow it. */
export function explainInstructionsOnly({ name, body }: LoadedSkill): string {
	const headings = headingsOf(body);
	const outline = headings.length > 0 ? [`Its instructions cover:\n\n${headings.join('\n')}`] : [];
	const start = `The skill **${name}** fits, but it holds instructions for a language model and documents no command that I could run by myself.`;
	return [start, ...outline, HOW_TO_GET_A_MODEL, SIGNATURE].join('\n\n');
}

/** For a command or tool that lacks something. */
export function explainMissing(of: string, slots: readonly Slot[]): string {
	const lines = slots.map((slot) => `- **${slot.name}**: ${adviceFor(slot)}`);
	return [`\`${of}\` fits, but your message does not say all it needs:`, lines.join('\n'), SIGNATURE].join('\n\n');
}

function adviceFor(slot: Slot): string {
	if (slot.choices.length > 0)
		return `name one of ${slot.choices.map((choice) => `\`${choice}\``).join(', ')} and ask again.`;
	const assignment = `\`${slot.flag ?? slot.name.toLowerCase()}=…\``;
	switch (slot.kind) {
		case 'file': {
			const [extension] = wantedExtensions(slot);
			return `drop a file${extension === undefined ? '' : ` (such as .${extension})`} on the composer, or name one, and ask again.`;
		}
		case 'text':
			return 'put the text in quotes or after a colon and ask again.';
		case 'number':
			return `say the number, as in ${assignment}, and ask again.`;
		case 'place':
			return 'name the place, as in "… in Lisbon", and ask again.';
		case 'url':
		case 'email':
		case 'date':
		case 'folder':
		case 'output':
		case 'id':
		case 'column':
		case 'word':
			return `say it in your message, as in ${assignment}, and ask again.`;
		default:
			return slot.kind satisfies never;
	}
}

function headingsOf(body: string): string[] {
	const headings: string[] = [];
	let fence: string | null = null;
	for (const line of body.split('\n')) {
		const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
		if (mark !== undefined) fence = fence === null ? mark : mark.startsWith(fence) ? null : fence;
		const [, marks, title] = (fence === null ? /^(#{1,6})\s+(\S.*)$/.exec(line) : null) ?? [];
		if (marks !== undefined && title !== undefined)
			headings.push(`${'  '.repeat(Math.max(0, marks.length - 2))}- ${title.trim()}`);
	}
	const first = headings.length > 1 && /^# /m.test(body.slice(0, 2_000)) ? headings.slice(1) : headings;
	return first.slice(0, MAX_LISTED);
}

function firstSentence(description: string): string {
	const sentence = /^[^]{1,300}?[.!?](?=\s|$)/.exec(description)?.[0] ?? description.slice(0, 200);
	return sentence.replace(/\s+/g, ' ').trim();
}

// Reports what the calls of a turn answered: results, files, failures.

const MAX_ERROR_LINES = 12;

/** Each call in turn, then the line that says who wrote this. */
export function reportCalls(calls: readonly FinishedCall[]): string {
	const reports = calls.map((call) => {
		const text = reportCall(call);
		return calls.length > 1 && !hasFailed(call) ? `${inlineCode(nameOf(call))}:\n\n${text}` : text;
	});
	return [...reports, SIGNATURE].join('\n\n');
}

export function hasFailed(call: FinishedCall): boolean {
	const result = parseJson(call.output);
	if (!isObject(result)) return false;
	if (call.name === USE_SKILL || call.name === LOAD_SKILL)
		return result.ok === false || asText(result.error) !== undefined;
	// A tool's own result may well have a member named so; a failure has little else.
	const failureKeys = ['ok', 'error', 'type', 'message', 'hint', 'stdout', 'stderr', 'exitCode'];
	return asText(result.error) !== undefined && Object.keys(result).every((key) => failureKeys.includes(key));
}

function reportCall(call: FinishedCall): string {
	if (hasFailed(call)) return reportFailure(call);
	if (call.name !== USE_SKILL) return renderValue(call.output);
	const result = asObject(parseJson(call.output));
	const output = asText(result.stdout) ?? '';
	const warnings = asText(result.stderr) ?? '';
	const parts = [
		output.trim() === '' ? null : renderOutput(output),
		output.trim() === '' && warnings.trim() !== '' ? fenced(lastLines(warnings)) : null,
		output.trim() === '' && warnings.trim() === '' ? `${inlineCode(nameOf(call))} ran and printed nothing.` : null,
		result.truncated === true ? 'The output was longer than is shown here.' : null,
		reportFiles(result.files)
	];
	return parts.filter((part) => part !== null).join('\n\n');
}

function reportFailure(call: FinishedCall): string {
	const result = asObject(parseJson(call.output));
	const error = asText(result.error);
	const message = asText(result.message);
	const hint = asText(result.hint);
	const exitCode =
		typeof result.exitCode === 'number' && result.exitCode > 0 ? ` with exit code ${result.exitCode}` : '';
	const type = asText(result.type) ?? (message === undefined ? undefined : error);
	const what =
		call.name === LOAD_SKILL
			? `The skill ${inlineCode(nameOf(call))} could not be loaded`
			: `${inlineCode(nameOf(call))} failed${exitCode}`;
	const output = asText(result.stdout)?.trim();
	const errors = asText(result.stderr)?.trim();
	const parts = [
		`${what}${type === undefined ? '' : ` (${type})`}.`,
		message ?? (error === type ? undefined : error),
		output ? renderOutput(output) : undefined,
		errors ? fenced(lastLines(errors)) : undefined,
		reportFiles(result.files) ?? undefined,
		hint === undefined ? adviceAfter(type) : `**What to do**: ${hint}`
	];
	return parts.filter((part) => part !== undefined).join('\n\n');
}

function adviceAfter(type: string | undefined): string {
	if (type === 'ExecutionTimeout')
		return '**What to do**: ask again with less to work on, or raise `SKILLS_TIMEOUT_MS`.';
	if (type === 'ApprovalDenied')
		return '**What to do**: nothing was run. Ask again and allow it if you did not mean to refuse.';
	return '**What to do**: change what it complains about, and ask again.';
}

function reportFiles(files: unknown): string | null {
	const lines = asArray(files).flatMap((file) => {
		const { path, bytes } = asObject(file);
		return typeof path === 'string'
			? `- ${inlineCode(path)}${typeof bytes === 'number' ? ` (${bytes} bytes)` : ''}`
			: [];
	});
	return lines.length > 0 ? `${lines.length === 1 ? 'File' : 'Files'} written:\n\n${lines.join('\n')}` : null;
}

/** The script of a run, the skill of a load, else the tool. */
function nameOf(call: FinishedCall): string {
	const { script, skill } = asObject(parseJson(call.arguments));
	return (call.name === USE_SKILL ? asText(script) : call.name === LOAD_SKILL ? asText(skill) : undefined) ?? call.name;
}

function lastLines(text: string): string {
	const lines = text.trimEnd().split('\n');
	return lines.length > MAX_ERROR_LINES ? ['…', ...lines.slice(-MAX_ERROR_LINES)].join('\n') : lines.join('\n');
}
