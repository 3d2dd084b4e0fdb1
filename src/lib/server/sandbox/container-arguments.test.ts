import { describe, expect, test } from 'vitest';
import {
	CONTAINER_PROFILES,
	containerEnvironment,
	runArguments,
	socketInContainer,
	type ContainerPlan
} from './container-arguments.ts';
import { DEFAULT_LIMITS } from './sandbox.ts';

const plan: ContainerPlan = {
	kind: 'podman',
	isRootless: false,
	name: 'openrouter-skills-1',
	owner: 'abc',
	image: 'alpine:3.20',
	profile: CONTAINER_PROFILES.default,
	limits: DEFAULT_LIMITS,
	user: '1000:1000',
	runtime: [],
	hasInput: false,
	environment: { passed: {}, file: '' },
	cwd: '/workspace',
	file: 'sh',
	args: ['-c', 'exit 42'],
	userProcesses: Infinity
};

/** The command line as one readable string. */
const line = (changes: Partial<ContainerPlan> = {}) => runArguments({ ...plan, ...changes }).join(' ');

describe('D32: the flags', () => {
	test.each([
		'--rm --network none --cap-drop ALL',
		'--security-opt no-new-privileges --pids-limit 100',
		'--cpus 0.1 --memory 256m',
		'--tmpfs /tmp:rw,noexec,nosuid,size=64m',
		'--tmpfs /workspace:rw,noexec,nosuid,size=64m',
		'--read-only',
		'--workdir /workspace'
	])('the strict profile has those of the document to the letter: %s', (flags) => {
		const limits = { ...DEFAULT_LIMITS, processes: 1000 };
		expect(`${line({ profile: CONTAINER_PROFILES.strict, limits })} `).toMatch(
			new RegExp(` ${flags.replaceAll(/[.+]/g, '\\$&')}[ ,]`)
		);
	});
	test('the profiles differ in processor, memory, processes and time alone', () => {
		expect(CONTAINER_PROFILES.strict).toEqual({
			cpuLimit: 100,
			memoryBytes: 256 * 1024 * 1024,
			processes: 100,
			timeoutMs: 30_000
		});
		expect(line()).toContain(' --pids-limit 64 --cpus 1 --memory 512m ');
	});
	test('a profile never raises what the host allows', () => {
		const limits = { ...DEFAULT_LIMITS, processes: 10, memoryBytes: 64 * 1024 * 1024 };
		expect(line({ profile: CONTAINER_PROFILES.strict, limits })).toMatch(/--pids-limit 10 --cpus 0.1 --memory 64m /);
	});
	test('a workspace is mounted in the place of the tmpfs, the skill read-only', () => {
		const arguments_ = line({ folders: { workspace: '/data/w', skill: '/app/skills/a b' } });
		expect(arguments_).not.toContain('--tmpfs /workspace');
		expect(arguments_).toContain(' --mount type=bind,src=/data/w,dst=/workspace ');
		expect(arguments_).toContain(' --mount type=bind,src=/app/skills/a b,dst=/skill,readonly ');
	});
	test('without one, docker is told whose the tmpfs is: the folder that it makes first has another mode', () => {
		expect(line({ kind: 'docker' })).toContain(
			' --tmpfs /workspace:rw,noexec,nosuid,size=64m,mode=1777,uid=1000,gid=1000 '
		);
		expect(line()).toContain(' --tmpfs /workspace:rw,noexec,nosuid,size=64m,mode=1777 ');
	});
	test('what the program is made of and the proxy’s folder are mounted read-only', () => {
		const arguments_ = line({ runtime: ['/app/harness.js'], proxyFolder: '/data/proxy/1' });
		expect(arguments_).toContain(' --mount type=bind,src=/app/harness.js,dst=/app/harness.js,readonly ');
		expect(arguments_).toContain(' --mount type=bind,src=/data/proxy/1,dst=/run/proxy,readonly ');
		expect(socketInContainer('/data/proxy/1/socket')).toBe('/run/proxy/socket');
	});
	test.each(['/a,dst=/etc', '/a"b', '/a\nb'])(
		'a folder that would be read as further options is refused: %j',
		(path) => {
			expect(() => runArguments({ ...plan, folders: { workspace: path } })).toThrow(
				'Containers can’t use a folder with a comma, quote or line break in its name'
			);
			expect(() => runArguments({ ...plan, folders: { workspace: '/w', skill: path } })).toThrow('can’t');
		}
	);
	test('every system limit is set, the hard one too, and none above the server’s own', () => {
		const arguments_ = line({ userProcesses: 500 });
		for (const limit of ['core=0:0', 'cpu=60:60', 'fsize=67108864:67108864', 'nofile=256:256', 'nproc=500:500'])
			expect(arguments_).toContain(` --ulimit ${limit} `);
	});
	test('images are never fetched in a call, logs not kept, the container named, labelled and given a first process', () => {
		expect(line()).toContain(
			' --pull never --init --log-driver none --name openrouter-skills-1 --label openrouter-skills.owner=abc --user 1000:1000 '
		);
	});
	test('only podman knows --read-only-tmpfs, only rootless podman needs its user mapped', () => {
		expect(line()).toContain('--read-only-tmpfs=false');
		expect(line({ isRootless: true })).toContain('--userns keep-id');
		const docker = line({ kind: 'docker', isRootless: true });
		expect(docker).not.toContain('tmpfs=');
		expect(docker).not.toContain('userns');
	});
	test('standard input is open only for a program with input', () => {
		expect(line()).not.toContain('--interactive');
		expect(line({ hasInput: true })).toContain('--interactive');
	});
	test('D1: the program’s arguments come last, as they are', () => {
		const args = ['--privileged', '', 'a b', '$(id)', '--'];
		expect(runArguments({ ...plan, file: 'python3', args }).slice(-7)).toEqual([
			'--entrypoint=python3',
			'alpine:3.20',
			...args
		]);
	});
});

