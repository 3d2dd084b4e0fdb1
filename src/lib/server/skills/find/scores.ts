/** Scores skills against a query by the words they share (B7, B8). */
import type { Skill } from '../types.ts';
import type { SearchableSkill } from './skill-index.ts';
import { allWords, isStopWord, tokenize, tokenizeName, wordsOf } from './words.ts';

/** The score's parts, to explain why a skill was chosen. */
export interface SkillSignals {
	/** 6 if the whole name occurs, ignoring separators. */
	name: number;
	/** 2 for each word of the name that occurs. */
	nameTokens: number;
	/** 3 for each tag that occurs. */
	tags: number;
	/** 1 for each distinct word of the description that occurs. */
	description: number;
}

export interface SkillScore {
	score: number;
	signals: SkillSignals;
}

/** The default scorer of FEATURES B7; pure. `query` is the user's text. */
export function scoreSkill(query: string, skill: SearchableSkill): SkillScore {
	return createScorer(query)(skill);
}

/** `scoreSkill` for many skills: reads the query once. */
export function createScorer(query: string): (skill: SearchableSkill) => SkillScore {
	const [asked, all] = [readText(tokenize(query)), readText(allWords(query))];
	return (skill) => {
		const name = tokenizeName(skill.name);
		// A name made of stop words, such as `say-hello`, is found by them.
		const nameIn = wordsOf(skill.name).every(isStopWord) ? all : asked;
		const tags = skill.tags?.map(tokenizeName).filter((tag) => isSequenceIn(tag, asked)) ?? [];
		const signals: SkillSignals = {
			name: isSequenceIn(name, nameIn) ? 6 : 0,
			nameTokens: 2 * countIn(name, nameIn),
			tags: 3 * new Set(tags.map(String)).size,
			description: countIn(tokenize(skill.description), asked)
		};
		return { score: signals.name + signals.nameTokens + signals.tags + signals.description, signals };
	};
}

interface ReadText {
	words: readonly string[];
	/** Positions of each word. */
	places: ReadonlyMap<string, readonly number[]>;
}

function readText(words: readonly string[]): ReadText {
	const places = new Map<string, number[]>();
	for (const [index, word] of words.entries()) {
		const known = places.get(word);
		if (known) known.push(index);
		else places.set(word, [index]);
	}
	return { words, places };
}

function countIn(words: readonly string[], { places }: ReadText): number {
	return new Set(words.filter((word) => places.has(word))).size;
}

/** True if `words` occur next to each other in a text; false for no words. */
function isSequenceIn(words: readonly string[], text: ReadText): boolean {
	const [first] = words;
	if (first === undefined) return false;
	const starts = text.places.get(first) ?? [];
	return starts.some((start) => words.every((word, offset) => text.words[start + offset] === word));
}

// Search, scored as in the Agent Zero document (C5); pure.

export interface FoundSkill {
	skill: Skill;
	score: number;
}

const NAME = 3;
const DESCRIPTION = 2;
const TAG = 1;
/** Not in the document: matches in triggers and instructions count less than any other. */
const TRIGGER = 0.5;
const BODY = 0.25;
const MAX_TERMS = 32;

/** Per term: 3 points in the name, 2 in the description, 1 for each tag with it. Best first, ties by name. */
export function searchSkills(skills: readonly Skill[], query: string, limit = 25): FoundSkill[] {
	const terms = [...new Set(query.toLowerCase().split(/\s+/).filter(Boolean))].slice(0, MAX_TERMS);
	return skills
		.map((skill) => ({ skill, score: scoreOf(skill, terms) }))
		.filter(({ score }) => score > 0)
		.sort((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : 1))
		.slice(0, limit);
}

function scoreOf(skill: Skill, terms: readonly string[]): number {
	const name = skill.name.toLowerCase();
	const description = skill.description.toLowerCase();
	const tags = [...new Set(skill.tags.map((tag) => tag.toLowerCase()))];
	const triggers = skill.triggers.join('\n').toLowerCase();
	const body = skill.body.toLowerCase();
	let score = 0;
	for (const term of terms) {
		if (name.includes(term)) score += NAME;
		if (description.includes(term)) score += DESCRIPTION;
		score += TAG * tags.filter((tag) => tag.includes(term)).length;
		if (triggers.includes(term)) score += TRIGGER;
		if (body.includes(term)) score += BODY;
	}
	return score;
}

// The OmniRoute document’s scorer, with its signals (B7, B8); pure.

export interface ScoredSkill {
	name: string;
	description: string;
	tags: readonly string[];
	/** Breaks ties before `installCount`, which is seldom different (B8); milliseconds since 1970, absent if never used. */
	lastUsedAt?: number;
	/** Breaks ties (B8); 0 by default. */
	installCount?: number;
}

export interface ScoreRequest {
	/** The texts of all messages. */
	messages: readonly string[];
	/** The client's own tools, unchanged. */
	tools?: readonly unknown[];
	model?: string;
	/** Formats of the request's source and target, e.g. `openai`. */
	formats?: readonly string[];
	/** Why this request runs in the background, if it does. */
	backgroundReason?: string;
	/** `openai`, `anthropic` or `google`; skills tagged with a provider score higher or lower. */
	provider?: string;
}

