/** Numbers as a horizontal bar chart in SVG, on its own background, so that it is legible on every page; on a dark page it is dark. */

const WIDTH = 760;
const [BAR, GAP] = [24, 12];
const [TOP, BOTTOM, RIGHT] = [92, 64, 28];
/** Sizes of text and most characters. The narrow form is for a picture that is shown at less than two thirds of its width. */
const WIDE = {
	...{ title: 20, text: 13, small: 12, longestTitle: 62, longestSubtitle: 100, longestLabel: 30, edge: 56 },
	...{ titleAt: 38, subtitleAt: 62, ticksAt: 18, axisAt: 44, baseline: 17, hasLabelAxis: true }
};
const NARROW = {
	...{ title: 32, text: 26, small: 24, longestTitle: 38, longestSubtitle: 46, longestLabel: 22, edge: 36 },
	...{ titleAt: 38, subtitleAt: 74, ticksAt: 26, axisAt: 56, baseline: 21, hasLabelAxis: false }
};
const NARROW_UP_TO = 500;
const [INK, MUTED, GRID, PAPER] = ['#1b2430', '#556270', '#e3e8ee', '#ffffff'];
const [POSITIVE, NEGATIVE] = ['#2f6fde', '#d0453b'];
/** In place of each color where its page is dark; a program that reads no styles shows the light ones. */
const IN_THE_DARK = {
	...{ [INK]: '#ecebe6', [MUTED]: '#a9a89f', [GRID]: '#383a34', [PAPER]: '#1f201d' },
	...{ [POSITIVE]: '#6f9ff0', [NEGATIVE]: '#f0837a' }
};
const STYLE = Object.entries(IN_THE_DARK)
	.map(([light, dark]) => `[fill="${light}"]{fill:${dark}}[stroke="${light}"]{stroke:${dark}}`)
	.join('');

