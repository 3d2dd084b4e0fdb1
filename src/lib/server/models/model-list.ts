/** Lists of models as servers send them, OpenRouter's and others', made into what people choose from. */
import { modelId, type ModelInfo } from '../../shared/models.ts';
import { asArray, asNumber, asObject, asText, isObject } from '../../shared/json.ts';

/** What is said of one model, unchecked. */
export interface ModelFacts {
	id: unknown;
	name: unknown;
	description: unknown;
	/** Wherever its context length is given. */
	contexts: unknown[];
	/** USD a token. */
	price: { input: unknown; output: unknown };
	/** Names of what it takes: `image`. */
	inputs: unknown;
	/** Names of what a request may hold: `tools`, `reasoning`. */
	parameters: unknown;
	/** Seconds since 1970. */
	created: unknown;
}

/** More are no list that anybody reads. */
const MAX_MODELS = 5000;
const MAX_NAME = 200;
const MAX_DESCRIPTION = 2000;

/** Nothing can be asked of a model with less: a server that says so, 0 say, does not know. */
const LEAST_CONTEXT = 256;

/**
 * `{data: [{id}]}` of OpenRouter, OpenAI, Ollama, llama.cpp, vLLM and LM Studio, a bare list, or `{models: [{name}]}`.
 * Throws for what is no list; entries that are no model are left out.
 */
export function readModelList(value: unknown): ModelFacts[] {
	const { object, data, models } = asObject(value);
	// Ollama says `null` where it has none.
	const isEmpty = object === 'list' && data === null;
	const entries = [value, data, models].find(Array.isArray) ?? (isEmpty ? [] : undefined);
	if (!entries) throw new Error('The response isn’t a list of models');
	return entries.filter(isObject).slice(0, MAX_MODELS).map(factsOf);
}

/** In the order given, each id once; without those whose id no request could name. */
export function toModelInfos(facts: readonly ModelFacts[]): ModelInfo[] {
	const infos = new Map<string, ModelInfo>();
	for (const each of facts) {
		const id = idOf(each);
		if (id !== null && !infos.has(id)) infos.set(id, infoOf(id, each));
	}
	return [...infos.values()];
}

/** Tokens by id; of those that say how many. */
export function contextsOf(facts: readonly ModelFacts[]): ReadonlyMap<string, number> {
	const known = facts.flatMap((each): [string, number][] => {
		const [id, tokens] = [asText(each.id), contextOf(each)];
		return id && tokens !== null ? [[id, tokens]] : [];
	});
	return new Map(known);
}

/** Whether it takes tools, by id; of those that say it. */
export function toolsOf(facts: readonly ModelFacts[]): ReadonlyMap<string, boolean> {
	const known = facts.flatMap((each): [string, boolean][] => {
		const [id, takes] = [asText(each.id), names(each.parameters, 'tools')];
		return id && takes !== null ? [[id, takes]] : [];
	});
	return new Map(known);
}

function factsOf(entry: Record<string, unknown>): ModelFacts {
	const { id, name, model, description, created, pricing, architecture, top_provider } = entry;
	const { context_length, max_model_len, context_window, max_context_length, supported_parameters } = entry;
	const { prompt, completion } = asObject(pricing);
	return {
		id: id ?? model ?? name,
		name,
		description,
		// OpenRouter, vLLM, Groq, Mistral; where two are given, the smaller one is what a request may really hold.
		contexts: [
			context_length,
			max_model_len,
			context_window,
			max_context_length,
			asObject(top_provider).context_length
		],
		price: { input: prompt, output: completion },
		inputs: asObject(architecture).input_modalities,
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
		takesImages: names(facts.inputs, 'image'),
		reasons: names(facts.parameters, 'reasoning'),
		createdAt: dateOf(facts.created)
	};
}

function contextOf({ contexts }: ModelFacts): number | null {
	const given = contexts.map(asNumber).filter((value) => value !== undefined && value >= LEAST_CONTEXT) as number[];
	return given.length === 0 ? null : Math.floor(Math.min(...given));
}

/** Null unless both are known: OpenRouter says -1 where the price depends on which model answers. */
function priceOf({ price }: ModelFacts): ModelInfo['price'] {
	const [input, output] = [price.input, price.output].map(perMillion);
	return input === undefined || output === undefined ? null : { input, output };
}

function perMillion(value: unknown): number | undefined {
	const usd = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	if (typeof usd !== 'number' || !(usd >= 0 && usd < 1)) return undefined;
	// What is written with decimals is to be read with them: 0.15, not 0.15000000000000002.
	return Number((usd * 1e6).toPrecision(12));
}

function names(list: unknown, name: string): boolean | null {
	// An empty list says nothing: OpenRouter has it where which model answers is open.
	return Array.isArray(list) && list.length > 0 ? asArray(list).includes(name) : null;
}

function dateOf(seconds: unknown): string | null {
	const given = asNumber(seconds);
	// The year 2200: later ones are no seconds.
	if (given === undefined || given <= 0 || given > 7_258_118_400) return null;
	return new Date(given * 1000).toISOString();
}
