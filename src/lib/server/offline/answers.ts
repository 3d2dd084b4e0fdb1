/** What the built-in responder says: what it asks, what it has run and how that went, what there is. */
import { asArray, asObject, asText, isObject, parseJson } from '../../shared/json.ts';
import { tokenize } from '../skills/find/scores.ts';
import { type CatalogSkill, type FinishedCall, LOAD_SKILL, type LoadedSkill, USE_SKILL } from './history.ts';
import { fenced, inlineCode, renderOutput, renderValue } from './markdown.ts';
import type { Ask } from './plan.ts';
import { type Slot, wantedExtensions } from './slots.ts';

/** Closes each answer. */
const SIGNATURE = '*Demo mode: no AI model is connected.*';
/** Closes each question; by it the next message is known to be the answer. */
export const ASKED = '*Nothing has run yet. Demo mode: no AI model is connected.*';
const CONNECT = 'Connect a model in Settings, or set `OPENROUTER_API_KEY`, for real answers.';
const MAX_LISTED = 40;
const MAX_ERROR_LINES = 12;
const MAX_SHOWN_CALL = 300;

/** One question, and the form of the command. */
export function askText(ask: Ask): string {
	const lines = (items: readonly string[]) => items.map((item, index) => `${index + 1}. ${item}`).join('\n');
	switch (ask.about) {
		case 'skill':
			return [
				`Which skill should I use?`,
				lines(ask.skills.map((name) => `**${name}**`)),
				'Reply with its number or name.',
				ASKED
			].join('\n\n');
		case 'action':
			return [
				'Which of these do you want?',
				lines(ask.actions.map(({ form }) => inlineCode(form))),
				'Reply with its number.',
				ASKED
			].join('\n\n');
		case 'left': {
			const pieces = ask.left
				.slice(0, 5)
				.map((piece) => `“${piece}”`)
				.join(', ');
			return [
				`What should I do with ${pieces}? I can't tell where it belongs.`,
				inlineCode(ask.action.form),
				'Say which part of the command it is, or reply “ignore it”.',
				ASKED
			].join('\n\n');
		}
		case 'value': {
			const { slot, guess, action } = ask;
			const sure = guess === null ? '' : ` Is it “${guess.slice(0, 100)}”?`;
			return [`${questionFor(slot)}${sure}`, inlineCode(action.form), ASKED].join('\n\n');
		}
		default:
			return ask satisfies never;
	}
}

function questionFor(slot: Slot): string {
	const name = `**${(slot.flag ?? slot.name).replace(/^-+/, '').replaceAll(/[_\s]+/g, ' ')}**`;
	if (slot.choices.length > 0) return `Which ${name}: ${slot.choices.slice(0, 20).map(inlineCode).join(', ')}?`;
	const [extension] = wantedExtensions(slot);
	if (slot.kind === 'file')
		return `Which file${extension === undefined ? '' : ` (such as .${extension})`}? Attach it or name it for ${name}.`;
	if (slot.kind === 'text') return `What is the text for ${name}?`;
	if (slot.kind === 'number') return `What number is the ${name}?`;
	if (slot.kind === 'date') return `What date is the ${name}, as in 2025-03-31?`;
	return `What is the ${name}?`;
}

/** For a message that fits nothing. */
export function offerText(skills: readonly CatalogSkill[]): string {
	const about = 'Demo mode: no AI model is connected. I match your words with the skills and run their commands.';
	if (skills.length === 0)
		return [about, 'There are no skills yet. Add a folder with a `SKILL.md` to `skills/`.', CONNECT].join('\n\n');
	const listed = skills.slice(0, MAX_LISTED).map(({ name, description }) => {
		const sentence = (/^[^]{1,300}?[.!?](?=\s|$)/.exec(description)?.[0] ?? description.slice(0, 200))
			.replace(/\s+/g, ' ')
			.trim();
		return sentence === '' ? `- **${name}**` : `- **${name}** – ${sentence}`;
	});
	if (skills.length > MAX_LISTED) listed.push(`- … and ${skills.length - MAX_LISTED} more`);
	return [about, 'No skill clearly fits your message. You can ask for:', listed.join('\n'), CONNECT].join('\n\n');
}

