/** Constructs and connects all parts of the app; those for skills are in `open-skills.ts`. */
import { randomUUID } from 'node:crypto';
import { basename, join } from 'node:path';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { BUILT_IN_MODEL } from '../shared/names.ts';
import { announcing, onOthersChange, openReplica, type Replica, soleReplica } from './replica.ts';
import { createApiKeys, type ApiKeys } from './access/caller.ts';
import { createLogin, type Login } from './access/login.ts';
import type { AgentLimits } from './agent/loop.ts';
import { builtinQuestion, createBuiltinSession } from './builtins/builtins.ts';
import { workspaceOf } from './builtins/file-tools.ts';
import type { Config } from './config.ts';
import { claimFolder, openDataFolder, openOwnFolder, type DataFolder } from './data-folder.ts';
import { createDraftTool } from './drafts/draft-tool.ts';
import { createDrafts, type Drafts } from './drafts/drafts.ts';
import { withTexts } from './drafts/trials.ts';
import { createEvals, type Evals } from './evals/evals.ts';
import { requireBucket } from './file-storage/bucket.ts';
import { openStorage } from './file-storage/open-storage.ts';
import { storedChatTools, withStorage } from './file-storage/stored-workspaces.ts';
import { createDefinedTools, type DefinedTools } from './install/defined-tools.ts';
import { recoverSwaps, SWAPS } from './install/folder-swap.ts';
import { installPlaces, namesIn } from './install/install-context.ts';
import { createSkillRequests } from './install/skill-requests.ts';
import { createLog, type Log } from './log.ts';
import { openMcpServers, type McpServers } from './mcp-servers/mcp-servers.ts';
import { createRegistrySearch, type SearchRegistry } from './mcp-servers/registry.ts';
import { keepSignIns } from './models/keys.ts';
import { createModels, type Models } from './models/models.ts';
import { isServersTool, openSkills, skillPlacesOf, type SkillParts } from './open-skills.ts';
import { createA2A, type A2A } from './protocols/a2a/a2a.ts';
import { type Acp, createAcp } from './protocols/acp/acp.ts';
import { listenLocal, type LocalSocket } from './protocols/local-socket.ts';
import { createMcp, type Mcp } from './protocols/mcp/mcp.ts';
import { createConversationsApi, type ConversationsApi } from './protocols/responses/conversations-api.ts';
import { createFilesApi, type FilesApi } from './protocols/responses/files.ts';
import { createCompactionSeal } from './protocols/responses/sealed.ts';
import { createChatCompletions, type ChatCompletions } from './protocols/chat-completions/chat-completions.ts';
import { createResponsesApi, type ResponsesApi } from './protocols/responses/responses-api.ts';
import { createResponseSockets, type ResponseSockets } from './protocols/responses/sockets.ts';
import { type AdHocParts, type Cases, createCases } from './skill-admin/ad-hoc.ts';
import { createConversationChanges, type ConversationChanges } from './runs/conversation-changes.ts';
import { openConversationTrash, type ConversationTrash } from './conversations/conversation-trash.ts';
import { createQuestions, type Questions } from './turns/questions.ts';
import { joinTools } from './turns/toolbox.ts';
import { createTitles } from './conversations/titles.ts';
import { createOutbox, type Outbox } from './conversations/conversations.ts';
import { Runner } from './runs/runner.ts';
import type { TurnSetupParts } from './turns/turn-setup.ts';
import { createWorkspaces, goingWith, workspaceName, type Workspaces } from './workspaces.ts';
import { withSkillPlaces } from './store/skills/places.ts';
import { openSqliteStore } from './store/sqlite.ts';
import type { Store } from './store/store.ts';
import { createScopes } from './telemetry/scope.ts';
import { createReadiness, openTelemetry, type Telemetry, type Readiness } from './telemetry/telemetry.ts';
import { createWorkspaceRooms } from './workspace-rooms.ts';

