import { expect, test } from 'vitest';
import { sampleDetail, sampleExecution } from '../../../../../tests/support/sample-skills.ts';
import { emptyAnswer, type Message } from '../../../shared/message.ts';
import { ApiError } from '../../request.ts';
import type { Client } from '../../server.ts';
import { findFirstEval } from './first-eval.ts';

const question = (text: string, files: string[] = []): Message => ({
	...emptyAnswer(text, 'r', ''),
	...{ role: 'user', runId: null, files, parts: [{ type: 'text', id: 'x', text }] }
});
const answer = (toolCallId: string): Message => ({
	...emptyAnswer(`a ${toolCallId}`, 'r', ''),
	parts: [{ type: 'tool', id: toolCallId, name: 'use_skill', arguments: '{}', status: 'done' }]
});
const skill = sampleDetail({ name: 'demo', example: null });

/** Chats by id; each has one run for each of its answers. */
function clientOf(chats: Record<string, Message[] | null>): Pick<Client, 'listExecutions' | 'getConversation'> {
	const data = Object.keys(chats).map((id) =>
		sampleExecution({ id: `e ${id}`, conversationId: id, toolCallId: `t ${id}`, script: 'scripts/x.sh' })
	);
	return {
		listExecutions: async () => ({ data, total: data.length, page: 1, limit: 20, totalPages: 1 }),
		getConversation: async (id) => {
			const messages = chats[id];
			if (!messages) throw new ApiError('not_found', 'It was deleted.');
			return { messages } as Awaited<ReturnType<Client['getConversation']>>;
		}
	};
}

test('F16: the first eval is from the last chat that used the skill: its question, and the script that ran', async () => {
	const client = clientOf({
		gone: null,
		files: [question('Read this', ['a.csv']), answer('t files')],
		c1: [question('Hello'), answer('other'), question('Count it'), answer('t c1')]
	});
	expect(await findFirstEval(client, skill)).toEqual({
		...{ from: 'chat', prompt: 'Count it', files: [] },
		expectations: ['skillLoaded: demo', 'toolCalled: scripts/x.sh']
	});
});

test('F16: the skill’s own example comes first; without either there is none', async () => {
	const client = clientOf({ c1: [question('Count it'), answer('t c1')] });
	const example = { title: 'Say', prompt: 'Say it', files: ['a.txt'] };
	expect(await findFirstEval(client, { ...skill, example })).toMatchObject({
		...{ from: 'example', prompt: 'Say it', files: ['examples/a.txt'] }
	});
	expect(await findFirstEval(clientOf({}), skill)).toBeNull();
});
