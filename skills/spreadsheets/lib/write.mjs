/** Workbooks: a new one, and a sheet with a chart added to one that is there; what was in it stays byte for byte. */
import { DataError } from './errors.mjs';
import { columnLetters } from './read.mjs';
import { openZip } from './zip.mjs';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006';
const TYPES = 'application/vnd.openxmlformats-officedocument';
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const DAY_MS = 86_400_000;
/** What `Relationships` and `Types` end with. */
const CLOSE = { rels: '</Relationships>', types: '</Types>' };

/** A workbook with one sheet: its first row is bold and stays in sight, and can be filtered by. */
export function createWorkbook(name, rows) {
	const zip = openZip(null);
	zip.set('[Content_Types].xml', `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPES}.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPES}.spreadsheetml.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPES}.spreadsheetml.styles+xml"/>${CLOSE.types}`);
	zip.set('_rels/.rels', relationships(['officeDocument', 'xl/workbook.xml']));
	zip.set('xl/workbook.xml', `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${RELS}"><sheets><sheet name="${escaped(sheetName(name, []))}" sheetId="1" r:id="rId1"/></sheets></workbook>`);
	zip.set('xl/_rels/workbook.xml.rels', relationships(['worksheet', 'worksheets/sheet1.xml'], ['styles', 'styles.xml']));
	zip.set('xl/styles.xml', `${HEAD}<styleSheet xmlns="${MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/><xf fontId="1" applyFont="1"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`);
	const width = rows.reduce((most, { length }) => Math.max(most, length), 1);
	const filter = `<autoFilter ref="A1:${columnLetters(width - 1)}${Math.max(rows.length, 1)}"/>`;
	zip.set('xl/worksheets/sheet1.xml', sheetXml(rows, { hasStyles: true, after: filter }));
	return zip;
}

/** Adds `rows` (a header first, labels, then numbers) as a sheet with a column chart. Returns the sheet's name. */
export function addChartSheet(zip, { name, names, rows, charted, title }) {
	const sheet = sheetName(name, names);
	const part = (pattern) => {
		let number = 1;
		while (zip.has(pattern.replace('#', number))) number += 1;
		return pattern.replace('#', number);
	};
	const [path, drawing, chart] = ['worksheets/sheet#.xml', 'drawings/drawing#.xml', 'charts/chart#.xml'].map((each) => part(`xl/${each}`));
	const file = (full) => full.split('/').at(-1);
	insert(zip, '[Content_Types].xml', CLOSE.types, [
		`<Override PartName="/${path}" ContentType="${TYPES}.spreadsheetml.worksheet+xml"/>`,
		`<Override PartName="/${drawing}" ContentType="${TYPES}.drawing+xml"/>`,
		`<Override PartName="/${chart}" ContentType="${TYPES}.drawingml.chart+xml"/>`
	]);
	const book = zip.text('xl/workbook.xml');
	const id = 1 + Math.max(0, ...Array.from(book.matchAll(/sheetId="(\d+)"/g), ([, number]) => Number(number)));
	const prefix = /<(\w+:)?sheets\b/.exec(book)?.[1] ?? '';
	const relation = `rIdAdded${id}`;
	insert(zip, 'xl/workbook.xml', `</${prefix}sheets>`, [
		`<${prefix}sheet name="${escaped(sheet)}" sheetId="${id}" xmlns:r="${RELS}" r:id="${relation}"/>`
	]);
	insert(zip, 'xl/_rels/workbook.xml.rels', CLOSE.rels, [
		`<Relationship Id="${relation}" Type="${RELS}/worksheet" Target="worksheets/${file(path)}"/>`
	]);
	zip.set(path, sheetXml(rows, { hasStyles: false, after: `<drawing r:id="rId1"/>` }));
	zip.set(path.replace(/([^/]+)$/, '_rels/$1.rels'), relationships(['drawing', `../drawings/${file(drawing)}`]));
	zip.set(drawing, drawingXml(rows[0].length + 1));
	zip.set(drawing.replace(/([^/]+)$/, '_rels/$1.rels'), relationships(['chart', `../charts/${file(chart)}`]));
	zip.set(chart, chartXml(sheet, rows.slice(0, charted + 1), title));
	return sheet;
}

function insert(zip, name, before, added) {
	const text = zip.text(name);
	const at = text?.lastIndexOf(before) ?? -1;
	if (at < 0) throw new DataError(`This workbook is built in a way that no sheet can be added to (${name}).`);
	zip.set(name, text.slice(0, at) + added.join('') + text.slice(at));
}

function relationships(...all) {
	const each = all.map(([type, target], index) => `<Relationship Id="rId${index + 1}" Type="${RELS}/${type}" Target="${target}"/>`);
	return `${HEAD}<Relationships xmlns="${PACKAGE}/relationships">${each.join('')}${CLOSE.rels}`;
}

/** At most 31 characters, without those that Excel forbids, and unlike the others. */
function sheetName(name, names) {
	const bare = name.replace(/[[\]:*?/\\]|^'|'$/g, ' ').trim().slice(0, 31) || 'Sheet';
	const taken = new Set(names.map((each) => each.toLowerCase()));
	for (let number = 1; ; number += 1) {
		const free = number === 1 ? bare : `${bare.slice(0, 27)} ${number}`;
		if (!taken.has(free.toLowerCase())) return free;
	}
}

