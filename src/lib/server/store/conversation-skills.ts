/** What somebody has said of a skill in one conversation: pinned, or unloaded (FEATURES F7). */
import type { Kysely } from 'kysely';
import type { ConversationSkillsTable, Database } from './schema.ts';

/** Of a skill by its name; ISO 8601 since when. */
export interface ConversationSkillState {
	skill: string;
	state: ConversationSkillsTable['state'];
	changedAt: string;
}

export interface ConversationSkills {
	/** In the order in which it was said; empty as well for a conversation that is not there. */
	list(conversationId: string): Promise<ConversationSkillState[]>;
	/** The last word counts. False, with nothing written, when there is no such conversation, or it counts as deleted. */
	set(conversationId: string, skill: string, state: ConversationSkillState['state'], now: string): Promise<boolean>;
	/** Nothing is said of the skill any more. */
	remove(conversationId: string, skill: string): Promise<void>;
	/** To another conversation, which has said nothing of these skills. */
	copy(conversationId: string, toConversationId: string): Promise<void>;
}

export function createConversationSkills(db: Kysely<Database>): ConversationSkills {
	return {
		async list(conversationId) {
			const rows = await db
				.selectFrom('conversation_skills')
				.select(['skill', 'state', 'changed_at'])
				.where('conversation_id', '=', conversationId)
				.orderBy('changed_at')
				.orderBy('skill')
				.execute();
			return rows.map(({ skill, state, changed_at }) => ({ skill, state, changedAt: changed_at }));
		},

		set: (conversationId, skill, state, now) => setConversationSkill(db, { conversationId, skill, state, now }),

		async remove(conversationId, skill) {
			await db
				.deleteFrom('conversation_skills')
				.where('conversation_id', '=', conversationId)
				.where('skill', '=', skill)
				.execute();
		},

		async copy(conversationId, toConversationId) {
			const rows = await db
				.selectFrom('conversation_skills')
				.selectAll()
				.where('conversation_id', '=', conversationId)
				.execute();
			const copies = rows.map((row) => ({ ...row, conversation_id: toConversationId }));
			if (copies.length > 0) await db.insertInto('conversation_skills').values(copies).execute();
		}
	};
}

/** `set` on a connection or inside a transaction. A skill that is pinned already keeps its place. */
async function setConversationSkill(
	db: Kysely<Database>,
	{
		conversationId,
		skill,
		state,
		now
	}: Omit<ConversationSkillState, 'changedAt'> & { conversationId: string; now: string }
): Promise<boolean> {
	const written = await db
		.insertInto('conversation_skills')
		.columns(['conversation_id', 'skill', 'state', 'changed_at'])
		// In one statement with the look at the conversation, which may go at any moment.
		.expression((from) =>
			from
				.selectFrom('conversations')
				.select(({ val }) => ['id', val(skill).as('skill'), val(state).as('state'), val(now).as('changed_at')])
				.where('id', '=', conversationId)
				.where('deleted_at', 'is', null)
		)
		.onConflict((conflict) =>
			conflict.columns(['conversation_id', 'skill']).doUpdateSet(({ ref, eb }) => ({
				state,
				changed_at: eb
					.case()
					.when(eb.and([eb('conversation_skills.state', '=', 'pinned'), eb('excluded.state', '=', 'pinned')]))
					.then(ref('conversation_skills.changed_at'))
					.else(ref('excluded.changed_at'))
					.end()
			}))
		)
		.returning('skill')
		.executeTakeFirst();
	return written !== undefined;
}

/** Pins all of them, for the transaction that starts a run. */
export async function pinSkills(
	db: Kysely<Database>,
	conversationId: string,
	skills: readonly string[],
	now: string
): Promise<void> {
	for (const skill of new Set(skills)) await setConversationSkill(db, { conversationId, skill, state: 'pinned', now });
}
