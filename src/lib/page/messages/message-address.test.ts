import fc from 'fast-check';
import { expect, test } from 'vitest';
import { conversationAddress, messageOfHash } from './message-groups.ts';

test('F14: the address of a message opens its conversation, and names the message whatever its id', () => {
	expect(conversationAddress('c1')).toBe('/c/c1');
	expect(conversationAddress('c1', 'm1')).toBe('/c/c1#m-m1');
	fc.assert(
		fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), (id) => {
			const { pathname, hash } = new URL(conversationAddress('c1', id), 'http://host');
			expect([pathname, messageOfHash(hash)]).toEqual(['/c/c1', id]);
		})
	);
});

test.each(['', '#', '#m-', '#files', '#m-%', '#m-%ff'])('F14: %o names no message', (hash) => {
	expect(messageOfHash(hash)).toBeNull();
});
