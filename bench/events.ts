/** How many events a second go through loop, fold, log and database. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Model } from '../src/lib/server/agent/model.ts';
import { createLog } from '../src/lib/server/log.ts';
import { Runner } from '../src/lib/server/runs/runner.ts';
import { createWorkspaces } from '../src/lib/server/runs/workspaces.ts';
import { createSkillsProvider } from '../src/lib/server/skills/provider.ts';
import { openSqliteStore } from '../src/lib/server/store/sqlite.ts';
import { timed, type Row } from './measure.ts';

const DELTAS = 20_000;

const model: Model = {
	id: 'bench/deltas',
	async *stream() {
		for (let index = 0; index < DELTAS; index += 1) yield { type: 'text.delta', key: 't', delta: `word${index} ` };
		const content = [{ type: 'output_text', text: 'words' }];
		const items = [{ type: 'message', role: 'assistant', content }];
		yield { type: 'completed', items, usage: null, incompleteReason: null };
	}
};

export async function benchEvents(): Promise<Row> {
	const folder = await mkdtemp(join(tmpdir(), 'openrouter-skills-bench-'));
	const store = await openSqliteStore(join(folder, 'app.sqlite'));
	const skills = await createSkillsProvider([]);
	const workspaces = createWorkspaces(folder);
	const runner = new Runner({ store, model, skills, workspaces, maxSteps: 2, log: createLog() });
	try {
		const data: string[] = [];
		const ms = await timed(async () => {
			const message = { id: 'm', text: 'go', files: [] };
			await runner.start({ runId: 'r', conversationId: 'c', message, tools: [] });
			const batches = await runner.follow('r', 0, new AbortController().signal);
			for await (const batch of batches ?? []) data.push(...batch.map((event) => event.data));
		});
		if (data.length < DELTAS || !data.at(-1)?.includes('RUN_FINISHED'))
			throw new Error(`the run gave ${data.length} events and ended with ${data.at(-1)}`);
		const events = data.map((text) => JSON.parse(text) as unknown);
		const floor = await timed(() => events.map((event) => JSON.stringify(event)).join('\n').length);
		const rate = (duration: number): string => `${Math.round((events.length / duration) * 1000)} events/s`;
		return {
			name: `${DELTAS} text deltas through loop, log and SQLite to a follower`,
			value: rate(ms),
			floorName: '`JSON.stringify` of the same events',
			floor: rate(floor),
			ratio: ms / floor
		};
	} finally {
		await runner.close();
		await skills.close();
		await store.close();
		await rm(folder, { recursive: true, force: true });
	}
}
