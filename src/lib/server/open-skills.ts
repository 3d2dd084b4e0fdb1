/** The skills and all that stands between them and this machine; with `app.ts`, where parts are constructed and joined. */
import { join } from 'node:path';
import { isServerTool } from '../shared/builtins.ts';
import { createBuiltinCalls, type BuiltinCalls } from './builtins/builtin-calls.ts';
import { createBuiltins } from './builtins/builtins.ts';
import { ownedRoots } from './catalog/install-places.ts';
import { createInstaller } from './catalog/create-installer.ts';
import type { Installer } from './catalog/installer.ts';
import { createCatalogs, createSources, type Catalogs } from './catalog/sources.ts';
import type { Config } from './config.ts';
import type { Log } from './log.ts';
import { createNetworkAccess, type NetworkAccess } from './network/network-access.ts';
import { createSafeFetch } from './network/safe-fetch.ts';
import { openSandbox, type OpenSandbox } from './open-sandbox.ts';
import { ownToolOf } from './protocols/mcp/definitions.ts';
import { createApprovalPolicy, type ApprovalPolicy } from './runs/approval-policy.ts';
import { createExecutionRecorder } from './runs/execution-recorder.ts';
import { openInstallIndex, type InstallIndex } from './runs/install-index.ts';
import type { ModelDefaults } from './runs/model-settings.ts';
import { openSettings, type RunningSettings } from './runs/settings.ts';
import { createSkillLister, type SkillLister } from './runs/skill-list.ts';
import { createSkillRevisions, type SkillRevisions } from './runs/skill-revisions.ts';
import { openSkillModes, type SkillModes } from './runs/skill-modes.ts';
import { openSkillUsage, type SkillUsageCounts } from './runs/skill-usage.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { keyFor, loadSecretsKey } from './secrets/key.ts';
import { createLookup } from './secrets/lookup.ts';
import { createPreflight, type Preflight } from './secrets/preflight.ts';
import { createVault, type Vault } from './secrets/vault.ts';
import { loadHandlers } from './handler-modules.ts';
import type { ExecutionRecorder } from './skills/execution-host.ts';
import { createSkillsProvider, type SkillsProvider } from './skills/provider.ts';
import type { SkillRoot } from './skills/types.ts';
import type { Store } from './store/store.ts';
import { createTrust, type Trust } from './trust/trust.ts';
import type { WorkspaceRooms } from './workspace-rooms.ts';

export interface SkillParts {
	skills: SkillsProvider;
	builtins: BuiltinCalls;
	sandbox: Sandbox;
	trust: Trust;
	approvals: ApprovalPolicy;
	modes: SkillModes;
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
	await store.skillExecutions.endUnfinished('The server was stopped while this ran.', new Date().toISOString());
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
		...{ dataDir, modes, log },
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
		...(box.sandboxOfImage ? { sandboxOfImage: box.sandboxOfImage } : {})
	});
	return createBuiltinCalls({
		builtins,
		modeOf: modes.modeOf,
		isEnabled: () => settings.current().skillsEnabled,
		recorder,
		timeoutMs: execution.builtins.timeoutMs
	});
}
