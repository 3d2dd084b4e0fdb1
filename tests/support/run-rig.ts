/** Everything that a run needs, real: SQLite, skills on disk, workspaces, and a model that a server on loopback plays. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createLog } from '../../src/lib/server/log.ts';
import { createResponsesModel } from '../../src/lib/server/models/responses.ts';
import { Runner, type RunRequest } from '../../src/lib/server/runs/runner.ts';
import { createWorkspaces } from '../../src/lib/server/runs/workspaces.ts';
import { createSkillsProvider } from '../../src/lib/server/skills/provider.ts';
import { openSqliteStore } from '../../src/lib/server/store/sqlite.ts';
import type { Store } from '../../src/lib/server/store/store.ts';
import type { RunEvent } from '../../src/lib/shared/events.ts';
import { emptyAnswer, foldEvent, type Message } from '../../src/lib/shared/message.ts';
import { startModelServer, type Reply } from './model-server.ts';

export interface RigOptions {
	/** Files below the folder of skills. */
	skills?: Record<string, string>;
	maxSteps?: number;
	idleTimeoutMs?: number;
	/** Stands between the runner and the store, to let it fail. */
	wrapStore?: (store: Store) => Store;
}

export type RunRig = Awaited<ReturnType<typeof createRunRig>>;

/** A skill that says what it is given, one that writes a line and then waits, one that fails. */
const DEMO_SKILL: Record<string, string> = {
	'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.',
	'demo/scripts/say.sh': 'echo "said: $*"; echo made > "made-$1.txt"\n',
	'demo/scripts/wait.sh': 'echo $$ > pid; echo waiting; exec sleep 600\n',
	'demo/scripts/fail.sh': 'echo broken >&2; exit 3\n'
};

/** `script` is what the model answers, request by request. */
export async function createRunRig(script: Reply[], options: RigOptions = {}) {
	const root = await mkdtemp(join(tmpdir(), 'run-rig-'));
	for (const [path, text] of Object.entries(options.skills ?? DEMO_SKILL)) {
		await mkdir(dirname(join(root, 'skills', path)), { recursive: true });
		await writeFile(join(root, 'skills', path), text);
	}
	const server = await startModelServer(script);
	const database = await openSqliteStore(join(root, 'app.sqlite'));
	const store = options.wrapStore?.(database) ?? database;
	const skills = await createSkillsProvider(join(root, 'skills'));
	const workspaces = createWorkspaces(root);
	const logged: string[] = [];
	const createRunner = (): Runner =>
		new Runner({
			store,
			skills,
			workspaces,
			model: createResponsesModel({
				id: 'test/model',
				baseUrl: server.url,
				backoffMs: 1,
				...(options.idleTimeoutMs ? { idleTimeoutMs: options.idleTimeoutMs } : {})
			}),
			maxSteps: options.maxSteps ?? 10,
			log: createLog((line) => logged.push(line))
		});
	const runner = createRunner();
	let count = 0;

	/** Every event of a run, to its end. */
	const events = async (runId: string, after = 0, from = runner): Promise<{ seq: number; event: RunEvent }[]> => {
		const batches = await from.follow(runId, after, new AbortController().signal);
		if (!batches) throw new Error(`there is no run ${runId}`);
		const all: { seq: number; event: RunEvent }[] = [];
		for await (const batch of batches) {
			all.push(...batch.map(({ seq, data }) => ({ seq, event: JSON.parse(data) as RunEvent })));
		}
		return all;
	};
	const ask = (text: string, more: Partial<RunRequest> = {}): Promise<{ runId: string; conversationId: string }> => {
		count += 1;
		const message = { id: `question-${count}`, text, files: [] };
		return runner.start({ runId: `run-${count}`, conversationId: 'c', message, tools: [], ...more });
	};
	return {
		root,
		server,
		store,
		/** The same database, without what `wrapStore` does. */
		database,
		skills,
		workspaces,
		runner,
		createRunner,
		logged,
		events,
		ask,
		/** Asks and waits for the end. */
		async run(text: string, more: Partial<RunRequest> = {}) {
			const { runId } = await ask(text, more);
			const numbered = await events(runId);
			return { runId, numbered, list: numbered.map(({ event }) => event) };
		},
		/** The stored answer of a run. */
		async answer(runId: string): Promise<Message> {
			const messages = await database.messages.list('c');
			const found = messages.find((message) => message.runId === runId && message.role === 'assistant');
			if (!found) throw new Error(`there is no answer of ${runId}`);
			return found;
		},
		async close() {
			await runner.close();
			await server.close();
			await skills.close();
			await database.close();
			await rm(root, { recursive: true, force: true });
		}
	};
}

/** The message that these events fold into, whatever was stored. */
export function folded(stored: Message, events: readonly RunEvent[]): Message {
	return events.reduce(foldEvent, emptyAnswer(stored.id, stored.runId ?? '', stored.createdAt));
}
