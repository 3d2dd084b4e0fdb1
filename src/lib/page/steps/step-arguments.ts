/** A call's arguments as name and value, even while their JSON is still arriving. Pure except for the read position. */
import { markHidden, markHiddenInText } from '../../shared/characters.ts';

export interface ArgumentLine {
	name: string;
	/** Text unchanged, everything else as JSON; only the start of a long value. */
	value: string;
	/** The end of a long value; otherwise empty. */
	tail: string;
	/** Length of the whole value so far. */
	length: number;
	/** The value is incomplete. */
	isOpen: boolean;
}

/** Characters parsed per call. */
const MAX_READ = 262_144;
const MAX_HEAD = 2_000;
const MAX_TAIL = 400;
const MAX_LINES = 200;

type Phase = 'start' | 'name?' | 'name' | 'colon' | 'value?' | 'text' | 'json' | 'next' | 'over';

/** Parses the start of a JSON object. Anything else gives no lines; never throws. */
export class PartialArguments {
	#phase: Phase = 'start';
	#position = 0;
	#lines: ArgumentLine[] = [];
	#name = '';
	/** An unfinished escape: `\`, `\u00`. */
	#escape = '';
	#depth = 0;
	#isInString = false;
	#wasBackslash = false;

	/** `text`: everything so far; only the new part is read. */
	read(text: string): ArgumentLine[] {
		const end = Math.min(text.length, MAX_READ);
		if (end <= this.#position && text.length >= this.#position) return this.#lines;
		while (this.#position < end && this.#phase !== 'over') this.#step(text, end);
		this.#position = Math.max(this.#position, end);
		this.#lines = [...this.#lines];
		return this.#lines;
	}

	#step(text: string, end: number): void {
		const character = text.charAt(this.#position);
		if (this.#phase === 'name' || this.#phase === 'text') return this.#readString(text, end);
		if (this.#phase === 'json') return this.#readJson(character);
		this.#position++;
		if (/\s/.test(character)) return;
		if (this.#phase === 'start') this.#phase = character === '{' ? 'name?' : 'over';
		else if (this.#phase === 'name?') this.#begin('name', character);
		else if (this.#phase === 'colon') this.#phase = character === ':' ? 'value?' : 'over';
		else if (this.#phase === 'next') this.#phase = character === ',' ? 'name?' : 'over';
		else this.#beginValue(character);
	}

	#begin(phase: 'name' | 'text', character: string): void {
		this.#phase = character === '"' ? phase : 'over';
		this.#name = phase === 'name' ? '' : this.#name;
		this.#escape = '';
	}

	#beginValue(character: string): void {
		if (this.#lines.length >= MAX_LINES) {
			this.#phase = 'over';
			return;
		}
		this.#lines.push({ name: markHidden(this.#name), value: '', tail: '', length: 0, isOpen: true });
		if (character === '"') return this.#begin('text', character);
		this.#phase = 'json';
		this.#depth = 0;
		this.#isInString = false;
		this.#position--;
	}

	#readString(text: string, end: number): void {
		if (this.#escape !== '') return this.#readEscape(text.charAt(this.#position++));
		const plain = /[^"\\]*/y;
		plain.lastIndex = this.#position;
		const [found = ''] = plain.exec(text) ?? [];
		const read = found.slice(0, end - this.#position);
		this.#position += read.length;
		if (read !== '') this.#add(read);
		if (this.#position >= end) return;
		if (text.charAt(this.#position++) === '\\') this.#escape = '\\';
		else if (this.#phase === 'name') this.#phase = 'colon';
		else this.#close();
	}

	#readEscape(character: string): void {
		this.#escape += character;
		if (this.#escape.startsWith('\\u') && this.#escape.length < 6) return;
		const escape = this.#escape;
		this.#escape = '';
		try {
			this.#add(String(JSON.parse(`"${escape}"`)));
		} catch {
			// Invalid, but shown all the same.
			this.#add(escape);
		}
	}

	#readJson(character: string): void {
		const isEnd = !this.#isInString && this.#depth === 0 && /[,}\s]/.test(character);
		if (isEnd) return this.#close();
		this.#position++;
		this.#add(character);
		if (this.#isInString) {
			if (this.#wasBackslash) this.#wasBackslash = false;
			else if (character === '\\') this.#wasBackslash = true;
			else if (character === '"') this.#isInString = false;
		} else if (character === '"') this.#isInString = true;
		else if (character === '{' || character === '[') this.#depth++;
		else if (character === '}' || character === ']') this.#depth = Math.max(0, this.#depth - 1);
	}

	#add(text: string): void {
		if (this.#phase === 'name') {
			this.#name = (this.#name + text).slice(0, 200);
			return;
		}
		const line = this.#lines.at(-1);
		if (!line) return;
		const all = line.length <= MAX_HEAD ? line.value + text : null;
		const length = line.length + text.length;
		const tail = length > MAX_HEAD ? (line.tail + (all?.slice(MAX_HEAD) ?? text)).slice(-MAX_TAIL) : '';
		const value = all?.slice(0, MAX_HEAD) ?? line.value;
		this.#lines[this.#lines.length - 1] = { ...line, value, tail, length };
	}

	#close(): void {
		const line = this.#lines.at(-1);
		if (line) this.#lines[this.#lines.length - 1] = { ...line, isOpen: false };
		this.#phase = 'next';
	}
}

export interface ArgumentValue {
	name: string;
	value: string;
}

/** Values of a complete call: text unchanged, lists of text as words (quoted if they contain spaces), everything else as JSON. Null if it isn't a JSON object. */
export function argumentValues(json: string): ArgumentValue[] | null {
	const values = parseObject(json);
	if (!values) return null;
	return Object.entries(values).map(([name, value]) => ({ name: markHidden(name), value: printValue(value) }));
}

export function parseObject(json: string): Record<string, unknown> | null {
	try {
		const value: unknown = JSON.parse(json);
		const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
		return isObject ? (value as Record<string, unknown>) : null;
	} catch {
		return null;
	}
}

function printValue(value: unknown): string {
	if (typeof value === 'string') return markHiddenInText(value);
	const areWords = Array.isArray(value) && value.every((item) => typeof item !== 'object');
	return markHiddenInText(areWords ? value.map(printWord).join(' ') : JSON.stringify(value, null, 2));
}

/** As typed on a command line. */
export function printWord(value: unknown): string {
	return typeof value === 'string' && /^[^\s"'\\]+$/.test(value) ? value : JSON.stringify(value);
}
