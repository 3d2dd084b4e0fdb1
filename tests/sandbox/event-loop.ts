/** How long this thread worked without a pause: what a server's other users would have waited for. */

export interface LoopWatch {
	/** Milliseconds of processor time of the longest stretch so far; time in which others had the processor is not counted. */
	longest(): number;
	stop(): void;
}

const TICK_MS = 5;

/** Compares, tick by tick, the processor time of this thread: a stretch of work keeps the tick from coming. */
export function watchEventLoop(): LoopWatch {
	let longest = 0;
	let before = process.threadCpuUsage();
	const look = () => {
		const { user, system } = process.threadCpuUsage(before);
		longest = Math.max(longest, (user + system) / 1000);
		before = process.threadCpuUsage();
	};
	const timer = setInterval(look, TICK_MS);
	return {
		longest() {
			look();
			return longest;
		},
		stop: () => clearInterval(timer)
	};
}
