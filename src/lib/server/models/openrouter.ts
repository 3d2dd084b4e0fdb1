/** What OpenRouter is asked beside answers: through its SDK, and read tolerantly where the SDK knows only newer or older shapes. */
import { parseJson } from '../../shared/json.ts';
import type { TextAnswer } from './fetch-text.ts';
import type { OpenRouterSdk, SdkRequest, Send } from './openrouter-sdk.ts';

/** The server answered, with another status than 200. */
export class StatusError extends Error {
	override readonly name = 'StatusError';
	readonly status: number;

	constructor(status: number) {
		super(`The server responded with ${status}`);
		this.status = status;
	}
}

export interface Asking<Value> {
	baseUrl: string;
	send: Send;
	/** What to ask of the SDK. */
	ask(sdk: OpenRouterSdk): Promise<Value>;
	/** The same without it. */
	plain: SdkRequest;
	/** Reads the answer's JSON; throws for what says nothing of what is wanted. */
	read(json: unknown): Value;
}

/** Sends one request. @throws StatusError, what `send` throws, or what `read` throws */
export async function askOpenRouter<Value>({ baseUrl, send, ask, plain, read }: Asking<Value>): Promise<Value> {
	const sent: { answer?: TextAnswer; failure?: unknown } = {};
	try {
		const { createSdk } = await import('./openrouter-sdk.ts');
		return await ask(
			createSdk(baseUrl, async (request) => {
				try {
					return (sent.answer = await send(request));
				} catch (error) {
					// The SDK makes an error of its own of it.
					sent.failure = error;
					throw error;
				}
			})
		);
	} catch {
		// Whatever the SDK makes of it: what was answered is judged here.
		if (sent.failure !== undefined) throw sent.failure;
		const { status, text } = sent.answer ?? (await send(plain));
		if (status !== 200) throw new StatusError(status);
		return read(parseJson(text));
	}
}
