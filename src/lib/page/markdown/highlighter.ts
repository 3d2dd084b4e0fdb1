/** Highlights code in a worker that starts with the first code block. If anything fails, code stays plain. */
import type { CodeToken } from './tokens.ts';

export interface HighlightOrder {
	id: number;
	language: string;
	text: string;
}

export interface HighlightAnswer {
	id: number;
	tokens: CodeToken[];
}

type HighlightWorker = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>;

interface Job {
	order: HighlightOrder;
	signal: AbortSignal;
	resolve: (tokens: CodeToken[] | null) => void;
}

const MAX_TEXT = 100_000;
const TIMEOUT_MS = 4_000;
/** The first job also waits for the languages to load. */
const START_FACTOR = 5;
/** Stops restarting a worker that keeps failing. */
const MAX_FAILURES = 3;

export class Highlighter {
	readonly #start: () => HighlightWorker;
	readonly #timeoutMs: number;
	#worker: HighlightWorker | null = null;
	#failures = 0;
	#lastId = 0;
	#waiting: Job[] = [];
	#current: Job | null = null;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(start: () => HighlightWorker, timeoutMs = TIMEOUT_MS) {
		this.#start = start;
		this.#timeoutMs = timeoutMs;
	}

	/** Never rejects. Null if the code stays plain: unknown language, too long, or a failure. */
	highlight(code: { language: string; text: string; signal: AbortSignal }): Promise<CodeToken[] | null> {
		const language = knownLanguage(code.language);
		if (language === null || code.text.length > MAX_TEXT || this.#failures >= MAX_FAILURES)
			return Promise.resolve(null);
		return new Promise((resolve) => {
			const order = { id: ++this.#lastId, language, text: code.text };
			this.#waiting.push({ order, signal: code.signal, resolve });
			this.#next();
		});
	}

	/** One job at a time, so that the timeout covers only that one. */
	#next(): void {
		if (this.#current) return;
		const job = this.#waiting.shift();
		if (!job) return;
		if (job.signal.aborted || this.#failures >= MAX_FAILURES) {
			job.resolve(null);
			return this.#next();
		}
		this.#current = job;
		this.#timer = setTimeout(() => this.#fail(), this.#timeoutMs * (this.#worker ? 1 : START_FACTOR));
		try {
			this.#ready().postMessage(job.order);
		} catch {
			// No workers: an old browser, or a policy that forbids them.
			this.#fail();
		}
	}

	#ready(): HighlightWorker {
		if (this.#worker) return this.#worker;
		const worker = this.#start();
		worker.onmessage = ({ data }: MessageEvent<HighlightAnswer>) => {
			if (data.id === this.#current?.order.id) this.#end(data.tokens);
		};
		worker.onerror = (event: Event) => {
			event.preventDefault();
			this.#fail();
		};
		return (this.#worker = worker);
	}

	#fail(): void {
		this.#worker?.terminate();
		this.#worker = null;
		this.#failures += 1;
		this.#end(null);
	}

	#end(tokens: CodeToken[] | null): void {
		clearTimeout(this.#timer);
		const job = this.#current;
		this.#current = null;
		if (tokens) this.#failures = 0;
		job?.resolve(tokens);
		this.#next();
	}
}

/** Shared by the whole page. */
export const highlighter = new Highlighter(
	() => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
);

/** highlight.js' common languages and their aliases, known without loading it. */
const LANGUAGES: Readonly<Record<string, string>> = {
	bash: 'sh zsh',
	c: 'h',
	cpp: 'c++ cc hpp',
	csharp: 'cs c#',
	css: '',
	diff: 'patch',
	go: 'golang',
	graphql: 'gql',
	ini: 'toml',
	java: '',
	javascript: 'js jsx mjs cjs',
	json: 'jsonc json5',
	kotlin: 'kt',
	less: '',
	lua: '',
	makefile: 'make mk',
	markdown: 'md',
	objectivec: 'objc',
	perl: 'pl',
	php: '',
	python: 'py',
	r: '',
	ruby: 'rb',
	rust: 'rs',
	scss: '',
	shell: 'console',
	sql: '',
	swift: '',
	typescript: 'ts tsx mts cts',
	vbnet: 'vb',
	wasm: '',
	xml: 'html svg xhtml vue svelte',
	yaml: 'yml'
};

const BY_NAME: ReadonlyMap<string, string> = new Map(
	Object.entries(LANGUAGES).flatMap(([language, names]) =>
		[language, ...names.split(' ')].filter(Boolean).map((name) => [name, language] as const)
	)
);

/** The canonical name; null if it can't be highlighted. */
export function knownLanguage(name: string): string | null {
	return BY_NAME.get(name.toLowerCase()) ?? null;
}
