/** A mermaid diagram that is drawn in a frame of an origin of its own: text goes in, a size comes out. */

export interface DiagramOptions {
	/** Mermaid's own code, read when the first diagram is drawn. */
	loadCode: () => Promise<string>;
	timeoutMs?: number;
}

type Reply = { type: 'ready' } | { type: 'drawn'; width: number; height: number } | { type: 'failed'; message: string };

export const MAX_DIAGRAM = 20_000;
const MAX_HEIGHT_PX = 1_600;
const TIMEOUT_MS = 15_000;

export class Diagram {
	readonly #options: DiagramOptions;
	phase = $state<'drawing' | 'drawn' | 'failed'>('drawing');
	heightPx = $state(0);
	#text = '';
	#isDark = false;

	constructor(options: DiagramOptions) {
		this.#options = options;
	}

	/** For `{@attach}` on the frame. */
	draw(text: string, isDark: boolean): (frame: HTMLIFrameElement) => () => void {
		return (frame) => {
			this.#text = text;
			this.#isDark = isDark;
			this.phase = 'drawing';
			const onmessage = ({ source, data }: MessageEvent<unknown>): void => {
				if (source !== null && source === frame.contentWindow) this.#take(frame, data);
			};
			const timer = setTimeout(() => this.#fail(), this.#options.timeoutMs ?? TIMEOUT_MS);
			addEventListener('message', onmessage);
			return () => {
				clearTimeout(timer);
				removeEventListener('message', onmessage);
			};
		};
	}

	/** What the frame says is as foreign as the text that it drew. */
	#take(frame: HTMLIFrameElement, data: unknown): void {
		const reply = readReply(data);
		if (reply?.type === 'ready') void this.#send(frame).catch(() => this.#fail());
		else if (reply?.type === 'drawn' && this.phase === 'drawing') {
			this.heightPx = Math.min(MAX_HEIGHT_PX, reply.height);
			this.phase = 'drawn';
		} else if (reply?.type === 'failed') this.#fail();
	}

	async #send(frame: HTMLIFrameElement): Promise<void> {
		const code = await this.#options.loadCode();
		// Its origin has no name that could be given here; who else would listen has no window of its own in there.
		frame.contentWindow?.postMessage({ code, text: this.#text, isDark: this.#isDark }, '*');
	}

	#fail(): void {
		if (this.phase === 'drawing') this.phase = 'failed';
	}
}

function readReply(data: unknown): Reply | null {
	if (typeof data !== 'object' || data === null || !('type' in data)) return null;
	if (data.type === 'ready') return { type: 'ready' };
	if (data.type === 'failed') return { type: 'failed', message: '' };
	if (data.type !== 'drawn' || !('height' in data) || !('width' in data)) return null;
	const { width, height } = data;
	if (typeof width !== 'number' || typeof height !== 'number' || !(height > 0)) return null;
	return { type: 'drawn', width, height };
}

/** As text: the frame has no origin that could load it, and the page must not run it. Rejects when it is not there. */
export async function loadMermaid(url: string): Promise<string> {
	const response = await fetch(url);
	if (!response.ok) throw new Error(`mermaid is not there: ${response.status}`);
	return response.text();
}
