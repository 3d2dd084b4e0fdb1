import { expect, test } from 'vitest';
import { decodeReceived, nameOfReceived } from './received-files.ts';

// A search that looks at a row of signs once for each of them would need hours for these.
const LONG = 5_000_000;

test('F12: base64 and names of any length are read in one pass, whatever is in them', () => {
	expect(decodeReceived(`${'='.repeat(LONG)}A`)).toBeNull();
	expect(decodeReceived(`data:text/plain${';x'.repeat(LONG)}é`)?.bytes.length).toBeGreaterThan(LONG);
	expect(decodeReceived(`${'QUJD'.repeat(LONG / 5)}QQ==`)?.bytes).toHaveLength((LONG / 5) * 3 + 1);
	const bytes = Buffer.from('content');
	for (const filename of [`a${'.'.repeat(LONG)}b`, `${' '.repeat(LONG)}b`, `${'x/'.repeat(LONG)}..`]) {
		expect(nameOfReceived({ bytes, mediaType: '', filename }).length).toBeLessThan(130);
	}
	expect(nameOfReceived({ bytes, mediaType: '', filename: `${'folder/'.repeat(LONG / 10)}notes.txt` })).toBe(
		'notes.txt'
	);
});

test('F12: what is no base64 isn’t read as some', () => {
	for (const data of ['A', 'AAAAA', 'AAA===', 'A=A=', 'é', '====']) expect(decodeReceived(data), data).toBeNull();
	for (const [data, text] of [
		['QQ', 'A'],
		['QQ==', 'A'],
		['Q U J\nD', 'ABC'],
		['', '']
	] as const) {
		expect(decodeReceived(data)?.bytes.toString(), data).toBe(text);
	}
});
