/** F14: a server that has run out of file descriptors works again when it has some, every page and endpoint of it. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import { startApp, type App } from '../support/app-process.ts';

// The start may begin with a build.
vi.setConfig({ testTimeout: 300_000 });

/** Of every kind: pages, endpoints, and what is large and used by one alone. */
const PATHS = [
	...['/', '/skills', '/settings', '/docs/api', '/frames/diagram', '/frames/diagram/mermaid'],
	...['/api/health', '/api/skills', '/api/conversations', '/api/openapi.json', '/.well-known/agent-card.json']
];

let app: App | undefined;
afterEach(() => app?.stop());

/** The status, over the one connection that the agent keeps. */
function get(agent: Agent, url: string): Promise<number> {
	return new Promise((resolve, reject) => {
		const sent = request(url, { agent, headers: { accept: '*/*' } }, (response) => {
			response.resume().once('end', () => resolve(response.statusCode ?? 0));
		});
		sent.once('error', reject);
		sent.end();
	});
}

const limit = (pid: number, files: number) => execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:`]);

test.runIf(process.platform === 'linux')(
	'what is asked for first while there are no file descriptors works afterwards',
	async () => {
		app = await startApp();
		const pid = app.pid();
		const agent = new Agent({ keepAlive: true, maxSockets: 1 });
		expect(await get(agent, `${app.url}/api/health`)).toBe(200);
		// The next one that it would get is one too many.
		const used = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
		let free = 0;
		while (used.has(free)) free += 1;
		limit(pid, free);
		const without: number[] = [];
		for (const path of PATHS) without.push(await get(agent, app.url + path).catch(() => 0));
		limit(pid, 1024);
		const statuses: [string, number][] = [];
		for (const path of PATHS) statuses.push([path, await get(agent, app.url + path)]);
		agent.destroy();
		expect(statuses.filter(([, status]) => status >= 500)).toEqual([]);
		expect(statuses.filter(([, status]) => status < 400).length).toBeGreaterThan(PATHS.length / 2);
		// Else nothing was tested: the answers came by a process that could open nothing.
		expect(without).toHaveLength(PATHS.length);
	}
);
