/** Fuzzy matching and filtering for short lists that are ranked while one types. Pure. */
import type { ModelInfo } from '../../shared/models.ts';
import type { SkillSummary } from '../../shared/skills.ts';
import { isInstalled } from '../skills/skill-words.ts';

/**
 * Higher is better; null if the query isn't in the text, neither as it is nor as letters of which each begins a word or
 * follows the one before: `nc` and `newch` find "New chat", `csv` doesn't find "MCP servers". Hyphens are as good as
 * spaces.
 */
export function fuzzyScore(text: string, query: string): number | null {
	const letters = [...query.toLowerCase().replaceAll(/\s+/g, '')];
	if (letters.length === 0) return 0;
	const low = text.toLowerCase();
	const whole = spaced(text).indexOf(spaced(query.trim()));
	if (whole !== -1)
		return 1000 - Math.min(whole, 100) - Math.min(low.length, 400) / 10 + (isStart(low, whole) ? 200 : 0);
	const score = scoreLetters(low, letters);
	return score === null ? null : score - low.length / 100;
}

/** As one types it, whose length stays. */
export function spaced(text: string): string {
	return text.toLowerCase().replaceAll('-', ' ');
}

/** Best match first, without what doesn't match; ties keep their order. */
export function rankBy<Item>(items: readonly Item[], query: string, textOf: (item: Item) => string): Item[] {
	if (query.trim() === '') return [...items];
	return byScore(items, (item) => fuzzyScore(textOf(item), query)).map(({ item }) => item);
}

/** Best first, without those that have none; ties keep their order. */
export function byScore<Item>(
	items: readonly Item[],
	scoreOf: (item: Item) => number | null
): { item: Item; score: number }[] {
	return items
		.flatMap((item) => {
			const score = scoreOf(item);
			return score === null ? [] : [{ item, score }];
		})
		.sort((a, b) => b.score - a.score);
}

/** Whether every word of the query is in the text. */
export function hasWords(text: string, query: string): boolean {
	const low = text.toLowerCase();
	return query
		.toLowerCase()
		.split(/\s+/)
		.every((word) => low.includes(word));
}

/**
 * Whether each word of the query is in the text, with its hyphens or without, or one slip away from the beginning of a
 * word of it: of three letters, two that changed places, or beside other words one that is missing.
 */
export function isNearly(text: string, query: string): boolean {
	const texts = `${text}\n${text.replaceAll('-', '')}`;
	const words = texts.toLowerCase().split(/[^\p{L}\p{N}]+/u);
	const all = query
		.toLowerCase()
		.trim()
		.split(/[\s-]+/);
	const isShortSlip = (word: string, typed: string): boolean =>
		typed.length === 3 && (isSwap(word, typed) || (all.length > 1 && lacksOne(word, typed)));
	return all.every(
		(typed) =>
			hasWords(texts, typed) ||
			words.some((word) => (typed.length > 3 ? isOneSlip(word, typed) : isShortSlip(word, typed)))
	);
}

/** A letter is missing after the first; the word may go on. */
function lacksOne(word: string, typed: string): boolean {
	return [1, 2].some((at) => word.startsWith(typed.slice(0, at)) && word.slice(at + 1).startsWith(typed.slice(at)));
}

/** Two letters that changed places; the word may go on after it. */
function isSwap(word: string, typed: string): boolean {
	let at = 0;
	while (at < typed.length && word[at] === typed[at]) at++;
	const [rest, left] = [word.slice(at), typed.slice(at)];
	return left.length > 1 && rest[0] === left[1] && rest[1] === left[0] && rest.slice(2).startsWith(left.slice(2));
}

/** A letter too many, too few or another one, or two that changed places; the word may go on after it. */
function isOneSlip(word: string, typed: string): boolean {
	let at = 0;
	while (at < typed.length && word[at] === typed[at]) at++;
	const [rest, left] = [word.slice(at), typed.slice(at)];
	return (
		rest.startsWith(left.slice(1)) ||
		rest.slice(1).startsWith(left) ||
		rest.slice(1).startsWith(left.slice(1)) ||
		isSwap(rest, left)
	);
}

/** What a skill is searched by. */
export function proseOf({ name, description, tags = [] }: Pick<SkillSummary, 'name' | 'description' | 'tags'>): string {
	return [name, description, ...tags].join('\n');
}

/** The best way to find the letters in this order, each at the start of a word or directly after the one before. */
function scoreLetters(text: string, letters: readonly string[]): number | null {
	/** Best score by the place after the last letter. */
	let ends = new Map([[0, 0]]);
	for (const letter of letters) {
		const next = new Map<number, number>();
		for (let at = text.indexOf(letter); at !== -1; at = text.indexOf(letter, at + 1)) {
			const scores = [...ends].flatMap(([end, score]) => {
				if (end === at && end > 0) return score + 8;
				return end <= at && isStart(text, at) ? score + 6 : [];
			});
			if (scores.length > 0) next.set(at + letter.length, Math.max(...scores));
		}
		ends = next;
	}
	return ends.size === 0 ? null : Math.max(...ends.values());
}

