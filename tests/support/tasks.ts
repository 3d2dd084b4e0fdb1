/** The two tasks every client does, whatever the protocol, and the right answers, computed here. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const WORDS = 'the quick brown fox jumps';
export const COUNT_WORDS = `Count the words of “${WORDS}”`;
export const SUMMARISE = 'Summarise sales.csv by region';

const CSV = readFileSync(join(import.meta.dirname, '../fixtures/sales.csv'), 'utf8');
export const SALES = { name: 'sales.csv', text: CSV };

export const FIVE_WORDS = /words\W+5\b/;

/** The regional sums an answer lacks (sum and region on one line); empty for a right answer. */
export function missingSums(answer: string): string[] {
	const lines = answer.replaceAll(/(?<=\d),(?=\d{3})/g, '').split('\n');
	return [...sumsByRegion()].flatMap(([region, sum]) => {
		const hasSum = (line: string) => (line.match(/\d+(?:\.\d+)?/g) ?? []).some((told) => Number(told) === Number(sum));
		return lines.some((line) => line.includes(region) && hasSum(line)) ? [] : [`${region}: ${sum}`];
	});
}

/** With two decimals. */
export function sumsByRegion(): Map<string, string> {
	return new Map([...sums()].map(([region, sum]) => [region, sum.toFixed(2)]));
}

function sums(): Map<string, number> {
	const [head = '', ...rows] = CSV.trim().split('\n');
	const columns = head.split(',');
	const totals = new Map<string, number>();
	for (const cells of rows.map((row) => row.split(','))) {
		const region = cells[columns.indexOf('region')] ?? '';
		totals.set(region, (totals.get(region) ?? 0) + Number(cells[columns.indexOf('revenue')]));
	}
	return totals;
}
