import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { apart, deeplyApart, lean, leanRecord } from './lean.ts';

describe('A32: what is kept of a skill', () => {
	it('A32: a text, a list and a record are the same after they were set apart', () => {
		const record = { title: 'Grüße 🎉 to whom it may concern', list: ['a', { deep: 'value' }], flag: true, none: null };
		expect(deeplyApart(record)).toEqual(record);
		expect(apart('a text that is longer than a few letters')).toBe('a text that is longer than a few letters');
		expect(lean([1, 2, 3])).toEqual([1, 2, 3]);
	});

	it('A4: a key that is called __proto__ stays a key, and no prototype comes in', () => {
		const hostile = JSON.parse('{"__proto__": {"isAdmin": "yes"}, "a": {"__proto__": "b"}}') as Record<string, unknown>;
		const copy = leanRecord(Object.assign(Object.create(null), { ...hostile }) as Record<string, unknown>);
		expect(Object.getPrototypeOf(copy)).toBe(null);
		expect(JSON.stringify(deeplyApart(hostile))).toBe(JSON.stringify(hostile));
		expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
	});

	it('A32: all that is empty is one and the same, and cannot be added to', () => {
		expect(lean([])).toBe(lean([]));
		expect(leanRecord({})).toBe(leanRecord({}));
		expect(() => (lean([]) as unknown as number[]).push(1)).toThrow(TypeError);
		expect(() => Object.assign(leanRecord({}), { a: 1 })).toThrow(TypeError);
	});

	it('A32: what a scan keeps of a skill is small, whatever else the file holds', () => {
		// If it didn't copy, the substring would keep the whole string in memory.
		const before = heapAfterCollection();
		const kept = Array.from({ length: 200 }, (_, index) => apart(`${'x'.repeat(50_000)}${index}`.slice(-40)));
		const grown = heapAfterCollection() - before;
		expect(kept).toHaveLength(200);
		expect(grown).toBeLessThan(2_000_000);
	});
});

function heapAfterCollection(): number {
	setFlagsFromString('--expose-gc');
	(runInNewContext('gc') as () => void)();
	return process.memoryUsage().heapUsed;
}
