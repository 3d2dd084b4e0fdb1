/** Tells placeholders from literal text in one argument of a documented command. */
import { isDomain, isFileName, makeSlot } from './slots.ts';
import type { Slot, SlotOptions } from './slots.ts';

/** Literal text, or a placeholder within an argument. */
export type TemplatePart = string | Slot;

const FIXED_CAPITALS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'UTF-8', 'ASCII', 'UTF8', 'OK']);

/** A placeholder by its written name: `city`, `a|b`. */
export function namedSlot(name: string, options: SlotOptions = {}): Slot {
	const choices = name.includes('|')
		? name
				.split('|')
				.map((choice) => choice.trim())
				.filter((choice) => choice !== '')
		: [];
	return makeSlot(name, { ...options, choices });
}

/** An unquoted piece of an argument: `--channel=CHANNEL_ID`, `WxH`, `a|b`, `800`, `data.csv`, `send`. */
export function readLiteral(literal: string, isWhole: boolean): TemplatePart[] {
	const [, flag, value] = (isWhole ? /^(--?[A-Za-z][\w-]*=)(.+)$/.exec(literal) : null) ?? [];
	if (flag !== undefined && value !== undefined) return [flag, ...readLiteral(value, false)];
	if (literal.startsWith('-') && !/\d/.test(literal)) {
		const ways = literal.split('|');
		return [ways.find((way) => way.startsWith('--')) ?? ways[0] ?? literal];
	}

	const isRepeated = /(?:\.{3}|…)$/.test(literal);
	const word = literal.replace(/(?:\.{3}|…)$/, '');
	const product = /^([A-Z]{1,12})x([A-Z]{1,12})$/.exec(word);
	if (product?.[1] !== undefined && product[2] !== undefined) return [makeSlot(product[1]), 'x', makeSlot(product[2])];
	if (isPlaceholder(word)) {
		const isCode = word.length === 3 && makeSlot(word).kind === 'word';
		return [makeSlot(word, { isRepeated, example: isCode ? word : null })];
	}
	if (/^[\w.-]+(\|[\w.-]+)+$/.test(word)) return [namedSlot(word)];
	return [exampleSlot(word) ?? literal];
}

/** A literal that only shows what could stand there; null when it is meant as it stands. */
function exampleSlot(word: string): Slot | null {
	if (/^https?:\/\//i.test(word) || isDomain(word)) return makeSlot('URL', { example: word });
	if (/^\d+([.,]\d+)?$/.test(word)) return makeSlot('NUMBER', { example: word });
	if (/^path\/to\//.test(word) || (/\.[A-Za-z]\w*$/.test(word) && isFileName(word))) {
		const kind = /(^|\/)(out|output|result|dest|new)[\w-]*\.\w+$/i.test(word) ? 'output' : 'file';
		return makeSlot(kind.toUpperCase(), {
			example: word,
			kind,
			fallback: kind === 'output' ? (word.split('/').at(-1) ?? null) : null
		});
	}
	const hasShape = /\d/.test(word) && /^[\w#.:/@+-]+$/.test(word);
	return hasShape ? makeSlot('VALUE', { example: word, fallback: word, kind: 'word' }) : null;
}

/** A quoted argument: prose shows a text; placeholders in it, also within JSON, are filled in place. */
export function readQuoted(content: string): TemplatePart[] {
	if (isPlaceholder(content)) return [makeSlot(content)];
	const angle = /^<([^<>]{1,60})>$/.exec(content)?.[1] ?? /^\{([\w .-]{1,40})\}$/.exec(content)?.[1];
	if (angle !== undefined) return [namedSlot(angle)];
	if (/^[{[]/.test(content.trim())) return readJsonText(content);
	if (isFileName(content) || /^https?:\/\//.test(content) || /^\d+$/.test(content))
		return [exampleSlot(content) ?? content];
	return /\p{L}{2}/u.test(content) && !/[%$\\]/.test(content) ? [makeSlot('TEXT', { example: content })] : [content];
}

/** `{"text": "TEXT", "n": N}`: only values are placeholders. */
function readJsonText(content: string): TemplatePart[] {
	const pieces = content.split(/("(?:<[^<>"]{1,60}>|[A-Z][A-Z0-9_]{1,40})"|:\s*[A-Z][A-Z0-9_]{0,40}\b)/);
	return pieces.flatMap((piece, index): TemplatePart[] => {
		if (index % 2 === 0) return piece === '' ? [] : [piece];
		if (piece.startsWith('"')) return ['"', makeSlot(piece.replace(/["<>]/g, '')), '"'];
		return [':', makeSlot(piece.replace(/^:\s*/, ''))];
	});
}

/** Capitals alone, such as `FILE` or `CHANNEL_ID`; one letter alone is one too. */
function isPlaceholder(word: string): boolean {
	if (word.length > 60 || FIXED_CAPITALS.has(word) || !/^[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)*$/.test(word)) return false;
	return word.length === 1 || /[A-Z][^A-Z]*[A-Z]/.test(word);
}
