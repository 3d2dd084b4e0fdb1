/** The skills and all that stands between them and this machine; with `app.ts`, where parts are constructed and joined. */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isServerTool } from '../shared/names.ts';
import { type BuiltinCalls, createBuiltinCalls } from './builtins/builtin-calls.ts';
import { createBuiltins } from './builtins/builtins.ts';
import type { Config } from './config.ts';
import type { Installer } from './install/catalog-installer.ts';
import { ownedRoots } from './install/install-context.ts';
import { createInstaller } from './install/installer.ts';
import { type Catalogs, createCatalogs, createSources } from './install/sources/catalog-sources.ts';
import type { Log } from './log.ts';
import { createNetworkAccess, type NetworkAccess } from './network/network-access.ts';
import { createSafeFetch } from './network/safe-fetch.ts';
import { ownToolOf } from './protocols/mcp/definitions.ts';
import { createBubblewrapSandbox } from './sandbox/bubblewrap.ts';
import { allowedImages, type ContainerImages, normalizeImage } from './sandbox/container-arguments.ts';
import { type ContainerRuntime, findContainerRuntime, sweepContainers } from './sandbox/container-runtime.ts';
import { createContainerSandbox } from './sandbox/container.ts';
import { detectSandbox } from './sandbox/detect.ts';
import { createSpawner } from './sandbox/launch/spawner.ts';
import { createProcessSandbox } from './sandbox/process.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { ownerOf, sweepLeftovers } from './sandbox/workspace.ts';
import { type ModelDefaults, openSettings, type RunningSettings } from './settings/settings.ts';
import { createExecutionRecorder } from './skill-admin/executions.ts';
import {
	createSkillRevisions,
	type InstallIndex,
	openInstallIndex,
	openSkillUsage,
	type SkillRevisions,
	type SkillUsageCounts
} from './skill-admin/skill-counts.ts';
import { createSkillLister, type SkillLister } from './skill-admin/skill-list.ts';
import { createSkillsProvider, type SkillsProvider } from './skills/provider.ts';
import type { ExecutionRecorder } from './skills/run/execution-host.ts';
import type { NativeHandler } from './skills/run/handlers.ts';
import type { SkillRoot } from './skills/types.ts';
import type { Store } from './store/store.ts';
import { type ApprovalPolicy, createApprovalPolicy } from './trust/approval-policy.ts';
import { createLookup, createPreflight, type Preflight } from './trust/preflight.ts';
import { openSkillModes, type StoredSkillModes } from './trust/skill-modes.ts';
import { createTrust, type Trust } from './trust/trust.ts';
import { createVault, keyFor, loadSecretsKey, type Vault } from './trust/vault.ts';
import type { WorkspaceRooms } from './workspace-rooms.ts';
import { isObject } from '../shared/json.ts';

export interface SkillParts {
	skills: SkillsProvider;
	builtins: BuiltinCalls;
	sandbox: Sandbox;
	trust: Trust;
	approvals: ApprovalPolicy;
	modes: StoredSkillModes;
	revisions: SkillRevisions;
	vault: Vault;
	/** A key of 32 bytes that is this server's own, and good for this purpose alone. */
	keyFor(purpose: string): Buffer;
	preflight: Preflight;
	network: NetworkAccess;
	settings: RunningSettings;
	installs: InstallIndex;
	usage: SkillUsageCounts;
	lister: SkillLister;
	/** Writes down whatever is executed. */
	recorder: ExecutionRecorder;
	installer: Installer;
	catalogs: Catalogs;
}

/** Label of the folder that skills are installed into. */
const INSTALLED = 'installed';

