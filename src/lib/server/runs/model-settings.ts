/** What of the settings decides which model answers, and with which key (FEATURES F9, F11; SECURITY, *Outbound requests*). */
import { isOpenRouter } from '../../shared/models.ts';
import type { ModelSettings, SettingsPatch } from '../../shared/settings.ts';

/** What the operator has set. */
export interface ModelDefaults {
	id: string;
	baseUrl: string;
	/** Goes to `baseUrl` and nowhere else. */
	apiKey: string | null;
	/** Neither a key nor a base URL was given. */
	isOffline: boolean;
}

/** A key that was entered, and the origin that it was entered for. */
export interface StoredModelKey {
	key: string;
	origin: string;
}

/** Where it is written down, both are one value: none is ever without the other. */
export const storedModelKey = {
	write: ({ key, origin }: StoredModelKey): string => `${origin} ${key}`,
	/** null for what is no such value. */
	read(text: string | undefined): StoredModelKey | null {
		const [origin, key, ...rest] = text?.split(' ') ?? [];
		return origin && key && rest.length === 0 ? { key, origin } : null;
	}
};

/** Where models are asked. */
export function modelBaseUrlOf(chosen: SettingsPatch, defaults: ModelDefaults): string {
	return chosen.modelBaseUrl ?? defaults.baseUrl;
}

export function originOf(baseUrl: string): string {
	return new URL(baseUrl).origin;
}

/** The one key that may be sent to a base URL: the one entered for its origin, else the operator's at the operator's address. */
export function modelKeyFor(
	baseUrl: string,
	stored: StoredModelKey | null,
	{ baseUrl: configured, apiKey }: ModelDefaults
): { key: string; from: 'settings' | 'environment' } | null {
	if (stored?.origin === originOf(baseUrl)) return { key: stored.key, from: 'settings' };
	return apiKey !== null && withoutSlash(baseUrl) === withoutSlash(configured)
		? { key: apiKey, from: 'environment' }
		: null;
}

const OPENROUTER = 'https://openrouter.ai/api/v1';

export function modelSettingsOf(
	chosen: SettingsPatch,
	stored: StoredModelKey | null,
	defaults: ModelDefaults
): ModelSettings {
	const baseUrl = modelBaseUrlOf(chosen, defaults);
	const key = modelKeyFor(baseUrl, stored, defaults);
	// An operator who names OpenRouter wants to be told that the key is missing.
	const isNamed = withoutSlash(defaults.baseUrl) === OPENROUTER && defaults.apiKey === null && !defaults.isOffline;
	return {
		id: chosen.model ?? defaults.id,
		effort: chosen.effort ?? null,
		baseUrl,
		defaultBaseUrl: defaults.baseUrl,
		isOffline: key === null && withoutSlash(baseUrl) === OPENROUTER && !isNamed,
		keyFrom: key?.from ?? null,
		canSignIn: isOpenRouter(baseUrl)
	};
}

function withoutSlash(url: string): string {
	return url.replace(/\/+$/, '');
}
