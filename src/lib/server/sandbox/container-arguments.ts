/** Builds the command line of a container (D32). */
import { posix } from 'node:path';
import { type SandboxFolders, type SandboxLimits, sharedMemoryBytes } from './sandbox.ts';

const MB = 1024 * 1024;

export const IN_CONTAINER = {
	workspace: '/workspace',
	skill: '/skill',
	packages: '/packages',
	proxy: '/run/proxy'
} as const;

/** The label that identifies containers; its value is the owner. */
export const OWNER_LABEL = 'openrouter-skills.owner';

export interface ContainerProfile {
	/** Thousandths of a CPU. */
	cpuLimit: number;
	/** These cap the host’s limits. */
	memoryBytes?: number;
	processes?: number;
	timeoutMs?: number;
}

export const CONTAINER_PROFILES = {
	/** The host’s limits. A tenth of a CPU would double start times, so it is a whole one. */
	default: { cpuLimit: 1000 },
	strict: { cpuLimit: 100, memoryBytes: 256 * MB, processes: 100, timeoutMs: 30_000 }
} as const satisfies Record<string, ContainerProfile>;

export interface ContainerPlan {
	kind: 'docker' | 'podman';
	/** Whether the runtime has only this user’s rights. */
	isRootless: boolean;
	name: string;
	owner: string;
	image: string;
	profile: ContainerProfile;
	limits: SandboxLimits;
	/** `uid:gid`; never root, unless the runtime is rootless. */
	user: string;
	folders?: SandboxFolders;
	/** Host paths mounted read-only at the same path. */
	runtime: readonly string[];
	proxyFolder?: string;
	hasInput: boolean;
	environment: ContainerEnvironment;
	cwd: string;
	file: string;
	args: readonly string[];
	/** This server’s maximum of processes per user; see `MAX_USER_PROCESSES`. */
	userProcesses: number;
}

/**
 * Podman’s default on Debian. It counts a user’s processes across containers, so it is no useful limit. But without it,
 * podman asks for more than a server without CAP_SYS_RESOURCE may have.
 */
export const MAX_USER_PROCESSES = 32_768;

/** The client’s arguments, from `run` to the program’s. @throws Error if a folder can’t be mounted */
export function runArguments(plan: ContainerPlan): string[] {
	const { kind, profile, limits, folders, environment } = plan;
	const memory = Math.min(limits.memoryBytes, profile.memoryBytes ?? Infinity);
	const processes = Math.min(limits.processes, profile.processes ?? Infinity);
	const tmpfs = (path: string, more = '') => ['--tmpfs', `${path}:rw,noexec,nosuid,size=64m,mode=1777${more}`];
	// Docker creates the --workdir folder first, and its mode would win over the option.
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
		'--shm-size',
		String(sharedMemoryBytes({ memoryBytes: memory })),
		...tmpfs('/tmp'),
		...(folders ? mount(folders.workspace, IN_CONTAINER.workspace) : tmpfs(IN_CONTAINER.workspace, owned)),
		'--read-only',
		// Podman would add writable folders without a size limit.
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
		...(folders?.packages ? mount(folders.packages, IN_CONTAINER.packages, 'readonly') : []),
		...plan.runtime.flatMap((path) => mount(path, path, 'readonly')),
		...(plan.proxyFolder ? mount(plan.proxyFolder, IN_CONTAINER.proxy, 'readonly') : []),
		...(environment.file ? ['--env-file', ENV_FILE] : []),
		...Object.keys(environment.passed).flatMap((name) => ['--env', name]),
		'--workdir',
		plan.cwd,
		...(plan.hasInput ? ['--interactive'] : []),
		// Replaces the image’s entry point, which would get the program as an argument.
		`--entrypoint=${plan.file}`,
		plan.image,
		...plan.args
	];
}

/** The first descriptor after the standard ones. */
const ENV_FILE = '/dev/fd/3';

