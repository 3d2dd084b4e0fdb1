/** Loaded with the first need: diagrams in a sandboxed frame, maths with KaTeX, folding of long code, warming up the parser. */
import { countLines } from '../text/format.ts';
import type { render as katexRender } from 'katex';
import { BlockStream } from './block-stream.ts';

export interface DiagramOptions {
	/** Loads Mermaid's code for the first diagram. */
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

	/** The frame's messages are as untrusted as the text it drew. */
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
		// The frame has an opaque origin that can't be named here, and no other window is inside it.
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

/** As text: the frame's origin can't load it, and the page must not run it. Rejects if it's missing. */
export async function loadMermaid(url: string): Promise<string> {
	const response = await fetch(url);
	if (!response.ok) throw new Error(`mermaid is not there: ${response.status}`);
	return response.text();
}

/** KaTeX's `render`; loaded with the first formula. */
type Render = typeof katexRender;

interface Formula {
	/** Untrusted TeX. */
	source: string;
	isDisplay: boolean;
}

/** Longer formulas stay source. */
const MAX_SOURCE = 4_000;
/** Work per turn before the page gets one. */
const TURN_MS = 10;

/** Renders the formula into `element` when it's its turn; on failure the source stays. Returns a function that cancels it. */
export function typeset(element: HTMLElement, formula: Formula): () => void {
	let isWanted = formula.source.length <= MAX_SOURCE;
	const work = async (): Promise<void> => {
		const render = await loadKatex();
		await turns.next();
		if (isWanted) set(element, formula, render);
	};
	if (isWanted) work().catch((error: unknown) => element.setAttribute('title', String(error)));
	return () => void (isWanted = false);
}

function set(element: HTMLElement, { source, isDisplay }: Formula, render: Render): void {
	const made = document.createElement('span');
	try {
		render(source, made, { displayMode: isDisplay, trust: false, maxExpand: 200, maxSize: 20, strict: 'ignore' });
	} catch (error) {
		element.title = error instanceof Error ? error.message : String(error);
		return;
	}
	element.replaceChildren(...made.childNodes);
	element.dataset.set = '';
}

async function loadKatex(): Promise<Render> {
	const [{ default: katex }] = await Promise.all([import('katex'), import('katex/dist/katex.min.css')]);
	return katex.render;
}

/** Spreads thousands of formulas over many tasks. */
class Turns {
	#start = 0;
	#wait: Promise<void> | null = null;

	/** Resolves at once while there is time in this turn, otherwise in the next. */
	async next(): Promise<void> {
		while (performance.now() - this.#start > TURN_MS) {
			this.#wait ??= new Promise<void>((resolve) => setTimeout(resolve)).then(() => {
				this.#start = performance.now();
				this.#wait = null;
			});
			await this.#wait;
		}
	}
}

const turns = new Turns();

/** Longer code is folded. */
const FOLD_LINES = 30;

export interface Fold {
	/** Visible part while folded: whole lines. */
	text: string;
	lineCount: number;
	isLong: boolean;
}

/** The start of the code, or its end while it grows. */
export function foldCode(text: string, isOpen: boolean): Fold {
	const lineCount = countLines(text);
	if (lineCount <= FOLD_LINES) return { text, lineCount, isLong: false };
	return { text: isOpen ? lastLines(text) : firstLines(text), lineCount, isLong: true };
}

function firstLines(text: string): string {
	let end = -1;
	for (let line = 0; line < FOLD_LINES; line += 1) end = text.indexOf('\n', end + 1);
	return text.slice(0, end);
}

function lastLines(text: string): string {
	let start = text.length;
	for (let line = 0; line < FOLD_LINES; line += 1) start = text.lastIndexOf('\n', start - 1);
	return text.slice(start + 1);
}

/** A bit of everything. */
const SAMPLE = `# a

**b** *c* \`d\` ~~e~~ [f](https://example.com) <https://example.com> &amp; \\* $g$

- h
  1. i

> j

| k | l |
| - | - |
| m | n |

\`\`\`js
o
\`\`\`
`;

/** Parses a sample in advance, because the first parse takes many times as long as the next. */
export function warmUpParser(): void {
	new BlockStream().update(SAMPLE, false);
}
