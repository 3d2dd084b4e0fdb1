import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCappedOutput, createCollector } from './collector.ts';
import { OUTPUT_TRUNCATED } from '../sandbox.ts';

/** Feeds the bytes in pieces of these sizes, repeatedly; `live` is what was passed on. */
function feed(bytes: Buffer, maxBytes: number, sizes: readonly number[] = [bytes.length || 1]) {
	const live: string[] = [];
	const output = createCappedOutput(maxBytes, (text) => live.push(text));
	for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
		const size = sizes[turn % sizes.length] ?? 1;
		output.push(bytes.subarray(at, at + size));
		at += size;
	}
	return { ...output.end(), live };
}

const pieces = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 });

test('D11: output up to the cap is kept whole, to the byte', () => {
	const text = 'x'.repeat(20_480);
	expect(feed(Buffer.from(text), 20_480, [1000])).toMatchObject({ text, truncated: false });
	expect(feed(Buffer.from(`${text}y`), 20_480, [1000])).toMatchObject({ truncated: true });
});

test('D11: of longer output the head and the tail are kept, with the marker of S0 between them', () => {
	const { text, truncated } = feed(Buffer.from(`first ${'-'.repeat(5000)} last`), 400, [97]);
	expect(truncated).toBe(true);
	expect(text).toMatch(/^first -{294}\n\[output truncated\]\n-{95} last$/);
});

test('D11: a character that comes in two chunks is passed on whole, when its end is there', () => {
	const live: string[] = [];
	const output = createCappedOutput(100, (text) => live.push(text));
	const euro = Buffer.from('€');
	output.push(euro.subarray(0, 1));
	output.push(euro.subarray(1, 2));
	expect(live).toEqual([]);
	output.push(euro.subarray(2));
	expect(live).toEqual(['€']);
	expect(output.end()).toEqual({ text: '€', truncated: false });
});

test('D11: at every cap and every cut, text of many scripts has no broken character', () => {
	const letters = fc.constantFrom('a', 'é', '€', '字', '🧪', '\n');
	fc.assert(
		fc.property(fc.array(letters, { maxLength: 80 }), fc.integer({ min: 0, max: 120 }), pieces, (given, cap, sizes) => {
			const whole = given.join('');
			const bytes = Buffer.from(whole);
			const { text, truncated, live } = feed(bytes, cap, sizes);
			expect(`${text}${live.join('')}`).not.toContain('\uFFFD');
			expect(truncated).toBe(bytes.length > cap);
			if (!truncated) expect(text).toBe(whole);
			if (!truncated) return;
			const [head = '', tail = ''] = text.split(`\n${OUTPUT_TRUNCATED}\n`);
			expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
			expect(Buffer.byteLength(head + tail)).toBeLessThanOrEqual(cap);
			expect(Buffer.byteLength(head + tail)).toBeGreaterThanOrEqual(cap - 6);
		})
	);
});

test('D11, F15: what was shown live, joined, is the result, for any bytes in any pieces', () => {
	fc.assert(
		fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 0, max: 150 }), pieces, (given, cap, sizes) => {
			const { text, live } = feed(Buffer.from(given), cap, sizes);
			expect(live.join('')).toBe(text);
			if (given.length <= cap) expect(text).toBe(Buffer.from(given).toString('utf8'));
		})
	);
});

test('D11: a million single bytes make few events, and what is held stays within the cap', () => {
	const before = process.memoryUsage();
	const byte = Buffer.from('z');
	let events = 0;
	const output = createCappedOutput(20_480, () => (events += 1));
	for (let count = 0; count < 1_000_000; count += 1) output.push(byte);
	const after = process.memoryUsage();
	expect(output.end().truncated).toBe(true);
	expect(events).toBeLessThanOrEqual(3);
	expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(20_000_000);
});

test('F15: two streams are passed on in the order in which they were read, though each waits for its time', () => {
	const live: string[] = [];
	const collector = createCollector({ maxOutputBytes: 20_480 }, (stream, text) => live.push(`${stream}: ${text}`));
	for (const count of [1, 2, 3]) {
		collector.push('stdout', Buffer.from(`out ${count}`));
		collector.push('stderr', Buffer.from(`err ${count}`));
	}
	collector.end();
	const expected = [1, 2, 3].flatMap((count) => [`stdout: out ${count}`, `stderr: err ${count}`]);
	expect(live).toEqual(expected);
});

test('D11: streams that take turns a million times make few events', () => {
	let events = 0;
	const collector = createCollector({ maxOutputBytes: 20_480 }, () => (events += 1));
	for (let count = 0; count < 1_000_000; count += 1) collector.push(count % 2 ? 'stdout' : 'stderr', Buffer.from('z'));
	collector.end();
	expect(events).toBeLessThan(1_100);
});
