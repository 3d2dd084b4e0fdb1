/** What a model's context is filled with, and what an answer has used. Pure. */
import type { RunContext, RunUsage } from '../shared/events.ts';
import type { Part } from '../shared/message.ts';
import { BUILT_IN_MODEL } from '../shared/model-values.ts';
import { contextText as text, usageText } from '../strings/messages.ts';
import { modelsText } from '../strings/models.ts';
import { formatCost, formatCount, formatDuration } from './format.ts';
import { markHidden } from '../shared/characters.ts';

const PARTS = ['messages', 'skills', 'results', 'catalog', 'tools', 'system'] as const;

export interface ContextUse {
	tokens: number;
	/** Of the model's context, from 0 to 1; null when its length is not known. */
	share: number | null;
	/** Without those that are empty. */
	parts: { label: string; tokens: number }[];
}

export function contextUse(context: RunContext): ContextUse {
	const parts = PARTS.map((key) => ({ label: text.parts[key], tokens: context[key] })).filter(
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
		...(hasTokens ? [usageText.tokens(formatCount(usage.inputTokens), formatCount(usage.outputTokens))] : []),
		...(usage.cachedTokens ? [usageText.cached(formatCount(usage.cachedTokens))] : []),
		...(usage.reasoningTokens ? [usageText.reasoning(formatCount(usage.reasoningTokens))] : []),
		...(usage.cost === undefined ? [] : [formatCost(usage.cost)])
	].join(' · ');
}

/** The same as a table; `totalMs` where it is known. */
export function usageRows(usage: RunUsage, parts: readonly Part[], totalMs: number | null): [string, string][] {
	const { rows } = usageText;
	const scriptsMs = parts.reduce(
		(sum, part) => sum + (part.type === 'tool' ? (part.execution?.durationMs ?? 0) : 0),
		0
	);
	return [
		[rows.model, shownModel(usage.model)],
		[rows.input, formatCount(usage.inputTokens)],
		...(usage.cachedTokens ? [[rows.cached, formatCount(usage.cachedTokens)] satisfies [string, string]] : []),
		[rows.output, formatCount(usage.outputTokens)],
		...(usage.reasoningTokens ? [[rows.reasoning, formatCount(usage.reasoningTokens)] satisfies [string, string]] : []),
		...(usage.cost === undefined ? [] : [[rows.cost, formatCost(usage.cost)] satisfies [string, string]]),
		...(scriptsMs > 0 ? [[rows.scripts, formatDuration(scriptsMs)] satisfies [string, string]] : []),
		...(usage.firstTextMs === undefined
			? []
			: [[rows.firstText, formatDuration(usage.firstTextMs)] satisfies [string, string]]),
		...(totalMs === null ? [] : [[rows.time, formatDuration(totalMs)] satisfies [string, string]])
	];
}

function shownModel(id: string): string {
	return id === BUILT_IN_MODEL ? modelsText.builtIn : markHidden(id);
}
