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

export interface BenchCase {
	name: string;
	run(): Row | Row[] | Promise<Row | Row[]>;
}

/**
 * One case after the other: side by side they would measure each other. The rows of each are printed as soon as they are
 * known, and one that fails costs the others nothing: it is named at the end, and the process ends with 1.
 */
export async function runCases(
	cases: readonly BenchCase[],
	print: (text: string) => void = console.log
): Promise<void> {
	const failures: string[] = [];
	print(TABLE_HEAD);
	for (const { name, run } of cases) {
		try {
			for (const row of [await run()].flat()) print(tableRow(row));
		} catch (error) {
			failures.push(`- ${name}: ${error instanceof Error ? error.message : String(error)}`);
		}
	}
	if (failures.length === 0) return;
	print(`\n${failures.length} of ${cases.length} could not be measured:\n${failures.join('\n')}`);
	process.exitCode = 1;
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
	return [TABLE_HEAD, ...rows.map(tableRow)].join('\n');
}

const TABLE_HEAD = '| What | Measured | Floor | Floor measured | Ratio |\n| --- | ---: | --- | ---: | ---: |';

function tableRow({ name, value, floorName, floor, ratio }: Row): string {
	return `| ${name} | ${value} | ${floorName} | ${floor} | ${ratio.toFixed(1)} |`;
}
