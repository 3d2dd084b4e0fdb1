/** Parses lists of models from OpenRouter and other servers. */
import { modelId, type ModelInfo } from '../../shared/models.ts';
import { asArray, asNumber, asObject, asText, isObject } from '../../shared/json.ts';

/** A model as the server describes it, unchecked. */
export interface ModelFacts {
	id: unknown;
	/** Another name of it, with its date. */
	slug?: unknown;
	name: unknown;
	description: unknown;
	/** Every field that may have the context length. */
	contexts: unknown[];
	/** USD per token. */
	price: { input: unknown; output: unknown; cacheRead?: unknown };
	/** Input and output modalities, like `image`. */
	inputs: unknown;
	outputs: unknown;
	/** Supported request parameters, like `tools` and `reasoning`. */
	parameters: unknown;
	/** Unix time in seconds. */
	created: unknown;
}

const MAX_MODELS = 5000;
const MAX_NAME = 200;
const MAX_DESCRIPTION = 2000;
const MAX_MODALITIES = 10;

/** Smaller values (like 0) mean that the server doesn't know. */
const LEAST_CONTEXT = 256;

/**
 * Accepts `{data: [{id}]}` (OpenRouter, OpenAI, Ollama, llama.cpp, vLLM, LM Studio), a bare list, and `{models: [{name}]}`.
 * Skips entries that aren't objects. Throws for anything else.
 */
export function readModelList(value: unknown): ModelFacts[] {
	const { object, data, models } = asObject(value);
	// Ollama sends `null` for an empty list.
	const isEmpty = object === 'list' && data === null;
	const entries = [value, data, models].find(Array.isArray) ?? (isEmpty ? [] : undefined);
	if (!entries) throw new Error('The response isn’t a list of models');
	return entries.filter(isObject).slice(0, MAX_MODELS).map(factsOf);
}

/** Keeps the order; skips duplicates and invalid ids. */
export function toModelInfos(facts: readonly ModelFacts[]): ModelInfo[] {
	const infos = new Map<string, ModelInfo>();
	for (const each of facts) {
		const id = idOf(each);
		if (id !== null && !infos.has(id)) infos.set(id, infoOf(id, each));
	}
	return [...infos.values()];
}

/** Context length in tokens by id, where known. */
export function contextsOf(facts: readonly ModelFacts[]): ReadonlyMap<string, number> {
	return byId(facts, contextOf);
}

/** Whether a model supports tools, by id, where known. */
export function toolsOf(facts: readonly ModelFacts[]): ReadonlyMap<string, boolean> {
	return byId(facts, ({ parameters }) => names(parameters, 'tools'));
}

/** Input modalities by id, where known. */
export function inputsOf(facts: readonly ModelFacts[]): ReadonlyMap<string, readonly unknown[]> {
	return byId(facts, ({ inputs }) => (Array.isArray(inputs) && inputs.length > 0 ? inputs : null));
}

/** The output modalities of models that make pictures, by id. */
export function modalitiesOf(facts: readonly ModelFacts[]): ReadonlyMap<string, string[]> {
	return byId(facts, ({ outputs }) =>
		names(outputs, 'image') ? ['image', 'text'].filter((each) => names(outputs, each)) : null
	);
}

/** Ids by all names of a model. Of variants with the same slug, the first. */
export function namesOf(facts: readonly ModelFacts[]): ReadonlyMap<string, string> {
	const named = new Map<string, string>();
	const ids = facts.flatMap(({ id, slug }) => (asText(id) ? [{ id: String(id), slug: asText(slug) }] : []));
	for (const { id, slug } of ids) if (slug && !named.has(slug)) named.set(slug, id);
	for (const { id } of ids) named.set(id, id);
	return named;
}

