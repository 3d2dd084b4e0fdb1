/** What answers: the settings of the model, the models that there are, and the key that pays for them (FEATURES F9, F11). */
import type { KeyStatus, LocalServer, ModelList } from '../../shared/models.ts';
import type { Settings, SettingsPatch } from '../../shared/settings.ts';
import type { Client } from '../server.ts';
import { Reading } from '../ui/reading.svelte.ts';

/** What it asks of the server. */
export type AccountClient = Pick<
	Client,
	'getSettings' | 'changeSettings' | 'listModels' | 'checkKey' | 'findLocalServers' | 'startSignIn' | 'completeSignIn'
>;

export class Account {
	readonly #client: AccountClient;
	readonly #onchange: () => void;
	readonly settings: Reading<Settings>;
	readonly models: Reading<ModelList>;
	readonly local: Reading<LocalServer[]>;
	/** Whether the connection in use worked when it was last tested; null: not tested since it was changed. */
	works = $state<boolean | null>(null);

	/** `onchange`: something else answers now. */
	constructor(client: AccountClient, onchange: () => void) {
		this.#client = client;
		this.#onchange = onchange;
		this.settings = new Reading(() => client.getSettings());
		this.models = new Reading(() => client.listModels());
		this.local = new Reading(() => client.findLocalServers());
	}

	/** Reads what is not known yet. */
	open(): void {
		for (const reading of [this.settings, this.models, this.local]) {
			if (reading.value === null && !reading.isLoading) void reading.load();
		}
	}

	/** Rejects with an `ApiError`; then everything is as before. */
	async change(patch: SettingsPatch): Promise<Settings> {
		const settings = await this.#client.changeSettings(patch);
		this.#changed(settings);
		return settings;
	}

	/** Does this key work, or the one that is stored? Nothing is kept. Rejects with an `ApiError`. */
	async check(given: { apiKey?: string; baseUrl?: string }): Promise<KeyStatus> {
		const isInUse = given.apiKey === undefined;
		if (isInUse) this.works = false;
		const status = await this.#client.checkKey(given);
		if (isInUse) this.works = status.isValid;
		return status;
	}

	/** Where the browser has to go to sign in; it comes back to `returnTo`. Rejects with an `ApiError`. */
	async signInUrl(returnTo: string): Promise<string> {
		return (await this.#client.startSignIn(returnTo)).url;
	}

	/** Rejects with an `ApiError`. */
	async completeSignIn(code: string, state: string): Promise<void> {
		this.#changed(await this.#client.completeSignIn({ code, state }));
	}

	#changed(settings: Settings): void {
		this.settings.set(settings);
		this.works = null;
		// Another key may use other models.
		void this.models.load();
		this.#onchange();
	}
}
