/** A terminal screen fed with a script's output in pieces: colours, carriage returns, erased lines. Pure except for its own state. */
import { HIDDEN_CLASS, markHiddenInText, markOf } from '../../shared/characters.ts';

export type Stream = 'stdout' | 'stderr';

/** Text in one style, including line breaks. */
export interface Run {
	text: string;
	stream: Stream;
	style: AnsiStyle;
}

/** A part of the screen rendered as one. A closed block never changes. */
export interface Block {
	id: number;
	runs: Run[];
	/** In characters. */
	length: number;
	/** Line breaks, to estimate the height before rendering. */
	lines: number;
	isClosed: boolean;
}

/** A block closes at the first line break after this many characters. */
const BLOCK_LENGTH = 8_000;
/** Screen width: earlier characters of a line can't be overwritten. */
const COLUMNS = 1_000;
const MAX_PARAMETERS = 64;
/** UTF-16 units of an emoji with skin tone and variant. */
const BEFORE = 8;

type State = 'text' | 'escape' | 'intermediate' | 'csi' | 'string' | 'string-escape';

/** Parser state of one stream: a sequence or an emoji may arrive in two pieces. */
interface Reader {
	state: State;
	parameters: string;
	style: AnsiStyle;
	/** First half of a surrogate pair. */
	half: string;
	/** The last characters written: joiners are visible only within an emoji. */
	before: string;
}

/** A piece of the current line. */
interface Cell extends Run {
	/** More than one only if each character takes one column. */
	columns: number;
}

/** A stream’s current line, the part of it that can still be overwritten. */
interface Line {
	cells: Cell[];
	/** Width of all cells. */
	columns: number;
	/** Cursor column. */
	column: number;
}

/** Limit of output held back while the other stream’s line is open. */
const MAX_WAITING = 4_000;

/** Plain characters, one column each. */
const WRITTEN = new RegExp(`[^${HIDDEN_CLASS}\\n\\ud800-\\udfff\\u{10000}-\\u{10ffff}]+`, 'yu');

export class AnsiScreen {
	#blocks: Block[] = [];
	#open: Block = { id: 0, runs: [], length: 0, lines: 0, isClosed: false };
	/** One per stream: the two pipes are read in turns, often mid-line. */
	readonly #lines: Record<Stream, Line> = { stdout: newLine(), stderr: newLine() };
	/** The stream whose open line began first. */
	#first: Stream | null = null;
	/** Complete lines of the other stream since then. */
	#waiting: Run[] = [];
	#waitingLength = 0;
	/** The stream whose last written line has no line break yet. */
	#unended: Stream | null = null;
	readonly #readers: Record<Stream, Reader> = { stdout: newReader(), stderr: newReader() };

	/** Never throws. How the text is split into pieces doesn't matter. */
	write(stream: Stream, text: string): void {
		const reader = this.#readers[stream];
		let index = 0;
		while (index < text.length) {
			if (reader.state === 'text' && reader.half === '') {
				WRITTEN.lastIndex = index;
				const [written] = WRITTEN.exec(text) ?? [];
				if (written !== undefined) {
					this.#put({ text: written, stream, style: reader.style });
					reader.before = written.slice(-BEFORE);
					index += written.length;
					continue;
				}
			}
			this.#take(stream, reader, text.charAt(index));
			index++;
		}
	}

