/** The container backend: docker or podman, with the flags of container-arguments.ts (D32, D33). */
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
	runtime: ContainerRuntime;
	images: ContainerImages;
	/** Maximum for any program. Default: `DEFAULT_LIMITS`. */
	limits?: SandboxLimits;
	/** Owner for `sweepContainers`: see `ownerOf` in workspace.ts. */
	owner?: string;
	profile?: keyof typeof CONTAINER_PROFILES;
}

/** The host’s, by name: an image has none. */
const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** What is the same on every machine. */
export const CONTAINER = {
	name: 'container',
	isolation: { files: true, network: true, processes: true, limits: true },
	programs: { node: 'node', python: 'python3', shell: 'sh' },
	locate
} as const satisfies Pick<Sandbox, 'name' | 'isolation' | 'programs' | 'locate'>;

/** The backend `container`. Never downloads images: the result says how to get a missing one. */
export function createContainerSandbox(options: ContainerSandboxOptions): Sandbox {
	const { launcher, runtime, images, limits, owner = 'none' } = options;
	const profile: ContainerProfile = CONTAINER_PROFILES[options.profile ?? 'default'];
	// Ids may repeat across sandboxes, so names get a random prefix.
	const prefix = `openrouter-skills-${randomUUID().slice(0, 8)}`;
	const nameOf = ({ id }: Execution) => `${prefix}-${id}`;
	const started = new WeakMap<Execution, { image: string; isForwarded: boolean }>();

	const sandbox = createSandboxBase({
		...CONTAINER,
		launcher,
		limits,
		owner,
		async toLaunch(program, execution) {
			const image = imageOf(program.file, images);
			const { proxySocket } = program;
			started.set(execution, { image, isForwarded: proxySocket !== undefined });
			const environment = containerEnvironment({ TZ: TIME_ZONE, ...program.env });
			const args = runArguments({
				...runtime,
				...inContainer(program),
				name: nameOf(execution),
				owner,
				image,
				profile,
				limits: execution.limits,
				user: await containerUser(runtime, program.folders?.workspace, execution.limits.workspaceFiles),
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
			// The client may end before its container, or before creating it.
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
		// A container may appear after its client was ended.
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

function locate({ skill, packages }: SandboxFolders): SandboxFolders {
	return {
		workspace: IN_CONTAINER.workspace,
		skill: skill === undefined ? undefined : IN_CONTAINER.skill,
		...(packages !== undefined && { packages: IN_CONTAINER.packages })
	};
}

/** Wraps the program in the proxy forwarder if it has a proxy. */
function inContainer({ file, args, env, proxySocket }: SandboxProgram): { file: string; args: string[] } {
	if (!proxySocket) return { file, args };
	const socket = socketInContainer(proxySocket);
	return wrapWithForwarder({ file, args, env }, { node: 'node', socket, passSignals: true });
}

/** Whether a started program was ended from outside. */
function isEarly({ ended, signal }: LaunchResult): boolean {
	return ended !== 'spawn-failed' && (ended !== 'exit' || signal !== null);
}

/** Statuses of a container that never ran. */
const NOT_STARTED = /^(created|configured|initialized|)$/;

/**
 * Tells a hanging runtime from a silent script: after a silence it asks the runtime. If that doesn’t answer, the program
 * is killed; if the container hasn’t started yet, it asks again later.
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

/** The client reports a signal as an exit code. */
function signalOf(result: LaunchResult): Pick<LaunchResult, 'exitCode' | 'signal'> | null {
	if (!isEarly(result)) return null;
	if (result.exitCode === 137) return { exitCode: null, signal: 'SIGKILL' };
	return result.exitCode === 143 ? { exitCode: null, signal: 'SIGTERM' } : null;
}

/** This server’s hard limit, the maximum for a container. */
async function mostUserProcesses(): Promise<number> {
	// Only Linux has this file; elsewhere containers run in a virtual machine.
	const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
	return Number(/^Max processes\s+\S+\s+(\d+)/m.exec(limits)?.[1] ?? MAX_USER_PROCESSES);
}

// Tells a container that never ran its program from a program that failed; clients report both as exit codes.

export interface ContainerStart {
	runtime: Pick<ContainerRuntime, 'kind'>;
	image: string;
	/** Whether Node started the program, as the proxy forwarder. */
	isForwarded: boolean;
}

const NO_IMAGE = /image not known|no such image|unable to find image/i;
/** Errors of catatonit and tini, the init processes of podman and docker. */
const NO_PROGRAM = /^(ERROR \(catatonit:\d+\): failed to exec|\[FATAL tini \(\d+\)\] exec )/m;
const CLIENT = /^(Error: |docker: |podman: |time=")/m;

/** Why the program wasn’t started; null if it was. A program could fake this, but would fool only its own user. */
export function containerFailure(result: LaunchResult, { runtime, image, isForwarded }: ContainerStart): string | null {
	if (result.ended !== 'exit') return null;
	const words = result.stderr.trim();
	if (result.exitCode === 125 && NO_IMAGE.test(words)) {
		const name = runtime.kind === 'podman' ? fullImageName(image) : image;
		return `The image ${image} isn’t on this computer. Download it with: ${runtime.kind} pull ${name}`;
	}
	const isMissing = NO_PROGRAM.test(words) || (result.exitCode === 127 && CLIENT.test(words));
	if (isMissing && isForwarded) {
		return `The image ${image} has no Node.js, which network access needs. Choose an image with it in SKILLS_SANDBOX_IMAGE.`;
	}
	if (isMissing) return `The image ${image} doesn’t have this program: ${words}`;
	const isClient = result.exitCode === 125 || result.exitCode === 126;
	return isClient && CLIENT.test(words) ? words : null;
}

/** `uid:gid` of the workspace’s owner, never root: a workspace of root is given to its own user. */
async function containerUser(
	{ kind, isRootless }: Pick<ContainerRuntime, 'kind' | 'isRootless'>,
	workspace: string | undefined,
	maxFiles: number
): Promise<string> {
	// There, uid 0 is this server's user, and others couldn’t write to the workspace.
	if (isRootless && kind === 'docker') return '0:0';
	if (workspace === undefined) return pair(process.getuid?.() || workspaceUid(''), process.getgid?.());
	const { uid, gid } = await lstat(workspace);
	const own = workspaceUid(workspace);
	if (uid !== 0 && uid !== own) return pair(uid, gid);
	await giveWorkspace(workspace, own, maxFiles);
	return pair(own, own);
}

/** Never root’s group either. */
function pair(uid: number, gid: number | undefined): string {
	return `${uid}:${gid || uid}`;
}