function sheetXml(rows, { hasStyles, after }) {
	const widths = [];
	for (const row of rows.slice(0, 1000))
		for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 8, Math.min(60, String(cell ?? '').length + 2));
	const columns = Array.from(widths, (width = 8, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`);
	const lines = rows.map((row, index) => {
		const cells = row.map((cell, column) => cellXml(cell, `${columnLetters(column)}${index + 1}`, index === 0, hasStyles));
		return `<row r="${index + 1}">${cells.join('')}</row>`;
	});
	const frozen = '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>';
	return `${HEAD}<worksheet xmlns="${MAIN}" xmlns:r="${RELS}">${frozen}${columns.length > 0 ? `<cols>${columns.join('')}</cols>` : ''}<sheetData>${lines.join('')}</sheetData>${after}</worksheet>`;
}

function cellXml(cell, place, isHeader, hasStyles) {
	if (cell === null || cell === undefined || cell === '') return '';
	if (typeof cell === 'number') return `<c r="${place}"><v>${cell}</v></c>`;
	if (typeof cell === 'boolean') return `<c r="${place}" t="b"><v>${Number(cell)}</v></c>`;
	const days = hasStyles && !isHeader ? daysOf(cell) : null;
	if (days !== null) return `<c r="${place}" s="2"><v>${days}</v></c>`;
	const bold = isHeader ? '<rPr><b/></rPr>' : '';
	const text = `<t xml:space="preserve">${escaped(cell.slice(0, 32_767))}</t>`;
	return `<c r="${place}" t="inlineStr"><is>${bold ? `<r>${bold}${text}</r>` : text}</is></c>`;
}

/** A real date such as 2026-01-31 as a number of days; null for all else. */
function daysOf(text) {
	if (!/^(19|20)\d\d-\d\d-\d\d$/.test(text)) return null;
	const date = new Date(`${text}T00:00:00Z`);
	if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text || text < '1900-03-01') return null;
	return (date.getTime() - Date.UTC(1899, 11, 30)) / DAY_MS;
}

function drawingXml(column) {
	const place = (name, left, top) => `<xdr:${name}><xdr:col>${left}</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>${top}</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:${name}>`;
	return `${HEAD}<xdr:wsDr xmlns:xdr="${DRAWING}/spreadsheetDrawing" xmlns:a="${DRAWING}/main"><xdr:twoCellAnchor>${place('from', column, 1)}${place('to', column + 10, 22)}<xdr:graphicFrame macro=""><xdr:nvGraphicFramePr><xdr:cNvPr id="2" name="Chart 1"/><xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr><xdr:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm><a:graphic><a:graphicData uri="${DRAWING}/chart"><c:chart xmlns:c="${DRAWING}/chart" xmlns:r="${RELS}" r:id="rId1"/></a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/></xdr:twoCellAnchor></xdr:wsDr>`;
}

/** The second column over the first; the values are in it, too, for programs that don't look them up. */
function chartXml(sheet, [header, ...rows], title) {
	const range = (letter) => escaped(`'${sheet.replaceAll("'", "''")}'!$${letter}$2:$${letter}$${rows.length + 1}`);
	const points = (index) => `<c:ptCount val="${rows.length}"/>${rows.map((row, at) => `<c:pt idx="${at}"><c:v>${escaped(String(row[index] ?? ''))}</c:v></c:pt>`).join('')}`;
	const words = (text) => `<c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>${escaped(text)}</a:t></a:r></a:p></c:rich></c:tx><c:overlay val="0"/>`;
	const axis = (kind, own, other, place, rest) => `<c:${kind}><c:axId val="${own}"/><c:scaling><c:orientation val="minMax"/></c:scaling><c:delete val="0"/><c:axPos val="${place}"/>${rest}<c:crossAx val="${other}"/></c:${kind}>`;
	return `${HEAD}<c:chartSpace xmlns:c="${DRAWING}/chart" xmlns:a="${DRAWING}/main" xmlns:r="${RELS}"><c:chart><c:title>${words(title)}</c:title><c:autoTitleDeleted val="0"/><c:plotArea><c:layout/><c:barChart><c:barDir val="col"/><c:grouping val="clustered"/><c:varyColors val="0"/><c:ser><c:idx val="0"/><c:order val="0"/><c:tx><c:v>${escaped(String(header[1]))}</c:v></c:tx><c:spPr><a:solidFill><a:srgbClr val="2F6FDE"/></a:solidFill></c:spPr><c:invertIfNegative val="0"/><c:cat><c:strRef><c:f>${range('A')}</c:f><c:strCache>${points(0)}</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:f>${range('B')}</c:f><c:numCache><c:formatCode>General</c:formatCode>${points(1)}</c:numCache></c:numRef></c:val></c:ser><c:gapWidth val="60"/><c:axId val="1"/><c:axId val="2"/></c:barChart>${axis('catAx', 1, 2, 'b', '')}${axis('valAx', 2, 1, 'l', `<c:majorGridlines/><c:title>${words(String(header[1]))}</c:title>`)}</c:plotArea><c:plotVisOnly val="1"/></c:chart></c:chartSpace>`;
}

/** Without what XML forbids. */
function escaped(text) {
	const names = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
	return text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu, ' ').replace(/[&<>"]/g, (one) => names[one]);
}
