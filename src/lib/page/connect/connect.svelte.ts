/** The page Connect: the keys of other programs, and the new one, which is known until one leaves the page (FEATURES F12). */
import type { ApiKey, NewApiKey } from '../../shared/settings.ts';
import type { ApiScope } from '../../shared/names.ts';
import type { Client } from '../server.ts';
import { Reading } from '../ui/reading.svelte.ts';

type KeysClient = Pick<Client, 'listKeys' | 'createKey' | 'renameKey' | 'revokeKey'>;

export class Connect {
	readonly #client: KeysClient;
	readonly keys: Reading<ApiKey[]>;
	/** Made here, and good for the settings that are shown; it cannot be had again. */
	fresh = $state.raw<NewApiKey | null>(null);

	constructor(client: KeysClient) {
		this.#client = client;
		this.keys = new Reading(() => client.listKeys());
	}

	/** Rejects with an `ApiError`; then there is no other key than before. */
	async create(name: string, scopes: readonly ApiScope[]): Promise<void> {
		const made = await this.#client.createKey({ name, scopes: [...scopes] });
		this.fresh = made;
		const { key: _told, ...key } = made;
		this.keys.set([key, ...(this.keys.value ?? [])]);
		// Another tab may have made or revoked some.
		await this.keys.load();
	}

	/** Rejects with an `ApiError`; then the key may still be used. */
	async revoke(id: string): Promise<void> {
		const revoked = await this.#client.revokeKey(id);
		if (this.fresh?.id === id) this.fresh = null;
		this.#replace(revoked);
	}

	/** Rejects with an `ApiError`; then it is called as before. */
	async rename(id: string, name: string): Promise<void> {
		const renamed = await this.#client.renameKey(id, name);
		if (this.fresh?.id === id) this.fresh = { ...this.fresh, name: renamed.name };
		this.#replace(renamed);
	}

	#replace(changed: ApiKey): void {
		this.keys.set((this.keys.value ?? []).map((key) => (key.id === changed.id ? changed : key)));
	}
}
