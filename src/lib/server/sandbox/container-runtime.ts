/** The program that runs containers: which one answers, and what an earlier server left with it (FEATURES D33, D34). */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { OWNER_LABEL } from './container-arguments.ts';
import type { Launcher } from './launch/launcher.ts';
import { ownerOf } from './workspace.ts';
import { COMMAND_MS } from './launch/launch.ts';

export interface ContainerRuntime {
	/** Absolute path of the client. */
	file: string;
	kind: 'docker' | 'podman';
	/** It has no more rights than this user. */
	isRootless: boolean;
	/** What the client itself needs of the environment. */
	env: Record<string, string>;
}

export interface FoundRuntime {
	runtime: ContainerRuntime | null;
	/** A sentence for each one that was passed over, with its own words. */
	reasons: string[];
}

/** Where the client finds its configuration and its server; nothing that it would pass on to a container. */
const CLIENT_VARIABLES = [
	'PATH',
	'HOME',
	'USER',
	'TMPDIR',
	'LANG',
	'XDG_RUNTIME_DIR',
	'XDG_CONFIG_HOME',
	'XDG_DATA_HOME',
	'DBUS_SESSION_BUS_ADDRESS',
	'SystemRoot',
	'USERPROFILE',
	'ProgramData',
	'DOCKER_HOST',
	'DOCKER_CONTEXT',
	'DOCKER_CONFIG',
	'DOCKER_TLS_VERIFY',
	'DOCKER_CERT_PATH',
	'CONTAINER_HOST',
	'CONTAINER_SSHKEY',
	'CONTAINERS_CONF',
	'CONTAINERS_STORAGE_CONF'
];
export const RESTART = 'It may be stuck: restart it, or choose another one with SKILLS_SANDBOX_RUNTIME.';

/**
 * The first runtime that answers: one without its daemon is passed over, which its mere presence would not show. All are
 * asked at once, and one that says nothing for 5 s is taken to hang.
 */
export async function findContainerRuntime(
	choice: 'auto' | 'docker' | 'podman',
	{ launcher, host }: { launcher: Launcher; host: Readonly<Record<string, string | undefined>> }
): Promise<FoundRuntime> {
	const env: Record<string, string> = {};
	for (const name of CLIENT_VARIABLES) if (host[name]) env[name] = host[name];
	const names = choice === 'auto' ? ['docker', 'podman'] : [choice];
	const asked = names.map(async (name) => {
		const file = await findOnPath(name, env.PATH ?? '');
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

/** What the client said when it was asked for its server, unless it can be used. */
async function probe(
	launcher: Launcher,
	file: string,
	env: Record<string, string>
): Promise<ContainerRuntime | string> {
	const runtime: ContainerRuntime = { file, kind: 'docker', isRootless: false, env };
	const version = await askRuntime(launcher, runtime, ['--version']);
	if (version.isSilent) return silent('It');
	// Some systems have podman under docker's name.
	if (/podman/i.test(version.stdout)) runtime.kind = 'podman';
	const format = runtime.kind === 'podman' ? '{{.Host.Security.Rootless}}' : '{{json .SecurityOptions}}';
	const { isDone, isSilent, stdout, message } = await askRuntime(launcher, runtime, ['info', '--format', format]);
	if (isSilent) return silent('It');
	if (!isDone) return message;
	return { ...runtime, isRootless: /true|rootless/.test(stdout) };
}

/**
 * Removes the containers that an earlier start of a server with this data folder left, running or not, and resolves
 * with their number.
 * @throws Error with the runtime's words when it cannot
 */
export function sweepContainers(
	launcher: Launcher,
	runtime: ContainerRuntime,
	{ dataDir, startId }: { dataDir: string; startId: string }
): Promise<number> {
	const own = ownerOf(dataDir, startId);
	const ofFolder = ownerOf(dataDir, '');
	return removeContainers(
		launcher,
		runtime,
		`label=${OWNER_LABEL}`,
		(owner) => owner.startsWith(ofFolder) && owner !== own
	);
}

/** @param filter as `ps --filter` has it */
export async function removeContainers(
	launcher: Launcher,
	runtime: ContainerRuntime,
	filter: string,
	isLeftover: (owner: string) => boolean
): Promise<number> {
	const format = ['--format', '{{.ID}} {{.Labels}}'];
	const listed = await askRuntime(launcher, runtime, ['ps', '--all', '--filter', filter, ...format]);
	if (!listed.isDone) throw new Error(`Couldn’t list old containers: ${listed.message}`);
	const ids = listed.stdout.split('\n').flatMap((line) => {
		const [id = ''] = line.split(' ');
		return id && isLeftover(ownerIn(line)) ? [id] : [];
	});
	for (const id of ids) {
		const removed = await askRuntime(launcher, runtime, removal(runtime, id));
		if (!removed.isDone) throw new Error(`Couldn’t remove the container ${id}: ${removed.message}`);
	}
	return ids.length;
}

/** docker lists labels as `a=b,c=d`, podman as `map[a:b c:d]`. */
function ownerIn(labels: string): string {
	const at = labels.indexOf(OWNER_LABEL);
	return at < 0 ? '' : (/^[=:]([\w-]*)/.exec(labels.slice(at + OWNER_LABEL.length))?.[1] ?? '');
}

/** Arguments that end a container at once and remove it; one that is not there is no error. */
export function removal({ kind }: ContainerRuntime, name: string): string[] {
	// podman would ask it first, and wait 10 s.
	return kind === 'podman' ? ['rm', '-f', '-t', '0', name] : ['rm', '-f', name];
}

const silent = (who: string) => `${who} didn’t respond within ${COMMAND_MS / 1000} s. ${RESTART}`;

/** Runs the client for an answer. One that gives none in time, whatever it was asked, is `isSilent`. */
export async function askRuntime(
	launcher: Launcher,
	{ file, kind, env }: ContainerRuntime,
	args: string[]
): Promise<{ isDone: boolean; isSilent: boolean; stdout: string; message: string }> {
	const launched = launcher.launch({ file, args, env, cwd: '/', end: { kind: 'group' } }, 'closed');
	// At once: a client that hangs has nothing to tidy up, and may be deaf.
	const timer = setTimeout(() => launched.end('killed'), COMMAND_MS);
	const result = await launched.begin({ timeoutMs: COMMAND_MS * 2, maxOutputBytes: 100_000 }, undefined);
	clearTimeout(timer);
	const isDone = result.ended === 'exit' && result.exitCode === 0;
	const isSilent = result.ended === 'killed' || result.ended === 'timeout';
	const words = (result.spawnError ?? result.stderr.trim()) || 'It failed.';
	const message = isSilent ? silent(kind) : words;
	return { isDone, isSilent, stdout: result.stdout.trim(), message: isDone ? '' : message };
}

async function findOnPath(name: string, path: string): Promise<string | null> {
	for (const folder of path.split(delimiter).filter(isAbsolute)) {
		for (const file of process.platform === 'win32' ? [join(folder, `${name}.exe`)] : [join(folder, name)]) {
			try {
				await access(file, constants.X_OK);
				if ((await stat(file)).isFile()) return file;
			} catch {
				// In another folder, or nowhere.
			}
		}
	}
	return null;
}
