/** Reading JSON that somebody else made: never throws, what does not fit is left out. */

/** A JSON object. */
export type Json = Record<string, unknown>;

export function asRecord(value: unknown): Json | null {
	return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

/** The objects of a list; none when it is no list. */
export function recordsIn(value: unknown): Json[] {
	return listOf(value).flatMap((entry) => {
		const record = asRecord(entry);
		return record ? [record] : [];
	});
}

export function listOf(value: unknown): unknown[] {
	return Array.isArray(value) ? (value as unknown[]) : [];
}

/** The names among some values. */
export function namesIn(values: readonly unknown[]): string[] {
	return values.filter((value) => typeof value === 'string');
}

/** `more` at the end of a text, a paragraph of its own; once only. */
export function withParagraph(text: string, more: string): string {
	if (text.includes(more)) return text;
	return text.trim() === '' ? more : `${text}\n\n${more}`;
}

/** Without what OpenAI's own client adds when it reads an answer: its server refuses it in a request. */
export function withoutParsed(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withoutParsed);
	const record = asRecord(value);
	if (!record) return value;
	const own = Object.entries(record).filter(([key]) => key !== 'parsed' && key !== 'parsed_arguments');
	return Object.fromEntries(own.map(([key, each]) => [key, withoutParsed(each)]));
}
