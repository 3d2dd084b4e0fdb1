/** Answers what an MCP server asks the chat's model, without tools and without the chat (E36). */
import type { Model, ModelUsage } from '../agent/model.ts';

export interface SampleRequest {
	/** The system prompt; '' for none. */
	instructions: string;
	messages: readonly { role: 'user' | 'assistant'; text: string }[];
	maxTokens: number;
}

export interface Sample {
	text: string;
	/** Id of the model. */
	model: string;
	/** Ended at the maximum length. */
	isCut: boolean;
}

export type Sampler = (
	request: SampleRequest,
	call: { signal: AbortSignal; spend: (usage: ModelUsage | null) => void }
) => Promise<Sample>;

/** `spend` receives what it has used. @throws Error with a sentence if the model fails */
export async function sampleFrom(
	model: Model,
	{ instructions, messages, maxTokens }: SampleRequest,
	{ signal, spend }: { signal: AbortSignal; spend: (usage: ModelUsage | null) => void }
): Promise<Sample> {
	const input = messages.map(({ role, text }) => {
		const type = role === 'user' ? 'input_text' : 'output_text';
		return { type: 'message', role, content: [{ type, text }] };
	});
	const options = { max_output_tokens: maxTokens };
	const request = {
		instructions,
		input,
		tools: [],
		toolChoice: 'none' as const,
		textOnly: true,
		sessionId: '',
		options
	};
	let text = '';
	let isCut = false;
	let answeredBy = model.id;
	for await (const event of model.stream(request, signal)) {
		if (event.type === 'text.delta') text += event.delta;
		if (event.type === 'failed') throw new Error(event.error.message);
		if (event.type !== 'completed') continue;
		spend(event.usage);
		isCut = event.incompleteReason !== null;
		answeredBy = event.answeredBy ?? model.id;
	}
	return { text, model: answeredBy, isCut };
}
