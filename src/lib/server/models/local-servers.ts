/** Servers for models on this machine, found where they usually listen (FEATURES F11). */
import type { LocalServer } from '../../shared/models.ts';
import { fetchText } from './fetch-text.ts';
import { asArray, asObject, parseJson } from './json.ts';
import { readModelList, toModelInfos } from './model-list.ts';

export interface LocalSearch {
	ports: readonly number[];
	fetch: typeof fetch;
	/** Milliseconds for each; 700 by default. */
	timeoutMs?: number;
	signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 700;
const MAX_BYTES = 512 * 1024;

const USUAL: Readonly<Record<number, string>> = { 11434: 'Ollama', 1234: 'LM Studio', 8080: 'llama.cpp' };
/** `owned_by` of a server's own models. */
const OWNERS: Readonly<Record<string, string>> = { library: 'Ollama', llamacpp: 'llama.cpp', vllm: 'vLLM' };

/** Those that answer with a list of models, in the order of the ports; no key is sent. Throws the signal's reason. */
export async function findLocalServers({ ports, ...search }: LocalSearch): Promise<LocalServer[]> {
	const found = await Promise.all([...new Set(ports)].map((port) => lookAt(port, search)));
	search.signal?.throwIfAborted();
	return found.filter((server) => server !== null);
}

async function lookAt(port: number, { fetch, signal, timeoutMs = TIMEOUT_MS }: Omit<LocalSearch, 'ports'>) {
	const baseUrl = `http://127.0.0.1:${port}/v1`;
	try {
		const request = { url: `${baseUrl}/models`, headers: {}, fetch, timeoutMs, maxBytes: MAX_BYTES, signal };
		const { status, text } = await fetchText(request);
		if (status !== 200) return null;
		const json = parseJson(text);
		const models = toModelInfos(readModelList(json)).map(({ id }) => id);
		return { name: nameOf(port, json), baseUrl, models };
	} catch {
		// Nothing listens there, or something else: neither is an error.
		return null;
	}
}

function nameOf(port: number, json: unknown): string {
	const owner = asObject(asArray(asObject(json).data)[0]).owned_by;
	const known = typeof owner === 'string' && Object.hasOwn(OWNERS, owner) ? OWNERS[owner] : undefined;
	return known ?? USUAL[port] ?? `Server on port ${port}`;
}
