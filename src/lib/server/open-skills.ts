/** Constructs the parts for skills, their isolation and their built-in tools; `app.ts` constructs the rest. */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isServerTool } from '../shared/names.ts';
import { endLeft, onOthersChange, type Replica } from './replica.ts';
import { type BuiltinCalls, createBuiltinCalls, createBuiltins } from './builtins/builtins.ts';
import type { Config } from './config.ts';
import type { FolderSender } from './file-storage/sent-folders.ts';
import type { StoredSkills } from './file-storage/stored-skills.ts';
import type { Installer } from './install/catalog-installer.ts';
import { recoverSwaps, SWAPS } from './install/folder-swap.ts';
import { type InstallPlaces, ownedRoots, ownFolders, renameOldEdits } from './install/install-context.ts';
import { createInstaller } from './install/installer.ts';
import { type Catalogs, createSources } from './install/sources/sources.ts';
import type { Log } from './log.ts';
import { createEnvironments } from './packages/environments.ts';
import { createPackages, type Packages } from './packages/packages.ts';
import { createInterpreters } from './skills/run/interpreters.ts';
import { skillIdOf } from './skills/run/execution-host.ts';
import { createNetworkAccess, type NetworkAccess } from './network/network-access.ts';
import { createSafeFetch } from './network/safe-fetch.ts';
import { openSandbox, openWorkersSandbox } from './open-sandbox.ts';
import { ownToolOf } from './protocols/mcp/definitions.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { openSettings, type RunningSettings } from './settings/settings.ts';
import { createExecutionRecorder } from './skill-admin/executions.ts';
import {
	createSkillRevisions,
	type InstallIndex,
	openInstallIndex,
	openSkillUsage,
	type SkillRevisions,
	type SkillUsageCounts
} from './skill-admin/skill-counts.ts';
import { type ChangeSkill, createSkillEdits, type SkillEdits } from './skill-admin/skill-edits.ts';
import { createSkillLister, type SkillLister } from './skill-admin/skill-list.ts';
import { siblingsOf } from './skills/needs/siblings.ts';
import { createSkillsProvider, type SkillsProvider } from './skills/provider.ts';
import { labelRoots } from './skills/read/folder-walk.ts';
import { viewOf } from './skills/registry/visibility.ts';
import type { ExecutionRecorder } from './skills/run/execution-host.ts';
import type { NativeHandler } from './skills/run/handlers.ts';
import type { Skill } from './skills/types.ts';
import { createSkillPlaces, LABEL, type SkillPlaces } from './store/skills/places.ts';
import type { Store } from './store/store.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import { type ApprovalPolicy, createApprovalPolicy } from './trust/approval-policy.ts';
import { createLookup, createPreflight, type Preflight } from './trust/preflight.ts';
import { openSkillModes, type StoredSkillModes } from './trust/skill-modes.ts';
import { createTrust, type Trust } from './trust/trust.ts';
import { createVault, keyFor, loadSecretsKey, type Vault } from './trust/vault.ts';
import type { WorkspaceRooms } from './workspace-rooms.ts';
import { isObject } from '../shared/json.ts';
import { JOB_KEY } from './workers/job.ts';
import type { ScriptCounts } from './store/script-jobs.ts';

export interface SkillParts {
	skills: SkillsProvider;
	builtins: BuiltinCalls;
	sandbox: Sandbox;
	/** What waits for workers and runs there; absent if scripts run on the servers. */
	scriptCounts?: (() => Promise<ScriptCounts>) | undefined;
	trust: Trust;
	approvals: ApprovalPolicy;
	modes: StoredSkillModes;
	revisions: SkillRevisions;
	vault: Vault;
	/** A 32-byte key of this server, derived for one purpose. */
	keyFor(purpose: string): Buffer;
	preflight: Preflight;
	packages: Packages;
	network: NetworkAccess;
	settings: RunningSettings;
	installs: InstallIndex;
	usage: SkillUsageCounts;
	lister: SkillLister;
	recorder: ExecutionRecorder;
	installer: Installer;
	edits: SkillEdits;
	/** Runs what changes the skill in this folder: other servers get what it has made of it. */
	changeSkill: ChangeSkill;
	catalogs: Catalogs;
}

const INSTALLED = 'installed';

/** The folders of skills. The label of installed ones is reserved, because secrets and grants are stored by it. */
const foldersOf = ({ skillsDirs, dataDir }: Config) =>
	skillsDirs.map((path) => (path === join(dataDir, 'skills') ? { path, source: INSTALLED, listsCopies: true } : path));

