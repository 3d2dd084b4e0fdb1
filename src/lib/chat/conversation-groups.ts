/** Puts the list of conversations under headings: pinned, today, yesterday, … then month by month. Pure. */
import type { ConversationSummary } from '../shared/api.ts';

export interface ConversationGroup {
	/** Stays the same while the heading means the same. */
	key: string;
	label: string;
	items: ConversationSummary[];
}

export interface GroupOptions {
	now: Date;
	/** IANA name, as of `Intl.DateTimeFormat().resolvedOptions().timeZone`. */
	timeZone: string;
	/** For the names of months. */
	locale?: string;
}

const DAY_MS = 86_400_000;

/** Keeps the order within a group; the groups stand in the order in which their days come, the newest first. */
export function groupConversations(
	list: readonly ConversationSummary[],
	{ now, timeZone, locale = 'en' }: GroupOptions
): ConversationGroup[] {
	const numbers = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
	const names = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', year: 'numeric', month: 'long' });
	const today = dayNumber(numbers, now);

	const place = (conversation: ConversationSummary): [rank: number, key: string, label: string] => {
		if (conversation.isPinned) return [-1, 'pinned', 'Pinned'];
		const day = dayNumber(numbers, new Date(conversation.updatedAt));
		const age = today - day;
		// A clock that is ahead of this one made it: it is new all the same.
		if (age <= 0) return [0, 'today', 'Today'];
		if (age === 1) return [1, 'yesterday', 'Yesterday'];
		if (age <= 7) return [2, 'week', 'Previous 7 days'];
		if (age <= 30) return [3, 'month', 'Previous 30 days'];
		const date = new Date(day * DAY_MS);
		const months = date.getUTCFullYear() * 12 + date.getUTCMonth();
		return [1e6 - months, `month-${months}`, names.format(date)];
	};

	const found = new Map<string, ConversationGroup & { rank: number }>();
	for (const conversation of list) {
		const [rank, key, label] = place(conversation);
		const group = found.get(key) ?? { rank, key, label, items: [] };
		group.items.push(conversation);
		found.set(key, group);
	}
	return [...found.values()].sort((a, b) => a.rank - b.rank).map(({ key, label, items }) => ({ key, label, items }));
}

/** Days since 1970 of the calendar on that place's wall: no hour that a clock leaves out or repeats can move it. */
function dayNumber(numbers: Intl.DateTimeFormat, date: Date): number {
	return Date.parse(`${numbers.format(date)}T00:00:00Z`) / DAY_MS;
}
