/** The backend of containers: docker or podman, with the flags of container-arguments.ts (FEATURES D32, D33). */
import { randomUUID } from 'node:crypto';
import { lstat, readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import {
	CONTAINER_PROFILES,
	containerEnvironment,
	type ContainerImages,
	type ContainerProfile,
	fullImageName,
	imageOf,
	IN_CONTAINER,
	MAX_USER_PROCESSES,
	runArguments,
	socketInContainer
} from './container-arguments.ts';
import { askRuntime, type ContainerRuntime, removal, removeContainers, RESTART } from './container-runtime.ts';
import { wrapWithForwarder } from './forwarder.ts';
import { COMMAND_MS } from './launch/launch.ts';
import type { Launched, Launcher, LaunchResult } from './launch/launcher.ts';
import { createSandboxBase, type Execution, failed } from './running.ts';
import type { Sandbox, SandboxFolders, SandboxLimits, SandboxProgram } from './sandbox.ts';
import { giveWorkspace, workspaceUid } from './workspace.ts';

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
		limits,
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
				folders: program.folders,
				runtime: program.runtime ?? [],
				proxyFolder: proxySocket ? posix.dirname(proxySocket) : undefined,
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
	return { workspace: IN_CONTAINER.workspace, skill: skill === undefined ? undefined : IN_CONTAINER.skill };
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
					waited = `${runtime.kind} didn’t start the container within ${limits.timeoutMs / 1000} s. ${RESTART}`;
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

// Telling a container that never ran its program from a program that failed: clients say both by an exit code.

export interface ContainerStart {
	runtime: Pick<ContainerRuntime, 'kind'>;
	image: string;
	/** The program was started by Node, for its way to the proxy. */
	isForwarded: boolean;
}

/** What the client says about an image that is not on this machine. */
const NO_IMAGE = /image not known|no such image|unable to find image/i;
/** catatonit and tini, the first processes that podman and docker bring. */
const NO_PROGRAM = /^(ERROR \(catatonit:\d+\): failed to exec|\[FATAL tini \(\d+\)\] exec )/m;
const CLIENT = /^(Error: |docker: |podman: |time=")/m;

/**
 * A sentence when the program was not started; null when it was. A program can write the same and end with the same
 * code; it fools its own user only.
 */
export function containerFailure(result: LaunchResult, { runtime, image, isForwarded }: ContainerStart): string | null {
	if (result.ended !== 'exit') return null;
	const words = result.stderr.trim();
	if (result.exitCode === 125 && NO_IMAGE.test(words)) {
		const name = runtime.kind === 'podman' ? fullImageName(image) : image;
		return `The image ${image} isn’t on this computer. Download it with: ${runtime.kind} pull ${name}`;
	}
	const isMissing = NO_PROGRAM.test(words) || (result.exitCode === 127 && CLIENT.test(words));
	if (isMissing && isForwarded)
		return `The image ${image} has no Node.js, which network access needs. Choose an image with it in SKILLS_SANDBOX_IMAGE.`;
	if (isMissing) return `The image ${image} doesn’t have this program: ${words}`;
	const isClient = result.exitCode === 125 || result.exitCode === 126;
	return isClient && CLIENT.test(words) ? words : null;
}

// Whom a container's program runs as: the workspace's owner, never the machine's root.

export interface ContainerFolders {
	/** Absolute real path of the host; a container without one has no owner to go by. */
	workspace: string | undefined;
	/** Files of it that are given to the user at most. */
	maxFiles: number;
}

/** `uid:gid`. A workspace of root's is given to the user that is its own. */
async function containerUser(
	{ kind, isRootless }: Pick<ContainerRuntime, 'kind' | 'isRootless'>,
	{ workspace, maxFiles }: ContainerFolders
): Promise<string> {
	// There uid 0 is this server's user under another name, and any other one could not write the workspace.
	if (isRootless && kind === 'docker') return '0:0';
	if (workspace === undefined) return pair(process.getuid?.() || workspaceUid(''), process.getgid?.());
	const { uid, gid } = await lstat(workspace);
	const own = workspaceUid(workspace);
	if (uid !== 0 && uid !== own) return pair(uid, gid);
	await giveWorkspace(workspace, own, maxFiles);
	return pair(own, own);
}

/** Root's group is no more to be had than root. */
function pair(uid: number, gid: number | undefined): string {
	return `${uid}:${gid || uid}`;
}
