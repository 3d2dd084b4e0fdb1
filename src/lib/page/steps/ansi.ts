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

/** Plain characters, one column each. */
const WRITTEN = new RegExp(`[^${HIDDEN_CLASS}\\n\\ud800-\\udfff\\u{10000}-\\u{10ffff}]+`, 'yu');

export class AnsiScreen {
	#blocks: Block[] = [];
	#open: Block = { id: 0, runs: [], length: 0, lines: 0, isClosed: false };
	/** The part of the current line that can still be overwritten. */
	#cells: Cell[] = [];
	/** Width of all cells. */
	#columns = 0;
	/** Cursor column. */
	#column = 0;
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
		const runs = [...this.#open.runs];
		const last = runs.at(-1);
		if (last) runs[runs.length - 1] = { ...last };
		let length = this.#open.length;
		for (const cell of this.#cells) {
			appendRun(runs, cell);
			length += cell.text.length;
		}
		return length === 0 ? this.#blocks.slice() : [...this.#blocks, { ...this.#open, runs, length }];
	}

	#take(stream: Stream, reader: Reader, character: string): void {
		if (reader.state !== 'text') {
			const wasString = reader.state === 'string' || reader.state === 'string-escape';
			this.#continueSequence(reader, character);
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
				this.#column = 0;
				break;
			case '\b':
				this.#column = Math.max(0, this.#column - 1);
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

	#continueSequence(reader: Reader, character: string): void {
		switch (reader.state) {
			case 'escape':
				if (character === '[') reader.parameters = '';
				reader.state =
					character === '['
						? 'csi'
						: /[\]PX^_]/.test(character)
							? 'string'
							: /[ -/]/.test(character)
								? 'intermediate'
								: character === '\u001b'
									? 'escape'
									: 'text';
				break;
			case 'intermediate':
				if (!/[ -/]/.test(character)) reader.state = character === '\u001b' ? 'escape' : 'text';
				break;
			case 'csi':
				if (/[0-?]/.test(character)) {
					if (reader.parameters.length < MAX_PARAMETERS) reader.parameters += character;
				} else if (/[@-~]/.test(character)) {
					reader.state = 'text';
					this.#csi(reader, character);
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
	#csi(reader: Reader, final: string): void {
		const count = Math.min(COLUMNS, Number.parseInt(reader.parameters, 10) || 0);
		switch (final) {
			case 'm':
				if (/^[\d;:]*$/.test(reader.parameters)) reader.style = applySgr(reader.style, reader.parameters);
				break;
			case 'C':
				this.#column = Math.min(COLUMNS - 1, this.#column + Math.max(1, count));
				break;
			case 'D':
				this.#column = Math.max(0, this.#column - Math.max(1, count));
				break;
			case 'G':
				this.#column = Math.min(COLUMNS - 1, Math.max(0, count - 1));
				break;
			case 'K':
				this.#erase(count);
		}
	}

	/** Erases in the line: 0 after the cursor, 1 before it, 2 everything. */
	#erase(what: number): void {
		if (what === 2) this.#cells = [];
		else if (what === 0 && this.#column < this.#columns) {
			this.#split();
			this.#cells.length = this.#column;
		} else if (what === 1) {
			this.#split();
			const end = Math.min(this.#columns, this.#column + 1);
			this.#cells.fill({ text: ' ', stream: 'stdout', style: PLAIN, columns: 1 }, 0, end);
		}
		this.#columns = what === 2 ? 0 : what === 0 ? Math.min(this.#columns, this.#column) : this.#columns;
	}

	/** Writes text whose characters take one column each. */
	#put({ text, stream, style }: Run): void {
		for (let from = 0; from < text.length;) {
			// At the end of the line, the usual case, it's written as one piece.
			const to = this.#column < this.#columns ? from + 1 : Math.min(text.length, from + COLUMNS - this.#column);
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
		if (this.#column < this.#columns) {
			this.#split();
			this.#cells[this.#column] = cell;
		} else {
			const gap = this.#column - this.#columns;
			if (gap > 0) this.#cells.push({ text: ' '.repeat(gap), stream: cell.stream, style: PLAIN, columns: gap });
			this.#cells.push(cell);
			this.#columns = this.#column + cell.columns;
		}
		this.#column += cell.columns;
		if (this.#column < COLUMNS) return;
		this.#commitCells();
		this.#closeIfFull();
	}

	/** Splits the line into cells of one column. */
	#split(): void {
		if (this.#cells.length === this.#columns) return;
		this.#cells = this.#cells.flatMap((cell) =>
			cell.columns === 1 ? cell : [...cell.text].map((text) => ({ ...cell, text, columns: 1 }))
		);
	}

	#endLine(stream: Stream, style: AnsiStyle): void {
		this.#commitCells();
		this.#open.lines++;
		this.#commit({
			text: '\n',
			stream,
			style: this.#open.runs.at(-1)?.stream === stream ? lookAtEnd(this.#open, style) : style
		});
		this.#closeIfFull();
	}

	#commitCells(): void {
		for (const cell of this.#cells) this.#commit(cell);
		this.#cells = [];
		this.#columns = 0;
		this.#column = 0;
	}

	#commit(run: Run): void {
		appendRun(this.#open.runs, run);
		this.#open.length += run.text.length;
	}

	#closeIfFull(): void {
		if (this.#open.length < BLOCK_LENGTH) return;
		this.#open.isClosed = true;
		this.#blocks.push(this.#open);
		this.#open = { id: this.#open.id + 1, runs: [], length: 0, lines: 0, isClosed: false };
	}
}

/** A line break takes the style before it, so that it doesn't start a new run. */
function lookAtEnd({ runs }: Block, style: AnsiStyle): AnsiStyle {
	return runs.at(-1)?.style ?? style;
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

export interface AnsiStyle {
	color: AnsiColor | null;
	ground: AnsiColor | null;
	isBold: boolean;
	isDim: boolean;
	isItalic: boolean;
	isUnderlined: boolean;
	isStruck: boolean;
	isInverse: boolean;
}

const PLAIN: AnsiStyle = {
	color: null,
	ground: null,
	isBold: false,
	isDim: false,
	isItalic: false,
	isUnderlined: false,
	isStruck: false,
	isInverse: false
};

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
