/** Renders the library for the model, in several formats and within a budget; pure (B1–B4, B9, C19). */
import { estimateTokens, withoutHidden, withoutHiddenIn } from '../../shared/characters.ts';
import { pageOf } from './run/execution-result.ts';
import type { Skill } from './types.ts';

/** `markdown`: S0's section; `compact`: one line per skill (S3); `xml`: the standard's `<available_skills>`. */
export type CatalogFormat = 'markdown' | 'compact' | 'xml';

export interface CatalogOptions {
	/** `markdown` by default. */
	format?: CatalogFormat;
	/** Hard limit for the whole section in tokens; without it every skill is described in full. */
	budgetTokens?: number;
	/** If not all fit: only names, in the given order and within this, so that the text is the same for every question. */
	namesTokens?: number;
	/** Matching skills, best first (`createSkillIndex`); called only if not all fit. The rest are listed by name. */
	rank?: () => readonly Skill[];
	/** Adds advice on when to use skills (C19). */
	hasGuidance?: boolean;
}

/** Characters shown of a description (A9). */
const MAX_DESCRIPTION = 1024;

/** How a skill appears: with its description, or by name only. */
export interface ToldSkill {
	told: 'full' | 'name';
	/** Estimated tokens it takes. */
	tokens: number;
}

export interface Catalog {
	text: string;
	/** Skills in `text`; the others didn't fit. */
	told: ReadonlyMap<Skill, ToldSkill>;
}

/** The system prompt section; empty without skills (C18). */
export function renderCatalog(skills: readonly Skill[], options: CatalogOptions = {}): string {
	return tellCatalog(skills, options).text;
}

/** `renderCatalog`, with what it shows of each skill (F2). */
export function tellCatalog(skills: readonly Skill[], options: CatalogOptions = {}): Catalog {
	if (skills.length === 0) return NOTHING_TOLD;
	const { format = 'markdown', budgetTokens = Infinity, namesTokens, rank = () => [], hasGuidance = false } = options;
	const { entry, ...rest } = FORMATS[format];
	// Before escaping: an invisible character would hide a tag from it.
	const form: Form = { ...rest, entry: (skill) => entry(withoutHiddenIn(fieldsOf(skill))) };
	const head = hasGuidance ? `${form.head}\n\n${GUIDANCE}` : form.head;
	const entries = skills.map(form.entry);
	const whole = join(head, entries, form);
	if (estimateTokens(whole) <= budgetTokens) return { text: whole, told: toldIn(form, { full: skills, entries }) };

	if (namesTokens !== undefined)
		return renderPart(skills, head, { room: Math.floor(namesTokens) * 4, describes: false }, form);
	const ranked = rank();
	const isRanked = new Set(ranked);
	const inOrder = [...ranked, ...skills.filter((skill) => !isRanked.has(skill))];
	const room = Math.floor(budgetTokens) * 4;
	// With less room it drops the guidance, then descriptions, then names, then everything.
	return renderPart(inOrder, head.length <= room / 2 ? head : form.head, { room, describes: true }, form);
}

const NOTHING_TOLD: Catalog = { text: '', told: new Map() };

/** Estimated tokens of a part, rounded so that parts add up. */
function shareOf(text: string): number {
	return Math.max(1, Math.round(text.length / 4));
}

/** As many skills as fit, counted in characters to be exact; empty if none fit. */
function renderPart(
	skills: readonly Skill[],
	head: string,
	{ room, describes }: { room: number; describes: boolean },
	form: Form
): Catalog {
	const left = room - join(head, [''], form).length;
	if (!(left > 0)) return NOTHING_TOLD;
	// Keep a quarter for the names of the others.
	const full = takeWhile(
		skills,
		describes ? Math.floor((left * 3) / 4) : 0,
		(skill) => form.entry(skill).length + form.separator.length
	);
	const entries = full.map(form.entry);
	const used = entries.reduce((sum, entry) => sum + entry.length + form.separator.length, 0);
	const others = othersIn(skills.slice(full.length), left - used, form);
	const parts = others ? [...entries, others.text] : entries;
	if (parts.length === 0) return NOTHING_TOLD;
	return { text: join(head, parts, form), told: toldIn(form, { full, entries, named: others?.named ?? [] }) };
}

