import { describe, expect, test } from 'vitest';
import type { ConversationSummary } from '../../shared/api.ts';
import { groupConversations } from './conversation-list.svelte.ts';

function conversation(id: string, updatedAt: string, more: Partial<ConversationSummary> = {}): ConversationSummary {
	const rest = { activeRunId: null, isPinned: false, isArchived: false, isUnread: false, isWaiting: false };
	return { id, title: id, createdAt: updatedAt, updatedAt, ...rest, ...more };
}

function labelOf(updatedAt: string, now: string, timeZone: string): string | undefined {
	return groupConversations([conversation('a', updatedAt)], { now: new Date(now), timeZone })[0]?.label;
}

test('pinned first, then by age; the order within a group stays', () => {
	const list = [
		conversation('now', '2026-03-20T11:00:00Z'),
		conversation('earlier', '2026-03-20T01:00:00Z'),
		conversation('yesterday', '2026-03-19T23:59:59Z'),
		conversation('week', '2026-03-13T12:00:00Z'),
		conversation('month', '2026-02-18T12:00:00Z'),
		conversation('february', '2026-02-17T12:00:00Z'),
		conversation('pinned', '2020-01-01T00:00:00Z', { isPinned: true }),
		conversation('old', '2025-02-10T12:00:00Z'),
		conversation('older', '2025-02-01T12:00:00Z')
	];
	const groups = groupConversations(list, { now: new Date('2026-03-20T12:00:00Z'), timeZone: 'UTC' });
	expect(groups.map(({ label, items }) => [label, items.map(({ id }) => id).join()])).toEqual([
		['Pinned', 'pinned'],
		['Today', 'now,earlier'],
		['Yesterday', 'yesterday'],
		['Previous 7 days', 'week'],
		['Previous 30 days', 'month'],
		['February 2026', 'february'],
		['February 2025', 'old,older']
	]);
	expect(new Set(groups.map(({ key }) => key)).size).toBe(groups.length);
});

test('nothing makes no groups', () => {
	expect(groupConversations([], { now: new Date(), timeZone: 'UTC' })).toEqual([]);
});

test('names of months in another language', () => {
	const options = { now: new Date('2026-03-20T12:00:00Z'), timeZone: 'UTC', locale: 'de' };
	expect(groupConversations([conversation('a', '2025-03-01T00:00:00Z')], options)[0]?.label).toBe('März 2025');
});

describe('at midnight', () => {
	test.each([
		['the last second of the day before', '2026-06-09T21:59:59Z', 'Yesterday'],
		['the first of the day', '2026-06-09T22:00:00Z', 'Today'],
		['a clock that is ahead', '2026-06-12T00:00:00Z', 'Today']
	])('in Berlin, %s', (_name, time, label) => {
		expect(labelOf(time, '2026-06-09T22:00:01Z', 'Europe/Berlin')).toBe(label);
	});

	test('the same moment is another day elsewhere', () => {
		const [time, now] = ['2026-06-09T20:00:00Z', '2026-06-09T23:00:00Z'];
		expect(labelOf(time, now, 'UTC')).toBe('Today');
		expect(labelOf(time, now, 'Asia/Tokyo')).toBe('Today');
		expect(labelOf(time, now, 'Europe/Berlin')).toBe('Yesterday');
		expect(labelOf(time, now, 'Pacific/Kiritimati')).toBe('Today');
	});
});

describe('where a day has 23 or 25 hours', () => {
	// New York: clocks go forward on 8 March 2026, back on 1 November 2026.
	test.each([
		['23 hours', '2026-03-08T04:59:59Z', '2026-03-09T03:59:59Z', 'Yesterday'],
		['23 hours', '2026-03-08T05:00:00Z', '2026-03-09T03:59:59Z', 'Today'],
		['the day after 23', '2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z', 'Yesterday'],
		['25 hours', '2026-11-01T04:00:00Z', '2026-11-02T04:59:59Z', 'Today'],
		['the day after 25', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z', 'Yesterday'],
		['a week over the change', '2026-10-26T04:00:00Z', '2026-11-02T12:00:00Z', 'Previous 7 days'],
		['a day more', '2026-10-26T03:59:59Z', '2026-11-02T12:00:00Z', 'Previous 30 days']
	])('%s: %s seen at %s is %s', (_name, time, now, label) => {
		expect(labelOf(time, now, 'America/New_York')).toBe(label);
	});
});
