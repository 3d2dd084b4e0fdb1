/** The backend of containers: docker or podman, with the flags of container-arguments.ts (FEATURES D32, D33). */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import {
	CONTAINER_PROFILES,
	containerEnvironment,
	IN_CONTAINER,
	MAX_USER_PROCESSES,
	runArguments,
	socketInContainer,
	type ContainerProfile
} from './container-arguments.ts';
import { containerFailure } from './container-failure.ts';
import { imageOf, type ContainerImages } from './container-images.ts';
import { askRuntime, removal, removeContainers, RESTART, type ContainerRuntime } from './container-runtime.ts';
import { containerUser } from './container-user.ts';
import { wrapWithForwarder } from './forwarder.ts';
import type { Launched, Launcher, LaunchResult } from './launcher.ts';
import { createSandboxBase, failed, type Execution } from './running.ts';
import type { Sandbox, SandboxFolders, SandboxLimits, SandboxProgram } from './sandbox.ts';
import { COMMAND_MS } from './signals.ts';

export interface ContainerSandboxOptions {
	launcher: Launcher;
	/** One that answers: see `findContainerRuntime`. */
	runtime: ContainerRuntime;
	images: ContainerImages;
	/** The most that any program may have; `DEFAULT_LIMITS` when missing. */
	limits?: SandboxLimits;
	/** Whose containers these are: `ownerOf` of leftovers.ts, for `sweepContainers`. */
	owner?: string;
	/** `default` when missing. */
	profile?: keyof typeof CONTAINER_PROFILES;
}

/** Containers; `name` is `container`. Images are never fetched: one that is missing is a result that says how to get it. */
export function createContainerSandbox(options: ContainerSandboxOptions): Sandbox {
	const { launcher, runtime, images, limits, owner = 'none' } = options;
	const profile: ContainerProfile = CONTAINER_PROFILES[options.profile ?? 'default'];
	// An id that is used again must not meet a container of another sandbox.
	const prefix = `openrouter-skills-${randomUUID().slice(0, 8)}`;
	const nameOf = ({ id }: Execution) => `${prefix}-${id}`;
	const started = new WeakMap<Execution, { image: string; isForwarded: boolean }>();

	const sandbox = createSandboxBase({
		name: 'container',
		isolation: { files: true, network: true, processes: true, limits: true },
		launcher,
		...(limits ? { limits } : {}),
		owner,
		programs: { node: 'node', python: 'python3', shell: 'sh' },
		locate,
		async toLaunch(program, execution) {
			const image = imageOf(program.file, images);
			const { proxySocket } = program;
			started.set(execution, { image, isForwarded: proxySocket !== undefined });
			const environment = containerEnvironment(program.env);
			const args = runArguments({
				...runtime,
				...inContainer(program),
				name: nameOf(execution),
				owner,
				image,
				profile,
				limits: execution.limits,
				user: await containerUser(runtime, {
					workspace: program.folders?.workspace,
					maxFiles: execution.limits.workspaceFiles
				}),
				...(program.folders ? { folders: program.folders } : {}),
				runtime: program.runtime ?? [],
				...(proxySocket ? { proxyFolder: posix.dirname(proxySocket) } : {}),
				hasInput: execution.stdin !== 'closed',
				environment,
				cwd: program.cwd,
				userProcesses: await mostUserProcesses()
			});
			return {
				file: runtime.file,
				args: ['--log-level=error', ...args],
				env: { ...runtime.env, ...environment.passed },
				cwd: '/',
				fds: environment.file ? [{ kind: 'data', base64: Buffer.from(environment.file).toString('base64') }] : [],
				end: {
					kind: 'commands',
					term: [runtime.file, 'kill', '--signal', 'TERM', nameOf(execution)],
					kill: [runtime.file, ...removal(runtime, nameOf(execution))],
					env: runtime.env
				}
			};
		},
		watch: (launched, execution) => watchStart(launched, { launcher, runtime, name: nameOf(execution) }),
		async onEnd(execution, result) {
			const { image, isForwarded } = started.get(execution) ?? { image: '', isForwarded: false };
			// The client may be gone before its container, or have been about to make it.
			const removed = isEarly(result) ? await askRuntime(launcher, runtime, removal(runtime, nameOf(execution))) : null;
			const isWanted = result.ended === 'aborted' || result.ended === 'killed';
			const spawnError =
				removed?.isSilent && !isWanted ? removed.message : containerFailure(result, { runtime, image, isForwarded });
			return {
				image,
				...signalOf(result),
				...(spawnError ? { ended: 'spawn-failed', exitCode: null, stderr: '', spawnError } : {})
			};
		},
		// One that was ended unused may have come into being after its end.
		async onClose() {
			await removeContainers(launcher, runtime, `name=^${prefix}-`, () => true);
		}
	});
	const { timeoutMs: longest } = profile;
	if (longest !== undefined) {
		const { run } = sandbox;
		sandbox.run = (command) => run({ ...command, timeoutMs: Math.min(command.timeoutMs, longest) });
		delete sandbox.prepare;
	}
	return sandbox;
}