/** SVG. Each of `bars` has a `label`, a `number` for its length and a `text` beside it. */
export function barChart(chart) {
	const { title, subtitle, bars } = chart;
	const height = TOP + bars.length * (BAR + GAP) + BOTTOM;
	const description = bars.map(({ label, text }) => `${shorten(label, WIDE.longestLabel)}: ${text}`).join('; ');
	const narrow = `@media (max-width:${NARROW_UP_TO}px){.wide{display:none}.narrow{display:inline}}`;
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="chart-title chart-description" font-family="system-ui, -apple-system, 'Segoe UI', sans-serif">`,
		`<title id="chart-title">${escaped(title)}</title>`,
		`<desc id="chart-description">${escaped(`${subtitle}. ${description}`)}</desc>`,
		`<style>@media (prefers-color-scheme:dark){${STYLE}}${narrow}</style>`,
		`<rect width="${WIDTH}" height="${height}" fill="${PAPER}"/>`,
		`<g class="wide">`,
		...drawn(chart, WIDE),
		`</g>`,
		// A program that reads no styles shows the wide form.
		`<g class="narrow" display="none">`,
		...drawn(chart, NARROW),
		`</g>`,
		'</svg>\n'
	].join('\n');
}

function drawn({ title, subtitle, valueAxis, labelAxis, bars }, form) {
	const labels = bars.map(({ label }) => shorten(label, form.longestLabel));
	const texts = bars.map(({ text }) => text);
	const numbers = bars.map(({ number }) => number);
	const left = form.edge + Math.max(40, ...labels.map((label) => widthOf(label, form.text)));
	const ticks = ticksFor(numbers);
	const [low, high] = [ticks[0], ticks.at(-1)];
	const room = 10 + Math.max(20, ...texts.map((text) => widthOf(text, form.small)));
	// Labels stand outside the bars' ends, so their width is kept free on the sides where bars end.
	const start = left + (low < 0 ? room : 0);
	const end = WIDTH - RIGHT - (high > 0 ? room : 0);
	const x = (value) => start + ((end - start) * (value - low)) / (high - low);
	const bottom = TOP + bars.length * (BAR + GAP);
	// Those that would touch are left out, the zero never.
	const widest = Math.max(...ticks.map((tick) => widthOf(tickText(tick), form.small)));
	const every = Math.ceil((widest + 8) / ((end - start) / (ticks.length - 1)));
	const isNamed = (index) => (index - ticks.indexOf(0)) % every === 0;
	const heading = widthOf(title, form.title) < WIDTH - 48 ? title : shorten(title, form.longestTitle);
	return [
		textAt(24, form.titleAt, heading, form.title, INK, { weight: 650 }),
		textAt(24, form.subtitleAt, shorten(subtitle, form.longestSubtitle), form.text, MUTED),
		...ticks.flatMap((tick, index) => {
			const [color, width] = tick === 0 ? [MUTED, 1.2] : [GRID, 1];
			const at = x(tick).toFixed(1);
			const line = `<line x1="${at}" x2="${at}" y1="${TOP - 8}" y2="${bottom}" stroke="${color}" stroke-width="${width}"/>`;
			if (!isNamed(index)) return [line];
			return [line, textAt(x(tick), bottom + form.ticksAt, tickText(tick), form.small, MUTED, { anchor: 'middle' })];
		}),
		...numbers.flatMap((number, index) => {
			const y = TOP + index * (BAR + GAP);
			const [from, to] = [Math.min(x(0), x(number)), Math.max(x(0), x(number))];
			const [at, anchor, color] = number < 0 ? [from - 6, 'end', NEGATIVE] : [to + 6, 'start', POSITIVE];
			const width = Math.max(to - from, 1).toFixed(1);
			return [
				`<rect x="${from.toFixed(1)}" y="${y}" width="${width}" height="${BAR}" rx="3" fill="${color}"/>`,
				textAt(left - 12, y + form.baseline, labels[index], form.text, INK, { anchor: 'end' }),
				textAt(at, y + form.baseline, texts[index], form.small, INK, { anchor, weight: 600 })
			];
		}),
		textAt((start + end) / 2, bottom + form.axisAt, valueAxis, form.text, MUTED, { anchor: 'middle' }),
		...(form.hasLabelAxis
			? [textAt(26, (TOP + bottom - GAP) / 2, shorten(labelAxis, 24), 13, MUTED, { anchor: 'middle', isUpright: true })]
			: [])
	];
}

function textAt(x, y, text, size, color, { anchor = 'start', weight = 400, isUpright = false } = {}) {
	const place = `x="${x.toFixed(1)}" y="${y.toFixed(1)}"`;
	const turn = isUpright ? ` transform="rotate(-90 ${x.toFixed(1)} ${y.toFixed(1)})"` : '';
	return `<text ${place} font-size="${size}" font-weight="${weight}" fill="${color}" text-anchor="${anchor}"${turn}>${escaped(text)}</text>`;
}

/** Without the control characters that XML forbids. */
function escaped(text) {
	const names = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
	return text.replace(/[\0-\x1f\ufffe\uffff]|\p{Cs}/gu, ' ').replace(/[&<>"]/g, (one) => names[one]);
}

function shorten(text, most) {
	const line = text.trim().replace(/\s+/g, ' ');
	const characters = [...line];
	return characters.length <= most ? line : `${characters.slice(0, most - 1).join('').trimEnd()}…`;
}

/** Roughly, in pixels; characters of East Asia are twice as wide. */
function widthOf(text, size) {
	return [...text].reduce((width, one) => width + (one.codePointAt(0) > 0x2e7f ? 1 : 0.58), 0) * size;
}

/** Round steps (1, 2, 5 × 10ⁿ) from at or below the smallest value to at or above the largest, zero among them. */
function ticksFor(values) {
	const low = Math.min(0, ...values);
	const high = Math.max(0, ...values) || (low < 0 ? 0 : 1);
	const step = roundStep((high - low) / 5);
	const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
	return Array.from({ length: last - first + 1 }, (_, index) => step * (first + index));
}

/** The smallest of 1, 2, 5 × 10ⁿ that is not below `least`, which is above 0. */
export function roundStep(least) {
	const power = 10 ** Math.floor(Math.log10(least));
	return power * [1, 2, 5, 10].find((factor) => power * factor >= least * 0.999);
}

function tickText(value) {
	const [limit, letter] = [[1e12, 'T'], [1e9, 'B'], [1e6, 'M']].find(([most]) => Math.abs(value) >= most) ?? [1, ''];
	const number = Number((value / limit).toPrecision(6));
	if (!letter) return number.toLocaleString('en-US', { maximumFractionDigits: 10 });
	return `${Math.abs(number) < 1e6 ? number : number.toExponential()}${letter}`;
}
