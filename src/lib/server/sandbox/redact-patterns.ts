/** The ways in which a secret is commonly written: what the redactor looks for (FEATURES F3). */

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
export function patternsOf(secrets: readonly string[]): Buffer[] {
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