/** `close` ends what runs and what waits. */
export async function openSkills(
	config: Config,
	store: Store,
	{ log, rooms }: { log: Log; rooms: WorkspaceRooms }
): Promise<SkillParts & { close(): Promise<void> }> {
	const { dataDir, execution, approvalMode, skillsEnv } = config;
	await store.skillExecutions.endUnfinished('The server stopped while this was running.', new Date().toISOString());
	const usage = await openSkillUsage(store);
	const recorder = createExecutionRecorder(store, log, usage);
	const installs = await openInstallIndex(store);
	const box = await openSandbox(config, log);
	for (const note of box.notes) log.info({ sandbox: box.sandbox.name }, note);
	const secretsKey = await loadSecretsKey(dataDir, config.secretsKey);
	const vault = createVault({ store: store.secrets, key: secretsKey });
	const settings = await openSettings({
		store,
		vault,
		defaults: { ...config.catalog, ...execution, limits: config.limits, model: modelDefaultsOf(config) }
	});
	const network = createNetworkAccess({ grants: store.networkGrants, dataDir, isEnabled: execution.network });
	const installedRoot = join(dataDir, 'skills');
	const modes = await openSkillModes(store, { isInstalled: isInstalledSource });
	const { placesOfTrust: roots, projectDir } = config;
	const trust = createTrust({ store, roots, projectDir, installedRoot, trustsLocal: execution.trustsLocal });
	// A name of its own, which no other folder's name takes: secrets and grants go by it.
	const folders = config.skillsDirs.map((path) => (path === installedRoot ? installedSource(path) : path));
	const skills = await createSkillsProvider([...folders, ...(await ownedRoots(dataDir))], {
		handlers: await loadHandlers(execution.handlerModules),
		timeout: config.skillsTimeoutMs,
		maxRetries: config.skillsMaxRetries,
		maxOutput: config.skillsMaxOutputBytes,
		env: skillsEnv,
		sandbox: box.sandbox,
		limits: execution.limits,
		maxScripts: execution.maxScripts,
		copies: { folder: join(dataDir, 'skill-copies'), maxBytes: execution.copiesBytes },
		host: {
			digestOf: trust.digestOf,
			secretsOf: vault.secretsOf,
			openNetwork: network.openNetwork,
			// Where somebody wants to be asked, nothing runs by the way.
			async mayRunInline(skill) {
				if (!execution.runsInlineCommands || approvalMode !== 'auto') return null;
				const { state, digest } = await trust.judge(skill);
				return state === 'trusted' ? { digest } : null;
			},
			recorder
		},
		isEnabled: () => settings.current().skillsEnabled,
		isReserved: (name) => isServerTool(name) || ownToolOf(name) !== null,
		watch: true
	});
	const lookup = createLookup({ sandbox: box.sandbox, host: box.host, path: process.env.PATH ?? '' });
	const preflight = createPreflight({ vault, offered: skillsEnv, lookup });
	const { missingVariables } = preflight;
	const builtins = openBuiltins(config, { rooms, box, network, modes, recorder, settings, skills });
	const catalogOptions = { ...config.catalog, skillsmpKey: settings.skillsmpApiKey };
	const installer = await createInstaller({
		dataDir,
		modes,
		log,
		store: { ...store, skillInstalls: installs.records },
		registry: skills.registry,
		sources: createSources(catalogOptions)
	});
	return {
		skills,
		builtins,
		sandbox: box.sandbox,
		trust,
		approvals: createApprovalPolicy({ store, trust, mode: approvalMode, missingVariables }),
		modes,
		revisions: createSkillRevisions(skills.registry),
		vault,
		keyFor: (purpose) => keyFor(secretsKey, purpose),
		preflight,
		network,
		settings,
		installs,
		usage,
		lister: createSkillLister({ skills, builtins, trust, modes, installs, usage }),
		recorder,
		installer,
		catalogs: createCatalogs(catalogOptions),
		async close() {
			await installer.close();
			await skills.close();
			await builtins.close();
			await box.close();
		}
	};
}

function modelDefaultsOf({ model: id, baseUrl, apiKey, isOffline }: Config): ModelDefaults {
	return { id, baseUrl, apiKey, isOffline };
}

function installedSource(path: string): SkillRoot {
	return { path, source: INSTALLED, listsCopies: true };
}

function isInstalledSource(source: string): boolean {
	return source === INSTALLED || source.startsWith('key.');
}

function openBuiltins(
	{ execution }: Config,
	parts: Pick<SkillParts, 'network' | 'modes' | 'settings' | 'skills'> & {
		rooms: WorkspaceRooms;
		box: OpenSandbox;
		recorder: ExecutionRecorder;
	}
): BuiltinCalls {
	const { rooms, box, network, modes, recorder, settings } = parts;
	const builtins = createBuiltins({
		sandbox: box.sandbox,
		hostSandbox: box.host,
		limits: execution.limits,
		rooms,
		turns: parts.skills.turns,
		settings: execution.builtins,
		network: execution.network,
		fetch: createSafeFetch(),
		operatorFetch: createSafeFetch({ isAllowed: () => true }),
		openNetwork: network.openPublic,
		sandboxOfImage: box.sandboxOfImage
	});
	return createBuiltinCalls({
		builtins,
		modeOf: modes.modeOf,
		isEnabled: () => settings.current().skillsEnabled,
		recorder,
		timeoutMs: execution.builtins.timeoutMs
	});
}