/** How rows name folders of skills. */
export const skillPlacesOf = (config: Config): SkillPlaces =>
	createSkillPlaces(config.dataDir, labelRoots(foldersOf(config)));

/** No tool of a skill has such a name. */
export const isServersTool = (name: string): boolean => isServerTool(name) || ownToolOf(name) !== undefined;

export async function openSkills(
	config: Config,
	store: Store,
	{
		log,
		rooms,
		replica,
		ownDir,
		places,
		skillPlaces,
		stored,
		sender,
		telemetry
	}: {
		log: Log;
		rooms: WorkspaceRooms;
		replica: Replica;
		ownDir: string;
		places: InstallPlaces;
		skillPlaces: SkillPlaces;
		stored: StoredSkills;
		/** null without a bucket and workers. */
		sender: FolderSender | null;
		telemetry: Pick<Telemetry, 'watchExecutions' | 'packagesInstalled'>;
	}
): Promise<SkillParts & { close(): Promise<void> }> {
	const { dataDir, execution, approvalMode, skillsEnv, model: id, baseUrl, apiKey, isOffline } = config;
	await endLeft(replica, (bootId) =>
		store.skillExecutions.endUnfinished('The server stopped while this was running.', new Date().toISOString(), bootId)
	);
	const usage = await openSkillUsage(store);
	const recorder = telemetry.watchExecutions(createExecutionRecorder(store, log, { usage, bootId: replica.id }));
	const installs = await openInstallIndex(
		store,
		labelRoots(foldersOf(config)).find(({ path }) => path === resolve('skills'))?.source
	);
	const secretsKey = await loadSecretsKey(dataDir, config.secretsKey);
	const box = execution.runsOnWorkers
		? await openWorkersSandbox(config, log, { store, replica, key: keyFor(secretsKey, JOB_KEY), sender })
		: await openSandbox(config, log, {
				...{ startId: replica.id, live: replica.live },
				// Each server on this machine looks: the one that noticed may be elsewhere.
				onGone: (sweep) => replica.hear('gone', sweep)
			});
	for (const note of box.notes) log.info({ sandbox: box.sandbox.name }, note);
	const vault = createVault({ store: store.secrets, key: secretsKey });
	const settings = await openSettings({
		store,
		vault,
		defaults: {
			...config.catalog,
			...execution,
			limits: { ...config.limits, scriptTimeoutMs: config.skillsTimeoutMs },
			autoTitles: config.autoTitles,
			model: { id, baseUrl, apiKey, isOffline }
		}
	});
	const network = createNetworkAccess({
		grants: store.networkGrants,
		ownDir,
		openReach: box.openReach,
		isEnabled: execution.network
	});
	const installedRoot = join(dataDir, 'skills');
	const isInstalled = (source: string) => source === INSTALLED || source.startsWith('key.');
	const modes = await openSkillModes(store, { isInstalled });
	const { placesOfTrust: roots, projectDir } = config;
	const trust = createTrust({
		store,
		roots,
		projectDir,
		installedRoot,
		trustsLocal: execution.trustsLocal,
		onRisks: () => revisions.note()
	});
	const interpreters = createInterpreters({ host: box.host, sandbox: box.host, path: process.env.PATH ?? '' });
	const packages: Packages = createPackages({
		store: store.skillPackages,
		environments: createEnvironments({
			...execution.packages,
			folder: join(dataDir, 'environments'),
			findPython: () => interpreters.python().catch(() => null),
			target: () => lookup.foreignPython(),
			environment: process.env,
			areElsewhere: sender !== null,
			onInstalled: telemetry.packagesInstalled,
			server: replica.isShared ? replica : undefined
		}),
		needsOf: (skill) => preflight.needsOf(skill),
		skillIds() {
			const { skills: ready, shadowed, broken } = skills.registry.snapshot();
			return [...ready, ...shadowed, ...broken].map(skillIdOf);
		},
		onChange: () => revisions.note(),
		exclusively: replica.exclusively,
		elsewhere: { store: store.shownWork, replica, log }
	});
	const owned = await ownedRoots(dataDir);
	await replica.exclusively(SWAPS, async () => {
		for (const path of [...config.skillsDirs, ...owned.map((root) => root.path)]) await recoverSwaps(path, log);
	});
	const skills = await createSkillsProvider([...foldersOf(config), ...owned], {
		handlers: await loadHandlers(execution.handlerModules),
		maxRetries: config.skillsMaxRetries,
		maxOutput: config.skillsMaxOutputBytes,
		env: skillsEnv,
		sandbox: box.sandbox,
		limits: execution.limits,
		maxScripts: execution.maxScripts,
		copies: { folder: join(ownDir, 'skill-copies'), maxBytes: execution.copiesBytes },
		host: {
			digestOf: trust.digestOf,
			secretsOf: vault.secretsOf,
			openNetwork: network.openNetwork,
			packagesOf: packages.packagesOf,
			// Not if the user wants to approve each run.
			async mayRunInline(skill) {
				if (!execution.runsInlineCommands || approvalMode !== 'auto') return null;
				const { state, digest } = await trust.judge(skill);
				return state === 'trusted' ? { digest } : null;
			},
			recorder
		},
		isEnabled: () => settings.current().skillsEnabled,
		isReserved: isServersTool,
		watch: true
	});
	const { skills: ready, shadowed, broken } = skills.registry.snapshot();
	await renameOldEdits(
		dataDir,
		places,
		[...ready, ...shadowed, ...broken].map(({ dir }) => dir)
	);
	settings.follow(({ limits }) => skills.setTimeout(limits.scriptTimeoutMs));
	const lookup = createLookup({ sandbox: box.sandbox, host: box.host, path: process.env.PATH ?? '' });
	const revisions = createSkillRevisions(skills.registry);
	// Skills may have been removed while the server was stopped.
	void packages.cleanUp().catch((error: unknown) => log.error({ error }, 'Unused packages couldn’t be removed'));
	const siblingsIn = (skill: Skill, beside: readonly string[]) => {
		const { library, off } = viewOf(skills.registry.snapshot(), { ...modes, owner: skill.owner });
		return siblingsOf(skill, { skills: library.skills, off, beside });
	};
	const preflight = createPreflight({
		vault,
		offered: skillsEnv,
		lookup,
		grantedHosts: network.granted,
		installed: packages.installed,
		siblingsOf: (skill) => siblingsIn(skill, [])
	});
	const builtins = createBuiltinCalls({
		builtins: createBuiltins({
			sandbox: box.sandbox,
			hostSandbox: box.host,
			limits: execution.limits,
			rooms,
			turns: skills.turns,
			settings: execution.builtins,
			network: execution.network,
			fetch: createSafeFetch(),
			operatorFetch: createSafeFetch({ isAllowed: () => true }),
			openNetwork: network.openPublic,
			sandboxOfImage: box.sandboxOfImage
		}),
		modeOf: modes.modeOf,
		isEnabled: () => settings.current().skillsEnabled,
		recorder,
		timeoutMs: execution.builtins.timeoutMs
	});
	const others = { replica, log };
	onOthersChange(others, ['settings', 'secrets'], settings.readAgain);
	onOthersChange(others, ['skillInstalls'], installs.readAgain);
	onOthersChange(others, ['skillExecutions'], usage.readAgain);
	onOthersChange(others, ['skillSettings', 'skillPins'], async () => {
		await modes.readAgain();
		revisions.note();
	});
	onOthersChange(others, ['trustedSkills', 'secrets', 'networkGrants', 'skillPackages'], () => revisions.note());
	// A watcher may not see what another machine writes.
	onOthersChange(others, ['skills'], async () => {
		await stored.bring();
		for (const root of await ownedRoots(dataDir)) await skills.registry.addRoot(root);
		await skills.registry.reload();
	});
	skills.registry.onFiles((dirs) => (stored.isStored ? stored.noticed(dirs) : replica.tell('table', ['skills'])));
	const catalogs = createSources({ ...config.catalog, skillsmpKey: settings.skillsmpApiKey });
	const installer = await createInstaller({
		dataDir,
		ownDir,
		skillPlaces,
		folders: stored,
		exclusively: replica.exclusively,
		modes,
		log,
		needsOf: preflight.needsOf,
		siblingsOf: siblingsIn,
		store: { ...store, skillInstalls: installs.records },
		registry: skills.registry,
		sources: catalogs
	});
	stored.onNews(installer.readAgain);
	return {
		skills,
		builtins,
		sandbox: box.sandbox,
		scriptCounts: box.scriptCounts,
		trust,
		approvals: createApprovalPolicy({
			store,
			trust,
			mode: approvalMode,
			missingVariables: preflight.missingVariables,
			async reachOf(skill) {
				const { files, network: isLimited } = box.sandbox.isolation;
				return { hosts: isLimited ? await network.reachable(skill) : null, readsServer: !files };
			}
		}),
		modes,
		revisions,
		vault,
		keyFor: (purpose) => keyFor(secretsKey, purpose),
		preflight,
		packages,
		network,
		settings,
		installs,
		usage,
		lister: createSkillLister({ skills, builtins, trust, modes, installs, usage }),
		recorder,
		installer,
		changeSkill: (dir, work) => {
			const folders = stored.isStored && !skillPlaces.toRow(dir).startsWith(LABEL) ? stored : ownFolders;
			return folders.change((touch) => {
				touch(dir);
				return work();
			});
		},
		edits: createSkillEdits(places.editsOf, {
			exclusively: replica.exclusively,
			async trustedIn(dir) {
				const { skills: inUse, shadowed } = skills.registry.snapshot();
				const skill = [...inUse, ...shadowed].find((each) => each.dir === dir);
				const judged = skill && (await trust.judge(skill));
				return judged?.state === 'trusted' ? judged.digest : null;
			}
		}),
		catalogs,
		async close() {
			await packages.close();
			await installer.close();
			await stored.close();
			await skills.close();
			await builtins.close();
			await box.close();
		}
	};
}

