/** Sets maths with KaTeX, which is loaded when the first of it comes; what it refuses stays as it was written. */
import type { render as katexRender } from 'katex';

/** KaTeX's `render`; only its type is there before the first formula. */
type Render = typeof katexRender;

interface Formula {
	/** TeX, of foreign hand. */
	source: string;
	isDisplay: boolean;
}

/** Longer ones stay source. */
const MAX_SOURCE = 4_000;
/** So long in one go, then the page has its turn. */
const TURN_MS = 10;

/** Sets it into `element`, in its turn; what is there stays when that fails. The function that comes back calls it off. */
export function typeset(element: HTMLElement, formula: Formula): () => void {
	let isWanted = formula.source.length <= MAX_SOURCE;
	const work = async (): Promise<void> => {
		const render = await loadKatex();
		await turns.next();
		if (isWanted) set(element, formula, render);
	};
	if (isWanted) work().catch((error: unknown) => element.setAttribute('title', String(error)));
	return () => {
		isWanted = false;
	};
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

/** Thousands of formulas in one answer must not hold the page up. */
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
