/** Classes for the look of terminal text, written out in full so that they are found. */
import type { Run } from './ansi.ts';
import type { AnsiColor } from './ansi-style.ts';

const TEXT: Record<AnsiColor, string> = {
	black: 'text-ansi-black',
	red: 'text-ansi-red',
	green: 'text-ansi-green',
	yellow: 'text-ansi-yellow',
	blue: 'text-ansi-blue',
	magenta: 'text-ansi-magenta',
	cyan: 'text-ansi-cyan',
	white: 'text-ansi-white'
};

/** Pale, so that text in the page's own colour is readable on each. */
const GROUND: Record<AnsiColor, string> = {
	black: 'bg-ansi-black/25',
	red: 'bg-ansi-red/25',
	green: 'bg-ansi-green/25',
	yellow: 'bg-ansi-yellow/25',
	blue: 'bg-ansi-blue/25',
	magenta: 'bg-ansi-magenta/25',
	cyan: 'bg-ansi-cyan/25',
	white: 'bg-ansi-white/25'
};

const INVERSE: Record<AnsiColor, string> = {
	black: 'bg-ansi-black',
	red: 'bg-ansi-red',
	green: 'bg-ansi-green',
	yellow: 'bg-ansi-yellow',
	blue: 'bg-ansi-blue',
	magenta: 'bg-ansi-magenta',
	cyan: 'bg-ansi-cyan',
	white: 'bg-ansi-white'
};

/** Empty for plain text of stdout. */
export function classesOf({ stream, style }: Run): string {
	const classes: string[] = [];
	const { color, ground } = style;
	if (style.isInverse) classes.push('text-terminal', color ? INVERSE[color] : 'bg-ink');
	else if (ground) classes.push('text-ink', GROUND[ground]);
	else if (color) classes.push(TEXT[color]);
	else if (stream === 'stderr') classes.push('text-warn');
	else if (style.isDim) classes.push('text-soft');
	if (style.isBold) classes.push('font-bold');
	if (style.isItalic) classes.push('italic');
	if (style.isUnderlined) classes.push('underline');
	if (style.isStruck) classes.push('line-through');
	return classes.join(' ');
}
