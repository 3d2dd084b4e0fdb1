/** A whole run's events as a server sent them: it thinks, loads a skill, runs its script, answers. */

import type { RunEvent } from '../../src/lib/shared/events.ts';

export const RECORDED_ANSWER = 'The text has **4 words**.\n\n| what | count |\n| --- | ---: |\n| words | 4 |\n';

export const RECORDED_RUN: RunEvent[] = [
	{ type: 'RUN_STARTED', threadId: 't', runId: 'r' },
	{
		type: 'CUSTOM',
		name: 'skill.catalog',
		value: {
			skills: [{ name: 'count-words', description: 'Counts.', told: 'full', tokens: 12, points: 0, signals: [] }],
			total: 1,
			tokens: 20
		}
	},
	{ type: 'STEP_STARTED', stepName: '1' },
	{ type: 'REASONING_MESSAGE_START', messageId: 'th', role: 'reasoning' },
	{ type: 'REASONING_MESSAGE_CONTENT', messageId: 'th', delta: 'I should ' },
	{ type: 'REASONING_MESSAGE_CONTENT', messageId: 'th', delta: 'count.' },
	{ type: 'REASONING_MESSAGE_END', messageId: 'th' },
	{ type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' },
	{ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'Let me count.' },
	{ type: 'TEXT_MESSAGE_END', messageId: 'm1' },
	{ type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'load_skill' },
	{ type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{"skill":"count' },
	{ type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '-words"}' },
	{ type: 'TOOL_CALL_END', toolCallId: 'c1' },
	{ type: 'STEP_FINISHED', stepName: '1' },
	{
		type: 'CUSTOM',
		name: 'skill.loaded',
		value: {
			toolCallId: 'c1',
			skill: 'count-words',
			description: 'Counts the words of a text.',
			path: '/skills/count-words/SKILL.md',
			tokens: 210
		}
	},
	{ type: 'TOOL_CALL_RESULT', toolCallId: 'c1', messageId: 'r1', content: '# SECRET INSTRUCTIONS' },
	{ type: 'STEP_STARTED', stepName: '2' },
	{ type: 'TOOL_CALL_START', toolCallId: 'c2', toolCallName: 'use_skill' },
	{
		type: 'TOOL_CALL_ARGS',
		toolCallId: 'c2',
		delta: '{"skill":"count-words","script":"scripts/count.js","args":["a b c d"]}'
	},
	{ type: 'TOOL_CALL_END', toolCallId: 'c2' },
	{ type: 'STEP_FINISHED', stepName: '2' },
	{
		type: 'CUSTOM',
		name: 'skill.started',
		value: { toolCallId: 'c2', skill: 'count-words', script: 'scripts/count.js', args: ['a b c d'], sandbox: 'process' }
	},
	{ type: 'CUSTOM', name: 'skill.output', value: { toolCallId: 'c2', stream: 'stdout', text: 'words: ' } },
	{ type: 'CUSTOM', name: 'skill.output', value: { toolCallId: 'c2', stream: 'stdout', text: '4\n' } },
	{ type: 'CUSTOM', name: 'skill.output', value: { toolCallId: 'c2', stream: 'stderr', text: 'counted in 1 ms\n' } },
	{
		type: 'CUSTOM',
		name: 'skill.finished',
		value: {
			toolCallId: 'c2',
			skill: 'count-words',
			exitCode: 0,
			durationMs: 3210,
			truncated: false,
			files: [
				{ path: 'out/words.pdf', bytes: 1300 },
				{ path: 'words.csv', bytes: 20 }
			]
		}
	},
	{ type: 'TOOL_CALL_RESULT', toolCallId: 'c2', messageId: 'r2', content: '{"stdout":"words: 4"}' },
	{ type: 'STEP_STARTED', stepName: '3' },
	{ type: 'TEXT_MESSAGE_START', messageId: 'm2', role: 'assistant' },
	...RECORDED_ANSWER.match(/.{1,7}/gs)!.map((delta): RunEvent => ({
		type: 'TEXT_MESSAGE_CONTENT',
		messageId: 'm2',
		delta
	})),
	{ type: 'TEXT_MESSAGE_END', messageId: 'm2' },
	{ type: 'STEP_FINISHED', stepName: '3' },
	{
		type: 'CUSTOM',
		name: 'run.usage',
		value: { model: 'test/model', inputTokens: 1234, outputTokens: 56, cost: 0.0042 }
	},
	{ type: 'CUSTOM', name: 'run.title', value: { title: 'Counting words' } },
	{ type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
];
