/** The only place where parts are constructed and joined. */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogin, type Login } from './access/login.ts';
import { createBuiltinCalls, type BuiltinCalls } from './builtins/builtin-calls.ts';
import { createBuiltinSession } from './builtins/builtin-session.ts';
import { createBuiltins } from './builtins/builtins.ts';
import { workspaceOf } from './builtins/workspace-path.ts';
import type { Config } from './config.ts';
import { createLog } from './log.ts';
import { createOfflineModel } from './models/offline.ts';
import { createResponsesModel } from './models/responses.ts';
import { createNetworkAccess, type NetworkAccess } from './network/network-access.ts';
import { createSafeFetch } from './network/safe-fetch.ts';
import { openSandbox } from './open-sandbox.ts';
import type { AdHocParts } from './runs/ad-hoc.ts';
import { createApprovalPolicy } from './runs/approval-policy.ts';
import { createConversationChanges, type ConversationChanges } from './runs/conversation-changes.ts';
import { createExecutionRecorder } from './runs/execution-recorder.ts';
import { createOutbox, type Outbox } from './runs/outbox.ts';
import { Runner } from './runs/runner.ts';
import { openSkillModes, type SkillModes } from './runs/skill-modes.ts';
import { createWorkspaces, type Workspaces } from './runs/workspaces.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { loadSecretsKey } from './secrets/key.ts';
import { createLookup } from './secrets/lookup.ts';
import { createPreflight, type Preflight } from './secrets/preflight.ts';
import { createVault, type Vault } from './secrets/vault.ts';
import { createSkillsProvider, type SkillsProvider } from './skills/provider.ts';
import { openSqliteStore } from './store/sqlite.ts';
import type { Store } from './store/store.ts';
import { createTrust, type Trust } from './trust/trust.ts';

export interface App {
	config: Config;
	login: Login;
	store: Store;
	skills: SkillsProvider;
	trust: Trust;
	modes: SkillModes;
	vault: Vault;
	preflight: Preflight;
	network: NetworkAccess;
	builtins: BuiltinCalls;
	sandbox: Sandbox;
	/** What running one thing without a model needs. */
	adHoc: AdHocParts;
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
	const now = () => new Date().toISOString();
	await store.skillExecutions.endUnfinished('The server was stopped while this ran.', now());
	const { isEnabled, limits, network: gate } = config.execution;
	const box = await openSandbox(config, log);
	for (const note of box.notes) log.info({ sandbox: box.sandbox.name }, note);
	const vault = createVault({
		store: store.secrets,
		key: await loadSecretsKey(config.dataDir, config.secretsKey)
	});
	const network = createNetworkAccess({ grants: store.networkGrants, dataDir: config.dataDir, isEnabled: gate });
	const recorder = createExecutionRecorder(store, log);
	const installedRoot = join(config.dataDir, 'skills');
	// A name of its own, which no other folder's name takes: secrets and grants go by it.
	const roots = config.skillsDirs.map((path) => (path === installedRoot ? { path, source: 'installed' } : path));
	const trust = createTrust({
		store,
		roots: config.skillsDirs,
		installedRoot,
		trustsLocal: config.execution.trustsLocal
	});
	const skills = await createSkillsProvider(roots, {
		timeout: config.skillsTimeoutMs,
		maxOutput: config.skillsMaxOutputBytes,
		env: config.skillsEnv,
		sandbox: box.sandbox,
		limits,
		host: {
			secretsOf: vault.secretsOf,
			openNetwork: network.openNetwork,
			// Where somebody wants to be asked, nothing runs by the way.
			mayRunInline: async (skill) =>
				config.execution.runsInlineCommands &&
				config.approvalMode === 'auto' &&
				(await trust.judge(skill)).state === 'trusted',
			recorder
		},
		isEnabled: () => isEnabled,
		watch: true
	});
	const lookup = createLookup({ sandbox: box.sandbox, host: box.host, path: process.env.PATH ?? '' });
	const preflight = createPreflight({ vault, offered: config.skillsEnv, lookup });
	const modes = await openSkillModes(store);
	const workspaces = createWorkspaces(config.dataDir);
	const model = config.isOffline
		? createOfflineModel()
		: createResponsesModel({
				id: config.model,
				baseUrl: config.baseUrl,
				...(config.apiKey ? { apiKey: config.apiKey } : {})
			});
	const approvals = createApprovalPolicy({
		store,
		trust,
		mode: config.approvalMode,
		missingVariables: preflight.missingVariables
	});
	const builtins = createBuiltinCalls({
		builtins: createBuiltins({
			sandbox: box.sandbox,
			hostSandbox: box.host,
			limits,
			settings: config.execution.builtins,
			network: gate,
			fetch: createSafeFetch(),
			operatorFetch: createSafeFetch({ isAllowed: () => true }),
			openNetwork: network.openPublic,
			...(box.sandboxOfImage ? { sandboxOfImage: box.sandboxOfImage } : {})
		}),
		modeOf: modes.modeOf,
		isEnabled: () => isEnabled,
		recorder,
		timeoutMs: config.execution.builtins.timeoutMs
	});
	const changes = createConversationChanges();
	const runner = new Runner({
		store,
		model,
		skills,
		workspaces,
		approvals,
		builtins: (offer) =>
			createBuiltinSession(builtins, { ...offer, modeOf: modes.modeOf, approvals: config.approvalMode }),
		modes,
		limits: config.limits,
		contextTokens: config.contextTokens,
		changes,
		log
	});
	const outbox = createOutbox({ store, runner, changes });
	await runner.recover();
	return {
		config,
		login: createLogin({ ...config, sessions: store.loginSessions }),
		store,
		skills,
		trust,
		modes,
		vault,
		preflight,
		network,
		builtins,
		sandbox: box.sandbox,
		adHoc: {
			skills,
			store,
			modes,
			approvals,
			findBuiltin(name) {
				const builtin = builtins.find(name);
				return builtin && { name: builtin.name, call: (input, context) => builtins.call(builtin, input, context) };
			},
			workspaceOf: (apiKeyId, sessionId) =>
				workspaceOf(config.dataDir, apiKeyId ? { apiKeyId } : { sessionId: sessionId ?? randomUUID() })
		},
		workspaces,
		runner,
		outbox,
		changes,
		model: { id: model.id, offline: config.isOffline, baseUrl: config.isOffline ? null : config.baseUrl },
		async close() {
			await runner.close();
			await skills.close();
			await builtins.close();
			await box.close();
			await store.close();
		}
	};
}