export interface OmnirouteSignals {
	/** 6 if the name occurs in the context. */
	name: number;
	/** 2 for each token of the name among the context's tokens. */
	nameTokens: number;
	/** 3 for each tag that occurs in the context. */
	tags: number;
	/** 1 for each token of the description among the context's tokens. */
	description: number;
	/** 2 for each token of the background reason in the name, and 2 in any tag. */
	background: number;
	/** +2 if the tags name the request's provider, −2 if they name another. */
	provider: number;
}

export interface OmnirouteScore {
	score: number;
	signals: OmnirouteSignals;
}

/** Maximum number of injected skills, and their minimum score (B8). */
export const AUTO_MAX_SKILLS = 5;
export const AUTO_MIN_SCORE = 3;
const TOKEN_MIN_LENGTH = 3;

const PROVIDER_TAGS: Record<string, readonly string[]> = {
	openai: ['openai', 'gpt'],
	anthropic: ['anthropic', 'claude'],
	google: ['google', 'gemini']
};

/** The text `scoreAutoSkill` searches: everything in the request, lowercase. */
function omnirouteContext(request: ScoreRequest): string {
	const { tools = [], model = '', formats = [], backgroundReason = '', messages } = request;
	return [JSON.stringify(tools), model, ...formats, backgroundReason, ...messages].join(' ').toLowerCase();
}

/** The score of one skill, by signal. */
export function scoreAutoSkill(skill: ScoredSkill, request: ScoreRequest): OmnirouteScore {
	return createAutoScorer(request)(skill);
}

/** The skills to inject: at least 3 points, by score, then last use, then installs, then name; at most 5. */
export function pickAutoSkills<Skill extends ScoredSkill>(
	skills: readonly Skill[],
	request: ScoreRequest,
	{ maxSkills = AUTO_MAX_SKILLS, minScore = AUTO_MIN_SCORE }: { maxSkills?: number; minScore?: number } = {}
): ({ skill: Skill } & OmnirouteScore)[] {
	const score = createAutoScorer(request);
	const scored = skills.map((skill) => ({ skill, ...score(skill) }));
	return pickScored(scored, { maxSkills, minScore });
}

/** `pickAutoSkills` for skills with a score. */
export function pickScored<Scored extends { skill: ScoredSkill; score: number }>(
	scored: readonly Scored[],
	{ maxSkills, minScore }: { maxSkills: number; minScore: number }
): Scored[] {
	return scored
		.filter(({ score }) => score >= minScore)
		.sort(
			(a, b) =>
				b.score - a.score ||
				(b.skill.lastUsedAt ?? 0) - (a.skill.lastUsedAt ?? 0) ||
				(b.skill.installCount ?? 0) - (a.skill.installCount ?? 0) ||
				(a.skill.name < b.skill.name ? -1 : 1)
		)
		.slice(0, maxSkills);
}

/** `scoreAutoSkill` for many skills: reads the request once. */
export function createAutoScorer(request: ScoreRequest): (skill: ScoredSkill) => OmnirouteScore {
	const context = omnirouteContext(request);
	const words = new Set(tokensOf(context));
	const background = tokensOf(request.backgroundReason ?? '');
	return (skill) => scoreIn({ context, words, background, provider: request.provider }, skill);
}

interface ReadRequest {
	context: string;
	/** Words of the context. */
	words: ReadonlySet<string>;
	background: readonly string[];
	provider: string | undefined;
}

function scoreIn({ context, words, background, provider }: ReadRequest, skill: ScoredSkill): OmnirouteScore {
	const name = skill.name.toLowerCase();
	const nameTokens = tokensOf(skill.name);
	const tags = skill.tags.map((tag) => tag.toLowerCase().trim()).filter((tag) => tag !== '');
	const isNear = (token: string) => tags.some((tag) => tag.includes(token) || token.includes(tag));
	const signals: OmnirouteSignals = {
		// An empty name would match any text.
		name: name !== '' && context.includes(name) ? 6 : 0,
		nameTokens: 2 * nameTokens.filter((token) => words.has(token)).length,
		tags: 3 * tags.filter((tag) => context.includes(tag)).length,
		description: tokensOf(skill.description).filter((token) => words.has(token)).length,
		background:
			2 * background.filter((token) => name.includes(token)).length +
			2 * background.filter((token) => isNear(token)).length,
		provider: providerPoints(tags, provider)
	};
	return { score: Object.values(signals).reduce((sum: number, points: number) => sum + points, 0), signals };
}

function providerPoints(tags: readonly string[], provider: string | undefined): number {
	const named = Object.entries(PROVIDER_TAGS).filter(([, hints]) => tags.some((tag) => hints.includes(tag)));
	if (provider === undefined || named.length === 0) return 0;
	return named.some(([key]) => key === provider) ? 2 : -2;
}

/** Distinct words of at least three letters or digits, split at `camelCase` and `._@-/`. */
function tokensOf(text: string): string[] {
	const divided = text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
	return [...new Set(divided.match(/[a-z0-9]+/g) ?? [])].filter((token) => token.length >= TOKEN_MIN_LENGTH);
}
