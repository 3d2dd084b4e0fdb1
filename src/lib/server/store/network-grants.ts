/** The domains that people let a skill reach (FEATURES D35). */
import type { Kysely } from 'kysely';
import type { Database } from './schema.ts';

export interface NetworkGrants {
	/** Sorted; none is a skill that may reach nothing. */
	list(skillId: string): Promise<string[]>;
	/** These, and no longer the others; what was granted before keeps its time. */
	replace(skillId: string, domains: readonly string[], now: string): Promise<void>;
}

export function createNetworkGrants(db: Kysely<Database>): NetworkGrants {
	return {
		async list(skillId) {
			const rows = await db.selectFrom('network_grants').select('domain').where('skill_id', '=', skillId).execute();
			return rows.map(({ domain }) => domain).sort();
		},

		async replace(skillId, domains, now) {
			const rows = [...new Set(domains)].map((domain) => ({ skill_id: skillId, domain, created_at: now }));
			await db.transaction().execute(async (transaction) => {
				let others = transaction.deleteFrom('network_grants').where('skill_id', '=', skillId);
				if (rows.length > 0) others = others.where('domain', 'not in', domains);
				await others.execute();
				if (rows.length === 0) return;
				await transaction
					.insertInto('network_grants')
					.values(rows)
					.onConflict((conflict) => conflict.columns(['skill_id', 'domain']).doNothing())
					.execute();
			});
		}
	};
}
