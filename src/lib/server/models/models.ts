/** Provides the current model (of the configured server, or Demo mode), the list of models and sign-in (F9, F11). */
import type { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import type { keyCheck, KeyStatus, LocalServer, ModelList, signInComplete, SignInStart } from '../../shared/models.ts';
import type { ModelRouting, ModelSpeed } from '../../shared/models.ts';
import { isOpenRouter, type ReasoningEffort } from '../../shared/names.ts';
import type { Settings } from '../../shared/settings.ts';
import type { Model, ModelSource } from '../agent/model.ts';
import type { RunningSettings } from '../settings/settings.ts';
import { createModelCatalog, type ModelCatalog } from './catalog.ts';
import { checkKey, createSignIns, findLocalServers, type OpenSignIns } from './keys.ts';
import { createOfflineModel } from '../offline/offline.ts';
import { createResponsesModel, nothingKnown, type ServerFacts } from './responses/responses.ts';
import { requestHeaders, siblingUrl } from './responses/request.ts';
import { problemOf } from './responses/faults.ts';

export interface ModelsOptions {
	settings: Pick<RunningSettings, 'modelKeyFor' | 'setModelKey'> & { current(): Pick<Settings, 'model'> };
	/** Ports to search for local model servers (F11). */
	ports: readonly number[];
	/** How fast models answered here, by id. */
	speeds?: () => Promise<ReadonlyMap<string, ModelSpeed>>;
	/** Sign-ins under way. Default: in memory. */
	openSignIns?: OpenSignIns;
	fetch?: typeof fetch | undefined;
	/** Monotonic clock, in milliseconds. */
	now?: () => number;
	/** Follows the requests to a model; `baseUrl` is null in Demo mode. */
	watch?: (model: Model, baseUrl: string | null) => Model;
}

export interface Models extends ModelSource {
	/** The current default model. */
	current(): { id: string; offline: boolean; baseUrl: string | null };
	/** Server errors go into `problem`. Throws only the signal's reason. */
	list(signal?: AbortSignal): Promise<ModelList>;
	/** Stores nothing. Sends a stored key only to its own host. Throws only the signal's reason. */
	check(check: z.output<typeof keyCheck>, signal?: AbortSignal): Promise<KeyStatus>;
	findLocal(signal?: AbortSignal): Promise<LocalServer[]>;
	/**
	 * `origin`: this server's own, which `returnTo` must have.
	 * @throws AppError `invalid_input` for another origin, `conflict` for a model server without sign-in
	 */
	startSignIn(returnTo: string, origin: string): Promise<SignInStart>;
	/** @throws AppError `invalid_input`, `conflict`, `unavailable` */
	completeSignIn(answer: z.output<typeof signInComplete>, signal?: AbortSignal): Promise<Settings>;
}

/** The models of one server, with one key. */
interface ServerModels {
	baseUrl: string;
	apiKey: string | null;
	catalog: ModelCatalog;
	/** By id and routing. */
	byId: Map<string, Model>;
	facts: ServerFacts;
}

/** Bounded, because ids come from requests. */
const MAX_MODELS = 200;
const LIST_TIMEOUT_MS = 5000;

const NO_SERVER = 'No model connected. Add an API key, or choose a model on this computer.';

export function createModels(options: ModelsOptions): Models {
	const {
		settings,
		ports,
		fetch = globalThis.fetch,
		now = () => performance.now(),
		watch = (model) => model
	} = options;
	const offline = watch(createOfflineModel(), null);
	const signIns = createSignIns({ fetch, open: options.openSignIns, now: options.now });
	let kept: ServerModels | null = null;

	/** Starts over for another server or key. Running turns keep their model. */
	const server = (): ServerModels => {
		const { baseUrl } = settings.current().model;
		const apiKey = settings.modelKeyFor(baseUrl);
		if (kept?.baseUrl === baseUrl && kept.apiKey === apiKey) return kept;
		const headers = requestHeaders({ apiKey: apiKey ?? undefined, appTitle: undefined, referer: undefined });
		const url = siblingUrl(baseUrl, 'models');
		const catalog = createModelCatalog({ url, headers, fetch, now, timeoutMs: LIST_TIMEOUT_MS });
		return (kept = { baseUrl, apiKey, catalog, byId: new Map(), facts: nothingKnown() });
	};

	const modelOf = (id: string, routing: ModelRouting): Model => {
		const { byId, baseUrl, apiKey, catalog, facts } = server();
		const key = `${id} ${JSON.stringify(routing)}`;
		const known = byId.get(key);
		if (known) return known;
		const about = { id, baseUrl, fetch, catalog, apiKey: apiKey ?? undefined, server: facts, routing };
		const model = watch(createResponsesModel(about), baseUrl);
		if (byId.size >= MAX_MODELS) byId.clear();
		byId.set(key, model);
		return model;
	};

	const modelFor: Models['modelFor'] = ({ id, routing }) => {
		const { isOffline, id: chosen, routing: usual } = settings.current().model;
		return isOffline ? offline : modelOf(id ?? chosen, { ...usual, ...routing });
	};

	return {
		modelFor,
		effort: (): ReasoningEffort | null => settings.current().model.effort,

		current() {
			const { isOffline, id, baseUrl } = settings.current().model;
			return isOffline ? { id: offline.id, offline: true, baseUrl: null } : { id, offline: false, baseUrl };
		},

		async list(signal) {
			if (settings.current().model.isOffline) return { data: [], baseUrl: null, problem: NO_SERVER };
			const { catalog, baseUrl, apiKey } = server();
			const context = { baseUrl, hasKey: apiKey !== null, timeoutMs: LIST_TIMEOUT_MS };
			try {
				const [{ models, error }, speeds] = await Promise.all([catalog.list(signal), options.speeds?.()]);
				const data = models.map((model) => ({ ...model, here: speeds?.get(model.id) }));
				return { data, baseUrl, problem: error === null ? null : problemOf(error, context) };
			} catch (error) {
				signal?.throwIfAborted();
				return { data: [], baseUrl, problem: problemOf(error, context) };
			}
		},

		check({ apiKey, baseUrl = settings.current().model.baseUrl }, signal) {
			return checkKey({ baseUrl, apiKey: apiKey ?? settings.modelKeyFor(baseUrl), fetch, signal });
		},

		findLocal: (signal) => findLocalServers({ ports, fetch, signal }),

		async startSignIn(returnTo, origin) {
			const { baseUrl } = settings.current().model;
			const url = new URL(returnTo);
			if (url.origin !== origin || url.username !== '' || url.password !== '') {
				throw new AppError('invalid_input', `returnTo must be an address of this server, ${origin}.`);
			}
			if (!isOpenRouter(baseUrl)) {
				const hint = 'Paste an API key for it, if it needs one.';
				throw new AppError('conflict', `${new URL(baseUrl).host} has no sign-in.`, { hint });
			}
			return { url: await signIns.start(baseUrl, url) };
		},

		async completeSignIn({ code, state }, signal) {
			const { apiKey, baseUrl } = await signIns.complete(code, state, signal);
			return settings.setModelKey(apiKey, baseUrl, new Date().toISOString());
		}
	};
}
