/** Conversations as they are after months, as files that the app imports. */
import { emptyAnswer, type Message, type ToolPart } from '../src/lib/shared/message.ts';
import { FILE_FORMAT, FILE_VERSION, type ConversationFile } from '../src/lib/shared/message-schema.ts';
import { sampleText } from './ui-sample.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');

/** Questions and answers by turns, `count` messages together; the answers are as long as answers are. */
export function longConversation(count: number): ConversationFile {
	const messages: Message[] = [];
	for (let index = 0; index < count; index += 1) {
		const isQuestion = index % 2 === 0;
		const text = isQuestion ? `Question ${index / 2 + 1}` : sampleText('mixed', 1_500);
		messages.push({
			...emptyAnswer(`m${index}`, '', timeOf(index), index === 0 ? null : `m${index - 1}`),
			role: isQuestion ? 'user' : 'assistant',
			status: 'complete',
			parts: [{ type: 'text', id: `t${index}`, text }]
		});
	}
	return fileOf(`${count} messages`, messages);
}

/** One answer of `count` steps, each with a result of so many characters. */
export function manySteps(count: number, resultLength: number): ConversationFile {
	const result = 'a line of what a script has printed, 60 characters in all..\n'.repeat(
		Math.ceil(resultLength / 60) + 1
	);
	const parts = Array.from({ length: count }, (_, index): ToolPart => {
		const output = result.slice(0, Math.max(resultLength, 60));
		return {
			...{ type: 'tool', id: `call_${index}`, name: 'use_skill', status: 'done', result: output },
			arguments: JSON.stringify({ skill: 'count-words', script: 'count.py', args: [`file-${index}.txt`] }),
			execution: {
				...{ skill: 'count-words', script: 'count.py', args: [`file-${index}.txt`], sandbox: 'process', files: [] },
				...{ output: [{ stream: 'stdout', text: output }], exitCode: 0, durationMs: 120 }
			}
		};
	});
	const question: Message = {
		...emptyAnswer('q', '', timeOf(0)),
		...{ role: 'user', status: 'complete', parts: [{ type: 'text', id: 'qt', text: 'Do it' }] }
	};
	const answer: Message = {
		...emptyAnswer('a', '', timeOf(1), 'q'),
		...{ status: 'complete', parts: [...parts, { type: 'text', id: 'at', text: 'Done.' }] }
	};
	return fileOf(`${count} steps`, [question, answer]);
}

function fileOf(title: string, messages: Message[]): ConversationFile {
	return {
		...{ format: FILE_FORMAT, version: FILE_VERSION, title },
		...{ createdAt: timeOf(0), exportedAt: timeOf(messages.length), head: messages.at(-1)?.id ?? null },
		messages: messages.map(({ runId: _, ...message }) => message)
	};
}

function timeOf(index: number): string {
	return new Date(START + index * 60_000).toISOString();
}
