/** Keeps a connection's `store: false` responses in memory, so that later requests can continue them (F12). */
import { chainRoom, inChain, type Responses, type StoredResponse } from '../../store/responses.ts';

/** The stored responses plus those held for the connection. */
export interface ConnectionResponses extends Responses {
	hold(response: StoredResponse): void | Promise<void>;
	/** Removes a response; those that already continue it keep it as part of their chain. */
	drop(id: string): void;
}

export interface MemoryLimits {
	/** Beyond this, the oldest are dropped. */
	maxResponses: number;
	/** Total characters held. */
	maxCharacters: number;
}

const LIMITS: MemoryLimits = { maxResponses: 64, maxCharacters: 2 * 1024 * 1024 };
/** Same as the store's. */
const MAX_CHAIN = 1000;

interface Held {
	response: StoredResponse;
	characters: number;
	/** The previous response, if held too; kept as long as this one. */
	before: Held | undefined;
}

export function createConnectionResponses(stored: Responses, limits: MemoryLimits = LIMITS): ConnectionResponses {
	const held = new Map<string, Held>();
	const own = (id: string, apiKeyId: string | null): Held | undefined => {
		const found = held.get(id);
		return found?.response.apiKeyId === apiKeyId ? found : undefined;
	};
	const size = (): number => {
		const all = new Set<Held>();
		for (const newest of held.values()) {
			for (let each: Held | undefined = newest; each && !all.has(each); each = each.before) all.add(each);
		}
		return [...all].reduce((sum, { characters }) => sum + characters, 0);
	};

	return {
		...stored,

		get: async (id, apiKeyId) => own(id, apiKeyId)?.response ?? stored.get(id, apiKeyId),

		async chain(id, apiKeyId) {
			const links: StoredResponse[] = [];
			const room = chainRoom();
			let here = own(id, apiKeyId);
			for (let next: string | null = id; next !== null;) {
				const link: StoredResponse | null = here?.response ?? (await stored.get(next, apiKeyId));
				if (!link || links.length === MAX_CHAIN) return null;
				if (!here) room.take(JSON.stringify(link.items));
				links.push(here ? link : inChain(link));
				next = link.previousId;
				here = here?.before ?? (next === null ? undefined : own(next, apiKeyId));
			}
			return links.reverse();
		},

		hold(response) {
			const { id, previousId, items, body } = response;
			const before = previousId === null ? undefined : held.get(previousId);
			held.set(id, { response, characters: JSON.stringify([items, body]).length, before });
			for (const oldest of held.keys()) {
				if (held.size <= limits.maxResponses && size() <= limits.maxCharacters) break;
				held.delete(oldest);
			}
		},

		drop: (id) => void held.delete(id)
	};
}
