/** Redacts secrets, in all the ways they are commonly written (F3). */
import { withoutHidden } from '../../../shared/characters.ts';
import { REDACTED } from '../sandbox.ts';
import { createPatternMatcher, type Match } from './pattern-matcher.ts';

/** Shorter texts occur by chance. */
const MIN_SECRET = 4;
/** Lines of a secret, and its lower-case form, are redacted from this length on: shorter ones may be words. */
const MIN_LINE = 8;
/** Longer secrets are searched in pieces, so that little output is held back; the overlap joins pieces in base64. */
const MAX_PIECE = 96;
const OVERLAP = 3;

/** All patterns of these secrets, without line breaks, which the matcher ignores. Secrets under 4 characters have none. */
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
	// The only form that can be encoded as bytes.
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

/** Plain, and as host name, JSON, URL and shell word. */
function textsOf(text: string): string[] {
	const json = JSON.stringify(text).slice(1, -1);
	const ascii = escaped(json, (code) => `\\u${code.toString(16).padStart(4, '0')}`);
	// Like Python's `ascii`.
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
		// Host names are written in lower case.
		...(text.length >= MIN_LINE ? [text.toLowerCase()] : []),
		json,
		ascii,
		escaped(json, (code) => `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`),
		python,
		// JSON inside JSON.
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

/** Escapes each non-ASCII UTF-16 unit. */
function escaped(text: string, escape: (code: number) => string): string {
	return text.replaceAll(/[^\0-\x7f]/g, (unit) => escape(unit.charCodeAt(0)));
}

function percentEncoded(text: string, kept: RegExp): string {
	return Array.from(Buffer.from(text), (byte) => {
		const character = String.fromCharCode(byte);
		return kept.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
	}).join('');
}

/** Hexadecimal, and the part of its base64 that doesn’t depend on surrounding bytes. */
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

// Redacts streams, texts and values (F3, D48).

const MARK = Buffer.from(REDACTED);
/** Minimum length of secrets spread over the parts of a list, path or host: shorter ones occur by chance. */
const MIN_SPREAD = 8;
const BREAK = 10;
const RETURN = 13;

export interface Redactor {
	/** Returns all output except a tail that may begin a secret. It may share the chunk’s memory and is valid until the next call. */
	push(chunk: Buffer): Buffer;
	end(): Buffer;
}

/** Idempotent: existing marks are kept. */
export interface Redaction {
	text(text: string): string;
	/** A host name with or without a port, ignoring case. */
	host(name: string): string;
	/** A file path, also if folders split the secret. */
	path(path: string): string;
	/** Plain data: all strings, numbers and keys, and the strings of a list joined. */
	value<T>(value: T): T;
}

/**
 * Replaces each secret by `REDACTED`: plain, in base64 (also inside longer base64), hexadecimal, percent encoding, JSON or
 * shell quoting, with line breaks anywhere, and each of its lines from 8 characters on. Ignores secrets under 4 characters,
 * which would match too much. Doesn’t find other forms (reversed, encrypted, spread out, with hidden characters): it
 * prevents accidents, not a script that wants to leak.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
	const patterns = patternsOf(secrets);
	if (patterns.length === 0) return { push: (chunk) => chunk, end: () => Buffer.alloc(0) };

	const matcher = createPatternMatcher(patterns, maxBreaks(secrets));
	let held: Buffer = Buffer.alloc(0);
	/** Stream offset of `held`. */
	let done = 0;
	/** Whether the output ends with a mark. Adjacent secrets share one. */
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
		// A copy, so that the chunk’s memory pool can be freed.
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

/** Redacts whole values, and also finds secrets with hidden characters in them. */
export function createRedaction(secrets: readonly string[]): Redaction {
	const patterns = patternsOf(secrets);
	if (patterns.length === 0) {
		const same = <T>(value: T): T => value;
		return { text: same, host: same, path: same, value: same };
	}
	const breaks = maxBreaks(secrets);
	const find = createFinder(patterns, breaks);
	/** Also finds secrets split by this character. */
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
	/** Redacts each text, and secrets spread over several. */
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

/** Numbers texts that are equal after redaction. */
export function distinct(texts: readonly string[]): string[] {
	const seen = new Set<string>();
	return texts.map((text) => {
		let own = text;
		for (let count = 2; seen.has(own); count += 1) own = `${text} (${count})`;
		seen.add(own);
		return own;
	});
}

/** Hidden characters are removed before a model sees a text, which must not reassemble a secret. */
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

/** Compiles only patterns whose start occurs in the text: usually none, while a long secret has thousands. */
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

/** Replaces these bytes by marks; adjacent ones share one. */
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

/** ASCII only, so that offsets stay the same. */
function toLowerCase(bytes: Buffer): Buffer {
	return Buffer.from(bytes.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte)));
}

function once<T>(make: () => T): () => T {
	let made: { value: T } | null = null;
	return () => (made ??= { value: make() }).value;
}

/** Windows line breaks count as 2; a secret may have empty lines. */
function maxBreaks(secrets: readonly string[]): number {
	const runs = secrets.flatMap((secret) => secret.match(/[\r\n]+/g) ?? []);
	return Math.max(2, ...runs.map((run) => run.length));
}
