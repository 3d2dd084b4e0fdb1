/** Answers what an MCP server asks the chat's model, without tools and without the chat (E36). */
import { askForText, assistantItem, type Model, type ModelUsage, userItem } from '../agent/model.ts';

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
	const input = messages.map(({ role, text }) => (role === 'user' ? userItem(text) : assistantItem(text)));
	const request = { instructions, input, options: { max_output_tokens: maxTokens } };
	const { text, error, usage, answeredBy, isCut } = await askForText(model, request, { signal });
	if (error) throw new Error(error.message);
	spend(usage);
	return { text, model: answeredBy, isCut };
}
