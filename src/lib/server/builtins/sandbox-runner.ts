/** Runs programs of built-in skills in a sandbox that shows only the system and the workspace (FEATURES D30, D32). */
import { mkdir, realpath } from 'node:fs/promises';
import { delimiter } from 'node:path';
import type { Sandbox, SandboxLimits, SandboxResult } from '../sandbox/sandbox.ts';
import type { NetworkSession } from '../skills/run/execution-host.ts';
import type { Interpreters, Program } from '../skills/run/interpreters.ts';
import type { BuiltinContext } from './builtin.ts';
import { callerKey, createTurns, type Turns } from '../skills/turns.ts';
import { SkillError } from '../skills/types.ts';

export interface SandboxRunnerOptions {
	sandbox: Sandbox;
	interpreters: Interpreters;
	limits: SandboxLimits;
	/** Queue shared with the scripts of skills. Default: no waiting. */
	turns?: Turns | undefined;
	/** true lets calls request network access (D35). */
	network: boolean | null;
	/** Opens a guarded proxy to public addresses. Default: no network. */
	openNetwork?: ((executionId: string) => Promise<NetworkSession>) | undefined;
}

export interface SandboxedProgram {
	program(interpreters: Interpreters): Program | Promise<Program>;
	/** After the program’s own. */
	args: string[];
	input?: string | undefined;
	timeoutMs: number;
	maxOutputBytes: number;
	networkEnabled?: boolean | undefined;
	/** Replaces the usual backend, for a container image. */
	sandbox?: Sandbox | undefined;
}

export interface SandboxedRun extends SandboxResult {
	refused: string[];
}

export interface SandboxRunner {
	readonly sandbox: Sandbox;
	/** Why programs can’t run here, and what to do; null if they can. */
	reason(): string | null;
	/** @throws SkillError if it isn’t started */
	run(program: SandboxedProgram, context: BuiltinContext): Promise<SandboxedRun>;
}

export function createSandboxRunner(options: SandboxRunnerOptions): SandboxRunner {
	const { sandbox: usual, interpreters, limits, turns = createTurns() } = options;
	const reason = () => (usual.isolation.files ? null : noSandbox(usual));
	const openNetwork = async ({ networkEnabled = false }: SandboxedProgram, { executionId }: BuiltinContext) => {
		if (!networkEnabled) return null;
		if (options.network === true && options.openNetwork) return options.openNetwork(executionId);
		const hint =
			'Whoever runs the server can allow it with SKILLS_SANDBOX_NETWORK_ENABLED=true. http_request works without it.';
		throw new SkillError('SkillDisabled', 'Programs have no network access on this server.', hint);
	};
	return {
		sandbox: usual,
		reason,
		async run(call, context) {
			const { sandbox = usual } = call;
			const why = sandbox.isolation.files ? null : noSandbox(sandbox);
			if (why !== null) throw new SkillError('SkillDisabled', why);
			await mkdir(context.workspace, { recursive: true });
			const folders = { workspace: await realpath(context.workspace) };
			const { workspace } = sandbox.locate(folders);
			const program = await call.program(interpreters);
			const onPath = await interpreters.onPath();
			const turn = { caller: callerKey(context.caller), lane: null, signal: context.signal };
			return turns
				.run(turn, async () => {
					const network = await openNetwork(call, context);
					try {
						const result = await sandbox.run({
							id: context.executionId,
							file: program.file,
							args: [...program.args, ...call.args],
							env: environmentOf(workspace, onPath.folders),
							cwd: workspace,
							folders,
							runtime: [...new Set([...onPath.runtime, ...program.runtime])],
							limits,
							timeoutMs: call.timeoutMs,
							maxOutputBytes: call.maxOutputBytes,
							signal: context.signal,
							input: call.input,
							proxySocket: network?.socket,
							onOutput: context.onOutput
						});
						return { ...result, refused: network?.refused() ?? [] };
					} finally {
						await network?.close();
					}
				})
				.catch((error: unknown) => {
					if (!context.signal.aborted || error instanceof SkillError) throw error;
					throw new SkillError('Cancelled', 'The program was stopped before it started.');
				});
		}
	};
}

function noSandbox({ name }: Sandbox): string {
	return `This needs a sandbox that isolates files, which “${name}” doesn’t. Install bubblewrap, or set SKILLS_SANDBOX=container if docker or podman is installed, then restart the server.`;
}

function environmentOf(home: string, folders: readonly string[]): Record<string, string> {
	return {
		PATH: [...new Set([...folders, ...(process.env.PATH ?? '').split(delimiter)])].filter(Boolean).join(delimiter),
		LANG: 'C.UTF-8',
		HOME: home,
		PYTHONUNBUFFERED: '1',
		PYTHONDONTWRITEBYTECODE: '1',
		PYTHONIOENCODING: 'utf-8'
	};
}