// What scripts run in, as the settings want it and this machine has it: with `app.ts`, where parts are constructed.

export interface OpenSandbox {
	sandbox: Sandbox;
	/** Runs programs of this machine as they are. */
	host: Sandbox;
	/** Sentences for the operator: what was not taken and why. */
	notes: string[];
	/** The backend for one image, where there are containers. @throws Error for an image that is not allowed */
	sandboxOfImage?: (image: string) => Sandbox;
	close(): Promise<void>;
}

/** The program that starts all others; Node runs it from the sources. */
const RUNNER = 'src/lib/server/sandbox/launch/runner.ts';

/** @throws Error when the backend that was asked for by name does not work here */
async function openSandbox({ dataDir, execution }: Config, log: Log): Promise<OpenSandbox> {
	const startId = randomUUID();
	const owner = ownerOf(dataDir, startId);
	const swept = await sweepLeftovers({ dataDir, startId });
	if (swept > 0) log.info({ processes: swept }, 'stopped processes of an earlier start');
	const launcher = createSpawner({
		entry: resolve(RUNNER),
		log: (sentence) => log.error({}, sentence)
	});
	const { limits } = execution;
	const images: ContainerImages = { one: execution.containerImage, allowed: execution.allowedImages };
	const host = createProcessSandbox({ launcher, owner });
	let runtime: ContainerRuntime | null = null;
	const createContainer = (from: ContainerImages): Sandbox => {
		if (!runtime) throw new Error('No container program found.');
		return createContainerSandbox({ launcher, runtime, images: from, limits, owner });
	};
	try {
		const { sandbox, notes } = await detectSandbox({
			wanted: execution.sandbox,
			createProcess: () => createProcessSandbox({ launcher, limits, owner }),
			createBubblewrap: () => createBubblewrapSandbox({ launcher, limits, hidden: [dataDir, process.cwd()] }),
			createContainer: async () => {
				const found = await findContainerRuntime(execution.containerRuntime, { launcher, host: process.env });
				if (!found.runtime) throw new Error(found.reasons.join(' ') || 'docker and podman aren’t installed');
				await sweepContainers(launcher, found.runtime, { dataDir, startId });
				runtime = found.runtime;
				return createContainer(images);
			}
		});
		return {
			sandbox,
			host,
			notes,
			sandboxOfImage: runtime
				? (image: string) => createContainer({ ...images, one: normalizeImage(image, allowedImages(images)) })
				: undefined,
			async close() {
				await sandbox.close();
				await host.close();
				await launcher.close();
			}
		};
	} catch (error) {
		await launcher.close();
		throw error;
	}
}

// Native handlers that the operator brings: functions that modules export (SKILLS_HANDLERS; FEATURES D37).

type Blame = (error: unknown) => void;

/** Who is told of an error that nobody awaits: kept over the timers, promises and callbacks of the code that runs in it. */
const blamed = new AsyncLocalStorage<Blame>();

/** Every exported function by its name; of a default export that is an object, its functions. @throws Error naming the module */
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
 * A handler whose calls answer for all that they start: what one throws later, or rejects without being awaited, ends that
 * call. Of a call that is over, it is a warning in the server's log.
 */
function answerable(name: string, handler: NativeHandler): NativeHandler {
	return (input, context) => {
		const failed = Promise.withResolvers<never>();
		const stop = new AbortController();
		let isOver = false;
		const warn = warnOf(`The handler “${name}”, after its call was over`);
		const blame: Blame = (error) => (isOver ? warn(error) : failed.reject(error));
		return blamed.run(blame, async () => {
			// Passed on from here, so that what a listener of the handler throws is the call's too.
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

/** Told outside of the code that is blamed: a warning that cannot be written must not be blamed in its turn. */
function warnOf(who: string): Blame {
	return (error) => {
		const reason = error instanceof Error ? error.stack : String(error);
		blamed.exit(() => process.emitWarning(`${who}: ${reason}`));
	};
}

/** Once for the process, however often handlers are loaded. */
function watchForStrayErrors(): void {
	if (process.listeners('uncaughtException').includes(onStrayError)) return;
	process.on('uncaughtException', onStrayError);
	process.on('unhandledRejection', onStrayError);
}

/** What is nobody's ends the process, as it does where nobody listens. */
function onStrayError(error: unknown): void {
	const blame = blamed.getStore();
	if (!blame) throw error;
	blame(error);
}

function isHandler(entry: [string, unknown]): entry is [string, NativeHandler] {
	return typeof entry[1] === 'function';
}