export interface App extends SkillParts {
	config: Config;
	log: Log;
	telemetry: Telemetry;
	readiness: Readiness;
	/** Held until `close`. */
	dataFolder: DataFolder;
	login: Login;
	apiKeys: ApiKeys;
	store: Store;
	/** Runs a script or tool without a model. */
	adHoc: AdHocParts;
	cases: Cases;
	evals: Evals;
	/** Skills that people are making. */
	drafts: Drafts;
	workspaces: Workspaces;
	/** Tools that the agent defined in a conversation. */
	defined: DefinedTools;
	runner: Runner;
	outbox: Outbox;
	conversationTrash: ConversationTrash;
	changes: ConversationChanges;
	/** Open questions of tools. */
	questions: Questions;
	/** MCP servers whose tools the agent can use. */
	mcpServers: McpServers;
	searchMcpRegistry: SearchRegistry;
	models: Models;
	/** The agent for other agents. */
	a2a: A2A;
	/** The skills for MCP clients. */
	mcp: Mcp;
	/** The agent for editors. */
	acp: Acp;
	/** For `npm run mcp` and `npm run acp`; null if unavailable. */
	localSocket: LocalSocket | null;
	/** The agent for clients of the Responses API. */
	responses: ResponsesApi;
	/** What those clients upload. */
	files: FilesApi;
	/** What those clients call conversations; the page has others. */
	responseConversations: ConversationsApi;
	/** The same over WebSockets. */
	sockets: ResponseSockets;
	/** The same for clients of Chat Completions. */
	chatCompletions: ChatCompletions;
	close(): Promise<void>;
}

/** @throws DataFolderInUse before touching anything of the other server */
export async function createApp(config: Config): Promise<App> {
	const scopes = createScopes();
	const context = () => {
		const { requestId, runId, span } = scopes.current();
		return { requestId, runId, traceId: span?.traceId };
	};
	const log = createLog(undefined, { ...config.log, context });
	// With a bucket, each server has its own copy of the files.
	const isShared = config.database !== null && config.bucket === null;
	const dataFolder = openDataFolder(config.dataDir, log, { isShared });
	try {
		const about = { log, scopes, instance: randomUUID() };
		return await createParts(config, dataFolder, { log, telemetry: await openTelemetry(config.telemetry, about) });
	} catch (error) {
		dataFolder.close();
		throw error;
	}
}

/** SQLite for this server alone, or Postgres with others. */
async function openDatabase({ database, dataDir }: Config, log: Log): Promise<{ store: Store; replica: Replica }> {
	if (database === null) {
		claimFolder(dataDir, null);
		return { store: await openSqliteStore(join(dataDir, 'app.sqlite')), replica: soleReplica() };
	}
	const { connectPostgres, openPostgresStore } = await import('./store/postgres.ts');
	const { url, directUrl } = database;
	const store = await openPostgresStore(url, { directUrl, log });
	try {
		claimFolder(dataDir, await store.replicas.database());
		const connect = () => connectPostgres(directUrl, { startMs: 0, log });
		const replica = await openReplica({ connect, replicas: store.replicas, log });
		return { store: announcing(store, replica), replica };
	} catch (error) {
		await store.close();
		throw error;
	}
}