/** What a cached input token saves, in USD, by id, where known. */
export function savingsOf(facts: readonly ModelFacts[]): ReadonlyMap<string, number> {
	return byId(facts, ({ price }) => {
		const [input, cached] = [price.input, price.cacheRead].map(perMillion);
		return input === undefined || cached === undefined || cached > input ? null : (input - cached) / 1e6;
	});
}

function byId<Fact>(facts: readonly ModelFacts[], read: (facts: ModelFacts) => Fact | null): Map<string, Fact> {
	const known = facts.flatMap((each): [string, Fact][] => {
		const [id, fact] = [asText(each.id), read(each)];
		return id && fact !== null ? [[id, fact]] : [];
	});
	return new Map(known);
}

function factsOf(entry: Record<string, unknown>): ModelFacts {
	const { id, canonical_slug: slug, name, model, description, created, pricing, architecture, top_provider } = entry;
	const { context_length, max_model_len, context_window, max_context_length, supported_parameters } = entry;
	const { prompt, completion, input_cache_read } = asObject(pricing);
	return {
		id: id ?? model ?? name,
		slug,
		name,
		description,
		// OpenRouter, vLLM, Groq, Mistral. If there are several, the smallest is the real limit.
		contexts: [
			context_length,
			max_model_len,
			context_window,
			max_context_length,
			asObject(top_provider).context_length
		],
		price: { input: prompt, output: completion, cacheRead: input_cache_read },
		inputs: asObject(architecture).input_modalities,
		outputs: asObject(architecture).output_modalities,
		parameters: supported_parameters,
		created
	};
}

function idOf({ id }: ModelFacts): string | null {
	const parsed = modelId.safeParse(id);
	return parsed.success && parsed.data === id ? id : null;
}

function infoOf(id: string, facts: ModelFacts): ModelInfo {
	return {
		id,
		name: asText(facts.name)?.slice(0, MAX_NAME).toWellFormed() ?? id,
		description: asText(facts.description)?.slice(0, MAX_DESCRIPTION).toWellFormed() ?? '',
		contextTokens: contextOf(facts),
		price: priceOf(facts),
		takesTools: names(facts.parameters, 'tools'),
		takes: besidesText(facts.inputs),
		gives: besidesText(facts.outputs),
		reasons: names(facts.parameters, 'reasoning'),
		createdAt: dateOf(facts.created)
	};
}

function contextOf({ contexts }: ModelFacts): number | null {
	const given = contexts.map(asNumber).filter((value) => value !== undefined && value >= LEAST_CONTEXT) as number[];
	return given.length === 0 ? null : Math.floor(Math.min(...given));
}

/** null unless both are known. OpenRouter sends -1 if the price depends on the model it picks. */
function priceOf({ price }: ModelFacts): ModelInfo['price'] {
	const [input, output, cached] = [price.input, price.output, price.cacheRead].map(perMillion);
	return input === undefined || output === undefined ? null : { input, output, cached };
}

function perMillion(value: unknown): number | undefined {
	const usd = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	if (typeof usd !== 'number' || !(usd >= 0 && usd < 1)) return undefined;
	// Avoids 0.15000000000000002.
	return Number((usd * 1e6).toPrecision(12));
}

function names(list: unknown, name: string): boolean | null {
	// Empty means unknown: OpenRouter sends that for models that pick another model.
	return Array.isArray(list) && list.length > 0 ? asArray(list).includes(name) : null;
}

function besidesText(list: unknown): string[] | null {
	if (!Array.isArray(list) || list.length === 0) return null;
	const modalities = list.filter((name): name is string => typeof name === 'string' && /^[a-z]{1,20}$/.test(name));
	return [...new Set(modalities)].filter((name) => name !== 'text').slice(0, MAX_MODALITIES);
}

function dateOf(seconds: unknown): string | null {
	const given = asNumber(seconds);
	// Beyond the year 2200 it can't be seconds.
	if (given === undefined || given <= 0 || given > 7_258_118_400) return null;
	return new Date(given * 1000).toISOString();
}
