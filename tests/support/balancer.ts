/** A real load balancer in front of servers, with the configuration in deploy/. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** By the name of its Debian package. */
export type BalancerName = 'caddy' | 'nginx-light';

export const BALANCERS: readonly BalancerName[] = ['caddy', 'nginx-light'];

export interface Balancer {
	url: string;
	stop(): Promise<void>;
}

const deploy = join(import.meta.dirname, '../../deploy');
/** The addresses in the configuration. */
const SERVERS = ['app-1:3000', 'app-2:3000'];

/** For `skipIf`: is it missing on this machine? */
export function lacksBalancer(name: BalancerName): boolean {
	return findProgram(name) === null;
}

/** In front of two servers, on a free port of this machine. */
export async function startBalancer(name: BalancerName, servers: [string, string]): Promise<Balancer> {
	const folder = await mkdtemp(join(tmpdir(), 'balancer-'));
	const port = await freePort();
	const hosts = servers.map((url) => new URL(url).host);
	const { args, env } = await (name === 'caddy' ? forCaddy(port, hosts) : forNginx(folder, port, hosts));
	const child = spawn(findProgram(name) ?? name, args, {
		env: { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, ...env },
		stdio: ['ignore', 'ignore', 'pipe']
	});
	let said = '';
	child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
	const ended = once(child, 'exit');
	const url = `http://127.0.0.1:${port}`;
	while (!(await answers(`${url}/health`))) {
		if (child.exitCode !== null) throw new Error(`${name} ended:\n${said}`);
		await delay(50);
	}
	return {
		url,
		async stop() {
			child.kill('SIGKILL');
			await ended;
			await rm(folder, { recursive: true, force: true });
		}
	};
}

const answers = (url: string): Promise<boolean> =>
	fetch(url).then(
		({ ok }) => ok,
		() => false
	);

interface Command {
	args: string[];
	env: Record<string, string>;
}

async function forCaddy(port: number, hosts: string[]): Promise<Command> {
	const env = { SITE: `http://127.0.0.1:${port}`, SERVERS: hosts.join(' ') };
	return { args: ['run', '--adapter', 'caddyfile', '--config', join(deploy, 'Caddyfile')], env };
}

async function forNginx(folder: string, port: number, hosts: string[]): Promise<Command> {
	const given = await readFile(join(deploy, 'nginx.conf'), 'utf8');
	const named = SERVERS.reduce((text, server, index) => text.replaceAll(server, hosts[index] ?? ''), given);
	const file = join(folder, 'nginx.conf');
	await writeFile(file, named.replace('listen 80;', `listen 127.0.0.1:${port};`));
	const here = `daemon off; master_process off; error_log stderr; pid ${join(folder, 'pid')};`;
	return { args: ['-p', folder, '-c', file, '-g', here], env: {} };
}

/** Of this machine. */
export async function freePort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as AddressInfo;
	server.close();
	await once(server, 'close');
	return port;
}

function findProgram(name: BalancerName): string | null {
	const [program = name] = name.split('-');
	const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin'].filter(Boolean);
	return folders.map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? null;
}
