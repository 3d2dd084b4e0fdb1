/** Estimates what a request would have the model read: everything that the turn would send it first (F12). */
import { isObject } from '../../../shared/json.ts';
import { createSizeOf, totalTokens } from '../../agent/compaction.ts';
import type { Model, ModelRequest } from '../../agent/model.ts';
import { estimateTokens } from '../../skills/prompt.ts';
import type { Asker } from '../../turns/toolbox.ts';
import { readResponseRequest } from './request.ts';
import { prepare, type RespondParts } from './respond.ts';
import { runHeadless } from './turn.ts';

/** Four characters per token, and an amount for each picture and page. Nothing is sent. @throws ApiError as for a response */
export async function countInputTokens(
	parts: RespondParts,
	body: unknown,
	asker: Asker,
	signal: AbortSignal
): Promise<{ object: 'response.input_tokens'; input_tokens: number }> {
	const request = readResponseRequest(isObject(body) ? { ...body, input: body.input ?? '' } : body);
	const { turn } = await prepare(parts, request, { asker, signal });
	let sent: ModelRequest | null = null;
	const model: Model = {
		...turn.model,
		id: turn.model.id,
		async *stream(asked) {
			sent = asked;
			yield { type: 'failed', error: { code: 'aborted', message: 'Only counted.' }, items: [] };
		}
	};
	try {
		for await (const _event of runHeadless(parts, { ...turn, model, signal })) if (sent) break;
	} finally {
		// Without a key, what a count wrote is nobody's.
		const isOwn = asker.apiKeyId === null && turn.sessionId === turn.responseId;
		if (isOwn) await parts.workspaces.removeAll(turn.folder);
	}
	return { object: 'response.input_tokens', input_tokens: sent ? tokensOf(sent) : 0 };
}

function tokensOf({ instructions, input, tools, options }: ModelRequest): number {
	const texts = [instructions, tools, options?.text ?? ''].map((part) =>
		typeof part === 'string' ? part : JSON.stringify(part)
	);
	return texts.reduce((sum, text) => sum + estimateTokens(text), totalTokens(input, createSizeOf()));
}
