/** `kill -9` at a random moment of a run, and what the next process reports about that run. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RunState } from '../../src/lib/shared/api.ts';
import type { Message } from '../../src/lib/shared/message.ts';
import type { App } from './app-process.ts';
import {
	ask,
	follow,
	readConversation,
	readRun,
	type Followed,
	type Question,
	type SeenEvent
} from './crash-client.ts';
import { questionFor } from './crash-ledger.ts';

/** When to kill the process. */
export interface Moment {
	/** When the page has this event; 0 while the question is on its way. */
	seq: number;
	/** Plus this delay. */
	delayMs: number;
	/** Words the model says before it calls the script. */
	words: number;
}

/** What's known about a run whose process was killed. */
export interface Crash {
	id: string;
	moment: Moment;
	question: Question;
	/** Did the server accept the question, as far as the page knows? */
	isAcknowledged: boolean;
	/** What the page saw before the kill. */
	seen: SeenEvent[];
	killedAt: number;
	/** What the restarted server has. */
	after: Aftermath;
	/** What a page that reconnects where it left off receives. */
	resumed: Followed | null;
}

export interface Aftermath {
	health: number;
	run: RunState | null;
	replay: Followed | null;
	question: Message | null;
	answer: Message | null;
}

/** The same moments for the same seed, so a failing round can be repeated (mulberry32). */
export function* moments(seed: number): Generator<Moment, never> {
	let state = seed;
	const draw = (below: number): number => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
	};
	for (;;) {
		const words = 5 + draw(60);
		// About 40 events aren't words of the first text: the call, the script's lines, the second text.
		yield { words, seq: draw(words + 40), delayMs: draw(3) === 0 ? 0 : draw(100) };
	}
}

/** Asks, kills the server at this moment, restarts it, and reads what became of the run. */
export async function crash(app: App, id: string, conversationId: string, moment: Moment): Promise<Crash> {
	const text = questionFor(id, moment.words);
	const question = { runId: `run-${id}`, conversationId, messageId: `message-${id}`, text };
	const asking = ask(app.url, question).then(requireAccepted);
	// The answer may never come: the process gets killed first.
	const asked = asking.then(
		() => true,
		(error: unknown) => {
			if (moment.seq > 0 || !(error instanceof TypeError)) throw error;
			return false;
		}
	);
	let killedAt = 0;
	const kill = async (): Promise<void> => {
		await delay(moment.delayMs);
		killedAt = performance.now();
		await app.restart({ signal: 'SIGKILL' });
	};

	let seen: SeenEvent[] = [];
	if (moment.seq === 0) await Promise.all([kill(), asked]);
	else {
		await asked;
		const reached = Promise.withResolvers<void>();
		const following = follow(app.url, question.runId, {
			onEvent: ({ seq }) => {
				if (seq >= moment.seq) reached.resolve();
			}
		});
		// A short run may finish first.
		await Promise.race([reached.promise, following]);
		await kill();
		seen = (await following).events;
	}
	const last = seen.at(-1);
	return {
		id,
		moment,
		question,
		isAcknowledged: await asked,
		seen,
		killedAt,
		after: await readAftermath(app, question),
		resumed: last ? await follow(app.url, question.runId, { lastEventId: last.id }) : null
	};
}

/** What the server reports about a question and the run that answers it. */
export async function readAftermath(app: App, { runId, conversationId, messageId }: Question): Promise<Aftermath> {
	const run = await readRun(app.url, runId);
	const messages = (await readConversation(app.url, conversationId))?.messages ?? [];
	return {
		health: (await fetch(`${app.url}/api/health`)).status,
		run,
		replay: run ? await follow(app.url, runId) : null,
		question: messages.find((message) => message.id === messageId) ?? null,
		answer: messages.find((message) => message.role === 'assistant' && message.runId === runId) ?? null
	};
}

/** @throws if the server refused the question */
export async function requireAccepted(response: Response): Promise<void> {
	if (response.status !== 202)
		throw new Error(`The question was answered ${response.status}: ${await response.text()}`);
	await response.arrayBuffer();
}
