/** Text style after SGR sequences (ECMA-48, xterm colours). Pure. */

/** Names of page tokens, readable on the terminal background in both themes. */
const ANSI_COLORS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
export type AnsiColor = (typeof ANSI_COLORS)[number];

export interface AnsiStyle {
	color: AnsiColor | null;
	ground: AnsiColor | null;
	isBold: boolean;
	isDim: boolean;
	isItalic: boolean;
	isUnderlined: boolean;
	isStruck: boolean;
	isInverse: boolean;
}

export const PLAIN: AnsiStyle = {
	color: null,
	ground: null,
	isBold: false,
	isDim: false,
	isItalic: false,
	isUnderlined: false,
	isStruck: false,
	isInverse: false
};

/** The style after `ESC [ parameters m`. Hidden text stays visible. */
export function applySgr(style: AnsiStyle, parameters: string): AnsiStyle {
	const codes = parameters.split(/[;:]/).map(Number);
	let next = style;
	for (let index = 0; index < codes.length; index++) {
		const code = codes[index] ?? 0;
		if (code === 38 || code === 48) {
			const { color, used } = extendedColor(codes.slice(index + 1, index + 6));
			next = code === 38 ? { ...next, color } : { ...next, ground: color };
			index += used;
		} else next = applyCode(next, code);
	}
	return next;
}

function applyCode(style: AnsiStyle, code: number): AnsiStyle {
	if (code >= 30 && code <= 37) return { ...style, color: colorAt(code - 30) };
	if (code >= 90 && code <= 97) return { ...style, color: colorAt(code - 90) };
	if (code >= 40 && code <= 47) return { ...style, ground: colorAt(code - 40) };
	if (code >= 100 && code <= 107) return { ...style, ground: colorAt(code - 100) };
	return code in CHANGES ? { ...style, ...CHANGES[code] } : style;
}

const CHANGES: Record<number, Partial<AnsiStyle>> = {
	0: PLAIN,
	1: { isBold: true },
	2: { isDim: true },
	3: { isItalic: true },
	4: { isUnderlined: true },
	7: { isInverse: true },
	9: { isStruck: true },
	21: { isUnderlined: true },
	22: { isBold: false, isDim: false },
	23: { isItalic: false },
	24: { isUnderlined: false },
	27: { isInverse: false },
	29: { isStruck: false },
	39: { color: null },
	49: { ground: null }
};

/** `5;n` of 256 colours or `2;r;g;b`. Other kinds use no parameters. */
function extendedColor([kind, first = 0, second = 0, third = 0]: number[]): { color: AnsiColor | null; used: number } {
	if (kind === 2) return { color: nearestColor(first, second, third), used: 4 };
	if (kind !== 5) return { color: null, used: kind === undefined ? 0 : 1 };
	if (first < 16) return { color: colorAt(first % 8), used: 2 };
	if (first >= 232) return { color: grey((first - 232) * 10 + 8), used: 2 };
	const cube = first - 16;
	const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
	return {
		color: nearestColor(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)),
		used: 2
	};
}

/** By hue only: lightness comes from the theme. */
function nearestColor(red: number, green: number, blue: number): AnsiColor | null {
	const [r, g, b] = [red, green, blue].map((part) => Math.min(255, Math.max(0, part || 0))) as [number, number, number];
	const most = Math.max(r, g, b);
	const spread = most - Math.min(r, g, b);
	if (spread < 32) return grey(most);
	const hue = most === r ? ((g - b) / spread + 6) % 6 : most === g ? (b - r) / spread + 2 : (r - g) / spread + 4;
	return (['red', 'yellow', 'green', 'cyan', 'blue', 'magenta', 'red'] as const)[Math.round(hue)] ?? null;
}

function grey(level: number): AnsiColor | null {
	return level < 64 ? 'black' : level < 192 ? 'white' : null;
}

function colorAt(index: number): AnsiColor | null {
	return ANSI_COLORS[index] ?? null;
}
