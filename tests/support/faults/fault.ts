/** What a model server's fault is, what the user must see, and the frames faults are built from. */
import type { Gate } from '../gate.ts';
import { text, type Reply } from '../model-replies.ts';

export interface Fault {
	/** Unique; used as the test's name. */
	name: string;
	/** What the server does, in words. */
	does: string;
	/**
	 * The reply to each request of the turn: more than one if the client has to retry. `seen` opens once the
	 * user has seen everything in the outcome: like on any network, a reset loses whatever it overtakes.
	 */
	replies: Reply[] | ((seen: Gate) => Reply[]);
	/** The server goes silent: the client needs a short `idleTimeoutMs`. */
	isStall?: true;
	/** Too large for a test to split byte by byte. */
	isLarge?: true;
	/** Exactly what the user sees. */
	outcome: Outcome;
}

export interface Outcome {
	/** The text of the answer. */
	text: string;
	/** null if the answer is complete; `{host}` in a message stands for the server's host and port. */
	error: { code: string; message: string; status?: number; retryAfterMs?: number } | null;
	/** Calls the client passes on as finished. */
	calls?: { name: string; arguments: string }[];
	/** The status of each call that was started. */
	tools?: { name: string; status: 'done' | 'failed' | 'interrupted' }[];
	/** Why a complete answer is shorter than it should be. */
	incompleteReason?: string;
}

/** A fault's replies, for one use. */
export function repliesOf({ replies }: Fault, seen: Gate): Reply[] {
	return typeof replies === 'function' ? replies(seen) : replies;
}

/** The reply once the server works again. */
export const RECOVERED = 'Here I am.';

/** For the first request and three retries. */
export function always(reply: Reply): Reply[] {
	return [reply, reply, reply, reply];
}

/** Fails once, then answers. */
export function once(...replies: Reply[]): Reply[] {
	return [...replies, text(RECOVERED)];
}

/** The outcome of an answer that succeeded. */
export function answered(shown = RECOVERED): Outcome {
	return { text: shown, error: null };
}

/** The outcome of an answer that failed after this text. */
export function failed(code: string, message: string, more: { shown?: string; status?: number } = {}): Outcome {
	const { shown = '', status } = more;
	return { text: shown, error: { code, message, ...(status === undefined ? {} : { status }) } };
}

export const TRY_AGAIN = 'Try again, or choose another model.';
export const BROKE_OFF = 'The reply ended too early. What arrived was saved. Try again.';
export const NEVER_BEGAN = `{host} ended the reply before it started. ${TRY_AGAIN}`;
export const SERVER_FAILED = 'The server of test/model failed.';

export const created = { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } };

const place = { output_index: 0, item_id: 'msg_1' };

/** The message's first event. */
export const opened = {
	type: 'response.output_item.added',
	output_index: 0,
	item: { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] }
};

export function delta(chunk: string): object {
	return { type: 'response.output_text.delta', ...place, content_index: 0, delta: chunk };
}

export function messageItem(whole: string): object {
	const content = [{ type: 'output_text', text: whole, annotations: [] }];
	return { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
}

/** The message's last event. */
export function finished(whole: string): object {
	return { type: 'response.output_item.done', output_index: 0, item: messageItem(whole) };
}

export const completed = { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [] } };

/** A whole, correct reply. */
export function says(...chunks: string[]): object[] {
	return [created, opened, ...chunks.map(delta), finished(chunks.join('')), completed];
}

/** Frames as stream bytes. */
export function stream(frames: object[], lineEnd = '\n'): string {
	return frames.map((frame) => `data: ${JSON.stringify(frame)}${lineEnd}${lineEnd}`).join('');
}
