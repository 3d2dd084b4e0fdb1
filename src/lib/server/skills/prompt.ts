/** What the model is told of the library, in the formats of the documents and within a budget; pure (FEATURES B1–B4, B9, C19). */
import { withoutHidden, withoutHiddenIn } from '../../shared/characters.ts';
import { pageOf } from './run/execution-result.ts';
import type { Skill } from './types.ts';

/** `markdown`: S0's section; `compact`: a line each (S3); `xml`: the standard's `<available_skills>`. */
export type CatalogFormat = 'markdown' | 'compact' | 'xml';

export interface CatalogOptions {
	/** `markdown`. */
	format?: CatalogFormat;
	/** Most tokens for the whole section, and never more, even if nothing can be said; without it every skill is told in full. */
	budgetTokens?: number;
	/**
	 * Asked only when the budget does not hold all: skills that fit what the user said, best first (`createSkillIndex`).
	 * They are told in full as far as there is room, the rest by name.
	 */
	rank?: () => readonly Skill[];
	/** Some words on when to use skills at all (C19). */
	hasGuidance?: boolean;
}

/** Characters of a description that are shown (A9). */
const MAX_DESCRIPTION = 1024;

/** How a skill was told: with its description, or by its name alone. */
export interface ToldSkill {
	told: 'full' | 'name';
	/** Estimated tokens of what was told of it. */
	tokens: number;
}

export interface Catalog {
	/** The system prompt's section; empty when there is nothing to offer (C18). */
	text: string;
	/** Those that it tells of; the others had no room. */
	told: ReadonlyMap<Skill, ToldSkill>;
}

/** The system prompt's section; empty when there is nothing to offer (C18). */
export function renderCatalog(skills: readonly Skill[], options: CatalogOptions = {}): string {
	return tellCatalog(skills, options).text;
}

/** `renderCatalog`, and what of each skill it tells (F2). */
export function tellCatalog(skills: readonly Skill[], options: CatalogOptions = {}): Catalog {
	if (skills.length === 0) return NOTHING_TOLD;
	const { format = 'markdown', budgetTokens = Infinity, rank = () => [], hasGuidance = false } = options;
	const { entry, ...rest } = FORMATS[format];
	// Before anything is escaped: an unseen character in a tag would hide it.
	const form: Form = { ...rest, entry: (skill) => entry(withoutHiddenIn(wordsOf(skill))) };
	const head = hasGuidance ? `${form.head}\n\n${GUIDANCE}` : form.head;
	const entries = skills.map(form.entry);
	const whole = join(head, entries, form);
	if (estimateTokens(whole) <= budgetTokens) return { text: whole, told: toldIn(form, { full: skills, entries }) };

	const ranked = rank();
	const isRanked = new Set(ranked);
	const inOrder = [...ranked, ...skills.filter((skill) => !isRanked.has(skill))];
	const room = Math.floor(budgetTokens) * 4;
	// The less room, the less is said: without guidance, then without descriptions, then without names, then nothing.
	return renderPart(inOrder, head.length <= room / 2 ? head : form.head, room, form);
}

const NOTHING_TOLD: Catalog = { text: '', told: new Map() };

/** Rounded to the nearest, for parts that are summed up. */
function shareOf(text: string): number {
	return Math.max(1, Math.round(text.length / 4));
}

/** As many skills as there is room for, in characters, so that the sum is exact; empty without room for any. */
function renderPart(skills: readonly Skill[], head: string, room: number, form: Form): Catalog {
	const left = room - join(head, [''], form).length;
	if (!(left > 0)) return NOTHING_TOLD;
	// A quarter is for the names of the others.
	const full = takeWhile(
		skills,
		Math.floor((left * 3) / 4),
		(skill) => form.entry(skill).length + form.separator.length
	);
	const entries = full.map(form.entry);
	const used = entries.reduce((sum, entry) => sum + entry.length + form.separator.length, 0);
	const others = othersIn(skills.slice(full.length), left - used, form);
	const parts = others ? [...entries, others.text] : entries;
	if (parts.length === 0) return NOTHING_TOLD;
	return { text: join(head, parts, form), told: toldIn(form, { full, entries, named: others?.named ?? [] }) };
}

/** What each skill takes: its entry or its name, with what sets it apart from the next. */
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

/** `markdown` of all skills, as S0 has it. */
export function renderSystemPrompt(skills: readonly Skill[]): string {
	return renderCatalog(skills);
}

/** What an entry tells. */
type SkillWords = Pick<Skill, 'name' | 'description' | 'compatibility' | 'path'>;

function wordsOf({ name, description, compatibility, path }: SkillWords): SkillWords {
	return { name, description, compatibility, path };
}

interface Form {
	head: string;
	entry(this: void, skill: SkillWords): string;
	/** A line about skills that have no entry. */
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

/** The names of the rest, as many as there is room for, and where to look for them; null without room for that. */
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
	// The longest text around the names; what is left of it when all of them fit is not worth counting.
	const fixed = note(`More skills: , and ${rest.length} others. Call search_skills to find one.`).length;
	const named = takeWhile(rest, room - separator.length - fixed + 2, ({ name }) => name.length + 2);
	// A name that had to be escaped is longer than it was.
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

function firstCharacters(text: string): string {
	return text.length <= MAX_DESCRIPTION ? text : [...text].slice(0, MAX_DESCRIPTION).join('');
}

function oneLine(text: string): string {
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

// How a loaded skill reads; pure (FEATURES C1, B18).

/** Of the instructions, as many are handed out at once: some 16,000 tokens, three times what the standard advises. */
const MAX_BODY_BYTES = 64 * 1024;

/** A rough count that is good enough to show and to budget with. */
export function estimateTokens(text: string): number {
	return Math.ceil(text.length / 4);
}

/** Whether the instructions are handed out in pieces. */
export function isLong({ body }: Pick<Skill, 'body'>): boolean {
	// A character takes three bytes at most: nearly every text need not be counted.
	return body.length * 3 > MAX_BODY_BYTES && Buffer.byteLength(body) > MAX_BODY_BYTES;
}

/** The instructions from a byte on, and where they are cut how to read on. */
export function renderBody(skill: Pick<Skill, 'body'>, offset = 0): string {
	if (offset === 0 && !isLong(skill)) return skill.body;
	const { text, offset: start, nextOffset, totalBytes } = pageOf(Buffer.from(skill.body), offset, MAX_BODY_BYTES);
	if (nextOffset === null) return text;
	const shown = `These are bytes ${start} to ${nextOffset} of ${totalBytes} of the instructions.`;
	return `${text}\n\n[${shown} Load the skill again with offset ${nextOffset} to read on.]`;
}

/** The answer of `load_skill`: instructions, the folder, its files and its tools; from a later byte on the instructions alone. */
export function renderLoadedSkill(skill: Skill, offset = 0): string {
	const body = inert(renderBody(skill, offset));
	// Only the beginning bears the digest, by which a conversation knows that the skill is loaded.
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

/** Ends a list of files that has no room for all. */
export const MORE_FILES = '… and more files, not listed: name one by its path to read it';

/** Text of a skill that cannot close the wrapper early and speak as if it stood outside: not with unseen characters in a tag, either. */
function inert(text: string): string {
	return withoutHidden(text).replace(/<(\/?)(skill_(?:content|files|tools))\b/gi, '&lt;$1$2');
}

function line(text: string): string {
	return inert(text).replace(/\s+/g, ' ');
}

function attribute(text: string): string {
	return line(text).replaceAll('"', '&quot;');
}
