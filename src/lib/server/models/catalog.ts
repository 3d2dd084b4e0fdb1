/** What a model's server says of its models: the context length of each (FEATURES F7). */
import { connect, type Connection } from './connection.ts';
import { asArray, asNumber, asObject, asText, parseJson } from './json.ts';

export interface ModelCatalogOptions {
	/** `{base}/models`. */
	url: URL;
	headers: Record<string, string>;
	fetch: typeof fetch;
	/** Milliseconds for the whole list, 5,000 by default: an answer waits for it. */
	timeoutMs?: number;
	/** Bytes of the list, 8 MiB by default. */
	maxBytes?: number;
	/** Milliseconds, as `Date.now` gives them. */
	now?: () => number;
}

export interface ModelCatalog {
	/** Tokens; null where the server does not say, or cannot be asked now. Asks once for all models. Never throws. */
	contextTokens(modelId: string): Promise<number | null>;
}

/** A list that could not be read is asked for again, but not at every turn. */
const RETRY_AFTER_MS = 60_000;

/** Nothing can be asked of a model with less: a server that says so, 0 say, does not know. */
const LEAST_CONTEXT = 256;

export function createModelCatalog(options: ModelCatalogOptions): ModelCatalog {
	const now = options.now ?? Date.now;
	let list: Promise<ReadonlyMap<string, number> | null> | null = null;
	let failedAt: number | null = null;

	async function load(): Promise<ReadonlyMap<string, number> | null> {
		try {
			return readList(await fetchText(options));
		} catch {
			// What it is for is to be kinder than a fixed figure; whether the server works is told when it is asked.
			failedAt = now();
			return null;
		}
	}

	return {
		async contextTokens(modelId) {
			if (failedAt !== null && now() - failedAt >= RETRY_AFTER_MS) {
				failedAt = null;
				list = null;
			}
			const lengths = await (list ??= load());
			// OpenRouter's variants, `:nitro` or `:online`, are models that the list does not name.
			return lengths?.get(modelId) ?? lengths?.get(modelId.replace(/:[^:/]*$/, '')) ?? null;
		}
	};
}

async function fetchText({ url, headers, fetch, timeoutMs = 5000, maxBytes = 8 * 1024 * 1024 }: ModelCatalogOptions) {
	const connection = await connect(
		url.href,
		{ headers: { ...headers, accept: 'application/json', 'accept-encoding': 'gzip' }, redirect: 'manual' },
		{ fetch, signal: AbortSignal.timeout(timeoutMs), idleTimeoutMs: timeoutMs, maxBytes }
	);
	try {
		if (connection.status !== 200) throw new Error(`The list of models was answered with ${connection.status}`);
		const text = await readText(connection);
		connection.finish();
		return text;
	} catch (error) {
		connection.close();
		throw error;
	}
}

async function readText(connection: Connection): Promise<string> {
	const parts: Uint8Array[] = [];
	for (let bytes = await connection.read(); bytes; bytes = await connection.read()) parts.push(bytes);
	return Buffer.concat(parts).toString('utf8');
}

/** Throws for what is no list; entries that say nothing are left out. */
function readList(text: string): ReadonlyMap<string, number> {
	const { data } = asObject(parseJson(text));
	if (!Array.isArray(data)) throw new Error('The answer is no list of models');
	const lengths = new Map<string, number>();
	for (const entry of asArray(data).map(asObject)) {
		const id = asText(entry.id);
		// OpenRouter, vLLM, Groq, Mistral; where two are given, the smaller one is what a request may really hold.
		const { context_length, max_model_len, context_window, max_context_length, top_provider } = entry;
		const served = asObject(top_provider).context_length;
		const given = [context_length, max_model_len, context_window, max_context_length, served]
			.map(asNumber)
			.filter((value) => value !== undefined && value >= LEAST_CONTEXT) as number[];
		if (id && given.length > 0) lengths.set(id, Math.floor(Math.min(...given)));
	}
	return lengths;
}
