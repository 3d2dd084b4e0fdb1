/** Finds a working container runtime, and removes containers that an earlier server left (D33, D34). */
import { delimiter, isAbsolute, join } from 'node:path';
import { OWNER_LABEL } from './container-arguments.ts';
import type { Launcher } from './launch/launcher.ts';
import { ownerOf, type Sweep } from './workspace.ts';
import { COMMAND_MS } from './launch/launch.ts';
import { firstExecutable } from './launch/start-program.ts';

export interface ContainerRuntime {
	file: string;
	kind: 'docker' | 'podman';
	/** Whether it has only this user’s rights. */
	isRootless: boolean;
	/** Variables that the client itself needs. */
	env: Record<string, string>;
}

/** Locate the client’s configuration and server; none is passed on to containers. */
const CLIENT_VARIABLES =
	`PATH HOME USER TMPDIR LANG XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_HOME DBUS_SESSION_BUS_ADDRESS
	SystemRoot USERPROFILE ProgramData DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_TLS_VERIFY DOCKER_CERT_PATH
	CONTAINER_HOST CONTAINER_SSHKEY CONTAINERS_CONF CONTAINERS_STORAGE_CONF`.split(/\s+/);
export const RESTART = 'It may be stuck: restart it, or choose another one with SKILLS_SANDBOX_RUNTIME.';

/**
 * The first runtime that answers within 5 s, which one without its daemon doesn’t. All are asked concurrently. `reasons`
 * has a sentence for each rejected one, with its error.
 */
export async function findContainerRuntime(
	choice: 'auto' | 'docker' | 'podman',
	{ launcher, host }: { launcher: Launcher; host: Readonly<Record<string, string | undefined>> }
): Promise<{ runtime: ContainerRuntime | null; reasons: string[] }> {
	const env: Record<string, string> = {};
	for (const name of CLIENT_VARIABLES) if (host[name]) env[name] = host[name];
	const names = choice === 'auto' ? ['docker', 'podman'] : [choice];
	const asked = names.map(async (name) => {
		const program = process.platform === 'win32' ? `${name}.exe` : name;
		const folders = (env.PATH ?? '').split(delimiter).filter(isAbsolute);
		const file = await firstExecutable(folders.map((folder) => join(folder, program)));
		return file ? probe(launcher, file, env) : 'It isn’t on the PATH.';
	});
	const reasons: string[] = [];
	for (const [index, answer] of asked.entries()) {
		const found = await answer;
		if (typeof found !== 'string') return { runtime: found, reasons };
		reasons.push(`${names[index]} can’t be used: ${found}`);
	}
	return { runtime: null, reasons };
}

/** Returns the error if it can’t be used. */
async function probe(
	launcher: Launcher,
	file: string,
	env: Record<string, string>
): Promise<ContainerRuntime | string> {
	const runtime: ContainerRuntime = { file, kind: 'docker', isRootless: false, env };
	const version = await askRuntime(launcher, runtime, ['--version']);
	if (version.isSilent) return silent('It');
	// Some systems install podman as `docker`.
	if (/podman/i.test(version.stdout)) runtime.kind = 'podman';
	const format = runtime.kind === 'podman' ? '{{.Host.Security.Rootless}}' : '{{json .SecurityOptions}}';
	const { isDone, isSilent, stdout, message } = await askRuntime(launcher, runtime, ['info', '--format', format]);
	if (isSilent) return silent('It');
	if (!isDone) return message;
	return { ...runtime, isRootless: /true|rootless/.test(stdout) };
}

/** Removes containers left by earlier servers with this data folder. @returns their number. @throws Error of the runtime */
export function sweepContainers(
	launcher: Launcher,
	runtime: ContainerRuntime,
	{ dataDir, startId, live }: Sweep
): Promise<number> {
	const ofFolder = ownerOf(dataDir, '');
	let others: Promise<ReadonlySet<string>> | undefined;
	return removeContainers(launcher, runtime, `label=${OWNER_LABEL}`, async (owner) => {
		if (!owner.startsWith(ofFolder) || owner === ownerOf(dataDir, startId)) return false;
		// Asked after they were listed: a server lives before its first script.
		others ??= live?.() ?? Promise.resolve(new Set());
		return !(await others).has(owner.slice(ofFolder.length));
	});
}

/** `filter` is for `ps --filter`. @throws Error of the runtime */
export async function removeContainers(
	launcher: Launcher,
	runtime: ContainerRuntime,
	filter: string,
	isLeftover: (owner: string) => boolean | Promise<boolean>
): Promise<number> {
	const format = ['--format', '{{.ID}} {{.Labels}}'];
	const listed = await askRuntime(launcher, runtime, ['ps', '--all', '--filter', filter, ...format]);
	if (!listed.isDone) throw new Error(`Couldn’t list old containers: ${listed.message}`);
	const ids: string[] = [];
	for (const line of listed.stdout.split('\n')) {
		const [id = ''] = line.split(' ');
		if (id && (await isLeftover(ownerIn(line)))) ids.push(id);
	}
	for (const id of ids) {
		const removed = await askRuntime(launcher, runtime, removal(runtime, id));
		if (!removed.isDone) throw new Error(`Couldn’t remove the container ${id}: ${removed.message}`);
	}
	return ids.length;
}

/** Docker prints labels as `a=b,c=d`, podman as `map[a:b c:d]`. */
function ownerIn(labels: string): string {
	const at = labels.indexOf(OWNER_LABEL);
	return at < 0 ? '' : (/^[=:]([\w-]*)/.exec(labels.slice(at + OWNER_LABEL.length))?.[1] ?? '');
}

/** Arguments that kill and remove a container; a missing one is no error. */
export function removal({ kind }: ContainerRuntime, name: string): string[] {
	// Podman would send SIGTERM first and wait 10 s.
	return kind === 'podman' ? ['rm', '-f', '-t', '0', name] : ['rm', '-f', name];
}

const silent = (who: string) => `${who} didn’t respond within ${COMMAND_MS / 1000} s. ${RESTART}`;

/** Runs the client. `isSilent` if it doesn’t answer in time. */
export async function askRuntime(
	launcher: Launcher,
	{ file, kind, env }: ContainerRuntime,
	args: string[]
): Promise<{ isDone: boolean; isSilent: boolean; stdout: string; message: string }> {
	const launched = launcher.launch({ file, args, env, cwd: '/', end: { kind: 'group' } }, 'closed');
	// SIGKILL, because a hanging client may ignore SIGTERM.
	const timer = setTimeout(() => launched.end('killed'), COMMAND_MS);
	const result = await launched.begin({ timeoutMs: COMMAND_MS * 2, maxOutputBytes: 100_000 }, undefined);
	clearTimeout(timer);
	const isDone = result.ended === 'exit' && result.exitCode === 0;
	const isSilent = result.ended === 'killed' || result.ended === 'timeout';
	const words = (result.spawnError ?? result.stderr.trim()) || 'It failed.';
	const message = isSilent ? silent(kind) : words;
	return { isDone, isSilent, stdout: result.stdout.trim(), message: isDone ? '' : message };
}
