/** Names and extra fields of zip entries: one reading or none (SECURITY, archives; APPNOTE 4.5, Info-ZIP 0x7075). */
import { crc32 } from 'node:zlib';
import { refusal } from '../entry-names.ts';

const UNICODE_PATH = 0x7075;
const UNIX = 3;
const MACOS = 19;

/**
 * The name as text. `zip` on Linux and the Finder write UTF-8 without saying so; of other systems only ASCII is believed.
 * @throws AppError `invalid_input` with the entry named
 */
export function decodeName(raw: Buffer, { isUtf8, host }: { isUtf8: boolean; host: number }): string {
	if (raw.every((byte) => byte < 0x80)) return raw.toString('latin1');
	const text = isUtf8 || host === UNIX || host === MACOS ? utf8Of(raw) : null;
	if (text === null) {
		throw refusal(raw.toString('latin1'), 'its name is in an encoding other than UTF-8; pack it with UTF-8 names');
	}
	return text;
}

/**
 * Extra fields by their id.
 * @throws AppError `invalid_input` with the entry named, where they are damaged, one stands twice, or one has another name
 */
export function readExtraFields(extra: Buffer, rawName: Buffer, name: string): ReadonlyMap<number, Buffer> {
	const fields = new Map<number, Buffer>();
	let at = 0;
	while (at + 4 <= extra.length) {
		const id = extra.readUInt16LE(at);
		const end = at + 4 + extra.readUInt16LE(at + 2);
		if (end > extra.length) throw refusal(name, 'its extra fields are damaged');
		// Some packers pad with zeros.
		if (fields.has(id) && id !== 0) throw refusal(name, 'an extra field stands there twice');
		fields.set(id, extra.subarray(at + 4, end));
		at = end;
	}
	if (extra.subarray(at).some((byte) => byte !== 0)) throw refusal(name, 'its extra fields are damaged');
	const other = fields.get(UNICODE_PATH);
	if (other && !isSameName(other, rawName, name)) throw refusal(name, 'an extra field gives it another name');
	return fields;
}

function isSameName(field: Buffer, rawName: Buffer, name: string): boolean {
	return field.length >= 5 && field.readUInt32LE(1) === crc32(rawName) && utf8Of(field.subarray(5)) === name;
}

function utf8Of(bytes: Buffer): string | null {
	try {
		return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		// Not UTF-8: what the caller asks.
		return null;
	}
}
