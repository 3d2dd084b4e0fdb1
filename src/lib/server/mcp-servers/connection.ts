/** Keeps one MCP server connected: opened in the background, opened again with back-off, its tools known at any moment (FEATURES E36). */
import { type Listing, readListing, type ToolAnswer } from './listing.ts';
import { ServerError, type CallOptions, type OpenServer, type ServerEvents } from './open-server.ts';

export interface Connection {
	/** As it is known now; nothing is waited for. */
	state(): 'connecting' | 'connected' | 'waiting';
	/** Those of the last time that it was connected. */
	listing(): Listing;
	software(): string | null;
	/** Why it is not connected. */
	error(): string | null;
	/** Tries at once, whether it is connected or not. */
	reconnect(): void;
	/** @throws ServerError; a server that is down is not waited for, and tried again at once */
	call(tool: string, args: Record<string, unknown>, options: CallOptions): Promise<ToolAnswer>;
	/** Never rejects. */
	close(): Promise<void>;
}

export interface ConnectionOptions {
	/** Of the server. */
	name: string;
	open(events: ServerEvents, signal: AbortSignal): Promise<OpenServer>;
	/** How long to wait after so many failures in a row, in milliseconds. */
	delayMs?: (failures: number) => number;
}

const LONGEST_DELAY_MS = 300_000;
/** One that ends sooner has failed again, though it could be connected. */
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
	/** Of the try, or of the connection, that counts: what comes of an earlier one is of no interest. */
	let life = new AbortController();
	/** Tries that are under way, and what is still to be ended. */
	const ending = new Set<Promise<void>>();
	/** The list is being read; `again`: it has changed since. */
	let reading: 'no' | 'yes' | 'again' = 'no';

	const end = (old: OpenServer | null) => {
		if (!old) return;
		const ended = old.close().finally(() => ending.delete(ended));
		ending.add(ended);
	};
	const leave = () => {
		clearTimeout(timer);
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
	/** Changes that come while the list is read are read together. */
	const refresh = async (mine: AbortController) => {
		if (reading !== 'no' || !server) {
			reading = reading === 'no' ? 'no' : 'again';
			return;
		}
		try {
			do {
				reading = 'yes';
				await read(server, mine);
			} while ((reading as string) === 'again' && life === mine);
		} catch (reason) {
			// The tools stay as they were known.
			if (!isAnswer(reason)) lose(mine, sentenceOf(reason));
		} finally {
			reading = 'no';
		}
	};

	function connect(): void {
		leave();
		if (isClosed) return;
		const mine = new AbortController();
		life = mine;
		state = 'connecting';
		const events: ServerEvents = {
			onClosed: (reason) => lose(mine, reason),
			onToolsChanged: () => void refresh(mine)
		};
		const attempt = async () => {
			const opened = await open(events, mine.signal);
			try {
				if (life === mine) await read(opened, mine);
			} catch (reason) {
				end(opened);
				throw reason;
			}
			if (life !== mine) return end(opened);
			server = opened;
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
				// Over HTTP nothing else tells that a server has gone, or has forgotten the session.
				if (!isAnswer(reason) && !options.signal.aborted) lose(mine, sentenceOf(reason));
				throw reason;
			}
		},
		async close() {
			isClosed = true;
			leave();
			// A try that ends now may leave something to be ended.
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
