/** What a model's context is filled with, and what an answer has used. Pure. */
import type { RunContext, RunUsage } from '../../shared/events.ts';
import type { Part } from '../../shared/message.ts';
import { BUILT_IN_MODEL } from '../../shared/names.ts';
import { formatCost, formatCount, formatDuration } from '../text/format.ts';
import { markHidden } from '../../shared/characters.ts';

const partsText = {
	messages: 'Messages',
	skills: 'Instructions of skills',
	results: 'Results of tools',
	catalog: 'List of skills',
	tools: 'Tools',
	system: 'System prompt'
};

const PARTS = ['messages', 'skills', 'results', 'catalog', 'tools', 'system'] as const;

export interface ContextUse {
	tokens: number;
	/** Of the model's context, from 0 to 1; null when its length is not known. */
	share: number | null;
	/** Without those that are empty. */
	parts: { label: string; tokens: number }[];
}

export function contextUse(context: RunContext): ContextUse {
	const parts = PARTS.map((key) => ({ label: partsText[key], tokens: context[key] })).filter(
		({ tokens }) => tokens > 0
	);
	const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
	return { tokens, share: context.limit ? Math.min(1, tokens / context.limit) : null, parts };
}

/** The figures of one answer in a line. */
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

/** The same as a table; `totalMs` where it is known. */
export function usageRows(usage: RunUsage, parts: readonly Part[], totalMs: number | null): [string, string][] {
	const scriptsMs = parts.reduce(
		(sum, part) => sum + (part.type === 'tool' ? (part.execution?.durationMs ?? 0) : 0),
		0
	);
	return [
		['Model', shownModel(usage.model)],
		['Tokens in', formatCount(usage.inputTokens)],
		...(usage.cachedTokens ? [['of them cached', formatCount(usage.cachedTokens)] satisfies [string, string]] : []),
		['Tokens out', formatCount(usage.outputTokens)],
		...(usage.reasoningTokens
			? [['of them reasoning', formatCount(usage.reasoningTokens)] satisfies [string, string]]
			: []),
		...(usage.cost === undefined ? [] : [['Cost', formatCost(usage.cost)] satisfies [string, string]]),
		...(scriptsMs > 0 ? [['Running scripts', formatDuration(scriptsMs)] satisfies [string, string]] : []),
		...(usage.firstTextMs === undefined
			? []
			: [['First text after', formatDuration(usage.firstTextMs)] satisfies [string, string]]),
		...(totalMs === null ? [] : [['In all', formatDuration(totalMs)] satisfies [string, string]])
	];
}

function shownModel(id: string): string {
	return id === BUILT_IN_MODEL ? 'Demo mode' : markHidden(id);
}
