/** Third-party clients of the Responses API, each used as its documentation shows. */
import { createOpenAI } from '@ai-sdk/openai';
import { OpenRouter as AgentRouter } from '@openrouter/agent';
import { OpenRouter } from '@openrouter/sdk';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';

export interface Question {
	text: string;
	file?: { name: string; text: string };
}

/** Each method returns the text the client gives its user. */
export interface ResponsesClient {
	ask(question: Question): Promise<string>;
	/** Joins the streamed pieces. */
	stream(question: Question): Promise<string>;
}

/** The server's URL, including `/v1`, and a key for it. */
export interface ClientSettings {
	url: string;
	key: string;
}

/** By package and the function called. */
export const RESPONSES_CLIENTS: Record<string, (settings: ClientSettings) => ResponsesClient> = {
	'openai responses': openaiClient,
	'openai ResponsesWS': openaiSocket,
	'@openrouter/sdk responses': openRouterResponses,
	'@openrouter/sdk callModel': (settings) => openRouterClient(OpenRouter, settings),
	'@openrouter/agent callModel': (settings) => openRouterClient(AgentRouter, settings),
	'ai with @ai-sdk/openai': aiClient
};

function dataUrl(text: string): string {
	return `data:text/csv;base64,${Buffer.from(text).toString('base64')}`;
}

function openaiClient({ url, key }: ClientSettings): ResponsesClient {
	const client = new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0 });
	return {
		ask: async (question) => (await client.responses.create(openaiRequest(question))).output_text,
		async stream(question) {
			let told = '';
			const stream = client.responses.stream(openaiRequest(question));
			stream.on('response.output_text.delta', ({ delta }) => void (told += delta));
			const { output_text: whole } = await stream.finalResponse();
			if (told !== whole) throw new Error(`the stream told “${told}”, and ended in “${whole}”`);
			return told;
		}
	};
}

function openaiRequest({ text, file }: Question): { model: string; input: OpenAI.Responses.ResponseInput } {
	const content: OpenAI.Responses.ResponseInputContent[] = [{ type: 'input_text', text }];
	if (file) content.push({ type: 'input_file', filename: file.name, file_data: dataUrl(file.text) });
	return { model: 'any', input: [{ role: 'user', content }] };
}

/** One connection per question. */
function openaiSocket({ url, key }: ClientSettings): ResponsesClient {
	const client = new OpenAI({ baseURL: url, apiKey: key });
	const stream = async (question: Question): Promise<string> => {
		const socket = new ResponsesWS(client);
		try {
			socket.send({ type: 'response.create', ...openaiRequest(question) });
			let told = '';
			for await (const event of socket) {
				if (event.type !== 'message') continue;
				if (event.message.type === 'response.output_text.delta') told += event.message.delta;
				if (event.message.type === 'response.completed') return told;
			}
			throw new Error('the connection was closed before the end');
		} finally {
			socket.close();
		}
	};
	return { ask: stream, stream };
}

function openRouterResponses({ url, key }: ClientSettings): ResponsesClient {
	const router = new OpenRouter({ apiKey: key, serverURL: url });
	const requestFor = ({ text, file }: Question) => {
		const files = file ? [{ type: 'input_file' as const, filename: file.name, fileData: dataUrl(file.text) }] : [];
		const content = [{ type: 'input_text' as const, text }, ...files];
		return { model: 'any/model', input: [{ role: 'user' as const, content }] };
	};
	return {
		async ask(question) {
			const answer = await router.beta.responses.send({
				responsesRequest: { ...requestFor(question), stream: false }
			});
			if (!('output' in answer)) throw new Error('a stream came instead of a response');
			const parts = answer.output.flatMap((item) => (item.type === 'message' ? item.content : []));
			return parts.map((part) => ('text' in part ? part.text : '')).join('');
		},
		async stream(question) {
			const events = await router.beta.responses.send({
				responsesRequest: { ...requestFor(question), stream: true }
			});
			if ('output' in events) throw new Error('a response came instead of a stream');
			let told = '';
			for await (const event of events) if (event.type === 'response.output_text.delta') told += event.delta;
			return told;
		}
	};
}

/** What the two packages share; their types differ. */
interface ModelCaller {
	callModel(request: Record<string, unknown>): { getText(): Promise<string>; getTextStream(): AsyncIterable<string> };
}

function openRouterClient(
	Router: typeof OpenRouter | typeof AgentRouter,
	{ url, key }: ClientSettings
): ResponsesClient {
	const router = new Router({ apiKey: key, serverURL: url }) as unknown as ModelCaller;
	const call = ({ text, file }: Question) => {
		const content: Record<string, unknown>[] = [{ type: 'input_text', text }];
		if (file) content.push({ type: 'input_file', filename: file.name, fileData: dataUrl(file.text) });
		return router.callModel({ model: 'any/model', input: [{ role: 'user', content }] });
	};
	return {
		ask: (question) => call(question).getText(),
		async stream(question) {
			let told = '';
			for await (const delta of call(question).getTextStream()) told += delta;
			return told;
		}
	};
}

function aiClient({ url, key }: ClientSettings): ResponsesClient {
	const model = createOpenAI({ baseURL: url, apiKey: key }).responses('any');
	const requestFor = ({ text, file }: Question) => {
		const files = file
			? [{ type: 'file' as const, mediaType: 'text/csv', filename: file.name, data: Buffer.from(file.text) }]
			: [];
		return {
			model,
			messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text }, ...files] }],
			// Otherwise it sends only PDFs.
			providerOptions: { openai: { passThroughUnsupportedFiles: true } }
		};
	};
	return {
		ask: async (question) => (await generateText(requestFor(question))).text,
		stream: async (question) => streamText(requestFor(question)).text
	};
}
