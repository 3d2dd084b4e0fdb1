/** The part of the server's API that is about keys for other programs (FEATURES F12). */
import type { z } from 'zod';
import type { ApiKey, apiKeyCreate, ApiKeyList, NewApiKey } from '../shared/settings.ts';
import { request } from './request.ts';

/** Every call resolves to the answer or throws an `ApiError`. */
export interface KeysClient {
	/** The newest first, revoked ones included. */
	listKeys: () => Promise<ApiKey[]>;
	/** The only time that the key itself is told. */
	createKey: (wanted: z.input<typeof apiKeyCreate>) => Promise<NewApiKey>;
	renameKey: (id: string, name: string) => Promise<ApiKey>;
	/** What was made with it stays. */
	revokeKey: (id: string) => Promise<ApiKey>;
}

export function createKeysClient(): KeysClient {
	return {
		listKeys: async () => (await request<ApiKeyList>('/api/keys')).data,
		createKey: (wanted) => request('/api/keys', 'POST', wanted),
		renameKey: (id, name) => request(`/api/keys/${encodeURIComponent(id)}`, 'PATCH', { name }),
		revokeKey: (id) => request(`/api/keys/${encodeURIComponent(id)}`, 'DELETE')
	};
}