// The operator’s native handlers: functions exported by modules (SKILLS_HANDLERS; FEATURES D37).

type Blame = (error: unknown) => void;

/** Receives unhandled errors of the code running in it, across timers, promises and callbacks. */
const blamed = new AsyncLocalStorage<Blame>();

/** Loads every exported function by name, and the functions of a default export. @throws Error naming the module */
export async function loadHandlers(modules: readonly string[]): Promise<Record<string, NativeHandler>> {
	const handlers: Record<string, NativeHandler> = {};
	if (modules.length > 0) watchForStrayErrors();
	for (const path of modules) {
		const load = () => import(/* @vite-ignore */ pathToFileURL(path).href);
		const loaded = await blamed.run(warnOf(`The module ${path}`), load).catch((cause: unknown) => {
			const reason = cause instanceof Error ? cause.message : String(cause);
			throw new Error(`SKILLS_HANDLERS can’t be used: couldn’t load ${path}: ${reason}`, { cause });
		});
		const { default: main, ...named } = loaded as Record<string, unknown>;
		const found = Object.entries({ ...(isObject(main) ? main : {}), ...named }).filter(isHandler);
		if (found.length === 0) throw new Error(`SKILLS_HANDLERS can’t be used: ${path} exports no function.`);
		for (const [name, handler] of found) {
			if (Object.hasOwn(handlers, name)) {
				throw new Error(`SKILLS_HANDLERS can’t be used: two modules export a handler “${name}”.`);
			}
			handlers[name] = answerable(name, handler);
		}
	}
	return handlers;
}

