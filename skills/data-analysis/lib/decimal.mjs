/** Decimals that add without noise: `units` (a BigInt) divided by 10 to the power of `scale`. */

const EXTRA_DIGITS = 40;
const powers = [];

export const ZERO = { units: 0n, scale: 0 };

function tenTo(power) {
	return (powers[power] ??= 10n ** BigInt(power));
}

/** `text` is what String(number) gives, or digits with a point. */
export function decimal(text) {
	const [digits, exponent = '0'] = String(text).toLowerCase().split('e');
	const [whole, part = ''] = digits.split('.');
	const scale = part.length - Number(exponent);
	const units = BigInt(whole.replace('+', '') + part);
	return scale < 0 ? { units: units * tenTo(-scale), scale: 0 } : { units, scale };
}

function at(scale, number) {
	return number.scale === scale ? number.units : number.units * tenTo(scale - number.scale);
}

export function add(one, other) {
	const scale = Math.max(one.scale, other.scale);
	return { units: at(scale, one) + at(scale, other), scale };
}

export function subtract(one, other) {
	return add(one, { units: -other.units, scale: other.scale });
}

export function multiply(one, other) {
	return { units: one.units * other.units, scale: one.scale + other.scale };
}

export function divide(one, other) {
	const units = halfUp(one.units * tenTo(other.scale + EXTRA_DIGITS), other.units);
	return { units, scale: one.scale + EXTRA_DIGITS };
}

/** Below 0, 0 or above 0, as for sort(). */
export function compare(one, other) {
	const scale = Math.max(one.scale, other.scale);
	const [first, second] = [at(scale, one), at(scale, other)];
	return first < second ? -1 : first > second ? 1 : 0;
}

export function toNumber({ units, scale }) {
	return Number(`${units}e-${scale}`);
}

/** As people write it: 1234.5, never 1234.5000001 or 1E+3; rounded only to `places` if given. */
export function plain(number, places = number.scale) {
	const scale = Math.min(number.scale, places);
	const units = scale === number.scale ? number.units : halfUp(number.units, tenTo(number.scale - scale));
	if (units === 0n) return '0';
	const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
	const size = digits.replace(/^0+/, '').length - 1 - scale;
	if (size <= -12 || size >= 24) return toNumber({ units, scale }).toExponential(6);
	const point = digits.length - scale;
	const part = digits.slice(point).replace(/0+$/, '');
	return (units < 0n ? '-' : '') + digits.slice(0, point) + (part && `.${part}`);
}

/** `plain`, with commas between thousands: 1,234.5. */
export function grouped(number, places) {
	const [whole, ...part] = plain(number, places).split('.');
	return [whole.includes('e') ? whole : whole.replace(/\B(?=(\d{3})+$)/g, ','), ...part].join('.');
}

function halfUp(units, by) {
	const size = (value) => (value < 0n ? -value : value);
	const rounded = (2n * size(units) + size(by)) / (2n * size(by));
	return units < 0n === by < 0n ? rounded : -rounded;
}
