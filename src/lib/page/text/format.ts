/** Numbers, times and new ids in the short forms people read. */

const DAY_MS = 24 * 60 * 60_000;

/** `0.4 s`, `3.2 s`, `1 min 5 s`. */
export function formatDuration(ms: number): string {
	if (ms < 1000) return `${(Math.max(ms, 0) / 1000).toFixed(ms < 95 ? 2 : 1)} s`;
	if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
	const seconds = Math.round(ms / 1000);
	return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Whole seconds, for a countdown: `42 s`, `1 min 5 s`. */
export function formatSeconds(seconds: number): string {
	const rest = seconds % 60;
	if (seconds < 60) return `${seconds} s`;
	return `${Math.floor(seconds / 60)} min${rest === 0 ? '' : ` ${rest} s`}`;
}

/** `512 B`, `1.3 kB`, `20 MB`; a kilobyte is 1,000 bytes. */
export function formatBytes(bytes: number): string {
	const units = ['B', 'kB', 'MB', 'GB', 'TB'];
	let value = bytes;
	let unit = 0;
	while (value >= 999.5 && unit < units.length - 1) {
		value /= 1000;
		unit++;
	}
	return `${unit === 0 || value >= 9.95 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function formatCount(count: number): string {
	return count.toLocaleString('en-US');
}

/** `940`, `1.2k`, `128k`. */
export function formatTokens(count: number): string {
	if (count < 1000) return String(count);
	return count < 9950 ? `${(count / 1000).toFixed(1)}k` : `${formatCount(Math.round(count / 1000))}k`;
}

/** US dollars; small prices get more decimal places. */
export function formatCost(dollars: number): string {
	if (dollars === 0) return '$0';
	return dollars < 0.0001 ? '<$0.0001' : `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`;
}

/** How fast a model writes. */
export function formatSpeed(tokensPerSecond: number): string {
	return `${tokensPerSecond < 10 ? tokensPerSecond.toFixed(1) : Math.round(tokensPerSecond)} tokens/s`;
}

/** Date and time to the minute, in the reader's locale. */
export function formatTime(at: string): string {
	const date = new Date(at);
	const year = date.getFullYear() === new Date().getFullYear() ? undefined : 'numeric';
	return date.toLocaleString([], { month: 'short', day: 'numeric', year, hour: 'numeric', minute: '2-digit' });
}

/** The same without the time. */
export function formatDay(at: string): string {
	const date = new Date(at);
	const year = date.getFullYear() === new Date().getFullYear() ? undefined : 'numeric';
	return date.toLocaleDateString([], { month: 'short', day: 'numeric', year });
}

/** With its time: `Today, 9:32 PM`, `Yesterday, 9:32 PM`, `Tue, 9:32 PM` within a week; before, as `formatTime`. `isExact`: with seconds. */
export function formatRecent(at: string, now = new Date(), isExact = false): string {
	const date = new Date(at);
	const days = Math.round((new Date(now).setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / DAY_MS);
	if (!(days >= 0 && days < 7)) return formatTime(at);
	const day = ['Today', 'Yesterday'][days] ?? date.toLocaleDateString([], { weekday: 'short' });
	const second = isExact ? ('2-digit' as const) : undefined;
	return `${day}, ${date.toLocaleTimeString([], { hour: 'numeric', minute: '2-digit', second })}`;
}

/** The same within a sentence: `today, 9:32 PM`. */
export function recentInSentence(at: string): string {
	return formatRecent(at).replace(/^(Today|Yesterday)/, (day) => day.toLowerCase());
}

/** For lists: the time of something of today, otherwise its day. */
export function formatWhen(at: string): string {
	const date = new Date(at);
	return date.toDateString() === new Date().toDateString()
		? date.toLocaleTimeString([], { hour: 'numeric', minute: '2-digit' })
		: formatDay(at);
}

/** Like an editor: a final line break starts an empty last line. */
export function countLines(text: string): number {
	let lines = 1;
	for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
	return lines;
}

/** Converts local time from a `datetime-local` field; empty if incomplete. */
export function timeOf(local: string): string {
	const time = Date.parse(local);
	return Number.isNaN(time) ? '' : new Date(time).toISOString();
}

/** The other way round: a time for a `datetime-local` field; empty if it's none. */
export function localOf(time: string): string {
	const date = new Date(time);
	if (Number.isNaN(date.getTime())) return '';
	return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Now, as ISO 8601. */
export function timestamp(): string {
	return new Date().toISOString();
}

/** A version 4 UUID. `crypto.randomUUID` doesn't exist on plain http from another machine. */
export function newId(): string {
	const bytes = crypto.getRandomValues(new Uint8Array(16));
	bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
	bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
	const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
	return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** In minutes, the largest first. */
const AWAY_UNITS = [
	[1440, 'day'],
	[60, 'hour']
] as const;

/** `3 minutes ago`, `in 7 days`; `now` is in milliseconds since 1970. Another computer's clock may be ahead. */
export function formatAway(at: string, now: number, isPast = true): string {
	const minutes = (isPast ? now - Date.parse(at) : Date.parse(at) - now) / 60_000;
	if (minutes < 1) return isPast ? 'just now' : 'in less than a minute';
	const [size, unit] = AWAY_UNITS.find(([each]) => minutes >= each) ?? [1, 'minute'];
	const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
	return relative.format(isPast ? -Math.floor(minutes / size) : Math.round(minutes / size), unit);
}
