/** Third-party clients of Chat Completions, each used as its documentation shows. */
import { OpenRouter } from '@openrouter/sdk';
import OpenAI from 'openai';
import type { ClientSettings, Question, ResponsesClient } from './responses-clients.ts';

/** By package and the function called. */
export const CHAT_CLIENTS: Record<string, (settings: ClientSettings) => ResponsesClient> = {
	'openai chat.completions': openaiClient,
	'@openrouter/sdk chat': openRouterClient
};

function dataUrl(text: string): string {
	return `data:text/csv;base64,${Buffer.from(text).toString('base64')}`;
}

function requestOf({ text, file }: Question): OpenAI.ChatCompletionCreateParamsNonStreaming {
	const content: OpenAI.ChatCompletionContentPart[] = [{ type: 'text', text }];
	if (file) {
		content.push({ type: 'file', file: { filename: file.name, file_data: dataUrl(file.text) } });
	}
	return { model: 'any', messages: [{ role: 'user', content }] };
}

function openaiClient({ url, key }: ClientSettings): ResponsesClient {
	const client = new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0 });
	return {
		ask: async (question) =>
			(await client.chat.completions.create(requestOf(question))).choices[0]?.message.content ?? '',
		async stream(question) {
			let told = '';
			const stream = client.chat.completions.stream({ ...requestOf(question), stream: true });
			stream.on('content', (delta) => void (told += delta));
			const whole = await stream.finalContent();
			if (told !== whole) throw new Error(`the stream told “${told}”, and ended in “${whole}”`);
			return told;
		}
	};
}

function openRouterClient({ url, key }: ClientSettings): ResponsesClient {
	const router = new OpenRouter({ apiKey: key, serverURL: url });
	const requestFor = ({ text, file }: Question) => {
		const content: Record<string, unknown>[] = [{ type: 'text', text }];
		if (file) content.push({ type: 'file', file: { filename: file.name, fileData: dataUrl(file.text) } });
		return { model: 'any/model', messages: [{ role: 'user' as const, content }] };
	};
	type Send = (request: { chatRequest: Record<string, unknown> }) => Promise<unknown>;
	const send = router.chat.send.bind(router.chat) as unknown as Send;
	return {
		async ask(question) {
			const answer = await send({ chatRequest: { ...requestFor(question), stream: false } });
			return (answer as { choices: { message: { content: string } }[] }).choices[0]?.message.content ?? '';
		},
		async stream(question) {
			const chunks = await send({ chatRequest: { ...requestFor(question), stream: true } });
			let told = '';
			for await (const { choices } of chunks as AsyncIterable<{ choices: { delta: { content?: string | null } }[] }>) {
				told += choices[0]?.delta.content ?? '';
			}
			return told;
		}
	};
}