describe('D30: variables', () => {
	test('are named on the command line, and their values are not', () => {
		const environment = containerEnvironment({ API_KEY: 'sk-secret', HOME: '/workspace', LANG: 'C.UTF-8' });
		expect(environment).toEqual({ passed: { API_KEY: 'sk-secret', LANG: 'C.UTF-8' }, file: 'HOME=/workspace\n' });
		const arguments_ = line({ environment });
		expect(arguments_).toContain(' --env-file /dev/fd/3 --env API_KEY --env LANG ');
		expect(arguments_).not.toContain('sk-secret');
	});
	test.each([
		'DOCKER_HOST',
		'CONTAINERS_CONF',
		'CONTAINER_HOST',
		'PODMAN_USERNS',
		'XDG_RUNTIME_DIR',
		'LD_PRELOAD',
		'GODEBUG',
		'HTTPS_PROXY',
		'no_proxy',
		'_CONTAINERS_USERNS_CONFIGURED',
		'STORAGE_OPTS',
		'BASH_ENV',
		'SSL_CERT_FILE'
	])('%s does not change the client', (name) => {
		expect(containerEnvironment({ [name]: 'x' })).toEqual({ passed: {}, file: `${name}=x\n` });
		expect(() => containerEnvironment({ [name]: 'x\nLD_PRELOAD=y' })).toThrow('must be one line');
	});
	test('places of the host are left to the image', () => {
		expect(containerEnvironment({ PATH: '/x', TMPDIR: '/y', TMP: '/z' })).toEqual({ passed: {}, file: '' });
	});
	test('a value of many lines arrives as it is', () => {
		expect(containerEnvironment({ KEY: 'a\nb=c\n' }).passed).toEqual({ KEY: 'a\nb=c\n' });
	});
	test.each(['A B', 'A=B', '#A', 'A\nB', ''])(
		'a name that a file or a flag would read otherwise is refused: %j',
		(name) => {
			expect(() => containerEnvironment({ [name]: 'x' })).toThrow('Containers can’t have a variable named');
		}
	);
});
