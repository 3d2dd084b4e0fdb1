/** Everything a run needs, for real: SQLite, skills on disk, workspaces, and a model played by a server on loopback. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '../../src/lib/server/log.ts';
import { createResponsesModel } from '../../src/lib/server/models/responses/responses.ts';
import { createExecutionRecorder } from '../../src/lib/server/skill-admin/executions.ts';
import { createApprovalPolicy, type ApprovalMode } from '../../src/lib/server/trust/approval-policy.ts';
import { createConversationChanges } from '../../src/lib/server/runs/conversation-changes.ts';
import { createOutbox } from '../../src/lib/server/conversations/conversations.ts';
import { type Replica, soleReplica } from '../../src/lib/server/replica.ts';
import { Runner } from '../../src/lib/server/runs/runner.ts';
import type { AgentLimits } from '../../src/lib/server/agent/loop.ts';
import type { RunRequest } from '../../src/lib/server/turns/run-request.ts';
import { createQuestions } from '../../src/lib/server/turns/questions.ts';
import type { BuiltinTools } from '../../src/lib/server/turns/toolbox.ts';
import { openSkillModes } from '../../src/lib/server/trust/skill-modes.ts';
import { createWorkspaces } from '../../src/lib/server/workspaces.ts';
import { createSkillsProvider } from '../../src/lib/server/skills/provider.ts';
import { openSqliteStore } from '../../src/lib/server/store/sqlite.ts';
import type { Store } from '../../src/lib/server/store/store.ts';
import type { RunEvent } from '../../src/lib/shared/events.ts';
import { emptyAnswer, foldEvent, type Message } from '../../src/lib/shared/message.ts';
import type { ModelRouting, Presets } from '../../src/lib/shared/models.ts';
import type { ReasoningEffort, WebTool } from '../../src/lib/shared/names.ts';
import { createTrust } from '../../src/lib/server/trust/trust.ts';
import { plainProcesses } from './plain-processes.ts';
import { type ModelServer, startModelServer, type Reply } from './model-server.ts';
import { putFiles } from './folder.ts';

export interface RigOptions {
	/** Files in the skills folder. */
	skills?: Record<string, string>;
	limits?: Partial<AgentLimits>;
	/** Model settings; can be changed while the rig is open. */
	set?: {
		model?: string;
		effort?: ReasoningEffort | null;
		instructions?: string;
		web?: WebTool[];
		routing?: ModelRouting;
		presets?: Presets;
	};
	approvals?: ApprovalMode;
	/** `ask`: skills need a review first. */
	trustLocal?: 'trust' | 'ask';
	/** Variables that a skill declares but nobody has set. */
	missingVariables?: () => Promise<string[]>;
	/** Gives the model server an address like OpenRouter's. */
	isOpenRouter?: boolean;
	/** Default: nothing is ever too long. */
	contextTokens?: number;
	/** The model server's list of models. */
	models?: Record<string, unknown>[];
	idleTimeoutMs?: number;
	/** The server's built-in skills, limited to `only` if set. */
	builtins?: (offer: { only?: readonly string[] | undefined }) => BuiltinTools;
	/** Number of skills described for a question. */
	maxSuggested?: () => number;
	/** Among other servers, whose data it shares; it's closed with the rig. Default: alone, with SQLite. */
	among?: { root: string; server: ModelServer; store: Store; replica: Replica };
	takeover?: 'go-on' | 'interrupt';
	/** Wraps the runner's store, so it can fail. */
	wrapStore?: (store: Store) => Store;
}

export type RunRig = Awaited<ReturnType<typeof createRunRig>>;

type Question = Extract<RunRequest, { kind: 'ask' }>;

/** One skill prints its input, one writes a line and waits, one fails. */
const DEMO_SKILL: Record<string, string> = {
	'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.',
	'demo/scripts/say.sh': 'echo "said: $*"; echo made > "made-$1.txt"\n',
	'demo/scripts/wait.sh': 'echo $$ > pid; echo waiting; exec sleep 600\n',
	'demo/scripts/fail.sh': 'echo broken >&2; exit 3\n'
};

