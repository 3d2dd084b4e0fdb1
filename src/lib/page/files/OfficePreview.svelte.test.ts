import { strToU8, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { readOffice } from './OfficePreview.svelte';

const pack = (files: Record<string, string>): Uint8Array =>
	zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])));

const R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
const WORKBOOK = {
	'xl/workbook.xml': `<workbook ${R}><sheets><sheet name="Sales" r:id="r1"/><sheet name="B" r:id="r2"/><sheet name="C" r:id="r3"/><sheet name="D" r:id="r4"/></sheets></workbook>`,
	'xl/_rels/workbook.xml.rels':
		'<Relationships><Relationship Id="r1" Target="worksheets/one.xml"/><Relationship Id="r2" Target="/xl/worksheets/two.xml"/></Relationships>',
	'xl/sharedStrings.xml': '<sst><si><t>month</t></si><si><r><t>reve</t></r><r><t>nue</t></r></si></sst>',
	'xl/styles.xml':
		'<styleSheet><numFmts><numFmt numFmtId="170" formatCode="yyyy\\-mm"/><numFmt numFmtId="171" formatCode="[Red]0.00"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs></styleSheet>',
	'xl/worksheets/one.xml':
		'<worksheet><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row><c r="A2" s="1"><v>45658</v></c><c r="B2" s="2"><v>45658.5</v></c><c r="C2" s="3"><v>12.5</v></c><c r="D2" t="inlineStr"><is><t>a "b"</t></is></c><c r="E2" t="b"><v>1</v></c></row></sheetData></worksheet>',
	'xl/worksheets/two.xml': '<worksheet><sheetData/></worksheet>'
};

describe('UI 10: workbooks and documents', () => {
	test('the first sheets of a workbook are read: texts, numbers, dates, cells that are left out', async () => {
		expect(await readOffice(pack(WORKBOOK))).toEqual({
			sheets: [
				{
					name: 'Sales',
					text: '"month"\t""\t"revenue"\n"2025-01-01"\t"2025-01-01 12:00:00"\t"12.5"\t"a ""b"""\t"TRUE"',
					isCut: false
				},
				{ name: 'B', text: '', isCut: false },
				{ name: 'C', text: '', isCut: false }
			],
			hiddenSheets: 1
		});
	});

	test('of a document the text is read, with its headings', async () => {
		const body =
			'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Report</w:t></w:r></w:p><w:p/><w:p><w:r><w:t>One</w:t><w:tab/><w:t>two &lt;b&gt;</w:t><w:br/><w:t>three</w:t></w:r></w:p>';
		const document = `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`;
		expect(await readOffice(pack({ 'word/document.xml': document }))).toEqual({
			paragraphs: [
				{ text: 'Report', isHeading: true },
				{ text: 'One\ttwo <b>\nthree', isHeading: false }
			],
			isCut: false
		});
	});

	test('what is neither, grows without end or is cut off is refused in a sentence', async () => {
		await expect(readOffice(strToU8('no zip at all'))).rejects.toThrow('isn’t a valid workbook or document');
		await expect(readOffice(pack({ 'a.txt': 'x' }))).rejects.toThrow('isn’t a valid workbook or document');
		const bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><w:document>&b;</w:document>';
		await expect(readOffice(pack({ 'word/document.xml': bomb }))).rejects.toThrow('isn’t a valid workbook or document');
		await expect(readOffice(pack({ 'word/document.xml': ' '.repeat(20_000_001) }))).rejects.toThrow('too large');
		const whole = pack(WORKBOOK);
		await expect(readOffice(whole.slice(0, whole.length - 40))).rejects.toThrow('isn’t a valid workbook or document');
	});
});
