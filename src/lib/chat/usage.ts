/** What a model's context is filled with. Pure. */
import type { RunContext } from '../shared/events.ts';

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
