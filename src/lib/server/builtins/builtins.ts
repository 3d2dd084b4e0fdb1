/** All skills that this server brings itself, in the order in which they are offered (FEATURES D27–D31, D36). */
import type { SafeFetch } from '../network/safe-fetch.ts';
import type { Sandbox, SandboxLimits } from '../sandbox/sandbox.ts';
import type { NetworkSession } from '../skills/run/execution-host.ts';
import { createInterpreters } from '../skills/run/interpreters.ts';
import { createBrowser } from './browser.ts';
import type { Builtin } from './builtin.ts';
import { findChromium as findInstalled, type Chromium } from './browser-page.ts';
import { createFileRead, createFileWrite } from './file-tools.ts';
import { createHttpRequest } from './http-request.ts';
import { createHybridExecutor, type HybridOptions } from './hybrid.ts';
import { createEvalCode, createExecuteCommand } from './programs.ts';
import { createSandboxRunner } from './sandbox-runner.ts';
import { createSearxngProvider, createWebSearch, type SearchProvider } from './web-search.ts';
import type { Turns } from '../skills/turns.ts';
import { createWorkspaceRooms, type WorkspaceRooms } from '../workspace-rooms.ts';

export interface BuiltinsOptions {
	sandbox: Sandbox;
	/** Runs programs of this machine as they are, to find interpreters; the sandbox where it hides nothing. */
	hostSandbox?: Pick<Sandbox, 'run'>;
	limits: SandboxLimits;
	/** What a workspace may hold; anything without it. */
	rooms?: WorkspaceRooms;
	/** When a program may run, beside the scripts of skills; each at once without it. */
	turns?: Turns;
	/** The operator's settings, as `config.execution.builtins` has them. */
	settings: {
		timeoutMs: number;
		maxOutputChars: number;
		maxFileBytes: number;
		maxHttpBytes: number;
		searchUrl: string | null;
		hasBrowser: boolean;
	};
	/** The operator's gate for programs: true lets a call ask for a network (D35). */
	network: boolean | null;
	/** Reaches public addresses alone. */
	fetch: SafeFetch;
	/** Reaches any address; used for the operator's own search server and nothing else. */
	operatorFetch: SafeFetch;
	/** Opens a guarded proxy to public addresses, under an id of its own: letters, digits, hyphens. */
	openNetwork(id: string): Promise<NetworkSession>;
	/** The backend for an image that a call names; without it there are no containers. @throws Error for one that is not allowed */
	sandboxOfImage?: (image: string) => Sandbox;
	/** Instead of the one of SKILLS_SEARCH_URL. */
	searchProvider?: SearchProvider;
	/** Instead of the one that is installed. */
	findChromium?: (own: string | null) => Chromium | null | Promise<Chromium | null>;
	hybrid?: HybridOptions;
	/** Milliseconds. */
	now?: () => number;
}

export function createBuiltins(options: BuiltinsOptions): readonly Builtin[] {
	const {
		sandbox,
		settings,
		limits,
		network,
		fetch,
		openNetwork,
		sandboxOfImage,
		rooms = createWorkspaceRooms()
	} = options;
	const { timeoutMs, maxOutputChars, searchUrl } = settings;
	const interpreters = createInterpreters({
		host: options.hostSandbox ?? sandbox,
		sandbox,
		path: process.env.PATH ?? ''
	});
	const runner = createSandboxRunner({ sandbox, interpreters, limits, network, openNetwork, turns: options.turns });
	const files = { hybrid: createHybridExecutor(options.hybrid), runner, maxBytes: settings.maxFileBytes, timeoutMs };
	const programs = { runner, timeoutMs, maxOutputChars, sandboxOfImage };
	const configured = searchUrl === null ? null : createSearxngProvider(searchUrl, options.operatorFetch);
	const provider = options.searchProvider ?? configured;
	const findChromium = options.findChromium ?? ((own: string | null) => findInstalled(process.env, own));
	return [
		createFileRead(files),
		createFileWrite({ ...files, rooms }),
		createHttpRequest({ fetch, maxBytes: settings.maxHttpBytes }),
		createWebSearch({ provider, now: options.now }),
		createEvalCode(programs),
		createExecuteCommand(programs),
		createBrowser({
			isEnabled: settings.hasBrowser,
			findChromium,
			openNetwork,
			turns: options.turns,
			rooms,
			maxChars: maxOutputChars
		})
	];
}
