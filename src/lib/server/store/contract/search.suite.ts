/** Contract tests for a search, run on every database. */
import fc from 'fast-check';
import { type Kysely, type KyselyPlugin, sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyAnswer, type Message } from '../../../shared/message.ts';
import { type Conversations, createConversations } from '../chat/conversations.ts';
import { at, type Bench, events, fullAnswer, question, startOf } from './fixtures.suite.ts';
import type { Database } from '../schema.ts';
import type { Store } from '../store.ts';

export function testSearch(bench: () => Bench): void {
	describe('search', () => {
		let store: Store;
		let db: Kysely<Database>;
		beforeEach(() => {
			({ store, db } = bench());
		});

		test('finds what people and answers said: all words of one message, the last one begun, case and accents aside', async () => {
			await say('c1', 'Where is the café of Zoë?');
			await say('c2', 'The Café opens at nine');
			for (const query of ['cafe', 'CAFÉ', 'café zoe', 'zoë the caf', 'cafe, where "Zo"']) {
				expect(await found(query), query).toContain('c1');
			}
			expect(await found('cafe zoe')).toEqual(['c1']);
			expect(await found('cafe opens zoe')).toEqual([]);
			// Only the last word may be incomplete.
			expect(await found('caf zoe')).toEqual([]);
		});

		test('finds signs of scripts that have no spaces', async () => {
			await say('c1', '東京タワーはどこですか');
			expect(await found('東京')).toEqual(['c1']);
			expect(await found('東海')).toEqual([]);
		});

		test('says where: the newest message, with the places of the words', async () => {
			await say('c1', 'A lamp for the desk', 'and no light', 'the Lamp 💡 again, a lamp');
			const [hit] = (await store.conversations.list({ page: 1, limit: 10, query: 'lamp' })).data;
			if (!hit?.snippet) throw new Error('nothing was found');
			const { text, matches, messageId } = hit.snippet;
			expect(messageId).toBe('c1-2');
			expect(matches.map(([from, to]) => text.slice(from, to))).toEqual(['Lamp', 'lamp']);
		});

		test('says it in plain words: without marks, code, or the help that the page shows elsewhere', async () => {
			const failed =
				'`lamp.mjs` failed: [the lamp](https://a.io/x) is *broken*.\n\n```text\nGET https://a.io/lamp?x=1\n```\n\n**What to do**: Press **Allow a.io** in the step above.';
			await say('c1', failed);
			const textOf = async (query: string) =>
				(await store.conversations.list({ page: 1, limit: 10, query })).data[0]?.snippet?.text;
			expect(await textOf('lamp')).toBe('lamp.mjs failed: the lamp is *broken*.');
			// Where nothing else has the word, what does is shown.
			expect(await textOf('press')).toContain('Press Allow a.io');
		});

		test('a title is found by any part of it, with no snippet where nothing was said', async () => {
			await store.conversations.create({ id: 'c1', title: 'Über den Fluß', createdAt: at(1) });
			for (const query of ['uber', 'ÜBER DEN', 'en flu', 'r d']) expect(await found(query), query).toEqual(['c1']);
			expect((await store.conversations.list({ page: 1, limit: 10, query: 'uber' })).data[0]).not.toHaveProperty(
				'snippet'
			);
			await store.conversations.rename('c1', 'Bridges', at(2));
			expect([await found('uber'), await found('bridg')]).toEqual([[], ['c1']]);
		});

		test('a summary is found by any part of it, and a new title leaves it as it is', async () => {
			await store.conversations.create({
				id: 'c1',
				title: 'Bridges',
				summary: 'Compares Brücken in Graz.',
				createdAt: at(1)
			});
			await store.conversations.create({ id: 'c2', title: 'Other', createdAt: at(1) });
			await store.conversations.rename('c1', 'Mine', at(2));
			expect([await found('brucken IN'), await found('bridges')]).toEqual([['c1'], []]);
			const retitled = { from: 'Other', title: 'Bread', summary: 'Sourdough\0 in two days.', used: null };
			await store.conversations.retitle('c2', retitled);
			await store.conversations.retitle('c2', { ...retitled, title: 'Late', summary: '' });
			const { data } = await store.conversations.list({ page: 1, limit: 10, query: 'in' });
			expect(data.map(({ title, summary }) => [title, summary])).toEqual([
				['Mine', 'Compares Brücken in Graz.'],
				['Bread', 'Sourdough in two days.']
			]);
		});

		test('does not look at reasoning, calls and results of tools', async () => {
			await store.conversations.create({ id: 'c1', title: 't', createdAt: at(1) });
			await store.messages.append('c1', fullAnswer('m1'));
			for (const query of ['hm', 'pdf', 'warn', 'use_skill', 'timeout']) expect(await found(query), query).toEqual([]);
		});

		test('an answer is found once its run has ended, and a question at once', async () => {
			const start = startOf('r1');
			await store.runs.start(start);
			expect(await found('text of r1-question')).toEqual(['c1']);
			const answer = { ...start.place.answer, ...said('a', 'The blue whale') };
			await store.messages.update('c1', { ...answer, status: 'running' });
			expect(await found('whale')).toEqual([]);
			await store.runs.finish('r1', {
				...{ state: 'success', finishedAt: at(20), events: events(1, 1) },
				message: { conversationId: 'c1', message: { ...answer, id: start.place.answer.id, status: 'complete' } }
			});
			expect(await found('whale')).toEqual(['c1']);
		});

		test('follows what becomes of a message: written anew, copied, removed, its conversation removed', async () => {
			await say('c1', 'first apple', 'second pear');
			await store.messages.update('c1', { ...said('c1-1', 'second plum'), parentId: 'c1-0' });
			expect([await found('pear'), await found('plum')]).toEqual([[], ['c1']]);
			await store.conversations.create({ id: 'copy', title: 't', createdAt: at(5) });
			await store.messages.copy('c1', 'c1-0', 'copy');
			expect(await found('apple')).toEqual(['copy', 'c1']);
			expect(await found('plum')).toEqual(['c1']);
			await store.removedMessages.remove('c1', 'c1-0', at(9));
			expect([await found('apple'), await found('plum')]).toEqual([['copy'], []]);
			await store.conversations.remove('copy');
			expect(await found('apple')).toEqual([]);
			expect((await sql<{ n: number }>`select count(*) as n from search_entries`.execute(db)).rows).toMatchObject([
				{ n: expect.toSatisfy((n) => Number(n) === 0) }
			]);
		});

		test('one that is deleted is not found, and found again when it is restored; archived ones where they are asked for', async () => {
			await say('c1', 'a rare word');
			await store.conversations.markDeleted('c1', at(9));
			expect(await found('rare')).toEqual([]);
			await store.conversations.restore('c1');
			await store.conversations.change('c1', { isArchived: true }, at(9));
			expect(await found('rare')).toEqual([]);
			const archived = await store.conversations.list({ page: 1, limit: 10, query: 'rare', isArchived: true });
			expect(archived).toMatchObject({ total: 1, data: [{ id: 'c1', snippet: { matches: [[2, 6]] } }] });
		});

		test('any text is a query and never an error', async () => {
			await say('c1', 'NEAR and OR * "quoted" it’s 100%');
			const odd = [
				'NEAR(a b)',
				'"',
				'""',
				'*',
				'-',
				'a AND',
				'OR',
				'NOT x',
				"'",
				"it's:*",
				'{a}',
				'words:x',
				'^a',
				'\\'
			];
			for (const query of [...odd, '🎉', '\ud800', '\0', '%_!', '&|!()<->', 'x '.repeat(5000), 'x'.repeat(10_000)]) {
				await expect(found(query), query.slice(0, 20)).resolves.toBeInstanceOf(Array);
			}
			expect(await found('near "quoted" OR')).toEqual(['c1']);
			await fc.assert(
				fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 60 }), async (query) => {
					await found(query);
				}),
				{ numRuns: 100 }
			);
		});

		test('any message can be indexed, and is found by its first word', async () => {
			await store.conversations.create({ id: 'c1', title: 't', createdAt: at(1) });
			let count = 0;
			await fc.assert(
				fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (text) => {
					await store.messages.append('c1', said(`p${count++}`, `needle${count} ${text}`));
					expect(await found(`needle${count}`)).toEqual(['c1']);
				}),
				{ numRuns: 50 }
			);
			await store.messages.append(
				'c1',
				said('long', Array.from({ length: 200_000 }, (_, index) => `word${index}`).join(' '))
			);
			expect(await found('word1234 word77')).toEqual(['c1']);
		});

		test('2,000 conversations are searched without reading their messages one by one; pages and total are right', async () => {
			await db.transaction().execute(async (transaction) => {
				for (let index = 0; index < 2000; index++) {
					const id = `c${String(index).padStart(4, '0')}`;
					const row = { title: 't', created_at: at(1), updated_at: at(1) };
					await transaction
						.insertInto('conversations')
						.values({ id, ...row })
						.execute();
				}
			});
			for (const index of [3, 700, 1999]) {
				await store.messages.append(`c${String(index).padStart(4, '0')}`, said('m', 'a golden key'));
			}
			const statements: string[] = [];
			const counted = countStatements(db, statements);
			const page = await counted.list({ page: 1, limit: 2, query: 'golden' });
			expect(page.data.map(({ id }) => id)).toEqual(['c1999', 'c0700']);
			expect(page.total).toBe(3);
			expect(statements.length).toBeLessThanOrEqual(3);
			expect((await counted.list({ page: 2, limit: 2, query: 'golden' })).data.map(({ id }) => id)).toEqual(['c0003']);
		});

		async function say(conversationId: string, ...texts: string[]): Promise<void> {
			await store.conversations.create({ id: conversationId, title: 'Untitled', createdAt: at(1) });
			for (const [index, text] of texts.entries()) {
				await store.messages.append(conversationId, said(`${conversationId}-${index}`, text));
			}
		}

		async function found(query: string): Promise<string[]> {
			const { data, total } = await store.conversations.list({ page: 1, limit: 100, query });
			expect(total).toBe(data.length);
			return data.map(({ id }) => id);
		}
	});
}

function said(id: string, text: string): Message {
	return { ...emptyAnswer(id, '', at(1)), ...question(id, text), role: 'assistant' };
}

function countStatements(db: Kysely<Database>, statements: string[]): Conversations {
	const plugin: KyselyPlugin = {
		transformQuery: ({ node }) => {
			statements.push(node.kind);
			return node;
		},
		transformResult: async ({ result }) => result
	};
	return createConversations(db.withPlugin(plugin));
}
