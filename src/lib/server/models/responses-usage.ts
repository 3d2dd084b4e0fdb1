/** Reads the figures of a response (MODEL-WIRE "Figures"). */
import type { ModelUsage } from '../agent/model.ts';
import { asNumber, asObject, isObject } from './json.ts';

/** null where a server gives none; figures that are no numbers are left out, or 0 where every answer has one. */
export function usageOf(value: unknown): ModelUsage | null {
	if (!isObject(value)) return null;
	return {
		inputTokens: asNumber(value.input_tokens) ?? 0,
		outputTokens: asNumber(value.output_tokens) ?? 0,
		cachedTokens: asNumber(asObject(value.input_tokens_details).cached_tokens),
		reasoningTokens: asNumber(asObject(value.output_tokens_details).reasoning_tokens),
		cost: asNumber(value.cost)
	};
}
