/** The only place where parts are constructed and joined; the skills' own are in `open-skills.ts`. */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../shared/settings.ts';
import { createLogin, type Login } from './access/login.ts';
import { createBuiltinSession } from './builtins/builtin-session.ts';
import { workspaceOf } from './builtins/workspace-path.ts';
import type { Config } from './config.ts';
import { createEvals, type Evals } from './evals/evals.ts';
import { createLog } from './log.ts';
import { createOfflineModel } from './models/offline.ts';
import { createResponsesModel } from './models/responses.ts';
import { openSkills, type SkillParts } from './open-skills.ts';
import type { AdHocParts } from './runs/ad-hoc.ts';
import { createConversationChanges, type ConversationChanges } from './runs/conversation-changes.ts';
import { createOutbox, type Outbox } from './runs/outbox.ts';
import { Runner } from './runs/runner.ts';
import { createCases, type Cases } from './runs/skill-cases.ts';
import { createWorkspaces, type Workspaces } from './runs/workspaces.ts';
import { openSqliteStore } from './store/sqlite.ts';
import type { Store } from './store/store.ts';

export interface App extends SkillParts {
	config: Config;
	login: Login;
	store: Store;
	/** What running one thing without a model needs. */
	adHoc: AdHocParts;
	cases: Cases;
	evals: Evals;
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
	const { close: closeSkills, ...parts } = await openSkills(config, store, log);
	const { skills, builtins, approvals, modes, settings } = parts;
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
		approvals,
		builtins: (offer) =>
			createBuiltinSession(builtins, {
				...offer,
				modeOf: modes.modeOf,
				approvals: config.approvalMode,
				limits: autoLimitsOf(settings.current())
			}),
		modes,
		limits: config.limits,
		contextTokens: config.contextTokens,
		changes,
		log
	});
	const outbox = createOutbox({ store, runner, changes });
	await runner.recover();
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
		...{ store, model, skills, modes, approvals, log },
		isOffline: config.isOffline,
		isEnabled: () => settings.current().skillsEnabled,
		limits: config.limits,
		folder: join(config.dataDir, 'evals')
	});
	return {
		...parts,
		config,
		login: createLogin({ ...config, sessions: store.loginSessions }),
		store,
		adHoc,
		cases: createCases({ store, modes, adHoc }),
		evals,
		workspaces,
		runner,
		outbox,
		changes,
		model: { id: model.id, offline: config.isOffline, baseUrl: config.isOffline ? null : config.baseUrl },
		async close() {
			await Promise.all([runner.close(), evals.close()]);
			await closeSkills();
			await store.close();
		}
	};
}

function autoLimitsOf({ autoMaxSkills, autoMinScore }: Settings): { maxSkills: number; minScore: number } {
	return { maxSkills: autoMaxSkills, minScore: autoMinScore };
}
