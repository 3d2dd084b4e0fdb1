/** Reports what the calls of a turn answered: results, files, failures. */
import { asArray, asObject, asText, isObject, parseJson } from '../json.ts';
import { SIGNATURE } from './answers.ts';
import { LOAD_SKILL, USE_SKILL } from './catalog.ts';
import { fenced, inlineCode, renderOutput, renderValue } from './markdown.ts';
import type { FinishedCall } from './turn.ts';

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