function isStart(text: string, at: number): boolean {
	return at === 0 || /[\s\-_./:(“"]/.test(text[at - 1] ?? '');
}

export const SKILL_FILTERS = [
	['all', 'All'],
	['yours', 'Yours'],
	['installed', 'Installed'],
	['bundled', 'Bundled'],
	['review', 'To review'],
	['off', 'Off']
] as const;
export type SkillFilter = (typeof SKILL_FILTERS)[number][0];

export const SKILL_ORDERS = [
	['name', 'Name'],
	['used', 'Last used'],
	['most', 'Most used']
] as const;
export type SkillOrder = (typeof SKILL_ORDERS)[number][0];

interface SkillView {
	query: string;
	filter: SkillFilter;
	/** Default: as given. Those whose name has a word of the query come first in any. */
	order?: SkillOrder;
	/** `source/name` of the skills with an update. */
	outdated?: readonly string[];
}

/** Every word of `query` is in the name, the description or the tags. */
export function filterSkills(
	skills: readonly SkillSummary[],
	{ query, filter, order = 'name', outdated = [] }: SkillView
): SkillSummary[] {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	const found = skills.filter((skill) => isKind(skill, filter, outdated) && hasWords(proseOf(skill), query.trim()));
	const isNamed = ({ name }: SkillSummary): boolean => words.some((word) => name.toLowerCase().includes(word));
	return found.toSorted((a, b) => compareUse(a, b, order)).toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a)));
}

function compareUse({ usage: one }: SkillSummary, { usage: other }: SkillSummary, order: SkillOrder): number {
	if (order === 'most') return other.executions - one.executions;
	return order === 'used' ? (other.lastUsedAt ?? '').localeCompare(one.lastUsedAt ?? '') : 0;
}

export function hasUpdate({ source, name }: SkillSummary, outdated: readonly string[]): boolean {
	return outdated.includes(`${source}/${name}`);
}

function isKind(skill: SkillSummary, filter: SkillFilter, outdated: readonly string[]): boolean {
	switch (filter) {
		case 'all':
			return true;
		case 'yours':
			return skill.provider === 'local';
		case 'installed':
			return isInstalled(skill);
		case 'bundled':
			return skill.provider === 'bundled' || skill.provider === 'builtin';
		case 'review':
			return isToReview(skill) || hasUpdate(skill, outdated);
		case 'off':
			return skill.status === 'ready' && skill.mode === 'off';
	}
}

/** By a person: to trust it, or to fix it. What it needs to run is said on its page. */
function isToReview({ status, provider, trust, diagnostics }: SkillSummary): boolean {
	return (
		status === 'broken' ||
		trust === 'untrusted' ||
		trust === 'changed' ||
		(provider !== 'builtin' && diagnostics.length > 0)
	);
}

/** What a model must be able to do. */
export const MODEL_NEEDS = {
	Pictures: ({ takes }) => takes?.includes('image') === true,
	Files: ({ takes }) => takes?.includes('file') === true,
	Audio: ({ takes }) => takes?.includes('audio') === true,
	Tools: ({ takesTools }) => takesTools === true
} satisfies Record<string, (model: ModelInfo) => boolean>;
export type ModelNeed = keyof typeof MODEL_NEEDS;

export interface ModelFilter {
	needs: readonly ModelNeed[];
	/** USD per million input tokens; 0 for free models, null for any. */
	most: number | null;
}

/** The id without its provider until the list with names has loaded. */
export function modelName(models: readonly { id: string; name: string }[], id: string): string {
	return models.find((model) => model.id === id)?.name ?? id.replace(/^[^/]*\//, '');
}

/** Takes the id out, or adds it if there is room. */
export function toggled(ids: readonly string[], id: string, most: number): string[] {
	return ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id].slice(0, most);
}

export function isFree({ price }: ModelInfo): boolean {
	return price?.input === 0 && price.output === 0;
}

/** Models whose name or id contains every word; those that start with the query come first. */
export function filterModels(models: readonly ModelInfo[], query: string, filter?: ModelFilter): ModelInfo[] {
	const { needs = [], most = null } = filter ?? {};
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	const first: ModelInfo[] = [];
	const others: ModelInfo[] = [];
	for (const model of models) {
		if (!needs.every((need) => MODEL_NEEDS[need](model))) continue;
		if (most === 0 ? !isFree(model) : most !== null && !(model.price && model.price.input <= most)) continue;
		const name = model.name.toLowerCase();
		const text = `${name}\n${model.id.toLowerCase()}`;
		if (!words.every((word) => text.includes(word))) continue;
		const isFirst =
			words.length === 0 || name.startsWith(words.join(' ')) || model.id.toLowerCase().startsWith(words.join(' '));
		(isFirst ? first : others).push(model);
	}
	return [...first, ...others];
}

/** `$0.15`, `$3`, `$12.50`, `$0.0004`: dollars per million tokens. */
export function formatPrice(dollars: number): string {
	if (dollars === 0) return '$0';
	const places = dollars >= 1 ? 2 : dollars >= 0.01 ? 3 : 4;
	return `$${dollars.toFixed(places).replace(/\.?0+$/, '')}`;
}
