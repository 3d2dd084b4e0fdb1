/** Chooses a backend by testing it; every fallback is reported (SANDBOX, Backends). */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sandbox, SandboxName, SandboxResult } from './sandbox.ts';

type Create = () => Sandbox | Promise<Sandbox>;

export interface DetectOptions {
	wanted: 'auto' | SandboxName;
	createProcess: Create;
	createBubblewrap: Create;
	createContainer: Create;
	/** For the test’s folder. Default: the system’s. */
	tempDir?: string;
	/** The server’s process id. Default: this process’s. */
	pid?: number;
}

export interface DetectedSandbox {
	sandbox: Sandbox;
	/** Sentences for the operator: what was rejected and why, what this computer lacks. */
	notes: string[];
}

/** Leaves time to download an image. */
const PROBE_TIMEOUT_MS = 60_000;

/**
 * Returns the wanted backend; for `auto`, bubblewrap if it works, else processes.
 * @throws Error naming SKILLS_SANDBOX, the reason and what to do, if the wanted one doesn’t work
 */
export async function detectSandbox(options: DetectOptions): Promise<DetectedSandbox> {
	const notes = reaperNotes(options.pid ?? process.pid);
	const { wanted } = options;
	const create = {
		process: options.createProcess,
		bubblewrap: options.createBubblewrap,
		container: options.createContainer
	};
	const first = await attempt(create[wanted === 'auto' ? 'bubblewrap' : wanted], options.tempDir);
	if ('sandbox' in first) return { sandbox: first.sandbox, notes: [...notes, ...filterNotes(first.sandbox)] };
	if (wanted !== 'auto') {
		throw new Error(
			`SKILLS_SANDBOX=${wanted} doesn’t work here: ${first.reason}. Fix that, or set SKILLS_SANDBOX=auto.`
		);
	}

	const fallback = await attempt(options.createProcess, options.tempDir);
	if (!('sandbox' in fallback)) {
		throw new Error(`No sandbox works here. bubblewrap: ${first.reason}. process: ${fallback.reason}.`);
	}
	notes.push(
		`Scripts can read files on this computer, because bubblewrap doesn’t work here. ${capitalised(first.reason)}.`
	);
	return { sandbox: fallback.sandbox, notes };
}

/** Runs a command that must exit with 42; closes the backend if it fails. */
async function attempt(create: Create, tempDir = tmpdir()): Promise<{ sandbox: Sandbox } | { reason: string }> {
	let sandbox: Sandbox;
	try {
		sandbox = await create();
	} catch (error) {
		return { reason: withoutFullStop((error as Error).message) };
	}
	const workspace = await mkdtemp(join(tempDir, 'sandbox-probe-'));
	try {
		const folders = { workspace };
		const result = await sandbox.run({
			file: sandbox.programs?.shell ?? '/bin/sh',
			args: ['-c', 'exit 42'],
			env: {},
			cwd: sandbox.locate(folders).workspace,
			folders,
			timeoutMs: PROBE_TIMEOUT_MS,
			maxOutputBytes: 4096
		});
		if (result.exitCode === 42) return { sandbox };
		await sandbox.close();
		return { reason: reasonOf(result, sandbox.name) };
	} finally {
		await rm(workspace, { recursive: true, force: true });
	}
}

function reasonOf(result: SandboxResult, name: SandboxName): string {
	const said = withoutFullStop((result.spawnError ?? result.stderr).trim());
	if (name === 'bubblewrap') return bubblewrapReason(said, readHost());
	if (said) return said;
	return result.ended === 'exit'
		? `a test command failed with ${result.exitCode}`
		: `a test command didn’t finish in time`;
}

/** Facts that decide whether bubblewrap may create namespaces. */
export interface NamespaceHost {
	isRoot: boolean;
	isContainer: boolean;
	/** Ubuntu 24.04 and newer. */
	restrictsByAppArmor: boolean;
	/** False by Debian’s switch, or by a limit of 0. */
	hasUserNamespaces: boolean;
}

/** As Docker and Podman spell it. */
const PATHS = 'systempaths=unconfined (Podman: unmask=ALL)';

/** Explains an error of bubblewrap and what to do. Exported for tests: no machine fails in every way. */
export function bubblewrapReason(said: string, host: NamespaceHost): string {
	const quoted = said ? ` (“${said}”)` : '';
	if (/unknown option/i.test(said)) return `bubblewrap 0.8 or newer is needed${quoted}`;
	if (/mount proc/i.test(said))
		return `this container doesn’t let bubblewrap mount /proc${quoted}: start it with --security-opt ${PATHS}`;
	const isRefused = /namespace|uid map|gid map|not permitted|permission denied|loopback|RTM_NEWADDR/i.test(said);
	if (!isRefused) return said || 'bubblewrap failed without a message';
	if (!host.isRoot && host.restrictsByAppArmor)
		return `AppArmor blocks user namespaces for bubblewrap, as on Ubuntu 24.04${quoted}: add a profile for bwrap with “userns,”, or set kernel.apparmor_restrict_unprivileged_userns=0`;
	if (!host.isRoot && !host.hasUserNamespaces)
		return `user namespaces are turned off${quoted}: set kernel.unprivileged_userns_clone=1 and user.max_user_namespaces above 0`;
	if (host.isContainer)
		return host.isRoot
			? `this container can’t create namespaces${quoted}: run the server in it as a user other than root, with --security-opt seccomp=unconfined --security-opt ${PATHS}`
			: `this container can’t create namespaces${quoted}: start it with --security-opt seccomp=unconfined --security-opt ${PATHS}`;
	return `the kernel blocks namespaces for bubblewrap${quoted}`;
}

function readHost(): NamespaceHost {
	return {
		isRoot: process.getuid?.() === 0,
		isContainer: existsSync('/.dockerenv') || existsSync('/run/.containerenv'),
		restrictsByAppArmor: readSetting('kernel/apparmor_restrict_unprivileged_userns') === '1',
		hasUserNamespaces:
			readSetting('kernel/unprivileged_userns_clone') !== '0' && readSetting('user/max_user_namespaces') !== '0'
	};
}

function readSetting(name: string): string | null {
	const path = `/proc/sys/${name}`;
	return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}

/** SANDBOX, pitfall 6. */
function reaperNotes(pid: number): string[] {
	if (pid !== 1) return [];
	return [
		'The server is process 1 of its container, so finished scripts stay as zombies. Start the container with --init.'
	];
}

function filterNotes(sandbox: Sandbox): string[] {
	if (sandbox.name !== 'bubblewrap' || process.arch === 'x64') return [];
	return [`The system call filter only works on x64. On ${process.arch}, bubblewrap runs without one.`];
}

function withoutFullStop(text: string): string {
	return text.replace(/\.$/, '');
}

function capitalised(text: string): string {
	return text.charAt(0).toUpperCase() + text.slice(1);
}
