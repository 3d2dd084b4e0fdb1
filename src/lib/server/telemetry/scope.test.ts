import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createScopes, readTraceparent, requestIdOf, traceparentOf } from './scope.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('E29: a traceparent', () => {
	test('is read as W3C Trace Context writes it, and written as it was read', () => {
		const place = { traceId: TRACE, spanId: SPAN, traceFlags: 1, isRemote: true };
		expect(readTraceparent(`00-${TRACE}-${SPAN}-01`)).toEqual(place);
		expect(readTraceparent(`00-${TRACE}-${SPAN}-00`)).toEqual({ ...place, traceFlags: 0 });
		// Only the first flag is known; a later version may have more fields.
		expect(readTraceparent(`cc-${TRACE}-${SPAN}-ff-what-comes`)).toEqual(place);
		expect(traceparentOf(place)).toBe(`00-${TRACE}-${SPAN}-01`);
	});

	test.each([
		null,
		'',
		'00',
		`00-${TRACE}-${SPAN}`,
		`ff-${TRACE}-${SPAN}-01`,
		`00-${TRACE}-${SPAN}-01-more`,
		`00-${'0'.repeat(32)}-${SPAN}-01`,
		`00-${TRACE}-${'0'.repeat(16)}-01`,
		`00-${TRACE.toUpperCase()}-${SPAN}-01`,
		`00-${TRACE}x-${SPAN}-01`,
		`00-${TRACE}-${SPAN}-0g`,
		`00-${TRACE}-${SPAN}-01\n00-${TRACE}-${SPAN}-01`,
		'-'.repeat(100_000)
	])('that isn’t one is left alone: %j', (header) => {
		expect(readTraceparent(header)).toBeUndefined();
	});
});

test('E29: a request keeps a well-formed id, and gets one instead of any other', () => {
	for (const id of ['a', '01J8Z-9_x.y:z', 'Root=1-67891233-abcdef012345678912345678', 'x'.repeat(128)])
		expect(requestIdOf(id)).toBe(id);
	for (const id of [null, '', ' ', 'a b', 'a\nb', '{"a":1}', 'ü', 'x'.repeat(129)])
		expect(requestIdOf(id), String(id)).toMatch(/^[0-9a-f-]{36}$/);
});

describe('E29: what is under way', () => {
	test('is known across everything that it waits for, and to nobody beside it', async () => {
		const scopes = createScopes();
		const seen = async (id: string) => {
			await delay(1);
			await Promise.resolve();
			return [id, scopes.current().requestId];
		};
		const both = await Promise.all(['a', 'b'].map((id) => scopes.run({ requestId: id }, () => seen(id))));
		expect(both).toEqual([
			['a', 'a'],
			['b', 'b']
		]);
		expect(scopes.current()).toEqual({});
		await scopes.run({ requestId: 'a' }, async () => {
			scopes.run({ runId: 'r' }, () => expect(scopes.current()).toEqual({ requestId: 'a', runId: 'r' }));
			expect(await scopes.apart(() => seen('c'))).toEqual(['c', undefined]);
		});
	});

	test('is known in a generator whoever reads it, and ends with it', async () => {
		const scopes = createScopes();
		const seen: (string | undefined)[] = [];
		const events = (async function* () {
			try {
				for (const event of [1, 2, 3]) {
					await delay(1);
					seen.push(scopes.current().runId);
					yield event;
				}
			} finally {
				seen.push(`end of ${scopes.current().runId}`);
			}
		})();
		for await (const event of scopes.within({ runId: 'r' }, events)) {
			expect(scopes.current().runId).toBeUndefined();
			if (event === 2) break;
		}
		expect(seen).toEqual(['r', 'r', 'end of r']);
	});
});
