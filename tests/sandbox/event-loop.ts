/** How long this thread worked without a pause: what a server's other users would have waited for. */

export interface LoopWatch {
	/** Ends the watch; milliseconds of processor time of the longest stretch. Time in which others had the processor is not counted. */
	stop(): number;
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
	let isOver = false;
	return {
		stop() {
			if (!isOver) look();
			isOver = true;
			clearInterval(timer);
			return longest;
		}
	};
}
