/** A request to the API that somebody sends from its page, and what came back: shown as it is, whatever it says. */

export interface Sent {
	/** With the query. */
	path: string;
	method: string;
	/** JSON, or a file. */
	body: string | File | null;
}

export interface Reply {
	status: number;
	/** Its media type. */
	type: string;
	ms: number;
	/** Null for what is no text. */
	text: string | null;
	bytes: number;
	/** There was more. */
	isCut: boolean;
}

/** More than anybody reads on a page. */
const MAX_BYTES = 200_000;

export class ApiCall {
	reply = $state.raw<Reply | null>(null);
	error = $state('');
	isSending = $state(false);
	#aborter = new AbortController();

	/** Never rejects: a failure is in `error`. */
	async send({ path, method, body }: Sent): Promise<void> {
		this.stop();
		const { signal } = (this.#aborter = new AbortController());
		const headers: Record<string, string> = {};
		if (body !== null) headers['content-type'] = typeof body === 'string' ? 'application/json' : body.type;
		this.isSending = true;
		this.error = '';
		const start = performance.now();
		try {
			const response = await fetch(path, { method, headers, body, signal });
			await this.#read(response, start, signal);
		} catch {
			if (!signal.aborted) this.error = 'The server didn’t answer. Check that it’s running, then send again.';
		} finally {
			if (this.#aborter.signal === signal) this.isSending = false;
		}
	}

	/** Ends a stream as well; what has come stays. */
	stop(): void {
		this.#aborter.abort();
		this.isSending = false;
	}

	/** A stream of events is shown as it comes. */
	async #read(response: Response, start: number, signal: AbortSignal): Promise<void> {
		const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
		const isText = type === '' || /^text\/|json|xml/.test(type);
		const decoder = new TextDecoder();
		let text = '';
		let bytes = 0;
		const show = (isCut: boolean): void => {
			if (signal.aborted) return;
			const ms = Math.round(performance.now() - start);
			this.reply = { status: response.status, type, ms, text: isText ? pretty(text, type) : null, bytes, isCut };
		};
		show(false);
		const reader = response.body?.getReader();
		for (;;) {
			const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
			if (done) break;
			bytes += value.length;
			if (isText) text += decoder.decode(value, { stream: true });
			if (isText && bytes > MAX_BYTES) {
				show(true);
				await reader?.cancel();
				return;
			}
			if (type === 'text/event-stream') show(false);
		}
		show(false);
	}
}

function pretty(text: string, type: string): string {
	if (!type.includes('json')) return text;
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		// Not all of it is there.
		return text;
	}
}