/**
 * Wraps a handler so that its unhandled errors and rejections fail the call that caused them. After the call, they become
 * a warning in the server’s log.
 */
function answerable(name: string, handler: NativeHandler): NativeHandler {
	return (input, context) => {
		const failed = Promise.withResolvers<never>();
		const stop = new AbortController();
		let isOver = false;
		const warn = warnOf(`The handler “${name}”, after its call was over`);
		const blame: Blame = (error) => (isOver ? warn(error) : failed.reject(error));
		return blamed.run(blame, async () => {
			// Forwarded within this context, so that errors of the handler’s listeners belong to the call.
			const onAbort = AsyncResource.bind(() => {
				isOver = true;
				stop.abort(context.signal.reason);
			});
			context.signal.addEventListener('abort', onAbort, { once: true });
			try {
				return await Promise.race([handler(input, { ...context, signal: stop.signal }), failed.promise]);
			} finally {
				isOver = true;
				context.signal.removeEventListener('abort', onAbort);
			}
		});
	};
}

/** Warns outside the handler’s context, so that an error of the warning isn’t attributed to it. */
function warnOf(who: string): Blame {
	return (error) => {
		const reason = error instanceof Error ? error.stack : String(error);
		blamed.exit(() => process.emitWarning(`${who}: ${reason}`));
	};
}

/** Registers once per process. */
function watchForStrayErrors(): void {
	if (process.listeners('uncaughtException').includes(onStrayError)) return;
	process.on('uncaughtException', onStrayError);
	process.on('unhandledRejection', onStrayError);
}

/** Errors outside of handlers end the process, as usual. */
function onStrayError(error: unknown): void {
	const blame = blamed.getStore();
	if (!blame) throw error;
	blame(error);
}

function isHandler(entry: [string, unknown]): entry is [string, NativeHandler] {
	return typeof entry[1] === 'function';
}
