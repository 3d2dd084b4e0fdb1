/** The scorer of the OmniRoute document, to the point, with its parts (FEATURES B7, B8). Pure. */

export interface ScoredSkill {
	name: string;
	description: string;
	tags: readonly string[];
	/** Breaks ties (B8), before `installCount`, which seldom tells skills apart; milliseconds since 1970, never without it. */
	lastUsedAt?: number;
	/** Breaks ties (B8); 0 without it. */
	installCount?: number;
}

export interface ScoreRequest {
	/** The texts of all messages. */
	messages: readonly string[];
	/** The client's own tools, as they came. */
	tools?: readonly unknown[];
	model?: string;
	/** Formats of the request's source and target, e.g. `openai`. */
	formats?: readonly string[];
	/** Why this request runs in the background, if it does. */
	backgroundReason?: string;
	/** `openai`, `anthropic` or `google`: a skill whose tags name a provider gains or loses by it. */
	provider?: string;
}

export interface OmnirouteSignals {
	/** 6 when the name occurs in the context. */
	name: number;
	/** 2 for each token of the name among the context's tokens. */
	nameTokens: number;
	/** 3 for each tag that occurs in the context. */
	tags: number;
	/** 1 for each token of the description among the context's tokens. */
	description: number;
	/** 2 for each token of the background reason in the name, and 2 in any tag. */
	background: number;
	/** +2 when the tags name the request's provider, −2 when they name another. */
	provider: number;
}

export interface OmnirouteScore {
	score: number;
	signals: OmnirouteSignals;
}

/** At most so many skills are injected, and none with fewer points (B8). */
export const AUTO_MAX_SKILLS = 5;
export const AUTO_MIN_SCORE = 3;
const TOKEN_MIN_LENGTH = 3;

const PROVIDER_TAGS: Record<string, readonly string[]> = {
	openai: ['openai', 'gpt'],
	anthropic: ['anthropic', 'claude'],
	google: ['google', 'gemini']
};

/** What `scoreAutoSkill` looks in: everything that the request holds, in lower case. */
function omnirouteContext(request: ScoreRequest): string {
	const { tools = [], model = '', formats = [], backgroundReason = '', messages } = request;
	return [JSON.stringify(tools), model, ...formats, backgroundReason, ...messages].join(' ').toLowerCase();
}

/** The points of one skill, by signal. */
export function scoreAutoSkill(skill: ScoredSkill, request: ScoreRequest): OmnirouteScore {
	return createAutoScorer(request)(skill);
}

/** The skills to inject: at least 3 points, most points first, then the latest used, then most installs, then by name; at most 5. */
export function pickAutoSkills<Skill extends ScoredSkill>(
	skills: readonly Skill[],
	request: ScoreRequest,
	{ maxSkills = AUTO_MAX_SKILLS, minScore = AUTO_MIN_SCORE }: { maxSkills?: number; minScore?: number } = {}
): ({ skill: Skill } & OmnirouteScore)[] {
	const score = createAutoScorer(request);
	const scored = skills.map((skill) => ({ skill, ...score(skill) }));
	return pickScored(scored, { maxSkills, minScore });
}

/** `pickAutoSkills` of what has its points already. */
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
	/** Those of the context, and those of the background reason. */
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
		// An empty name is a part of every text; it says nothing.
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

/** Different words of at least three letters or digits; `camelCase` and `._@-/` divide. */
function tokensOf(text: string): string[] {
	const divided = text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
	return [...new Set(divided.match(/[a-z0-9]+/g) ?? [])].filter((token) => token.length >= TOKEN_MIN_LENGTH);
}
