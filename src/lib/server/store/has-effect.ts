/** Runs an update or a delete, and returns whether it affected any row. */
import type { DeleteResult, UpdateResult } from 'kysely';

export async function hasEffect(query: {
	executeTakeFirstOrThrow(): Promise<DeleteResult | UpdateResult>;
}): Promise<boolean> {
	const result = await query.executeTakeFirstOrThrow();
	return ('numDeletedRows' in result ? result.numDeletedRows : result.numUpdatedRows) > 0n;
}
