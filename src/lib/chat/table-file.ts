/** Reads the first rows of a CSV or TSV text, for a preview. Pure. */

/** Cells by row; quoted cells may hold separators, quotes (doubled) and line breaks. A row that was cut off counts. */
export function parseTable(text: string, maxRows: number, maxColumns = 20): string[][] {
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
	return rows.map((cells) => cells.slice(0, maxColumns));
}

function separatorOf(line: string): string {
	const counts = [',', ';', '\t'].map((separator) => ({ separator, count: line.split(separator).length }));
	return counts.reduce((best, next) => (next.count > best.count ? next : best)).separator;
}
