/** The model connection: settings, available models, local servers and the API key (F9, F11). */
import type { KeyStatus, LocalServer, ModelList } from '../../shared/models.ts';
import type { Settings, SettingsPatch } from '../../shared/settings.ts';
import type { Client } from '../server.ts';
import { readStored, writeStored } from '../ui/clipboard.ts';
import { Reading } from '../ui/reading.svelte.ts';
import { asArray, parseJson } from '../../shared/json.ts';

const FAILING = 'model-connection-failed';

export type AccountClient = Pick<
	Client,
	'getSettings' | 'changeSettings' | 'listModels' | 'checkKey' | 'findLocalServers' | 'startSignIn' | 'completeSignIn'
>;

/** Where this browser keeps ids of models, and how many. */
const FAVORITES = { key: 'favorite-models', most: 100 };
const RECENT = { key: 'recent-models', most: 5 };

export class Account {
	readonly #client: AccountClient;
	readonly #onchange: () => void;
	readonly settings: Reading<Settings>;
	readonly models: Reading<ModelList>;
	readonly local: Reading<LocalServer[]>;
	#works = $state<boolean | null>(readStored('local', FAILING) === null ? null : false);
	/** Ids of models, newest first. */
	favorites = $state.raw(keptIds(FAVORITES));
	recent = $state.raw(keptIds(RECENT));

	/** `onchange`: called when the model connection has changed. */
	constructor(client: AccountClient, onchange: () => void) {
		this.#client = client;
		this.#onchange = onchange;
		this.settings = new Reading(() => client.getSettings());
		this.models = new Reading(() => client.listModels());
		this.local = new Reading(() => client.findLocalServers());
	}

	/** Result of the last test of the connection in use; null if untested since it changed. A failure outlives the page. */
	get works(): boolean | null {
		return this.#works;
	}
	set works(works: boolean | null) {
		this.#works = works;
		writeStored('local', FAILING, works === false ? 'yes' : null);
	}

	/** Tests a connection again that failed before this page. */
	async recheck(): Promise<void> {
		// The banner stays after an error.
		if (this.works === false) await this.check({}).catch(() => undefined);
	}

	/** Loads what hasn't been loaded, and what another tab has kept. */
	open(): void {
		this.favorites = keptIds(FAVORITES);
		this.recent = keptIds(RECENT);
		for (const reading of [this.settings, this.models, this.local]) {
			if (reading.value === null && !reading.isLoading) void reading.load();
		}
	}

	toggleFavorite(id: string): void {
		this.favorites = keepIds(FAVORITES, (ids) => (ids.includes(id) ? ids.filter((each) => each !== id) : [id, ...ids]));
	}

	/** The model was chosen. */
	use(id: string): void {
		this.recent = keepIds(RECENT, (ids) => [id, ...ids.filter((each) => each !== id)]);
	}

	/** Rejects with an `ApiError`. */
	async change(patch: SettingsPatch): Promise<Settings> {
		const settings = await this.#client.changeSettings(patch);
		this.#changed(settings);
		return settings;
	}

	/** Tests this connection, or the saved one; saves nothing. Rejects with an `ApiError`. */
	async check(given: { apiKey?: string; baseUrl?: string }): Promise<KeyStatus> {
		const { apiKey, baseUrl } = given;
		const isInUse = apiKey === undefined && (baseUrl ?? this.#baseUrl) === this.#baseUrl;
		if (isInUse) this.works = false;
		const status = await this.#client.checkKey(given);
		if (isInUse) this.works = status.isValid;
		return status;
	}

	/** Saves a connection that was tested. A server that lacks the default model answers with its first. Rejects with an `ApiError`. */
	async connect({ apiKey, baseUrl }: { apiKey?: string; baseUrl: string }, works: boolean): Promise<void> {
		const isMoved = baseUrl !== this.#baseUrl;
		const { model } = await this.change({
			...(isMoved && { modelBaseUrl: baseUrl, model: null }),
			...(apiKey !== undefined && { modelApiKey: apiKey })
		});
		if (isMoved && works && !model.canSignIn) {
			const { data } = await this.#client.listModels();
			const [first] = data;
			if (first && !data.some(({ id }) => id === model.id)) await this.change({ model: first.id });
		}
		this.works = works;
	}

	/** Address for signing in; it comes back to `returnTo`. Rejects with an `ApiError`. */
	async signInUrl(returnTo: string): Promise<string> {
		return (await this.#client.startSignIn(returnTo)).url;
	}

	/** Rejects with an `ApiError`. */
	async completeSignIn(code: string, state: string): Promise<void> {
		this.#changed(await this.#client.completeSignIn({ code, state }));
	}

	get #baseUrl(): string | undefined {
		return this.settings.value?.model.baseUrl;
	}

	#changed(settings: Settings): void {
		this.settings.set(settings);
		this.works = null;
		// Another key may have other models.
		void this.models.load();
		this.#onchange();
	}
}

function keptIds({ key, most }: typeof FAVORITES): string[] {
	const ids = asArray(parseJson(readStored('local', key) ?? '[]'));
	return ids.filter((id) => typeof id === 'string').slice(0, most);
}

/** Changes what is kept now, which another tab may have changed. */
function keepIds(kind: typeof FAVORITES, change: (ids: string[]) => string[]): string[] {
	const ids = change(keptIds(kind)).slice(0, kind.most);
	writeStored('local', kind.key, JSON.stringify(ids));
	return ids;
}
