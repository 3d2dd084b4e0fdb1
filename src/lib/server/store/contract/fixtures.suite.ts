/** Messages, runs and events for the store's suites. */
import type { Kysely } from 'kysely';
import { emptyAnswer, type Message } from '../../../shared/message.ts';
import type { RunPlace, RunStart } from '../chat/store-runs.ts';
import type { Database } from '../schema.ts';
import type { Store } from '../store.ts';

/** A store and the database under it. */
export interface Bench {
	db: Kysely<Database>;
	store: Store;
}

/** ISO time at this minute. */
export function at(minute: number): string {
	return new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
}

export function question(id: string, text = `text of ${id}`): Message {
	return {
		...emptyAnswer(id, '', at(1)),
		role: 'user',
		status: 'complete',
		runId: null,
		parts: [{ type: 'text', id, text }]
	};
}

export type QuestionStart = RunStart & { place: Extract<RunPlace, { kind: 'question' }> };

export function startOf(runId: string, { conversationId = 'c1', bootId = 'boot-1', now = at(10) } = {}): QuestionStart {
	return {
		run: { id: runId, model: 'm/x', bootId, task: `task of ${runId}` },
		conversation: { id: conversationId, title: `Title of ${conversationId}` },
		place: {
			kind: 'question',
			question: question(`${runId}-question`),
			answer: emptyAnswer(`${runId}-answer`, runId, now, `${runId}-question`)
		},
		now
	};
}

/** As the run of `startOf` adds them, without an event. */
export function addItems(store: Store, runId: string, items: unknown[]): Promise<ReadonlySet<string>> {
	const answer = { conversationId: 'c1', messageId: `${runId}-answer`, items };
	return store.runs.appendAll([{ runId, events: [], items: answer }]);
}

export function events(first: number, count: number): { seq: number; data: string }[] {
	return Array.from({ length: count }, (_, index) => ({
		seq: first + index,
		data: JSON.stringify({ type: 'TEXT_MESSAGE_CONTENT', messageId: 't', delta: `\0 ${first + index} \ud800` })
	}));
}

/** An answer with every kind of part. */
export function fullAnswer(id: string): Message {
	return {
		...emptyAnswer(id, 'r1', at(10)),
		parts: [
			{ type: 'reasoning', id: 'p1', text: 'hm', done: true },
			{ type: 'text', id: 'p2', text: '**bold** \0 \udfff' },
			{
				type: 'tool',
				id: 'p3',
				name: 'use_skill',
				arguments: '{"skill":"pdf"}',
				status: 'done',
				result: 'ok',
				loaded: { skill: 'pdf', description: 'd', path: '/skills/pdf/SKILL.md', tokens: 12 },
				execution: {
					skill: 'pdf',
					script: 'scripts/fill.py',
					args: ['--all'],
					sandbox: 'process',
					output: [{ stream: 'stderr', text: 'warn' }],
					exitCode: null,
					durationMs: 12.5,
					truncated: false,
					files: [{ path: 'out/a.pdf', bytes: 9 }],
					error: 'ExecutionTimeout'
				}
			},
			{ type: 'tool', id: 'p4', name: 'load_skill', arguments: '', status: 'preparing' }
		],
		files: ['in/a.pdf'],
		error: { code: 'timeout', message: 'It took too long.' },
		usage: { model: 'm/x', inputTokens: 1, outputTokens: 2, cost: 0.01, firstTextMs: 12 },
		retry: { attempt: 1, delayMs: 500, message: 'Again.' }
	};
}
