import { describe, expect, test } from 'vitest';
import { emptyAnswer } from '../../shared/message.ts';
import type { MessageEntry } from '../conversation/message-entry.svelte.ts';
import { MessageGroups } from './message-groups.ts';

describe('groups of messages', () => {
	test('hold every message once, in its order', () => {
		const entries = many(50);
		const groups = new MessageGroups().update(entries);
		expect(groups.flatMap((group) => group.entries)).toEqual(entries);
		expect(groups.length).toBeLessThan(6);
	});

	test('stay the same objects when messages come before and after them', () => {
		const groups = new MessageGroups();
		const entries = many(40);
		const [first, second] = groups.update(entries);
		const later = groups.update([...many(20), ...entries, ...many(1)]);
		expect(later).toContain(second);
		expect(later.map(({ key }) => key)).toContain(first?.key);
		expect(later.flatMap((group) => group.entries)).toHaveLength(61);
	});

	test('begin anew when all messages are others', () => {
		const groups = new MessageGroups();
		groups.update(many(30));
		const others = many(3);
		expect(groups.update(others).flatMap((group) => group.entries)).toEqual(others);
	});
});

function many(count: number): MessageEntry[] {
	return Array.from({ length: count }, () => {
		const id = crypto.randomUUID();
		return { key: id, message: emptyAnswer(id, id, '') };
	});
}
