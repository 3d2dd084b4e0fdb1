/** Puts AG-UI's snapshots of state and messages into a run's events, for clients that ask for them (FEATURES F13). */
import type { RunEvent } from '../../../shared/events.ts';
import { isTerminal } from '../../../shared/events.ts';
import { listConversationSkills } from '../../runs/conversation-skills.ts';
import type { StoredEvent } from '../../store/run-events.ts';
import type { Store } from '../../store/store.ts';
import { toAguiMessages } from './messages.ts';

type Parts = Parameters<typeof listConversationSkills>[0] & { store: Pick<Store, 'messages'> };

interface Snapshots {
	batches: AsyncIterable<StoredEvent[]>;
	/** As the client gave it: any JSON, or nothing. */
	state: unknown;
}

/**
 * STATE_SNAPSHOT after the run's start, and before its end once more with MESSAGES_SNAPSHOT. They are in no log: each has
 * the number of the event before it, so that a client that goes on after one misses nothing.
 */
export async function* withSnapshots(
	parts: Parts,
	conversationId: string,
	{ batches, state }: Snapshots
): AsyncGenerator<StoredEvent[]> {
	const stateSnapshot = async () => {
		return JSON.stringify({ type: 'STATE_SNAPSHOT', snapshot: await stateOf(parts, conversationId, state) });
	};
	const messagesSnapshot = async () => {
		const messages = toAguiMessages(await parts.store.messages.list(conversationId));
		return JSON.stringify({ type: 'MESSAGES_SNAPSHOT', messages });
	};
	for await (const batch of batches) {
		const whole: StoredEvent[] = [];
		for (const stored of batch) {
			const event = JSON.parse(stored.data) as RunEvent;
			if (isTerminal(event)) {
				const seq = stored.seq - 1;
				whole.push({ seq, data: await stateSnapshot() }, { seq, data: await messagesSnapshot() });
			}
			whole.push(stored);
			if (event.type === 'RUN_STARTED') whole.push({ seq: stored.seq, data: await stateSnapshot() });
		}
		yield whole;
	}
}

/** The client's own state with the conversation's skills beside it; a state that is no object has no room for them. */
async function stateOf(parts: Parts, conversationId: string, given: unknown): Promise<unknown> {
	if (given !== undefined && given !== null && (typeof given !== 'object' || Array.isArray(given))) return given;
	const { data } = await listConversationSkills(parts, conversationId);
	const namesOf = (wanted: 'pinned' | 'loaded') => data.flatMap(({ name, state }) => (state === wanted ? [name] : []));
	return { ...given, skills: { pinned: namesOf('pinned'), loaded: namesOf('loaded') } };
}
