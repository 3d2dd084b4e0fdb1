/** Runs in the browser: shows a text that grows by a chunk in each frame, through one renderer or another. */
import DOMPurify from 'dompurify';
import { marked } from 'marked';
import * as smd from 'streaming-markdown';
import { flushSync, mount, unmount } from 'svelte';
import '../src/app.css';
import Markdown from '../src/lib/page/markdown/Markdown.svelte';
import { showThread } from './ui-thread.svelte.ts';

export type Renderer = 'floor' | 'ours' | 'thread' | 'streaming-markdown' | 'marked';

/** Shows the text so far. */
export type Show = (text: string, isGrowing: boolean) => void;

export interface Order {
	renderer: Renderer;
	text: string;
	/** Characters in each frame. */
	chunk: number;
	/** Messages above the answer, for `thread`. */
	earlier: number;
}

const SETTLE_MS = 250;

declare global {
	var bench: typeof api;
}

const RENDERERS: Record<Renderer, (root: HTMLElement, order: Order) => Show> = {
	floor(root) {
		const node = root.appendChild(document.createTextNode(''));
		root.style.whiteSpace = 'pre-wrap';
		return (text) => node.appendData(text.slice(node.length));
	},
	ours(root) {
		const props = $state({ text: '', isGrowing: true });
		mount(Markdown, { target: root, props });
		return (text, isGrowing) => {
			props.text = text;
			props.isGrowing = isGrowing;
		};
	},
	thread: (_root, { earlier }) => showThread(earlier),
	'streaming-markdown'(root) {
		const parser = smd.parser(smd.default_renderer(root));
		let shown = 0;
		return (text, isGrowing) => {
			smd.parser_write(parser, text.slice(shown));
			shown = text.length;
			if (!isGrowing) smd.parser_end(parser);
		};
	},
	marked: (root) => (text) => (root.innerHTML = DOMPurify.sanitize(marked.parse(text, { async: false })))
};

let show: Show = () => undefined;
const api = {
	/** Puts an empty answer on the page. */
	async prepare(order: Order): Promise<void> {
		show = RENDERERS[order.renderer](order.renderer === 'thread' ? document.body : scroller(), order);
		flushSync();
		await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
	},
	/** Lets it grow to its end, one chunk a frame. */
	async stream({ text, chunk }: Order): Promise<void> {
		for (let end = chunk; end < text.length; end += chunk) {
			await frame();
			show(text.slice(0, end), true);
		}
		await frame();
		show(text, false);
		await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
	},
	/** Is what is shown now what the same text in one piece shows? */
	isAsInOnePiece(text: string): boolean {
		const target = document.createElement('div');
		const whole = mount(Markdown, { target, props: { text } });
		flushSync();
		const shown = document.querySelectorAll('[data-testid=markdown]');
		const isSame = shown[shown.length - 1]?.textContent === target.textContent;
		void unmount(whole);
		return isSame;
	}
};
globalThis.bench = api;

/** A region that stays at its end, as the page's does. */
function scroller(): HTMLElement {
	const viewport = document.body.appendChild(document.createElement('div'));
	viewport.style.cssText = 'height: 100vh; overflow-y: auto';
	const root = viewport.appendChild(document.createElement('div'));
	root.style.cssText = 'max-width: 44rem; margin: 0 auto; overflow-wrap: anywhere';
	new ResizeObserver(() => (viewport.scrollTop = viewport.scrollHeight)).observe(root);
	return root;
}

function frame(): Promise<number> {
	return new Promise((resolve) => requestAnimationFrame(resolve));
}
