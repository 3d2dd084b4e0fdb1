import { expect, test } from 'vitest';
import { sampleDetail, sampleExecution } from '../../../../../tests/support/sample-skills.ts';
import { emptyAnswer, type Message } from '../../../shared/message.ts';
import { ApiError } from '../../request.ts';
import type { Client } from '../../server.ts';
import { clearWords, findAnswerEval, findFirstEval } from './first-eval.ts';

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

test.each([
	['Which of the two?\n\n*No script has run for this yet.*', 'the second', 'Count it\n\nthe second'],
	['Shall I leave out empty lines?', 'yes', 'Count it\n\nyes'],
	['Which one?\n\n1. **words**\n2. **lines**\n\n*No script has run for this yet.*', '2', 'Count it\n\nlines'],
	['It has 6 words.', 'Count the lines', 'Count the lines']
])('F16: a reply to a question back comes with what was asked first: %s', async (said, reply, prompt) => {
	const back = { ...emptyAnswer('b', 'r', ''), parts: [{ type: 'text' as const, id: 'y', text: said }] };
	const chat = [question('Count it', ['a.csv']), back, question(reply), answer('t c1')];
	const client = { ...clientOf({ c1: chat }), listFiles: async () => [] };
	expect((await findAnswerEval(client, skill, { chat: 'c1', call: 't c1' })).entry).toMatchObject({ prompt });
	// The skill doesn't have the file of the question.
	const first = reply === prompt ? { prompt } : null;
	expect(await findFirstEval(client, skill)).toEqual(first && expect.objectContaining(first));
});

test.each([
	['its first bold text', 'The total is **1,250 kr** of **3** rows.', '1,250 kr'],
	['no bold label', '**Total:**\n\nIt is 12 kr.', 'It is 12 kr.'],
	['its first short line', `${'Long words. '.repeat(9)}\n\nSix words.\n\nMore.`, 'Six words.'],
	['a line of a list, with its label', '# Count\n\n- **words**: 6\n- **lines**: 1', 'words: 6'],
	['nothing of tables, headings and code', '# Six\n\n| a |\n\n> b\n\n```\n**d**\n```\n', ''],
	['nothing of an open block of code', '```\n**d**\ne', ''],
	['nothing that a check couldn’t compare', 'Read [this](x)', '']
])('what stands out in an answer: %s', (_, said, expected) => {
	expect(clearWords(said)).toBe(expected);
});

test.each([
	['done', false, { contains: '6 words' }],
	['failed', true, { contains: '' }]
] as const)(
	'F16: an eval of an answer has what was answered; of a run that is %s',
	async (status, hasFailed, check) => {
		const said = 'It has **6 words**.';
		const execution = { skill: 'demo', script: 'scripts/x.sh', args: [], files: [] };
		const given: Message = {
			...{ ...emptyAnswer('a', 'r', ''), status: 'complete' },
			parts: [
				{ ...{ type: 'tool', id: 't', name: 'use_skill', arguments: '{}' }, status, execution } as never,
				{ type: 'text', id: 'y', text: said }
			]
		};
		const client = { ...clientOf({ c1: [question('Count it'), given] }), listFiles: async () => [] };
		const { entry, answer: told } = await findAnswerEval(client, skill, { chat: 'c1', call: 't' });
		expect(told).toEqual({ text: said, hasFailed });
		expect(entry).toMatchObject({ expectations: ['skillLoaded: demo', 'toolCalled: scripts/x.sh', check] });
	}
);