/** A skill without anything to run: the sections that speak of what was asked, or its outline. */
export function instructionsText({ name, body }: LoadedSkill, asked: string): string {
	const sections = sectionsOf(body);
	const words = new Set(tokenize(asked));
	const points = sections.map(
		({ title, text }) =>
			new Set(tokenize(`${title} ${text}`).filter((word) => words.has(word))).size +
			new Set(tokenize(title).filter((word) => words.has(word))).size
	);
	const best = Math.max(0, ...points);
	const fitting = best > 1 ? sections.filter((_, index) => points[index] === best).slice(0, 2) : [];
	const outline = sections.slice(0, MAX_LISTED).map(({ level, title }) => `${'  '.repeat(level)}- ${title}`);
	const shown = fitting.map(({ title, text }) => `**${title}**\n\n${text.slice(0, 2_000)}`);
	return [
		`The skill **${name}** has instructions only, nothing to run.`,
		...(shown.length > 0 ? ['It says:', ...shown] : []),
		...(outline.length > 0 ? [`Its instructions cover:\n\n${outline.join('\n')}`] : []),
		CONNECT,
		ASKED.replace(' yet', '')
	].join('\n\n');
}

function sectionsOf(body: string): { level: number; title: string; text: string }[] {
	const sections: { level: number; title: string; text: string }[] = [];
	let fence: string | null = null;
	for (const line of body.split('\n')) {
		const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
		if (mark !== undefined) fence = fence === null ? mark : mark.startsWith(fence) ? null : fence;
		const [, marks, title] = (fence === null ? /^(#{1,6})\s+(\S.*)$/.exec(line) : null) ?? [];
		const last = sections.at(-1);
		if (marks !== undefined && title !== undefined)
			sections.push({ level: Math.max(0, marks.length - 2), title: title.trim(), text: '' });
		else if (last) last.text = `${last.text}\n${line}`.trim();
	}
	return sections.length > 1 && /^# /m.test(body.slice(0, 2_000)) ? sections.slice(1) : sections;
}

// What the calls of a turn answered: results, files, failures.

/** Each call in turn, then what was run. */
export function reportText(calls: readonly FinishedCall[]): string {
	const reports = calls.map((call) => {
		const text = reportCall(call);
		return calls.length > 1 && !hasFailed(call) ? `${inlineCode(nameOf(call))}:\n\n${text}` : text;
	});
	const ran = calls.filter(({ name }) => name !== LOAD_SKILL).map((call) => inlineCode(shownCall(call)));
	return [...reports, ...(ran.length > 0 ? [`Ran ${ran.join(', then ')}`] : []), SIGNATURE].join('\n\n');
}

/** The command as one would type it. */
function shownCall(call: FinishedCall): string {
	const { script, args } = asObject(parseJson(call.arguments));
	const quote = (text: string) => (/^[\w@%+=:,./#-]+$/.test(text) ? text : `"${text.replaceAll(/["\\]/g, '\\$&')}"`);
	const parts =
		call.name === USE_SKILL
			? [asText(script) ?? '', ...asArray(args).map((each) => quote(String(each)))]
			: [call.name, call.arguments];
	const text = parts.join(' ').replaceAll(/\s+/g, ' ');
	return text.length > MAX_SHOWN_CALL ? `${text.slice(0, MAX_SHOWN_CALL)}…` : text;
}

function hasFailed(call: FinishedCall): boolean {
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
	const output = asText(result.stdout)?.trim() ? asText(result.stdout) : undefined;
	const warnings = asText(result.stderr)?.trim() ? asText(result.stderr) : undefined;
	const parts = [
		output === undefined
			? warnings === undefined
				? `${inlineCode(nameOf(call))} ran and printed nothing.`
				: fenced(lastLines(warnings))
			: renderOutput(output),
		result.truncated === true ? 'The output was longer than is shown here.' : null,
		reportFiles(result.files)
	];
	return parts.filter((part) => part !== null).join('\n\n');
}

function reportFailure(call: FinishedCall): string {
	const result = asObject(parseJson(call.output));
	const error = asText(result.error);
	const message = asText(result.message);
	const exitCode =
		typeof result.exitCode === 'number' && result.exitCode > 0 ? ` with exit code ${result.exitCode}` : '';
	const type = asText(result.type) ?? (message === undefined ? undefined : error);
	const name = inlineCode(nameOf(call));
	const what = call.name === LOAD_SKILL ? `The skill ${name} could not be loaded` : `${name} failed${exitCode}`;
	const output = asText(result.stdout)?.trim();
	const errors = asText(result.stderr)?.trim();
	const parts = [
		`${what}${type === undefined ? '' : ` (${type})`}.`,
		message ?? (error === type ? undefined : error),
		output ? renderOutput(output) : undefined,
		errors ? fenced(lastLines(errors)) : undefined,
		reportFiles(result.files) ?? undefined,
		`**What to do**: ${asText(result.hint) ?? adviceAfter(type)}`
	];
	return parts.filter((part) => part !== undefined).join('\n\n');
}

function adviceAfter(type: string | undefined): string {
	if (type === 'ExecutionTimeout') return 'Ask again with less to work on, or raise `SKILLS_TIMEOUT_MS`.';
	if (type === 'ApprovalDenied') return 'Nothing ran. Ask again and allow it if you want it to run.';
	return 'Change what it complains about and ask again.';
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
