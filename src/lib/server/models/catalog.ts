/** What a model's server says of its models: one list for those who choose, and for how much a request may hold (FEATURES F7, F11). */
import type { ModelInfo } from '../../shared/models.ts';
import { isOpenRouter } from '../../shared/names.ts';
import { fetchText } from './fetch-text.ts';
import { askOpenRouter, StatusError } from './openrouter.ts';
import { parseJson } from '../../shared/json.ts';
import { contextsOf, readModelList, toModelInfos, toolsOf, type ModelFacts } from './model-list.ts';

export interface ModelCatalogOptions {
	/** `{base}/models`. */
	url: URL;
	headers: Record<string, string>;
	fetch: typeof fetch;
	/** Milliseconds for the whole list, 5,000 by default: an answer waits for it. */
	timeoutMs?: number;
	/** Bytes of the list, 8 MiB by default. */
	maxBytes?: number;
	/** Milliseconds of a clock that is never set back. */
	now?: () => number;
}

export interface ModelCatalog {
	/** Tokens; null where the server does not say, or cannot be asked now. Asks once for all models. Never throws. */
	contextTokens(modelId: string): Promise<number | null>;
	/** Whether it can be given tools, by the list that is there; null where none is, or it does not say. Asks nothing. */
	takesTools(modelId: string): boolean | null;
	/**
	 * In the order of the server. An old list with the error of the last request, where there is one of both.
	 * Throws when there is no list: the signal's reason, `StatusError`, or what `fetchText` throws.
	 */
	list(signal?: AbortSignal): Promise<{ models: ModelInfo[]; error: unknown }>;
}

/** How long a list counts as new. */
const FRESH_MS = 5 * 60_000;
/** A list that could not be read is asked for again, but not at every turn. */
const RETRY_AFTER_MS = 60_000;

interface Answer {
	at: number;
	contexts: ReadonlyMap<string, number>;
	tools: ReadonlyMap<string, boolean>;
	/** Made when somebody wants to choose: a run needs no more than `contexts` and `tools`. */
	models(): Promise<ModelInfo[]>;
}

/** A request that is under way, for all who wait for it. */
interface Pending {
	answer: Promise<Answer>;
	controller: AbortController;
	waiting: number;
}

export function createModelCatalog(options: ModelCatalogOptions): ModelCatalog {
	const now = options.now ?? (() => performance.now());
	let answer: Answer | null = null;
	let failure: { at: number; error: unknown } | null = null;
	let pending: Pending | null = null;

	async function load(signal: AbortSignal): Promise<Answer> {
		try {
			const { timeoutMs = 5000, maxBytes = 8 * 1024 * 1024, url, headers, fetch } = options;
			const { status, text } = await fetchText({ url: url.href, headers, fetch, timeoutMs, maxBytes, signal });
			if (status !== 200) throw new StatusError(status);
			answer = readAnswer(url, text, now());
			failure = null;
			return answer;
		} catch (error) {
			if (!signal.aborted) failure = { at: now(), error };
			throw error;
		}
	}

	function begin(): Pending {
		const controller = new AbortController();
		const begun: Pending = { answer: load(controller.signal), controller, waiting: 0 };
		const end = () => {
			if (pending === begun) pending = null;
		};
		// Its failure is told to those who wait; there may be none left.
		begun.answer.then(end, end);
		return begun;
	}

	/** The request goes on until nobody waits for it any more. */
	async function request(signal?: AbortSignal): Promise<Answer> {
		signal?.throwIfAborted();
		const joined = (pending ??= begin());
		joined.waiting += 1;
		try {
			return await (signal ? orAborted(joined.answer, signal) : joined.answer);
		} finally {
			joined.waiting -= 1;
			if (joined.waiting === 0) {
				joined.controller.abort();
				if (pending === joined) pending = null;
			}
		}
	}

	return {
		async contextTokens(modelId) {
			const isHopeless = failure !== null && now() - failure.at < RETRY_AFTER_MS;
			// What it is for is to be kinder than a fixed figure; whether the server works is told when it is asked.
			const known = answer ?? (isHopeless ? null : await request().catch(() => null));
			return known ? ofModel(known.contexts, modelId) : null;
		},

		takesTools: (modelId) => (answer ? ofModel(answer.tools, modelId) : null),

		async list(signal) {
			if (answer && now() - answer.at < FRESH_MS) return { models: await answer.models(), error: null };
			try {
				return { models: await (await request(signal)).models(), error: null };
			} catch (error) {
				if (!answer || signal?.aborted) throw error;
				return { models: await answer.models(), error };
			}
		}
	};
}

/** OpenRouter's variants, `:nitro` or `:online`, are models that the list does not name. */
function ofModel<Fact>(facts: ReadonlyMap<string, Fact>, modelId: string): Fact | null {
	return facts.get(modelId) ?? facts.get(modelId.replace(/:[^:/]*$/, '')) ?? null;
}

/** Throws for what is no list. */
function readAnswer(url: URL, text: string, at: number): Answer {
	const facts = readModelList(parseJson(text));
	let models: Promise<ModelInfo[]> | null = null;
	return {
		at,
		contexts: contextsOf(facts),
		tools: toolsOf(facts),
		models: () => (models ??= readWithSdk(url, text, facts).then(toModelInfos))
	};
}

/** The SDK reads the text that is there: there is no second request. */
async function readWithSdk(url: URL, text: string, facts: ModelFacts[]): Promise<ModelFacts[]> {
	const baseUrl = new URL('.', url).href;
	if (!isOpenRouter(baseUrl)) return facts;
	return askOpenRouter({
		baseUrl,
		send: async () => ({ status: 200, text }),
		ask: (sdk) => sdk.models(),
		plain: { url: url.href, method: 'GET', body: undefined },
		read: () => facts
	});
}

/** Rejects with the signal's reason as soon as it fires. */
async function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
	let stop = () => undefined as void;
	const aborted = new Promise<never>((_, reject) => {
		stop = () => reject(signal.reason);
		signal.addEventListener('abort', stop, { once: true });
	});
	try {
		return await Promise.race([promise, aborted]);
	} finally {
		signal.removeEventListener('abort', stop);
	}
}
