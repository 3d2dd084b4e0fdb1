/** A page's side of the API, over connections that may break at any time. */
import type { ConversationDetail, RunState, MessageList } from '../../src/lib/shared/api.ts';
import { type NumberedEvent, placeOfEvent, type RunEvent } from '../../src/lib/shared/events.ts';

export interface SeenEvent extends NumberedEvent {
	/** The SSE `id`. */
	id: string;
	/** Arrival time, from `performance.now()`. */
	at: number;
}

export interface Followed {
	/** In order of arrival. */
	events: SeenEvent[];
	/** True if the connection broke, so the server didn't end the stream. */
	isCut: boolean;
}

export interface Question {
	runId: string;
	conversationId: string;
	messageId: string;
	text: string;
}

/** Sends a question like the page does. Rejects if the server dies before it answers. */
export function ask(url: string, { runId, conversationId, messageId, text }: Question): Promise<Response> {
	const messages = [{ id: messageId, role: 'user', content: text }];
	return fetch(`${url}/api/chat`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', accept: 'application/json' },
		body: JSON.stringify({ threadId: conversationId, runId, messages })
	});
}

/** Follows a run until the server ends the stream or dies; `lastEventId` is what a reconnecting page sends. */
export async function follow(
	url: string,
	runId: string,
	options: { lastEventId?: string; onEvent?: (seen: SeenEvent) => void } = {}
): Promise<Followed> {
	const events: SeenEvent[] = [];
	try {
		const headers: Record<string, string> =
			options.lastEventId === undefined ? {} : { 'last-event-id': options.lastEventId };
		const response = await fetch(`${url}/api/runs/${runId}/events`, { headers });
		for await (const [id, data] of framesOf(response)) {
			const seen = { id, seq: placeOfEvent(id).seq, event: JSON.parse(data) as RunEvent, at: performance.now() };
			events.push(seen);
			options.onEvent?.(seen);
		}
		return { events, isCut: false };
	} catch (error) {
		// Thrown by fetch and its body when the other side is gone.
		if (!(error instanceof TypeError)) throw error;
		return { events, isCut: true };
	}
}

/** null if the run doesn't exist. */
export async function readRun(url: string, runId: string): Promise<RunState | null> {
	const response = await fetch(`${url}/api/runs/${runId}`);
	return response.status === 404 ? null : read<RunState>(response);
}

/** With all its messages; null if the chat doesn't exist. */
export async function readConversation(url: string, id: string): Promise<ConversationDetail | null> {
	const response = await fetch(`${url}/api/conversations/${id}`);
	if (response.status === 404) return null;
	const conversation = await read<ConversationDetail>(response);
	while (conversation.hasEarlier) {
		const first = conversation.messages[0]?.id ?? '';
		const earlier = await fetch(`${url}/api/conversations/${id}/messages?before=${encodeURIComponent(first)}`);
		const { messages, hasEarlier } = await read<MessageList>(earlier);
		conversation.messages.unshift(...messages);
		conversation.hasEarlier = hasEarlier;
	}
	return conversation;
}

async function read<Body>(response: Response): Promise<Body> {
	if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
	return (await response.json()) as Body;
}

/** Id and data of each event, without comments. */
async function* framesOf(response: Response): AsyncGenerator<[id: string, data: string]> {
	if (!response.ok || !response.body) throw new Error(`${response.url} answered ${response.status}`);
	let rest = '';
	for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
		const frames = (rest + chunk).split('\n\n');
		rest = frames.pop() ?? '';
		for (const frame of frames) {
			const [, id, data] = /^id: ([\d.]+)\ndata: (.*)$/s.exec(frame) ?? [];
			if (id !== undefined && data !== undefined) yield [id, data];
		}
	}
}
