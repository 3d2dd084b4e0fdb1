/** A message as Markdown, for people: who, what was said, and the steps of an answer as a short list. */
import { plainLine } from '../../shared/characters.ts';
import type { Message, Part, ToolPart } from '../../shared/message.ts';

/** Ends with a line break. */
export function markdownOf(message: Message): string {
	const blocks = [`## ${message.role === 'user' ? 'You' : 'Assistant'}`];
	for (const part of message.parts) {
		const block = blockOf(part);
		if (block !== '') blocks.push(block);
	}
	if (message.files.length > 0) blocks.push(`Files: ${message.files.map(codeOf).join(', ')}`);
	const end = endOf(message);
	if (end !== '') blocks.push(end);
	return `${blocks.join('\n\n')}\n`;
}

function blockOf(part: Part): string {
	switch (part.type) {
		case 'text':
			return part.text.trim();
		case 'tool':
			return stepOf(part);
		// Not said to anybody.
		case 'reasoning':
		case 'compaction':
			return '';
		default:
			return part satisfies never;
	}
}

function stepOf(part: ToolPart): string {
	const { execution, status, result } = part;
	const exitCode = execution?.exitCode;
	const facts = [status, ...(typeof exitCode === 'number' ? [`exit code ${exitCode}`] : [])];
	const lines = [`- ${labelOf(part)} (${facts.join(', ')})`];
	if (execution && execution.files.length > 0) {
		lines.push(`  Files: ${execution.files.map(({ path }) => codeOf(path)).join(', ')}`);
	}
	if (result !== undefined && result !== '') lines.push('', indent(fenced(result)));
	return lines.join('\n');
}

function labelOf({ name, loaded, execution }: ToolPart): string {
	if (loaded) return `Loaded the skill ${codeOf(loaded.skill)}`;
	if (!execution) return `Called ${codeOf(name)}`;
	const command = [execution.tool ?? execution.script, ...execution.args].join(' ');
	return `Ran ${codeOf(command)} of the skill ${codeOf(execution.skill)}`;
}

function endOf({ status, error }: Message): string {
	if (error) return `*This answer ended early: ${oneLine(error.message)}*`;
	if (status === 'cancelled') return '*This answer was stopped.*';
	if (status === 'interrupted') return '*This answer was interrupted.*';
	if (status === 'waiting') return '*This answer waits for consent.*';
	return status === 'running' ? '*This answer is being written.*' : '';
}

/** In a fence that is longer than any inside. */
function fenced(text: string): string {
	const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
	return `${fence}\n${text.endsWith('\n') ? text.slice(0, -1) : text}\n${fence}`;
}

/** As code within a line. */
function codeOf(text: string): string {
	const line = oneLine(text);
	const mark = '`'.repeat(longestRun(line) + 1);
	const space = line.startsWith('`') || line.endsWith('`') || line === '' ? ' ' : '';
	return `${mark}${space}${line}${space}${mark}`;
}

function longestRun(text: string): number {
	let longest = 0;
	for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
	return longest;
}

function oneLine(text: string): string {
	return plainLine(text);
}

function indent(text: string): string {
	return text.replaceAll(/^(?=.)/gm, '  ');
}
