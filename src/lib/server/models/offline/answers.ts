/** What the built-in responder says when it has run nothing. */
import type { CatalogSkill } from './catalog.ts';
import type { LoadedSkill } from './skill-content.ts';
import { wantedExtensions } from './slots.ts';
import type { Slot } from './slots.ts';

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
