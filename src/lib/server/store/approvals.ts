/** What people decided about calls that had to be allowed, and what they allowed for good. */
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { ApprovalDecision } from '../../shared/events.ts';
import type { Database } from './schema.ts';

/** A script, or every script (`script` is empty), of a skill whose files have this digest. */
export interface Grant {
	skill: string;
	script: string;
	digest: string;
}

export interface Approvals {
	/** The first decision counts: true for the one that did. */
	decide(conversationId: string, interruptId: string, decision: ApprovalDecision, now: string): Promise<boolean>;
	/** By the ids of the questions; those that nobody has answered are left out. */
	decisions(conversationId: string, interruptIds: readonly string[]): Promise<Map<string, ApprovalDecision>>;
	grant(grant: Grant, now: string): Promise<void>;
	isGranted(grant: Grant): Promise<boolean>;
}

const decisionBody: z.ZodType<ApprovalDecision> = z.object({
	choice: z.enum(['once', 'script', 'skill', 'deny']),
	reason: z.string().optional()
});

export function createApprovals(db: Kysely<Database>): Approvals {
	return {
		async decide(conversationId, interruptId, decision, now) {
			const { numInsertedOrUpdatedRows } = await db
				.insertInto('decisions')
				.values({
					conversation_id: conversationId,
					interrupt_id: interruptId,
					body: JSON.stringify(decision),
					created_at: now
				})
				.onConflict((conflict) => conflict.columns(['conversation_id', 'interrupt_id']).doNothing())
				.executeTakeFirstOrThrow();
			return numInsertedOrUpdatedRows === 1n;
		},

		async decisions(conversationId, interruptIds) {
			if (interruptIds.length === 0) return new Map();
			const rows = await db
				.selectFrom('decisions')
				.select(['interrupt_id', 'body'])
				.where('conversation_id', '=', conversationId)
				.where('interrupt_id', 'in', interruptIds)
				.execute();
			return new Map(rows.map(({ interrupt_id, body }) => [interrupt_id, decisionBody.parse(JSON.parse(body))]));
		},

		async grant({ skill, script, digest }, now) {
			await db
				.insertInto('grants')
				.values({ skill, script, digest, created_at: now })
				.onConflict((conflict) => conflict.columns(['skill', 'script', 'digest']).doNothing())
				.execute();
		},

		async isGranted({ skill, script, digest }) {
			const row = await db
				.selectFrom('grants')
				.select('digest')
				.where('skill', '=', skill)
				.where('script', 'in', ['', script])
				.where('digest', '=', digest)
				.executeTakeFirst();
			return row !== undefined;
		}
	};
}
