/** The ways in which a secret is commonly written: what the redactor looks for (FEATURES F3). */
import { withoutHidden } from '../../../shared/characters.ts';
import { REDACTED } from '../sandbox.ts';
import { createPatternMatcher, type Match } from './pattern-matcher.ts';

/** A shorter text is too likely to stand somewhere by chance. */
const MIN_SECRET = 4;
/** A line of a secret is one by itself from here, and so is a secret in lower case: a shorter one is a word. */
const MIN_LINE = 8;
/** A longer secret is looked for in pieces, so that little has to be held back; the overlap joins them in base64. */
const MAX_PIECE = 96;
const OVERLAP = 3;

/**
 * Every pattern for these secrets, without line breaks: those are passed over wherever they stand. Secrets of fewer than
 * 4 characters have none.
 */
function patternsOf(secrets: readonly string[]): Buffer[] {
	const patterns = new Set<string>();
	for (const secret of secrets) {
		for (const piece of piecesOf(secret)) {
			for (const written of [...textsOf(piece), ...encodingsOf(piece)]) {
				const pattern = Buffer.from(withoutBreaks(written)).toString('latin1');
				if (pattern.length >= MIN_SECRET) patterns.add(pattern);
			}
		}
	}
	return [...patterns].map((pattern) => Buffer.from(pattern, 'latin1'));
}

function withoutBreaks(text: string): string {
	return text.replaceAll(/[\r\n]/g, '');
}

function piecesOf(secret: string): Set<string> {
	// As bytes it can be written in no other way.
	const text = secret.toWellFormed();
	const lines = text.split(/[\r\n]+/).filter((line) => line.length >= MIN_LINE);
	const pieces = new Set<string>();
	for (const whole of [text, text.trim(), ...lines]) {
		const characters = Array.from(whole);
		if (withoutBreaks(whole).length < MIN_SECRET) continue;
		const last = Math.max(1, Math.floor(characters.length / MAX_PIECE));
		for (let index = 0; index < last; index += 1) {
			const end = index === last - 1 ? characters.length : (index + 1) * MAX_PIECE + OVERLAP;
			pieces.add(characters.slice(index * MAX_PIECE, end).join(''));
		}
	}
	return pieces;
}

/** As it is, as a host, as JSON, in an address and for a shell. */
function textsOf(text: string): string[] {
	const json = JSON.stringify(text).slice(1, -1);
	const ascii = escaped(json, (code) => `\\u${code.toString(16).padStart(4, '0')}`);
	// As Python's `ascii` has it.
	const python = escaped(text, (code) =>
		code < 0x100 ? `\\x${code.toString(16)}` : `\\u${code.toString(16).padStart(4, '0')}`
	);
	const addresses = [
		percentEncoded(text, /(?!)/),
		encodeURIComponent(text),
		encodeURI(text),
		percentEncoded(text, /[A-Za-z0-9\-_.~]/),
		percentEncoded(text, /[A-Za-z0-9\-_.~/]/),
		percentEncoded(text, /[A-Za-z0-9\-_.~ ]/).replaceAll(' ', '+'),
		percentEncoded(text, /[A-Za-z0-9\-_.* ]/).replaceAll(' ', '+')
	];
	return [
		text,
		// As programs write it that were given it for the name of a host.
		...(text.length >= MIN_LINE ? [text.toLowerCase()] : []),
		json,
		ascii,
		escaped(json, (code) => `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`),
		python,
		// JSON inside of JSON.
		JSON.stringify(json).slice(1, -1),
		JSON.stringify(ascii).slice(1, -1),
		json.replaceAll('/', '\\/'),
		...addresses,
		...addresses.map((address) => address.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())),
		text.replaceAll("'", "'\\''"),
		text.replaceAll("'", `'"'"'`),
		text.replaceAll("'", "\\'"),
		text.replaceAll(/[$`"\\]/g, '\\$&'),
		text.replaceAll(/[$`"\\!]/g, '\\$&'),
		text.replaceAll(/[\\']/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t'),
		text.replaceAll(/[^\w./:=@%+,\-\r\n\u0080-\uffff]/g, '\\$&'),
		text.replaceAll(/[^\w./:=@%+\-\r\n\u0080-\uffff]/g, '\\$&')
	];
}

/** What is not ASCII, each unit of UTF-16 by itself. */
function escaped(text: string, escape: (code: number) => string): string {
	return text.replaceAll(/[^\0-\x7f]/g, (unit) => escape(unit.charCodeAt(0)));
}

function percentEncoded(text: string, kept: RegExp): string {
	return Array.from(Buffer.from(text), (byte) => {
		const character = String.fromCharCode(byte);
		return kept.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
	}).join('');
}

/** Hexadecimal, and what of its base64 is the same whatever stands before and after it. */
function encodingsOf(text: string): string[] {
	const bytes = Buffer.from(text);
	const hex = bytes.toString('hex');
	const whole = bytes.toString('base64');
	const base64 = [whole, whole.replace(/=+$/, '')];
	for (const before of [0, 1, 2]) {
		const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
		base64.push(encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)));
	}
	const url = base64.map((encoded) => encoded.replaceAll('+', '-').replaceAll('/', '_'));
	return [hex, hex.toUpperCase(), ...base64, ...url];
}

