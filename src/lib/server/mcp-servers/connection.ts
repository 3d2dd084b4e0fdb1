/** Keeps an MCP server connected in the background, reconnects with back-off, and caches its tools (E36). */
import { type Listing, readListing, type ToolAnswer } from './listing.ts';
import { ServerError, type CallOptions, type OpenServer, type ServerEvents } from './open-server.ts';

export interface Connection {
	/** The current state, without waiting. */
	state(): 'connecting' | 'connected' | 'waiting';
	/** The latest known tools. */
	listing(): Listing;
	software(): string | null;
	error(): string | null;
	/** Connects again at once. */
	reconnect(): void;
	/** Resolves when the attempt under way, if any, has succeeded or failed. */
	settled(): Promise<void>;
	/** Fails at once if not connected, and then reconnects. @throws ServerError */
	call(tool: string, args: Record<string, unknown>, options: CallOptions): Promise<ToolAnswer>;
	/** Never rejects. */
	close(): Promise<void>;
}

export interface ConnectionOptions {
	name: string;
	open(events: ServerEvents, signal: AbortSignal): Promise<OpenServer>;
	/** Wait in milliseconds after a number of consecutive failures. */
	delayMs?: (failures: number) => number;
}

const LONGEST_DELAY_MS = 300_000;
/** The shortest time between two reads of a list. */
const REREAD_MS = 2_000;
/** A connection that ends sooner counts as another failure. */
const STABLE_MS = 60_000;

export function createConnection({ name, open, delayMs = delayOf }: ConnectionOptions): Connection {
	let state: 'connecting' | 'connected' | 'waiting' = 'connecting';
	let listing: Listing = { tools: [], note: null };
	let software: string | null = null;
	let error: string | null = null;
	let server: OpenServer | null = null;
	let failures = 0;
	let connectedAt: number | null = null;
	let timer: NodeJS.Timeout | undefined;
	let isClosed = false;
	/** Belongs to the current attempt or connection; events of earlier ones are ignored. */
	let life = new AbortController();
	/** Running attempts, and connections being closed. */
	const ending = new Set<Promise<void>>();
	/** Changed since it was read last. */
	let hasChanged = false;
	let isReading = false;
	let pause: NodeJS.Timeout | undefined;

	const end = (old: OpenServer | null) => {
		if (!old) return;
		const ended = old.close().finally(() => ending.delete(ended));
		ending.add(ended);
	};
	const leave = () => {
		clearTimeout(timer);
		clearTimeout(pause);
		[pause, hasChanged] = [undefined, false];
		life.abort();
		end(server);
		server = null;
	};
	const lose = (mine: AbortController, reason: string) => {
		if (life !== mine || isClosed) return;
		if (connectedAt !== null && performance.now() - connectedAt >= STABLE_MS) failures = 0;
		connectedAt = null;
		leave();
		life = new AbortController();
		error = reason;
		state = 'waiting';
		timer = setTimeout(connect, delayMs(failures));
		timer.unref();
		failures += 1;
	};
	const read = async (from: OpenServer, mine: AbortController) => {
		listing = await readListing(name, (cursor) => from.readPage(cursor, mine.signal));
	};
	/** At once, then at most once per `REREAD_MS`, however often the server says that it has changed. */
	const refresh = async (mine: AbortController) => {
		if (life !== mine) return;
		hasChanged = true;
		if (isReading || pause || !server) return;
		hasChanged = false;
		isReading = true;
		try {
			await read(server, mine);
		} catch (reason) {
			// Keeps the known tools.
			if (!isAnswer(reason)) lose(mine, sentenceOf(reason));
		} finally {
			isReading = false;
		}
		if (life !== mine) return;
		pause = setTimeout(() => {
			pause = undefined;
			if (hasChanged) void refresh(mine);
		}, REREAD_MS);
		pause.unref();
	};

	function connect(): void {
		leave();
		if (isClosed) return;
		const mine = new AbortController();
		life = mine;
		state = 'connecting';
		const attempt = async () => {
			const onClosed = (reason: string) => lose(mine, reason);
			const opened = await open({ onClosed, onToolsChanged: () => void refresh(mine) }, mine.signal);
			try {
				if (life === mine) await read(opened, mine);
			} catch (reason) {
				end(opened);
				throw reason;
			}
			if (life !== mine) return end(opened);
			server = opened;
			if (hasChanged) void refresh(mine);
			software = opened.software;
			state = 'connected';
			error = null;
			connectedAt = performance.now();
		};
		const tried: Promise<void> = attempt()
			.catch((reason: unknown) => lose(mine, sentenceOf(reason)))
			.finally(() => ending.delete(tried));
		ending.add(tried);
	}

	connect();
	return {
		state: () => state,
		listing: () => listing,
		software: () => software,
		error: () => error,
		async settled() {
			if (state === 'connecting') await Promise.all(ending);
		},
		reconnect() {
			failures = 0;
			connect();
		},
		async call(tool, args, options) {
			const mine = life;
			if (!server) {
				if (state === 'waiting') connect();
				throw new ServerError(`The MCP server “${name}” isn’t connected${error === null ? '' : `: ${error}`}`);
			}
			try {
				return await server.call(tool, args, options);
			} catch (reason) {
				// Over HTTP, only a failed call shows that the server or its session is gone.
				if (!isAnswer(reason) && !options.signal.aborted) lose(mine, sentenceOf(reason));
				throw reason;
			}
		},
		async close() {
			isClosed = true;
			leave();
			// A finishing attempt may add a connection to close.
			while (ending.size > 0) await Promise.all(ending);
		}
	};
}

function delayOf(failures: number): number {
	return Math.min(1000 * 2 ** Math.min(failures, 20), LONGEST_DELAY_MS);
}

function isAnswer(error: unknown): boolean {
	return error instanceof ServerError && error.isAnswer;
}

function sentenceOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
