/** Finds the code in Markdown: the lines of fenced and indented blocks, and spans within prose, with what is said about them. */

export interface CodeLine {
	code: string;
	/** Prose that tells what the line is for: headings, the paragraph or comment before it, the sentence around it. */
	context: string;
	isInline: boolean;
}

const MAX_CODE_LINES = 2_000;
const MAX_CONTEXT = 600;

export function findCodeLines(markdown: string): CodeLine[] {
	const found: CodeLine[] = [];
	const headings: string[] = [];
	let paragraph = '';
	let isParagraphOver = false;
	let fence: string | null = null;
	let comment = '';
	let continued = '';

	const addCode = (line: string) => {
		const code = `${continued} ${line.trim()}`.trim();
		if (code.endsWith('\\')) {
			continued = code.slice(0, -1).trim();
			return;
		}
		continued = '';
		const remark = /^(?:#|\/\/|rem\s)\s*(.*)$/i.exec(code)?.[1];
		if (remark !== undefined) comment = remark;
		else if (code !== '') {
			found.push({ code, context: clip([...headings.slice(-2), paragraph, comment].join('\n')), isInline: false });
			comment = '';
		}
	};

	for (const line of markdown.split(/\r?\n/)) {
		if (found.length >= MAX_CODE_LINES) break;
		const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
		if (fence !== null) {
			const isClosed: boolean | undefined = mark?.startsWith(fence) && line.trim() === mark;
			if (isClosed) {
				if (continued !== '') addCode('');
				comment = '';
			} else {
				addCode(line);
			}
			fence = isClosed ? null : fence;
			isParagraphOver = true;
			continue;
		}
		const heading = /^(#{1,6})\s+(.*)$/.exec(line);
		if (mark !== undefined) {
			fence = mark;
		} else if (heading) {
			headings.splice((heading[1]?.length ?? 1) - 1);
			headings.push(heading[2] ?? '');
			paragraph = '';
		} else if (line.trim() === '') {
			isParagraphOver = true;
		} else {
			if (/^(?: {4}|\t)/.test(line)) addCode(line);
			else {
				paragraph = clip(isParagraphOver ? line : `${paragraph} ${line}`);
				isParagraphOver = false;
			}
			for (const code of codeSpans(line)) {
				found.push({
					code,
					context: clip([...headings.slice(-2), line.replace(`\`${code}\``, ' ')].join('\n')),
					isInline: true
				});
			}
		}
	}
	return found;
}

/** Contents of the spans between single backticks in one line. */
export function codeSpans(line: string): string[] {
	return line
		.slice(0, 4_000)
		.split('`')
		.filter((piece, index, pieces) => index % 2 === 1 && index < pieces.length - 1 && piece.trim() !== '')
		.map((piece) => piece.trim());
}

function clip(text: string): string {
	return text.slice(-MAX_CONTEXT);
}