// Takes secrets out of what a process says: a stream, however it is cut into chunks, a text, a value (FEATURES F3, D48).

const MARK = Buffer.from(REDACTED);
/** From here a secret is found though it be spread over the parts of a list, a path or a host: shorter ones stand there by chance. */
const MIN_SPREAD = 8;
const BREAK = 10;
const RETURN = 13;

export interface Redactor {
	/** What can be passed on so far: all but a tail that may be the beginning of a secret. It may share the chunk's memory, and counts until the next. */
	push(chunk: Buffer): Buffer;
	/** The rest. */
	end(): Buffer;
}

/** What is already a mark stays one, so nothing changes when it is done twice. */
export interface Redaction {
	text(text: string): string;
	/** A name of a host, with a port or without: hosts are the same in upper and lower case. */
	host(name: string): string;
	/** A path of a file, also where folders divide the secret. */
	path(path: string): string;
	/** Plain data: every text and number in it, keys as well, and a list's texts also as one. What has none comes back as it is. */
	value<T>(value: T): T;
}

/**
 * Puts `REDACTED` in place of each secret: as it is, in base64 (also inside of longer base64), hexadecimal, percent
 * encoding, as JSON or quoted for a shell, with line breaks anywhere in it, and each of its lines from 8 characters. A
 * secret of fewer than 4 characters is not looked for: too much would be taken for it. One that is written in yet
 * another way (backwards, encrypted, one character a line with words between, with hidden characters) is not found: this
 * helps against accidents, not against a script that wants to give it away.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
	const patterns = patternsOf(secrets);
	if (patterns.length === 0) return { push: (chunk) => chunk, end: () => Buffer.alloc(0) };

	const matcher = createPatternMatcher(patterns, maxBreaks(secrets));
	let held: Buffer = Buffer.alloc(0);
	/** Where `held` begins in the stream; everything before has been passed on. */
	let done = 0;
	/** Was the last that was passed on a mark? Secrets that touch share one. */
	let isMarked = false;

	const release = (data: Buffer, until: number): Buffer => {
		const start = done;
		const out: Buffer[] = [];
		const pass = (to: number) => {
			if (to <= done) return;
			out.push(data.subarray(done - start, to - start));
			done = to;
			isMarked = false;
		};
		for (let found = matcher.next(until); found; found = matcher.next(until)) {
			pass(found.start);
			if (!isMarked) out.push(MARK);
			isMarked = true;
			done = Math.max(done, found.end);
		}
		pass(until);
		// A copy: the pool that a chunk is a slice of must not stay alive for it.
		held = Buffer.from(data.subarray(done - start));
		return out.length === 1 && out[0] ? out[0] : Buffer.concat(out);
	};

	return {
		push(chunk) {
			const data = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
			return release(data, matcher.scan(chunk));
		},
		end: () => release(held, done + held.length)
	};
}

