/** Creates all built-in skills, in the order in which they are offered (D27–D31, D36). */
import type { SafeFetch } from '../network/safe-fetch.ts';
import type { Sandbox, SandboxLimits } from '../sandbox/sandbox.ts';
import type { NetworkSession } from '../skills/run/execution-host.ts';
import { createInterpreters } from '../skills/run/interpreters.ts';
import { createBrowser } from './browser.ts';
import type { Builtin } from './builtin.ts';
import { findChromium as findInstalled, type Chromium } from './browser-page.ts';
import { createFileRead, createFileWrite } from './file-tools.ts';
import { createHttpRequest, createSearxngProvider, createWebSearch } from './web.ts';
import { createHybridExecutor, type HybridOptions } from './hybrid.ts';
import { createEvalCode, createExecuteCommand, createSandboxRunner } from './programs.ts';
import type { Turns } from '../skills/turns.ts';
import { createWorkspaceRooms, type WorkspaceRooms } from '../workspace-rooms.ts';

export interface BuiltinsOptions {
	sandbox: Sandbox;
	/** Runs host programs to find interpreters. Default: `sandbox`. */
	hostSandbox?: Pick<Sandbox, 'run'>;
	limits: SandboxLimits;
	/** Size limits of workspaces. Default: none. */
	rooms?: WorkspaceRooms;
	/** Queue shared with the scripts of skills. Default: no waiting. */
	turns?: Turns;
	/** From `config.execution.builtins`. */
	settings: {
		timeoutMs: number;
		maxOutputChars: number;
		maxFileBytes: number;
		maxHttpBytes: number;
		searchUrl: string | null;
		hasBrowser: boolean;
	};
	/** true lets programs request network access (D35). */
	network: boolean | null;
	/** For public addresses only. */
	fetch: SafeFetch;
	/** For any address; used only for the operator’s search server. */
	operatorFetch: SafeFetch;
	/** Opens a guarded proxy to public addresses. `id`: letters, digits, hyphens. */
	openNetwork(id: string): Promise<NetworkSession>;
	/** The backend for a container image named by a call. @throws Error if the image isn’t allowed */
	sandboxOfImage?: (image: string) => Sandbox;
	/** Default: the installed one. */
	findChromium?: (own: string | null) => Chromium | null | Promise<Chromium | null>;
	hybrid?: HybridOptions;
	/** Monotonic clock, in milliseconds. */
	now?: () => number;
}

export function createBuiltins(options: BuiltinsOptions): readonly Builtin[] {
	const { sandbox, settings, limits, network, fetch, openNetwork, sandboxOfImage, turns } = options;
	const { rooms = createWorkspaceRooms(), hostSandbox: host = sandbox } = options;
	const { timeoutMs, maxOutputChars, searchUrl } = settings;
	const interpreters = createInterpreters({ host, sandbox, path: process.env.PATH ?? '' });
	const runner = createSandboxRunner({ sandbox, interpreters, limits, network, openNetwork, turns });
	const files = { hybrid: createHybridExecutor(options.hybrid), runner, maxBytes: settings.maxFileBytes, timeoutMs };
	const programs = { runner, timeoutMs, maxOutputChars, sandboxOfImage };
	const provider = searchUrl === null ? null : createSearxngProvider(searchUrl, options.operatorFetch);
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
			turns,
			rooms,
			maxChars: maxOutputChars
		})
	];
}
