import { expect, test } from 'vitest';
import {
	formatBytes,
	formatCost,
	formatDuration,
	formatRecent,
	formatTime,
	formatTokens,
	recentInSentence
} from './format.ts';

test.each([
	[0, '0.00 s'],
	[42, '0.04 s'],
	[950, '0.9 s'],
	[3210, '3.2 s'],
	[59_990, '1 min'],
	[65_000, '1 min 5 s']
])('%d ms reads %s', (ms, text) => {
	expect(formatDuration(ms)).toBe(text);
});

test.each([
	[0, '0 B'],
	[999, '999 B'],
	[1300, '1.3 kB'],
	[20_480, '20 kB'],
	[999_600, '1.0 MB']
])('%d bytes read %s', (bytes, text) => {
	expect(formatBytes(bytes)).toBe(text);
});

test.each([
	[0, '$0'],
	[0.00001, '<$0.0001'],
	[0.0042, '$0.0042'],
	[1.5, '$1.50']
])('%d dollars read %s', (dollars, text) => {
	expect(formatCost(dollars)).toBe(text);
});

test.each([
	[940, '940'],
	[1234, '1.2k'],
	[9960, '10k'],
	[128_000, '128k'],
	[1_048_576, '1,049k']
])('%d tokens read %s', (count, text) => {
	expect(formatTokens(count)).toBe(text);
});

test('a time names its year only where it is another, and no seconds', () => {
	const now = new Date();
	const thisYear = String(now.getFullYear());
	expect(formatTime(now.toISOString())).not.toContain(thisYear);
	expect(formatTime(new Date(2001, 10, 23, 13, 27, 42).toISOString())).toMatch(/2001.*27(?!.*42)/);
});

test('a recent time has its day in a word and its clock time; an older one its date', () => {
	const now = new Date('2026-03-12T15:00:00');
	const clock = new Date('2026-03-12T09:05:00').toLocaleTimeString([], { hour: 'numeric', minute: '2-digit' });
	const at = (day: string) => formatRecent(new Date(`2026-03-${day}T09:05:00`).toISOString(), now);
	expect(at('12')).toBe(`Today, ${clock}`);
	expect(at('11')).toBe(`Yesterday, ${clock}`);
	expect(at('08')).toMatch(/^\S+, /);
	expect(at('08')).not.toContain('8,');
	expect(at('05')).toBe(formatTime(new Date('2026-03-05T09:05:00').toISOString()));
	// Another computer's clock may be ahead.
	expect(at('13')).toBe(formatTime(new Date('2026-03-13T09:05:00').toISOString()));
	expect(recentInSentence(new Date().toISOString())).toMatch(/^today, /);
});
