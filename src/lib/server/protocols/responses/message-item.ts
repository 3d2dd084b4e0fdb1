/** The final form of a message: its text as it was streamed, with what only the server's own item says of it. */
import { z } from 'zod';
import type { ResponseItem } from '../../agent/model.ts';

const citation = z.object({
	type: z.literal('url_citation'),
	url: z.string(),
	start_index: z.int(),
	end_index: z.int(),
	title: z.string()
});
const token = { token: z.string(), logprob: z.number(), bytes: z.array(z.int()) };
const logprob = z.object({ ...token, top_logprobs: z.array(z.object(token)) });
const finalMessage = z.object({
	phase: z.enum(['commentary', 'final_answer']).optional().catch(undefined),
	content: z.array(
		z.looseObject({
			text: z.string().optional(),
			refusal: z.string().optional(),
			annotations: z.array(z.unknown()).optional().catch(undefined),
			logprobs: z.array(z.unknown()).optional().catch(undefined)
		})
	)
});

export interface FinishedMessage {
	part: {
		type: 'output_text';
		text: string;
		annotations: Record<string, unknown>[];
		logprobs: Record<string, unknown>[];
	};
	phase: string | undefined;
	/** Is the item the one that the text is of? */
	isSame: boolean;
}

/** Of a final item of several parts, the citations of the others would point into the wrong text: they are left out. */
export function finishedMessage(text: string, final: ResponseItem | null): FinishedMessage {
	const plain = { type: 'output_text' as const, text, annotations: [], logprobs: [] };
	const { data } = finalMessage.safeParse(final);
	if (!data) return { part: plain, phase: undefined, isSame: false };
	const whole = data.content.map((part) => part.text ?? part.refusal ?? '').join('');
	const isSame = whole === text;
	const [first] = data.content;
	if (!isSame || !first || data.content.length > 1)
		return { part: plain, phase: isSame ? data.phase : undefined, isSame };
	const valid = <Value>(schema: z.ZodType<Value>, values: unknown[] = []) =>
		values.flatMap((value) => schema.safeParse(value).data ?? []);
	const part = {
		...plain,
		annotations: valid(citation, first.annotations),
		logprobs: valid(logprob, first.logprobs)
	};
	return { part, phase: data.phase, isSame };
}