async function createParts(
	config: Config,
	dataFolder: DataFolder,
	{ log, telemetry }: { log: Log; telemetry: Telemetry }
): Promise<App> {
	if (config.bucket) await requireBucket(config.bucket, log);
	const { store: stored, replica } = await openDatabase(config, log);
	const skillPlaces = skillPlacesOf(config);
	const store = withSkillPlaces(stored, config.dataDir, skillPlaces);
	const places = installPlaces(config.dataDir, { skillPlaces });
	const rooms = createWorkspaceRooms(config.execution.limits);
	const own = await openOwnFolder(config.dataDir, replica, log);
	const { exclusively } = replica;
	const { storage, sender, storedSkills } = await openStorage(config, {
		...{ store: store.storedFiles, log, exclusively, editsOf: places.editsOf, replica },
		lockOf: store.skillPackages.lockOf,
		tellOfSkills: () => replica.tell('table', ['skills'])
	});
	const { close: closeSkills, ...parts } = await openSkills(config, store, {
		...{ log, rooms, replica, ownDir: own.dir, places, skillPlaces, stored: storedSkills, sender },
		telemetry
	});
	const { skills, builtins, approvals, modes, settings, scriptCounts } = parts;
	const isEnabled = () => settings.current().skillsEnabled;
	const chatTools = join(config.dataDir, 'chat-tools');
	await exclusively(SWAPS, async () => {
		for (const name of await namesIn(chatTools)) await recoverSwaps(join(chatTools, name), log);
	});
	const defined = createDefinedTools({
		...parts,
		store,
		registry: skills.registry,
		folderOf: (id) => join(chatTools, workspaceName(id)),
		...(storage && storedChatTools(storage)),
		isReserved: isServersTool,
		isEnabled: () => config.execution.definesTools && isEnabled(),
		exclusively,
		now: () => new Date().toISOString()
	});
	const local = createWorkspaces(config.dataDir, rooms, {
		...{ versionBytes: config.execution.limits.workspaceBytes, exclusively, log }
	});
	const workspaces = goingWith(storage ? withStorage(local, storage) : local, defined);
	const models = createModels({
		...{ settings, ports: config.modelPorts, speeds: () => store.runs.speeds() },
		...{ fetch: telemetry.fetch, watch: telemetry.watchModel },
		openSignIns: keepSignIns(parts.vault, exclusively)
	});
	const limits = (): AgentLimits => ({ ...config.limits, ...settings.current().limits });
	const changes = createConversationChanges(replica);
	const mcpServers = await openMcpServers({
		store,
		vault: parts.vault,
		dataDir: config.dataDir,
		recorder: parts.recorder,
		isEnabled,
		exclusively,
		maxOutputBytes: config.skillsMaxOutputBytes,
		timeoutMs: () => limits().toolTimeoutMs
	});
	onOthersChange({ replica, log }, ['mcpServers', 'secrets'], mcpServers.readAgain);
	const turns = {
		store,
		models,
		skills,
		workspaces,
		approvals,
		modes,
		limits,
		log,
		builtins: (offer: BuiltinOffer) =>
			joinTools([
				createBuiltinSession(builtins, {
					only: offer.only,
					modeOf: modes.modeOf,
					approvals: offer.asks ? 'ask' : config.approvalMode
				}),
				mcpServers.tools(offer)
			]),
		maxSuggested: () => settings.current().autoMaxSkills,
		trash: () => store.skillTrash.list(),
		recorder: parts.recorder,
		contextTokens: config.contextTokens,
		observer: telemetry.agent
	};
	const presets = () => settings.current().presets;
	const requests = createSkillRequests({
		...parts,
		registry: skills.registry,
		modeOf: modes.modeOf,
		settings: settings.current
	});
	const evals = await createEvals({
		store,
		skills,
		modes,
		approvals,
		log,
		agent: (id) => ({
			model: models.modelFor({ id }),
			effort: models.effort(),
			isOffline: models.current().offline,
			limits: limits()
		}),
		isEnabled,
		replica,
		atOnce: config.evalsAtOnce,
		folder: join(own.dir, 'evals'),
		observer: telemetry.agent
	});
	const drafts = await createDrafts({
		store,
		workspaces,
		installer: parts.installer,
		evals,
		approvals,
		exclusively,
		replica,
		folder: join(own.dir, 'evals'),
		editor: { ...parts, config },
		async modelOf(conversationId) {
			const choice = conversationId === null ? null : await store.runs.choiceOf(conversationId);
			const model = models.modelFor({ id: choice?.model, routing: choice?.routing });
			return model.id === BUILT_IN_MODEL ? null : model;
		},
		async secrets() {
			const known = Object.entries(config.skillsEnv);
			if (config.apiKey) known.push(['OPENROUTER_API_KEY', config.apiKey]);
			for (const skill of skills.registry.snapshot().skills) {
				// Two skills may have variables of one name.
				known.push(...Object.entries(await parts.vault.secretsOf(skill)));
			}
			return known;
		},
		log
	});
	const questions: Questions = createQuestions({
		replica,
		key: parts.keyFor('grants'),
		find: (conversationId, id) => runner.questionElsewhere(conversationId, id),
		handOver: (conversationId, id, reply) => runner.replyElsewhere(conversationId, id, reply)
	});
	const runner: Runner = new Runner({
		...turns,
		takeover: config.takeover,
		leases: telemetry.leases,
		replica,
		questions,
		// Only in a conversation, where a person can answer.
		builtins: async (offer: BuiltinOffer) =>
			joinTools([
				turns.builtins(offer),
				requests.tools(offer),
				createDraftTool(drafts, offer),
				await defined.tools(offer),
				...acp.tools(offer.conversationId)
			]),
		changes,
		chats: () => settings.current()
	});
	const folderOf = (apiKeyId: string | null, sessionId: string) =>
		basename(workspaceOf(config.dataDir, apiKeyId ? { apiKeyId } : { sessionId }));
	const files = createFilesApi({ store, workspaces, folderOf, log });
	const { responseBytes: storedBytes } = config;
	const responding = {
		...turns,
		storedBytes,
		models,
		presets,
		compactions: createCompactionSeal(parts.keyFor('compaction')),
		files,
		folderOf,
		replica
	};
	const responses = createResponsesApi(responding);
	const sockets = createResponseSockets(responses);
	runner.onReply(questions.onReply);
	const outbox = createOutbox({ store, runner, changes, log });
	const titles = createTitles({ ...turns, runner, changes, isEnabled: () => settings.current().autoTitles });
	await Promise.all([runner.recover(), responses.recover()]);
	const onPurged = telemetry.chatPurged;
	const conversationTrash = openConversationTrash({ store, runner, workspaces, changes, replica, log, onPurged });
	const adHoc: AdHocParts = {
		skills,
		store,
		modes,
		approvals,
		isEnabled,
		findBuiltin(name) {
			const builtin = builtins.find(name);
			if (!builtin) return null;
			return {
				name: builtin.name,
				// Unlike in a chat, no one may be watching, so every built-in skill needs approval.
				question: (input) =>
					config.approvalMode === 'auto' || builtin.unavailable() !== null ? null : builtinQuestion(builtin, input),
				call: (input, context) => builtins.call(builtin, input, context)
			};
		},
		async inWorkspace({ apiKeyId, sessionId, conversationId }, work) {
			const name = conversationId ?? folderOf(apiKeyId ?? null, sessionId ?? randomUUID());
			return workspaces.use(name, work);
		},
		withTexts: (of, use) => withTexts(join(own.dir, 'evals'), of, use)
	};
	const apiKeys = createApiKeys(store.apiKeys);
	const login = createLogin({ ...config, sessions: store.loginSessions, failures: store.loginFailures, keys: apiKeys });
	const mcp = createMcp({ ...parts, store, adHoc, log });
	const acp = createAcp({
		...turns,
		runner,
		changes,
		revisions: parts.revisions,
		approvalMode: config.approvalMode,
		connectServers: mcpServers.connect,
		removeConversation: conversationTrash.remove,
		isEnabled
	});
	const a2a = createA2A({
		...{ store, runner, workspaces, changes, skills, modes, log, isEnabled },
		isKeyNeeded: login.isNeeded,
		pushKey: parts.keyFor('a2a-push'),
		pushHosts: config.a2aPushHosts,
		replica
	});
	await a2a.resume();
	await replica.start();
	outbox.start();
	void storage?.catchUp();
	telemetry.measure({
		queuedMessages: () => store.queue.count(),
		evals: () => evals.answers,
		...(scriptCounts && { workers: scriptCounts })
	});
	const localSocket = await listenLocal(
		{
			mcp: (socket, onClosed) => mcp.serve(new StdioServerTransport(socket, socket), onClosed),
			acp: (socket, onClosed) => acp.serve(socket, socket, onClosed)
		},
		config.dataDir,
		replica
	);
	return {
		...parts,
		config,
		log,
		telemetry,
		readiness: createReadiness({ 'The database': () => store.queue.count() }),
		dataFolder,
		login,
		apiKeys,
		store,
		adHoc,
		cases: createCases({ store, modes, adHoc, workspaces, folderOf }),
		evals,
		drafts,
		workspaces,
		defined,
		runner,
		outbox,
		conversationTrash,
		changes,
		questions,
		mcpServers,
		searchMcpRegistry: createRegistrySearch(config.mcpRegistryUrl),
		models,
		a2a,
		responses,
		files,
		responseConversations: createConversationsApi(responding),
		sockets,
		chatCompletions: createChatCompletions({ responses, store, storedBytes, log }),
		mcp,
		acp,
		localSocket,
		async close() {
			await Promise.all([localSocket?.close(), mcp.close(), acp.close(), a2a.close(), outbox.close()]);
			await Promise.all([responses.close(), runner.close(), conversationTrash.close(), evals.close(), drafts.close()]);
			await titles.close();
			await sockets.close();
			await mcpServers.close();
			await closeSkills();
			await own.close();
			await storage?.close();
			await replica.close();
			await telemetry.close();
			await store.close();
			dataFolder.close();
		}
	};
}

type BuiltinOffer = Parameters<NonNullable<TurnSetupParts['builtins']>>[0];
