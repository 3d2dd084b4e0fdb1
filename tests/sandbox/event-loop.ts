/** Measures how long this thread was blocked, which is how long a server's other users would have waited. */

export interface LoopWatch {
	/** Stops watching and returns the longest blocked stretch in milliseconds of CPU time; time spent in other processes doesn't count. */
	stop(): number;
}

const TICK_MS = 5;

/** Compares this thread's CPU time from tick to tick: blocking work delays the tick. */
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