/** `script`: the model's replies, one per request. */
export async function createRunRig(script: Reply[], options: RigOptions = {}) {
	const { among } = options;
	const root = among?.root ?? (await mkdtemp(join(tmpdir(), 'run-rig-')));
	await putFiles(join(root, 'skills'), options.skills ?? DEMO_SKILL);
	const server = among?.server ?? (await startModelServer(script, options.models ? { models: options.models } : {}));
	const database = among?.store ?? (await openSqliteStore(join(root, 'app.sqlite')));
	const replica = among?.replica ?? soleReplica();
	const store = options.wrapStore?.(database) ?? database;
	const skills = await createSkillsProvider(join(root, 'skills'), { sandbox: plainProcesses() });
	const workspaces = createWorkspaces(root);
	const logged: string[] = [];
	const log = createLog((line) => logged.push(line));
	const changes = createConversationChanges(replica);
	const modes = await openSkillModes(store);
	const trust = createTrust({
		store,
		roots: [join(root, 'skills')],
		installedRoot: join(root, 'installed'),
		trustsLocal: options.trustLocal !== 'ask'
	});
	const models = {
		modelFor: ({ id, routing }: { id?: string | null; routing?: ModelRouting | null }) =>
			createResponsesModel({
				id: id ?? options.set?.model ?? 'test/model',
				baseUrl: options.isOpenRouter ? server.url.replace('/v1', '/api/v1') : server.url,
				routing: { ...options.set?.routing, ...routing },
				backoffMs: 1,
				...(options.idleTimeoutMs ? { idleTimeoutMs: options.idleTimeoutMs } : {})
			}),
		effort: () => options.set?.effort ?? null
	};
	const questions = createQuestions();
	const createRunner = (): Runner => {
		// Another runner of the rig plays the next start of the server.
		const own = among ? replica : soleReplica();
		return new Runner({
			store,
			skills,
			workspaces,
			questions,
			models,
			modes,
			...(options.builtins ? { builtins: options.builtins } : {}),
			...(options.maxSuggested ? { maxSuggested: options.maxSuggested } : {}),
			trash: () => store.skillTrash.list(),
			approvals: createApprovalPolicy({
				store,
				trust,
				mode: options.approvals ?? 'auto',
				missingVariables: options.missingVariables ?? (async () => [])
			}),
			limits: () => ({
				...{ maxSteps: 10, maxCostUsd: null, maxDurationMs: 600_000, toolTimeoutMs: 60_000 },
				...options.limits
			}),
			chats: () => ({
				instructions: options.set?.instructions ?? '',
				web: options.set?.web ?? [],
				presets: options.set?.presets ?? {}
			}),
			contextTokens: options.contextTokens ?? 10_000_000,
			changes,
			log,
			replica: own,
			takeover: options.takeover,
			recorder: createExecutionRecorder(store, log, { bootId: own.id })
		});
	};
	const runner = createRunner();
	const outbox = createOutbox({ store, runner, changes, log });
	let count = 0;

	/** All events of a run, to its end. */
	const events = async (runId: string, after = 0, from = runner): Promise<{ seq: number; event: RunEvent }[]> => {
		const batches = await from.follow(runId, after, new AbortController().signal);
		if (!batches) throw new Error(`there is no run ${runId}`);
		const all: { seq: number; event: RunEvent }[] = [];
		for await (const batch of batches) {
			all.push(...batch.map(({ seq, data }) => ({ seq, event: JSON.parse(data) as RunEvent })));
		}
		return all;
	};
	const ask = (text: string, more: Partial<Question> = {}): Promise<{ runId: string; conversationId: string }> => {
		count += 1;
		const message = { id: `question-${count}`, text, files: [] };
		return runner.start({ kind: 'ask', runId: `run-${count}`, conversationId: 'c', message, tools: [], ...more });
	};
	return {
		root,
		server,
		store,
		/** The same database, not wrapped by `wrapStore`. */
		database,
		replica,
		models,
		skills,
		workspaces,
		trust,
		modes,
		runner,
		outbox,
		questions,
		changes,
		createRunner,
		log,
		logged,
		events,
		ask,
		/** Asks and waits for the end. */
		async run(text: string, more: Partial<Question> = {}) {
			const { runId } = await ask(text, more);
			const numbered = await events(runId);
			return { runId, numbered, list: numbered.map(({ event }) => event) };
		},
		/** A run's stored answer. */
		async answer(runId: string): Promise<Message> {
			const messages = await database.messages.list('c');
			const found = messages.find((message) => message.runId === runId && message.role === 'assistant');
			if (!found) throw new Error(`there is no answer of ${runId}`);
			return found;
		},
		/** The answer of a run in progress, built from the events in the database. */
		async written(runId: string): Promise<Message> {
			const stored = await database.runs.readEvents(runId, { after: 0, limit: 100_000 });
			return folded(
				await this.answer(runId),
				stored.map(({ data }) => JSON.parse(data) as RunEvent)
			);
		},
		async close() {
			await outbox.close();
			await runner.close();
			await skills.close();
			await replica.close();
			await database.close();
			if (among) return;
			await server.close();
			await rm(root, { recursive: true, force: true });
		}
	};
}

/** The message these events fold into, whatever was stored. */
export function folded(stored: Message, events: readonly RunEvent[]): Message {
	return events.reduce(foldEvent, emptyAnswer(stored.id, stored.runId ?? '', stored.createdAt, stored.parentId));
}
