/** The only place where parts are constructed and joined; the skills' own are in `open-skills.ts`. */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../shared/settings.ts';
import { createApiKeys, type ApiKeys } from './access/api-keys.ts';
import { createLogin, type Login } from './access/login.ts';
import type { AgentLimits } from './agent/loop.ts';
import { createBuiltinSession } from './builtins/builtin-session.ts';
import { workspaceOf } from './builtins/workspace-path.ts';
import type { Config } from './config.ts';
import { createEvals, type Evals } from './evals/evals.ts';
import { createLog } from './log.ts';
import { createModels, type Models } from './models/models.ts';
import { openSkills, type SkillParts } from './open-skills.ts';
import { createA2A, type A2A } from './protocols/a2a/a2a.ts';
import type { AdHocParts } from './runs/ad-hoc.ts';
import { createConversationChanges, type ConversationChanges } from './runs/conversation-changes.ts';
import { openConversationTrash, type ConversationTrash } from './runs/conversation-trash.ts';
import { createOutbox, type Outbox } from './runs/outbox.ts';
import { Runner } from './runs/runner.ts';
import { createCases, type Cases } from './runs/skill-cases.ts';
import { createWorkspaces, type Workspaces } from './runs/workspaces.ts';
import { openSqliteStore } from './store/sqlite.ts';
import type { Store } from './store/store.ts';

export interface App extends SkillParts {
	config: Config;
	login: Login;
	/** Keys with which other programs use this server. */
	apiKeys: ApiKeys;
	store: Store;
	/** What running one thing without a model needs. */
	adHoc: AdHocParts;
	cases: Cases;
	evals: Evals;
	workspaces: Workspaces;
	runner: Runner;
	outbox: Outbox;
	conversationTrash: ConversationTrash;
	changes: ConversationChanges;
	/** Which model answers, now and for whom. */
	models: Models;
	/** The agent for other agents. */
	a2a: A2A;
	/** Ends runs and streams, then closes the database. */
	close(): Promise<void>;
}

export async function createApp(config: Config): Promise<App> {
	await mkdir(config.dataDir, { recursive: true });
	const log = createLog();
	const store = await openSqliteStore(join(config.dataDir, 'app.sqlite'));
	const { close: closeSkills, ...parts } = await openSkills(config, store, log);
	const { skills, builtins, approvals, modes, settings } = parts;
	const workspaces = createWorkspaces(config.dataDir);
	const models = createModels({ settings, ports: config.modelPorts });
	const limits = (): AgentLimits => ({ ...config.limits, ...settings.current().limits });
	const changes = createConversationChanges();
	const runner = new Runner({
		store,
		models,
		skills,
		workspaces,
		approvals,
		builtins: (offer) =>
			createBuiltinSession(builtins, {
				...offer,
				modeOf: modes.modeOf,
				approvals: config.approvalMode,
				limits: autoLimitsOf(settings.current())
			}),
		modes,
		limits,
		contextTokens: config.contextTokens,
		changes,
		log
	});
	const outbox = createOutbox({ store, runner, changes });
	await runner.recover();
	const conversationTrash = openConversationTrash({ store, runner, workspaces, changes, log });
	const adHoc: AdHocParts = {
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
	};
	const evals = await createEvals({
		...{ store, skills, modes, approvals, log },
		agent: () => ({
			model: models.modelFor({}),
			effort: models.effort(),
			isOffline: models.current().offline,
			limits: limits()
		}),
		isEnabled: () => settings.current().skillsEnabled,
		folder: join(config.dataDir, 'evals')
	});
	const apiKeys = createApiKeys(store.apiKeys);
	return {
		...parts,
		config,
		login: createLogin({ ...config, sessions: store.loginSessions, keys: apiKeys }),
		apiKeys,
		store,
		adHoc,
		cases: createCases({ store, modes, adHoc }),
		evals,
		workspaces,
		runner,
		outbox,
		conversationTrash,
		changes,
		models,
		a2a: createA2A({
			...{ store, runner, workspaces, changes, skills, modes, log },
			isEnabled: () => settings.current().skillsEnabled
		}),
		async close() {
			await Promise.all([runner.close(), conversationTrash.close(), evals.close()]);
			await closeSkills();
			await store.close();
		}
	};
}

function autoLimitsOf({ autoMaxSkills, autoMinScore }: Settings): { maxSkills: number; minScore: number } {
	return { maxSkills: autoMaxSkills, minScore: autoMinScore };
}