function locate({ skill }: SandboxFolders): SandboxFolders {
	return { workspace: IN_CONTAINER.workspace, ...(skill === undefined ? {} : { skill: IN_CONTAINER.skill }) };
}

/** The program, behind the way to its proxy where it has one. */
function inContainer({ file, args, env, proxySocket }: SandboxProgram): { file: string; args: string[] } {
	if (!proxySocket) return { file, args };
	return wrapWithForwarder(
		{ file, args, env },
		{ node: 'node', socket: socketInContainer(proxySocket), passSignals: true }
	);
}

/** Ended by somebody; not one that was never started. */
function isEarly({ ended, signal }: LaunchResult): boolean {
	return ended !== 'spawn-failed' && (ended !== 'exit' || signal !== null);
}

/** Of a container that never ran. */
const NOT_STARTED = /^(created|configured|initialized|)$/;

/**
 * Nobody can tell a runtime that hangs from a script that says nothing, so one that has said nothing for a while is asked
 * about. A runtime that does not answer is not waited for; one that answers may still be busy.
 */
function watchStart(
	launched: Launched,
	{ launcher, runtime, name }: { launcher: Launcher; runtime: ContainerRuntime; name: string }
): Launched {
	return {
		get isAlive() {
			return launched.isAlive;
		},
		end: (reason) => launched.end(reason),
		async begin(limits, input, onOutput) {
			let isOver = false;
			let waited = '';
			let problem = '';
			const ask = async () => {
				const status = ['container', 'inspect', '--format', '{{.State.Status}}', name];
				const { isSilent, stdout, message } = await askRuntime(launcher, runtime, status);
				if (isOver) return;
				if (isSilent) {
					problem = message;
					launched.end('killed');
				} else if (NOT_STARTED.test(stdout)) {
					waited = `${runtime.kind} did not start the container within ${limits.timeoutMs / 1000} s. ${RESTART}`;
					timer = setTimeout(() => void ask(), COMMAND_MS);
				} else settle();
			};
			const settle = () => {
				isOver = true;
				waited = '';
				clearTimeout(timer);
			};
			let timer = setTimeout(() => void ask(), COMMAND_MS);
			const result = await launched.begin(limits, input, (stream, text) => {
				settle();
				onOutput?.(stream, text);
			});
			const spawnError = result.ended === 'timeout' ? waited : result.ended === 'killed' ? problem : '';
			settle();
			return spawnError ? { ...result, ...failed(spawnError), durationMs: result.durationMs } : result;
		}
	};
}

/** Who ended it early did so by a signal, of which the client makes an exit code, if it lives to tell. */
function signalOf(result: LaunchResult): Pick<LaunchResult, 'exitCode' | 'signal'> | null {
	if (!isEarly(result)) return null;
	if (result.exitCode === 137) return { exitCode: null, signal: 'SIGKILL' };
	return result.exitCode === 143 ? { exitCode: null, signal: 'SIGTERM' } : null;
}

/** The hard limit of this server, which a container cannot be given more than. */
async function mostUserProcesses(): Promise<number> {
	// Only Linux has the file; elsewhere containers run in a machine of their own.
	const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
	return Number(/^Max processes\s+\S+\s+(\d+)/m.exec(limits)?.[1] ?? MAX_USER_PROCESSES);
}
