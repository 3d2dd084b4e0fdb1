/** The command line of one container: pure, so that every flag can be read and checked (FEATURES D32). */
import { posix } from 'node:path';
import type { SandboxFolders, SandboxLimits } from './sandbox.ts';

const MB = 1024 * 1024;

/** Where a container finds its folders. */
export const IN_CONTAINER = { workspace: '/workspace', skill: '/skill', proxy: '/run/proxy' } as const;

/** By this label containers are found again; its value is whose they are. */
export const OWNER_LABEL = 'openrouter-skills.owner';

export interface ContainerProfile {
	/** Thousandths of a processor. */
	cpuLimit: number;
	/** Never more than these, whatever the host allows. */
	memoryBytes?: number;
	processes?: number;
	timeoutMs?: number;
}

export const CONTAINER_PROFILES = {
	/** The host's limits. A tenth of a processor doubles the time of every start, so it is a whole one. */
	default: { cpuLimit: 1000 },
	/** The figures of the document that the field goes by. */
	strict: { cpuLimit: 100, memoryBytes: 256 * MB, processes: 100, timeoutMs: 30_000 }
} as const satisfies Record<string, ContainerProfile>;

/** Everything that the command line depends on. */
export interface ContainerPlan {
	kind: 'docker' | 'podman';
	/** The runtime has no more rights than this user. */
	isRootless: boolean;
	name: string;
	owner: string;
	image: string;
	profile: ContainerProfile;
	limits: SandboxLimits;
	/** `uid:gid`; never root's, unless the runtime is rootless. */
	user: string;
	folders?: SandboxFolders;
	/** Host paths that are seen read-only where they are. */
	runtime: readonly string[];
	/** Host folder of the proxy's socket. */
	proxyFolder?: string;
	hasInput: boolean;
	environment: ContainerEnvironment;
	cwd: string;
	file: string;
	args: readonly string[];
	/** The most processes of one user that this server may allow; see `MAX_USER_PROCESSES`. */
	userProcesses: number;
}

/**
 * Default of podman's own configuration on Debian. The number is of no use as a limit, since it counts a user's
 * processes over all containers; but without one podman asks for more than a server without CAP_SYS_RESOURCE may have.
 */
export const MAX_USER_PROCESSES = 32_768;

/** Arguments of the client, from `run` to those of the program. @throws Error when a folder cannot be mounted */
export function runArguments(plan: ContainerPlan): string[] {
	const { kind, profile, limits, folders, environment } = plan;
	const memory = Math.min(limits.memoryBytes, profile.memoryBytes ?? Infinity);
	const processes = Math.min(limits.processes, profile.processes ?? Infinity);
	const tmpfs = (path: string, more = '') => ['--tmpfs', `${path}:rw,noexec,nosuid,size=64m,mode=1777${more}`];
	// Where the folder is there already, as docker makes that of --workdir, its own mode wins over the option.
	const [uid = '', gid = ''] = plan.user.split(':');
	const owned = kind === 'docker' ? `,uid=${uid},gid=${gid}` : '';
	const ulimit = (name: string, value: number) => ['--ulimit', `${name}=${value}:${value}`];
	return [
		'run',
		'--rm',
		'--network',
		'none',
		'--cap-drop',
		'ALL',
		'--security-opt',
		'no-new-privileges',
		'--pids-limit',
		String(processes),
		'--cpus',
		String(profile.cpuLimit / 1000),
		'--memory',
		`${Math.max(6, Math.floor(memory / MB))}m`,
		...tmpfs('/tmp'),
		...(folders ? mount(folders.workspace, IN_CONTAINER.workspace) : tmpfs(IN_CONTAINER.workspace, owned)),
		'--read-only',
		// podman's own idea of read-only has more, unlimited places to write to.
		...(kind === 'podman' ? ['--read-only-tmpfs=false'] : []),
		'--pull',
		'never',
		'--init',
		'--log-driver',
		'none',
		'--name',
		plan.name,
		'--label',
		`${OWNER_LABEL}=${plan.owner}`,
		'--user',
		plan.user,
		...(kind === 'podman' && plan.isRootless ? ['--userns', 'keep-id'] : []),
		...ulimit('core', 0),
		...ulimit('cpu', limits.cpuSeconds),
		...ulimit('fsize', limits.fileBytes),
		...ulimit('nofile', limits.openFiles),
		...ulimit('nproc', Math.min(plan.userProcesses, MAX_USER_PROCESSES)),
		...(folders?.skill ? mount(folders.skill, IN_CONTAINER.skill, 'readonly') : []),
		...plan.runtime.flatMap((path) => mount(path, path, 'readonly')),
		...(plan.proxyFolder ? mount(plan.proxyFolder, IN_CONTAINER.proxy, 'readonly') : []),
		...(environment.file ? ['--env-file', ENV_FILE] : []),
		...Object.keys(environment.passed).flatMap((name) => ['--env', name]),
		'--workdir',
		plan.cwd,
		...(plan.hasInput ? ['--interactive'] : []),
		// An image may have an entry point of its own, which would be given the program as an argument.
		`--entrypoint=${plan.file}`,
		plan.image,
		...plan.args
	];
}

