/** The two tasks that every client does, whatever the protocol, and the true answers, worked out here. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const COUNT_WORDS = 'Count the words of “the quick brown fox jumps”';
export const SUMMARISE = 'Summarise sales.csv by region';

const CSV = readFileSync(join(import.meta.dirname, '../fixtures/sales.csv'), 'utf8');
export const SALES = { name: 'sales.csv', text: CSV };

export const FIVE_WORDS = /words\W+5\b/;

/** What of the true sums by region an answer lacks; empty for a true one. */
export function missingSums(answer: string): string[] {
	const plain = answer.replaceAll(/(?<=\d),(?=\d{3})/g, '');
	return [...sums()].flatMap(([region, sum]) => {
		const told = plain.includes(region) && plain.includes(String(Number(sum.toFixed(2))));
		return told ? [] : [`${region}: ${sum.toFixed(2)}`];
	});
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
