/** The vendors' own npm clients, used as a host would, against a server that plays the vendor. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { Vendor } from './vendor-servers.ts';

type Json = Record<string, unknown>;

export interface VendorHost {
	/** A request to this vendor, with the host's own system prompt. */
	body(question: string): Json;
	/** The same with a tool of the host's own that takes a city. */
	withOwnTool(body: Json, name: string): Json;
	/** Sends the body as a request. */
	send(body: Json, options: { signal: AbortSignal }): Promise<unknown>;
	/** The same as a stream, collected by the client itself; not every client can. */
	gather(body: Json, options: { signal: AbortSignal }): Promise<unknown>;
	textOf(response: unknown): string;
	/** Body fields that force every turn to start with a call. */
	forced: Json;
}

const SYSTEM = 'You are the host.';
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

export function hostOf(vendor: Vendor, url: string): VendorHost {
	const settings = { apiKey: 'any', maxRetries: 0 };
	switch (vendor) {
		case 'responses': {
			const client = new OpenAI({ ...settings, baseURL: `${url}/v1` });
			return {
				body: (question) => ({ model: 'test', instructions: SYSTEM, input: question, store: false }),
				withOwnTool: (body, name) => ({ ...body, tools: [{ type: 'function', name, parameters, strict: false }] }),
				send: (body, options) => client.responses.create(body as never, options) as Promise<unknown>,
				gather: notGathered,
				textOf: (response) => (response as OpenAI.Responses.Response).output_text,
				forced: { tool_choice: 'required' }
			};
		}
		case 'chat': {
			const client = new OpenAI({ ...settings, baseURL: `${url}/v1` });
			const messages = (question: string) => [
				{ role: 'system', content: SYSTEM },
				{ role: 'user', content: question }
			];
			return {
				body: (question) => ({ model: 'test', messages: messages(question) }),
				withOwnTool: (body, name) => ({ ...body, tools: [{ type: 'function', function: { name, parameters } }] }),
				send: (body, options) => client.chat.completions.create(body as never, options) as Promise<unknown>,
				gather: (body, options) => client.chat.completions.stream(body as never, options).finalChatCompletion(),
				textOf: (response) => (response as OpenAI.ChatCompletion).choices[0]?.message.content ?? '',
				forced: { tool_choice: 'required' }
			};
		}
		case 'anthropic': {
			const client = new Anthropic({ ...settings, baseURL: url });
			return {
				body: (question) => ({
					...{ model: 'test', max_tokens: 1000, system: SYSTEM },
					messages: [{ role: 'user', content: question }]
				}),
				withOwnTool: (body, name) => ({ ...body, tools: [{ name, input_schema: parameters }] }),
				send: (body, options) => client.messages.create(body as never, options) as Promise<unknown>,
				gather: (body, options) => client.messages.stream(body as never, options).finalMessage(),
				textOf: (response) =>
					(response as Anthropic.Message).content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
				forced: { tool_choice: { type: 'any' } }
			};
		}
		case 'gemini': {
			const client = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } } });
			const withConfig = (body: Json, more: Json) => ({ ...body, config: { ...(body.config as Json), ...more } });
			return {
				body: (question) => ({ model: 'test', contents: question, config: { systemInstruction: SYSTEM } }),
				withOwnTool: (body, name) =>
					withConfig(body, { tools: [{ functionDeclarations: [{ name, description: 'The host’s.', parameters }] }] }),
				send: (body, { signal }) =>
					client.models.generateContent(withConfig(body, { abortSignal: signal }) as never) as Promise<unknown>,
				gather: notGathered,
				textOf: (response) => (response as { text?: string }).text ?? '',
				forced: { config: { systemInstruction: SYSTEM, toolConfig: { functionCallingConfig: { mode: 'ANY' } } } }
			};
		}
	}
}

async function notGathered(): Promise<never> {
	throw new Error('No test streams with this client.');
}
