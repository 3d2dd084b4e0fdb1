/** State of the Connect page: API keys, and the new key until the page is left (F12). */
import type { ApiKey, ConnectedProgram, NewApiKey } from '../../shared/settings.ts';
import type { ApiScope } from '../../shared/names.ts';
import type { Client } from '../server.ts';
import { Reading } from '../ui/reading.svelte.ts';

type KeysClient = Pick<Client, 'listKeys' | 'createKey' | 'renameKey' | 'revokeKey'>;

export class Connect {
	readonly #client: KeysClient;
	readonly keys: Reading<ApiKey[]>;
	/** The one that connected last, read with the keys. */
	program = $state.raw<ConnectedProgram | null>(null);
	/** The new key, used in the snippets; it can't be shown again. */
	fresh = $state.raw<NewApiKey | null>(null);

	constructor(client: KeysClient) {
		this.#client = client;
		this.keys = new Reading(async () => {
			const { data, latestProgram } = await client.listKeys();
			this.program = latestProgram;
			return data;
		});
	}

	/** The key that a program has: the new one, or the newest of its name. */
	keyOf(program: string): ApiKey | null {
		const usable = (this.keys.value ?? []).filter(({ revokedAt }) => revokedAt === null);
		return usable.find(({ id }) => id === this.fresh?.id) ?? usable.find(({ name }) => name === program) ?? null;
	}

	/** Rejects with an `ApiError`. */
	async create(name: string, scopes: readonly ApiScope[]): Promise<void> {
		const made = await this.#client.createKey({ name, scopes: [...scopes] });
		this.fresh = made;
		const { key: _told, ...key } = made;
		this.keys.set([key, ...(this.keys.value ?? [])]);
		// Another tab may have created or deleted keys.
		await this.keys.load();
	}

	/** Rejects with an `ApiError`; the key may still be valid then. */
	async revoke(id: string): Promise<void> {
		const revoked = await this.#client.revokeKey(id);
		if (this.fresh?.id === id) this.fresh = null;
		this.#replace(revoked);
	}

	/** Rejects with an `ApiError`. */
	async rename(id: string, name: string): Promise<void> {
		const renamed = await this.#client.renameKey(id, name);
		if (this.fresh?.id === id) this.fresh = { ...this.fresh, name: renamed.name };
		this.#replace(renamed);
	}

	#replace(changed: ApiKey): void {
		this.keys.set((this.keys.value ?? []).map((key) => (key.id === changed.id ? changed : key)));
	}
}

export interface Sent {
	/** Including the query. */
	path: string;
	method: string;
	/** JSON, or a file. */
	body: string | File | null;
}

export interface Reply {
	status: number;
	/** Media type. */
	type: string;
	ms: number;
	/** Null if it isn't text. */
	text: string | null;
	bytes: number;
	isCut: boolean;
}

/** More than anyone reads on a page. */
const MAX_BYTES = 200_000;

/** A request sent from the API page, and its response. */
export class ApiCall {
	reply = $state.raw<Reply | null>(null);
	error = $state('');
	isSending = $state(false);
	#aborter = new AbortController();

	/** Never rejects: a failure sets `error`. */
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

	/** Also ends a stream; what has arrived stays. */
	stop(): void {
		this.#aborter.abort();
		this.isSending = false;
	}

	/** Event streams are shown as they arrive. */
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
		// Incomplete.
		return text;
	}
}
