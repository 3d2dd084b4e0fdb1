/** Rows of CSV (RFC 4180) that are safe to open in a spreadsheet. */

/** Spreadsheets would run such text as a formula. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** null is an empty cell; anything but text and numbers is JSON. */
export function csvRow(values: readonly unknown[]): string {
	return `${values.map(cellOf).join(',')}\r\n`;
}

function cellOf(value: unknown): string {
	if (value === null || value === undefined) return '';
	if (typeof value === 'number') return String(value);
	const text = typeof value === 'string' ? value : JSON.stringify(value);
	const safe = FORMULA.test(text) ? `'${text}` : text;
	return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