/** The first descriptor after the standard ones. */
const ENV_FILE = '/dev/fd/3';

/** A folder or file of the host. Not `--volume`, which makes what is not there, and as root. */
function mount(source: string, target: string, mode?: 'readonly'): string[] {
	// The clients read the option as comma-separated values, and not all of them know quotes.
	if (/[,"\r\n]/.test(source))
		throw new Error(`Containers can’t use a folder with a comma, quote or line break in its name: ${source}`);
	return ['--mount', ['type=bind', `src=${source}`, `dst=${target}`, ...(mode ? [mode] : [])].join(',')];
}

/** How the variables of a program reach it without being in any argument list. */
export interface ContainerEnvironment {
	/** Set for the client, which is told their names and takes the values from there (FEATURES D30). */
	passed: Record<string, string>;
	/** Lines of an environment file, for names that would change the client itself; empty for none. */
	file: string;
}

/** Places of the host: the image has its own. */
const OF_THE_HOST = /^(PATH|TMPDIR|TEMP|TMP|SYSTEMROOT)$/i;
/** Read by docker, podman, the Go runtime, the dynamic linker, or a shell around them. */
const OF_THE_CLIENT =
	/^(_|HOME$|USER$|LOGNAME$|SHELL$|ENV$|BASH|SHELLOPTS$|PS4$|IFS$|DOCKER|MOBY|BUILD|CONTAINER|PODMAN|STORAGE_|REGISTRY_|OCI_|CNI|NETAVARK|XDG_|DBUS_|SYSTEMD_|NOTIFY_|LISTEN_|LD_|DYLD_|GLIBC_|MALLOC_|GO|CGO|SSL_|SSH_|OTEL_|CONMON|TCELL|(https?|all|ftp|no)_proxy$)/i;

/** @throws Error for a value that can go neither way */
export function containerEnvironment(env: Readonly<Record<string, string>>): ContainerEnvironment {
	const environment: ContainerEnvironment = { passed: {}, file: '' };
	for (const [name, value] of Object.entries(env)) {
		if (OF_THE_HOST.test(name)) continue;
		if (!/^[^\s=#][^\s=]*$/.test(name) || value.includes('\0'))
			throw new Error(`Containers can’t have a variable named ${JSON.stringify(name)}.`);
		if (!OF_THE_CLIENT.test(name)) environment.passed[name] = value;
		else if (!/[\r\n]/.test(value) && value.length < 16_000) environment.file += `${name}=${value}\n`;
		else throw new Error(`The value of ${name} can’t be passed to a container: it must be one line.`);
	}
	return environment;
}

/** The socket's path as a container sees it. */
export function socketInContainer(socket: string): string {
	return posix.join(IN_CONTAINER.proxy, posix.basename(socket));
}

// Which images containers may be made of, and which one a program gets (FEATURES D30, D34).

/** Always allowed; `SKILLS_ALLOWED_SANDBOX_IMAGES` adds to them. */
const DEFAULT_IMAGES = {
	node: 'node:22-alpine',
	python: 'python:3.12-alpine',
	other: 'alpine:3.20'
} as const;

export interface ContainerImages {
	/** The image for everything, instead of one for each language; the operator named it, so it is allowed. */
	one: string | null;
	/** Allowed beside the defaults. */
	allowed: readonly string[];
}

/** Every image that may be used, in the form in which images are compared. */
export function allowedImages({ one, allowed }: ContainerImages): string[] {
	const all = [...Object.values(DEFAULT_IMAGES), ...allowed, ...(one ? [one] : [])];
	return [...new Set(all.map(canonical))];
}

/**
 * The image as it is named to the runtime.
 *
 * @throws Error with the list when it is not one of `allowed`.
 */
export function normalizeImage(image: string, allowed: readonly string[]): string {
	const wanted = canonical(image);
	if (allowed.map(canonical).includes(wanted)) return wanted;
	throw new Error(
		`The image ${JSON.stringify(image)} isn’t allowed. Allowed: ${allowed.join(', ')}. Add more with SKILLS_ALLOWED_SANDBOX_IMAGES.`
	);
}

/** The image for a program, by the program's name. */
export function imageOf(file: string, images: ContainerImages): string {
	return normalizeImage(images.one ?? byLanguage(posix.basename(file)), allowedImages(images));
}

function byLanguage(program: string): string {
	if (program === 'node') return DEFAULT_IMAGES.node;
	return /^python[\d.]*$/.test(program) ? DEFAULT_IMAGES.python : DEFAULT_IMAGES.other;
}

/** `docker.io/library/node` and `node:latest` are the same image. */
function canonical(image: string): string {
	const name = image
		.trim()
		.replace(/^(index\.)?docker\.io\//, '')
		.replace(/^library\//, '');
	return /[:@][^/]*$/.test(name) ? name : `${name}:latest`;
}

/** The name with its registry, as podman wants it for fetching. */
export function fullImageName(image: string): string {
	const [first = '', ...rest] = image.split('/');
	if (rest.length === 0) return `docker.io/library/${image}`;
	return first === 'localhost' || /[.:]/.test(first) ? image : `docker.io/${image}`;
}
