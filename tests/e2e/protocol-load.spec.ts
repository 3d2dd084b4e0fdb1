/** A small version of `npm run bench:protocols`: ten clients on all protocols, a hundred flows (E15, E16, F12, F13). */
import type { SkillExecutionList } from '../../src/lib/shared/try-out.ts';
import { runLoad } from '../support/protocol-load.ts';
import { expect, test } from './app.ts';

const CLIENTS = 10;

test('E15, E16, F12, F13: clients of all protocols at once get true answers, and no session is left', async ({
	app
}) => {
	const headers = { 'content-type': 'application/json' };
	const keys = await Promise.all(
		['one', 'two'].map(async (name) => {
			const body = JSON.stringify({ name, scopes: ['read', 'execute'] });
			const response = await fetch(`${app.url}/api/keys`, { method: 'POST', headers, body });
			return ((await response.json()) as { key: string }).key;
		})
	);
	const { flows, errors, sessions } = await runLoad({ url: app.url, keys, clients: CLIENTS });
	expect(errors).toEqual([]);
	// Make sure something was counted.
	expect(flows.filter(({ latencies }) => latencies.length === 0).map(({ name }) => name)).toEqual([]);

	const statuses = await Promise.all(
		sessions.map(async ({ id, key }) => {
			const own = { 'mcp-session-id': id, authorization: `Bearer ${key}`, accept: 'text/event-stream' };
			return (await fetch(`${app.url}/mcp`, { headers: own })).status;
		})
	);
	expect(sessions.length).toBeGreaterThan(0);
	expect(statuses.filter((status) => status !== 404)).toEqual([]);
	const running = await fetch(`${app.url}/api/skills/executions?status=running`);
	expect(((await running.json()) as SkillExecutionList).total).toBe(0);
	expect(app.logs.filter((line) => /^\s+at |Error:|"level":"error"/.test(line))).toEqual([]);
});
