/** Requests to OpenRouter other than replies: through its SDK, with a tolerant parser if the SDK rejects the response. */
import { parseJson } from '../../shared/json.ts';
import type { TextAnswer } from './responses/connection.ts';
import type { OpenRouterSdk, SdkRequest, Send } from './openrouter-sdk.ts';

/** The server responded with a status other than 200. */
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
	/** The request through the SDK. */
	ask(sdk: OpenRouterSdk): Promise<Value>;
	/** The same request without the SDK. */
	plain: SdkRequest;
	/** Parses the response. Throws if it lacks the value. */
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
					// The SDK replaces this with its own error.
					sent.failure = error;
					throw error;
				}
			})
		);
	} catch {
		// Ignore the SDK's error and judge the response itself.
		if (sent.failure !== undefined) throw sent.failure;
		const { status, text } = sent.answer ?? (await send(plain));
		if (status !== 200) throw new StatusError(status);
		return read(parseJson(text));
	}
}
