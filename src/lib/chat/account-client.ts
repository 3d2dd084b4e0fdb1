/** The part of the server's API that is about models and the account that pays for them (FEATURES F9, F11); settings too. */
import type { z } from 'zod';
import type { KeyStatus, LocalServer, ModelList, SignInStart, keyCheck, signInComplete } from '../shared/models.ts';
import type { Settings, SettingsPatch } from '../shared/settings.ts';
import { request } from './request.ts';

/** Every call resolves to the answer or throws an `ApiError`. */
export interface AccountClient {
	getSettings: () => Promise<Settings>;
	changeSettings: (patch: SettingsPatch) => Promise<Settings>;
	/** In the order of the server that is set. Never fails for that server: `problem` says what is wrong with it. */
	listModels: (signal?: AbortSignal) => Promise<ModelList>;
	/** Does the key work there? What is left out is what the server has; nothing is stored. */
	checkKey: (check: z.input<typeof keyCheck>, signal?: AbortSignal) => Promise<KeyStatus>;
	/** Servers for models on the machine that the server runs on. */
	findLocalServers: (signal?: AbortSignal) => Promise<LocalServer[]>;
	/** The address to send the browser to; it comes back to `returnTo`, with `code` and `state` in the query. */
	startSignIn: (returnTo: string) => Promise<SignInStart>;
	/** Stores the key; once for each sign-in. */
	completeSignIn: (answer: z.input<typeof signInComplete>) => Promise<Settings>;
}

export function createAccountClient(): AccountClient {
	return {
		getSettings: () => request('/api/settings'),
		changeSettings: (patch) => request('/api/settings', 'PUT', patch),
		listModels: (signal) => request('/api/models', 'GET', undefined, signal),
		checkKey: (check, signal) => request('/api/models/check', 'POST', check, signal),
		findLocalServers: async (signal) =>
			(await request<{ data: LocalServer[] }>('/api/models/local', 'GET', undefined, signal)).data,
		startSignIn: (returnTo) => request('/api/account/sign-in', 'POST', { returnTo }),
		completeSignIn: (answer) => request('/api/account/sign-in/complete', 'POST', answer)
	};
}
