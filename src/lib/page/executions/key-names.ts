/** Names of API keys, for runs, which know only their IDs (E13, F12). */
import { cleanText } from '../text/clean-text.ts';
import type { ApiKey } from '../../shared/settings.ts';

export interface KeyNames {
	/** For a filter to offer: each name, with the key's first characters where several keys share it. */
	readonly choices: readonly string[];
	/** Undefined if no such key is known: callers of the API may have IDs of their own. */
	nameOf(id: string): string | undefined;
	/** The ID that a person means, who writes a choice, a name or an ID. */
	idOf(text: string): string;
}

/** Newest keys first, so a name that was used again means the new key. */
export function createKeyNames(keys: readonly ApiKey[]): KeyNames {
	const choices = new Map<string, string>();
	const byId = new Map<string, string>();
	for (const key of keys) {
		const name = cleanText(key.name);
		const isShared = keys.some(({ id, name: other }) => id !== key.id && cleanText(other) === name);
		const choice = isShared ? `${name} (${key.prefix}…)` : name;
		choices.set(choice, key.id);
		byId.set(key.id, choice);
	}
	return {
		choices: [...choices.keys()],
		nameOf: (id) => byId.get(id),
		idOf(text) {
			const asked = text.trim();
			const isIt = ({ name }: ApiKey): boolean => cleanText(name).toLowerCase() === asked.toLowerCase();
			return choices.get(asked) ?? keys.find(isIt)?.id ?? asked;
		}
	};
}
