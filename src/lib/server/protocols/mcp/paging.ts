/** Pages of a sorted list, by a cursor that says after which entry to go on; pure. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/** `items` sorted by `keyOf`. An entry that is gone since does no harm. @throws ProtocolError for a cursor that is none */
export function pageOf<Item>(
	items: readonly Item[],
	keyOf: (item: Item) => string,
	{ cursor, size }: { cursor?: string | undefined; size: number }
): { page: Item[]; nextCursor?: string } {
	const after = cursor === undefined ? null : readCursor(cursor);
	const start = after === null ? 0 : firstAfter(items, (item) => keyOf(item) > after);
	const page = items.slice(start, start + size);
	const last = page.at(-1);
	if (last === undefined || start + size >= items.length) return { page };
	return { page, nextCursor: Buffer.from(keyOf(last)).toString('base64url') };
}

function firstAfter<Item>(items: readonly Item[], isAfter: (item: Item) => boolean): number {
	const found = items.findIndex(isAfter);
	return found === -1 ? items.length : found;
}

function readCursor(cursor: string): string {
	const text = Buffer.from(cursor, 'base64url');
	if (cursor.length <= 4096 && text.toString('base64url') === cursor) return text.toString();
	throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor is none of this server.');
}