/** Mounts a folder or file of the host. `--volume` would create missing ones as root. */
function mount(source: string, target: string, mode?: 'readonly'): string[] {
	// The value is comma-separated, and not all clients support quotes.
	if (/[,"\r\n]/.test(source)) {
		throw new Error(`Containers can’t use a folder with a comma, quote or line break in its name: ${source}`);
	}
	return ['--mount', ['type=bind', `src=${source}`, `dst=${target}`, ...(mode ? [mode] : [])].join(',')];
}

/** Passes the program’s variables without putting them into an argument list. */
export interface ContainerEnvironment {
	/** Set for the client, which gets only their names as arguments (D30). */
	passed: Record<string, string>;
	/** Lines of an environment file, for names that would affect the client itself. */
	file: string;
}

/** The image may not have the host’s, and any image has this. */
const LOCALE = /^(LANG|LC_\w+)$/;
/** Paths of the host: the image has its own. */
const OF_THE_HOST = /^(PATH|TMPDIR|TEMP|TMP|SYSTEMROOT)$/i;
/** Read by docker, podman, the Go runtime, the dynamic linker, or a shell around them. */
const OF_THE_CLIENT =
	/^(_|HOME$|USER$|LOGNAME$|SHELL$|ENV$|BASH|SHELLOPTS$|PS4$|IFS$|DOCKER|MOBY|BUILD|CONTAINER|PODMAN|STORAGE_|REGISTRY_|OCI_|CNI|NETAVARK|XDG_|DBUS_|SYSTEMD_|NOTIFY_|LISTEN_|LD_|DYLD_|GLIBC_|MALLOC_|GO|CGO|SSL_|SSH_|OTEL_|CONMON|TCELL|(https?|all|ftp|no)_proxy$)/i;

/** @throws Error for a variable that can’t be passed */
export function containerEnvironment(env: Readonly<Record<string, string>>): ContainerEnvironment {
	const environment: ContainerEnvironment = { passed: {}, file: '' };
	for (const [name, value] of Object.entries(env)) {
		if (OF_THE_HOST.test(name)) continue;
		if (!/^[^\s=#][^\s=]*$/.test(name) || value.includes('\0')) {
			throw new Error(`Containers can’t have a variable named ${JSON.stringify(name)}.`);
		}
		if (!OF_THE_CLIENT.test(name)) environment.passed[name] = LOCALE.test(name) ? 'C.UTF-8' : value;
		else if (!/[\r\n]/.test(value) && value.length < 16_000) environment.file += `${name}=${value}\n`;
		else throw new Error(`The value of ${name} can’t be passed to a container: it must be one line.`);
	}
	return environment;
}

export function socketInContainer(socket: string): string {
	return posix.join(IN_CONTAINER.proxy, posix.basename(socket));
}

// Allowed images, and which one a program gets (D30, D34).

/** Always allowed; `SKILLS_ALLOWED_SANDBOX_IMAGES` adds more. */
const DEFAULT_IMAGES = { node: 'node:22-alpine', python: 'python:3.12-alpine', other: 'alpine:3.20' } as const;

export interface ContainerImages {
	/** One image for every language. Always allowed, because the operator named it. */
	one: string | null;
	/** In addition to the defaults. */
	allowed: readonly string[];
}

export function allowedImages({ one, allowed }: ContainerImages): string[] {
	const all = [...Object.values(DEFAULT_IMAGES), ...allowed, ...(one ? [one] : [])];
	return [...new Set(all.map(canonical))];
}

/** The canonical name. @throws Error with the list if it isn’t allowed */
export function normalizeImage(image: string, allowed: readonly string[]): string {
	const wanted = canonical(image);
	if (allowed.map(canonical).includes(wanted)) return wanted;
	throw new Error(
		`The image ${JSON.stringify(image)} isn’t allowed. Allowed: ${allowed.join(', ')}. Add more with SKILLS_ALLOWED_SANDBOX_IMAGES.`
	);
}

export function imageOf(file: string, images: ContainerImages): string {
	return normalizeImage(images.one ?? byLanguage(posix.basename(file)), allowedImages(images));
}

function byLanguage(program: string): string {
	if (program === 'node') return DEFAULT_IMAGES.node;
	return /^python[\d.]*$/.test(program) ? DEFAULT_IMAGES.python : DEFAULT_IMAGES.other;
}

/** `docker.io/library/node` → `node:latest` */
function canonical(image: string): string {
	const name = image
		.trim()
		.replace(/^(index\.)?docker\.io\//, '')
		.replace(/^library\//, '');
	return /[:@][^/]*$/.test(name) ? name : `${name}:latest`;
}

/** The name with its registry, as podman needs it to download. */
export function fullImageName(image: string): string {
	const [first = '', ...rest] = image.split('/');
	if (rest.length === 0) return `docker.io/library/${image}`;
	return first === 'localhost' || /[.:]/.test(first) ? image : `docker.io/${image}`;
}
