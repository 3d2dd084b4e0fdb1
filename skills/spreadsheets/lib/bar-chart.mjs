/** Numbers as a horizontal bar chart in SVG, on its own background, so that it is legible on every page; on a dark page it is dark. */

const WIDTH = 760;
const [BAR, GAP] = [24, 12];
const [TOP, BOTTOM, RIGHT] = [92, 64, 28];
const LONGEST_LABEL = 30;
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
export function barChart({ title, subtitle, valueAxis, labelAxis, bars }) {
	const labels = bars.map(({ label }) => shorten(label, LONGEST_LABEL));
	const texts = bars.map(({ text }) => text);
	const numbers = bars.map(({ number }) => number);
	const left = 56 + Math.max(40, ...labels.map((label) => widthOf(label, 13)));
	const ticks = ticksFor(numbers);
	const [low, high] = [ticks[0], ticks.at(-1)];
	const room = 10 + Math.max(20, ...texts.map((text) => widthOf(text, 12)));
	// Labels stand outside the bars' ends, so their width is kept free on the sides where bars end.
	const start = left + (low < 0 ? room : 0);
	const end = WIDTH - RIGHT - (high > 0 ? room : 0);
	const x = (value) => start + ((end - start) * (value - low)) / (high - low);
	const bottom = TOP + bars.length * (BAR + GAP);
	const height = bottom + BOTTOM;
	const description = labels.map((label, index) => `${label}: ${texts[index]}`).join('; ');
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="chart-title chart-description" font-family="system-ui, -apple-system, 'Segoe UI', sans-serif">`,
		`<title id="chart-title">${escaped(title)}</title>`,
		`<desc id="chart-description">${escaped(`${subtitle}. ${description}`)}</desc>`,
		`<style>@media (prefers-color-scheme:dark){${STYLE}}</style>`,
		`<rect width="${WIDTH}" height="${height}" fill="${PAPER}"/>`,
		textAt(24, 38, widthOf(title, 20) < WIDTH - 48 ? title : shorten(title, 62), 20, INK, { weight: 650 }),
		textAt(24, 62, shorten(subtitle, 100), 13, MUTED),
		...ticks.flatMap((tick) => {
			const [color, width] = tick === 0 ? [MUTED, 1.2] : [GRID, 1];
			const at = x(tick).toFixed(1);
			return [
				`<line x1="${at}" x2="${at}" y1="${TOP - 8}" y2="${bottom}" stroke="${color}" stroke-width="${width}"/>`,
				textAt(x(tick), bottom + 18, tickText(tick), 12, MUTED, { anchor: 'middle' })
			];
		}),
		...numbers.flatMap((number, index) => {
			const y = TOP + index * (BAR + GAP);
			const [from, to] = [Math.min(x(0), x(number)), Math.max(x(0), x(number))];
			const [at, anchor, color] = number < 0 ? [from - 6, 'end', NEGATIVE] : [to + 6, 'start', POSITIVE];
			const width = Math.max(to - from, 1).toFixed(1);
			return [
				`<rect x="${from.toFixed(1)}" y="${y}" width="${width}" height="${BAR}" rx="3" fill="${color}"/>`,
				textAt(left - 12, y + 17, labels[index], 13, INK, { anchor: 'end' }),
				textAt(at, y + 17, texts[index], 12, INK, { anchor, weight: 600 })
			];
		}),
		textAt((start + end) / 2, bottom + 44, valueAxis, 13, MUTED, { anchor: 'middle' }),
		textAt(26, (TOP + bottom - GAP) / 2, shorten(labelAxis, 24), 13, MUTED, { anchor: 'middle', isUpright: true }),
		'</svg>\n'
	].join('\n');
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
