/** Reads the first rows of a CSV or TSV text, for a preview. Pure. */

export interface Table {
	/** Its first row. */
	head: string[];
	rows: string[][];
	/** Columns that are left out. */
	hiddenColumns: number;
	/** There are more rows than were read. */
	isCut: boolean;
}

/** `isCut`: the text is only the beginning of the file, so its last row may be half a row. */
export function readTable(text: string, isCut: boolean, maxRows = 2_000, maxColumns = 50): Table {
	const read = parseRows(text.replace(/^\ufeff/, ''), maxRows + 2);
	const hasMore = read.length > maxRows + 1;
	const whole = isCut && !hasMore && read.length > 1 ? read.slice(0, -1) : read.slice(0, maxRows + 1);
	const columns = whole.reduce((most, { length }) => Math.max(most, length), 0);
	const shown = Math.min(columns, maxColumns);
	const [head = [], ...rows] = whole.map((cells) => Array.from({ length: shown }, (_, index) => cells[index] ?? ''));
	return { head, rows, hiddenColumns: columns - shown, isCut: isCut || hasMore };
}

export interface SortOrder {
	column: number;
	isDescending: boolean;
}

/** Numbers by value, and before text; what is empty last, whichever way. Equal rows keep their order. */
export function sortRows(rows: readonly string[][], { column, isDescending }: SortOrder): string[][] {
	const collator = new Intl.Collator(undefined, { numeric: true });
	const keyed = rows.map((row) => {
		const cell = row[column]?.trim() ?? '';
		return { row, cell, number: numberOf(cell) };
	});
	keyed.sort((one, other) => {
		if (one.cell === '' || other.cell === '') return Number(one.cell === '') - Number(other.cell === '');
		const order =
			one.number !== null && other.number !== null
				? one.number - other.number
				: one.number !== null || other.number !== null
					? Number(one.number === null) - Number(other.number === null)
					: collator.compare(one.cell, other.cell);
		return isDescending ? -order : order;
	});
	return keyed.map(({ row }) => row);
}

/** With separators of thousands, a currency or a percent sign. */
export function numberOf(cell: string): number | null {
	const bare = cell.replace(/^[$€£¥]\s?|\s?[%€£¥]$/g, '').replace(/,(?=\d{3}(?:\D|$))/g, '');
	return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(bare) ? Number(bare) : null;
}

/** Cells by row; quoted cells may hold separators, quotes (doubled) and line breaks. A row that was cut off counts. */
export function parseRows(text: string, maxRows: number): string[][] {
	const firstLine = text.slice(0, Math.max(0, text.indexOf('\n')) || text.length);
	const separator = separatorOf(firstLine);
	const rows: string[][] = [];
	let row: string[] = [];
	let cell = '';
	let isQuoted = false;
	for (let index = 0; index < text.length && rows.length < maxRows; index++) {
		const character = text[index] ?? '';
		if (isQuoted) {
			if (character !== '"') cell += character;
			else if (text[index + 1] === '"') cell += text[++index];
			else isQuoted = false;
		} else if (character === '"' && cell === '') isQuoted = true;
		else if (character === separator) {
			row.push(cell);
			cell = '';
		} else if (character === '\n') {
			rows.push([...row, cell]);
			row = [];
			cell = '';
		} else if (character !== '\r') cell += character;
	}
	if ((cell !== '' || row.length > 0) && rows.length < maxRows) rows.push([...row, cell]);
	return rows;
}

function separatorOf(line: string): string {
	const counts = [',', ';', '\t'].map((separator) => ({ separator, count: line.split(separator).length }));
	return counts.reduce((best, next) => (next.count > best.count ? next : best)).separator;
}
