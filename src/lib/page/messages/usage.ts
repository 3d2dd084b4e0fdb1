/** What a reply used and was offered. Pure. */
import type { RunContext, RunUsage, OfferedSkill } from '../../shared/events.ts';
import type { Part } from '../../shared/message.ts';
import type { ModelInfo } from '../../shared/models.ts';
import { BUILT_IN_MODEL } from '../../shared/names.ts';
import { formatCost, formatCount, formatDuration, formatSpeed, formatTokens } from '../text/format.ts';
import { markHidden } from '../../shared/characters.ts';
import type { RunOffer } from '../../shared/api.ts';

const partsText = {
	messages: 'Messages',
	skills: 'Skill instructions',
	results: 'Tool results',
	catalog: 'Skill list',
	tools: 'Tools',
	system: 'System prompt'
};

const PARTS = ['messages', 'skills', 'results', 'catalog', 'tools', 'system'] as const;

export interface ContextUse {
	tokens: number;
	/** Share of the model's context, from 0 to 1; null if its limit is unknown. */
	share: number | null;
	/** Without empty ones. */
	parts: { label: string; tokens: number }[];
}

export function contextUse(context: RunContext): ContextUse {
	const parts = PARTS.map((key) => ({ label: partsText[key], tokens: context[key] })).filter(
		({ tokens }) => tokens > 0
	);
	const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
	return { tokens, share: context.limit ? Math.min(1, tokens / context.limit) : null, parts };
}

/** Before a message whose input costs more than this, in US dollars, the page says so. */
const DEAR_SEND_USD = 0.25;
/** At no usual price is less than this dear. */
export const FEW_TOKENS = 10_000;

/** What the input of the next message costs if nothing of it is cached; null unless that is much, or if unknown. */
export function dearSend(tokens: number, price: ModelInfo['price'] | undefined): string | null {
	const cost = price ? (tokens * price.input) / 1e6 : 0;
	if (tokens < FEW_TOKENS || cost <= DEAR_SEND_USD) return null;
	return `Costs up to $${cost.toFixed(2)} to send (${formatTokens(tokens)} tokens)`;
}

/** The usage of one reply in a line. */
export function printUsage(usage: RunUsage | null): string {
	if (!usage) return '';
	const hasTokens = usage.inputTokens + usage.outputTokens > 0;
	return [
		shownModel(usage.model),
		...(usage.answeredBy ? [`answered by ${shownModel(usage.answeredBy)}`] : []),
		...(hasTokens ? [`${formatCount(usage.inputTokens)} in · ${formatCount(usage.outputTokens)} out`] : []),
		...(usage.cachedTokens ? [`${formatCount(usage.cachedTokens)} cached`] : []),
		...(usage.reasoningTokens ? [`${formatCount(usage.reasoningTokens)} reasoning`] : []),
		...(usage.cost === undefined ? [] : [formatCost(usage.cost)])
	].join(' · ');
}

/** The same as table rows. */
export function usageRows(usage: RunUsage, parts: readonly Part[], totalMs: number | null): [string, string][] {
	const scriptsMs = parts.reduce(
		(sum, part) => sum + (part.type === 'tool' ? (part.execution?.durationMs ?? 0) : 0),
		0
	);
	return [
		['Model', shownModel(usage.model)],
		...(usage.answeredBy ? [['Answered by', shownModel(usage.answeredBy)] satisfies [string, string]] : []),
		...(usage.notAsked ?? []).map((remark, index): [string, string] => [`Fallback ${index + 1}`, markHidden(remark)]),
		['Input tokens', formatCount(usage.inputTokens)],
		...(usage.cachedTokens ? [['Cached', formatCount(usage.cachedTokens)] satisfies [string, string]] : []),
		['Output tokens', formatCount(usage.outputTokens)],
		...(usage.reasoningTokens ? [['Reasoning', formatCount(usage.reasoningTokens)] satisfies [string, string]] : []),
		...(usage.cost === undefined ? [] : [['Cost', formatCost(usage.cost)] satisfies [string, string]]),
		...(usage.saved ? [['Saved by cache', formatCost(usage.saved)] satisfies [string, string]] : []),
		...(scriptsMs > 0 ? [['Script time', formatDuration(scriptsMs)] satisfies [string, string]] : []),
		...(usage.firstTextMs === undefined
			? []
			: [['Time to first text', formatDuration(usage.firstTextMs)] satisfies [string, string]]),
		...(usage.tokensPerSecond === undefined
			? []
			: [['Speed', formatSpeed(usage.tokensPerSecond)] satisfies [string, string]]),
		...(totalMs === null ? [] : [['Total time', formatDuration(totalMs)] satisfies [string, string]])
	];
}

function shownModel(id: string): string {
	return id === BUILT_IN_MODEL ? 'Demo mode' : markHidden(id);
}

export type WhyFilter = 'offered' | 'loaded' | 'untold';

export interface WhyRow {
	name: string;
	/** Null for a skill that was loaded or run but isn't among the saved ones. */
	offered: OfferedSkill | null;
	isLoaded: boolean;
	/** One entry per execution. */
	ran: RunOffer['ran'];
}

/** In offer order, then skills that were loaded or run without being offered. */
export function whyRows({ offer, loaded, ran }: RunOffer): WhyRow[] {
	const listed = offer?.skills ?? [];
	const known = new Set(listed.map(({ name }) => name));
	const others = [...new Set([...loaded, ...ran.map(({ skill }) => skill)])].filter((name) => !known.has(name));
	const rowOf = (name: string, offered: OfferedSkill | null): WhyRow => ({
		name,
		offered,
		isLoaded: loaded.includes(name),
		ran: ran.filter(({ skill }) => skill === name)
	});
	return [...listed.map((skill) => rowOf(skill.name, skill)), ...others.map((name) => rowOf(name, null))];
}

export function filterRows(rows: readonly WhyRow[], filter: WhyFilter): WhyRow[] {
	switch (filter) {
		case 'offered':
			return rows.filter(({ offered }) => offered !== null && offered.told !== 'omitted');
		case 'loaded':
			return rows.filter(({ isLoaded, ran }) => isLoaded || ran.length > 0);
		case 'untold':
			return rows.filter(({ offered }) => offered?.told === 'omitted');
		default:
			return filter satisfies never;
	}
}

/** Points as a share of the best skill’s: they mean something within one question only. */
export function formatShare(points: number, most: number): string {
	const share = most > 0 ? (points / most) * 100 : 0;
	return share > 0 && share < 1 ? 'under 1%' : `${Math.round(share)}%`;
}
