/** Reads and caches a model server's list of models, for the model picker and for context limits (F7, F11). */
import type { ModelInfo } from '../../shared/models.ts';
import { isOpenRouter } from '../../shared/names.ts';
import { fetchText } from './responses/connection.ts';
import { askOpenRouter, StatusError } from './openrouter.ts';
import { parseJson } from '../../shared/json.ts';
import {
	contextsOf,
	inputsOf,
	modalitiesOf,
	namesOf,
	readModelList,
	savingsOf,
	toModelInfos,
	toolsOf,
	type ModelFacts
} from './model-list.ts';

export interface ModelCatalogOptions {
	/** `{base}/models`. */
	url: URL;
	headers: Record<string, string>;
	fetch: typeof fetch;
	/** Timeout for the whole list. Default 5,000: a reply waits for it. */
	timeoutMs?: number;
	/** Maximum bytes of the list. Default 8 MiB. */
	maxBytes?: number;
	/** Monotonic clock, in milliseconds. */
	now?: () => number;
}

export interface ModelCatalog {
	/** Context length in tokens; null if the server doesn't say or doesn't respond. Never throws. */
	contextTokens(modelId: string): Promise<number | null>;
	/** Whether the model takes such input; null if the server doesn't say or doesn't respond. Never throws. */
	takes(modelId: string, input: 'image' | 'file'): Promise<boolean | null>;
	/** Whether the model supports tools, from the cached list; null if unknown. Sends no request. */
	takesTools(modelId: string): boolean | null;
	/** What to ask for so that the model makes pictures, from the cached list; null if it makes none. Sends no request. */
	modalities(modelId: string): string[] | null;
	/** The id in the cached list of what the server calls by this id or slug; null if unknown. Sends no request. */
	listedId(name: string): string | null;
	/** What a cached input token saves, in USD, from the cached list; null if unknown. Sends no request. */
	cacheSaving(modelId: string): number | null;
	/**
	 * Models in the server's order. If refreshing fails, the old list together with the error.
	 * Throws without any list: the signal's reason, `StatusError`, or what `fetchText` throws.
	 */
	list(signal?: AbortSignal): Promise<{ models: ModelInfo[]; error: unknown }>;
}

/** The list is cached this long. */
const FRESH_MS = 5 * 60_000;
/** After a failure, `contextTokens` and `takes` wait this long before asking again. */
const RETRY_AFTER_MS = 60_000;

interface Answer {
	at: number;
	contexts: ReadonlyMap<string, number>;
	tools: ReadonlyMap<string, boolean>;
	inputs: ReadonlyMap<string, readonly unknown[]>;
	savings: ReadonlyMap<string, number>;
	modalities: ReadonlyMap<string, string[]>;
	ids: ReadonlyMap<string, string>;
	/** Built on demand: a run needs only the facts above. */
	models(): Promise<ModelInfo[]>;
}

/** A running request, shared by its callers. */
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
		// Handles the rejection too: there may be no caller left.
		begun.answer.then(end, end);
		return begun;
	}

	/** Joins the running request or starts one. Aborts it when the last caller gives up. */
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

	/** Old or new; null if there is none. Errors are ignored: callers have a default, and the model request itself will report them. */
	async function anyAnswer(): Promise<Answer | null> {
		const isHopeless = failure !== null && now() - failure.at < RETRY_AFTER_MS;
		return answer ?? (isHopeless ? null : request().catch(() => null));
	}

	return {
		async contextTokens(modelId) {
			const known = await anyAnswer();
			return known ? ofModel(known.contexts, modelId) : null;
		},

		async takes(modelId, input) {
			const known = await anyAnswer();
			return (known && ofModel(known.inputs, modelId))?.includes(input) ?? null;
		},

		takesTools: (modelId) => (answer ? ofModel(answer.tools, modelId) : null),
		modalities: (modelId) => (answer ? ofModel(answer.modalities, modelId) : null),
		listedId: (name) => answer?.ids.get(name) ?? null,
		cacheSaving: (modelId) => (answer ? ofModel(answer.savings, modelId) : null),

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

/** The list doesn't contain OpenRouter's variants, like `:nitro` or `:online`. */
function ofModel<Fact>(facts: ReadonlyMap<string, Fact>, modelId: string): Fact | null {
	return facts.get(modelId) ?? facts.get(modelId.replace(/:[^:/]*$/, '')) ?? null;
}

/** Throws if the text isn't a list of models. */
function readAnswer(url: URL, text: string, at: number): Answer {
	const facts = readModelList(parseJson(text));
	let models: Promise<ModelInfo[]> | null = null;
	return {
		at,
		contexts: contextsOf(facts),
		tools: toolsOf(facts),
		inputs: inputsOf(facts),
		savings: savingsOf(facts),
		modalities: modalitiesOf(facts),
		ids: namesOf(facts),
		models: () => (models ??= readWithSdk(url, text, facts).then(toModelInfos))
	};
}

/** Lets the SDK parse the text; sends no second request. */
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
