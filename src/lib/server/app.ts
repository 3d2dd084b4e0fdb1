/** The only place where parts are constructed and joined. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { createLog } from './log.ts';
import { createOfflineModel } from './models/offline.ts';
import { createResponsesModel } from './models/responses.ts';
import { createApprovalPolicy } from './runs/approval-policy.ts';
import { createConversationChanges, type ConversationChanges } from './runs/conversation-changes.ts';
import { createOutbox, type Outbox } from './runs/outbox.ts';
import { Runner } from './runs/runner.ts';
import { createWorkspaces, type Workspaces } from './runs/workspaces.ts';
import { createProcessSandbox } from './sandbox/process.ts';
import { createSkillsProvider, type SkillsProvider } from './skills/provider.ts';
import { openSqliteStore } from './store/sqlite.ts';
import type { Store } from './store/store.ts';

export interface App {
	config: Config;
	store: Store;
	skills: SkillsProvider;
	workspaces: Workspaces;
	runner: Runner;
	outbox: Outbox;
	changes: ConversationChanges;
	/** What answers, for people and `/api/health`. */
	model: { id: string; offline: boolean; baseUrl: string | null };
	/** Ends runs and streams, then closes the database. */
	close(): Promise<void>;
}

export async function createApp(config: Config): Promise<App> {
	await mkdir(config.dataDir, { recursive: true });
	const log = createLog();
	const store = await openSqliteStore(join(config.dataDir, 'app.sqlite'));
	const skills = await createSkillsProvider(config.skillsDirs, {
		timeout: config.skillsTimeoutMs,
		maxOutput: config.skillsMaxOutputBytes,
		env: config.skillsEnv,
		sandbox: createProcessSandbox(),
		watch: true
	});
	const workspaces = createWorkspaces(config.dataDir);
	const model = config.isOffline
		? createOfflineModel()
		: createResponsesModel({
				id: config.model,
				baseUrl: config.baseUrl,
				...(config.apiKey ? { apiKey: config.apiKey } : {})
			});
	const changes = createConversationChanges();
	const runner = new Runner({
		store,
		model,
		skills,
		workspaces,
		approvals: createApprovalPolicy(store, config.approvalMode),
		limits: config.limits,
		contextTokens: config.contextTokens,
		changes,
		log
	});
	const outbox = createOutbox({ store, runner, changes });
	await runner.recover();
	return {
		config,
		store,
		skills,
		workspaces,
		runner,
		outbox,
		changes,
		model: { id: model.id, offline: config.isOffline, baseUrl: config.isOffline ? null : config.baseUrl },
		async close() {
			await runner.close();
			await skills.close();
			await store.close();
		}
	};
}
