/** Tokens and cost, added up and by part. Pure. */
import type { RunContext } from '../shared/events.ts';
import type { Message } from '../shared/message.ts';

export interface UsageTotals {
	inputTokens: number;
	outputTokens: number;
	/** USD; null when no answer says what it cost. */
	cost: number | null;
}

/** Of all these messages together. */
export function totalUsage(messages: Iterable<Message>): UsageTotals {
	const totals: UsageTotals = { inputTokens: 0, outputTokens: 0, cost: null };
	for (const { usage } of messages) {
		if (!usage) continue;
		totals.inputTokens += usage.inputTokens;
		totals.outputTokens += usage.outputTokens;
		if (usage.cost !== undefined) totals.cost = (totals.cost ?? 0) + usage.cost;
	}
	return totals;
}

const PARTS = [
	['messages', 'Messages'],
	['skills', 'Instructions of skills'],
	['results', 'Results of tools'],
	['catalog', 'List of skills'],
	['tools', 'Tools'],
	['system', 'System prompt']
] as const;

export interface ContextUse {
	tokens: number;
	/** Of the model's context, from 0 to 1; null when its length is not known. */
	share: number | null;
	/** Without those that are empty. */
	parts: { label: string; tokens: number }[];
}

export function contextUse(context: RunContext): ContextUse {
	const parts = PARTS.map(([key, label]) => ({ label, tokens: context[key] })).filter(({ tokens }) => tokens > 0);
	const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
	return { tokens, share: context.limit ? Math.min(1, tokens / context.limit) : null, parts };
}
