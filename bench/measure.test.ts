import { afterEach, expect, test } from 'vitest';
import { runCases, type Row } from './measure.ts';

const exitCode = process.exitCode;
afterEach(() => {
	process.exitCode = exitCode;
});

const row = (name: string): Row => ({ name, value: '2 ms', floorName: 'floor', floor: '1 ms', ratio: 2 });

test('a case that fails costs no other its figures, is named at the end, and is an exit code', async () => {
	const printed: string[] = [];
	await runCases(
		[
			{ name: 'first', run: () => Promise.resolve([row('a'), row('b')]) },
			{ name: 'second', run: () => Promise.reject(new Error('element was detached')) },
			{
				name: 'third',
				run() {
					// What is known is printed already: a process that is killed now has lost nothing.
					expect(printed.at(-1)).toContain('| b |');
					return Promise.resolve(row('c'));
				}
			}
		],
		(text) => printed.push(text)
	);
	expect(printed.slice(1, 4)).toEqual(['a', 'b', 'c'].map((name) => `| ${name} | 2 ms | floor | 1 ms | 2.0 |`));
	expect(printed.at(-1)).toContain('1 of 3 could not be measured:\n- second: element was detached');
	expect(process.exitCode).toBe(1);
});

test('where all can be measured there is nothing but the table', async () => {
	const printed: string[] = [];
	await runCases([{ name: 'first', run: () => Promise.resolve(row('a')) }], (text) => printed.push(text));
	expect(printed).toHaveLength(2);
	expect(process.exitCode).toBe(exitCode);
});
