/** Turns the bytes of a server-sent event stream into frames, wherever the network cut them. */
import { createParser } from 'eventsource-parser';

/** One dispatched event: the `event` field where there was one, and the joined `data` lines. */
export interface SseFrame {
	event: string | undefined;
	data: string;
}

export interface SseDecoder {
	/** The frames that these bytes complete. Throws `FrameTooLargeError`; the decoder is then of no more use. */
	push(bytes: Uint8Array): SseFrame[];
	/** The frame that was still open when the stream ended: one without its blank line counts as well. */
	end(): SseFrame[];
}

/** A line or an event grew over the cap before it ended. */
export class FrameTooLargeError extends Error {
	override readonly name = 'FrameTooLargeError';
	readonly maxCharacters: number;

	constructor(maxCharacters: number) {
		super(`A single event of the stream is longer than ${maxCharacters} characters`);
		this.maxCharacters = maxCharacters;
	}
}

/** A decoder for one stream. Comments and unknown fields are skipped; a line without an end is too long whatever it is. */
export function createSseDecoder(maxCharacters = 16 * 1024 * 1024): SseDecoder {
	const utf8 = new TextDecoder();
	let frames: SseFrame[] = [];
	let isTooLarge = false;
	const parser = createParser({
		maxBufferSize: maxCharacters,
		onEvent({ event, data }) {
			// A line that arrives whole in one chunk never passes through the buffer that the parser limits.
			if (data.length > maxCharacters) isTooLarge = true;
			else frames.push({ event, data });
		},
		onError(error) {
			// Fields that the specification does not know are none of our business.
			if (error.type === 'max-buffer-size-exceeded') isTooLarge = true;
		}
	});

	function feed(text: string): SseFrame[] {
		if (text !== '') parser.feed(text);
		if (isTooLarge) throw new FrameTooLargeError(maxCharacters);
		const complete = frames;
		frames = [];
		return complete;
	}

	return {
		push: (bytes) => feed(utf8.decode(bytes, { stream: true })),
		end: () => feed(`${utf8.decode()}\n\n`)
	};
}