/** Tokens of each skill: its entry or name, with the separator. */
function toldIn(
	{ separator }: Form,
	{ full, entries, named = [] }: { full: readonly Skill[]; entries: readonly string[]; named?: readonly Skill[] }
): Map<Skill, ToldSkill> {
	const told = new Map<Skill, ToldSkill>();
	for (const [index, skill] of full.entries()) {
		told.set(skill, { told: 'full', tokens: shareOf((entries[index] ?? '') + separator) });
	}
	for (const skill of named) told.set(skill, { told: 'name', tokens: shareOf(`${skill.name}, `) });
	return told;
}

type EntryFields = Pick<Skill, 'name' | 'description' | 'compatibility' | 'path'>;

function fieldsOf({ name, description, compatibility, path }: EntryFields): EntryFields {
	return { name, description, compatibility, path };
}

interface Form {
	head: string;
	entry(this: void, skill: EntryFields): string;
	/** Formats a line about skills without an entry. */
	note(this: void, text: string): string;
	separator: string;
	tail: string;
}

const FORMATS: Record<CatalogFormat, Form> = {
	markdown: {
		head: `## Available Skills

You have access to skills that help you perform specific tasks. Each skill has instructions and scripts you can run.

To use a skill:
1. Call load_skill to read its instructions
2. Follow the instructions, calling use_skill to run scripts as directed
`,
		entry: ({ name, description }) => `### ${name}\n${firstCharacters(description)}`,
		note: (text) => text,
		separator: '\n\n',
		tail: ''
	},
	compact: {
		head: `## Available skills

Call \`skill_load(name="<name>")\` to read the instructions of a skill before you use it.
`,
		entry: ({ name, description, compatibility }) => {
			const hint = compatibility ? `\n  (compatibility: ${oneLine(compatibility)})` : '';
			return `- ${name}: ${firstCharacters(oneLine(description))}${hint}`;
		},
		note: (text) => text,
		separator: '\n',
		tail: ''
	},
	xml: {
		head: '<available_skills>',
		entry: ({ name, description, path }) => {
			const element = (tag: string, value: string) => `<${tag}>\n${escape(value)}\n</${tag}>`;
			return `<skill>\n${element('name', name)}\n${element('description', firstCharacters(description))}\n${element('location', path)}\n</skill>`;
		},
		note: (text) => `<!-- ${escape(text).replaceAll('--', '- -')} -->`,
		separator: '\n',
		tail: '\n</available_skills>'
	}
};

const GUIDANCE = `Use a skill when the task matches its description, needs special knowledge, or a script of it does the work. Answer directly when none fits. Load a skill once; read its other files only when its instructions send you there.`;

function join(head: string, entries: readonly string[], { separator, tail }: Form): string {
	return [head, ...(entries.length > 0 ? [entries.join(separator)] : [])].join('\n') + tail;
}

/** Names of the remaining skills, as many as fit, and how to search for them; null if nothing fits. */
function othersIn(
	rest: readonly Skill[],
	room: number,
	{ note, separator }: Form
): { text: string; named: readonly Skill[] } | null {
	if (rest.length === 0) return null;
	const line = (named: readonly Skill[]) => {
		const missing = rest.length - named.length;
		const names = named.map(({ name }) => withoutHidden(name)).join(', ');
		const listed =
			named.length > 0
				? `More skills: ${names}${missing > 0 ? `, and ${missing} others` : ''}.`
				: `${missing} more skills.`;
		return { text: note(`${listed} Call search_skills to find one.`), named };
	};
	// The longest text around the names; if all fit, the few characters saved don't matter.
	const fixed = note(`More skills: , and ${rest.length} others. Call search_skills to find one.`).length;
	const named = takeWhile(rest, room - separator.length - fixed + 2, ({ name }) => name.length + 2);
	// Escaping may have made names longer.
	return [line(named), line([])].find(({ text }) => text.length + separator.length <= room) ?? null;
}