	/** All blocks in order; closed ones keep their identity. */
	blocks(): Block[] {
		const shown: Run[] = this.#open.runs.map((run) => ({ ...run }));
		let unended = this.#unended;
		let { length } = this.#open;
		const show = (stream: Stream, runs: readonly Run[]): void => {
			if (runs.length === 0) return;
			const added = unended === null || unended === stream ? runs : [breakOf(unended), ...runs];
			for (const run of added) {
				appendRun(shown, run);
				length += run.text.length;
			}
			unended = shown.at(-1)?.text.endsWith('\n') ? null : stream;
		};
		const first = this.#first ?? 'stdout';
		show(first, this.#lines[first].cells);
		show(otherOf(first), this.#waiting);
		show(otherOf(first), this.#lines[otherOf(first)].cells);
		return length === 0 ? this.#blocks.slice() : [...this.#blocks, { ...this.#open, runs: shown, length }];
	}

	#take(stream: Stream, reader: Reader, character: string): void {
		if (reader.state !== 'text') {
			const wasString = reader.state === 'string' || reader.state === 'string-escape';
			this.#continueSequence(stream, reader, character);
			// An unterminated sequence must not swallow the following lines.
			if (character === '\n' && wasString) this.#control(stream, reader, character);
			return;
		}
		const code = character.charCodeAt(0);
		if (reader.half !== '') {
			const whole = code >= 0xdc00 && code <= 0xdfff ? reader.half + character : null;
			reader.half = '';
			this.#putOne(stream, reader, whole ?? '\ufffd');
			if (whole !== null) return;
			// What follows a lone surrogate is read on its own.
		}
		if (code >= 0xd800 && code <= 0xdbff) reader.half = character;
		else if (code >= 0xdc00 && code <= 0xdfff) this.#putOne(stream, reader, '\ufffd');
		else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) this.#control(stream, reader, character);
		else this.#putOne(stream, reader, character);
	}

	#control(stream: Stream, reader: Reader, character: string): void {
		reader.before = '';
		switch (character) {
			case '\n':
				this.#endLine(stream, reader.style);
				break;
			case '\r':
				// A progress bar: the other stream’s lines go above it.
				if (this.#first === stream) this.#goOn(stream);
				this.#lines[stream].column = 0;
				break;
			case '\b':
				this.#lines[stream].column = Math.max(0, this.#lines[stream].column - 1);
				break;
			case '\u001b':
				reader.state = 'escape';
				break;
			case '\u009b':
				reader.state = 'csi';
				reader.parameters = '';
				break;
			case '\u0090':
			case '\u0098':
			case '\u009d':
			case '\u009e':
			case '\u009f':
				reader.state = 'string';
		}
	}

	#continueSequence(stream: Stream, reader: Reader, character: string): void {
		switch (reader.state) {
			case 'escape':
				if (character === '[') reader.parameters = '';
				if (character === '[') reader.state = 'csi';
				else if (/[\]PX^_]/.test(character)) reader.state = 'string';
				else if (/[ -/]/.test(character)) reader.state = 'intermediate';
				else if (character !== '\u001b') reader.state = 'text';
				break;
			case 'intermediate':
				if (!/[ -/]/.test(character)) reader.state = character === '\u001b' ? 'escape' : 'text';
				break;
			case 'csi':
				if (/[0-?]/.test(character)) {
					if (reader.parameters.length < MAX_PARAMETERS) reader.parameters += character;
				} else if (/[@-~]/.test(character)) {
					reader.state = 'text';
					this.#csi(this.#lines[stream], reader, character);
				} else if (!/[ -/]/.test(character)) reader.state = character === '\u001b' ? 'escape' : 'text';
				break;
			case 'string':
				if (character === '\u0007' || character === '\u009c' || character === '\n') reader.state = 'text';
				else if (character === '\u001b') reader.state = 'string-escape';
				break;
			case 'string-escape':
				reader.state =
					character === '\\' || character === '\n' ? 'text' : character === '\u001b' ? 'string-escape' : 'string';
		}
	}

	/** Handles cursor movement and erasing within the line, and styles; ignores everything else. */
	#csi(line: Line, reader: Reader, final: string): void {
		const count = Math.min(COLUMNS, Number.parseInt(reader.parameters, 10) || 0);
		switch (final) {
			case 'm':
				if (/^[\d;:]*$/.test(reader.parameters)) reader.style = applySgr(reader.style, reader.parameters);
				break;
			case 'C':
				line.column = Math.min(COLUMNS - 1, line.column + Math.max(1, count));
				break;
			case 'D':
				line.column = Math.max(0, line.column - Math.max(1, count));
				break;
			case 'G':
				line.column = Math.min(COLUMNS - 1, Math.max(0, count - 1));
				break;
			case 'K':
				erase(line, count);
		}
	}

	/** Writes text whose characters take one column each. */
	#put({ text, stream, style }: Run): void {
		const line = this.#lines[stream];
		for (let from = 0; from < text.length;) {
			// At the end of the line, the usual case, it's written as one piece.
			const to = line.column < line.columns ? from + 1 : Math.min(text.length, from + COLUMNS - line.column);
			this.#putCell({ text: text.slice(from, to), stream, style, columns: to - from });
			from = to;
		}
	}

	#putOne(stream: Stream, reader: Reader, character: string): void {
		const isSeen = markHiddenInText(reader.before + character).endsWith(character);
		const text = isSeen ? character : markOf(character);
		reader.before = (reader.before + character).slice(-BEFORE);
		this.#putCell({ text, stream, style: reader.style, columns: 1 });
	}

	#putCell(cell: Cell): void {
		const line = this.#lines[cell.stream];
		if (line.cells.length === 0) this.#first ??= cell.stream;
		if (line.column < line.columns) {
			split(line);
			line.cells[line.column] = cell;
		} else {
			const gap = line.column - line.columns;
			if (gap > 0) line.cells.push({ text: ' '.repeat(gap), stream: cell.stream, style: PLAIN, columns: gap });
			line.cells.push(cell);
			line.columns = line.column + cell.columns;
		}
		line.column += cell.columns;
		if (line.column >= COLUMNS) this.#add(cell.stream, line.cells.splice(0));
	}

	#endLine(stream: Stream, style: AnsiStyle): void {
		const { cells } = this.#lines[stream];
		const isFirst = this.#first === null || this.#first === stream;
		const last = cells.at(-1) ?? (isFirst ? this.#open.runs : this.#waiting).at(-1);
		// A line break takes the style before it, so that it doesn't start a new run.
		const end = { text: '\n', stream, style: last?.stream === stream ? last.style : style };
		this.#add(stream, [...cells.splice(0), end]);
		if (isFirst) this.#goOn(stream);
	}

	/** Writes to the screen, or holds back while the other stream’s earlier line is open. */
	#add(stream: Stream, runs: readonly Run[]): void {
		const line = this.#lines[stream];
		line.columns = line.column = 0;
		if (this.#first === null || this.#first === stream) return this.#commit(stream, runs);
		for (const run of runs) {
			appendRun(this.#waiting, run);
			this.#waitingLength += run.text.length;
		}
		if (this.#waitingLength > MAX_WAITING) this.#goOn(this.#first);
	}

	/** The line of `stream`, which was first, has ended or is no longer waited for. */
	#goOn(stream: Stream): void {
		const other = otherOf(stream);
		this.#first = this.#lines[other].cells.length > 0 ? other : null;
		this.#waitingLength = 0;
		this.#commit(other, this.#waiting.splice(0));
	}

	#commit(stream: Stream, runs: readonly Run[]): void {
		if (runs.length === 0) return;
		const added = this.#unended === null || this.#unended === stream ? runs : [breakOf(this.#unended), ...runs];
		for (const run of added) {
			appendRun(this.#open.runs, run);
			this.#open.length += run.text.length;
			this.#open.lines += run.text.split('\n').length - 1;
		}
		this.#unended = runs.at(-1)?.text.endsWith('\n') ? null : stream;
		this.#closeIfFull();
	}

	#closeIfFull(): void {
		if (this.#open.length < BLOCK_LENGTH) return;
		this.#open.isClosed = true;
		this.#blocks.push(this.#open);
		this.#open = { id: this.#open.id + 1, runs: [], length: 0, lines: 0, isClosed: false };
	}
}

