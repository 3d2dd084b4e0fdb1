/** Queries on a conversation's tree of messages, one branch of which is shown. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../schema.ts';

/** Part of a branch. */
export interface BranchPage {
	/** Oldest first. */
	ids: string[];
	hasEarlier: boolean;
}

/** The last message of the shown branch; null in an empty conversation. */
export async function headOf(db: Kysely<Database>, conversationId: string): Promise<string | null> {
	const row = await db
		.selectFrom('conversations')
		.select('head_id')
		.where('id', '=', conversationId)
		.executeTakeFirst();
	return row?.head_id ?? null;
}

/** The message `lastId` and its ancestors, at most `limit`. The cost depends on `limit`, not on the conversation. */
export async function pathTo(
	db: Kysely<Database>,
	conversationId: string,
	lastId: string,
	limit = 1_000_000_000
): Promise<BranchPage> {
	const { rows } = await sql<{ id: string }>`
		with recursive branch(id, parent_id, step) as (
			select id, parent_id, 1 from messages where conversation_id = ${conversationId} and id = ${lastId}
			union all
			select messages.id, messages.parent_id, branch.step + 1
			from branch join messages on messages.id = branch.parent_id and messages.conversation_id = ${conversationId}
			where branch.step <= cast(${limit} as integer)
		)
		select id from branch order by step`.execute(db);
	const ids = rows.slice(0, limit).map(({ id }) => id);
	return { ids: ids.reverse(), hasEarlier: rows.length > limit };
}

/** Follows the newest branch from `messageId` to its end. */
export async function leafOf(db: Kysely<Database>, conversationId: string, messageId: string): Promise<string> {
	const rows = await db
		.selectFrom('messages')
		.select(['id', 'parent_id'])
		.where('conversation_id', '=', conversationId)
		.where('parent_id', 'is not', null)
		.orderBy('position')
		.execute();
	const newest = new Map(rows.map(({ id, parent_id }) => [parent_id, id]));
	let leaf = messageId;
	for (let next = newest.get(leaf); next !== undefined; next = newest.get(leaf)) leaf = next;
	return leaf;
}

/** For each message with alternatives: the ids of all of them, itself included, oldest first. */
export async function alternativesOf(
	db: Kysely<Database>,
	conversationId: string,
	messages: readonly { id: string; parentId: string | null }[]
): Promise<Record<string, string[]>> {
	const parents = messages.flatMap(({ parentId }) => (parentId === null ? [] : [parentId]));
	const hasFirst = messages.some(({ parentId }) => parentId === null);
	const rows = await db
		.selectFrom('messages')
		.select(['id', 'parent_id'])
		.where('conversation_id', '=', conversationId)
		.where(({ eb, or }) =>
			or([
				...(parents.length > 0 ? [eb('parent_id', 'in', parents)] : []),
				...(hasFirst ? [eb('parent_id', 'is', null)] : [])
			])
		)
		.orderBy('position')
		.execute();
	const byParent = Map.groupBy(rows, ({ parent_id }) => parent_id);
	const alternatives: Record<string, string[]> = {};
	for (const { id, parentId } of messages) {
		const ids = (byParent.get(parentId) ?? []).map((row) => row.id);
		if (ids.length > 1) alternatives[id] = ids;
	}
	return alternatives;
}