/** The same for what is no stream, and with hidden characters in it as well. */
export function createRedaction(secrets: readonly string[]): Redaction {
	const patterns = patternsOf(secrets);
	if (patterns.length === 0) {
		const same = <T>(value: T): T => value;
		return { text: same, host: same, path: same, value: same };
	}
	const breaks = maxBreaks(secrets);
	const find = createFinder(patterns, breaks);
	/** Finds what this character divides as well. */
	const createDividedFinder = (divider: string, written: (pattern: Buffer) => Buffer) => {
		const undivided = patternsOf(secrets.map((secret) => secret.replaceAll(divider, '')));
		const long = undivided.filter(({ length }) => length >= MIN_SPREAD);
		const findWhole = createFinder(patterns.map(written), breaks);
		const findDivided = createFinder(long.map(written), breaks);
		return (text: string): Match[] => {
			const bytes = written(Buffer.from(text));
			return [
				...findWhole(bytes),
				...findDivided(bytes.map((byte) => (byte === divider.charCodeAt(0) ? BREAK : byte)))
			];
		};
	};
	const findInHost = once(() => createDividedFinder('.', toLowerCase));
	const findInPath = once(() => createDividedFinder('/', (bytes) => bytes));

	const text = alsoUnseen(outsideMarks((part) => mark(part, find(Buffer.from(part)))));
	/** Of texts in a row, what they are together as well. */
	const texts = (row: readonly string[]): string[] => {
		const single = row.map(text);
		const whole = Buffer.from(single.join('\n'));
		const spread = find(whole).filter(
			({ start, end }) => end - start > MIN_SPREAD && whole.subarray(start, end).includes(BREAK)
		);
		let next = 0;
		return single.map((part) => {
			const first = next;
			const last = first + Buffer.byteLength(part);
			next = last + 1;
			const own = spread.filter(({ start, end }) => start < last && end > first);
			return mark(
				part,
				own.map(({ start, end }) => ({ start: Math.max(start, first) - first, end: Math.min(end, last) - first }))
			);
		});
	};
	const value = (given: unknown): unknown => {
		if (typeof given === 'string') return text(given);
		if (typeof given === 'number') return text(String(given)) === String(given) ? given : text(String(given));
		if (typeof given !== 'object' || given === null) return given;
		if (Array.isArray(given)) return given.every((each) => typeof each === 'string') ? texts(given) : given.map(value);
		const keys = distinct(Object.keys(given).map(text));
		return Object.fromEntries(Object.values(given).map((each, index) => [keys[index], value(each)]));
	};
	return {
		text,
		host: alsoUnseen(outsideMarks((part) => mark(part, findInHost()(part)))),
		path: alsoUnseen(outsideMarks((part) => mark(part, findInPath()(part)))),
		value: value as Redaction['value']
	};
}

/** Each text once: what is the same without its secrets is counted. */
export function distinct(texts: readonly string[]): string[] {
	const seen = new Set<string>();
	return texts.map((text) => {
		let own = text;
		for (let count = 2; seen.has(own); count += 1) own = `${text} (${count})`;
		seen.add(own);
		return own;
	});
}

/** Models are sent texts without hidden characters: what these divide must not be put together by that. */
function alsoUnseen(redact: (text: string) => string): (text: string) => string {
	return (text) => {
		const marked = redact(text);
		const seen = withoutHidden(marked);
		const clean = redact(seen);
		return clean === seen ? marked : clean;
	};
}

function outsideMarks(work: (part: string) => string): (text: string) => string {
	return (text) => text.split(REDACTED).map(work).join(REDACTED);
}

/** Only the patterns that a text can have are compiled for it: for most there are none, and a long secret has thousands. */
function createFinder(patterns: readonly Buffer[], maxBreaks: number): (bytes: Uint8Array) => Match[] {
	const byStart = new Map<number, Buffer[]>();
	for (const pattern of patterns) {
		const start = pattern.readUInt32BE();
		byStart.set(start, [...(byStart.get(start) ?? []), pattern]);
	}
	return (bytes) => {
		const likely = new Set<Buffer[]>();
		let last = 0;
		for (const byte of bytes) {
			if (byte === BREAK || byte === RETURN) continue;
			last = ((last << 8) | byte) >>> 0;
			const found = byStart.get(last);
			if (found) likely.add(found);
		}
		if (likely.size === 0) return [];
		const matcher = createPatternMatcher([...likely].flat(), maxBreaks);
		matcher.scan(Buffer.from(bytes));
		const matches: Match[] = [];
		for (let match = matcher.next(Infinity); match; match = matcher.next(Infinity)) matches.push(match);
		return matches;
	};
}

/** A text with marks in place of these bytes of it; places that touch share one. */
function mark(text: string, places: readonly Match[]): string {
	if (places.length === 0) return text;
	const bytes = Buffer.from(text);
	const out: Buffer[] = [];
	let done = -1;
	for (const { start, end } of [...places].sort((a, b) => a.start - b.start)) {
		if (start > done) out.push(bytes.subarray(Math.max(done, 0), start), MARK);
		done = Math.max(done, end);
	}
	return Buffer.concat([...out, bytes.subarray(done)]).toString('utf8');
}

/** ASCII only, so that no byte moves. */
function toLowerCase(bytes: Buffer): Buffer {
	return Buffer.from(bytes.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte)));
}

function once<T>(make: () => T): () => T {
	let made: { value: T } | null = null;
	return () => (made ??= { value: make() }).value;
}

/** A line break of Windows is two; a secret may have empty lines. */
function maxBreaks(secrets: readonly string[]): number {
	const runs = secrets.flatMap((secret) => secret.match(/[\r\n]+/g) ?? []);
	return Math.max(2, ...runs.map((run) => run.length));
}