/** Erases in the line: 0 after the cursor, 1 before it, 2 everything. */
function erase(line: Line, what: number): void {
	if (what === 2) line.cells = [];
	else if (what === 0 && line.column < line.columns) {
		split(line);
		line.cells.length = line.column;
	} else if (what === 1) {
		split(line);
		const end = Math.min(line.columns, line.column + 1);
		line.cells.fill({ text: ' ', stream: 'stdout', style: PLAIN, columns: 1 }, 0, end);
	}
	line.columns = what === 2 ? 0 : what === 0 ? Math.min(line.columns, line.column) : line.columns;
}

/** Splits the line into cells of one column. */
function split(line: Line): void {
	if (line.cells.length === line.columns) return;
	line.cells = line.cells.flatMap((cell) =>
		cell.columns === 1 ? cell : [...cell.text].map((text) => ({ ...cell, text, columns: 1 }))
	);
}

function newLine(): Line {
	return { cells: [], columns: 0, column: 0 };
}

function otherOf(stream: Stream): Stream {
	return stream === 'stdout' ? 'stderr' : 'stdout';
}

/** Separates an unfinished line from the other stream. */
function breakOf(stream: Stream): Run {
	return { text: '\n', stream, style: PLAIN };
}

function appendRun(runs: Run[], { text, stream, style }: Run): void {
	const last = runs.at(-1);
	if (last && last.stream === stream && isSameStyle(last.style, style)) last.text += text;
	else runs.push({ text, stream, style });
}

function isSameStyle(one: AnsiStyle, other: AnsiStyle): boolean {
	return (
		one === other || (Object.keys(PLAIN) as (keyof AnsiStyle)[]).every((property) => one[property] === other[property])
	);
}

function newReader(): Reader {
	return { state: 'text', parameters: '', style: PLAIN, half: '', before: '' };
}

/** Names of page tokens, readable on the terminal background in both themes. */
const ANSI_COLORS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
type AnsiColor = (typeof ANSI_COLORS)[number];

const PLAIN = {
	color: null as AnsiColor | null,
	ground: null as AnsiColor | null,
	isBold: false,
	isDim: false,
	isItalic: false,
	isUnderlined: false,
	isStruck: false,
	isInverse: false
};
export type AnsiStyle = Readonly<typeof PLAIN>;

/** The style after `ESC [ parameters m`. Hidden text stays visible. */
function applySgr(style: AnsiStyle, parameters: string): AnsiStyle {
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