function takeWhile<Item>(items: readonly Item[], room: number, size: (item: Item) => number): Item[] {
	const taken: Item[] = [];
	let left = room;
	for (const item of items) {
		left -= size(item);
		if (left < 0) break;
		taken.push(item);
	}
	return taken;
}

export function firstCharacters(text: string): string {
	return text.length <= MAX_DESCRIPTION ? text : [...text].slice(0, MAX_DESCRIPTION).join('');
}

export function oneLine(text: string): string {
	return text.replace(/\s+/g, ' ').trim();
}

/** Python's `html.escape`. */
function escape(text: string): string {
	return text
		.replaceAll('&', '&amp;')
		.replaceAll('<', '&lt;')
		.replaceAll('>', '&gt;')
		.replaceAll('"', '&quot;')
		.replaceAll("'", '&#x27;');
}

// Renders a loaded skill; pure (C1, B18).

/** Instructions returned at once: about 16,000 tokens, three times what the standard recommends. */
const MAX_BODY_BYTES = 64 * 1024;

/** True if the instructions are returned in pages. */
export function isLong({ body }: Pick<Skill, 'body'>): boolean {
	// A UTF-16 unit takes three bytes at most, so most texts needn't be counted.
	return body.length * 3 > MAX_BODY_BYTES && Buffer.byteLength(body) > MAX_BODY_BYTES;
}

/** The instructions from a byte offset, with a note on how to read on if cut. */
export function renderBody(skill: Pick<Skill, 'body'>, offset = 0): string {
	if (offset === 0 && !isLong(skill)) return skill.body;
	const { text, offset: start, nextOffset, totalBytes } = pageOf(Buffer.from(skill.body), offset, MAX_BODY_BYTES);
	if (nextOffset === null) return text;
	const shown = `These are bytes ${start} to ${nextOffset} of ${totalBytes} of the instructions.`;
	return `${text}\n\n[${shown} Load the skill again with offset ${nextOffset} to read on.]`;
}

/** The result of `load_skill`: instructions, folder, files and tools; with an offset only the instructions. */
export function renderLoadedSkill(skill: Skill, offset = 0): string {
	const body = inert(renderBody(skill, offset));
	// Only the first page contains the digest, which marks the skill as loaded in the conversation.
	if (offset > 0) return `<skill_content name="${attribute(skill.name)}" from="${offset}">\n${body}\n</skill_content>`;
	const tools = skill.tools.map((tool) => line(`${tool.name}: ${tool.description}`));
	return [
		`<skill_content name="${attribute(skill.name)}" digest="${skill.digest}">`,
		body,
		'',
		`<skill_files dir="${attribute(skill.dir)}">`,
		...skill.files.filter((file) => file !== 'SKILL.md').map(line),
		...(skill.hasMoreFiles ? [MORE_FILES] : []),
		'</skill_files>',
		...(tools.length > 0 ? ['<skill_tools>', ...tools, '</skill_tools>'] : []),
		'</skill_content>'
	].join('\n');
}

/** Ends a list of files that was cut. */
export const MORE_FILES = '… and more files, not listed: name one by its path to read it';

/** Keeps a skill's text from closing the wrapper early, even with invisible characters in a tag. */
function inert(text: string): string {
	return withoutHidden(text).replace(/<(\/?)(skill_(?:content|files|tools))\b/gi, '&lt;$1$2');
}

function line(text: string): string {
	return inert(text).replace(/\s+/g, ' ');
}

function attribute(text: string): string {
	return line(text).replaceAll('"', '&quot;');
}
