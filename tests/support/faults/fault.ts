/** What a fault of a model's server is, what a user must see of it, and the frames that faults are made of. */
import type { Gate } from '../gate.ts';
import { text, type Reply } from '../model-replies.ts';

export interface Fault {
	/** Unique; names the test. */
	name: string;
	/** What the server does, for people. */
	does: string;
	/**
	 * The answer to each request of the turn: more than one where the client has to ask again. `seen` opens once the
	 * user has seen what the outcome shows: what a reset overtakes is lost on its way, as on any network.
	 */
	replies: Reply[] | ((seen: Gate) => Reply[]);
	/** The server falls silent: the client needs a short `idleTimeoutMs`. */
	isStall?: true;
	/** More than a test can take apart byte by byte. */
	isLarge?: true;
	/** Exactly what the user sees. */
	outcome: Outcome;
}

export interface Outcome {
	/** The text of the answer. */
	text: string;
	/** null when the answer is complete; `{host}` in a message stands for the server's host and port. */
	error: { code: string; message: string; status?: number; retryAfterMs?: number } | null;
	/** The calls that the client passes on as finished. */
	calls?: { name: string; arguments: string }[];
	/** What becomes of each call that was begun. */
	tools?: { name: string; status: 'done' | 'failed' | 'interrupted' }[];
	/** Why a complete answer is shorter than the model wanted. */
	incompleteReason?: string;
}

/** The replies of a fault, for one use. */
export function repliesOf({ replies }: Fault, seen: Gate): Reply[] {
	return typeof replies === 'function' ? replies(seen) : replies;
}

/** What the server answers once it works again. */
export const RECOVERED = 'Here I am.';

/** What the server asks for each time that it is asked again: the first request and three repetitions. */
export function always(reply: Reply): Reply[] {
	return [reply, reply, reply, reply];
}

/** Fails once, then answers. */
export function once(...replies: Reply[]): Reply[] {
	return [...replies, text(RECOVERED)];
}

/** The outcome of an answer that came through. */
export function answered(shown = RECOVERED): Outcome {
	return { text: shown, error: null };
}

/** The outcome of an answer that failed, after this text was shown. */
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

/** A whole, proper answer. */
export function says(...chunks: string[]): object[] {
	return [created, opened, ...chunks.map(delta), finished(chunks.join('')), completed];
}

/** Frames as the bytes of a stream. */
export function stream(frames: object[], lineEnd = '\n'): string {
	return frames.map((frame) => `data: ${JSON.stringify(frame)}${lineEnd}${lineEnd}`).join('');
}
