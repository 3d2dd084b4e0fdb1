/** Medians of things that are run by turns, so that a busy moment of the machine meets all of them. */

export interface Row {
	name: string;
	/** What was measured, with its unit. */
	value: string;
	floorName: string;
	floor: string;
	/** How many times slower than the floor, in this same run. */
	ratio: number;
}

/** Median milliseconds of each task, over `rounds` rounds in which each runs once; one round before them is not counted. */
export async function medians(rounds: number, tasks: (() => Promise<number>)[]): Promise<number[]> {
	const times = tasks.map((): number[] => []);
	for (let round = 0; round <= rounds; round += 1) {
		for (const [index, task] of tasks.entries()) {
			const ms = await task();
			if (round > 0) times[index]?.push(ms);
		}
	}
	return times.map((list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN);
}

/** Milliseconds that `task` takes. */
export async function timed(task: () => unknown): Promise<number> {
	const start = performance.now();
	await task();
	return performance.now() - start;
}

/** The value below which `share` of the values lie. */
export function percentile(values: readonly number[], share: number): number {
	const sorted = values.toSorted((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A row whose value and floor are milliseconds. */
export function rowOfTimes(name: string, floorName: string, [ms = Number.NaN, floor = Number.NaN]: number[]): Row {
	return { name, value: `${ms.toFixed(1)} ms`, floorName, floor: `${floor.toFixed(1)} ms`, ratio: ms / floor };
}

export function markdownTable(rows: Row[]): string {
	const lines = rows.map(
		({ name, value, floorName, floor, ratio }) =>
			`| ${name} | ${value} | ${floorName} | ${floor} | ${ratio.toFixed(1)} |`
	);
	return ['| What | Measured | Floor | Floor measured | Ratio |', '| --- | ---: | --- | ---: | ---: |', ...lines].join(
		'\n'
	);
}
