/** Contract tests for stored responses, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { at, type Bench } from './fixtures.suite.ts';
import { createResponses, type Responses } from '../responses.ts';

export function testResponses(bench: () => Bench): void {
	describe('stored responses', () => {
		let responses: Responses;
		beforeEach(async () => {
			await bench().db.deleteFrom('responses').execute();
			responses = createResponses(bench().db);
		});
		const put = (id: string, second: number, more: { previousId?: string; apiKeyId?: string } = {}) =>
			responses.put({
				...{ id, apiKeyId: null, previousId: null, sessionId: 's', createdAt: at(second), ...more },
				items: [{ type: 'message', text: `“${id}”` }],
				body: { id }
			});

		test('F12: a chain is read from its first response to the one that is asked for', async () => {
			await put('a', 1);
			await put('b', 2, { previousId: 'a' });
			await put('c', 3, { previousId: 'b' });
			expect((await responses.chain('b', null))?.map(({ id }) => id)).toEqual(['a', 'b']);
			expect(await responses.get('c', null)).toEqual({
				...{ id: 'c', apiKeyId: null, previousId: 'b', sessionId: 's', createdAt: at(3) },
				items: [{ type: 'message', text: '“c”' }],
				body: { id: 'c' }
			});
		});

		test('F12, E18: nobody but its own key sees a response, goes on from it or removes it', async () => {
			await put('a', 1, { apiKeyId: 'key_1' });
			await put('b', 2);
			for (const other of [null, 'key_2']) {
				expect(await responses.get('a', other)).toBeNull();
				expect(await responses.chain('a', other)).toBeNull();
				expect(await responses.remove('a', other)).toBe(false);
			}
			expect(await responses.get('b', 'key_1')).toBeNull();
			expect(await responses.remove('a', 'key_1')).toBe(true);
			expect(await responses.get('a', 'key_1')).toBeNull();
		});

		test('F12: a chain with a link that is gone, or that leads in a circle, is none', async () => {
			await put('a', 1);
			await put('b', 2, { previousId: 'a' });
			await put('x', 1, { previousId: 'x' });
			await responses.removeBefore(at(2));
			expect(await responses.chain('b', null)).toBeNull();
			expect(await responses.get('b', null)).not.toBeNull();
			await put('y', 3, { previousId: 'y' });
			expect(await responses.chain('y', null)).toBeNull();
		});
	});
}
