/** Token use of a reply and its context. Pure. */
import type { RunContext, RunUsage } from '../../shared/events.ts';
import type { Part } from '../../shared/message.ts';
import { BUILT_IN_MODEL } from '../../shared/names.ts';
import { formatCost, formatCount, formatDuration } from '../text/format.ts';
import { markHidden } from '../../shared/characters.ts';

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

/** The usage of one reply in a line. */
export function printUsage(usage: RunUsage | null): string {
	if (!usage) return '';
	const hasTokens = usage.inputTokens + usage.outputTokens > 0;
	return [
		shownModel(usage.model),
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
		...(totalMs === null ? [] : [['Total time', formatDuration(totalMs)] satisfies [string, string]])
	];
}

function shownModel(id: string): string {
	return id === BUILT_IN_MODEL ? 'Demo mode' : markHidden(id);
}
